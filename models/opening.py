"""Open a detector by the name or the path of its network."""

from __future__ import annotations

from pathlib import Path

from downfield.calibration.errors import InputError
from downfield.models import close_look
from downfield.models.ball_look import BallLook
from downfield.models.card import BUNDLED, KINDS, LookFiles, NetworkCard, find_network, read_card
from downfield.models.close_look import CloseLook
from downfield.models.detector import Detector
from downfield.models.first_look import FirstLook
from downfield.models.network import Backend, Precision, choose_backend, open_network
from downfield.models.patch import PATCH_PX
from downfield.models.second_look import BATCHES, SecondLook

_OF_TORCH = (".pt", ".torchscript", ".engine")
_PATCH = (PATCH_PX, PATCH_PX)


def open_detector(
    name_or_path: str | Path = BUNDLED,
    *,
    threads: int = 1,
    backend: str = "auto",
    precision: Precision | None = None,
    second_look: bool = True,
    least_score: float | None = None,
) -> Detector:
    """Open a detector. Each serves one thread at a time; for two threads open two.

    Args:
        name_or_path: a bundled network, a folder with a `network.json`, or an ultralytics model (``.pt``), which needs
            the extra `train`.
        threads: that one picture may use.
        backend: ``"openvino"``, ``"onnxruntime"``, or ``"auto"`` for the faster one installed.
        precision: int8 where the network has it, else fp32, unless asked for.
        second_look: look at each figure again, and for the ball by itself, where the network can.
        least_score: of what the first look reports, in place of the network's own thresholds.

    Raises:
        InputError: there is no such network or runtime, or a file of it is missing or broken.
        FormatError: its card breaks the format.
        MissingExtraError: what is asked for needs ultralytics.

    """
    if Path(name_or_path).suffix in _OF_TORCH:
        from downfield.models.ultralytics_detector import UltralyticsDetector

        return UltralyticsDetector(Path(name_or_path), threads=threads)
    runtime = choose_backend(backend)
    folder = find_network(name_or_path)
    card = read_card(folder)
    path, chosen = _file(folder, card.first_look, precision)
    first = FirstLook(
        open_network(path, runtime, size_px=card.input_px, threads=threads, precision=chosen),
        name=f"{card.name} ({chosen})",
        input_px=card.input_px,
        thresholds=card.thresholds if least_score is None else (least_score,) * len(card.thresholds),
        sigma_scale=card.first_look.sigma_scale,
    )
    if card.second_look is None or not second_look:
        return first
    path, chosen = _file(folder, card.second_look, precision)
    return SecondLook(
        first,
        open_network(path, runtime, size_px=_PATCH, threads=threads, precision=chosen, batches=BATCHES),
        _close_look(folder, card, runtime, threads, precision),
        _ball_look(folder, card, runtime, threads, precision),
        threshold=card.figure_threshold,
        ball_threshold=card.ball_threshold,
        turn_logit=card.turn_logit,
        fallen_logit=card.fallen_logit,
        sigma_scale=card.second_look.sigma_scale,
    )


def _close_look(
    folder: Path, card: NetworkCard, runtime: Backend, threads: int, precision: Precision | None
) -> CloseLook | None:
    if card.close_look is None:
        return None
    path, chosen = _file(folder, card.close_look, precision)
    searching, following = (
        open_network(path, runtime, size_px=_PATCH, threads=threads, precision=chosen, batches=batches)
        for batches in (close_look.BATCHES, (1,))
    )
    return CloseLook(searching, following)


def _ball_look(
    folder: Path, card: NetworkCard, runtime: Backend, threads: int, precision: Precision | None
) -> BallLook | None:
    if card.ball_look is None:
        return None
    path, chosen = _file(folder, card.ball_look, precision)
    network = open_network(path, runtime, size_px=card.ball_px, threads=threads, precision=chosen)
    return BallLook(network, threshold=card.thresholds[KINDS.index("ball")], odds=card.ball_odds)


def _file(folder: Path, look: LookFiles, precision: Precision | None) -> tuple[Path, Precision]:
    """Which file of a look to open, and in which precision."""
    if precision == "int8" and look.int8 is None:
        raise InputError(f"{folder}: this network has no int8 file ({look.fp32} is fp32)")
    if look.int8 is not None and precision in (None, "int8"):
        return folder / look.int8, "int8"
    return folder / look.fp32, precision or "fp32"
