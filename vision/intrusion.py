"""Detects objects that reach in over the board by the parts of the print that they hide.

A network knows the hands it was trained on; a sleeve, a glove or a sheet of paper hides figures just as well. A coarse
picture is compared with a background of the same table. An intrusion is a region that differs, is larger than a figure,
is no shadow, covers part of the board and continues beyond its rim. Nothing here is trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Bools, Image
from downfield.core.field.model import FieldModel

Mask: TypeAlias = NDArray[np.uint8]
Planes: TypeAlias = NDArray[np.float32]
"""Colors of a coarse picture, shape (3, height, width)."""


@dataclass(frozen=True, slots=True)
class IntrusionLimits:
    """Thresholds of the intrusion detector."""

    coarse_width_px: int = 160
    """Approximate width of the coarse picture."""
    every_ns: int = 45_000_000
    """Pictures are compared this often."""
    min_pictures: int = 8
    """Number of pictures after which the background is known."""
    min_disc_mm: float = 42.0
    """A disc this wide fits into an arm and into no figure."""
    min_reach_mm: float = 40.0
    """Least distance that an intrusion reaches in over the board."""
    min_difference: float = 26.0
    """Gray levels by which a pixel differs from the background, in the most different color."""
    min_shadow: float = 0.3
    """A shadow leaves at least this share of the light."""
    max_shadow_tint: float = 0.16
    """Largest difference between the colors by which a shadow darkens."""
    max_difference_share: float = 0.5
    """If more of the picture differs, the lamp or the camera changed and nothing reached in."""
    absorbs_ns: int = 8_000_000_000
    """A change that stays for this long becomes background."""
    follows_ns: int = 700_000_000
    """Time constant with which the rest of the background follows the light."""
    height_mm: float = 30.0
    """Typical height of a hand over the board."""
    min_hidden_share: float = 0.3
    """A hand hides at least this share of the table in its box; walking figures hide less."""


_LIMITS: Final = IntrusionLimits()


@dataclass(frozen=True, slots=True)
class Intrusion:
    """An object over the board.

    Attributes:
        outline_mm: its outline on the board, shape (n, 2).
        tip_mm: its point furthest in.
    """

    outline_mm: Array
    tip_mm: tuple[float, float]


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
        return not box.size or float(box.mean()) >= _LIMITS.min_hidden_share

    def _coarse_box(self, box_px: Sequence[float]) -> tuple[slice, slice]:
        """Convert a box of the frame to the coarse picture."""
        left, top, right, bottom = (max(round(value / self._step), 0) for value in box_px)
        return slice(top, bottom + 1), slice(left, right + 1)

    def update(
        self, image: Image, camera: Camera, t_ns: int, hands_px: Sequence[Sequence[float]] = ()
    ) -> tuple[Intrusion, ...]:
        """Return the intrusions at a frame; the search runs about 20 times per second.

        Args:
            hands_px: boxes of the hands the network sees; a resting hand never becomes background.
        """
        if self._background is not None and t_ns - self._t_ns < _LIMITS.every_ns:
            return self._intrusions
        step = max(image.shape[1] // _LIMITS.coarse_width_px, 1)
        coarse = np.array(cv2.split(cv2.blur(image[step // 2 :: step, step // 2 :: step], (3, 3))), np.float32)
        if self._background is None or self._background.shape != coarse.shape:
            self._background, self._pictures, self._t_ns = coarse, 1, t_ns
            return ()
        differs, shadow = compare_with_background(coarse, self._background)
        known = self._pictures >= _LIMITS.min_pictures
        self._intrusions = self._find(differs & (1 - shadow), camera, step) if known else ()
        usable = known and differs.mean() <= _LIMITS.max_difference_share
        self._differs, self._step = differs if usable else None, step
        hands = [self._coarse_box(box) for box in hands_px if known and self.may_cover(box)]
        self._learn(self._background, coarse, differs, t_ns, hands)
        return self._intrusions

    def _learn(
        self, background: Planes, coarse: Planes, differs: Mask, t_ns: int, hands: Sequence[tuple[slice, slice]]
    ) -> None:
        """Let the background follow the light, and absorb changes that stay for long."""
        passed_ns = t_ns - self._t_ns
        fast, slow = (float(-np.expm1(-passed_ns / span)) for span in (_LIMITS.follows_ns, _LIMITS.absorbs_ns))
        fast = max(fast, 1 / (self._pictures + 1))
        changed = differs.mean() > _LIMITS.max_difference_share
        share = np.where(differs > 0, fast if changed else slow, fast).astype(np.float32)
        for box in hands:
            share[box] = 0.0
        background += share * (coarse - background)
        self._pictures, self._t_ns = self._pictures + 1, t_ns

    def _find(self, differs: Mask, camera: Camera, step: int) -> tuple[Intrusion, ...]:
        if differs.mean() > _LIMITS.max_difference_share:
            return ()
        board, px_per_mm = self._board_mask(camera, differs.shape, step)
        disc = max(round(_LIMITS.min_disc_mm * px_per_mm), 3)
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
    if not len(pixels) or np.ptp(distance) < _LIMITS.min_reach_mm * px_per_mm:
        return None
    tip = pixels[distance.argmax()][::-1]
    contours, _ = cv2.findContours(inside, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    largest = cv2.approxPolyDP(max(contours, key=cv2.contourArea), 1.0, closed=True).reshape(-1, 2)
    outline_px = np.vstack([tip[None], largest]) * step + step // 2
    places = camera.to_board(outline_px.astype(np.float64), _LIMITS.height_mm)
    if not np.isfinite(places).all() or len(largest) < 3:
        return None
    return Intrusion(places[1:], (float(places[0, 0]), float(places[0, 1])))


def compare_with_background(coarse: Planes, background: Planes) -> tuple[Mask, Mask]:
    """Return where a picture differs from the background, and where it may be in a shadow; (height, width), 0 or 1."""
    some = slice(None), slice(None, None, 4), slice(None, None, 4)
    gain = np.median((coarse[some] + 1) / (background[some] + 1), axis=(1, 2))
    expected = background * gain[:, None, None]
    difference, ratio = np.abs(coarse - expected), (coarse + 4) / (expected + 4)
    most, least = reduce(np.maximum, ratio), reduce(np.minimum, ratio)
    shadow = (most < 1) & (least > _LIMITS.min_shadow) & (most - least < _LIMITS.max_shadow_tint)
    return (reduce(np.maximum, difference) > _LIMITS.min_difference).astype(np.uint8), shadow.astype(np.uint8)
