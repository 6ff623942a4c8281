"""Networks run by OpenVINO: the fastest on a processor without a GPU, above all in int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino
from numpy.typing import NDArray

from downfield.calibration.errors import InputError
from downfield.models.network import Precision, passes

_HINTS = {"fp32": "f32", "bf16": "bf16", "int8": "f32"}  # int8 is in the file; what it leaves open stays exact


class OpenVinoNetwork:
    """An ONNX file in OpenVINO.

    Args:
        path: the file.
        threads: it may use.
        precision: of the arithmetic.
        batch: pictures of one pass.

    Raises:
        InputError: the file is no network.

    """

    def __init__(self, path: Path, *, threads: int, precision: Precision, batch: int) -> None:
        core = openvino.Core()
        try:
            model = core.read_model(path)
            height, width, colours = (int(side.get_length()) for side in list(model.input(0).get_partial_shape())[1:])
            # A fixed shape spares it planning anew for every number of figures.
            model.reshape([batch, height, width, colours])
            # Pinned, two networks of one thread each would sit on the same core.
            compiled = core.compile_model(
                model,
                "CPU",
                {
                    "INFERENCE_NUM_THREADS": threads,
                    "NUM_STREAMS": 1,
                    "INFERENCE_PRECISION_HINT": _HINTS[precision],
                    "ENABLE_CPU_PINNING": False,
                },
            )
        except (RuntimeError, ValueError) as error:
            raise InputError(f"{path}: OpenVINO can't open it as a network: {_first_line(error)}") from None
        self.name = f"openvino {openvino.__version__.partition('-')[0]}"
        self.size_px = (width, height)
        self._request = compiled.create_infer_request()
        self._input = np.zeros((batch, height, width, colours), dtype=np.uint8)
        self._batch = batch

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What the network says of pictures, uint8 (n, height, width, 3); valid until the next run."""
        if len(pictures) == self._batch:
            return self._pass(pictures)
        parts = []
        for part in passes(len(pictures), self._batch):
            count = part.stop - part.start
            self._input[:count] = pictures[part]
            parts.append(self._pass(self._input)[:count].copy())
        return np.concatenate(parts) if parts else self._pass(self._input)[:0].copy()

    def _pass(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        said = self._request.infer([pictures], share_inputs=True, share_outputs=True)
        return np.asarray(said[0], dtype=np.float32)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
