"""Opens a detector by the name or the path of its network."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError
from downfield.models.ball_detection import BALL_BATCHES, BallDetector, BallRefiner
from downfield.models.card import BUNDLED, KINDS, NetworkCard, NetworkFiles, find_network, read_card
from downfield.models.detector import Detector
from downfield.models.frame_detector import FrameDetector
from downfield.models.refiner import PATCH_PX
from downfield.models.runtime import Backend, Network, Precision, choose_backend, open_network
from downfield.models.second_opinion import OPINION_BATCHES, SecondOpinion
from downfield.models.shared_refiner import open_shared_refiner
from downfield.models.two_stage_detector import BATCHES, TwoStageDetector

_TORCH_SUFFIXES: Final = (".pt", ".torchscript", ".engine")
_PATCH: Final = (PATCH_PX, PATCH_PX)
_NEVER: Final = 1.0  # a score that nothing reaches


def open_detector(
    name_or_path: str | Path = BUNDLED,
    *,
    threads: int = 1,
    refine_threads: int | None = None,
    backend: str = "auto",
    precision: Precision | None = None,
    refine: bool = True,
    min_score: float | None = None,
    augmented: bool = False,
) -> Detector:
    """Open a detector. It serves one thread at a time; open one for each thread.

    Args:
        name_or_path: a bundled network, a folder with a `network.json`, or an ultralytics model (``.pt``), which needs
            the extra `train`.
        threads: number of threads for the detector stage.
        refine_threads: number of threads for refining tracked figures; None for the same number.
        backend: ``"openvino"``, ``"onnxruntime"``, or ``"auto"`` for the faster one installed.
        precision: None for int8 where the network has it, else fp32.
        refine: refine every figure, and run the ball's own networks, where the network has them.
        min_score: score from which the detector stage reports, in place of the network's own thresholds.
        augmented: run single pictures mirrored as well (test-time augmentation), which is more exact and takes twice
            as long. It has no effect on videos.

    Raises:
        InputError: there is no such network or runtime, or a file of it is missing or broken.
        FormatError: its card breaks the format.
        MissingExtraError: the model needs ultralytics.

    """
    if Path(name_or_path).suffix in _TORCH_SUFFIXES:
        from downfield.models.ultralytics_detector import UltralyticsDetector

        return UltralyticsDetector(Path(name_or_path), threads=threads)
    folder = _NetworkFolder(find_network(name_or_path), choose_backend(backend), threads, precision)
    card = read_card(folder.path)
    detector = FrameDetector(
        folder.open(card.first_look, card.input_px),
        name=f"{card.name} ({folder.choose_file(card.first_look)[1]})",
        input_px=card.input_px,
        thresholds=card.thresholds if min_score is None else (min_score,) * len(card.thresholds),
        sigma_scale=card.first_look.sigma_scale,
    )
    if card.second_look is None or not refine:
        return detector
    tracking = folder if refine_threads is None else dataclasses.replace(folder, threads=refine_threads)
    two_stage = partial(
        TwoStageDetector,
        detector,
        threshold=card.figure_threshold,
        ball_threshold=card.ball_threshold,
        turn_logit=card.turn_logit,
        fallen_logit=card.fallen_logit,
        sigma_scale=card.second_look.sigma_scale,
        front_odds=card.front_odds,
        augmented=augmented,
        hand_detector=None if card.hand_look is None else _open_hand_detector(folder, card, card.hand_look),
    )
    refiner, beside = (_open_refiner(part, card.second_look, card.second_opinion) for part in (tracking, folder))
    if card.refiner_sees_ball:
        return open_shared_refiner(two_stage, refiner, beside)
    return two_stage(
        refiner,
        None if card.close_look is None else _open_ball_refiner(folder, card.close_look),
        None if card.ball_look is None else _open_ball_detector(folder, card, card.ball_look),
        beside=two_stage(beside),
    )


@dataclass(frozen=True, slots=True)
class _NetworkFolder:
    """A network's folder, and the options for opening its files."""

    path: Path
    runtime: Backend
    threads: int
    precision: Precision | None

    def open(self, files: NetworkFiles, size_px: tuple[int, int], batches: Sequence[int] = (1,)) -> Network:
        """Open one of its networks."""
        path, precision = self.choose_file(files)
        return open_network(
            path, self.runtime, size_px=size_px, threads=self.threads, precision=precision, batches=batches
        )

    def choose_file(self, files: NetworkFiles) -> tuple[Path, Precision]:
        """Return the file of a network to open, and its precision."""
        if self.precision == "int8" and files.int8 is None:
            raise InputError(f"{self.path}: this network has no int8 file. Open {files.fp32} with fp32.")
        if files.int8 is not None and self.precision in (None, "int8"):
            return self.path / files.int8, "int8"
        return self.path / files.fp32, self.precision or "fp32"


def _open_refiner(folder: _NetworkFolder, files: NetworkFiles, opinion: NetworkFiles | None) -> Network:
    refiner = folder.open(files, _PATCH, BATCHES)
    return refiner if opinion is None else SecondOpinion(refiner, folder.open(opinion, _PATCH, OPINION_BATCHES))


def _open_ball_refiner(folder: _NetworkFolder, files: NetworkFiles) -> BallRefiner:
    return BallRefiner(folder.open(files, _PATCH, BALL_BATCHES), folder.open(files, _PATCH))


def _open_hand_detector(folder: _NetworkFolder, card: NetworkCard, files: NetworkFiles) -> FrameDetector:
    """Open a detector of which only hands are used: all else is as good as never detected."""
    thresholds = tuple(card.hand_threshold if kind == "hand" else _NEVER for kind in KINDS)
    return FrameDetector(
        folder.open(files, card.input_px), name=card.name, input_px=card.input_px, thresholds=thresholds
    )


def _open_ball_detector(folder: _NetworkFolder, card: NetworkCard, files: NetworkFiles) -> BallDetector:
    threshold = card.thresholds[KINDS.index("ball")]
    return BallDetector(folder.open(files, card.ball_px), threshold=threshold, odds=card.ball_odds)
