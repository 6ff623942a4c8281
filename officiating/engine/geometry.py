"""Plane geometry of one base, with error: its outermost points and the instants it crosses a line.

Scalar arithmetic on purpose: rules ask for a handful of points per frame, where arrays cost more than they save.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from downfield.core.scene import Figure


@dataclass(frozen=True, slots=True)
class Reach:
    """An outermost point of a base's outline.

    Attributes:
        x_mm, y_mm: where it is, board frame.
        sigma_mm: standard deviation along the direction it was asked for: the base's place, and its heading times the
            lever from the center to the point.

    """

    x_mm: float
    y_mm: float
    sigma_mm: float


def reach_x(figure: Figure, direction: int) -> Reach:
    """The outermost point of a base along +x or -x of the board."""
    x_mm, y_mm = _outermost(figure, float(direction), 0.0)
    return Reach(x_mm, y_mm, _sigma(figure.sigma_mm[0], y_mm - figure.y_mm, figure.sigma_deg))


def reach_y(figure: Figure, direction: int) -> Reach:
    """The outermost point of a base along +y or -y of the board."""
    x_mm, y_mm = _outermost(figure, 0.0, float(direction))
    return Reach(x_mm, y_mm, _sigma(figure.sigma_mm[1], x_mm - figure.x_mm, figure.sigma_deg))


def chance(margin: float, sigma: float) -> float:
    """Probability that a quantity measured as `margin` with error `sigma` is really 0 or more."""
    if sigma <= 0:
        return 1.0 if margin >= 0 else 0.0
    return 0.5 * math.erfc(-margin / (sigma * math.sqrt(2)))


def crossing_ns(before: float, before_ns: int, now: float, now_ns: int) -> int | None:
    """When a margin went from below 0 to 0 or more between two frames, interpolated; None when it did not."""
    if before >= 0 or now < 0:
        return None
    return before_ns + round((now_ns - before_ns) * (-before / (now - before)))


def _outermost(figure: Figure, ux: float, uy: float) -> tuple[float, float]:
    turn = math.radians(figure.heading_deg)
    cos, sin = math.cos(turn), math.sin(turn)
    ahead = ux * cos + uy * sin
    aside = -ux * sin + uy * cos
    half_length = math.copysign(figure.length_mm / 2 - figure.corner_mm, ahead)
    half_width = math.copysign(figure.width_mm / 2 - figure.corner_mm, aside)
    x_mm = figure.x_mm + half_length * cos - half_width * sin + figure.corner_mm * ux
    y_mm = figure.y_mm + half_length * sin + half_width * cos + figure.corner_mm * uy
    return x_mm, y_mm


def _sigma(sigma_mm: float, lever_mm: float, sigma_deg: float) -> float:
    return math.hypot(sigma_mm, lever_mm * math.radians(sigma_deg))
