"""Checkpoints: files of weights and numbers from which training continues, or a network is exported.

They are read without running code that a file may hold (`weights_only`), and written whole or not at all.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import torch
from torch import Tensor, nn

from downfield.core.errors import InputError

DETECTOR_NAME: Final = "detector"
REFINER_NAME: Final = "refiner"  # names of the checkpoints of the two networks, without suffix

_GROWN: Final = (".first.", ".second.")  # parameters of residual blocks, which start as the identity

Trained = TypeVar("Trained", bound=nn.Module)


def load_file(path: Path) -> dict[str, Any]:
    """Read a checkpoint of tensors and plain values, `average` among them. Raises InputError: it is none."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        kept: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        has_average = isinstance(kept["average"], dict)
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        reason = next(iter(str(error).splitlines()), "")
        raise InputError(f"{path}: not a checkpoint of Downfield's training: {reason}") from None
    if not has_average:
        raise InputError(f"{path}: not a checkpoint of Downfield's training: it holds no weights")
    return kept


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint of a timed run.

    Returns:
        `average` and `steps`, and where training was interrupted `model` and `optimizer`.

    Raises:
        InputError: there is no such file, or it is no such checkpoint.
    """
    kept = load_file(path)
    if not isinstance(kept.get("steps"), int):
        raise InputError(f"{path}: not a checkpoint of the detector or the refiner: it counts no steps")
    return kept


def write_checkpoint(path: Path, contents: Mapping[str, Any]) -> None:
    """Write a checkpoint of a timed run atomically, its numbers in half precision.

    Args:
        contents: see `read_checkpoint`; moments of an optimizer keep their range in bfloat16.
    """
    kinds, part = {"optimizer": torch.bfloat16}, path.with_suffix(".part")
    torch.save({name: halved(value, kinds.get(name, torch.float16)) for name, value in contents.items()}, part)
    part.replace(path)


def slim_checkpoint(path: Path, out: Path) -> None:
    """Write the quarter of a checkpoint that is enough to continue or to export. Raises InputError: it is none."""
    kept = read_checkpoint(path)
    write_checkpoint(out, {"average": kept["average"], "steps": kept["steps"]})


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


def load_weights(network: nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Load weights, possibly in half precision or of a network with fewer residual blocks.

    Blocks that the weights lack stay the identity, so the network's output is that of the smaller one.

    Raises:
        InputError: the weights belong to another network; names the path that they are from.
    """
    another = f"{path}: The weights belong to another network"
    whole = {name: each.float() if each.is_floating_point() else each for name, each in weights.items()}
    try:
        missing, unknown = network.load_state_dict(whole, strict=False)
    except RuntimeError as error:
        raise InputError(f"{another}: {str(error).splitlines()[-1].strip()}") from None
    wrong = [*unknown, *(name for name in missing if not any(part in name for part in _GROWN))]
    if wrong:
        raise InputError(f"{another}: {', '.join(wrong[:3])}")


def open_average(network: Trained, path: Path) -> Trained:
    """Return a network in evaluation mode with the moving average of a checkpoint.

    Args:
        network: an untrained one; it is changed.

    Raises:
        InputError: the file is no checkpoint of such a network.
    """
    load_weights(network, load_file(path)["average"], path)
    network.eval()
    return network
