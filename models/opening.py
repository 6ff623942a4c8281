"""Open a detector by the name or the path of its network."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from downfield.core.errors import InputError
from downfield.models import close_look
from downfield.models.ball_look import BallDetector
from downfield.models.card import BUNDLED, KINDS, NetworkCard, NetworkFiles, find_network, read_card
from downfield.models.close_look import BallRefiner
from downfield.models.detector import Detector
from downfield.models.first_look import FrameDetector
from downfield.models.patches import PATCH_PX
from downfield.models.runtime import Backend, Network, Precision, choose_backend, open_network
from downfield.models.second_look import BATCHES, TwoStageDetector

_OF_TORCH = (".pt", ".torchscript", ".engine")
_PATCH = (PATCH_PX, PATCH_PX)


def open_detector(
    name_or_path: str | Path = BUNDLED,
    *,
    threads: int = 1,
    follow_threads: int | None = None,
    backend: str = "auto",
    precision: Precision | None = None,
    refine: bool = True,
    min_score: float | None = None,
    augmented: bool = False,
) -> Detector:
    """Open a detector. Each serves one thread at a time; for two threads open two.

    Args:
        name_or_path: a bundled network, a folder with a `network.json`, or an ultralytics model (``.pt``), which needs
            the extra `train`.
        threads: that one picture may use.
        follow_threads: that a second look at its figures may use; None for as many.
        backend: ``"openvino"``, ``"onnxruntime"``, or ``"auto"`` for the faster one installed.
        precision: int8 where the network has it, else fp32, unless asked for.
        refine: look at each figure again, and for the ball by itself, where the network can.
        min_score: of what the first look reports, in place of the network's own thresholds.
        augmented: run single pictures mirrored as well (test-time augmentation), which is more exact and takes twice
            as long. It has no effect on films.

    Raises:
        InputError: there is no such network or runtime, or a file of it is missing or broken.
        FormatError: its card breaks the format.
        MissingExtraError: what is asked for needs ultralytics.

    """
    if Path(name_or_path).suffix in _OF_TORCH:
        from downfield.models.ultralytics_detector import UltralyticsDetector

        return UltralyticsDetector(Path(name_or_path), threads=threads)
    folder = _Folder(find_network(name_or_path), choose_backend(backend), threads, precision)
    card = read_card(folder.path)
    first = FrameDetector(
        folder.open(card.first_look, card.input_px),
        name=f"{card.name} ({folder.file(card.first_look)[1]})",
        input_px=card.input_px,
        thresholds=card.thresholds if min_score is None else (min_score,) * len(card.thresholds),
        sigma_scale=card.first_look.sigma_scale,
    )
    if card.second_look is None or not refine:
        return first
    following = folder if follow_threads is None else dataclasses.replace(folder, threads=follow_threads)
    look = partial(
        TwoStageDetector,
        first,
        threshold=card.figure_threshold,
        ball_threshold=card.ball_threshold,
        turn_logit=card.turn_logit,
        fallen_logit=card.fallen_logit,
        sigma_scale=card.second_look.sigma_scale,
        augmented=augmented,
    )
    return look(
        following.open(card.second_look, _PATCH, BATCHES),
        None if card.close_look is None else _close_look(folder, card.close_look),
        None if card.ball_look is None else _ball_look(folder, card, card.ball_look),
        beside=look(folder.open(card.second_look, _PATCH, BATCHES)),
    )


@dataclass(frozen=True, slots=True)
class _Folder:
    """A network's folder, and how its files are to be opened."""

    path: Path
    runtime: Backend
    threads: int
    precision: Precision | None

    def open(self, look: NetworkFiles, size_px: tuple[int, int], batches: Sequence[int] = (1,)) -> Network:
        """One of its networks, ready to run."""
        path, chosen = self.file(look)
        return open_network(
            path, self.runtime, size_px=size_px, threads=self.threads, precision=chosen, batches=batches
        )

    def file(self, look: NetworkFiles) -> tuple[Path, Precision]:
        """Which file of a look to open, and in which precision."""
        if self.precision == "int8" and look.int8 is None:
            raise InputError(f"{self.path}: this network has no int8 file ({look.fp32} is fp32)")
        if look.int8 is not None and self.precision in (None, "int8"):
            return self.path / look.int8, "int8"
        return self.path / look.fp32, self.precision or "fp32"


def _close_look(folder: _Folder, look: NetworkFiles) -> BallRefiner:
    return BallRefiner(folder.open(look, _PATCH, close_look.BATCHES), folder.open(look, _PATCH))


def _ball_look(folder: _Folder, card: NetworkCard, look: NetworkFiles) -> BallDetector:
    threshold = card.thresholds[KINDS.index("ball")]
    return BallDetector(folder.open(look, card.ball_px), threshold=threshold, odds=card.ball_odds)
