"""The seam to the pictures that calls were made from, and what can be drawn on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, Protocol

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.footprint import Footprint, Gap, PoseError, signed_gap
from downfield.core.scene import Figure, Player, Scene
from downfield.game.published.game_topics import CallView
from downfield.game.records.entries import Snap
from downfield.officiating.belief import percent_text

_LEAST_SHOWN_MM: Final = 0.005  # gaps are shown to a hundredth of a millimeter


@dataclass(frozen=True, slots=True)
class FootageFrame:
    """One picture of a recording or a clip."""

    frame: int
    t_ns: int
    video: Path
    at_ns: int  # its time in that file
    rank: int = 0  # how many pictures before it in the file have the same time there
    is_alone: bool = False  # whether it is known that no other picture in the file has the same time there


@dataclass(frozen=True, slots=True)
class MeasuredPair:
    """The gap of two bases on one picture."""

    a: Figure
    b: Figure
    gap: Gap  # where it is, by their outlines
    gap_mm: float  # its length as it was judged, or by the outlines; negative where they overlap
    sigma_mm: float  # its standard deviation, by this picture alone; 0 when it is exact
    touching: float | None  # probability of a touch by all pictures so far; None where it was not judged

    @property
    def label(self) -> str:
        """The gap in words: a sign would read as a margin's, which is the other way round."""
        error = f" ± {self.sigma_mm:.2f}" if self.sigma_mm else ""
        if abs(self.gap_mm) < _LEAST_SHOWN_MM:
            return f"outlines meet{error and f',{error} mm'}"
        return f"{abs(self.gap_mm):.2f}{error} mm {'apart' if self.gap_mm > 0 else 'into each other'}"


@dataclass(frozen=True)  # without slots: what follows from it is measured once
class CallMarks:
    """What can be drawn on a picture."""

    call: CallView | None  # the call it is about; None for a picture of a play where no call is near
    scene: Scene | None  # what was measured on the picture; None when that is not kept
    players: tuple[Player, ...] = ()  # the roster, for base heights
    snap: Snap | None = None  # the play; None when it is not known

    @property
    def concerned(self) -> tuple[str, ...]:
        """The figures it is about: those of the call in its order, or the carrier of the play."""
        if self.call is not None:
            return self.call.players
        return () if self.snap is None or self.snap.carrier is None else (self.snap.carrier,)

    @cached_property
    def figures(self) -> list[Figure]:
        """The figures it is about, as they were measured."""
        if self.scene is None:
            return []
        visible = {one.id: one for one in self.scene.figures if one.posture != "unseen" and not one.lost}
        return [visible[name] for name in self.concerned if name in visible]

    @cached_property
    def pair(self) -> MeasuredPair | None:
        """The first two of them with the gap between their bases; None where that is not what the call is about."""
        measured = {figure.id: figure for figure in self.figures}
        named = [measured[name] for name in self.concerned[:2] if name in measured]
        if self.scene is None or len(named) < 2 or not _is_about_gap(self.call):
            return None
        a, b = named
        gap = gap_between(a.footprint, b.footprint)
        judged = next((contact for contact in self.scene.contacts if {contact.a, contact.b} == {a.id, b.id}), None)
        if judged is not None:
            return MeasuredPair(a, b, gap, judged.gap_mm, judged.sigma_mm, judged.probability)
        error_a, error_b = (PoseError((one.x_mm, one.y_mm), one.sigma_mm, one.sigma_deg) for one in (a, b))
        return MeasuredPair(a, b, gap, gap.gap_mm, gap.sigma_mm(error_a, error_b), None)

    @property
    def gap_text(self) -> str:
        """The gap of the first two of them in this frame alone, and how sure a touch is by all frames so far.

        It says how far from the call the frame is, as calls are timed between frames: 1.2 mm apart in the frame before
        a touch is no contradiction.
        """
        gap = self.bare_gap_text
        if not gap or self.scene is None:
            return ""
        when = "" if self.call is None else f", {when_text(self.scene.t_ns - self.call.t_ns)} the call"
        return f"this frame{when}: {gap}"

    @property
    def bare_gap_text(self) -> str:
        """The same, where it is said otherwise which frame this is."""
        pair = self.pair
        if pair is None:
            return ""
        if pair.touching is None:
            return pair.label
        return f"{pair.label}; touching by all frames so far: {percent_text(pair.touching)}"


@dataclass(frozen=True, slots=True)
class FootageCalibration:
    """What is kept of the calibration that was in use when a picture was captured."""

    calibration: Calibration | None  # the calibration; None where none can be vouched for
    origin: str  # where it comes from, or why there is none; a sentence for people

    def fitting(self, size_px: tuple[int, int]) -> FootageCalibration:
        """Return it, or without the calibration if that is for pictures of another size."""
        made = self.calibration
        if made is None or made.camera.lens.size_px == size_px:
            return self
        (width, height), (made_width, made_height) = size_px, made.camera.lens.size_px
        why = f"The picture is {width}x{height}, its calibration is for {made_width}x{made_height}: nothing is drawn."
        return FootageCalibration(None, why)


@dataclass(frozen=True, slots=True)
class ScaledPicture:
    """A picture that is no wider than it has to be."""

    image: Image  # uint8 BGR, shape (height, width, 3)
    size_px: tuple[int, int]  # width and height of the picture as the camera took it


class Footage(Protocol):
    """Keeps pictures. Callable from any thread; each call may take as long as a disk and a decoder need."""

    def between(self, from_ns: int, to_ns: int, began_ns: int, /) -> tuple[FootageFrame, ...]:
        """Return every stored picture of a span of the capture clock, in order, each frame index once.

        Args:
            began_ns: when the game began, wall clock.

        Raises:
            NotRecordedError: there is none.
        """

    def picture(self, still: FootageFrame) -> Image:
        """Return exactly one picture, uint8 BGR, shape (height, width, 3), not to be written to.

        Raises:
            NotRecordedError: its file was deleted, or it is damaged or not in it (yet).
        """

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        """Yield pictures in order, None for one that can't be read; apart from `picture`, which goes on beside it."""

    def scaled_pictures(self, stills: Iterable[FootageFrame], width_px: int) -> Iterator[ScaledPicture | None]:
        """Yield pictures as `pictures` does, none wider than this."""

    def calibration(self, still: FootageFrame) -> FootageCalibration:
        """Return what is kept of the calibration that was in use when a picture was captured."""


@lru_cache(maxsize=16)
def gap_between(a: Footprint, b: Footprint) -> Gap:
    """Return the gap between two bases; the drawing of a frame, its words and its caption all need the same."""
    return signed_gap(a, b)


def when_text(after_ns: int) -> str:
    """Return how long after an instant another is, such as "12.0 ms after", "1.20 s before" or "exactly at"."""
    after_ms = after_ns / 1e6
    if abs(after_ms) < 0.05:  # which would read as 0.0
        return "exactly at"
    side = "after" if after_ms > 0 else "before"
    return f"{abs(after_ms):.1f} ms {side}" if abs(after_ms) < 1000 else f"{abs(after_ms) / 1000:.2f} s {side}"


def _is_about_gap(call: CallView | None) -> bool:
    """Return whether a call is about the gap of its first two figures: one of a pass between them is not."""
    return call is None or (call.measure != "handle" and (call.kind != "info" or call.measure == "touch"))
