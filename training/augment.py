"""Photometric augmentation: the same picture through another camera and under other light."""

from __future__ import annotations

import cv2
import numpy as np

from downfield.core.arrays import Image

_GAIN, _FAITHFUL_GAIN = 0.14, 0.04  # per channel: white balance
_BRIGHT = (0.6, 1.35)
_GAMMA = (0.75, 1.35)
_HUE_DEG = 9.0
_SATURATION = (0.6, 1.4)
_BLUR_PX = (0.3, 1.1)
_NOISE = (1.0, 9.0)
_JPEG = (35, 92)
_LIT_CHANCE = 0.35
_FALL_OFF = 0.18  # of the light's logarithm over a picture
_SHADOW_CHANCE, _SHADOW, _SHADOW_SOFT_PX = 0.4, (0.2, 0.6), (1.0, 40.0)
_GLARE_CHANCE, _GLARE, _GLARE_SHARE = 0.3, (30.0, 140.0), (0.05, 0.3)


def recolor(image: Image, rng: np.random.Generator, *, faithful: bool = False) -> Image:
    """Change the light and the sensor of a picture; the geometry stays.

    Args:
        image: uint8 blue green red, shape (height, width, 3).
        rng: where chance comes from.
        faithful: whether colors stay nearly what they are: what is told by its color can't be told under any light.

    """
    if not faithful and rng.random() < 0.5:
        image = _shift_hue(image, rng)
    shades = np.arange(256) / 255.0
    if faithful:
        alike = shades ** rng.uniform(*_GAMMA)
        curves = [rng.normal(1, _FAITHFUL_GAIN) * alike for _ in range(3)]
    else:
        curves = [
            rng.uniform(*_BRIGHT) ** 0.5 * rng.normal(1, _GAIN / 2) * shades ** rng.uniform(*_GAMMA) for _ in range(3)
        ]
    shared = rng.uniform(*_BRIGHT) ** 0.5
    lut = np.clip(255 * np.clip(np.stack(curves, axis=1), 0, 1) * shared, 0, 255).astype(np.uint8)[None]
    image = np.asarray(cv2.LUT(image, lut), dtype=np.uint8)
    if rng.random() < _LIT_CHANCE:
        image = _lit(image, rng)
    if rng.random() < 0.25:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), rng.uniform(*_BLUR_PX)), dtype=np.uint8)
    if rng.random() < 0.3:
        noise = rng.standard_normal(image.shape, dtype=np.float32) * np.float32(rng.uniform(*_NOISE))
        image = np.clip(image + noise, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(*_JPEG))])
        image = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
    return image


def _lit(image: Image, rng: np.random.Generator) -> Image:
    """The picture with the light falling off, a shadow's edge across it, or a lamp mirrored in it."""
    height, width = image.shape[:2]
    grid = np.exp(rng.normal(0, _FALL_OFF, (3, 3))).astype(np.float32)
    light = cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    at = rng.uniform(0, 1, 2) * (width, height)
    if rng.random() < _SHADOW_CHANCE:
        way, soft = rng.uniform(0, 2 * np.pi), rng.uniform(*_SHADOW_SOFT_PX)
        behind = ((x - at[0]) * np.cos(way) + (y - at[1]) * np.sin(way)) / soft
        light = light * (1 - rng.uniform(*_SHADOW) * np.clip(behind + 0.5, 0, 1).astype(np.float32))
    lit = image * np.clip(light, 0.2, 2.0)[..., None]
    if rng.random() < _GLARE_CHANCE:
        reach = rng.uniform(*_GLARE_SHARE) * max(width, height)
        glare = np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / (2 * reach**2))
        lit = lit + rng.uniform(*_GLARE) * glare[..., None]
    return np.asarray(np.clip(lit, 0, 255), dtype=np.uint8)


def _shift_hue(image: Image, rng: np.random.Generator) -> Image:
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    hue = (np.arange(256) + rng.normal(0, _HUE_DEG / 2)) % 180  # OpenCV counts hue in steps of 2 degrees
    saturation = np.clip(np.arange(256) * rng.uniform(*_SATURATION), 0, 255)
    lut = np.stack([hue, saturation, np.arange(256)], axis=1).astype(np.uint8)[None]
    return np.asarray(cv2.cvtColor(cv2.LUT(hsv, lut), cv2.COLOR_HSV2BGR), dtype=np.uint8)
