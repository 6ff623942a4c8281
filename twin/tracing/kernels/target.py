"""What all kernels are built from: the target they are compiled for, float32 constants, random numbers without state.

numba compiles them for the processor or for CUDA from one source, one per process. Random numbers are hashes and the
first two dimensions of Sobol's sequence, well spread over the samples of a pixel.
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

_TO_UNIT = F(1 / 16777216.0)


def device_function(function: Function) -> Any:
    """Return a function compiled for the target, callable from kernels: float32 only, and nothing may allocate."""
    if ON_CUDA:
        return cuda.jit(device=True, fastmath=True)(function)
    return numba.njit(fastmath=True, cache=True, error_model="numpy", nogil=True)(function)


def kernel(function: Function) -> Any:
    """Return the function compiled as a CUDA kernel, or for all cores of the processor."""
    if ON_CUDA:
        return cuda.jit(fastmath=True)(function)
    return numba.njit(fastmath=True, cache=True, error_model="numpy", parallel=True, nogil=True)(function)


@device_function
def mixed(x):
    """Return a hash of 32 bits."""
    x = np.uint32(x)
    x = np.uint32(x ^ np.uint32(x >> np.uint32(16)))
    x = np.uint32(x * np.uint32(0x7FEB352D))
    x = np.uint32(x ^ np.uint32(x >> np.uint32(15)))
    x = np.uint32(x * np.uint32(0x846CA68B))
    return np.uint32(x ^ np.uint32(x >> np.uint32(16)))


@device_function
def unit(x):
    """Return 32 bits as a number from 0 to below 1."""
    return F(np.uint32(x) >> np.uint32(8)) * _TO_UNIT


@device_function
def turned_bits(x):
    """Return the bits in reverse order: the van der Corput sequence."""
    x = np.uint32(x)
    x = np.uint32(np.uint32(x << np.uint32(16)) | np.uint32(x >> np.uint32(16)))
    x = np.uint32(
        np.uint32((x & np.uint32(0x00FF00FF)) << np.uint32(8)) | np.uint32((x & np.uint32(0xFF00FF00)) >> np.uint32(8))
    )
    x = np.uint32(
        np.uint32((x & np.uint32(0x0F0F0F0F)) << np.uint32(4)) | np.uint32((x & np.uint32(0xF0F0F0F0)) >> np.uint32(4))
    )
    x = np.uint32(
        np.uint32((x & np.uint32(0x33333333)) << np.uint32(2)) | np.uint32((x & np.uint32(0xCCCCCCCC)) >> np.uint32(2))
    )
    return np.uint32(
        np.uint32((x & np.uint32(0x55555555)) << np.uint32(1)) | np.uint32((x & np.uint32(0xAAAAAAAA)) >> np.uint32(1))
    )


@device_function
def second_bits(x):
    """Return the second dimension of Sobol's sequence, for numbers below 256."""
    x = np.uint32(x)
    out, way = np.uint32(0), np.uint32(0x80000000)
    for _ in range(8):
        if x & np.uint32(1):
            out = np.uint32(out ^ way)
        x = np.uint32(x >> np.uint32(1))
        way = np.uint32(way ^ np.uint32(way >> np.uint32(1)))
    return out


@device_function
def pair(sample, seed, use, mask):
    """Return two numbers of a pixel's sample, evenly spread over its samples; `use` tells them apart."""
    h = mixed(np.uint32(seed + np.uint32(use) * np.uint32(0x9E3779B9)))
    at = np.uint32(np.uint32(sample) ^ np.uint32(h & np.uint32(mask)))
    g = mixed(h)
    return unit(turned_bits(at) ^ h), unit(second_bits(at) ^ g)
