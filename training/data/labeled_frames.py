"""Labeled frames of data sets, as `downfield twin dataset` writes them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError
from downfield.training.data.objects import Objects, parse_objects


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


def labeled_images_of(folder: Path, split: str) -> list[Path]:
    """Return the labeled pictures of a data set's split. Raises InputError: there are none."""
    where = folder / "images" / split
    images = [path for path in sorted(where.iterdir()) if labels_of(path).exists()] if where.is_dir() else []
    if not images:
        raise InputError(f"{folder}: no labeled pictures of the split '{split}'")
    return images


def read_frame(path: Path) -> Image:
    """Return a frame, blue green red. Raises InputError: it can't be decoded."""
    image = None
    with suppress(cv2.error, OSError):  # a name that is no UTF-8 ends `cv2.imread` with the process
        image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise InputError(f"{path}: the picture can't be decoded")
    return np.asarray(image, dtype=np.uint8)


def labels_of(image: Path) -> Path:
    """Return the path of a picture's labels."""
    return image.parent.parent.parent / "labels" / image.parent.name / f"{image.stem}.txt"
