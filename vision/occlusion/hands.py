"""VisibleHands over the board: where they are, whom they cover, and whether the play can be judged.

The network sees fingertips and a box about the hand behind them. An arm comes in from beyond the board, so it is taken
to lie from the fingertips through the box's middle and on: a band as wide as a forearm. What `reaching` sees hide the
board is a hand too, known to the network or not, with an outline of its own. A figure counts as covered where a hand is
over its base.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.core.scene import Hand
from downfield.vision.occlusion.intrusion import Intrusion
from downfield.vision.tracking.estimate import Estimate

HAND_OVER_FIGURES: Final = "a hand covers figures"
"""Why a scene with a hand over figures is unfit."""

_LEAST_SCORE: Final = 0.4  # of a detection taken at its word
_DOUBTFUL_SCORE: Final = 0.2  # of one that goes on with a hand seen a moment ago
_HEIGHT_MM: Final = 30.0  # of hands over the board, about
_TIPS_MM: Final = 20.0  # of fingertips that hold a figure, about; a detection carries them in the helmet's place
_HALF_ARM_MM: Final = 40.0  # half a forearm's width
_ARM_MM: Final = 1500.0  # further than any board reaches
_FINGERS_MM: Final = 45.0  # around the fingertips: palm and fingers
_LASTS_NS: Final = 150_000_000  # a hand not seen for so long is gone; shorter is a miss of the network
_SETTLES_NS: Final = 200_000_000  # after it is gone, figures are found again where it left them
_ROUND: Final = 12  # corners of the outline's round end


@dataclass(frozen=True, slots=True)
class VisibleHands:
    """The hands of a frame.

    Attributes:
        hands: as scenes have them.
        unfit: why calls must not be made; empty when they may.

    """

    hands: tuple[Hand, ...]
    unfit: tuple[str, ...] = ()


class HandTracker:
    """Follows hands; call `see` and then `judge` once for every frame, in order of time.

    Attributes:
        outlines_mm: of the hands over the board, mm, shape (n, 2) each.
        fingertips_mm: where each of them ends.

    """

    def __init__(self) -> None:
        self.outlines_mm: tuple[Array, ...] = ()
        self.fingertips_mm: tuple[tuple[float, float], ...] = ()
        self._seen_ns: int | None = None
        self._covered_ns: int | None = None

    def update(
        self, detections: Sequence[Detection], camera: Camera, t_ns: int, reaches: Sequence[Intrusion] = ()
    ) -> None:
        """Take in where hands are in a frame.

        Args:
            detections: everything that was detected.
            camera: as it stands in this frame.
            t_ns: capture time.
            reaches: what was seen to reach in over the board, known to the network for a hand or not.

        """
        lately = self._seen_ns is not None and t_ns - self._seen_ns <= _LASTS_NS
        least = _DOUBTFUL_SCORE if lately else _LEAST_SCORE
        sure = [one for one in detections if one.kind == "hand" and one.score >= least]
        places = _places(sure, camera)
        tips = tuple((x, y) for x, y in places[:, 0].tolist() if math.isfinite(x) and math.isfinite(y))
        # Of what is seen both ways the outline is better told by what it hides, and its end by the network.
        bare = [reach for reach in reaches if not any(_at(reach.outline_mm, tip) for tip in tips)]
        told = [outline for tip, middle in places[:, 1:] if (outline := _outline(tip, middle, reaches)) is not None]
        outlines = (*told, *(reach.outline_mm for reach in reaches))
        if outlines:
            self.outlines_mm, self._seen_ns = outlines, t_ns
            self.fingertips_mm = (*tips, *(reach.tip_mm for reach in bare))
        elif not lately:
            self.outlines_mm = self.fingertips_mm = ()

    def assess(self, estimates: Sequence[Estimate], t_ns: int) -> VisibleHands:
        """The hands of the frame, and whom of these figures they cover."""
        hands = tuple(_hand(outline, estimates) for outline in self.outlines_mm)
        if any(hand.covers for hand in hands):
            self._covered_ns = t_ns
        unsettled = self._covered_ns is not None and t_ns - self._covered_ns <= _SETTLES_NS
        return VisibleHands(hands, (HAND_OVER_FIGURES,) if unsettled else ())


def outline_contains(outline: Array, place_mm: Sequence[float]) -> bool:
    """Whether a place on the board is under a hand."""
    at = float(place_mm[0]), float(place_mm[1])
    return cv2.pointPolygonTest(outline.astype(np.float32), at, False) >= 0


def _hand(outline: Array, estimates: Sequence[Estimate]) -> Hand:
    """A hand with the figures that it covers: their bases' middles or corners are outline_contains it."""
    (left, low), (right, high) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
    covers = []
    for one in estimates:
        at = one.footprint
        reach = at.size.length_mm + at.size.width_mm  # further than any corner is from the middle
        if not (left - reach < at.x_mm < right + reach and low - reach < at.y_mm < high + reach):
            continue
        if any(outline_contains(outline, point) for point in ((at.x_mm, at.y_mm), *at.corners_mm().tolist())):
            covers.append(one.id)
    return Hand(tuple((x, y) for x, y in outline.tolist()), tuple(covers))


def _at(outline: Array, place_mm: tuple[float, float]) -> bool:
    """Whether fingertips are those of what has this outline."""
    return cv2.pointPolygonTest(outline.astype(np.float32), place_mm, True) > -_FINGERS_MM


def _places(hands: Sequence[Detection], camera: Camera) -> Array:
    """Where hands are on the board: fingertips as they hold, the same at the hand's height, its middle; (n, 3, 2)."""
    points_px = []
    for one in hands:
        left, top, right, bottom = one.box_px
        middle = ((left + right) / 2, (top + bottom) / 2)
        points_px.append((one.helmet_px or (math.nan, math.nan), one.helmet_px or middle, middle))
    if not points_px:
        return np.zeros((0, 3, 2))
    return camera.to_board(np.array(points_px, dtype=np.float64), (_TIPS_MM, _HEIGHT_MM, _HEIGHT_MM))


def _outline(tip_mm: Array, middle_mm: Array, reaches: Sequence[Intrusion]) -> Array | None:
    """A hand's outline on the board, shape (n, 2); None where it is not over its plane, or is one of the reaches."""
    if not (np.isfinite(tip_mm).all() and np.isfinite(middle_mm).all()):
        return None
    if any(_at(reach.outline_mm, (float(tip_mm[0]), float(tip_mm[1]))) for reach in reaches):
        return None
    along = middle_mm - tip_mm
    reach = float(np.linalg.norm(along))
    along = along / reach if reach > 1e-6 else np.array([1.0, 0.0])
    far_mm = tip_mm + _ARM_MM * along
    aside = np.array([-along[1], along[0]])
    turn = np.linspace(0, 2 * np.pi, _ROUND, endpoint=False)
    palm = tip_mm + _FINGERS_MM * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    arm = np.array([end + side * _HALF_ARM_MM * aside for end in (tip_mm, far_mm) for side in (-1, 1)])
    hull = cv2.convexHull(np.vstack([palm, arm]).astype(np.float32)).reshape(-1, 2)
    return np.asarray(hull, dtype=np.float64)
