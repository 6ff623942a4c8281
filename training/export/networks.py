"""Writes networks' folders from checkpoints: ONNX files, full and int8, and the card, with thresholds still untuned."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from downfield.core.errors import InputError
from downfield.models.card import BUNDLED, NetworkCard, NetworkFiles, read_card, write_card
from downfield.models.refiner import PATCH_PX
from downfield.training.data.ball_pictures import BallPatches
from downfield.training.data.patch_files import read_blocks
from downfield.training.data.patches import PatchStream
from downfield.training.export.onnx import (
    CALIBRATION_PATCHES,
    DetectorGraph,
    PictureGraph,
    Pictures,
    RefinerGraph,
    YoloGraph,
    after_last_convolutions,
    calibration_frames,
    calibration_patches,
    export_onnx,
    quantize,
)
from downfield.training.networks.ball import BallDetectorNetwork, BallRefinerNetwork
from downfield.training.networks.checkpoints import (
    DETECTOR_NAME,
    FIGURE_REFINER_NAME,
    REFINER_NAME,
    load_weights,
    open_average,
    read_checkpoint,
)
from downfield.training.networks.detector import DetectorNetwork
from downfield.training.networks.refiner import HIDDEN, FigureRefiner, RefinerNetwork, without_norms
from downfield.training.networks.yolo_detector import new_yolo_detector

_PATCH_SHAPE: Final = (1, PATCH_PX, PATCH_PX, 3)
_PATCH_SEED: Final = 3
_FIGURE_REFINER_FILES: Final = NetworkFiles("second-look.onnx", "second-look.int8.onnx")

Report = Callable[[str], None]


def export_network(
    detector: Path,
    refiner: Path | None,
    ball_detector: Path | None,
    ball_refiner: Path | None,
    out: Path,
    sets: Sequence[Path],
    *,
    name: str,
    progress: Report = lambda _line: None,
) -> None:
    """Write a network's folder from checkpoints of the bundled network's kind.

    Args:
        refiner: checkpoint of the figure refiner; None for a network without one.
        ball_detector: checkpoint of the ball detector; None for a network without one.
        ball_refiner: checkpoint of the ball refiner, which shares the refiner's patches; None likewise.
        sets: data sets whose training pictures int8 is calibrated on.

    Raises:
        InputError: a checkpoint is none, or a set has no training pictures.
    """
    card = NetworkCard(name, NetworkFiles("first-look.onnx", "first-look.int8.onnx"))
    out.mkdir(parents=True, exist_ok=True)
    sources = [(folder, 1.0) for folder in sets]
    progress("figure detector")
    graph = YoloGraph(open_average(new_yolo_detector(), detector))
    _export_frame_network(graph, out, card.first_look, card.input_px, ("frame", "head"))
    _quantize(out, card.first_look, calibration_frames(sets, card.input_px))
    if refiner is not None:
        progress("figure refiner")
        card = dataclasses.replace(card, second_look=_FIGURE_REFINER_FILES)
        patches = calibration_patches(PatchStream(sources, "train", seed=_PATCH_SEED, plain=True))
        card = export_figure_refiner(open_average(FigureRefiner(), refiner), card, out, patches)
    if ball_detector is not None:
        progress("ball detector")
        files = NetworkFiles("ball-look.onnx", "ball-look.int8.onnx")
        card = dataclasses.replace(card, ball_look=files)
        graph = PictureGraph(open_average(BallDetectorNetwork(), ball_detector))
        _export_frame_network(graph, out, files, card.ball_px, ("frame", "cells"))
        _quantize(out, files, calibration_frames(sets, card.ball_px))
    if ball_refiner is not None:
        progress("ball refiner")
        files = NetworkFiles("close-look.onnx", "close-look.int8.onnx")
        card = dataclasses.replace(card, close_look=files)
        graph = PictureGraph(open_average(BallRefinerNetwork(), ball_refiner))
        export_onnx(graph, _PATCH_SHAPE, out / files.fp32, names=("patches", "said"), any_batch=True)
        _quantize(out, files, calibration_patches(BallPatches(sources, "train", seed=_PATCH_SEED)))
    write_card(out, card)


def export_pair(
    detector: Path, refiner: Path, out: Path, sets: Sequence[Path], *, name: str, progress: Report = lambda _line: None
) -> None:
    """Write the folder of a network of two: a detector, and a refiner that sees the ball.

    Args:
        sets: data sets whose training pictures int8 is calibrated on.

    Raises:
        InputError: a checkpoint is none, or a set has no training pictures.
    """
    networks = open_average(DetectorNetwork(), detector), open_average(RefinerNetwork(), refiner)
    files = NetworkFiles("detector.onnx", "detector.int8.onnx"), NetworkFiles("refiner.onnx", "refiner.int8.onnx")
    card = NetworkCard(name, *files, refiner_sees_ball=True)
    out.mkdir(parents=True, exist_ok=True)
    progress("detector")
    export_detector(networks[0], out, files[0], card.input_px, calibration_frames(sets, card.input_px))
    progress("refiner")
    stream = PatchStream([(folder, 1.0) for folder in sets], "train", seed=_PATCH_SEED, plain=True)
    export_refiner(networks[1], out, files[1], calibration_patches(stream))
    write_card(out, card)


def export_detector(
    network: DetectorNetwork, out: Path, files: NetworkFiles, input_px: tuple[int, int], frames: Sequence[Pictures]
) -> None:
    """Write a detector into a network's folder, full and int8, calibrated on fitted frames; it is changed."""
    _export_frame_network(DetectorGraph(network), out, files, input_px, ("frame", "head"))
    _quantize_but_outputs(out, files, frames, correct_biases=True)


