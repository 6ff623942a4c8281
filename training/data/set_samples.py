"""Samples of both networks from labeled pictures: crops at the detector's scale, and patches of the refiner.

They are relit and turned when they are learned (`samples.varied_patches`), as traced ones are, not here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import cv2
import numpy as np
import torch

from downfield.core.arrays import Array, Image
from downfield.models.refiner import cut_patches
from downfield.training.data.labeled_frames import labels_of, read_frame, read_objects, unsure_places_of
from downfield.training.data.objects import (
    BALL_KIND,
    BALL_POINT,
    CROP_PX,
    INPUT_WIDTH_PX,
    Objects,
    draw_cut,
    moved,
    padded,
    with_room,
)
from downfield.training.data.places import balls_in_patches, patch_labels, place_patches
from downfield.training.data.samples import FrameSamples, PatchSamples, frame_samples, patch_samples

HARDLY_SHOWN: Final = 0.1  # visible share of a ball that its labels call hidden: it may be found or not


def crops_of(path: Path, count: int, rng: np.random.Generator) -> FrameSamples:
    """Return crops of a data set's picture. Raises InputError: it can't be decoded."""
    image = read_frame(path)
    size = (INPUT_WIDTH_PX, round(INPUT_WIDTH_PX * image.shape[0] / image.shape[1]))
    small = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    objects = with_room(read_objects(labels_of(path), size))
    crops, found = [], []
    for _ in range(count):
        matrix, mirrored = draw_cut(objects, size, rng)
        inside, _ = moved(objects, matrix, mirrored=mirrored)
        outside = rng.integers(0, 255, 3).tolist()  # one color
        crops.append(cv2.warpAffine(small, matrix, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderValue=outside))
        found.append((inside, _shown(inside)))
    kinds, points, boxes, shown = (torch.from_numpy(part) for part in padded(found))
    return frame_samples((torch.from_numpy(np.stack(crops)), kinds.long(), points, boxes, shown))


def patches_of(path: Path, rng: np.random.Generator) -> PatchSamples:
    """Return patches of a data set's picture. Raises InputError: it can't be decoded."""
    image = read_frame(path)
    objects = read_objects(labels_of(path), (image.shape[1], image.shape[0]))
    return cut_samples(image, objects, rng, unsure_places_of(path))


def cut_samples(image: Image, objects: Objects, rng: np.random.Generator, unsure: Array | None = None) -> PatchSamples:
    """Return patches of a picture where a detector might have put figures, with their labels.

    Args:
        unsure: places that may hold a figure without a label, pixels, shape (n, 2), in a picture of a real table, whose
            ball has no label either; None where all labels are known.
    """
    places = place_patches(objects, (image.shape[1], image.shape[0]), rng, avoid=unsure)
    balls = balls_in_patches(objects, _shown(objects), places.transforms)
    if unsure is not None:
        balls[balls[:, 2] == 0, 2] = HARDLY_SHOWN
    labels = (torch.from_numpy(part.astype(np.float32)) for part in (*patch_labels(places), balls))
    return patch_samples((torch.from_numpy(cut_patches(image, places.transforms)), *labels))


def _shown(objects: Objects) -> Array:
    """Return the visible shares of objects, of which labels know only whether a ball is hidden."""
    hidden = (objects.kinds == BALL_KIND) & (objects.points[:, BALL_POINT, 2] < 2)
    return np.where(hidden, HARDLY_SHOWN, 1.0)
