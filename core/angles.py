"""Wrapping angles."""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Array


def wrap_deg(angle_deg: float) -> float:
    """Bring an angle to -180..180 degrees (180 itself becomes -180)."""
    return (angle_deg + 180.0) % 360.0 - 180.0


def difference_deg(a_deg: float, b_deg: float) -> float:
    """Return how far two directions are apart, 0..180 degrees."""
    return abs(wrap_deg(a_deg - b_deg))


def wrap_rad(angle_rad: Array) -> Array:
    """Bring angles to -pi..pi radians (pi itself becomes -pi)."""
    wrapped: Array = (angle_rad + np.pi) % (2 * np.pi) - np.pi
    return wrapped


def wrap_half_turn_rad(angle_rad: Array) -> Array:
    """Bring angles of undirected lines to -pi/2..pi/2 radians (pi/2 itself becomes -pi/2)."""
    wrapped: Array = (angle_rad + np.pi / 2) % np.pi - np.pi / 2
    return wrapped
