"""The picture of the board without figures, learned while they move: what is painted under them is told by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image
from downfield.rig.program.figure_volume import FigureVolume
from downfield.rig.program.picture_motion import moved_part

Plane = NDArray[np.uint8]
"""One value a pixel, shape (height, width)."""


@dataclass(frozen=True, slots=True)
class EmptyBoardLimits:
    """How the board is learned."""

    every_ns: int = 400_000_000
    """Pictures are learned from this often: it is a tenth of the work of drawing."""
    share: float = 0.25
    """A new picture counts so much where the board is known already: noise is averaged out, the light is followed."""
    keep_away_px: int = 7
    """Pixels this near to what a figure may cover are not learned."""
    light_scale: int = 16
    """The light on the board is taken from a picture so many times smaller."""
    light_px: int = 9
    """Median over so many of its pixels: paint is narrower, and is no light."""


LIMITS: Final = EmptyBoardLimits()


class EmptyBoard:
    """The board without figures, in pixels of the reference camera.

    Attributes:
        image: what is known of it, uint8 BGR, shape (height, width, 3).
        known: 255 where it is known, shape (height, width).

    Args:
        size_px: width and height of the pictures.
        outline_px: outline of the field in them, shape (n, 2): the table around it may be brighter.

    """

    def __init__(self, size_px: tuple[int, int], outline_px: Array) -> None:
        width, height = size_px
        self.image: Image = np.zeros((height, width, 3), np.uint8)
        self.known: Plane = np.zeros((height, width), np.uint8)
        self._light: Plane = np.full((height // LIMITS.light_scale, width // LIMITS.light_scale), 255, np.uint8)
        self._inside: Plane = np.zeros(self._light.shape, np.uint8)
        cv2.fillConvexPoly(self._inside, np.round(outline_px / LIMITS.light_scale).astype(np.int32), 255)
        self._learned_ns: int | None = None

    def is_due(self, t_ns: int) -> bool:
        """Return whether a picture is to be learned from."""
        return self._learned_ns is None or t_ns - self._learned_ns >= LIMITS.every_ns or t_ns < self._learned_ns

    def learn(self, image: Image, t_ns: int, move: Array | None, volumes: Sequence[FigureVolume]) -> None:
        """Learn the board where no figure is.

        Args:
            image: a picture without hands over the board.
            t_ns: its capture time.
            move: of reference pixels; None where the camera stands still.
            volumes: of all figures in it.

        """
        self._learned_ns = t_ns
        height, width = self.known.shape
        free = np.full((height, width), 255, np.uint8)
        outlines = [np.round(volume.reach_px).astype(np.int32) for volume in volumes]
        for outline in outlines:
            cv2.fillConvexPoly(free, outline, 0)
            cv2.polylines(free, [outline.reshape(-1, 1, 2)], True, 0, 2 * LIMITS.keep_away_px)
        here = image
        if move is not None:
            back = np.asarray(cv2.invertAffineTransform(move), dtype=np.float64)
            here = moved_part(image, back, (0, 0, width, height))
            free = moved_part(free, back, (0, 0, width, height))
        surely = np.asarray(cv2.threshold(free, 254, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)
        mixed = cv2.addWeighted(self.image, 1 - LIMITS.share, here, LIMITS.share, 0)
        cv2.copyTo(here, cv2.bitwise_and(surely, cv2.bitwise_not(self.known)), self.image)
        cv2.copyTo(mixed, cv2.bitwise_and(surely, self.known), self.image)
        self.known = np.asarray(cv2.bitwise_or(self.known, surely), dtype=np.uint8)
        self._learn_light()

    def light(self, box: tuple[int, int, int, int]) -> Plane:
        """Return how bright the light is in a part of the picture, of that of the brightest part, 0..255."""
        left, top, right, bottom = box
        scale = LIMITS.light_scale
        matrix = np.array([[scale, 0.0, -left], [0.0, scale, -top]])
        size = (right - left, bottom - top)
        return np.asarray(
            cv2.warpAffine(self._light, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
            dtype=np.uint8,
        )

    def _learn_light(self) -> None:
        size = (self._light.shape[1], self._light.shape[0])
        gray = cv2.resize(cv2.extractChannel(self.image, 1), size, interpolation=cv2.INTER_AREA)
        smooth = np.asarray(cv2.medianBlur(gray, LIMITS.light_px), dtype=np.float32)
        known = cv2.resize(self.known, size, interpolation=cv2.INTER_AREA)
        seen = smooth[np.asarray(cv2.min(known, self._inside)) > 128]
        if not seen.size:
            return
        bright = float(np.percentile(seen, 90))
        middle = float(np.median(seen))
        level = cv2.GaussianBlur(np.where(smooth < middle / 3, middle, smooth), (0, 0), 4.0)
        self._light = np.clip(np.asarray(level) / max(bright, 1.0) * 255, 90, 255).astype(np.uint8)
