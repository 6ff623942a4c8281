"""What another camera and another lamp would have made of the same picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]

_GAIN = 0.14  # per channel: white balance
_BRIGHT = (0.6, 1.35)
_GAMMA = (0.75, 1.35)
_HUE_DEG = 9.0
_SATURATION = (0.6, 1.4)
_BLUR_PX = (0.3, 1.1)
_NOISE = (1.0, 9.0)
_JPEG = (35, 92)


def recolour(image: Image, rng: np.random.Generator) -> Image:
    """The picture under other light, through another sensor; the geometry stays.

    Args:
        image: uint8 blue green red, shape (height, width, 3).
        rng: where chance comes from.

    """
    if rng.random() < 0.5:
        image = _shift_hue(image, rng)
    table = np.arange(256) / 255.0
    curves = [
        255 * np.clip(rng.uniform(*_BRIGHT) ** 0.5 * rng.normal(1, _GAIN / 2) * table ** rng.uniform(*_GAMMA), 0, 1)
        for _ in range(3)
    ]
    shared = rng.uniform(*_BRIGHT) ** 0.5
    lut = np.clip(np.stack(curves, axis=1) * shared, 0, 255).astype(np.uint8)[None]
    image = np.asarray(cv2.LUT(image, lut), dtype=np.uint8)
    if rng.random() < 0.25:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), rng.uniform(*_BLUR_PX)), dtype=np.uint8)
    if rng.random() < 0.3:
        noise = rng.standard_normal(image.shape, dtype=np.float32) * np.float32(rng.uniform(*_NOISE))
        image = np.clip(image + noise, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(*_JPEG))])
        image = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
    return image


def _shift_hue(image: Image, rng: np.random.Generator) -> Image:
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    hue = (np.arange(256) + rng.normal(0, _HUE_DEG / 2)) % 180  # OpenCV counts hue in steps of 2 degrees
    saturation = np.clip(np.arange(256) * rng.uniform(*_SATURATION), 0, 255)
    lut = np.stack([hue, saturation, np.arange(256)], axis=1).astype(np.uint8)[None]
    return np.asarray(cv2.cvtColor(cv2.LUT(hsv, lut), cv2.COLOR_HSV2BGR), dtype=np.uint8)
