"""What a printed field can be: sizes beyond those of any board are a wrong unit or a slip, and are named.

They also bound how much paint a description makes: it may come from a stranger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from downfield.core.errors import FieldError
from downfield.core.records import check

if TYPE_CHECKING:
    from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class FieldLimits:
    """Bounds of a printed field; tabletop boards are 600 to 1,900 mm long."""

    most_yd: float = 200.0
    """Length and width of the playing field,"""
    deepest_zone_yd: float = 50.0
    """and depth of an end zone."""
    board_mm: tuple[float, float] = (100.0, 5000.0)
    """Length of the playing field on the board,"""
    across_mm: tuple[float, float] = (50.0, 5000.0)
    """and its width."""
    aspect: float = 4.0
    """A yard one way over a yard the other way."""
    widest_line_mm: float = 100.0
    """Width of a line's paint."""
    widest_margin_mm: float = 1000.0
    """Board beyond the paint."""
    closest_yd: float = 0.2
    """From one hash mark to the next; from one number to the next it is five times as much."""
    rows: int = 8
    """Rows of hash marks, or of numbers."""
    longest_name: int = 60
    """Characters of the name,"""
    longest_title: int = 200
    """and of the title."""


_LIMITS: Final = FieldLimits()


def check_field(field: FieldModel) -> None:
    """Refuse a field that no board can have.

    Raises:
        FieldError: names what is out of bounds, and what it may be.

    """
    for names, size_mm, (low, high) in (
        ("length_yd and mm_per_yd_x", field.length_mm, _LIMITS.board_mm),
        ("width_yd and mm_per_yd_y", field.width_mm, _LIMITS.across_mm),
    ):
        check(
            low <= size_mm <= high,
            FieldError,
            f"{names} make {size_mm:g} mm; a board's field has {low:g} to {high:g} mm. Give millimeters for each yard.",
        )
    ratio = field.mm_per_yd_y / field.mm_per_yd_x
    check(
        1 / _LIMITS.aspect <= ratio <= _LIMITS.aspect,
        FieldError,
        f"mm_per_yd_y is {ratio:.2g} times mm_per_yd_x; on boards it is {1 / _LIMITS.aspect:g} to {_LIMITS.aspect:g}"
        " times as much",
    )
    for name, value, most in _sizes(field):
        check(value <= most, FieldError, f"{name} can't be above {most:g}, not {value:g}")
    for name, value, least in (
        ("hash_every_yd", field.hash_every_yd, _LIMITS.closest_yd),
        ("number_every_yd", field.number_every_yd, 5 * _LIMITS.closest_yd),
    ):
        check(value == 0 or value >= least, FieldError, f"{name} must be {least:g} or more, or 0 for none ({value:g})")
    for name, rows in (("hash_rows_y_yd", field.hash_rows_y_yd), ("number_rows_y_yd", field.number_rows_y_yd)):
        check(len(rows) <= _LIMITS.rows, FieldError, f"{name} has {len(rows)} rows; {_LIMITS.rows} are the most")
    for name, text, longest in (
        ("name", field.name, _LIMITS.longest_name),
        ("title", field.title, _LIMITS.longest_title),
    ):
        check(
            text.isprintable() and len(text) <= longest,
            FieldError,
            f"{name} must have at most {longest} characters, all of which can be seen",
        )
    check(bool(field.name.strip()), FieldError, "name is empty")


def _sizes(field: FieldModel) -> Iterator[tuple[str, float, float]]:
    """Yield names, sizes and the most that each may be."""
    yield "length_yd", field.length_yd, _LIMITS.most_yd
    yield "width_yd", field.width_yd, _LIMITS.most_yd
    yield "end_zone_yd", field.end_zone_yd, _LIMITS.deepest_zone_yd
    yield "hash_length_yd", field.hash_length_yd, field.width_yd / 2
    yield "number_height_yd", field.number_height_yd, field.width_yd / 2
    yield "margin_mm", max(field.margin_mm), _LIMITS.widest_margin_mm
    for kind in ("sideline", "end_line"):  # the others are bounded by the space between lines
        style = getattr(field, kind)
        yield f"{kind}: width_mm", style.width_mm or 0.0, _LIMITS.widest_line_mm
