"""Exports trained checkpoints for the runtime: ONNX files, full and quantized, and their card.

The graph takes a picture as a camera gives it, uint8 blue green red, so that no runtime has to be told how to prepare
one: the change of order and scale is folded into the first convolution. What comes out of it is the head as `head.py`
reads it: no choosing in the graph, which runtimes do slowly and differently.
"""

from __future__ import annotations

import dataclasses
import logging
import pickle
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import cv2
import nncf
import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from downfield.core.errors import InputError
from downfield.models.card import NetworkCard, NetworkFiles, write_card
from downfield.models.frame_detector import CHANNELS, STRIDE_PX, Letterbox
from downfield.models.refiner import PATCH_PX
from downfield.training.ball_look import BallLook
from downfield.training.ball_patches import BallPatches
from downfield.training.close_look import CloseLook
from downfield.training.labeled_frames import labeled_images_of
from downfield.training.patches import PatchStream
from downfield.training.second_look import SecondLook
from downfield.training.trainer import Batch

OPSET: Final = 17
CALIBRATION_FRAMES: Final = 120
FULL_LAYERS: Final = ("Gemm",)
CALIBRATION_PATCHES: Final = 400

Pictures = NDArray[np.uint8]


class RawFirstLook(torch.nn.Module):
    """A YOLO26-pose model from pictures to its raw one-to-many head, spreads included.

    Of YOLO26's two heads the one-to-one says each thing once, and the other says it in several cells and is taught by
    all of them: it finds more. Figures can't lie in one another, so which cells speak of the same is no question.

    Args:
        model: of one head, stride 8; its first convolution is changed.

    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.layers = model.model
        take_camera_pictures(self.layers[0].conv)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return the head, float (n, channels, cells), for pictures, uint8 (n, height, width, 3)."""
        flow = pictures.permute(0, 3, 1, 2).float()
        kept: list[torch.Tensor] = []
        for layer in self.layers[:-1]:
            flow = layer(_inputs(layer.f, flow, kept))
            kept.append(flow)
        head = self.layers[-1]
        features = kept[head.f[0]]
        pose = head.cv4[0](features)
        parts = [
            head.cv2[0](features),
            head.cv3[0](features),
            head.cv4_kpts[0](pose),
            head.cv4_sigma[0](pose),
        ]
        return torch.cat(parts, dim=1).flatten(2)


class RawLook(torch.nn.Module):
    """A network from camera pictures to its outputs.

    Args:
        network: its first convolution is changed.

    """

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network
        take_camera_pictures(next(one for one in network.modules() if isinstance(one, torch.nn.Conv2d)))

    def forward(self, pictures: torch.Tensor) -> Any:
        """Return the outputs for pictures, uint8 (n, height, width, 3)."""
        return self.network(pictures.permute(0, 3, 1, 2).float())


def take_camera_pictures(first: torch.nn.Conv2d) -> None:
    """Make a network's first convolution, trained on red green blue 0..1, take blue green red 0..255."""
    with torch.no_grad():
        first.weight.copy_(first.weight.flip(1) / 255)


def export_first_look(weights: Path, out: Path, input_px: tuple[int, int]) -> None:
    """Write a figure detector as ONNX.

    Args:
        weights: checkpoint of ultralytics' form; torch runs code in it.
        out: the file to write.
        input_px: width and height of what it shall take.

    Raises:
        InputError: there is no checkpoint, or it holds no such model.

    """
    model = _model_of(weights)
    head = model.model[-1]
    parts = ("cv2", "cv3", "cv4", "cv4_kpts", "cv4_sigma")
    if any(getattr(head, part, None) is None for part in parts) or len(head.f) != 1:
        raise InputError(f"{weights}: not a YOLO26-pose model with one head and its spreads")
    if int(head.stride[0]) != STRIDE_PX or head.nc + 4 + 5 * head.kpt_shape[0] != CHANNELS:
        raise InputError(f"{weights}: its head has other classes, keypoints or cells than the runtime reads")
    width, height = input_px
    export_onnx(RawFirstLook(model), (1, height, width, 3), out, names=("frame", "head"), any_batch=False)


