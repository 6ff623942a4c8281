"""Placements of figures and the way each walks, as a script sets them for the physics."""

from __future__ import annotations

from downfield.core.errors import InputError
from downfield.core.records import check, record


@record
class Placement:
    """Position and heading of a figure on the board.

    Attributes:
        x_mm, y_mm: center of its base, board frame.
        heading_deg: direction of its front, counter-clockwise from +x.
    """

    x_mm: float
    y_mm: float
    heading_deg: float = 0.0


@record
class Trait:
    """Walking and stability of one figure. Coaches tune all of it: dials, prongs and weights.

    Attributes:
        speed_mm_s: walking speed along its heading; negative walks backward.
        curl_deg_s: turning rate without steering, counter-clockwise.
        drive: the largest push of its prongs, as a share of its weight; the stronger one wins a pushing match.
        mass_g: its mass.
        com_mm: height of its center of mass over the board: the higher, the sooner it falls. Of 22 figures in a play of
            6 s, none fall at 11 mm, 0.2 at 13 mm, 1 at 15 mm, 4 at 17 mm and 15 at 20 mm (mean of 5 plays,
            `benchmarks/twin_physics.py`).
        wander: unsteadiness of its walk: the standard deviation of its speed as a share of that speed, and of its
            turning as a share of 60 deg/s.
        stationary: whether it stands still, on a base without prongs.
    """

    speed_mm_s: float = 70.0
    curl_deg_s: float = 0.0
    drive: float = 0.35
    mass_g: float = 4.0
    com_mm: float = 11.0
    wander: float = 0.08
    stationary: bool = False

    def __post_init__(self) -> None:
        for name in ("mass_g", "com_mm"):
            check(getattr(self, name) > 0, InputError, f"{name} must be above 0, not {getattr(self, name):g}")
        for name in ("drive", "wander"):
            check(getattr(self, name) >= 0, InputError, f"{name} can't be negative ({getattr(self, name):g})")
