"""The picture of a frame as seen from straight above: warped to a plane parallel to the board, to scale.

The plane is at the height of the base tops, or the painted surface. What stands at another height lies where the camera
sees it through that plane, as parallax has it; drawings are projected likewise (`drawings.Projection`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image

_CELL_PX: Final = 16
"""The camera is evaluated exactly at every 16th pixel and linearly between: 0.01 px off at most, 100 times faster."""

_QUICK_CELL_PX: Final = 40  # for moving pictures: some hundredths of a pixel off

_OUTSIDE: Final = (24, 20, 16)  # where the camera saw nothing


@dataclass(frozen=True, slots=True)
class BoardRegion:
    """A part of the board, axis-parallel, to be seen from above; x to the right and y up.

    Attributes:
        x_mm, y_mm: its lower left corner.
        width_mm, height_mm: its size.
        px_per_mm: scale of the picture.
        plane_mm: height of the plane over the printed surface.

    """

    x_mm: float
    y_mm: float
    width_mm: float
    height_mm: float
    px_per_mm: float
    plane_mm: float

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the picture; even, as video needs."""
        width, height = (round(length * self.px_per_mm / 2) * 2 for length in (self.width_mm, self.height_mm))
        return max(2, width), max(2, height)

    def board_mm(self, px: Array) -> Array:
        """Return where pixels of the picture from above are on the plane, shape (n, 2) both."""
        x, y = (np.asarray(px, dtype=np.float64) + 0.5).T / self.px_per_mm
        return np.stack([self.x_mm + x, self.y_mm + self.height_mm - y], axis=1)

    def pixels(self, board_mm: Array) -> Array:
        """Return the pixels of the picture from above for places on the plane, shape (n, 2) both."""
        x, y = np.asarray(board_mm, dtype=np.float64).T
        away = np.stack([x - self.x_mm, self.y_mm + self.height_mm - y], axis=1)
        return np.asarray(away * self.px_per_mm - 0.5, dtype=np.float64)


def rectify(image: Image, camera: Camera, region: BoardRegion, *, quick: bool = False) -> Image:
    """Return a region of the board as seen from straight above.

    Args:
        image: the camera's picture, uint8 BGR, shape (height, width, 3).
        camera: that took it.
        region: what is shown.
        quick: whether it is one of many pictures that are seen for a moment: three times as fast, a little softer.

    """
    width, height = region.size_px
    both = board_map(camera, region, _QUICK_CELL_PX if quick else _CELL_PX)[:height, :width]
    # One map of both x and y: with an empty array as the second one, linear interpolation reads beyond it on some
    # processors; OpenCV's types do not allow None.
    out = cv2.remap(  # type: ignore[call-overload]
        image,
        both,
        None,
        cv2.INTER_LINEAR if quick else cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=_OUTSIDE,
    )
    return np.asarray(out, dtype=np.uint8)


def board_map(camera: Camera, region: BoardRegion, cell_px: int = _CELL_PX) -> NDArray[np.float32]:
    """Return x and y in the camera's picture for every pixel from above, shape (height, width, 2) or larger.

    Args:
        camera: that takes the picture.
        region: what is seen from above.
        cell_px: at every so many pixels the camera is evaluated exactly.

    """
    width, height = region.size_px
    columns, rows = (-(-length // cell_px) for length in (width, height))
    # One cell more on each side: between the outermost pixels and the knots there is nothing to interpolate.
    at_x, at_y = (np.arange(-1, count + 1) * cell_px + (cell_px - 1) / 2 for count in (columns, rows))
    knots = np.stack(np.meshgrid(at_x, at_y), axis=-1).reshape(-1, 2)
    board = region.board_mm(knots)
    pixels = camera.to_pixels(np.column_stack([board, np.full(len(board), region.plane_mm)]))
    coarse = np.nan_to_num(pixels, nan=-1e6).astype(np.float32).reshape(rows + 2, columns + 2, 2)
    size = ((columns + 2) * cell_px, (rows + 2) * cell_px)
    fine = cv2.resize(coarse, size, interpolation=cv2.INTER_LINEAR)
    return np.asarray(fine[cell_px:, cell_px:], dtype=np.float32)  # a view: to copy takes as long as to make it
