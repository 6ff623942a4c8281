"""What goes wrong with a camera in the middle of a play: pictures are lost, stand still, or go dark."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import numpy as np

from downfield.core.arrays import Image
from downfield.core.frame import Frame

T = TypeVar("T")

_CALM_NS: Final = 1_200_000_000  # before the first, for the line-up, and between two
_LASTS_NS: Final = 500_000_000
_LOST: Final = 0.5  # share of pictures, while some are
_DARK: Final = 0.03  # of the light, when the lamp is off
_NOISE: Final = 2.0  # of a sensor in the dark, in steps of 256


def disturbed(pictures: Iterable[tuple[Frame, T]], seed: int = 0) -> Iterator[tuple[Frame, T]]:
    """Pictures with what belongs to each, disturbed for half a second now and then: lost, frozen, dark, in turn."""
    rng = np.random.default_rng(seed)
    begins_ns: int | None = None
    still: Image | None = None
    for frame, with_it in pictures:
        begins_ns = frame.t_ns if begins_ns is None else begins_ns
        turn, into_ns = divmod(frame.t_ns - begins_ns, _CALM_NS + _LASTS_NS)
        kind = turn % 3 if into_ns >= _CALM_NS else None
        if kind != 1 or still is None:
            still = frame.image
        if kind == 0 and rng.random() < _LOST:
            continue
        image = still if kind == 1 else _in_the_dark(frame.image, rng) if kind == 2 else frame.image
        yield dataclasses.replace(frame, image=image), with_it


def _in_the_dark(image: Image, rng: np.random.Generator) -> Image:
    dark = image * np.float32(_DARK) + rng.normal(0, _NOISE, image.shape).astype(np.float32)
    return np.asarray(np.clip(dark, 0, 255), dtype=np.uint8)
