"""Writes networks' folders from checkpoints: ONNX files, full and int8, and the card, with thresholds still untuned."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import onnx
import torch
from onnx import numpy_helper
from torch import nn

from downfield.core.errors import InputError
from downfield.models.card import BUNDLED, NetworkCard, NetworkFiles, read_card, write_card
from downfield.models.refiner import PATCH_PX
from downfield.training.export.onnx import (
    Pictures,
    RefinerGraph,
    YoloGraph,
    after_last_convolutions,
    calibration_frames,
    calibration_patches,
    export_onnx,
    quantize,
)
from downfield.training.networks.blocks import fused
from downfield.training.networks.checkpoints import DETECTOR_NAME, REFINER_NAME, open_average
from downfield.training.networks.refiner import RefinerNetwork
from downfield.training.networks.yolo_detector import new_yolo_detector

_PATCH_SHAPE: Final = (1, PATCH_PX, PATCH_PX, 3)

Report = Callable[[str], None]


def export_networks(
    best: Path, samples: tuple[Path, Path], out: Path, *, name: str, progress: Report = lambda _line: None
) -> None:
    """Write the folder of a network: a detector, and a refiner that sees the ball. Thresholds are untuned.

    Args:
        best: folder of `detector.pt` and `refiner.pt`.
        samples: folders of the crops and of the patches that int8 is calibrated on.

    Raises:
        InputError: a checkpoint is none, or a folder holds no samples.
    """
    detector = open_average(new_yolo_detector(), best / f"{DETECTOR_NAME}.pt")
    refiner = open_average(RefinerNetwork(), best / f"{REFINER_NAME}.pt")
    files = NetworkFiles("detector.onnx", "detector.int8.onnx"), NetworkFiles("refiner.onnx", "refiner.int8.onnx")
    card = NetworkCard(name, *files, refiner_sees_ball=True)
    frames, patches = calibration_frames(samples[0], card.input_px), calibration_patches(samples[1])
    out.mkdir(parents=True, exist_ok=True)
    progress("detector")
    width, height = card.input_px
    export_onnx(
        YoloGraph(detector), (1, height, width, 3), out / files[0].fp32, names=("frame", "head"), any_batch=False
    )
    quantize(out, files[0], frames)
    progress("refiner")
    _write_refiner(refiner, out, files[1], patches)
    write_card(out, card)


def open_refiner(path: Path) -> RefinerNetwork:
    """Open an exported refiner for further training, its normalizations folded. Raises InputError: another network."""
    graph = onnx.load(str(path)).graph
    values = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    layers = [(values[node.input[1]], values[node.input[2]]) for node in graph.node if node.op_type in ("Conv", "Gemm")]
    network = RefinerNetwork()
    fused(network)
    places = [one for one in network.modules() if isinstance(one, nn.Conv2d | nn.Linear)]
    if [tuple(weight.shape) for weight, _ in layers] != [tuple(place.weight.shape) for place in places]:
        raise InputError(f"{path}: not a refiner that can be trained further")
    with torch.no_grad():
        for place, (weight, bias) in zip(places, layers, strict=True):
            place.weight.copy_(torch.from_numpy(weight.copy()))
            assert place.bias is not None
            place.bias.copy_(torch.from_numpy(bias.copy()))
        # Exported it takes a camera's blue green red, 0..255; in training red green blue, 0..1.
        places[0].weight.copy_(places[0].weight.flip(1) * 255)
    return network


def refiner_of(network: Path) -> RefinerNetwork:
    """Open the refiner of a network's folder to train it further. Raises InputError: there is none that can be."""
    card = read_card(network)
    if card.refiner is None or not card.refiner_sees_ball:
        raise InputError(f"{network}: this network has no refiner of Downfield's own to train. Use '{BUNDLED}'.")
    return open_refiner(network / card.refiner.fp32)


def write_refined(
    network: Path, card: NetworkCard, refiner: RefinerNetwork, out: Path, patches: Sequence[Pictures]
) -> None:
    """Write a network with another refiner; the one that it begins from is not changed.

    Args:
        card: its card, with whatever else is new.
        patches: pictures that int8 is calibrated on, uint8 (1, 64, 64, 3) each.
    """
    assert card.refiner is not None
    out.mkdir(parents=True, exist_ok=True)
    files = replace(card.refiner, fp32="refiner.onnx", int8="refiner.int8.onnx")
    _write_refiner(refiner, out, files, patches)
    write_card(out, replace(card, detector=_copied(network, card.detector, out), refiner=files))


def _write_refiner(refiner: RefinerNetwork, out: Path, files: NetworkFiles, patches: Sequence[Pictures]) -> None:
    names = ("patches", "outputs")
    export_onnx(RefinerGraph(refiner), _PATCH_SHAPE, out / files.fp32, names=names, any_batch=True)
    # The last layers give places to a fraction of a pixel. In patches without a figure its places are arbitrary, which
    # would spoil the mean that corrects biases.
    exact = after_last_convolutions(onnx.load(str(out / files.fp32)))
    quantize(out, files, patches, exact_nodes=exact, correct_biases=False)


def _copied(network: Path, files: NetworkFiles, out: Path) -> NetworkFiles:
    for file in (files.fp32, files.int8):
        if file is not None:
            shutil.copyfile(network / file, out / Path(file).name)
    int8 = None if files.int8 is None else Path(files.int8).name
    return replace(files, fp32=Path(files.fp32).name, int8=int8)