def export_patch_look(network: SecondLook | CloseLook, what: str, weights: Path, out: Path) -> None:
    """Write a network that takes patches as ONNX.

    Args:
        network: a new one.
        what: its name, for the error.
        weights: checkpoint of its learner; the moving average in it is what is written.
        out: the file to write.

    Raises:
        InputError: there is no checkpoint, or it holds no such network.

    """
    _remember(network, weights, what)
    export_onnx(RawLook(network), (1, PATCH_PX, PATCH_PX, 3), out, names=("patches", "said"), any_batch=True)


def export_ball_look(weights: Path, out: Path, input_px: tuple[int, int]) -> None:
    """Write a ball detector as ONNX.

    Args:
        weights: checkpoint of its learner; the moving average in it is what is written.
        out: the file to write.
        input_px: width and height of what it shall take.

    Raises:
        InputError: there is no checkpoint, or it holds no such network.

    """
    network = BallLook()
    _remember(network, weights, "ball look")
    width, height = input_px
    export_onnx(RawLook(network), (1, height, width, 3), out, names=("frame", "cells"), any_batch=False)


def _remember(network: torch.nn.Module, weights: Path, what: str) -> None:
    """Load a learner's moving average into a network, ready to run.

    Raises:
        InputError: there is no checkpoint, or it holds no such network.

    """
    try:
        kept = torch.load(weights, map_location="cpu", weights_only=True)
        network.load_state_dict(kept["average"])
        network.eval()
    except FileNotFoundError:
        raise InputError(f"{weights}: no such file") from None
    except (OSError, KeyError, TypeError, RuntimeError, pickle.UnpicklingError) as error:
        raise InputError(f"{weights}: not a checkpoint of a {what}: {error}") from None


