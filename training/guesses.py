"""Real detections in training pictures, from which the refiners learn to correct the detectors.

They are stored beside the labels of a data set, two files a picture, and made anew for other weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.ball_detection import with_patch_corners
from downfield.models.detector import Detector
from downfield.models.two_stage_detector import TwoStageDetector
from downfield.training.labeled_frames import labeled_images_of, read_frame


def make_guesses(detector: Detector, folder: Path, progress: Callable[[int, int], None] = lambda _n, _of: None) -> None:
    """Run a detector on all training pictures of a data set.

    Args:
        detector: a first look that says what it is least sure of, too; or a second one upon it, whose ball look is
            asked then.
        folder: of the data set.
        progress: told how many pictures are done, and of how many.

    Raises:
        InputError: it has no training pictures.

    """
    images = labeled_images_of(folder, "train")
    for number, image in enumerate(images, 1):
        frame = read_frame(image)
        if isinstance(detector, TwoStageDetector):
            found = detector.find_candidates(frame, ball=False, hands=False)
            balls = detector.find_ball_candidates(frame, found)
        else:
            found, balls = detector.detect(frame), []
        figures = [one for one in found if one.corners_px]
        _keep(image, _FIGURES, figures)
        _keep(image, _BALLS, with_patch_corners(balls, figures) if figures else [])
        progress(number, len(images))


def guesses_of(image: Path) -> Array | None:
    """Return the corners of all figures detected in a picture, shape (n, 4, 2); None where none were stored."""
    return _kept(image, _FIGURES)


def ball_guesses_of(image: Path) -> Array | None:
    """Return the corners by which patches are cut around ball candidates, as of `guesses_of`."""
    return _kept(image, _BALLS)


_FIGURES, _BALLS = "guesses", "ball-guesses"


def _keep(image: Path, what: str, guessed: Sequence[Detection]) -> None:
    path = _path_of(image, what)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.array([one.corners_px for one in guessed], dtype=np.float32).reshape(-1, 4, 2))


def _kept(image: Path, what: str) -> Array | None:
    path = _path_of(image, what)
    return np.load(path).astype(np.float64) if path.exists() else None


def _path_of(image: Path, what: str) -> Path:
    return image.parent.parent.parent / what / image.parent.name / f"{image.stem}.npy"
