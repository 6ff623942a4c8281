"""Networks as ONNX files, full and quantized to int8, and the training pictures on which int8 is calibrated.

The graph takes a picture as a camera gives it, uint8 blue green red, so that no runtime has to prepare
it: the change of order and scale is folded into the first convolution. It ends at the outputs that `downfield.models`
decodes: suppression is not in the graph, where runtimes do it slowly and differently.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import nncf
import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from downfield.core.errors import InputError
from downfield.models.card import NetworkFiles
from downfield.training.data.objects import CROP_PX
from downfield.training.data.sample_files import read_endlessly
from downfield.training.data.samples import FrameSamples, PatchSamples, Samples
from downfield.training.networks.blocks import fused
from downfield.training.networks.refiner import RefinerNetwork

OPSET: Final = 17
CALIBRATION_FRAMES: Final = 120
CALIBRATION_PATCHES: Final = 400
_SEED: Final = 3

Pictures = NDArray[np.uint8]


class YoloGraph(nn.Module):
    """A YOLO26-pose model from camera pictures to its raw one-to-many head, spreads included.

    The one-to-one head of YOLO26 reports each object once; the one-to-many head is trained by all cells near an object
    and finds more. Suppression is simple here: figures can't lie inside one another.

    Args:
        model: of one head, stride 8; its first convolution is changed.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.layers = model.model
        take_camera_pictures(self.layers[0].conv)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the head, float (n, channels, cells), for pictures, uint8 (n, height, width, 3)."""
        flow = pictures.permute(0, 3, 1, 2).float()
        kept: list[Tensor] = []
        for layer in self.layers[:-1]:
            flow = layer(_inputs(layer.f, flow, kept))
            kept.append(flow)
        head = self.layers[-1]
        features = kept[head.f[0]]
        pose = head.cv4[0](features)
        parts = [head.cv2[0](features), head.cv3[0](features), head.cv4_kpts[0](pose), head.cv4_sigma[0](pose)]
        return torch.cat(parts, dim=1).flatten(2)


class PictureGraph(nn.Module):
    """A network from camera pictures to its outputs.

    Args:
        network: its first convolution is changed.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        take_camera_pictures(next(part for part in network.modules() if isinstance(part, nn.Conv2d)))

    def forward(self, pictures: Tensor) -> Any:
        """Return the outputs for pictures, uint8 (n, height, width, 3)."""
        return self.network(pictures.permute(0, 3, 1, 2).float())


class RefinerGraph(PictureGraph):
    """A `RefinerNetwork` from patches to all its numbers; the network is changed."""

    def __init__(self, network: RefinerNetwork) -> None:
        super().__init__(fused(network))

    def forward(self, pictures: Tensor) -> Tensor:
        """Return figures' numbers and the ball's cells, (n, 23 + 256), for patches, uint8 (n, 64, 64, 3)."""
        return torch.cat(super().forward(pictures), dim=1)


def take_camera_pictures(first: nn.Conv2d) -> None:
    """Make a network's first convolution, trained on red green blue 0..1, take blue green red 0..255."""
    with torch.no_grad():
        first.weight.copy_(first.weight.flip(1) / 255)


def export_onnx(
    network: nn.Module, shape: tuple[int, ...], out: Path, *, names: tuple[str, ...], any_batch: bool
) -> None:
    """Write a network that takes pictures as ONNX.

    Args:
        network: from uint8 pictures to one tensor or more.
        any_batch: whether n is left open.
    """
    axes = {name: {0: "n"} for name in names} if any_batch else None
    with warnings.catch_warnings():
        # The newer exporter writes graphs that OpenVINO refuses to quantize.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            network.eval(),
            (torch.zeros(shape, dtype=torch.uint8),),
            str(out),
            input_names=names[:1],
            output_names=names[1:],
            opset_version=OPSET,
            dynamic_axes=axes,
            dynamo=False,
        )


def quantize(
    folder: Path,
    files: NetworkFiles,
    pictures: Sequence[Pictures],
    *,
    exact: Sequence[str] = (),
    exact_nodes: Sequence[str] = (),
    correct_biases: bool = True,
) -> None:
    """Quantize an ONNX file in a folder to int8, calibrated on training pictures.

    Args:
        pictures: inputs, uint8 (1, height, width, 3) each.
        exact: kinds of layers to leave in full precision.
        exact_nodes: names of nodes to leave in full precision.
        correct_biases: subtract, layer by layer, the mean error of rounding. Outliers spoil that mean, such as a
            refiner's places in patches without a figure.
    """
    logging.getLogger("nncf").setLevel(logging.ERROR)
    assert files.int8 is not None
    graph = onnx.load(str(folder / files.fp32))
    name = graph.graph.input[0].name
    small = nncf.quantize(
        graph,
        nncf.Dataset(pictures, lambda picture: {name: picture}),
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(pictures),
        ignored_scope=nncf.IgnoredScope(types=list(exact), names=list(exact_nodes), validate=False),
        advanced_parameters=nncf.AdvancedQuantizationParameters(disable_bias_correction=not correct_biases),
    )
    onnx.save(small, str(folder / files.int8))


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


def calibration_frames(crops: Path, input_px: tuple[int, int]) -> list[Pictures]:
    """Return pictures of a detector's input size, uint8 (1, height, width, 3), each laid out with training crops.

    Raises:
        InputError: the folder holds none.
    """
    width, height = input_px
    tiles = (image for samples in _samples(crops, FrameSamples) for image in samples.image.numpy())
    out = []
    for _ in range(CALIBRATION_FRAMES):
        rows = [
            np.concatenate([next(tiles) for _ in range(-(-width // CROP_PX))], axis=1)
            for _ in range(-(-height // CROP_PX))
        ]
        out.append(np.ascontiguousarray(np.concatenate(rows)[None, :height, :width]))
    return out


def calibration_patches(patches: Path) -> list[Pictures]:
    """Return training patches, uint8 (1, 64, 64, 3) each, some of every table. Raises InputError: there are none."""
    out: list[Pictures] = []
    for samples in _samples(patches, PatchSamples):
        images = samples.image.numpy()
        rows = np.linspace(0, len(images) - 1, min(len(images), CALIBRATION_PATCHES // 8)).astype(int)
        out += [np.ascontiguousarray(images[row][None]) for row in rows]
        if len(out) >= CALIBRATION_PATCHES:
            break
    return out[:CALIBRATION_PATCHES]


def _samples(folder: Path, kind: type[Samples]) -> Iterator[Samples]:
    for samples in read_endlessly(folder, kind, _SEED):
        if samples is None:
            raise InputError(f"{folder}: holds no samples on which int8 could be calibrated")
        yield samples


def _inputs(source: int | list[int], flow: Tensor, kept: list[Tensor]) -> Any:
    """Return a layer's inputs: in ultralytics' graphs -1 is the previous layer, other numbers are layers."""
    if isinstance(source, int):
        return flow if source == -1 else kept[source]
    return [flow if one == -1 else kept[one] for one in source]
