"""The seam of the runtimes: a network file is opened with whichever of them is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from downfield.core.errors import InputError

Backend = Literal["openvino", "onnxruntime"]
Precision = Literal["int8", "bf16", "fp32"]

BACKENDS: Final[tuple[Backend, ...]] = get_args(Backend)
"""Runtimes, the faster first."""


class Network(Protocol):
    """A network ready to run. One at a time: for two threads, open it twice."""

    @property
    def name(self) -> str:
        """The runtime and its version."""
        ...

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the pictures it takes."""
        ...

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What it says of pictures.

        Args:
            pictures: uint8 blue green red, shape (n, height, width, 3).

        Returns:
            Its first output, shape (n, ...); valid until the next run.

        """
        ...


def choose_backend(wanted: str) -> Backend:
    """The runtime to use.

    Args:
        wanted: its name, or ``"auto"`` for the fastest that is installed.

    Raises:
        InputError: there is none of that name, or it isn't installed.

    """
    installed = [name for name in BACKENDS if find_spec(name) is not None]
    if wanted == "auto":
        if not installed:
            raise InputError(f"no runtime for networks is installed: pip install {BACKENDS[0]}")
        return installed[0]
    for name in BACKENDS:
        if name == wanted:
            if name not in installed:
                raise InputError(f"the runtime '{name}' isn't installed: pip install {name}")
            return name
    raise InputError(f"there is no runtime '{wanted}'; there are: auto, {', '.join(BACKENDS)}")


def open_network(
    path: Path,
    backend: Backend,
    *,
    size_px: tuple[int, int],
    threads: int,
    precision: Precision,
    batches: Sequence[int] = (1,),
) -> Network:
    """Open an ONNX file.

    Args:
        path: the file; takes pictures as `Network.run` does.
        backend: what runs it.
        size_px: width and height of the pictures it shall take.
        threads: it may use.
        precision: of the arithmetic the file leaves open; a quantized file stays quantized.
        batches: how many pictures a pass may be of, ascending; `run` takes any number, in passes.

    Raises:
        InputError: the file is missing or no such network, or the runtime doesn't know the precision.

    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if threads < 1:
        raise InputError(f"a network needs at least 1 thread, not {threads}")
    network: Network
    if backend == "openvino":
        from downfield.models.openvino_runtime import OpenVinoNetwork

        network = OpenVinoNetwork(path, threads=threads, precision=precision, batches=batches)
    else:
        from downfield.models.onnxruntime_runtime import OnnxRuntimeNetwork

        network = OnnxRuntimeNetwork(path, threads=threads, precision=precision, batches=batches)
    if network.size_px != size_px:
        taken, wanted = (f"{width} x {height}" for width, height in (network.size_px, size_px))
        raise InputError(f"{path}: takes pictures of {taken} px, not {wanted}: it is another network")
    return network


def passes(count: int, batches: Sequence[int]) -> list[tuple[slice, int]]:
    """How many pictures go through in passes of given sizes.

    Args:
        count: of pictures.
        batches: sizes that passes may have, ascending.

    Returns:
        The pictures of each pass and its size: the largest as long as they last, then the smallest that holds the rest.

    """
    largest = batches[-1]
    starts = range(0, count, largest)
    parts = [slice(start, min(start + largest, count)) for start in starts]
    return [(part, next(size for size in batches if size >= part.stop - part.start)) for part in parts]
