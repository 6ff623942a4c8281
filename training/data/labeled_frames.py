"""Labeled frames of data sets, as `downfield twin dataset` writes them, and random draws from them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError
from downfield.training.data.objects import Objects, parse_objects

Sources = Sequence[tuple[Path, float]]  # folders of data sets, each with the share of frames to take from it


def read_objects(path: Path, size_px: tuple[int, int]) -> Objects:
    """Read one label file of a data set into pixels of its picture."""
    return parse_objects(path.read_text(encoding="utf-8"), size_px)


def write_objects(path: Path, objects: Objects, size_px: tuple[int, int]) -> None:
    """Write the objects of a picture as one label file of a data set; `read_objects` reads it."""
    points = objects.points.copy()
    points[..., :2] = (points[..., :2] + 0.5) / size_px
    boxes = objects.boxes.reshape(-1, 2, 2)
    middles, sizes = (boxes.mean(axis=1) + 0.5) / size_px, (boxes[:, 1] - boxes[:, 0]) / size_px
    lines = []
    for kind, middle, size, point in zip(objects.kinds, middles, sizes, points, strict=True):
        places = " ".join(f"{x:.6f} {y:.6f} {flag:.0f}" if flag else "0 0 0" for x, y, flag in point)
        lines.append(f"{kind:.0f} {middle[0]:.6f} {middle[1]:.6f} {size[0]:.6f} {size[1]:.6f} {places}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


def unsure_places_of(image: Path) -> Array | None:
    """Return places in a picture that may hold figures without a label, pixels, shape (n, 2).

    None for pictures whose labels are complete, as all that the twin draws.
    """
    path = unsure_path_of(image)
    return np.load(path).astype(np.float64).reshape(-1, 2) if path.exists() else None


def unsure_path_of(image: Path) -> Path:
    """Return the path of the unsure places of a picture, which need not exist."""
    return image.parent.parent.parent / "unsure" / image.parent.name / f"{image.stem}.npy"


class FrameDraw:
    """An endless draw of frames: the i-th is a function of the seed and i alone.

    Raises:
        InputError: a folder holds no labeled pictures of the split.
    """

    def __init__(self, sources: Sources, split: str, seed: int) -> None:
        self._images = [labeled_images_of(folder, split) for folder, _ in sources]
        shares = np.array([share for _, share in sources])
        self._shares = shares / shares.sum()
        self._seed = seed

    def draw(self, index: int) -> tuple[Path, np.random.Generator]:
        """Draw a frame's picture and the random generator for it."""
        rng = np.random.default_rng([self._seed, index])
        images = self._images[int(rng.choice(len(self._images), p=self._shares))]
        return images[int(rng.integers(len(images)))], rng


def labeled_images_of(folder: Path, split: str) -> list[Path]:
    """Return the labeled pictures of a data set's split. Raises InputError: there are none."""
    where = folder / "images" / split
    images = [path for path in sorted(where.iterdir()) if labels_of(path).exists()] if where.is_dir() else []
    if not images:
        raise InputError(f"{folder}: no labeled pictures of the split '{split}'")
    return images


def read_frame(path: Path, *, halved: bool = False) -> Image:
    """Return a frame, blue green red.

    Args:
        halved: at half its size, which a JPEG can be decoded at for a fraction of the time.

    Raises:
        InputError: it can't be decoded.
    """
    image = None
    with suppress(cv2.error, OSError):  # a name that is no UTF-8 ends `cv2.imread` with the process
        coded = np.fromfile(path, np.uint8)
        image = cv2.imdecode(coded, cv2.IMREAD_REDUCED_COLOR_2 if halved else cv2.IMREAD_COLOR)
    if image is None:
        raise InputError(f"{path}: the picture can't be decoded")
    return np.asarray(image, dtype=np.uint8)


def labels_of(image: Path) -> Path:
    """Return the path of a picture's labels."""
    return image.parent.parent.parent / "labels" / image.parent.name / f"{image.stem}.txt"
