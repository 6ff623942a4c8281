"""The set-up of a table, as the API shows it and as a rig provides it, and SVG drawings of its calibration."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from html import escape
from typing import Annotated, Final, Literal, Protocol

import numpy as np
from pydantic import Field, FiniteFloat

from downfield.calibration.advice import Measurement
from downfield.calibration.calibration import Calibration
from downfield.core.errors import RefusedError, Remedy
from downfield.core.field.painted_lines import PaintedLine, PaintKind
from downfield.game.records.models import RequestModel, TopicModel

Control = Literal["free", "yours", "other"]

SILENT_S: Final = 15.0
"""A device that was not heard of for so long has left the page: its pages ask for the state every second."""


class SetupControl:
    """Gives control to the first device that does something, until it leaves or another takes over. For any thread."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic, silent_s: float = SILENT_S) -> None:
        self._clock_s, self._silent_s = clock_s, silent_s
        self._lock = threading.Lock()
        self._holder: str | None = None
        self._heard_s = 0.0

    def look(self, device: str | None) -> Control:
        """Return who has control, as a device sees it, which keeps it by this; None is a program, which takes none."""
        with self._lock:
            holder = self._present_holder()
            if holder is None:
                return "free"
            if holder != device:
                return "other"
            self._heard_s = self._clock_s()
            return "yours"

    def act(self, device: str | None) -> None:
        """Take control if nobody has it. Raises RefusedError: another device has it."""
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
    sees_field: bool = Field(default=False, description="Whether the whole field is in the picture at rest.")
    progress: SolvingProgress | None = None
    problem: str = Field(default="", description="Why the last attempt failed, and what to do.")
    remedy: Remedy | None = Field(default=None, description="The one thing to do about it; null where it names none.")
    readings: tuple[SetupReading, ...] = Field(
        default=(), description="Ways to read the picture, if there are several; see /api/setup/readings."
    )
    reading: int = Field(default=0, description="The reading that is shown.")
    undecided: bool = Field(default=False, description="Whether one of the readings has to be chosen before saving.")
    lengths_known: bool = Field(
        default=True, description="Whether lengths in mm are known; calls wait while they are not. Yards are, always."
    )
    field: str = Field(default="", description="Name of the printed field that was found.")
    summary: str = ""
    certainty: str = Field(default="", description="How well base tops are known, and whether lengths in mm are.")
    advice: str = Field(
        default="", description="Which measurement would make base tops as exact as the table's certified error."
    )
    measure: Measurement | None = Field(default=None, description="The measurement that is advised.")
    landmarks: tuple[SetupLandmark, ...] = ()
    revision: int = Field(default=0, description="Rises whenever there are new lines to draw.")
    fields: tuple[FieldOption, ...] = ()
    kinds: tuple[FieldOption, ...] = Field(default=(), description="What a print that is none of these may be.")
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


BoardLength = Annotated[FiniteFloat, Field(ge=100, le=5000)]


class SolveRequest(RequestModel):
    """How to find the printed field: what is known of it, each part optional."""

    field: Annotated[str, Field(pattern=r"^[a-z0-9 -]{1,40}$")] = "auto"
    landmarks: Annotated[tuple[PlacedLandmark, ...], Field(max_length=20)] = ()
    length: MeasuredLength | None = None
    goal_to_goal_mm: BoardLength | None = None
    side_to_side_mm: BoardLength | None = None
    camera_height_mm: BoardLength | None = None


class StandingMark(RequestModel):
    """Something of known height that stands upright on the board."""

    foot_px: PixelPair
    top_px: PixelPair
    height_mm: Annotated[FiniteFloat, Field(ge=15, le=500)]


class MeasurementRequest(RequestModel):
    """What was measured: lengths of the print, or one of the heights that tell how far the camera is."""

    goal_to_goal_mm: BoardLength | None = Field(default=None, description="From goal line to goal line.")
    side_to_side_mm: BoardLength | None = Field(default=None, description="From sideline to sideline.")
    camera_height_mm: BoardLength | None = Field(default=None, description="Of the lens over the board, by tape.")
    standing: StandingMark | None = None


class ReadingRequest(RequestModel):
    """The reading to show and save."""

    reading: Annotated[int, Field(ge=0, le=20)]


class TableNameRequest(RequestModel):
    """The table's name."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["Attic"])


class SavedTableRequest(RequestModel):
    """A saved table."""

    table: Annotated[str, Field(min_length=1, max_length=200)] = Field(examples=["Attic"])


class RenameRequest(SavedTableRequest):
    """A saved table, and what it is called from now on."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["Cellar"])


