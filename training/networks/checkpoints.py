"""Checkpoints of the two networks: a few megabytes in half precision, enough to continue training or to export."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from downfield.core.errors import InputError
from downfield.training.networks.detector import DetectorNetwork
from downfield.training.networks.refiner import RefinerNetwork

_GROWN = (".first.", ".second.")  # parameters of residual blocks, which start as the identity


def load_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Load weights, possibly in half precision or of a network with fewer residual blocks.

    Blocks that the weights lack stay the identity, so the network's output is that of the smaller one.

    Raises:
        InputError: the weights belong to another network.

    """
    whole = {name: each.float() if each.is_floating_point() else each for name, each in weights.items()}
    try:
        missing, unknown = network.load_state_dict(whole, strict=False)
    except RuntimeError as error:
        raise InputError(f"The weights belong to another network: {str(error).splitlines()[-1].strip()}") from None
    wrong = [*unknown, *(name for name in missing if not any(part in name for part in _GROWN))]
    if wrong:
        raise InputError(f"The weights belong to another network: {', '.join(wrong[:3])}")


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint.

    Returns:
        `average` and `steps`, and where training was interrupted `model` and `optimizer`.

    Raises:
        InputError: there is no such file, or it is no checkpoint.

    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        kept: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        complete = isinstance(kept["average"], dict) and isinstance(kept["steps"], int)
    except (OSError, KeyError, TypeError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise InputError(f"{path}: not a checkpoint of the detector or the refiner: {error}") from None
    if not complete:
        raise InputError(f"{path}: not a checkpoint of the detector or the refiner")
    return kept


def write_checkpoint(path: Path, contents: Mapping[str, Any]) -> None:
    """Write a checkpoint atomically, its numbers in half precision.

    Args:
        path: the file.
        contents: see `read_checkpoint`; moments of an optimizer keep their range in bfloat16.

    """
    kinds = {"optimizer": torch.bfloat16}
    kept = {name: halved(value, kinds.get(name, torch.float16)) for name, value in contents.items()}
    part = path.with_suffix(".part")
    torch.save(kept, part)
    part.replace(path)


def halved(value: Any, kind: torch.dtype) -> Any:
    """Return nested tensors on the processor, those of several floating-point numbers in half precision."""
    if isinstance(value, Mapping):
        return {name: halved(each, kind) for name, each in value.items()}
    if isinstance(value, list):
        return [halved(each, kind) for each in value]
    if isinstance(value, Tensor):
        is_long = value.is_floating_point() and value.numel() > 1
        return value.detach().to("cpu", kind) if is_long else value.detach().cpu()
    return value


def open_detector_network(path: Path) -> DetectorNetwork:
    """Return a trained detector in evaluation mode, its moving average.

    Raises:
        InputError: the file is no checkpoint of a detector.

    """
    network = DetectorNetwork()
    _load_average(network, path)
    return network


def open_refiner_network(path: Path) -> RefinerNetwork:
    """Return a trained refiner in evaluation mode, its moving average.

    Raises:
        InputError: the file is no checkpoint of a refiner.

    """
    network = RefinerNetwork()
    _load_average(network, path)
    return network


def _load_average(network: nn.Module, path: Path) -> None:
    try:
        load_weights(network, read_checkpoint(path)["average"])
    except InputError as error:
        raise InputError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from None
    network.eval()
