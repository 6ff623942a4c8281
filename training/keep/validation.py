"""Measures two networks in training as the rig would run them, on pictures of tables that are never trained on.

Both run one after another through the runtime's own detector, in torch instead of an exported file: the rows are those
of the model card. The scores from which figures, hands and the ball are reported are the best ones of each time, since
an exported network gets its own, too.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from downfield.core.arrays import Image
from downfield.core.frame import Detection
from downfield.models.frame_detector import FrameDetector
from downfield.models.loading import shared_refiner, with_refiners
from downfield.models.refiner import PATCH_PX
from downfield.models.runtime import Outputs
from downfield.models.two_stage_detector import TwoStageDetector, in_agreement
from downfield.training.evaluation.measures import (
    Frames,
    ball_precision,
    ball_recall,
    corner_mm,
    fallen_f1,
    hand_precision,
    hand_recall,
    precision,
    recall,
    sigma_ratio,
    turned,
)
from downfield.training.evaluation.scoring import WELL_SEEN, pictures_of, score_frame
from downfield.training.evaluation.tuning import BALL, FIGURE, HAND, best_score
from downfield.training.export.onnx import RefinerGraph, YoloGraph
from downfield.twin.sets.labels import Sample

INPUT_PX: Final = (960, 544)
_CANDIDATES: Final = (0.04, 0.04, 0.04, 0.1)  # scores of upright and fallen figures, balls, hands from the detector
_REPORTED: Final = 0.03
_BALL_SEEN: Final = 0.7


class TorchNetwork:
    """A network in torch as the runtime's detectors run networks.

    Args:
        graph: from pictures, uint8 (n, height, width, 3), to its output.
        size_px: width and height of the pictures it takes.
    """

    def __init__(self, graph: nn.Module, size_px: tuple[int, int]) -> None:
        self.name, self.size_px, self._graph = f"torch {torch.__version__}", size_px, graph.eval()

    def run(self, pictures: Image) -> Outputs:
        """Return the output, float32 (n, ...)."""
        with torch.inference_mode():
            out: Outputs = self._graph(torch.from_numpy(np.ascontiguousarray(pictures))).float().numpy()
        return out


def detector_of(detector: Any, refiner: nn.Module) -> TwoStageDetector:
    """Return a detector of copies of both networks on the processor, which reports all that it suspects."""
    graphs = (YoloGraph(copy.deepcopy(detector).cpu()), RefinerGraph(copy.deepcopy(refiner).cpu()))
    frames = FrameDetector(
        TorchNetwork(graphs[0], INPUT_PX), name="in training", input_px=INPUT_PX, thresholds=_CANDIDATES
    )
    two_stage = partial(TwoStageDetector, frames, threshold=_REPORTED, ball_threshold=_REPORTED)
    refiner = shared_refiner(TorchNetwork(graphs[1], (PATCH_PX, PATCH_PX)))
    return with_refiners(two_stage, refiner, refiner)


def measure(detector: Any, refiner: nn.Module, pictures: Path, most: int) -> dict[str, float]:
    """Return the table of figures by row, on the first validation pictures of a data set, at most so many.

    Args:
        detector: a `new_yolo_detector`, not changed.
        refiner: a `RefinerNetwork`, not changed.

    Raises:
        InputError: there are no pictures.
    """
    opened = detector_of(detector, refiner)
    found: list[tuple[Sample, tuple[Detection, ...]]] = []
    for sample, image in pictures_of(pictures, "val"):
        found.append((sample, opened.detect_raw(image)))
        if len(found) == most:
            break
    kinds: tuple[tuple[str, ...], ...] = (FIGURE, BALL, HAND)
    scores = {each: best_score([found], each)[0] for each in kinds}
    frames = [score_frame(sample, _reported(sample, each, scores)) for sample, each in found]
    return _row(frames)


def _reported(
    sample: Sample, found: tuple[Detection, ...], scores: Mapping[tuple[str, ...], float]
) -> tuple[Detection, ...]:
    least = {kind: score for kinds, score in scores.items() for kind in kinds}
    kept = [each for each in found if each.score >= least[each.kind]]
    return in_agreement(kept, sample.calibration.camera.lens.size_px)


def _row(frames: Frames) -> dict[str, float]:
    values = {
        "recall": recall(frames, WELL_SEEN),
        "precision": precision(frames),
        "turned": turned(frames),
        "fallen": fallen_f1(frames),
        "corner_mm": corner_mm(frames, 50),
        "corner_p95_mm": corner_mm(frames, 95),
        "ball_recall": ball_recall(frames, _BALL_SEEN),
        "ball_precision": ball_precision(frames),
        "hand_recall": hand_recall(frames),
        "hand_precision": hand_precision(frames),
        "sigma": sigma_ratio(frames),
    }
    return {name: round(value, 5) for name, value in values.items() if math.isfinite(value)}
