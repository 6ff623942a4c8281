"""The set-up of a table, as the API shows it and as a rig provides it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Annotated, Final, Literal, Protocol

from pydantic import Field, FiniteFloat

from downfield.core.errors import RefusedError
from downfield.game.records.models import RequestModel, TopicModel

Control = Literal["free", "yours", "other"]

SILENT_S: Final = 15.0
"""A device that was not heard of for so long has left the page: its pages ask for the state every second."""


class SetupControl:
    """Gives control to the first device that does something, until it leaves or another takes over.

    For any thread.

    Args:
        clock_s: returns seconds that never go back.
        silent_s: how long a device keeps control without being heard of.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic, silent_s: float = SILENT_S) -> None:
        self._clock_s, self._silent_s = clock_s, silent_s
        self._lock = threading.Lock()
        self._holder: str | None = None
        self._heard_s = 0.0

    def look(self, device: str | None) -> Control:
        """Return who is in control, as a device sees it; None is a program, which never takes control.

        One that is in control keeps it by this.
        """
        with self._lock:
            holder = self._present_holder()
            if holder is None:
                return "free"
            if holder != device:
                return "other"
            self._heard_s = self._clock_s()
            return "yours"

    def act(self, device: str | None) -> None:
        """Take control if nobody has it.

        Raises:
            RefusedError: another device has it.
        """
        if device is None:
            return
        with self._lock:
            if self._present_holder() not in {None, device}:
                raise RefusedError(
                    "Another phone or computer is setting up this table. Watch it here, or press Continue here."
                )
            self._take(device)

    def take_over(self, device: str) -> None:
        """Take control, whoever has it."""
        with self._lock:
            self._take(device)

    def _take(self, device: str) -> None:
        self._holder, self._heard_s = device, self._clock_s()

    def _present_holder(self) -> str | None:
        return self._holder if self._clock_s() - self._heard_s < self._silent_s else None


SetupStep = Literal["camera", "aim", "solving", "confirm", "saved"]

Pixel = Annotated[FiniteFloat, Field(ge=-20000, le=20000)]
PixelPair = tuple[Pixel, Pixel]


class CameraOption(TopicModel):
    """A camera that can be chosen."""

    source: str = Field(description="How to open it, as for --source.")
    name: str


class SetupFinding(TopicModel):
    """Something wrong with the picture, and what to do."""

    text: str
    remedy: str


class SolvingProgress(TopicModel):
    """How far the search for the printed field is."""

    stage: str
    fraction: float
    remaining_s: float | None


class SetupLandmark(TopicModel):
    """A place of the field that can be told in the picture, where the solution has it."""

    name: str
    x_yd: float
    y_yd: float
    px: tuple[float, float]
    corner: bool = Field(default=False, description="Whether it is a corner of the playing field.")
    shown: bool = Field(default=False, description="Whether it is shown at first; others are added by their names.")


class SetupReading(TopicModel):
    """A way to read the picture, to be chosen by somebody who sees the table."""

    label: str
    mirrored: bool = Field(description="Whether the picture is a mirrored one in it; then nothing can be saved.")


class SavedTable(TopicModel):
    """A table that was set up."""

    name: str
    field: str
    camera: str
    in_use: bool


class FieldOption(TopicModel):
    """A printed field that is known by name."""

    name: str
    title: str
    size_yd: tuple[float, float] = Field(description="Length from goal line to goal line, and width.")


