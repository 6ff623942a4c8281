"""Runs network files with whichever runtime is installed: OpenVINO or ONNX Runtime.

What OpenVINO compiled is kept in the user's cache folder, since compiling takes most of a start.
"""

from __future__ import annotations

import hashlib
import io
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError
from downfield.core.files.private_files import replace_private_file
from downfield.core.platform.system import user_cache_folder
from downfield.models.telemetry import disable_telemetry

Backend = Literal["openvino", "onnxruntime"]
Precision = Literal["int8", "bf16", "fp32"]
Outputs = NDArray[np.float32]
BACKENDS: Final[tuple[Backend, ...]] = get_args(Backend)  # Runtimes, the faster one first
_MIN_SHARE: Final = 1e-6  # probabilities are kept this far from 0 and 1
_ERRORS_ONLY: Final = 3  # ONNX Runtime's log level
_PRECISION_HINTS: Final = {"fp32": "f32", "bf16": "bf16", "int8": "f32"}  # the file holds int8; the rest stays exact
_DEVICE: Final = "CPU"
_SUFFIX: Final = ".network"
_UNUSED_S: Final = 60 * 86_400  # files not opened for two months are of an older version or network, and deleted
_TOUCHED_S: Final = 86_400  # a file's time says on which day it was last opened


class NetworkCompiler:
    """Compiles one ONNX file for one number of pictures, or for any up to one.

    A network for any number takes little more memory than one for a single number, since its weights are there once.
    Each number's code is made when it first runs.

    Args:
        core: OpenVINO's.
        options: of OpenVINO for the compiled network.
        folder: keeps compiled networks; None for that of this user. If it can't be read or written, nothing is kept.

    Raises:
        OSError: the file can't be read.
    """

    def __init__(self, core: Any, path: Path, options: Mapping[str, Any], folder: Path | None = None) -> None:
        self._core, self._path, self._options = core, path, dict(options)
        self._folder = user_cache_folder("downfield") / "networks" if folder is None else folder
        made_for = (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            str(core.get_versions(_DEVICE)[_DEVICE].build_number),
            core.get_property(_DEVICE, "FULL_DEVICE_NAME"),
            sorted(core.get_property(_DEVICE, "OPTIMIZATION_CAPABILITIES")),
            sorted(self._options.items()),
        )
        self._key = hashlib.sha256(repr(made_for).encode()).hexdigest()[:32]

    def compiled(self, pictures: int, *, up_to: bool = False) -> Any:
        """Return the network compiled for a number of pictures, or for any number up to that: a ``CompiledModel``.

        Raises:
            RuntimeError, ValueError: the file is no network of pictures.
        """
        file = self._folder / f"{self._key}-{'up-to-' if up_to else ''}{pictures}{_SUFFIX}"
        kept = _read(file)
        if kept is not None:
            with suppress(RuntimeError):  # what OpenVINO does not take is compiled again
                return self._core.import_model(io.BytesIO(kept), _DEVICE, self._options)
        height, width, colors = (int(side.get_length()) for side in list(self._model.input(0).get_partial_shape())[1:])
        self._model.reshape([(1, pictures) if up_to else pictures, height, width, colors])
        compiled = self._core.compile_model(self._model, _DEVICE, self._options)
        with suppress(OSError, RuntimeError):
            _write(file, compiled.export_model().getvalue())
        return compiled

    @cached_property
    def _model(self) -> Any:
        return self._core.read_model(self._path)


def _read(file: Path) -> bytes | None:
    """Return what was kept, or None if there is nothing whole."""
    try:
        content = file.read_bytes()
        if time.time() - file.stat().st_mtime > _TOUCHED_S:
            file.touch()
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    return content[size:] if hashlib.sha256(content[size:]).digest() == content[:size] else None


def _write(file: Path, compiled: bytes) -> None:
    """Keep a compiled network, and delete those that are no longer opened. Raises OSError: it can't be written."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_private_file(file, hashlib.sha256(compiled).digest() + compiled)
    for other in file.parent.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _UNUSED_S:
                other.unlink()


class Network(Protocol):
    """A network ready to run in one thread; for two threads, open it twice."""

    @property
    def name(self) -> str:
        """The runtime and its version."""

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the pictures it takes."""

    def run(self, pictures: Image) -> Outputs:
        """Run the network on pictures.

        Args:
            pictures: uint8 blue green red, shape (n, height, width, 3).

        Returns:
            Its first output, shape (n, ...); valid until the next run.
        """


