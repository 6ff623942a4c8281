"""Hands and whatever else reaches in over the board, the figures they cover, and whether calls can be made.

The network sees fingertips and a box around the hand. An arm comes in from beyond the board, so it is modeled as a
band as wide as a forearm, from the fingertips through the box's center and beyond. Whatever `IntrusionDetector` finds
is treated as a hand with its own outline, whether or not the network detects it. A figure is covered
if a hand is over its base.

`IntrusionDetector` finds objects by the parts of the print that they hide: a network knows the hands it was trained on;
a sleeve, a glove or a sheet of paper hides figures just as well. A coarse picture is compared with a background of the
same table. An intrusion is a region that differs, is larger than a figure, is no shadow, covers part of the board and
continues beyond its rim. Nothing here is trained.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Bools, Image
from downfield.core.field.model import FieldModel
from downfield.core.frame import Detection
from downfield.core.scene import Hand
from downfield.vision.board.picture_changes import Mask, Planes, compare_with_background
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.measuring.measurement import Measurements

HAND_OVER_FIGURES: Final = "A hand covers figures: calls resume once it is gone"
"""Why a scene with a hand over figures is unfit."""


@dataclass(frozen=True, slots=True)
class IntrusionLimits:
    """Thresholds of the intrusion detector."""

    coarse_width_px: int = 160  # approximate width of the coarse picture
    every_ns: int = 45_000_000  # pictures are compared this often
    min_pictures: int = 8  # number of pictures after which the background is known
    min_disc_mm: float = 42.0  # a disc this wide fits into an arm and into no figure
    min_reach_mm: float = 40.0  # least distance that an intrusion reaches in over the board
    # if more of the picture differs, the lamp or the camera changed and nothing reached in
    max_difference_share: float = 0.5
    absorbs_ns: int = 8_000_000_000  # a change that stays for this long becomes background
    follows_ns: int = 700_000_000  # time constant with which the rest of the background follows the light
    height_mm: float = 30.0  # typical height of a hand over the board
    min_hidden_share: float = 0.3  # a hand hides at least this share of the table in its box; walking figures hide less


_INTRUSION: Final = IntrusionLimits()


@dataclass(frozen=True, slots=True)
class Intrusion:
    """An object over the board."""

    outline_mm: Array  # its outline on the board, shape (n, 2)
    tip_mm: tuple[float, float]  # its point furthest in


class IntrusionDetector:
    """Finds intrusions; call `update` for every frame, in order of time."""

    def __init__(self, field: FieldModel) -> None:
        self._field = field
        self._background: Planes | None = None
        self._pictures = 0
        self._t_ns = 0
        self._intrusions: tuple[Intrusion, ...] = ()
        self._differs: Mask | None = None
        self._step = 1

    def may_cover(self, box_px: Sequence[float]) -> bool:
        """Return whether the content of a box of the frame may be over the table, and is not part of the print.

        Args:
            box_px: left, top, right and bottom.

        Returns:
            True also while that is unknown: before the background is known, and while the light changes.
        """
        if self._differs is None:
            return True
        box = self._differs[self._coarse_box(box_px)]
        return not box.size or float(box.mean()) >= _INTRUSION.min_hidden_share

    def _coarse_box(self, box_px: Sequence[float]) -> tuple[slice, slice]:
        left, top, right, bottom = (max(round(value / self._step), 0) for value in box_px)
        return slice(top, bottom + 1), slice(left, right + 1)

    def update(
        self, image: Image, camera: Camera, t_ns: int, hands_px: Sequence[Sequence[float]] = ()
    ) -> tuple[Intrusion, ...]:
        """Return the intrusions at a frame; the search runs about 20 times per second.

        Args:
            hands_px: boxes of the hands the network sees; a resting hand never becomes background.
        """
        if self._background is not None and t_ns - self._t_ns < _INTRUSION.every_ns:
            return self._intrusions
        step = max(image.shape[1] // _INTRUSION.coarse_width_px, 1)
        coarse = np.array(cv2.split(cv2.blur(image[step // 2 :: step, step // 2 :: step], (3, 3))), np.float32)
        if self._background is None or self._background.shape != coarse.shape:
            self._background, self._pictures, self._t_ns = coarse, 1, t_ns
            return ()
        differs, shadow = compare_with_background(coarse, self._background)
        known = self._pictures >= _INTRUSION.min_pictures
        self._intrusions = self._find(differs & (1 - shadow), camera, step) if known else ()
        usable = known and differs.mean() <= _INTRUSION.max_difference_share
        self._differs, self._step = differs if usable else None, step
        hands = [self._coarse_box(box) for box in hands_px if known and self.may_cover(box)]
        self._learn(self._background, coarse, differs, t_ns, hands)
        return self._intrusions

    def _learn(
        self, background: Planes, coarse: Planes, differs: Mask, t_ns: int, hands: Sequence[tuple[slice, slice]]
    ) -> None:
        """Let the background follow the light, and absorb changes that stay for long."""
        passed_ns = t_ns - self._t_ns
        fast, slow = (float(-np.expm1(-passed_ns / span)) for span in (_INTRUSION.follows_ns, _INTRUSION.absorbs_ns))
        fast = max(fast, 1 / (self._pictures + 1))
        changed = differs.mean() > _INTRUSION.max_difference_share
        share = np.where(differs > 0, fast if changed else slow, fast).astype(np.float32)
        for box in hands:
            share[box] = 0.0
        background += share * (coarse - background)
        self._pictures, self._t_ns = self._pictures + 1, t_ns

    def _find(self, differs: Mask, camera: Camera, step: int) -> tuple[Intrusion, ...]:
        if differs.mean() > _INTRUSION.max_difference_share:
            return ()
        board, px_per_mm = self._board_mask(camera, differs.shape, step)
        disc = max(round(_INTRUSION.min_disc_mm * px_per_mm), 3)
        thick = cv2.morphologyEx(
            cv2.copyMakeBorder(differs, disc, disc, disc, disc, cv2.BORDER_REPLICATE),
            cv2.MORPH_OPEN,
            cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (disc, disc)),
        )[disc:-disc, disc:-disc]
        if not thick.any():
            return ()
        out = []
        _, parts = cv2.connectedComponents(differs)
        beyond = cv2.erode(board, np.ones((3, 3), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0) == 0
        # Thick parts over the board that continue beyond it; part 0 is the unchanged background.
        for part in np.intersect1d(parts[thick.astype(bool) & (board > 0)], parts[beyond & (parts > 0)]).tolist():
            intrusion = _outline_intrusion(parts == part, beyond, board, camera, step, px_per_mm)
            if intrusion is not None:
                out.append(intrusion)
        return tuple(out)

    def _board_mask(self, camera: Camera, shape: tuple[int, ...], step: int) -> tuple[Mask, float]:
        """Return where the board is in the coarse picture, and the picture's pixels per mm."""
        x_low, y_low, x_high, y_high = self._field.board_mm
        corners = camera.to_pixels(np.array([(x_low, y_low), (x_high, y_low), (x_high, y_high), (x_low, y_high)]))
        mask = np.zeros(shape[:2], np.uint8)
        cv2.fillPoly(mask, [np.round((corners - step // 2) / step).astype(np.int32)], 1)
        px_per_mm = float(np.linalg.norm(corners[1] - corners[0])) / (x_high - x_low) / step
        return mask, px_per_mm


def _outline_intrusion(
    part: Bools, beyond: Bools, board: Mask, camera: Camera, step: int, px_per_mm: float
) -> Intrusion | None:
    """Return the outline of a part of the coarse picture on the board; None if it hardly reaches in."""
    inside = (part & (board > 0)).astype(np.uint8)
    entry = np.argwhere(part & beyond).mean(axis=0)
    pixels = np.argwhere(inside > 0)
    distance = np.linalg.norm(pixels - entry, axis=1)
    if not len(pixels) or np.ptp(distance) < _INTRUSION.min_reach_mm * px_per_mm:
        return None
    tip = pixels[distance.argmax()][::-1]
    contours, _ = cv2.findContours(inside, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    largest = cv2.approxPolyDP(max(contours, key=cv2.contourArea), 1.0, closed=True).reshape(-1, 2)
    outline_px = np.vstack([tip[None], largest]) * step + step // 2
    places = camera.to_board(outline_px.astype(np.float64), _INTRUSION.height_mm)
    if not np.isfinite(places).all() or len(largest) < 3:
        return None
    return Intrusion(places[1:], (float(places[0, 0]), float(places[0, 1])))


@dataclass(frozen=True, slots=True)
class HandLimits:
    """Thresholds and sizes of the hand tracker."""

    min_score: float = 0.4  # least score of a hand
    min_score_again: float = 0.2  # least score of a hand that was seen a moment ago
    height_mm: float = 30.0  # typical height of hands over the board
    fingertip_height_mm: float = 20.0  # typical height of fingertips that hold a figure
    half_arm_mm: float = 40.0  # half the width of a forearm
    arm_mm: float = 1500.0  # arms reach this far back: further than any board
    fingers_mm: float = 45.0  # radius around the fingertips that covers palm and fingers
    lasts_ns: int = 150_000_000  # a hand not seen for this long is gone; shorter gaps are misses of the network
    settles_ns: int = 200_000_000  # time after a hand is gone until figures are found at their new places
    outline_corners: int = 12  # corners of the outline's round end
    beside_mm: float = 20.0  # distance to a hand's outline within which the hand may disturb a figure's measurement
    min_visible_under: float = 0.6  # share of a base that must be visible for a detection under a hand to count


_LIMITS: Final = HandLimits()


@dataclass(frozen=True, slots=True)
class VisibleHands:
    """The hands of a frame."""

    hands: tuple[Hand, ...]  # as in `Scene`
    unfit: tuple[str, ...] = ()  # reasons why calls must not be made; empty when calls may be made


class HandTracker:
    """Tracks hands; call `update` and then `assess` once for every frame, in order of time.

    Attributes:
        outlines_mm: outlines of the hands over the board, shape (n, 2) each.
        fingertips_mm: the fingertips of each hand.
    """

    def __init__(self) -> None:
        self.outlines_mm: tuple[Array, ...] = ()
        self.fingertips_mm: tuple[tuple[float, float], ...] = ()
        self._seen_ns: int | None = None
        self._covered_ns: int | None = None

    def update(
        self, detections: Sequence[Detection], camera: Camera, t_ns: int, intrusions: Sequence[Intrusion] = ()
    ) -> None:
        """Update the hands with a frame.

        Args:
            intrusions: objects that reach in over the board, whether or not the network detects a hand.
        """
        recent = self._seen_ns is not None and t_ns - self._seen_ns <= _LIMITS.lasts_ns
        min_score = _LIMITS.min_score_again if recent else _LIMITS.min_score
        hands = [found for found in detections if found.kind == "hand" and found.score >= min_score]
        places = _board_places(hands, camera)
        tips = tuple((x, y) for x, y in places[:, 0].tolist() if math.isfinite(x) and math.isfinite(y))
        # If both find a hand, the intrusion has the better outline and the network the better fingertips.
        unmatched = [
            intrusion for intrusion in intrusions if not any(_belongs_to(intrusion.outline_mm, tip) for tip in tips)
        ]
        detected = [
            outline for tip, center in places[:, 1:] if (outline := _arm_outline(tip, center, intrusions)) is not None
        ]
        outlines = (*detected, *(intrusion.outline_mm for intrusion in intrusions))
        if outlines:
            self.outlines_mm, self._seen_ns = outlines, t_ns
            self.fingertips_mm = (*tips, *(intrusion.tip_mm for intrusion in unmatched))
        elif not recent:
            self.outlines_mm = self.fingertips_mm = ()

    def assess(self, estimates: Sequence[Estimate], t_ns: int) -> VisibleHands:
        """Return the hands of the frame with the figures they cover."""
        hands = tuple(_hand(outline, estimates) for outline in self.outlines_mm)
        if any(hand.covers for hand in hands):
            self._covered_ns = t_ns
        unsettled = self._covered_ns is not None and t_ns - self._covered_ns <= _LIMITS.settles_ns
        return VisibleHands(hands, (HAND_OVER_FIGURES,) if unsettled else ())


def outline_contains(outline: Array, place_mm: Sequence[float]) -> bool:
    """Return whether a place on the board is inside a hand's outline."""
    place = float(place_mm[0]), float(place_mm[1])
    return cv2.pointPolygonTest(outline.astype(np.float32), place, False) >= 0


def near_hands(hands_mm: Sequence[Array], place_mm: Array) -> Bools:
    """Return which places on the board, shape (k, 2), are under a hand or next to it, shape (k,)."""
    out = np.zeros(len(place_mm), dtype=np.bool_)
    for outline in hands_mm:
        shape = outline.astype(np.float32)
        near = [cv2.pointPolygonTest(shape, (x, y), True) > -_LIMITS.beside_mm for x, y in place_mm.tolist()]
        out |= np.array(near, dtype=np.bool_)
    return out


def drop_under_hands(hands_mm: Sequence[Array], measurements: Measurements) -> Measurements:
    """Drop hardly visible detections under hands, which may well be knuckles."""
    if not hands_mm:
        return measurements
    keep = measurements.visible >= _LIMITS.min_visible_under
    for row in np.flatnonzero(~keep).tolist():
        place = measurements.pose[row, :2].tolist()
        keep[row] = not any(outline_contains(outline, place) for outline in hands_mm)
    return measurements.select(keep)


def _hand(outline: Array, estimates: Sequence[Estimate]) -> Hand:
    """Return a hand with the figures it covers: those whose base has its center or a corner under it."""
    (left, low), (right, high) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
    covers = []
    for figure in estimates:
        base = figure.footprint
        reach = base.size.length_mm + base.size.width_mm  # further than any corner is from the center
        if not (left - reach < base.x_mm < right + reach and low - reach < base.y_mm < high + reach):
            continue
        if any(outline_contains(outline, point) for point in ((base.x_mm, base.y_mm), *base.corners_mm().tolist())):
            covers.append(figure.id)
    return Hand(tuple((x, y) for x, y in outline.tolist()), tuple(covers))


def _belongs_to(outline: Array, tip_mm: tuple[float, float]) -> bool:
    return cv2.pointPolygonTest(outline.astype(np.float32), tip_mm, True) > -_LIMITS.fingers_mm


def _board_places(hands: Sequence[Detection], camera: Camera) -> Array:
    """Return hands on the board, (n, 3, 2): fingertips at holding height, the same at hand height, and the center."""
    points_px = []
    for hand in hands:
        left, top, right, bottom = hand.box_px
        center = ((left + right) / 2, (top + bottom) / 2)
        # A hand's detection carries its fingertips in the helmet's place.
        points_px.append((hand.helmet_px or (math.nan, math.nan), hand.helmet_px or center, center))
    if not points_px:
        return np.zeros((0, 3, 2))
    heights_mm = (_LIMITS.fingertip_height_mm, _LIMITS.height_mm, _LIMITS.height_mm)
    return camera.to_board(np.array(points_px, dtype=np.float64), heights_mm)


def _arm_outline(tip_mm: Array, center_mm: Array, intrusions: Sequence[Intrusion]) -> Array | None:
    """Return the outline of an arm, shape (n, 2); None if it can't be projected or belongs to an intrusion."""
    if not (np.isfinite(tip_mm).all() and np.isfinite(center_mm).all()):
        return None
    if any(_belongs_to(intrusion.outline_mm, (float(tip_mm[0]), float(tip_mm[1]))) for intrusion in intrusions):
        return None
    along = center_mm - tip_mm
    length = float(np.linalg.norm(along))
    along = along / length if length > 1e-6 else np.array([1.0, 0.0])
    far_mm = tip_mm + _LIMITS.arm_mm * along
    aside = np.array([-along[1], along[0]])
    angles = np.linspace(0, 2 * np.pi, _LIMITS.outline_corners, endpoint=False)
    palm = tip_mm + _LIMITS.fingers_mm * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    arm = np.array([end + side * _LIMITS.half_arm_mm * aside for end in (tip_mm, far_mm) for side in (-1, 1)])
    hull = cv2.convexHull(np.vstack([palm, arm]).astype(np.float32)).reshape(-1, 2)
    return np.asarray(hull, dtype=np.float64)
