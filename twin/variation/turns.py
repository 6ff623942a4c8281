"""Rotation matrices of joints, in a figure's frame: x ahead, y to its left, z up. Angles in degrees."""

from __future__ import annotations

import math

import numpy as np

from downfield.core.arrays import Array


def about_x(angle_deg: float) -> Array:
    """Return a turn about x, shape (3, 3): what points left rises."""
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def about_y(angle_deg: float) -> Array:
    """Return a turn about y, shape (3, 3): what points up leans ahead."""
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    return np.array([[c, 0, s], [0, 1.0, 0], [-s, 0, c]])


def about_z(angle_deg: float) -> Array:
    """Return a turn about z, shape (3, 3): what points ahead turns left."""
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def z_along(direction: Array) -> Array:
    """Return a turn that takes z to a unit vector, shape (3, 3)."""
    helper = np.array([1.0, 0, 0]) if abs(direction[0]) < 0.9 else np.array([0, 0, 1.0])
    x = helper - (helper @ direction) * direction
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(direction, x), direction], axis=1)


def hanging(up_deg: float, out_deg: float, side: int) -> Array:
    """Return the direction of a limb that is raised ahead and to its side (1 left, -1 right) from hanging down."""
    up, out = math.radians(up_deg), math.radians(out_deg)
    return np.array([math.sin(up) * math.cos(out), side * math.sin(out), -math.cos(up) * math.cos(out)])
