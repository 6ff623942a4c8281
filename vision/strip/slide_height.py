"""Learns how high the slide's line lies over the print, from where it was set.

Seen at an angle, a line over the print looks moved along the field: half a yard and more at the ends of a strip whose
slide lies a millimeter lower than its description says. Nobody measures that. But slides are set to whole yards, and
only one height puts all the places where the line was seen on whole yards. So the height is a distribution on a grid,
as in a histogram filter: every place at which the slide settles weighs it (Thrun, Burgard, Fox: Probabilistic
Robotics, 2005, section 4.1), and a reading is as sure as all likely heights agree on its yard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.core.normal_distribution import normal_cdf
from downfield.core.strip import StripSet


@dataclass(frozen=True, slots=True)
class SlideHeightLimits:
    """What is assumed of slides."""

    step_mm: float = 0.1
    """Step between two heights of the grid."""
    max_mm: float = 6.0
    """No clear slide is thicker, at least twice the described height."""
    sigma_mm: float = 0.8
    """Standard deviation of a height that somebody measured and described."""
    assumed_share: float = 0.3
    """Share of the descriptions that were not measured: their slides may be of any height."""
    set_yd: float = 0.15
    """Standard deviation of where a hand sets the slide around a whole yard, with what measuring adds."""
    outlier_share: float = 0.08
    """Share of placements that are anywhere between two yards."""
    another_yd: float = 0.6
    """A line that moved this far was set anew: pictures of one placement count once."""


_LIMITS: Final = SlideHeightLimits()


class SlideHeight:
    """The height of a slide's line as far as it is known.

    Args:
        strip: the set, with the height it describes.
    """

    def __init__(self, strip: StripSet, camera: Camera) -> None:
        described = strip.slide.height_mm
        self._mm = np.arange(0.0, max(_LIMITS.max_mm, 2 * described) + _LIMITS.step_mm / 2, _LIMITS.step_mm)
        near = np.exp(-0.5 * ((self._mm - described) / _LIMITS.sigma_mm) ** 2)
        self._chances = (1 - _LIMITS.assumed_share) * near / near.sum() + _LIMITS.assumed_share / len(near)
        self._described_mm, self._mm_per_yd = described, strip.field.mm_per_yd_x
        self._camera_x_mm, _, self._camera_z_mm = (float(value) for value in camera.position_mm)
        self._stands_yd: float | None = None

    @property
    def mean_mm(self) -> float:
        """The expected height."""
        return float(self._chances @ self._mm)

    def line_yd(self, at_yd: float) -> float:
        """Return where a line is, measured at the described height, under the expected one; yards along x."""
        return float(self._chances @ self._places_yd(at_yd))

    def yard_confidence(self, at_yd: float, yard: int, sigma_yd: float) -> float:
        """Return the probability that a line belongs to a whole yard.

        Args:
            at_yd: where it was measured at the described height, yards along x.
            sigma_yd: standard deviation of the measurement.
        """
        off = self._places_yd(at_yd) - yard
        within = normal_cdf((off + 0.5) / sigma_yd) - normal_cdf((off - 0.5) / sigma_yd)
        return float(self._chances @ within)

    def learn(self, at_yd: float) -> None:
        """Weigh the heights by where the slide had settled before it settled here.

        The same placement again changes nothing, and the place at which it stands now is not yet counted: a slide half
        way between two yards must not explain itself by another height.

        Args:
            at_yd: where its line was measured at the described height, yards along x.
        """
        if self._stands_yd is None or abs(at_yd - self._stands_yd) >= _LIMITS.another_yd:
            if self._stands_yd is not None:
                self._weigh(self._stands_yd)
            self._stands_yd = at_yd

    def _weigh(self, at_yd: float) -> None:
        places = self._places_yd(at_yd)
        off = places - np.round(places)
        density = sum(np.exp(-0.5 * ((off + near) / _LIMITS.set_yd) ** 2) for near in (-1, 0, 1))
        peak = 1 / (_LIMITS.set_yd * np.sqrt(2 * np.pi))
        self._chances = self._chances * (_LIMITS.outlier_share + (1 - _LIMITS.outlier_share) * peak * density)
        self._chances /= self._chances.sum()

    def _places_yd(self, at_yd: float) -> Array:
        """Return where the line is under each height: on the ray from the camera through where it was measured."""
        at_mm = at_yd * self._mm_per_yd
        lower = (self._described_mm - self._mm) / (self._camera_z_mm - self._described_mm)
        return np.asarray((at_mm + (at_mm - self._camera_x_mm) * lower) / self._mm_per_yd)