def export_onnx(
    network: torch.nn.Module, shape: tuple[int, ...], out: Path, *, names: tuple[str, ...], any_batch: bool
) -> None:
    """Write a network that takes pictures as ONNX.

    Args:
        network: from uint8 pictures to one tensor or more.
        shape: of the pictures, (n, height, width, 3).
        out: the file to write.
        names: of the input and the outputs.
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
    full: Path,
    out: Path,
    pictures: Sequence[Pictures],
    *,
    exact: Sequence[str] = (),
    exact_nodes: Sequence[str] = (),
    correct_biases: bool = True,
) -> None:
    """Quantize an ONNX file to int8, calibrated on training pictures.

    Args:
        full: ONNX file.
        out: the file to write.
        pictures: inputs, uint8 (1, height, width, 3) each.
        exact: kinds of layers to leave as they are.
        exact_nodes: names of nodes to leave as they are.
        correct_biases: make up, layer by layer, for what rounding changes on average. Not where a few wild answers
            weigh in that average.

    """
    logging.getLogger("nncf").setLevel(logging.ERROR)
    graph = onnx.load(str(full))
    name = graph.graph.input[0].name
    small = nncf.quantize(
        graph,
        nncf.Dataset(pictures, lambda picture: {name: picture}),
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(pictures),
        ignored_scope=nncf.IgnoredScope(types=list(exact), names=list(exact_nodes), validate=False),
        advanced_parameters=nncf.AdvancedQuantizationParameters(disable_bias_correction=not correct_biases),
    )
    onnx.save(small, str(out))


def quantize_second_look(full: Path, out: Path, patches: Sequence[Pictures]) -> None:
    """Quantize a figure refiner to int8.

    Its full layers cost next to nothing, and say places to a hundredth of a patch. Of patches without a figure it may
    say wild ones, so biases are best left alone.
    """
    quantize(full, out, patches, exact=FULL_LAYERS, correct_biases=False)


def export_network(
    first: Path,
    second: Path | None,
    ball: Path | None,
    close: Path | None,
    out: Path,
    sets: Sequence[Path],
    *,
    name: str,
    progress: Callable[[str], None] = lambda _line: None,
) -> None:
    """Write a network's folder: ONNX files of its parts, full and int8, and a card with untuned thresholds.

    Args:
        first: checkpoint of the first look.
        second: of the second; None for a network of one look.
        ball: of the ball look, which goes with a second; None for a network without.
        close: of the close look, likewise.
        out: the folder.
        sets: data sets whose training pictures int8 is calibrated on.
        name: of the network.
        progress: told what is being done.

    Raises:
        InputError: a checkpoint is none, or a set has no training pictures.

    """
    card = NetworkCard(name, NetworkFiles("first-look.onnx", "first-look.int8.onnx"))
    out.mkdir(parents=True, exist_ok=True)
    progress("first look")
    export_first_look(first, out / card.first_look.fp32, card.input_px)
    quantize(out / card.first_look.fp32, out / "first-look.int8.onnx", calibration_frames(sets, card.input_px))
    if second is not None:
        progress("second look")
        card = dataclasses.replace(card, second_look=NetworkFiles("second-look.onnx", "second-look.int8.onnx"))
        export_patch_look(SecondLook(), "second look", second, out / "second-look.onnx")
        patches = calibration_patches(PatchStream([(folder, 1.0) for folder in sets], "train", seed=3, plain=True))
        small = out / "second-look.int8.onnx"
        quantize_second_look(out / "second-look.onnx", small, patches)
    if ball is not None:
        progress("ball look")
        card = dataclasses.replace(card, ball_look=NetworkFiles("ball-look.onnx", "ball-look.int8.onnx"))
        export_ball_look(ball, out / "ball-look.onnx", card.ball_px)
        quantize(out / "ball-look.onnx", out / "ball-look.int8.onnx", calibration_frames(sets, card.ball_px))
    if close is not None:
        progress("close look")
        card = dataclasses.replace(card, close_look=NetworkFiles("close-look.onnx", "close-look.int8.onnx"))
        export_patch_look(CloseLook(), "close look", close, out / "close-look.onnx")
        patches = calibration_patches(BallPatches([(folder, 1.0) for folder in sets], "train", seed=3))
        quantize(out / "close-look.onnx", out / "close-look.int8.onnx", patches)
    write_card(out, card)


def calibration_frames(sets: Sequence[Path], input_px: tuple[int, int]) -> list[Pictures]:
    """Return training pictures fitted to an input, evenly from all sets."""
    out = []
    for folder in sets:
        paths = labeled_images_of(folder, "train")
        count = min(CALIBRATION_FRAMES // len(sets), len(paths))
        for path in (paths[i] for i in np.linspace(0, len(paths) - 1, count).astype(int)):
            frame = np.asarray(cv2.imread(str(path), cv2.IMREAD_COLOR), dtype=np.uint8)
            box = Letterbox((frame.shape[1], frame.shape[0]), input_px)
            into = box.new_input()
            box.fit(frame, into)
            out.append(into)
    return out


def calibration_patches(stream: Dataset[Batch]) -> list[Pictures]:
    """Return training patches as the runtime cuts them."""
    out: list[Pictures] = []
    for item in range(CALIBRATION_PATCHES):
        pictures = stream[item]["img"].numpy().transpose(0, 2, 3, 1)[..., ::-1]
        out += [np.ascontiguousarray(picture[None]) for picture in pictures]
        if len(out) >= CALIBRATION_PATCHES:
            break
    return out[:CALIBRATION_PATCHES]


def _model_of(weights: Path) -> Any:
    if not weights.is_file():
        raise InputError(f"{weights}: no such file")
    try:
        kept = torch.load(weights, map_location="cpu", weights_only=False)
        model = (kept.get("ema") or kept["model"]).float().eval()
        model.model[-1].stride  # noqa: B018  # what every detection model has
    except Exception as error:  # torch and pickle raise whatever the file makes them
        raise InputError(f"{weights}: not a checkpoint of ultralytics' form: {error}") from None
    return model


def _inputs(source: int | list[int], flow: torch.Tensor, kept: list[torch.Tensor]) -> Any:
    """Return a layer's inputs: in ultralytics' graphs -1 is the previous layer, other numbers are layers."""
    if isinstance(source, int):
        return flow if source == -1 else kept[source]
    return [flow if one == -1 else kept[one] for one in source]
