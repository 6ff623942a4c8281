"""Figures as triangle meshes: all solids of one figure in one mesh, so that 22 of them are drawn fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.twin.table.appearance import Solid

_AROUND, _AROUND_THIN = 12, 6  # facets around round solids: a helmet is under 20 px across, an arm under 5
_THIN_MM = 2.5
_STACKS = 4
_CORNER_FACETS = 4


@dataclass(frozen=True, slots=True)
class Mesh:
    """Triangles with a normal and a color index per vertex."""

    vertices_mm: Array  # shape (n, 3)
    normals: Array  # outward unit vectors, shape (n, 3)
    faces: NDArray[np.int32]  # vertex indices, counter-clockwise from outside, shape (m, 3)
    solid: NDArray[np.int32]  # for each vertex the index of the solid it belongs to, shape (n,)


def figure_mesh(solids: Sequence[Solid], corner_mm: float) -> Mesh:
    """Return one mesh of many solids.

    Args:
        solids: in their owner's frame.
        corner_mm: radius of the corners of the solid whose part is ``base``.
    """
    vertices, normals, faces, owner = [], [], [], []
    count = 0
    for index, solid in enumerate(solids):
        points, outward, triangles = _solid_mesh(solid, corner_mm)
        turn = Rotation.from_quat(solid.rotation, scalar_first=True).as_matrix()
        vertices.append(points @ turn.T + solid.position_mm)
        normals.append(outward @ turn.T)
        faces.append(triangles + count)
        owner.append(np.full(len(points), index, dtype=np.int32))
        count += len(points)
    return Mesh(np.concatenate(vertices), np.concatenate(normals), np.concatenate(faces), np.concatenate(owner))


_Part = tuple[Array, Array, NDArray[np.int32]]


def _solid_mesh(solid: Solid, corner_mm: float) -> _Part:
    a, b, c = solid.size_mm
    if solid.kind == "box":
        return _prism(_rounded_rectangle(a, b, corner_mm if solid.part == "base" else 0.0), c)
    if solid.kind == "cylinder":
        return _prism(_circle(a), b)
    points, outward, faces = _sphere(_AROUND_THIN if a < _THIN_MM else _AROUND)
    if solid.kind == "ellipsoid":
        tilted = outward / np.array(solid.size_mm)
        return points * solid.size_mm, tilted / np.linalg.norm(tilted, axis=1, keepdims=True), faces
    # The sphere's equator is doubled, so that its halves can be drawn apart into a capsule.
    apart = np.repeat([b, -b], len(points) // 2)
    return points * a + np.outer(apart, [0.0, 0.0, 1.0]), outward, faces


def _circle(radius: float) -> Array:
    angle = 2 * np.pi * np.arange(_AROUND) / _AROUND
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _rounded_rectangle(half_x: float, half_y: float, radius: float) -> Array:
    """Return the outline, counter-clockwise, shape (n, 2)."""
    centers = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]) * (half_x - radius, half_y - radius)
    if radius <= 0:
        return centers
    quarter = np.pi / 2 * (np.arange(4)[:, None] + np.arange(_CORNER_FACETS + 1)[None] / _CORNER_FACETS)
    arcs = centers[:, None] + radius * np.stack([np.cos(quarter), np.sin(quarter)], axis=-1)
    outline: Array = arcs.reshape(-1, 2)
    return outline


def _prism(outline: Array, half_height: float) -> _Part:
    """Return an upright, flat-shaded prism over an outline: a box, a rounded base or a cylinder."""
    n = len(outline)
    after = np.roll(outline, -1, axis=0)
    edge = after - outline
    length = np.linalg.norm(edge, axis=1, keepdims=True)
    aside = np.column_stack([edge[:, 1], -edge[:, 0]]) / np.maximum(length, 1e-9)
    top, bottom = _at(outline, half_height), _at(outline, -half_height)
    walls = np.stack([_at(outline, -half_height), _at(after, -half_height), _at(after, half_height), top], axis=1)
    vertices = np.concatenate([top, bottom, walls.reshape(-1, 3)])
    wall_normals = np.repeat(_at(aside, 0.0), 4, axis=0)
    normals = np.concatenate([np.tile([0.0, 0.0, 1.0], (n, 1)), np.tile([0.0, 0.0, -1.0], (n, 1)), wall_normals])
    fan = np.array([[0, i, i + 1] for i in range(1, n - 1)], dtype=np.int32)
    walls_from = 2 * n + 4 * np.arange(n)[:, None]
    walls_faces = (walls_from + np.array([0, 1, 2]), walls_from + np.array([0, 2, 3]))
    faces = np.concatenate([fan, fan[:, ::-1] + n, *walls_faces]).astype(np.int32)
    return vertices, normals, faces


def _at(outline: Array, z: float) -> Array:
    return np.column_stack([outline, np.full(len(outline), z)])


def _sphere(around: int) -> _Part:
    """Return a unit sphere of rings from pole to pole; its equator is doubled."""
    half = np.linspace(0, np.pi / 2, _STACKS // 2 + 1)
    polar = np.concatenate([half, np.pi - half[::-1]])
    turn = 2 * np.pi * np.arange(around) / around
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    flat = np.sin(polar)[:, None, None] * ring[None]
    height = np.broadcast_to(np.cos(polar)[:, None, None], (len(polar), around, 1))
    points = np.concatenate([flat, height], axis=-1).reshape(-1, 3)
    here = np.arange(len(polar) - 1)[:, None] * around + np.arange(around)[None]
    right = np.arange(len(polar) - 1)[:, None] * around + (np.arange(around)[None] + 1) % around
    quads = np.stack([here, here + around, right + around, right], axis=-1).reshape(-1, 4)
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    return points, points.copy(), faces
