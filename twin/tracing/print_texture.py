"""The board's print as the tracer reads it: at full and at half size, in one flat array."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.twin.appearance import Appearance
from downfield.twin.randomization.board_print import paint
from downfield.twin.tracing import layout as at

FINER: Final = 1.3
"""Pixels of the print per pixel of the picture: more would alias, fewer would blur."""


class PrintTexture:
    """The print of one appearance.

    Attributes:
        raster: both sizes, uint8, flat, blue green red.
        px_per_mm: of the larger.

    """

    def __init__(self, appearance: Appearance) -> None:
        camera = appearance.camera
        self.px_per_mm = FINER * max(camera.lens.focal_px) / max(float(camera.position_mm[2]), 1.0)
        painted = paint(appearance.field, appearance.board, self.px_per_mm)
        rows, columns = (side // 2 * 2 for side in painted.image.shape[:2])
        image = np.ascontiguousarray(painted.image[:rows, :columns])
        half = cv2.resize(image, (columns // 2, rows // 2), interpolation=cv2.INTER_AREA)
        self._shape, self._origin_mm = (rows, columns), painted.origin_mm
        self.raster: NDArray[np.uint8] = np.concatenate([image.ravel(), np.asarray(half, dtype=np.uint8).ravel()])

    def describe(self, head: Array, counts: NDArray[np.int64]) -> None:
        """Write where the print lies, and how large it is, into a scene's floats and integers."""
        rows, columns = self._shape
        head[at.PX_PER_MM], head[at.PX_PER_MM2] = self.px_per_mm, self.px_per_mm / 2
        head[at.RASTER_X], head[at.RASTER_Y] = self._origin_mm
        counts[at.I_RASTER2], counts[at.I_ROWS], counts[at.I_COLUMNS] = rows * columns * 3, rows, columns
        counts[at.I_ROWS2], counts[at.I_COLUMNS2] = rows // 2, columns // 2
