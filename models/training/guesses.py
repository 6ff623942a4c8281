"""Where a first look really puts figures in training pictures: what a second look learns to better.

They are kept beside the labels of a data set, one file a picture, and made anew for another first look.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from downfield.models.detector import Detector
from downfield.models.training.labelled_frames import frames_of, read_frame
from downfield.vision.footprint import Array


def make_guesses(detector: Detector, folder: Path, progress: Callable[[int, int], None] = lambda _n, _of: None) -> None:
    """Look at all training pictures of a data set.

    Args:
        detector: a first look that says what it is least sure of, too.
        folder: of the data set.
        progress: told how many pictures are done, and of how many.

    Raises:
        InputError: it has no training pictures.

    """
    images = frames_of(folder, "train")
    for number, image in enumerate(images, 1):
        corners = [one.corners_px for one in detector.detect(read_frame(image)) if one.corners_px]
        path = _path_of(image)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.array(corners, dtype=np.float32).reshape(-1, 4, 2))
        progress(number, len(images))


def guesses_of(image: Path) -> Array | None:
    """Corners of all figures guessed in a picture, shape (n, 4, 2); None where nobody has looked."""
    path = _path_of(image)
    return np.load(path).astype(np.float64) if path.exists() else None


def _path_of(image: Path) -> Path:
    return image.parent.parent.parent / "guesses" / image.parent.name / f"{image.stem}.npy"
