"""Training crops of the figure detector, cut at random from whole frames: turned, flipped, scaled, recolored.

A crop has the size at which figures are seen when a whole frame goes through the network, so a network trained on
crops runs on frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset

from downfield.core.arrays import Image
from downfield.training.data.labeled_frames import FrameDraw, Sources, labels_of, read_frame, read_objects
from downfield.training.data.objects import CROP_PX, INPUT_WIDTH_PX, Objects, cut_out, draw_cut, moved, with_room
from downfield.training.data.variation import cast_hard_shadows, recolor

CROPS_PER_FRAME: Final = 2
"""Crops out of one decoded frame: decoding costs more than cutting."""


class CropStream(Dataset[list[dict[str, Any]]]):
    """An endless stream of crops: item i is `CROPS_PER_FRAME` crops of some frame, a function of the seed and i alone.

    Raises:
        InputError: a folder holds no labeled pictures of the split.
    """

    def __init__(self, sources: Sources, split: str, seed: int) -> None:
        self._frames = FrameDraw(sources, split, seed)

    def __getitem__(self, index: int) -> list[dict[str, Any]]:
        path, rng = self._frames.draw(index)
        small, objects = read_small(path)
        small, _ = cast_hard_shadows(small, objects, rng)
        return [_as_tensors(*cut(small, objects, rng)) for _ in range(CROPS_PER_FRAME)]


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


def _as_tensors(image: Image, objects: Objects) -> dict[str, Any]:
    middle = (objects.boxes[:, :2] + objects.boxes[:, 2:]) / 2 + 0.5
    size = objects.boxes[:, 2:] - objects.boxes[:, :2]
    points = objects.points.copy()
    points[..., :2] = (points[..., :2] + 0.5) / CROP_PX
    return {
        "img": torch.from_numpy(np.ascontiguousarray(image[..., ::-1].transpose(2, 0, 1))),
        "cls": torch.from_numpy(objects.kinds[:, None].astype(np.float32)),
        "bboxes": torch.from_numpy((np.concatenate([middle, size], axis=1) / CROP_PX).astype(np.float32)),
        "keypoints": torch.from_numpy(points.astype(np.float32)),
    }


def collate(items: Sequence[Sequence[dict[str, Any]]]) -> dict[str, torch.Tensor]:
    """Collate a batch for ultralytics' losses: pictures stacked, objects in one list with their picture's number."""
    crops = [crop for item in items for crop in item]
    counts = torch.tensor([len(crop["cls"]) for crop in crops])
    batch = {key: torch.cat([crop[key] for crop in crops]) for key in ("cls", "bboxes", "keypoints")}
    batch["img"] = torch.stack([crop["img"] for crop in crops])
    batch["batch_idx"] = torch.repeat_interleave(torch.arange(len(crops)), counts).float()
    return batch
