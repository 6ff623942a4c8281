"""Which contacts of two bases count as a tackle where only square hits do: by the faces that meet and their angle.

Two bases meet squarely when a face of one lies along a face of the other, within an angle and over part of a base's
width. Everything else is a corner, whatever face it is nearest to. A rulebook then says which pairs of faces count;
pairs are written defender first, ``"front-rear"`` for a hit from behind (EFL-077..081).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Final

from downfield.officiating.engine.facts import Touch
from downfield.officiating.engine.geometry import chance
from downfield.officiating.rulebooks.params import Param, Params

PAIRS: Final = tuple(f"{mine}-{his}" for mine, his in itertools.product(("front", "side", "rear", "corner"), repeat=2))

PARAMS: Final = (
    Param(
        "tackle.pairs",
        ("front-front", "front-side", "front-rear", "side-front"),
        "",
        "the four square hits the source allows: head on, into a side from either, and from behind",
        choices=PAIRS,
    ),
    Param(
        "tackle.review_pairs",
        ("corner-rear",),
        "",
        "the ban on corners and the leave to touch the back collide here, so a person decides",
        choices=PAIRS,
    ),
    Param("tackle.angle_deg", 15.0, "deg", "the source says 90 degrees or head on and no tolerance", low=0, high=45),
    Param("tackle.unsure_from_deg", 10.0, "deg", "from here on a table would argue about square", low=0, high=45),
    Param("tackle.unsure_to_deg", 30.0, "deg", "from here on nobody calls it square", low=0, high=90),
    Param("tackle.overlap_share", 0.25, "", "of a base's width must lie along the other, else it is a corner", 0, 1),
)

BAND_PROBABILITY: Final = 0.9
"""Of the likelier reading at the ends of the unsure band: below any confidence worth calling at."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a contact is where only square hits count.

    Attributes:
        pair: the faces it would be if square, defender first.
        square: probability that it is.
        tackles: whether that pair is a tackle when square.
        review: whether it is for a person to decide when not square.
        margin_deg: how far inside the angle it is.
        sigma_deg: standard deviation of that.

    """

    pair: str
    square: float
    tackles: bool
    review: bool
    margin_deg: float
    sigma_deg: float

    @property
    def probability(self) -> float:
        """That it is a tackle, the contact itself taken as certain."""
        return self.square if self.tackles else 0.0


def hit(touch: Touch, width_mm: float, sigma_deg: float, params: Params) -> Hit:
    """Judge a contact, seen from the carrier.

    Args:
        touch: the contact; its own face is the carrier's.
        width_mm: of the narrower base.
        sigma_deg: standard deviation of the angle between the two bases.
        params: in force.

    """
    mine, his = _kind(touch.other_face), _kind(touch.own_face)
    overlap = chance(touch.overlap_mm - params.real("tackle.overlap_share") * width_mm, touch.sigma_mm)
    square = _flush(touch.angle_deg, sigma_deg, params) * overlap if "corner" not in {mine, his} else 0.0
    pair = f"{mine}-{his}"
    return Hit(
        pair=pair,
        square=square,
        tackles=pair in params.choices("tackle.pairs"),
        review=f"corner-{his}" in params.choices("tackle.review_pairs"),
        margin_deg=params.real("tackle.angle_deg") - touch.angle_deg,
        sigma_deg=sigma_deg,
    )


def _kind(face: str) -> str:
    return "side" if face in {"left", "right"} else face


def _flush(angle_deg: float, sigma_deg: float, params: Params) -> float:
    """Probability that two faces this far off parallel count as square.

    Sure up to the band and after it, even odds at the tolerance, straight lines between; blurred by the error.
    """
    low, middle, high = (params.real(f"tackle.{name}") for name in ("unsure_from_deg", "angle_deg", "unsure_to_deg"))
    if sigma_deg <= 0:
        return _plain(angle_deg, low, middle, high)
    # The angle is a magnitude: the true one may lie on the other side of square, where it counts the same.
    steps = [-2.0 + 0.25 * i for i in range(17)]
    weights = [math.exp(-step * step / 2) for step in steps]
    spread = (_plain(abs(angle_deg + step * sigma_deg), low, middle, high) for step in steps)
    return sum(weight * value for weight, value in zip(weights, spread, strict=True)) / sum(weights)


def _plain(angle_deg: float, low: float, middle: float, high: float) -> float:
    if angle_deg <= min(low, middle):
        return 1.0
    if angle_deg >= max(high, middle):
        return 0.0
    reach = BAND_PROBABILITY - 0.5
    if angle_deg <= middle:
        return 0.5 + reach * (middle - angle_deg) / (middle - low)
    return 0.5 - reach * (angle_deg - middle) / (high - middle)
