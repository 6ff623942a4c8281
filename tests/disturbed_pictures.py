"""What happens to a camera's pictures: dim and noisy, soft and pale, bands of a flickering lamp, color casts, shade."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Image

_GRAIN_PX: Final = 64

Disturbance = Callable[[Image, int], Image]
"""Takes a picture and its time, ns; returns it disturbed. The same for the same picture and time."""


def gained(blue: float, green: float, red: float) -> Disturbance:
    """More or less of each color."""
    return lambda image, _: _levels(image * np.array((blue, green, red), np.float32))


@lru_cache(maxsize=1)
def _grain(height: int, width: int) -> NDArray[np.float32]:
    """Noise of unit variance, of which each picture shows another part: to draw it takes longer than to see it."""
    return np.random.default_rng(0).standard_normal((height, width, 3), np.float32)


def noisy(light: float, noise: float) -> Disturbance:
    """A share of the light, and noise of so many gray levels."""

    def disturb(image: Image, t_ns: int) -> Image:
        height, width = image.shape[:2]
        x, y = np.random.default_rng(t_ns).integers(_GRAIN_PX, size=2)
        drawn = _grain(height + _GRAIN_PX, width + _GRAIN_PX)[y : y + height, x : x + width]
        return _levels(image * np.float32(light) + np.float32(noise) * drawn)

    return disturb


def soft(contrast: float, blur_px: float) -> Disturbance:
    """A share of the contrast, and a blur."""

    def disturb(image: Image, _t_ns: int) -> Image:
        blurred = cv2.GaussianBlur(image, (0, 0), blur_px)
        mean = blurred.mean()
        return np.asarray(cv2.LUT(blurred, _levels((np.arange(256) - mean) * contrast + mean)), dtype=np.uint8)

    return disturb


def banded(hz: float, least: float, readout_s: float = 1 / 30) -> Disturbance:
    """Light that falls to a share, so many times a second, while the rows are read out one after the other."""

    def disturb(image: Image, t_ns: int) -> Image:
        t_s = np.arange(len(image)) / len(image) * readout_s + t_ns * 1e-9
        light = (1 + least) / 2 + (1 - least) / 2 * np.cos(2 * np.pi * hz * t_s)
        return _levels(image * light.astype(np.float32)[:, None, None])

    return disturb


def shaded(least: float) -> Disturbance:
    """Less light toward the left of the picture."""
    return lambda image, _: _levels(image * np.linspace(least, 1.0, image.shape[1], dtype=np.float32)[None, :, None])


DISTURBANCES: Final[dict[str, Disturbance]] = {
    "undisturbed": lambda image, _: image,
    "dim and noisy": noisy(0.55, 6.0),
    "soft and pale": soft(0.5, 2.5),
    "bands at 60 Hz": banded(60.0, 1 / 3),
    "cold": gained(1.15, 0.98, 0.8),
    "shade": shaded(0.4),
}


def _levels(image: NDArray[Any]) -> Image:
    return np.asarray(np.clip(image, 0, 255), dtype=np.uint8)
