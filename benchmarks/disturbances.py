"""Simulates camera faults in the middle of a play: dropped, frozen and dark frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import numpy as np

from downfield.core.arrays import Image
from downfield.core.frame import Frame

T = TypeVar("T")

_INTERVAL_NS: Final = 1_200_000_000  # before the first fault, for the line-up, and between two
_DURATION_NS: Final = 500_000_000
_DROPPED: Final = 0.5  # share of frames
_DARK: Final = 0.03  # share of the light that is left
_NOISE: Final = 2.0  # of the sensor in the dark, gray levels


def disturb(frames: Iterable[tuple[Frame, T]], seed: int = 0) -> Iterator[tuple[Frame, T]]:
    """Yield frames with their data, disturbed for half a second now and then: dropped, frozen, dark, in turn."""
    rng = np.random.default_rng(seed)
    begins_ns: int | None = None
    still: Image | None = None
    for frame, data in frames:
        begins_ns = frame.t_ns if begins_ns is None else begins_ns
        turn, into_ns = divmod(frame.t_ns - begins_ns, _INTERVAL_NS + _DURATION_NS)
        kind = turn % 3 if into_ns >= _INTERVAL_NS else None
        if kind != 1 or still is None:
            still = frame.image
        if kind == 0 and rng.random() < _DROPPED:
            continue
        image = still if kind == 1 else _darken(frame.image, rng) if kind == 2 else frame.image
        yield dataclasses.replace(frame, image=image), data


def _darken(image: Image, rng: np.random.Generator) -> Image:
    dark = image * np.float32(_DARK) + rng.normal(0, _NOISE, image.shape).astype(np.float32)
    return np.asarray(np.clip(dark, 0, 255), dtype=np.uint8)
