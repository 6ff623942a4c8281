"""Measures detection in single pictures, as of `downfield track --independent`, with and without augmentation.

Run: python benchmarks/stills.py [--data FOLDER]

The test pictures are those of `benchmarks/network.py`, which makes them; their cameras are known exactly.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.frame import Frame
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.training.evaluation.scoring import WELL_SEEN, pictures_of
from downfield.twin.sets.labels import Sample
from downfield.vision.pipeline import Vision

REACH = 0.5  # of a base's length: middles further apart are not the same figure


@dataclass(slots=True)
class StillTally:
    """Counts over pictures: figures, missed figures, corner errors in mm, and front and rear swapped."""

    figures: int = 0
    missed: int = 0
    measured: int = 0
    swapped: int = 0
    corners_mm: list[float] = field(default_factory=list)


def main() -> None:
    """Process every set both ways and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data/test"), help="folder of the test sets")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    for folder in sorted(path for path in options.data.iterdir() if (path / "truth" / "test").is_dir()):
        for augmented in (False, True):
            tally, detector = StillTally(), open_detector(augmented=augmented)
            for sample, image in pictures_of(folder, "test"):
                _score(sample, image, detector, tally)
            p50, p95 = np.percentile(tally.corners_mm, (50, 95))
            mode = "with" if augmented else "without"
            print(
                f"{folder.name:<11} {mode:<7} TTA: {tally.missed / tally.figures:.2%} of {tally.figures} missed,"
                f" corners {p50:.3f} mm, p95 {p95:.2f};"
                f" {tally.swapped} of {tally.measured} with front and rear swapped",
                flush=True,
            )


def _score(sample: Sample, image: Image, detector: Detector, tally: StillTally) -> None:
    scene = Vision(sample.calibration, detector, continuous=False).process(Frame(0, 0, image))
    places = np.array([(one.x_mm, one.y_mm) for one in scene.figures]).reshape(-1, 2)
    for true in sample.labels.figures:
        if true.visible < WELL_SEEN:
            continue
        tally.figures += 1
        corners = sample.calibration.camera.to_board(true.corners_px, true.base_mm[2])
        apart = np.linalg.norm(places - corners.mean(axis=0), axis=1)
        if not len(apart) or apart.min() > REACH * true.base_mm[0]:
            tally.missed += 1
            continue
        figure = scene.figures[int(apart.argmin())]
        if true.kind == "fallen" or true.in_hand or figure.posture != "upright":
            continue
        seen = figure.footprint.corners_mm()
        straight, turned = (np.linalg.norm(way - corners, axis=1) for way in (seen, seen[[2, 3, 0, 1]]))
        tally.measured += 1
        tally.swapped += bool(turned.mean() < straight.mean())
        tally.corners_mm += min(straight, turned, key=np.mean).tolist()


if __name__ == "__main__":
    main()