def export_refiner(network: RefinerNetwork, out: Path, files: NetworkFiles, patches: Sequence[Pictures]) -> None:
    """Write a refiner into a network's folder, full and int8, calibrated on patches; it is changed."""
    names = ("patches", "outputs")
    export_onnx(RefinerGraph(network), _PATCH_SHAPE, out / files.fp32, names=names, any_batch=True)
    # In patches without a figure its places are arbitrary, which would spoil the mean that corrects biases.
    _quantize_but_outputs(out, files, patches, correct_biases=False)


def export_figure_refiner(
    refiner: FigureRefiner, card: NetworkCard, out: Path, patches: Sequence[Pictures]
) -> NetworkCard:
    """Write a figure refiner, full and int8, into the folder of a network that has one; return the card with it."""
    assert card.second_look is not None
    files = dataclasses.replace(card.second_look, fp32=_FIGURE_REFINER_FILES.fp32, int8=_FIGURE_REFINER_FILES.int8)
    export_onnx(PictureGraph(refiner), _PATCH_SHAPE, out / files.fp32, names=("patches", "said"), any_batch=True)
    # Its full layers cost next to nothing, and give places to a hundredth of a patch. Biases as in `export_refiner`.
    _quantize(out, files, patches, exact=("Gemm",), correct_biases=False)
    return dataclasses.replace(card, second_look=files)


def _export_frame_network(
    graph: nn.Module, out: Path, files: NetworkFiles, input_px: tuple[int, int], names: tuple[str, ...]
) -> None:
    width, height = input_px
    export_onnx(graph, (1, height, width, 3), out / files.fp32, names=names, any_batch=False)


def _quantize(
    out: Path,
    files: NetworkFiles,
    pictures: Sequence[Pictures],
    *,
    exact: Sequence[str] = (),
    exact_nodes: Sequence[str] = (),
    correct_biases: bool = True,
) -> None:
    assert files.int8 is not None
    options = {"exact": exact, "exact_nodes": exact_nodes}
    quantize(out / files.fp32, out / files.int8, pictures, correct_biases=correct_biases, **options)


def _quantize_but_outputs(
    out: Path, files: NetworkFiles, pictures: Sequence[Pictures], *, correct_biases: bool
) -> None:
    """Write the int8 file; the last layers give places to a fraction of a pixel and stay in full precision."""
    nodes = after_last_convolutions(onnx.load(str(out / files.fp32)))
    _quantize(out, files, pictures, exact_nodes=nodes, correct_biases=correct_biases)


def open_figure_refiner(path: Path) -> FigureRefiner:
    """Open an exported refiner for further training; its normalizations stay folded into its convolutions.

    Raises:
        InputError: it is another network.
    """
    graph = onnx.load(str(path)).graph
    values = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    layers = [(values[node.input[1]], values[node.input[2]]) for node in graph.node if node.op_type in ("Conv", "Gemm")]
    # The width of its first full layer is what the last one takes.
    network = without_norms(FigureRefiner(hidden=layers[-1][0].shape[1] if layers else HIDDEN))
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


def figure_refiner_of(network: Path) -> FigureRefiner:
    """Open the figure refiner of a network's folder for further training.

    Raises:
        InputError: the network has none that can be trained by itself.
    """
    card = read_card(network)
    if card.second_look is None:
        raise InputError(f"{network}: this network has no figure refiner to train")
    if card.refiner_sees_ball:
        raise InputError(f"{network}: a refiner that also sees the ball can't be trained by itself. Use '{BUNDLED}'.")
    return open_figure_refiner(network / card.second_look.fp32)


