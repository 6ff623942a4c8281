"""Opens an exported refiner for further training, and writes the network that has the one so taught."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import onnx
import torch
from onnx import numpy_helper
from torch import nn

from downfield.core.errors import InputError
from downfield.models.card import NetworkCard, NetworkFiles, write_card
from downfield.models.refiner import PATCH_PX
from downfield.training.export import Pictures, RawLook, export_onnx, quantize_second_look
from downfield.training.second_look import HIDDEN, SecondLook, without_norms

SECOND_LOOK: Final = "second-look.onnx"
SECOND_LOOK_INT8: Final = "second-look.int8.onnx"


def open_second_look(path: Path) -> SecondLook:
    """Open an exported refiner for further training; its norms stay folded into its convolutions.

    Raises:
        InputError: it is another network.

    """
    graph = onnx.load(str(path)).graph
    values = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    layers = [(values[node.input[1]], values[node.input[2]]) for node in graph.node if node.op_type in ("Conv", "Gemm")]
    # How wide its first full layer is follows from the last one, which takes what that gives.
    network = without_norms(SecondLook(hidden=layers[-1][0].shape[1] if layers else HIDDEN))
    places = [one for one in network.modules() if isinstance(one, nn.Conv2d | nn.Linear)]
    if [tuple(weight.shape) for weight, _ in layers] != [tuple(place.weight.shape) for place in places]:
        raise InputError(f"{path}: not a figure refiner that can be trained further")
    with torch.no_grad():
        for place, (weight, bias) in zip(places, layers, strict=True):
            place.weight.copy_(torch.from_numpy(weight.copy()))
            assert place.bias is not None
            place.bias.copy_(torch.from_numpy(bias.copy()))
        # Exported it takes a camera's blue green red, 0..255; in training red green blue, 0..1.
        places[0].weight.copy_(places[0].weight.flip(1) * 255)
    return network


def write_refined(
    network: Path,
    card: NetworkCard,
    refiner: SecondLook,
    out: Path,
    patches: Sequence[Pictures],
) -> None:
    """Write a network with another refiner; the one that it begins from is not changed.

    Args:
        network: folder of the network to begin from.
        card: its card, with a refiner and with whatever else is new of it.
        refiner: the new one.
        out: folder of the new network.
        patches: that int8 is calibrated on, uint8 (1, 64, 64, 3) each.

    """
    write_card(out, export_second_look(refiner, copy_network(network, card, out), out, patches))


def copy_network(network: Path, card: NetworkCard, out: Path) -> NetworkCard:
    """Copy a network's files, also those of another's folder, and return the card that names the copies."""
    out.mkdir(parents=True, exist_ok=True)
    first = _copied(network, card.first_look, out)
    second, opinion, hand, ball, close = (
        None if part is None else _copied(network, part, out)
        for part in (card.second_look, card.second_opinion, card.hand_look, card.ball_look, card.close_look)
    )
    card = dataclasses.replace(card, first_look=first, second_look=second, second_opinion=opinion, hand_look=hand)
    return dataclasses.replace(card, ball_look=ball, close_look=close)


def export_second_look(refiner: SecondLook, card: NetworkCard, out: Path, patches: Sequence[Pictures]) -> NetworkCard:
    """Write a figure refiner, full and int8, into the folder of a network that has one; return the card with it."""
    assert card.second_look is not None
    shape, names = (1, PATCH_PX, PATCH_PX, 3), ("patches", "said")
    export_onnx(RawLook(refiner), shape, out / SECOND_LOOK, names=names, any_batch=True)
    quantize_second_look(out / SECOND_LOOK, out / SECOND_LOOK_INT8, patches)
    refined = dataclasses.replace(card.second_look, fp32=SECOND_LOOK, int8=SECOND_LOOK_INT8)
    return dataclasses.replace(card, second_look=refined)


def _copied(network: Path, files: NetworkFiles, out: Path) -> NetworkFiles:
    """Copy the files of a stage into a folder, and return what they are called there."""
    for file in (files.fp32, files.int8):
        if file is not None:
            shutil.copyfile(network / file, out / Path(file).name)
    int8 = None if files.int8 is None else Path(files.int8).name
    return dataclasses.replace(files, fp32=Path(files.fp32).name, int8=int8)
