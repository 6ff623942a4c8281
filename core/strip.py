"""The playing strip of a card game: its printed field, the clear slide over it, and the windowed dials beside it.

The strip has a board frame like a table's (`core.field`): mm on the printed surface, x = 0 at the left goal line. The
slide lies over the print with a line across it and a ball that moves along that line. A dial is a disc behind the
print; its window shows one of its faces.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from downfield.core.errors import FieldError, InputError
from downfield.core.field.model import FieldModel
from downfield.core.files.input_files import parse_toml, read_text
from downfield.core.records import check, from_data, record

Third = Literal["left", "center", "right"]
THIRDS: Final[tuple[Third, ...]] = ("left", "center", "right")
"""The ball's places on the slide; left is the upper side of the strip as the camera sees it."""

Count = Literal["home", "away", "down", "quarter", "minutes", "seconds"]  # what a dial counts; home and away are points

BUNDLED_STRIP: Final = "nfl-strategy"


@record
class DialWindow:
    """One window with a dial behind it."""

    counts: Count  # what it counts
    x_mm: tuple[float, float]  # x_mm, y_mm: its opening on the print, (low, high) along and across
    y_mm: tuple[float, float]
    faces: tuple[str, ...]  # the numbers on the dial, in the order in which they come into view
    place: int = 1  # factor of its number; 10 for the tens of a count with two dials

    def __post_init__(self) -> None:
        for low, high in (self.x_mm, self.y_mm):
            check(low < high, FieldError, f"dial {self.counts}: a window from {low:g} to {high:g} mm is empty")
        check(len(self.faces) > 1, FieldError, f"dial {self.counts}: faces needs two numbers or more")
        for face in self.faces:
            number = face.isdecimal() and len(face) <= 2
            check(number, FieldError, f"dial {self.counts}: {face!r} is not a number 0..99")
        check(len(set(self.faces)) == len(self.faces), FieldError, f"dial {self.counts}: a face is there twice")
        check(self.place in {1, 10}, FieldError, f"dial {self.counts}: place must be 1 or 10, not {self.place}")


@record
class SlideShape:
    """The clear slide."""

    height_mm: float = 2.5  # of its line and ball over the print
    width_mm: float = 26.0  # of the clear plate, along the field
    line_mm: float = 1.2  # width of the line
    ball_mm: tuple[float, float] = (9.0, 6.0)  # length along the field and width across it of the ball
    # the ball's center at left, center and right, yards across
    thirds_y_yd: tuple[float, float, float] = (42.0, 26.6667, 11.3333)

    def __post_init__(self) -> None:
        for name in ("width_mm", "line_mm"):
            check(getattr(self, name) > 0, FieldError, f"slide: {name} must be above 0, not {getattr(self, name):g}")
        check(self.height_mm >= 0, FieldError, f"slide: height_mm can't be negative ({self.height_mm:g})")
        check(min(self.ball_mm) > 0, FieldError, f"slide: ball_mm must be above 0, not {self.ball_mm}")
        left, center, right = self.thirds_y_yd
        check(left > center > right, FieldError, "slide: thirds_y_yd run from the upper side (left) to the lower one")


@record
class StripSet:
    """A strip with its slide and dials. Raises FieldError: the description is impossible."""

    name: str  # short name
    title: str  # its name for people
    field: FieldModel  # the print; its margins hold the dials' windows
    dials: tuple[DialWindow, ...]  # the windows, each (count, place) once
    slide: SlideShape = SlideShape()  # the clear slide

    def __post_init__(self) -> None:
        x_low, y_low, x_high, y_high = self.field.board_mm
        seen = set()
        for dial in self.dials:
            key = (dial.counts, dial.place)
            check(key not in seen, FieldError, f"dial {dial.counts}: two windows have place {dial.place}")
            seen.add(key)
            along, across = (*dial.x_mm, x_low, x_high), (*dial.y_mm, y_low, y_high)
            inside = all(low <= start and end <= high for start, end, low, high in (along, across))
            check(inside, FieldError, f"dial {dial.counts}: its window is not on the print")

    def dials_of(self, counts: Count) -> tuple[DialWindow, ...]:
        """Return the windows of one count, the tens first."""
        return tuple(sorted((d for d in self.dials if d.counts == counts), key=lambda dial: -dial.place))

    def printed_as(self, field: FieldModel) -> StripSet:
        """Return the set on a print whose yards were measured: its windows lie where they do in yards."""
        along = field.mm_per_yd_x / self.field.mm_per_yd_x
        across = field.mm_per_yd_y / self.field.mm_per_yd_y
        dials = tuple(
            replace(dial, x_mm=_scaled(dial.x_mm, along), y_mm=_scaled(dial.y_mm, across)) for dial in self.dials
        )
        return replace(self, field=field, dials=dials)

    @property
    def counts(self) -> tuple[Count, ...]:
        """What the dials count, in the order of their windows."""
        return tuple(dict.fromkeys(dial.counts for dial in self.dials))


def _scaled(span: tuple[float, float], by: float) -> tuple[float, float]:
    return span[0] * by, span[1] * by


_PRESETS = files("downfield.core") / "strips"


@cache
def load_strip(name_or_path: str = BUNDLED_STRIP) -> StripSet:
    """Return the bundled strip, or one described in a TOML file (anything that ends in ``.toml``).

    Raises:
        InputError: no such strip or file.
        FormatError: broken TOML, or a key that is unknown, missing or impossible; names it.
    """
    if name_or_path.endswith(".toml"):
        return _parse(read_text(Path(name_or_path)), name_or_path)
    entry = _PRESETS / f"{name_or_path}.toml"
    if not name_or_path.replace("-", "").isalnum() or not entry.is_file():
        raise InputError(f"no strip is named '{name_or_path}'. Give {BUNDLED_STRIP}, or a .toml file.")
    return _parse(entry.read_text(encoding="utf-8"), f"strip {name_or_path}")


def _parse(text: str, path: str) -> StripSet:
    return from_data(StripSet, parse_toml(text, path), path=path)
