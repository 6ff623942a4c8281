"""How a network errs about a base's corners: what it mistakes is an edge, and most of all one it cannot see.

All figures here were measured on validation pictures of the bundled network. To take corners for independent and their
errors for alike in all directions leaves 16 to 25 % of places beyond two sigmas, and trusts the front edge under a
figure as much as the rear one in the open.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from downfield.core.arrays import Array

_SEEN, _PER_HIDDEN = (1.1, 1.0), (0.7, -0.75)


def errors_by_direction(sigma: Array, seen: Array) -> Array:
    """What a network's one error for both directions means along the base and across it.

    A hidden corner is mostly that of an end which is under the figure, between sides that go on in the open.

    Args:
        sigma: standard deviations of corners as said, shape (..., 4).
        seen: scores of these being seen, 0..1, same shape.

    Returns:
        Standard deviations along and across, shape (..., 4, 2).

    """
    hidden = 1 - np.clip(seen, 0.0, 1.0)[..., None]
    errors: Array = sigma[..., None] * (np.array(_SEEN) + np.array(_PER_HIDDEN) * hidden)
    return errors


def _alike(ends: tuple[float, float], sides: tuple[float, float], diagonals: tuple[float, float]) -> Array:
    other = np.array([(1.0, 1.0), ends, diagonals, sides])
    return np.stack([other[[i ^ k for k in range(4)]] for i in range(4)])


CORNER_CORRELATION: Final = _alike(ends=(0.7, 0.3), sides=(0.1, 0.35), diagonals=(-0.15, -0.2))
"""Correlation of two corners' errors, along and across the base, shape (4, 4, 2)."""
