"""A frame made to fit a network's input: shrunk evenly, in the upper left, the rest gray; and points brought back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike

from downfield.core.arrays import Array, Image

GREY: Final = 114  # what YOLO networks are used to see around a picture
_LINEAR_FROM = 0.45  # linear interpolation takes 2 x 2 pixels: shrunk further than this, all pixels are averaged


@dataclass(frozen=True, slots=True)
class Letterbox:
    """How frames of one size lie in a network's input.

    Attributes:
        frame_px: width and height of the frames.
        input_px: width and height of the input.

    """

    frame_px: tuple[int, int]
    input_px: tuple[int, int]

    @property
    def inner_px(self) -> tuple[int, int]:
        """Width and height of the shrunk frame."""
        (width, height), (across, down) = self.frame_px, self.input_px
        share = min(across / width, down / height)
        return max(1, min(across, round(width * share))), max(1, min(down, round(height * share)))

    @property
    def scale(self) -> Array:
        """Input pixels per frame pixel, along x and y, shape (2,): not quite equal, since sizes are whole."""
        return np.asarray(self.inner_px, dtype=np.float64) / self.frame_px

    def new_input(self) -> Image:
        """An empty input to fit frames into, uint8, shape (1, height, width, 3)."""
        return np.full((1, self.input_px[1], self.input_px[0], 3), GREY, dtype=np.uint8)

    def fit(self, frame: Image, into: Image) -> None:
        """Shrink a frame into an input made by `new_input`."""
        width, height = self.inner_px
        way = cv2.INTER_LINEAR if self.scale.min() >= _LINEAR_FROM else cv2.INTER_AREA
        into[0, :height, :width] = cv2.resize(frame, (width, height), interpolation=way)

    def to_frame(self, points: ArrayLike) -> Array:
        """Points of the input, shape (..., 2), to pixels of the frame.

        Args:
            points: counted from the input's outer edge, as YOLO does: the first pixel's center is (0.5, 0.5).

        Returns:
            Pixels of the frame, centers at whole numbers, same shape.

        """
        points_px: Array = np.asarray(points, dtype=np.float64) / self.scale - 0.5
        return points_px
