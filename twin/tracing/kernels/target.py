"""The target of the kernels: numba compiles them for the processor or for CUDA from one source, one per process.

Here too are their float32 constants, and what a hit is when it is no solid's row.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from downfield.core.errors import InputError, MissingExtraError

Function = Callable[..., Any]

try:
    import numba
    from numba import cuda
except ImportError:
    raise MissingExtraError("traced", "the traced renderer") from None

VARIABLE: Final = "DOWNFIELD_TRACER"
"""Environment variable: `cuda` compiles the kernels for a GPU; the processor's are the default."""

ON_CUDA: Final = os.environ.get(VARIABLE) == "cuda"

SIMULATED: Final = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "1"
"""Whether numba's simulator stands in for a CUDA device."""

if ON_CUDA and not SIMULATED and find_spec("numba_cuda") is None:
    raise InputError(
        "Tracing on a CUDA device needs numba-cuda: numba's own CUDA target can't compile the kernels. "
        "Install it with 'pip install numba-cuda', or trace on the processor."
    )

_cuda_jit: Any = cuda.jit

F: Final = np.float32
ZERO: Final = F(0)
ONE: Final = F(1)
HALF: Final = F(0.5)
TWO: Final = F(2)
FOUR: Final = F(4)
FAR: Final = F(1e9)  # mm: no hit
NEAR: Final = F(1e-3)  # mm: a ray ignores surfaces closer to its start
TINY: Final = F(1e-9)
TWO_PI: Final = F(2 * math.pi)

# Hits other than solids, in place of a solid's row.
NOTHING: Final = -1
BOARD: Final = -2
TABLE: Final = -3


def device_function(function: Function) -> Any:
    """Return a function compiled for the target, callable from kernels: float32 only, and nothing may allocate."""
    if ON_CUDA:
        return _cuda_jit(device=True, fastmath=True)(function)
    return numba.njit(fastmath=True, cache=True, error_model="numpy", nogil=True)(function)


def processor_kernel(function: Function) -> Any:
    """Return the function compiled for all cores of the processor."""
    return numba.njit(fastmath=True, cache=True, error_model="numpy", parallel=True, nogil=True)(function)


def cuda_kernel(function: Function) -> Any:
    """Return the function compiled as a CUDA kernel."""
    return _cuda_jit(fastmath=True)(function)
