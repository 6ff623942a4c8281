"""Networks run by OpenVINO: the fastest on a processor without a GPU, above all in int8."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from downfield.core.errors import InputError
from downfield.models.runtime import Precision, passes

# Downfield tells nobody that it runs. OpenVINO reports over the internet that it was imported, and does so from a fork
# of this process, which can stand still for ever and keeps it from ending; where its reporter is missing it doesn't.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

import openvino  # noqa: E402 - after that

_HINTS = {"fp32": "f32", "bf16": "bf16", "int8": "f32"}  # int8 is in the file; what it leaves open stays exact


class OpenVinoNetwork:
    """An ONNX file in OpenVINO.

    Args:
        path: the file.
        threads: it may use.
        precision: of the arithmetic.
        batches: how many pictures a pass may be of, ascending.

    Raises:
        InputError: the file is no network.

    """

    def __init__(self, path: Path, *, threads: int, precision: Precision, batches: Sequence[int]) -> None:
        core = openvino.Core()
        # Pinned, two networks of one thread each would sit on the same core.
        how = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": _HINTS[precision],
            "ENABLE_CPU_PINNING": False,
        }
        self._passes: dict[int, _Pass] = {}
        try:
            model = core.read_model(path)
            height, width, colors = (int(side.get_length()) for side in list(model.input(0).get_partial_shape())[1:])
            for size in batches:
                # Fixed shapes spare it planning anew for every number of figures.
                model.reshape([size, height, width, colors])
                self._passes[size] = _Pass(core.compile_model(model, "CPU", how), (size, height, width, colors))
        except (RuntimeError, ValueError) as error:
            raise InputError(f"{path}: OpenVINO can't open it as a network: {_first_line(error)}") from None
        self.name = f"openvino {openvino.__version__.partition('-')[0]}"
        self.size_px = (width, height)

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What the network says of pictures, uint8 (n, height, width, 3); valid until the next run."""
        parts = passes(len(pictures), tuple(self._passes))
        if len(parts) == 1:
            return self._passes[parts[0][1]].run(pictures)
        # What a pass says is gone with the next one of its size.
        said = [self._passes[size].run(pictures[part]).copy() for part, size in parts]
        return np.concatenate(said) if said else next(iter(self._passes.values())).run(pictures)


class _Pass:
    """A network for so many pictures at once, or fewer."""

    def __init__(self, network: openvino.CompiledModel, shape: tuple[int, int, int, int]) -> None:
        self._pictures = np.zeros(shape, dtype=np.uint8)
        self._request = network.create_infer_request()
        self._request.set_input_tensor(openvino.Tensor(self._pictures, shared_memory=True))

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        self._pictures[: len(pictures)] = pictures
        self._request.infer()
        return np.asarray(self._request.output_tensors[0].data[: len(pictures)], dtype=np.float32)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