class SetupView(TopicModel):
    """The state of the set-up."""

    step: SetupStep
    control: Control = Field(default="free", description="Which device sets up the table; the others watch.")
    cameras: tuple[CameraOption, ...] = ()
    camera: str = ""
    size_px: tuple[int, int] | None = None
    findings: tuple[SetupFinding, ...] = ()
    progress: SolvingProgress | None = None
    problem: str = Field(default="", description="Why the last attempt failed, and what to do.")
    readings: tuple[SetupReading, ...] = Field(
        default=(), description="Ways to read the picture, if there are several; see /api/setup/readings."
    )
    reading: int = Field(default=0, description="The reading that is shown.")
    undecided: bool = Field(default=False, description="Whether one of the readings has to be chosen before saving.")
    unsized: bool = Field(
        default=False,
        description="Whether one length has to be measured before saving: nothing tells the print's size.",
    )
    field: str = Field(default="", description="Name of the printed field that was found.")
    summary: str = ""
    advice: str = Field(
        default="", description="Which measurement would make base tops as exact as the table's certified error."
    )
    landmarks: tuple[SetupLandmark, ...] = ()
    revision: int = Field(default=0, description="Rises whenever there are new lines to draw.")
    fields: tuple[FieldOption, ...] = ()
    tables: tuple[SavedTable, ...] = ()


class CameraRequestBody(RequestModel):
    """The camera to set up."""

    source: Annotated[str, Field(min_length=1, max_length=500)] = Field(examples=["0"])


class PlacedLandmark(RequestModel):
    """A landmark placed by hand."""

    x_yd: Annotated[FiniteFloat, Field(ge=-200, le=400)]
    y_yd: Annotated[FiniteFloat, Field(ge=-200, le=400)]
    px: PixelPair


class MeasuredLength(RequestModel):
    """A length measured on the board."""

    ends_px: tuple[PixelPair, PixelPair]
    length_mm: Annotated[FiniteFloat, Field(ge=5, le=5000)]


class SolveRequest(RequestModel):
    """How to find the printed field."""

    field: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")] = "auto"
    landmarks: Annotated[tuple[PlacedLandmark, ...], Field(max_length=20)] = ()
    length: MeasuredLength | None = None
    camera_height_mm: Annotated[FiniteFloat, Field(ge=100, le=5000)] | None = None


class StandingMark(RequestModel):
    """Something of known height that stands upright on the board."""

    foot_px: PixelPair
    top_px: PixelPair
    height_mm: Annotated[FiniteFloat, Field(ge=15, le=500)]


class HeightRequest(RequestModel):
    """A measured height that tells how far the camera is: one of the two."""

    camera_height_mm: Annotated[FiniteFloat, Field(ge=100, le=5000)] | None = Field(
        default=None, description="Of the lens over the board, by tape."
    )
    standing: StandingMark | None = None


class ReadingRequest(RequestModel):
    """The reading to show and save."""

    reading: Annotated[int, Field(ge=0, le=20)]


class TableNameRequest(RequestModel):
    """The table's name."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["Attic"])


class TableSetup(Protocol):
    """Sets up a table; a rig provides it. Callable from any thread. Each method returns the state after it.

    Every method raises a DownfieldError if it can't be done, which says what to do.
    """

    def view(self) -> SetupView:
        """Return the present state."""
        ...

    def open_camera(self, source: str) -> SetupView:
        """Open a camera and show its picture; an earlier one is closed."""
        ...

    def picture(self) -> bytes:
        """Return the picture as a JPEG: the newest one, or the one that is solved."""
        ...

    def lines(self) -> str:
        """Return the field's lines over the picture, as an SVG."""
        ...

    def solve(self, request: SolveRequest) -> SetupView:
        """Begin to look for the printed field."""
        ...

    def measure_height(self, request: HeightRequest) -> SetupView:
        """Begin to solve again what is shown, with a height that was measured."""
        ...

    def aim_again(self) -> SetupView:
        """Drop the solution and show the camera's picture again."""
        ...

    def reading_picture(self, reading: int) -> bytes:
        """Return a small picture of one of several readings as a JPEG, the field drawn on it."""
        ...

    def choose(self, reading: int) -> SetupView:
        """Show one of several readings, which is then the one to save."""
        ...

    def save(self, name: str) -> SetupView:
        """Save the table and play on it."""
        ...

    def close(self) -> None:
        """Close the camera."""
        ...
