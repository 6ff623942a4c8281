"""What the board may look like where figures have hidden it so far, continued from what is seen around them.

Lines run along or across a field: a place looks like the nearest seen one on one of its four sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.field.model import FieldModel
from downfield.review.pictures.projection import BoardRegion, board_map

Plane = NDArray[np.uint8]
"""One value a pixel, shape (height, width)."""

Box = tuple[int, int, int, int]
"""Left, top, right, bottom; the last two are beyond the box."""

_CELL_PX: Final = 16  # the camera is evaluated exactly at every so many pixels, and linearly between
_SMOOTH_PX: Final = 9  # what is continued is a mean of so many pixels: noise would be drawn out as stripes
_WIDEST_PX: Final = 900.0  # of the view from above: enough for the lines of a print, a fraction of the work
_MARGIN_PX: Final = 48  # around what is unseen: from there on it is continued


class UnseenBoard:
    """Continues the print under what hid it, in pixels of the reference camera.

    Args:
        camera: as calibrated.
        field: the printed field.

    """

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        self._size = camera.lens.size_px
        end_x, end_y = field.margin_mm
        x, y = -field.end_zone_mm - end_x, -end_y
        corners = np.array([(x, y, 0.0), (field.length_mm - x, y, 0.0)])
        left, right = camera.to_pixels(corners)
        scale = min(float(np.linalg.norm(right - left)), _WIDEST_PX) / (field.length_mm - 2 * x)
        self._region = BoardRegion(x, y, field.length_mm - 2 * x, field.width_mm - 2 * y, scale, 0.0)
        width, height = self._region.size_px
        self._map = np.ascontiguousarray(board_map(camera, self._region)[:height, :width])
        self._back = self._coarse_back(camera)

    def _coarse_back(self, camera: Camera) -> NDArray[np.float32]:
        """Return where every 16th pixel of the picture is in the view from above, shape (rows, columns, 2)."""
        width, height = self._size
        x, y = (np.arange(-(-length // _CELL_PX) + 1) * float(_CELL_PX) for length in (width, height))
        knots = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        above = self._region.pixels(camera.to_board(knots, 0.0))
        return np.nan_to_num(above, nan=-1e4).astype(np.float32).reshape(len(y), len(x), 2)

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
