"""What is painted on a field: straight lines, how each kind of them is painted, and yard numbers."""

from __future__ import annotations

from typing import Literal

from downfield.core.errors import FieldError
from downfield.core.records import check, record

PaintKind = Literal["sideline", "goal_line", "end_line", "yard_line", "hash"]

LineKind = Literal["sideline", "goal_line", "end_line", "yard_line", "hash_mark"]
"""Kinds of lines that a field describes by a `LineStyle` of their own."""

LineZero = Literal["inner", "center", "outer"]
"""The part of a line's paint that lies on its place: its edge toward the field of play, its center, its outer edge."""


@record
class LineStyle:
    """How one kind of line is painted.

    Attributes:
        width_mm: width of its paint; left out when it is not known.
        zero: the part of its paint that lies on its place, where the line counts: ``"inner"`` edge, ``"center"`` or
            ``"outer"`` edge; left out when it is not known.
    """

    width_mm: float | None = None
    zero: LineZero | None = None

    def __post_init__(self) -> None:
        check(self.width_mm is None or self.width_mm > 0, FieldError, f"width_mm must be above 0, not {self.width_mm}")


@record
class PaintedLine:
    """One straight line of paint, an axis-aligned rectangle on the board."""

    kind: PaintKind  # kind of line
    x_mm: tuple[float, float]  # its extent along the field, (low, high), mm
    y_mm: tuple[float, float]  # its extent across the field, (low, high), mm

    @property
    def is_across(self) -> bool:
        """Whether the line runs across the field, as yard lines and goal lines do."""
        return (self.y_mm[1] - self.y_mm[0]) > (self.x_mm[1] - self.x_mm[0])


@record
class FieldNumber:
    """One painted yard number."""

    text: str  # such as `"30"`
    x_yd: float  # x_yd, y_yd: its center
    y_yd: float
    height_yd: float  # its height across the field, in yards across
    up: Literal[-1, 1]  # `1` when its top points toward larger y, `-1` toward smaller y
