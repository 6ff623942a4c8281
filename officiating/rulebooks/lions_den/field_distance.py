"""The distance between two bases in field yards, whose length is another one along the field than across."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final

from downfield.core.field.model import FieldModel
from downfield.core.scene import Figure

ARC_DEG: Final = (0.0, 22.5, 45.0, 67.5, 90.0)
"""A rounded corner is taken as a polygon through these: less than 0.1 mm inside a corner of 5 mm."""

Point = tuple[float, float]


def base_gap_yd(a: Figure, b: Figure, field: FieldModel) -> float:
    """Return the shortest distance between two bases in field yards; 0 where they touch or overlap."""
    one, other = _outline_yd(a, field), _outline_yd(b, field)
    if _contains(one, other[0]) or _contains(other, one[0]):
        return 0.0
    return min(_between(first, second) for first, second in itertools.product(_edges(one), _edges(other)))


def _outline_yd(figure: Figure, field: FieldModel) -> list[Point]:
    """Return the outline of a base as a polygon, counter-clockwise, in field yards."""
    turn = math.radians(figure.heading_deg)
    cos, sin = math.cos(turn), math.sin(turn)
    half_length, half_width = figure.length_mm / 2 - figure.corner_mm, figure.width_mm / 2 - figure.corner_mm
    outline = []
    for quarter, (ahead, aside) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        for arc in ARC_DEG:
            angle = math.radians(90.0 * quarter + arc)
            x = ahead * half_length + figure.corner_mm * math.cos(angle)
            y = aside * half_width + figure.corner_mm * math.sin(angle)
            x_mm, y_mm = figure.x_mm + x * cos - y * sin, figure.y_mm + x * sin + y * cos
            outline.append((x_mm / field.mm_per_yd_x, y_mm / field.mm_per_yd_y))
    return outline


def _edges(outline: Sequence[Point]) -> list[tuple[Point, Point]]:
    return list(zip(outline, (*outline[1:], outline[0]), strict=True))


def _contains(outline: Sequence[Point], point: Point) -> bool:
    """Return whether a point lies in a convex polygon that runs counter-clockwise."""
    return all(_side(start, end, point) >= 0 for start, end in _edges(outline))


def _side(start: Point, end: Point, point: Point) -> float:
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])


def _between(first: tuple[Point, Point], second: tuple[Point, Point]) -> float:
    """Return the distance between two segments; 0 where they cross."""
    apart = _side(*first, second[0]) * _side(*first, second[1]) >= 0
    if not apart and _side(*second, first[0]) * _side(*second, first[1]) < 0:
        return 0.0
    return min(
        _to_segment(first[0], *second),
        _to_segment(first[1], *second),
        _to_segment(second[0], *first),
        _to_segment(second[1], *first),
    )


def _to_segment(point: Point, start: Point, end: Point) -> float:
    along = (end[0] - start[0], end[1] - start[1])
    length2 = along[0] ** 2 + along[1] ** 2
    reach = (point[0] - start[0]) * along[0] + (point[1] - start[1]) * along[1]
    share = min(max(reach / length2, 0.0), 1.0) if length2 > 0 else 0.0
    return math.hypot(point[0] - start[0] - share * along[0], point[1] - start[1] - share * along[1])
