"""The tracker's estimate of one figure at one instant, the input of all later stages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.scene import SURE_IDENTITY, Figure, Jersey, Posture

_DIGITS: Final = 4  # of millimeters and degrees in a scene: a tenth of a micrometer
_IDENTITY_DIGITS: Final = 3


_MEASURED_SIGMA_MM: Final = 0.5  # Error of the network's side length, for as long as the light stays the same
_ROSTER_SIGMA_MM: Final = 0.3  # Error of the roster's side length, if the roster means this base
_WRONG_ROSTER_SHARE: Final = 0.1  # Prior probability that the roster's size belongs to another base altogether
_WRONG_ROSTER_RANGE_MM: Final = 10.0  # Range of the side's length in that case
_LENGTHWISE_COSINE: Final = 0.7  # Cosine between head and heading above which the figure fell forward or backward
_DIFFERENCE_MM: Final = math.hypot(_MEASURED_SIGMA_MM, _ROSTER_SIGMA_MM)  # of one source from the other
_PEAK: Final = _DIFFERENCE_MM * math.sqrt(2 * math.pi)


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure."""

    id: str
    jersey: Jersey
    footprint: Footprint  # its base, with the size as known so far
    covariance: Array  # of x mm, y mm and heading in radians, detection and calibration error together; shape (3, 3)
    velocity: Array  # of x and y in mm/s and of the heading in rad/s; shape (3,)
    posture: Posture = "upright"
    fallen: float = 0.0  # probability that it has fallen, 0..1
    visible: float = 1.0  # share of the base top that is visible, 0..1
    helmet_mm: tuple[float, float] | None = None  # the helmet's center projected to the board, None when not visible
    # whether it was detected in this frame, or in the last frame that the detector ran on; otherwise it is predicted
    seen: bool = True
    identity: float = 1.0  # probability that it is this figure, 0..1
    fell_ns: int | None = None
    fresh: bool = True  # whether it was measured in this frame; if not, its motion was extrapolated
    front: float = 1.0  # probability that its heading points to its front, 0..1

    @property
    def sure(self) -> bool:
        """Whether it is as good as certain to be this figure."""
        return self.identity >= SURE_IDENTITY

    def with_pose(self, footprint: Footprint, covariance: Array) -> Estimate:
        """Return the same figure with a newly measured pose, and therefore fresh.

        Written out because `dataclasses.replace` takes four times as long.
        """
        return Estimate(
            self.id,
            self.jersey,
            footprint,
            covariance,
            self.velocity,
            self.posture,
            self.fallen,
            self.visible,
            self.helmet_mm,
            self.seen,
            self.identity,
            self.fell_ns,
            front=self.front,
        )

    def to_figure(self, t_sigma_s: float = 0.0) -> Figure:
        """Return the figure as a scene holds it, rounded; its error is also that of the picture's time, s."""
        footprint, size, helmet = self.footprint, self.footprint.size, self.helmet_mm
        variances = self.covariance.diagonal() + (self.velocity * t_sigma_s) ** 2
        variance_x, variance_y, variance_rad = variances.tolist()
        length_mm, width_mm = round(size.length_mm, _DIGITS), round(size.width_mm, _DIGITS)
        return Figure(
            id=self.id,
            jersey=self.jersey,
            x_mm=round(footprint.x_mm, _DIGITS),
            y_mm=round(footprint.y_mm, _DIGITS),
            heading_deg=round(footprint.heading_deg, _DIGITS),
            length_mm=length_mm,
            width_mm=width_mm,
            corner_mm=min(round(size.corner_mm, _DIGITS), length_mm / 2, width_mm / 2),
            posture=self.posture,
            sigma_mm=(round(math.sqrt(variance_x), _DIGITS), round(math.sqrt(variance_y), _DIGITS)),
            sigma_deg=round(math.degrees(math.sqrt(variance_rad)), _DIGITS),
            visible=round(self.visible, _DIGITS),
            helmet_mm=None if helmet is None else (round(helmet[0], _DIGITS), round(helmet[1], _DIGITS)),
            sure=self.sure,
            fell_ns=self.fell_ns,
            front=round(self.front, _DIGITS),
            identity=round(self.identity, _IDENTITY_DIGITS),
        )


def estimate_base_size(length_mm: float, width_mm: float, roster: BaseSize) -> BaseSize:
    """Return a base's size from its measured size and the roster's, as far as the two agree.

    Args:
        length_mm: length, measured over many frames.
        width_mm: width, measured over many frames.
        roster: the roster's size; its height and corner radius are taken as they are.
    """
    length_mm, width_mm = _side_mm(length_mm, roster.length_mm), _side_mm(width_mm, roster.width_mm)
    return BaseSize(length_mm, width_mm, roster.height_mm, min(roster.corner_mm, length_mm / 2, width_mm / 2))


def fallen_base_size(length_mm: float, width_mm: float, heading_rad: float, head: Array, roster: BaseSize) -> BaseSize:
    """Return the size of a base on its edge: the side over which it fell is as long as the base is high.

    Args:
        length_mm: length of the upright base.
        width_mm: width of the upright base.
        heading_rad: heading of the base.
        head: unit vector from the base's center to the helmet, NaN if the helmet was never visible; shape (2,).
        roster: the roster's size, for the height.
    """
    ahead = np.array([np.cos(heading_rad), np.sin(heading_rad)])
    along = abs(float(ahead @ head))
    high_mm = max(roster.height_mm, 1.0)
    if along > _LENGTHWISE_COSINE:  # False for NaN
        return BaseSize(high_mm, width_mm, roster.height_mm, 0.0)
    return BaseSize(length_mm, high_mm, roster.height_mm, 0.0)


def _side_mm(measured_mm: float, roster_mm: float) -> float:
    off = roster_mm - measured_mm
    right = (1 - _WRONG_ROSTER_SHARE) * math.exp(-0.5 * (off / _DIFFERENCE_MM) ** 2) / _PEAK
    share = right / (right + _WRONG_ROSTER_SHARE / _WRONG_ROSTER_RANGE_MM)
    return measured_mm + share * off * _MEASURED_SIGMA_MM**2 / _DIFFERENCE_MM**2
