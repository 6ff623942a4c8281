"""Exports the two networks as ONNX, full and int8, with their card.

The graphs take a picture as a camera gives it, uint8 blue green red, and give what `downfield.models` decodes: the
detector its joined head, the refiner a figure's numbers followed by the ball's cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from downfield.models.card import NetworkCard, NetworkFiles, write_card
from downfield.models.refiner import PATCH_PX
from downfield.training.export import (
    Pictures,
    calibration_frames,
    calibration_patches,
    export_onnx,
    quantize,
    take_camera_pictures,
)
from downfield.training.networks.blocks import fused
from downfield.training.networks.checkpoints import open_detector_network, open_refiner_network
from downfield.training.networks.detector import DetectorNetwork, join_branches
from downfield.training.networks.refiner import RefinerNetwork
from downfield.training.patches import PatchStream

DETECTOR_FILES = NetworkFiles("detector.onnx", "detector.int8.onnx")
REFINER_FILES = NetworkFiles("refiner.onnx", "refiner.int8.onnx")
_PATCH_SEED = 3


class DetectorGraph(nn.Module):
    """The detector from camera pictures to its joined head.

    Args:
        network: the trained network; its convolutions are changed.

    """

    def __init__(self, network: DetectorNetwork) -> None:
        super().__init__()
        self.network = _taking_bytes(network)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the head, (n, channels, cells), for pictures, uint8 (n, height, width, 3)."""
        return join_branches(*self.network(pictures.permute(0, 3, 1, 2).float()))


class RefinerGraph(nn.Module):
    """The refiner from patches to all its numbers.

    Args:
        network: the trained network; its convolutions are changed.

    """

    def __init__(self, network: RefinerNetwork) -> None:
        super().__init__()
        self.network = _taking_bytes(network)

    def forward(self, patches: Tensor) -> Tensor:
        """Return figures' numbers and the ball's cells, (n, 23 + 256), for patches, uint8 (n, 64, 64, 3)."""
        return torch.cat(self.network(patches.permute(0, 3, 1, 2).float()), dim=1)


def _taking_bytes(network: nn.Module) -> nn.Module:
    fused(network)
    take_camera_pictures(next(part for part in network.modules() if isinstance(part, nn.Conv2d)))
    return network


def export_pair(
    detector: Path,
    refiner: Path,
    out: Path,
    sets: Sequence[Path],
    *,
    name: str,
    progress: Callable[[str], None] = lambda _line: None,
) -> None:
    """Write a network's folder: both networks, full and int8, and a card with untuned thresholds.

    Args:
        detector: checkpoint of the detector.
        refiner: checkpoint of the refiner.
        out: the folder.
        sets: data sets whose training pictures int8 is calibrated on.
        name: of the network.
        progress: told what is being done.

    Raises:
        InputError: a checkpoint is none, or a set has no training pictures.

    """
    networks = open_detector_network(detector), open_refiner_network(refiner)
    card = NetworkCard(name, DETECTOR_FILES, REFINER_FILES, refiner_sees_ball=True)
    out.mkdir(parents=True, exist_ok=True)
    progress("detector")
    export_detector(networks[0], out, DETECTOR_FILES, card.input_px, calibration_frames(sets, card.input_px))
    progress("refiner")
    stream = PatchStream([(folder, 1.0) for folder in sets], "train", seed=_PATCH_SEED, plain=True)
    export_refiner(networks[1], out, REFINER_FILES, calibration_patches(stream))
    write_card(out, card)


def export_detector(
    network: DetectorNetwork, out: Path, files: NetworkFiles, input_px: tuple[int, int], frames: Sequence[Pictures]
) -> None:
    """Write a detector into a network's folder, full and int8.

    Args:
        network: the trained detector; it is changed.
        out: the folder.
        files: what its files are called.
        input_px: width and height of its input.
        frames: fitted pictures that int8 is calibrated on.

    """
    width, height = input_px
    names = ("frame", "head")
    export_onnx(DetectorGraph(network), (1, height, width, 3), out / files.fp32, names=names, any_batch=False)
    _quantize(out, files, frames, correct_biases=True)


def export_refiner(network: RefinerNetwork, out: Path, files: NetworkFiles, patches: Sequence[Pictures]) -> None:
    """Write a refiner into a network's folder, full and int8.

    Args:
        network: the trained refiner; it is changed.
        out: the folder.
        files: what its files are called.
        patches: that int8 is calibrated on.

    """
    shape = (1, PATCH_PX, PATCH_PX, 3)
    export_onnx(RefinerGraph(network), shape, out / files.fp32, names=("patches", "outputs"), any_batch=True)
    # Of patches without a figure the refiner may give wild places, which would weigh in what biases are corrected by.
    _quantize(out, files, patches, correct_biases=False)


def _quantize(out: Path, files: NetworkFiles, pictures: Sequence[Pictures], *, correct_biases: bool) -> None:
    """Write the int8 file. What follows the last convolutions gives places to a fraction of a pixel and stays exact."""
    assert files.int8 is not None
    exact = after_last_convolutions(onnx.load(str(out / files.fp32)))
    quantize(out / files.fp32, out / files.int8, pictures, exact_nodes=exact, correct_biases=correct_biases)


def after_last_convolutions(graph: onnx.ModelProto) -> list[str]:
    """Return the names of the nodes between the outputs and the last convolutions before them."""
    makers = {output: node for node in graph.graph.node for output in node.output}
    names: dict[str, None] = {}
    left = [output.name for output in graph.graph.output]
    while left:
        node = makers.get(left.pop())
        if node is None or node.op_type == "Conv" or node.name in names:
            continue
        if (
            node.op_type in ("Flatten", "Reshape")
            and (before := makers.get(node.input[0]))
            and before.op_type == "Relu"
        ):
            continue  # the way into full layers
        names[node.name] = None
        left += list(node.input)
    return list(names)
