"""The picture of the board without figures, learned while they move: what is painted under them is told by it.

Where figures have hidden it so far it is continued from what is seen around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.broadcast.program.figure_volume import FigureVolume
from downfield.broadcast.program.picture_motion import moved_part
from downfield.broadcast.program.unseen_board import UnseenBoard, channel_max
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel

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
    again: float = 0.8
    """The unseen part is continued again once it is only this share of what it was."""
    alike: int = 16
    """What is seen on the sides of an unseen place is alike within so many gray levels."""
    light_scale: int = 16
    """The light on the board is taken from a picture so many times smaller."""
    light_px: int = 9
    """Median over so many of its pixels: paint is narrower, and is no light."""


_LIMITS: Final = EmptyBoardLimits()

SEEN: Final = 255
"""Marks what of the board was seen,"""
CONTINUED: Final = 208
"""what was never seen and looks alike on all sides,"""
UNSURE: Final = 160
"""that of which the sides differ, as a printed line may end there,"""
DOUBTFUL: Final = 112
"""and that which may look like three of them."""


class EmptyBoard:
    """The board without figures, in pixels of the reference camera.

    Attributes:
        image: what is known of it, uint8 BGR, shape (height, width, 3).
        others: what it may look like as well where it is unsure, and also where it is doubtful, of the same shape.
        known: `SEEN`, `CONTINUED`, `UNSURE`, `DOUBTFUL`, or 0 where nothing is known, shape (height, width).

    Args:
        camera: as calibrated.
        field: the printed field.

    """

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        width, height = camera.lens.size_px
        outline_px = _outline_px(camera, field)  # the table around it may be brighter
        self.image: Image = np.zeros((height, width, 3), np.uint8)
        self.others: tuple[Image, Image] = (self.image.copy(), self.image.copy())
        self.known: Plane = np.zeros((height, width), np.uint8)
        self._seen: Plane = np.zeros((height, width), np.uint8)
        self._unseen = UnseenBoard(camera, field)
        self._field: Plane = np.zeros((height, width), np.uint8)
        cv2.fillConvexPoly(self._field, np.round(outline_px).astype(np.int32), 255)
        self._hidden = self._field.size
        self._light: Plane = np.full((height // _LIMITS.light_scale, width // _LIMITS.light_scale), 255, np.uint8)
        self._inside: Plane = np.zeros(self._light.shape, np.uint8)
        cv2.fillConvexPoly(self._inside, np.round(outline_px / _LIMITS.light_scale).astype(np.int32), 255)
        self._learned_ns: int | None = None

    def is_due(self, t_ns: int) -> bool:
        """Return whether a picture is to be learned from."""
        return self._learned_ns is None or t_ns - self._learned_ns >= _LIMITS.every_ns or t_ns < self._learned_ns

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
            cv2.polylines(free, [outline.reshape(-1, 1, 2)], True, 0, 2 * _LIMITS.keep_away_px)
        here = image
        if move is not None:
            back = np.asarray(cv2.invertAffineTransform(move), dtype=np.float64)
            here = moved_part(image, back, (0, 0, width, height))
            free = moved_part(free, back, (0, 0, width, height))
        surely = np.asarray(cv2.threshold(free, 254, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)
        mixed = cv2.addWeighted(self.image, 1 - _LIMITS.share, here, _LIMITS.share, 0)
        cv2.copyTo(here, cv2.bitwise_and(surely, cv2.bitwise_not(self._seen)), self.image)
        cv2.copyTo(mixed, cv2.bitwise_and(surely, self._seen), self.image)
        self._seen = np.asarray(cv2.bitwise_or(self._seen, surely), dtype=np.uint8)
        self.known = np.asarray(cv2.bitwise_or(self.known, surely), dtype=np.uint8)
        self._continue()
        self._learn_light()

    def _continue(self) -> None:
        """Continue the board where it was never seen, once enough more of it has been."""
        hidden = np.asarray(cv2.bitwise_and(self._field, cv2.bitwise_not(self._seen)), dtype=np.uint8)
        count = cv2.countNonZero(hidden)
        if not count or count > _LIMITS.again * self._hidden:
            return
        self._hidden = count
        left, top, wide, high = cv2.boundingRect(hidden)
        part = (slice(top, top + high), slice(left, left + wide))
        (first, *others), there = self._unseen.continued(self.image, self._seen, (left, top, left + wide, top + high))
        mask = cv2.bitwise_and(hidden[part], there)
        cv2.copyTo(first, mask, self.image[part])
        for other, known in zip(others, self.others, strict=True):
            cv2.copyTo(other, mask, known[part])
        away = channel_max(cv2.absdiff(first, others[0]))
        stranger = cv2.min(*(channel_max(cv2.absdiff(others[1], one)) for one in (first, others[0])))
        marks = np.where(away <= _LIMITS.alike, np.uint8(CONTINUED), np.uint8(UNSURE))
        marks = np.where(np.asarray(stranger) <= _LIMITS.alike, marks, np.uint8(DOUBTFUL))
        cv2.copyTo(marks, mask, self.known[part])

    def light(self, box: tuple[int, int, int, int]) -> Plane:
        """Return how bright the light is in a part of the picture, of that of the brightest part, 0..255."""
        left, top, right, bottom = box
        scale = _LIMITS.light_scale
        matrix = np.array([[scale, 0.0, -left], [0.0, scale, -top]])
        size = (right - left, bottom - top)
        return np.asarray(
            cv2.warpAffine(self._light, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
            dtype=np.uint8,
        )

    def _learn_light(self) -> None:
        size = (self._light.shape[1], self._light.shape[0])
        gray = cv2.resize(cv2.extractChannel(self.image, 1), size, interpolation=cv2.INTER_AREA)
        smooth = np.asarray(cv2.medianBlur(gray, _LIMITS.light_px), dtype=np.float32)
        known = cv2.resize(self._seen, size, interpolation=cv2.INTER_AREA)
        seen = smooth[np.asarray(cv2.min(known, self._inside)) > 128]
        if not seen.size:
            return
        bright = float(np.percentile(seen, 90))
        middle = float(np.median(seen))
        level = cv2.GaussianBlur(np.where(smooth < middle / 3, middle, smooth), (0, 0), 4.0)
        self._light = np.clip(np.asarray(level) / max(bright, 1.0) * 255, 90, 255).astype(np.uint8)


def _outline_px(camera: Camera, field: FieldModel) -> Array:
    """Return the outline of the field in the picture, shape (4, 2)."""
    ends = (0.0, field.length_mm)
    corners = [(ends[0], 0.0, 0.0), (ends[1], 0.0, 0.0), (ends[1], field.width_mm, 0.0), (ends[0], field.width_mm, 0.0)]
    return camera.to_pixels(np.array(corners))
