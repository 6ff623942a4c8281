"""Well-spread random numbers without state: hashes and the first two dimensions of Sobol's sequence."""

import numpy as np

from downfield.twin.tracing.kernels.target import F, device_function

_TO_UNIT = F(1 / 16777216.0)


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
