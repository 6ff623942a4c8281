"""Training crops of the figure detector, cut at random from whole frames: turned, flipped, scaled, recolored.

A crop has the size at which figures are seen when a whole frame goes through the network, so a network trained on
crops runs on frames.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import cv2
import numpy as np
from torch.utils.data import Dataset

from downfield.core.arrays import Image
from downfield.training.data.labeled_frames import FrameDraw, Sources, labels_of, read_frame, read_objects
from downfield.training.data.objects import CROP_PX, INPUT_WIDTH_PX, Objects, cut_out, draw_cut, moved, with_room
from downfield.training.data.variation import cast_hard_shadows, recolor

CROPS_PER_FRAME: Final = 2
"""Crops out of one decoded frame: decoding costs more than cutting."""


class CropStream(Dataset[list[tuple[Image, Objects]]]):
    """An endless stream of crops: item i is `CROPS_PER_FRAME` crops of some frame, a function of the seed and i alone.

    Raises:
        InputError: a folder holds no labeled pictures of the split.
    """

    def __init__(self, sources: Sources, split: str, seed: int) -> None:
        self._frames = FrameDraw(sources, split, seed)

    def __getitem__(self, index: int) -> list[tuple[Image, Objects]]:
        path, rng = self._frames.draw(index)
        small, objects = read_small(path)
        small, _ = cast_hard_shadows(small, objects, rng)
        return [cut(small, objects, rng) for _ in range(CROPS_PER_FRAME)]


def read_small(path: Path) -> tuple[Image, Objects]:
    """Read a frame at the network's scale, with its objects.

    Raises:
        InputError: it can't be decoded.
    """
    image = read_frame(path, halved=True)
    if image.shape[1] < INPUT_WIDTH_PX:
        image = read_frame(path)
    size = (INPUT_WIDTH_PX, round(INPUT_WIDTH_PX * image.shape[0] / image.shape[1]))
    small = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
    return small, with_room(read_objects(labels_of(path), size))


def cut(image: Image, objects: Objects, rng: np.random.Generator) -> tuple[Image, Objects]:
    """Cut one crop of a frame that is at the network's scale, with its objects; boxes are cut at its edge."""
    matrix, mirrored = draw_cut(objects, (image.shape[1], image.shape[0]), rng)
    inside, _ = moved(objects, matrix, mirrored=mirrored)
    return recolor(cut_out(image, matrix, CROP_PX, rng), rng), inside