def choose_backend(wanted: str) -> Backend:
    """Return the runtime to use.

    Args:
        wanted: its name, or ``"auto"`` for the fastest one installed.

    Raises:
        InputError: there is no runtime of that name, or it is not installed.
    """
    installed = [name for name in BACKENDS if find_spec(name) is not None]
    if wanted == "auto":
        if not installed:
            raise InputError(f"No runtime for networks is installed. Install one with: pip install {BACKENDS[0]}")
        return installed[0]
    for name in BACKENDS:
        if name == wanted:
            if name not in installed:
                raise InputError(f"The runtime '{name}' is not installed. Install it with: pip install {name}")
            return name
    raise InputError(f"There is no runtime '{wanted}'. Choose one of: auto, {', '.join(BACKENDS)}.")


def open_network(
    path: Path,
    backend: Backend,
    *,
    size_px: tuple[int, int],
    threads: int,
    precision: Precision,
    batches: Sequence[int] = (1,),
    frequent: int | None = None,
) -> Network:
    """Open an ONNX file.

    Args:
        path: the file; takes pictures as `Network.run` does.
        size_px: width and height of the pictures it must take.
        precision: precision of the arithmetic that the file leaves open; a quantized file stays quantized.
        batches: how many pictures one pass may hold, ascending; `run` takes any number, in passes.
        frequent: that of them which runs most: it gets a graph of its own, a little faster, which takes as much memory
            again; None for none.

    Raises:
        InputError: the file is missing or another kind of network, or the runtime doesn't offer the precision.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    if threads < 1:
        raise InputError(f"A network needs at least 1 thread, not {threads}.")
    network: Network
    if backend == "openvino":
        network = OpenVinoNetwork(path, threads=threads, precision=precision, batches=batches, frequent=frequent)
    else:
        network = OnnxRuntimeNetwork(path, threads=threads, precision=precision, batches=batches)
    if network.size_px != size_px:
        taken, wanted = (f"{width}x{height}" for width, height in (network.size_px, size_px))
        raise InputError(f"{path}: the network takes pictures of {taken}, not {wanted}. It belongs to another stage.")
    return network


_CORE_LOCK: Final = threading.Lock()


@cache
def _openvino_core() -> Any:
    """Return the one OpenVINO core of this process; loading its plugins anew for each network takes time and memory."""
    disable_telemetry()
    import openvino

    return openvino.Core()


class OpenVinoNetwork:
    """An ONNX file in OpenVINO: the fastest on a processor without a GPU, above all in int8.

    Args:
        precision: of the arithmetic.
        batches: how many pictures one pass may hold, ascending.
        frequent: as of `open_network`.

    Raises:
        InputError: the file is no network.
    """

    def __init__(
        self, path: Path, *, threads: int, precision: Precision, batches: Sequence[int], frequent: int | None = None
    ) -> None:
        with _CORE_LOCK:
            core = _openvino_core()
        import openvino

        options = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": _PRECISION_HINTS[precision],
            "ENABLE_CPU_PINNING": False,  # pinned, two networks of one thread each would share a core
        }
        self._batches = tuple(batches)
        self._passes: dict[int, _OpenVinoPass] = {}
        try:
            compiler = NetworkCompiler(core, path, options)
            shared = [size for size in batches if size != frequent]
            graphs = [[frequent]] if frequent else []
            for sizes in [*graphs, shared] if shared else graphs:
                compiled = compiler.compiled(sizes[-1], up_to=len(sizes) > 1)
                height, width, colors = (side.get_length() for side in list(compiled.input(0).get_partial_shape())[1:])
                request = compiled.create_infer_request()
                pictures = np.zeros((sizes[-1], height, width, colors), dtype=np.uint8)
                for size in sizes:
                    tensor = openvino.Tensor(pictures[:size], shared_memory=True)
                    self._passes[size] = _OpenVinoPass(request, tensor, pictures[:size], shared=len(sizes) > 1)
        except (RuntimeError, ValueError) as error:
            raise InputError(f"{path}: OpenVINO can't open it as a network: {_last_line(error)}") from None
        self.name = f"openvino {openvino.__version__.partition('-')[0]}"
        self.size_px = (width, height)

    def run(self, pictures: Image) -> Outputs:
        """Run the network on pictures, uint8 (n, height, width, 3); the output is valid until the next run."""
        parts = split_batch(len(pictures), self._batches)
        if len(parts) == 1:
            return self._passes[parts[0][1]].run(pictures)
        # The next pass of the same size overwrites the output.
        outputs = [self._passes[size].run(pictures[part]).copy() for part, size in parts]
        return np.concatenate(outputs) if outputs else next(iter(self._passes.values())).run(pictures)


class _OpenVinoPass:
    """An inference request for a fixed number of pictures; passes of several numbers may share it."""

    def __init__(self, request: Any, tensor: Any, pictures: Image, *, shared: bool) -> None:
        self._request, self._tensor, self._pictures, self._shared = request, tensor, pictures, shared
        request.set_input_tensor(tensor)
        if shared:
            request.infer()  # makes the code for this number of pictures, which no frame should wait for

    def run(self, pictures: Image) -> Outputs:
        self._pictures[: len(pictures)] = pictures
        if self._shared:
            self._request.set_input_tensor(self._tensor)
        self._request.infer()
        outputs = np.asarray(self._request.output_tensors[0].data[: len(pictures)], dtype=np.float32)
        # A larger pass of the same request frees the memory of this output.
        return outputs.copy() if self._shared else outputs


class OnnxRuntimeNetwork:
    """An ONNX file in ONNX Runtime: slower than OpenVINO, but available nearly everywhere.

    Args:
        precision: of the arithmetic; bf16 is not available on processors.
        batches: how many pictures one pass may hold, ascending.

    Raises:
        InputError: the file is no network, or the precision is not available.
    """

    def __init__(self, path: Path, *, threads: int, precision: Precision, batches: Sequence[int]) -> None:
        disable_telemetry()
        import onnxruntime

        if precision == "bf16":
            raise InputError("ONNX Runtime has no bf16 on processors. Use fp32 or int8, or OpenVINO.")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions share no class but this one
            raise InputError(f"{path}: ONNX Runtime can't open it as a network: {error}") from None
        self.name = f"onnxruntime {onnxruntime.__version__}"
        taken = self._session.get_inputs()[0]
        if len(taken.shape) != 4:
            raise InputError(f"{path}: the network takes {taken.shape}, not pictures.")
        self.size_px = (taken.shape[2], taken.shape[1])
        self._input = taken.name
        self._output = self._session.get_outputs()[0].name
        self._batches = batches

    def run(self, pictures: Image) -> Outputs:
        """Run the network on pictures, uint8 (n, height, width, 3)."""
        outputs = [self._run_pass(pictures[part]) for part, _ in split_batch(len(pictures), self._batches)]
        return outputs[0] if len(outputs) == 1 else np.concatenate(outputs or [self._run_pass(pictures)])

    def _run_pass(self, pictures: Image) -> Outputs:
        return np.asarray(self._session.run([self._output], {self._input: pictures})[0], dtype=np.float32)


def split_batch(count: int, batches: Sequence[int]) -> list[tuple[slice, int]]:
    """Split pictures into passes of given sizes.

    Args:
        batches: sizes a pass may have, ascending.

    Returns:
        The pictures of each pass and its size: the largest while enough are left, then the smallest for the rest.
    """
    largest = batches[-1]
    parts = [slice(start, min(start + largest, count)) for start in range(0, count, largest)]
    return [(part, next(size for size in batches if size >= part.stop - part.start)) for part in parts]


def sigmoid(logits: Array) -> Array:
    """Return the probabilities of logits, without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * logits))


def logit(shares: Array) -> Array:
    """Return the logits of probabilities, which are kept a little away from 0 and 1."""
    kept = np.clip(shares, _MIN_SHARE, 1 - _MIN_SHARE)
    return np.log(kept) - np.log1p(-kept)


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
