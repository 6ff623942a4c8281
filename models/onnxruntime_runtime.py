"""Networks run by ONNX Runtime: slower than OpenVINO, but at home nearly everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from downfield.core.errors import InputError
from downfield.models.runtime import Precision, passes

_QUIET = 3  # errors only


class OnnxRuntimeNetwork:
    """An ONNX file in ONNX Runtime.

    Args:
        path: the file.
        threads: it may use.
        precision: of the arithmetic; it has no bf16 on processors.
        batches: how many pictures a pass may be of, ascending.

    Raises:
        InputError: the file is no network, or the precision isn't offered.

    """

    def __init__(self, path: Path, *, threads: int, precision: Precision, batches: Sequence[int]) -> None:
        if precision == "bf16":
            raise InputError("ONNX Runtime has no bf16 on processors; use fp32 or int8, or OpenVINO")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions share no class but this one
            raise InputError(f"{path}: ONNX Runtime can't open it as a network: {error}") from None
        self.name = f"onnxruntime {onnxruntime.__version__}"
        taken = self._session.get_inputs()[0]
        if len(taken.shape) != 4:
            raise InputError(f"{path}: takes {taken.shape}, not pictures")
        self.size_px = (taken.shape[2], taken.shape[1])
        self._input = taken.name
        self._output = self._session.get_outputs()[0].name
        self._batches = batches

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What the network says of pictures, uint8 (n, height, width, 3)."""
        parts = [self._pass(pictures[part]) for part, _ in passes(len(pictures), self._batches)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts or [self._pass(pictures)])

    def _pass(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.asarray(self._session.run([self._output], {self._input: pictures})[0], dtype=np.float32)
