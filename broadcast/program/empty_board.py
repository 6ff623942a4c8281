"""The picture of the board without figures, learned while they move: what is painted under them is told by it.

Where figures have hidden it so far, it is continued from what is seen around them. Lines run along or across a field:
a place looks like the nearest seen one on one of its four sides.

How the board's picture is moved between two poses of the camera, as an affine map: shakes are too small for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.broadcast.program.figure_volume import Box, FigureVolume
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel
from downfield.review.pictures.projection import BoardRegion, board_map

Plane = NDArray[np.uint8]  # One value a pixel, shape (height, width)

_CELL_PX: Final = 16  # the camera is evaluated exactly at every so many pixels, and linearly between
_SMOOTH_PX: Final = 9  # what is continued is a mean of so many pixels: noise would be drawn out as stripes
_WIDEST_PX: Final = 900.0  # of the view from above: enough for the lines of a print, a fraction of the work
_MARGIN_PX: Final = 48  # around what is unseen: from there on it is continued


class UnseenBoard:
    """Continues the print under what hid it, in pixels of the reference camera."""

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        end_x, end_y = field.margin_mm
        x, y = -field.end_zone_mm - end_x, -end_y
        corners = np.array([(x, y, 0.0), (field.length_mm - x, y, 0.0)])
        left, right = camera.to_pixels(corners)
        scale = min(float(np.linalg.norm(right - left)), _WIDEST_PX) / (field.length_mm - 2 * x)
        self._region = BoardRegion(x, y, field.length_mm - 2 * x, field.width_mm - 2 * y, scale, 0.0)
        width, height = self._region.size_px
        self._map = np.ascontiguousarray(board_map(camera, self._region)[:height, :width])
        # Where every 16th pixel of the picture is in the view from above, shape (rows, columns, 2).
        across, down = (np.arange(-(-length // _CELL_PX) + 1) * float(_CELL_PX) for length in camera.lens.size_px)
        knots = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
        above = self._region.pixels(camera.to_board(knots, 0.0))
        self._back = np.nan_to_num(above, nan=-1e4).astype(np.float32).reshape(len(down), len(across), 2)

    def continued(self, image: Image, known: Plane, box: Box) -> tuple[list[Image], Plane]:
        """Return what a part of the board may look like, and 255 where that could be said.

        Args:
            image: the board, uint8 BGR, shape (height, width, 3).
            known: 255 where it was seen.
            box: left, top, right, bottom of the part.

        Returns:
            The part as on that side of it that is darkest, as on the one that is brightest, and as on the one that
            differs most from both; and a plane.
        """
        left, top, right, bottom = box
        shift = np.array([[_CELL_PX, 0.0, -left], [0.0, _CELL_PX, -top]])
        size = (right - left, bottom - top)
        knots = self._back[top // _CELL_PX : -(-bottom // _CELL_PX) + 1, left // _CELL_PX : -(-right // _CELL_PX) + 1]
        low = np.maximum(np.floor(knots.min(axis=(0, 1))) - _MARGIN_PX, 0).astype(int)
        high = np.minimum(np.ceil(knots.max(axis=(0, 1))) + _MARGIN_PX, self._region.size_px).astype(int)
        if (high <= low).any():
            nothing = np.zeros((bottom - top, right - left), np.uint8)
            return [np.dstack([nothing] * 3)] * 3, nothing
        coarse = self._back - low.astype(np.float32)
        back = cv2.warpAffine(coarse, shift, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        part = self._map[low[1] : high[1], low[0] : high[0]]
        above = _mapped(image, part)
        seen = cv2.threshold(_mapped(known, part), 254, 255, cv2.THRESH_BINARY)[1]
        along, some = _nearest(above, seen)
        across, others = _nearest(cv2.transpose(above), cv2.transpose(seen))
        made = [*along, *(np.asarray(cv2.transpose(one), dtype=np.uint8) for one in across)]
        able = cv2.bitwise_and(some, cv2.transpose(others))
        there = _mapped(able, back)
        surely = np.asarray(cv2.threshold(there, 254, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)
        darkest, brightest = (_extreme(made, compare) for compare in (cv2.CMP_LT, cv2.CMP_GT))
        return [_mapped(one, back) for one in (darkest, brightest, _strangest(made, darkest, brightest))], surely


def _extreme(images: Sequence[Image], compare: int) -> Image:
    """Return every pixel from that of some images whose green compares so with all others."""
    out = images[0].copy()
    for one in images[1:]:
        better = cv2.compare(cv2.extractChannel(one, 1), cv2.extractChannel(out, 1), compare)
        cv2.copyTo(one, better, out)
    return out


def _strangest(images: Sequence[Image], first: Image, second: Image) -> Image:
    """Return every pixel from that of some images which is least like those of both of two others."""
    out, most = first.copy(), np.zeros(first.shape[:2], np.uint8)
    for one in images:
        away = cv2.min(*(channel_max(cv2.absdiff(one, other)) for other in (first, second)))
        cv2.copyTo(one, cv2.compare(away, most, cv2.CMP_GT), out)
        most = np.asarray(cv2.max(away, most), dtype=np.uint8)
    return out


def channel_max(image: Any) -> Plane:
    """Return the greatest of the three channels of every pixel."""
    blue, green, red = cv2.split(image)
    return np.asarray(cv2.max(cv2.max(blue, green), red), dtype=np.uint8)


def _mapped(image: Any, at: Any) -> Image:
    """Return what is at places of an image, shape (height, width, 2), whose x and y are one map."""
    return np.asarray(cv2.remap(image, at, None, cv2.INTER_LINEAR), np.uint8)  # type: ignore[call-overload]


def _nearest(above: Any, seen: Any) -> tuple[list[Image], Plane]:
    """Return a view with unseen places taken from the nearest seen one above and below, and 255 where there is one.

    Args:
        above: uint8 BGR, shape (height, width, 3).
        seen: 255 where it was seen, shape (height, width).
    """
    high, wide = seen.shape
    window = (1, _SMOOTH_PX)
    sums = cv2.boxFilter(cv2.copyTo(above, seen), cv2.CV_16U, window, normalize=False)
    count = cv2.boxFilter(np.minimum(seen, 1), cv2.CV_16U, window, normalize=False)
    mean = cv2.divide(sums, cv2.merge([np.maximum(count, 1)] * 3), dtype=cv2.CV_8U)
    rows = np.arange(high, dtype=np.int16)[:, None]
    before = np.maximum.accumulate(np.where(seen > 0, rows, np.int16(-1)), axis=0)
    behind = np.minimum.accumulate(np.where(seen > 0, rows, np.int16(high))[::-1], axis=0)[::-1]
    first = np.where(before >= 0, before, np.minimum(behind, high - 1)).astype(np.float32)
    second = np.where(behind < high, behind, np.maximum(before, 0)).astype(np.float32)
    columns = np.repeat(np.arange(wide, dtype=np.float32)[None], high, axis=0)
    taken = [np.asarray(cv2.remap(mean, columns, one, cv2.INTER_NEAREST), dtype=np.uint8) for one in (first, second)]
    some = cv2.bitwise_or(cv2.inRange(before, 0, high), cv2.inRange(behind, 0, high - 1))
    return taken, np.asarray(some, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class EmptyBoardLimits:
    """How the board is learned."""

    every_ns: int = 400_000_000  # Pictures are learned from this often: it is a tenth of the work of drawing
    # A new picture counts so much where the board is known already: noise is averaged out, the light is followed
    share: float = 0.25
    keep_away_px: int = 7  # Pixels this near to what a figure may cover are not learned
    again: float = 0.8  # The unseen part is continued again once it is only this share of what it was
    alike: int = 16  # What is seen on the sides of an unseen place is alike within so many gray levels
    light_scale: int = 16  # The light on the board is taken from a picture so many times smaller
    light_px: int = 9  # Median over so many of its pixels: paint is narrower, and is no light


_LIMITS: Final = EmptyBoardLimits()

SEEN: Final = 255  # Marks what of the board was seen,
CONTINUED: Final = 208  # what was never seen and looks alike on all sides,
UNSURE: Final = 160  # that of which the sides differ, as a printed line may end there,
DOUBTFUL: Final = 112  # and that which may look like three of them


class EmptyBoard:
    """The board without figures, in pixels of the reference camera.

    Attributes:
        image: what is known of it, uint8 BGR, shape (height, width, 3).
        others: what it may look like as well where it is unsure, and also where it is doubtful, of the same shape.
        known: `SEEN`, `CONTINUED`, `UNSURE`, `DOUBTFUL`, or 0 where nothing is known, shape (height, width).
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

    def light(self, box: Box) -> Plane:
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


