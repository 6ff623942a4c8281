"""What a webcam makes of its own picture: color fringes of its lens, smoothing, levels, colors and sharpening."""

from __future__ import annotations

import math
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Image, Plane
from downfield.twin.appearance import Processing

_LUMA: Final = np.array([0.114, 0.587, 0.299], dtype=np.float32)  # blue green red
_SMOOTH_SPREAD: Final = 28.0  # levels: what differs by more is an edge


def process(image: Image, processing: Processing) -> Image:
    """Return a picture as the camera makes it, uint8 blue green red, same shape."""
    if processing.aberration_px > 0:
        image = _fringed(image, processing.aberration_px)
    if processing.denoise > 0:
        smooth = cv2.bilateralFilter(image, 5, _SMOOTH_SPREAD, 1.6)
        image = np.asarray(
            cv2.addWeighted(smooth, processing.denoise, image, 1 - processing.denoise, 0), dtype=np.uint8
        )
    colors = np.asarray(cv2.LUT(image, _levels(processing)), dtype=np.float32)
    colors = np.asarray(cv2.transform(colors, color_matrix(processing.saturation, processing.hue_deg)), np.float32)
    if processing.sharpen > 0:
        soft = cv2.GaussianBlur(colors, (0, 0), processing.sharpen_px)
        colors = np.asarray(
            cv2.addWeighted(colors, 1 + processing.sharpen, soft, -processing.sharpen, 0), dtype=np.float32
        )
    out: Image = np.clip(colors + 0.5, 0, 255).astype(np.uint8)
    return out


def color_matrix(saturation: float, hue_deg: float) -> Plane:
    """Return the matrix on blue, green, red that saturates colors and turns them about gray, shape (3, 3)."""
    cos, sin = saturation * math.cos(math.radians(hue_deg)), saturation * math.sin(math.radians(hue_deg))
    to_blue, to_red = np.array([1.0, 0, 0]) - _LUMA, np.array([0, 0, 1.0]) - _LUMA
    red, blue = cos * to_red - sin * to_blue, sin * to_red + cos * to_blue
    green = -(0.299 * red + 0.114 * blue) / 0.587
    return np.asarray(_LUMA + np.stack([blue, green, red]), dtype=np.float32)


def _levels(processing: Processing) -> Plane:
    """Return the display curve as a table of 256 levels."""
    x = (np.arange(256) / 255) ** processing.gamma
    x = x + processing.contrast * (x * x * (3 - 2 * x) - x)
    return np.asarray(255 * np.clip(processing.black + (1 - processing.black) * x, 0, 1), dtype=np.float32)


def _fringed(image: Image, corner_px: float) -> Image:
    """Return the picture with red larger and blue smaller by a shift at its corners."""
    height, width = image.shape[:2]
    middle = ((width - 1) / 2, (height - 1) / 2)
    blue, green, red = cv2.split(image)
    share = corner_px / math.hypot(*middle)
    moved = [_grown(np.asarray(plane, np.uint8), 1 + way * share, middle) for plane, way in ((blue, -1), (red, 1))]
    return np.asarray(cv2.merge([moved[0], green, moved[1]]), dtype=np.uint8)


def _grown(plane: Image, scale: float, middle: tuple[float, float]) -> Image:
    matrix = np.array([[scale, 0, (1 - scale) * middle[0]], [0, scale, (1 - scale) * middle[1]]])
    size = plane.shape[1::-1]
    return np.asarray(cv2.warpAffine(plane, matrix, size, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)