class TableSetup(Protocol):
    """Sets up a table; a rig provides it. Callable from any thread. Each method returns the state after it.

    Every method raises a DownfieldError if it can't be done, which says what to do.
    """

    def view(self) -> SetupView:
        """Return the present state."""

    def open_camera(self, source: str) -> SetupView:
        """Open a camera and show its picture; an earlier one is closed."""

    def picture(self) -> bytes:
        """Return the picture as a JPEG: the newest one, or the one that is solved."""

    def lines(self) -> str:
        """Return the field's lines over the picture, as an SVG."""

    def solve(self, request: SolveRequest) -> SetupView:
        """Begin to look for the printed field."""

    def measure(self, request: MeasurementRequest) -> SetupView:
        """Begin to solve again what is shown, with something that was measured."""

    def aim_again(self) -> SetupView:
        """Drop the solution and show the camera's picture again."""

    def reading_picture(self, reading: int) -> bytes:
        """Return a small picture of one of several readings as a JPEG, the field drawn on it."""

    def choose(self, reading: int) -> SetupView:
        """Show one of several readings, which is then the one to save."""

    def save(self, name: str) -> SetupView:
        """Save the table and play on it."""

    def use_table(self, name: str) -> SetupView:
        """Play on a saved table."""

    def rename_table(self, name: str, new: str) -> SetupView:
        """Give a saved table another name."""

    def remove_table(self, name: str) -> SetupView:
        """Delete a saved table."""

    def close(self) -> None:
        """Close the camera."""


_POINTS_PER_LINE: Final = 24  # A lens bends a long line, and so does a bowed board

_WIDTHS_PX: Final[dict[PaintKind, float]] = {
    "sideline": 2.0,
    "goal_line": 2.0,
    "end_line": 2.0,
    "yard_line": 1.2,
    "hash": 1.0,
}
"""Widths of drawn lines in a picture 1080 pixels high."""

_GOOD_MM, _POOR_MM = 0.3, 1.0  # with 0.3 mm a gap still decides a tackle; with 1 mm it does not


def draw_field_lines(calibration: Calibration) -> str:
    """Return an SVG, as large as the picture, of every painted line's middle where the calibration puts it."""
    width, height = calibration.camera.lens.size_px
    by_kind: dict[PaintKind, list[str]] = {}
    for line in calibration.field.lines():
        by_kind.setdefault(line.kind, []).append(_line_path(calibration, line))
    strokes = (
        f'<path class="{kind}" d="{"".join(paths)}" stroke-width="{_WIDTHS_PX[kind] * height / 1080:.2f}"/>'
        for kind, paths in by_kind.items()
    )
    # A pixel's center has integer coordinates, so the picture's edge is half a pixel out.
    box = f"-0.5 -0.5 {width} {height}"
    style = 'fill="none" stroke="#35e0ff" stroke-opacity=".85" stroke-linecap="round"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}"><g {style}>{"".join(strokes)}</g></svg>'


def _line_path(calibration: Calibration, line: PaintedLine) -> str:
    (x_low, x_high), (y_low, y_high) = line.x_mm, line.y_mm
    along_x = x_high - x_low > y_high - y_low
    points = 2 if line.kind == "hash" else _POINTS_PER_LINE
    share = np.linspace(0.0, 1.0, points)
    x = x_low + share * (x_high - x_low) if along_x else np.full(points, (x_low + x_high) / 2)
    y = np.full(points, (y_low + y_high) / 2) if along_x else y_low + share * (y_high - y_low)
    return _polyline(calibration.camera.to_pixels(np.stack([x, y], axis=1)).tolist())


def _polyline(points_px: Iterable[tuple[float, float]]) -> str:
    """Return path data; points the camera can't see are left out."""
    path, drawing = "", False
    for x, y in points_px:
        visible = bool(np.isfinite(x) and np.isfinite(y))
        if visible:
            path += f"{'L' if drawing else 'M'}{x:.1f} {y:.1f}"
        drawing = visible
    return path


def draw_residuals(calibration: Calibration) -> str:
    """Return an SVG of the field with a disc for every cell, colored by its residual in millimeters."""
    field, quality = calibration.field, calibration.quality
    length, width = field.length_mm, field.width_mm
    box = f"-20 -60 {length + 40:.0f} {width + 80:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="system-ui, sans-serif" role="img">',
        f"<title>{escape(field.title)}</title>",
        f'<rect x="0" y="0" width="{length:.0f}" height="{width:.0f}" fill="#1f5a3a"/>',
    ]
    for x_yd in field.yard_lines_yd():
        x = x_yd * field.mm_per_yd_x
        parts.append(f'<path d="M{x:.1f} 0V{width:.1f}" stroke="#ffffff" stroke-opacity=".5" stroke-width="1.5"/>')
    caption = "Exact: from the digital twin, or no residuals are kept"
    if quality is not None:
        caption = f"Residual {quality.rms_px:.2f} px = {quality.rms_mm:.2f} mm rms over {quality.points} points"
        for cell in quality.cells:
            x, y = cell.x_yd * field.mm_per_yd_x, width - cell.y_yd * field.mm_per_yd_y
            color = "#8fd694" if cell.rms_mm <= _GOOD_MM else "#f3c744" if cell.rms_mm <= _POOR_MM else "#f0806a"
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="26" fill="{color}"/>')
            label = f"{cell.rms_mm:.2f}"
            parts.append(f'<text x="{x:.1f}" y="{y + 7:.1f}" font-size="20" text-anchor="middle">{label}</text>')
    parts.append(f'<text x="0" y="-18" font-size="26" fill="#808890">{escape(caption)}</text></svg>')
    return "".join(parts)