def write_refined(
    network: Path, card: NetworkCard, refiner: FigureRefiner, out: Path, patches: Sequence[Pictures]
) -> None:
    """Write a network with another figure refiner; the one that it begins from is not changed.

    Args:
        card: its card, with whatever else is new.
        patches: pictures that int8 is calibrated on, uint8 (1, 64, 64, 3) each.
    """
    write_card(out, export_figure_refiner(refiner, copy_network(network, card, out), out, patches))


def write_retrained(
    network: Path,
    runs: Path,
    out: Path,
    *,
    name: str,
    patches: Sequence[Pictures],
    sets: Sequence[Path] = (),
    parts: Collection[str] = (FIGURE_REFINER_NAME, REFINER_NAME, DETECTOR_NAME),
) -> NetworkCard:
    """Write a network with the refiners, and the hand detector, of which a folder holds checkpoints.

    Args:
        network: folder of the network to begin from; it is not changed.
        runs: folder of `first-refiner.pt`, `refiner.pt` and `detector.pt`, any of them.
        out: folder of the new network. Thresholds and weights are those of the old one.
        patches: pictures that the refiners' int8 is calibrated on.
        sets: data sets whose training pictures calibrate the detector's int8; without any it is not replaced.
        parts: names of the checkpoints to use.

    Returns:
        The new network's card.

    Raises:
        InputError: a checkpoint is none, or the network lacks a part that was trained.
    """
    card = dataclasses.replace(read_card(network), name=name)
    paths = {part: runs / f"{part}.pt" for part in (FIGURE_REFINER_NAME, REFINER_NAME, DETECTOR_NAME)}
    trained = {part for part in parts if paths[part].exists() and (part != DETECTOR_NAME or sets)}
    places = {FIGURE_REFINER_NAME: card.second_look, REFINER_NAME: card.second_opinion, DETECTOR_NAME: card.hand_look}
    for part in trained:
        if places[part] is None:
            raise InputError(f"{network}: this network has no part that {paths[part]} could replace")
    card = copy_network(network, card, out)
    if FIGURE_REFINER_NAME in trained and card.second_look is not None:
        refiner = open_figure_refiner(out / card.second_look.fp32)
        load_weights(refiner, read_checkpoint(paths[FIGURE_REFINER_NAME])["average"])
        card = export_figure_refiner(refiner, card, out, patches)
    if REFINER_NAME in trained and card.second_opinion is not None:
        export_refiner(open_average(RefinerNetwork(), paths[REFINER_NAME]), out, card.second_opinion, patches)
    if DETECTOR_NAME in trained and card.hand_look is not None:
        frames = calibration_frames(sets, card.input_px)
        detector = open_average(DetectorNetwork(), paths[DETECTOR_NAME])
        export_detector(detector, out, card.hand_look, card.input_px, frames)
    write_card(out, card)
    return card


def calibration_blocks(folders: Sequence[Path], seed: int) -> list[Pictures]:
    """Return patches on which int8 is calibrated, of several files of each folder.

    Raises:
        InputError: a folder holds no patches.
    """
    samples, rng, out = read_blocks(folders, seed), np.random.default_rng(seed), list[Pictures]()
    while len(out) < CALIBRATION_PATCHES:
        images = next(samples).image.numpy()
        rows = rng.choice(len(images), min(len(images), CALIBRATION_PATCHES // 8), replace=False)
        out += [np.ascontiguousarray(images[row][None]) for row in rows]
    return out[:CALIBRATION_PATCHES]


def copy_network(network: Path, card: NetworkCard, out: Path) -> NetworkCard:
    """Copy a network's files, also those in another's folder, and return the card that names the copies."""
    out.mkdir(parents=True, exist_ok=True)
    first = _copied(network, card.first_look, out)
    second, other, hand, ball, close = (
        None if part is None else _copied(network, part, out)
        for part in (card.second_look, card.second_opinion, card.hand_look, card.ball_look, card.close_look)
    )
    card = dataclasses.replace(card, first_look=first, second_look=second, second_opinion=other, hand_look=hand)
    return dataclasses.replace(card, ball_look=ball, close_look=close)


def _copied(network: Path, files: NetworkFiles, out: Path) -> NetworkFiles:
    """Copy the files of a stage into a folder, and return their names there."""
    for file in (files.fp32, files.int8):
        if file is not None:
            shutil.copyfile(network / file, out / Path(file).name)
    int8 = None if files.int8 is None else Path(files.int8).name
    return dataclasses.replace(files, fp32=Path(files.fp32).name, int8=int8)
