"""The whole field as seen from straight above, steady while the camera shakes."""

from __future__ import annotations

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel
from downfield.review.pictures.projection import BoardRegion, board_map

_MARGIN_MM = 12.0


class FieldView:
    """Turns pictures of a camera into views of the field, of the pictures' size.

    Args:
        camera: as calibrated.
        field: the printed field.

    """

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        wide, high = camera.lens.size_px
        shown = (field.length_mm + 2 * (field.end_zone_mm + _MARGIN_MM), field.width_mm + 2 * _MARGIN_MM)
        scale = min(wide / shown[0], high / shown[1])
        width, height = wide / scale, high / scale
        x, y = (field.length_mm - width) / 2, (field.width_mm - height) / 2
        self.region = BoardRegion(x, y, width, height, scale, 0.0)
        size = self.region.size_px
        self._map = np.ascontiguousarray(board_map(camera, self.region)[: size[1], : size[0]])
        self._still = cv2.convertMaps(self._map, np.zeros(0, np.float32), cv2.CV_16SC2)

    def show(self, image: Image, move: Array | None) -> Image:
        """Return the view in a picture.

        Args:
            image: the camera's picture.
            move: of the calibration's pixels; None where the camera stands still.

        """
        first, second = self._still
        if move is not None:
            moved = cv2.transform(self._map, move)
            first, second = cv2.convertMaps(np.asarray(moved, np.float32), np.zeros(0, np.float32), cv2.CV_16SC2)
        return np.asarray(cv2.remap(image, first, second, cv2.INTER_LINEAR), dtype=np.uint8)

    def pixels(self, px: Array, camera: Camera) -> Array:
        """Return where pixels of the camera's picture are in the view, shape (n, 2) both."""
        return self.region.pixels(camera.to_board(px, 0.0))
