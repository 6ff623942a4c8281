"""Opens a detector by the name or the path of its network."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError
from downfield.models.ball_refiner import BALL_COLUMNS, FIGURE_COLUMNS, BallRefiner, NetworkColumns
from downfield.models.card import BUNDLED, NetworkCard, NetworkFiles, find_network, read_card
from downfield.models.detector import Detector, OnDemandNetworks
from downfield.models.frame_detector import FrameDetector
from downfield.models.refiner import PATCH_PX
from downfield.models.runtime import Backend, Network, Precision, choose_backend, open_network
from downfield.models.two_stage_detector import BATCHES, FULL_LINE_UP, TwoStageDetector

_TORCH_SUFFIXES: Final = (".pt", ".torchscript", ".engine")
_PATCH: Final = (PATCH_PX, PATCH_PX)


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
    whole_pictures: OnDemandNetworks | None = None,
    tracking: OnDemandNetworks | None = None,
) -> Detector:
    """Open a detector. It serves one thread at a time; open one for each thread.

    Args:
        name_or_path: a bundled network, a folder with a `network.json`, or an ultralytics model (``.pt``), which needs
            the extra `train`.
        threads: number of threads for the detector stage.
        refine_threads: number of threads for refining tracked figures; None for the same number.
        backend: ``"openvino"``, ``"onnxruntime"``, or ``"auto"`` for the faster one installed.
        precision: None for int8 where the network has it, else fp32.
        refine: refine every figure, and find the ball in patches, where the network has a refiner.
        min_score: score from which the detector stage reports, in place of the network's own thresholds.
        augmented: run single pictures mirrored as well (test-time augmentation), which is more exact and takes twice
            as long. It has no effect on videos.
        whole_pictures: gets the networks that search whole pictures, and refine what they find, which then are opened
            at their first run; None to open them now.
        tracking: the same for those that follow known figures and balls.

    Raises:
        InputError: there is no such network or runtime, or a file of it is missing or broken.
        FormatError: its card breaks the format.
        MissingExtraError: the model needs ultralytics.
    """
    if Path(name_or_path).suffix in _TORCH_SUFFIXES:
        from downfield.models.ultralytics_detector import UltralyticsDetector

        return UltralyticsDetector(Path(name_or_path), threads=threads)
    folder = _NetworkFolder(find_network(name_or_path), choose_backend(backend), threads, precision, whole_pictures)
    card = read_card(folder.path)
    detector = _open_frame_detector(folder, card, min_score)
    if card.refiner is None or not refine:
        return detector
    refining = dataclasses.replace(
        folder, threads=threads if refine_threads is None else refine_threads, on_demand=tracking
    )
    two_stage = partial(
        TwoStageDetector,
        detector,
        threshold=card.figure_threshold,
        ball_threshold=card.ball_threshold,
        turn_logit=card.turn_logit,
        fallen_logit=card.fallen_logit,
        sigma_scale=card.refiner.sigma_scale,
        front_odds=card.front_odds,
        augmented=augmented,
    )
    following = _open_refiner(refining, card, card.refiner, frequent=FULL_LINE_UP)
    return with_refiners(two_stage, following, _open_refiner(folder, card, card.refiner), card.ball_odds)


@dataclass(frozen=True, slots=True)
class _NetworkFolder:
    """A network's folder, and the options for opening its files."""

    path: Path
    runtime: Backend
    threads: int
    precision: Precision | None
    on_demand: OnDemandNetworks | None

    def open(
        self, files: NetworkFiles, size_px: tuple[int, int], batches: Sequence[int] = (1,), frequent: int | None = None
    ) -> Network:
        """Open one of its networks, now or at its first run."""
        path, precision = self.choose_file(files)
        opener = partial(
            open_network,
            path,
            self.runtime,
            size_px=size_px,
            threads=self.threads,
            precision=precision,
            batches=batches,
            frequent=frequent,
        )
        return opener() if self.on_demand is None else self.on_demand.add(path.name, size_px, opener)

    def choose_file(self, files: NetworkFiles) -> tuple[Path, Precision]:
        """Return the file of a network to open, and its precision."""
        if self.precision == "int8" and files.int8 is None:
            raise InputError(f"{self.path}: this network has no int8 file. Open {files.fp32} with fp32.")
        if files.int8 is not None and self.precision in (None, "int8"):
            return self.path / files.int8, "int8"
        return self.path / files.fp32, self.precision or "fp32"


def _open_frame_detector(folder: _NetworkFolder, card: NetworkCard, min_score: float | None) -> FrameDetector:
    return FrameDetector(
        folder.open(card.detector, card.input_px),
        name=f"{card.name} ({folder.choose_file(card.detector)[1]})",
        input_px=card.input_px,
        thresholds=card.thresholds if min_score is None else (min_score,) * len(card.thresholds),
        sigma_scale=card.detector.sigma_scale,
    )


@dataclass(frozen=True, slots=True)
class Refiners:
    """What one thread refines figures with, and finds the ball with."""

    figures: Network
    ball: Network | None  # None where the detector alone finds the ball


def _open_refiner(
    folder: _NetworkFolder, card: NetworkCard, files: NetworkFiles, frequent: int | None = None
) -> Refiners:
    refiner = folder.open(files, _PATCH, BATCHES, frequent)
    return shared_refiner(refiner) if card.refiner_sees_ball else Refiners(refiner, None)


def shared_refiner(network: Network) -> Refiners:
    """Return one network that gives a figure's numbers and the ball's cells as both refiners."""
    return Refiners(NetworkColumns(network, FIGURE_COLUMNS), NetworkColumns(network, BALL_COLUMNS))


def with_refiners(
    two_stage: Callable[..., TwoStageDetector],
    tracking: Refiners,
    searching: Refiners,
    ball_odds: tuple[float, float] = (1.0, 0.0),
) -> TwoStageDetector:
    """Return a detector with the refiners of two threads.

    Args:
        two_stage: makes a `TwoStageDetector` from a refiner and its further arguments.
        tracking: of the thread that tracks.
        searching: of the thread that detects.
        ball_odds: as of `BallRefiner`.
    """
    ball = None
    if searching.ball is not None and tracking.ball is not None:
        ball = BallRefiner(searching.ball, tracking.ball, ball_odds)
    return two_stage(tracking.figures, ball, candidate_refiner=two_stage(searching.figures))