STILL_PX = 0.02  # a smaller movement is measurement noise


class PictureMotion:
    """Movement of the picture against the one of a reference camera."""

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        x, y = np.meshgrid(np.linspace(0, field.length_mm, 5), np.linspace(0, field.width_mm, 4))
        self._points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
        self._before = camera.to_pixels(self._points)
        self._terms = np.column_stack([self._before, np.ones(len(self._before))])

    def to(self, camera: Camera) -> Array | None:
        """Return where reference pixels are now, ``move @ (x, y, 1)``, shape (2, 3); None where it stands still."""
        now = camera.to_pixels(self._points)
        if float(np.abs(now - self._before).max()) < STILL_PX:
            return None
        move, *_ = np.linalg.lstsq(self._terms, now, rcond=None)
        return np.asarray(move.T, dtype=np.float64)


def moved_part(image: Image, move: Array | None, box: Box) -> Image:
    """Return a part of a reference picture as it lies now.

    Args:
        image: the reference picture, uint8, shape (height, width) or (height, width, 3).
        move: of reference pixels; None for none.
        box: left, top, right, bottom of the part, pixels of now.
    """
    left, top, right, bottom = box
    if move is None:
        return image[top:bottom, left:right]
    shifted = move.copy()
    shifted[:, 2] -= (left, top)
    return np.asarray(
        cv2.warpAffine(
            image, shifted, (right - left, bottom - top), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        ),
        dtype=np.uint8,
    )
