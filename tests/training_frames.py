"""What tests of training share: a figure detector that is always a little wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from downfield.core.arrays import Image
from downfield.core.frame import Detection
from downfield.training.data.labeled_frames import labeled_images_of, labels_of, read_objects


class Shifted:
    """A figure detector that sees every upright figure a little aside, and one where there is none."""

    name = "shifted"

    def __init__(self, frames: Path) -> None:
        self._images = iter(labeled_images_of(frames, "train"))

    def detect(self, image: Image) -> tuple[Detection, ...]:
        objects = read_objects(labels_of(next(self._images)), (image.shape[1], image.shape[0]))
        figures = [points[:4, :2] for points, kind in zip(objects.points, objects.kinds, strict=True) if kind == 0]
        length = np.linalg.norm(figures[0][:2].mean(axis=0) - figures[0][2:].mean(axis=0))
        nowhere = figures[0] - figures[0].mean(axis=0) + (60, 60)
        said = [*(corners + 0.15 * length for corners in figures), nowhere]
        return tuple(
            Detection("upright", 0.2, (0, 0, 1, 1), tuple((float(x), float(y)) for x, y in corners)) for corners in said
        )
