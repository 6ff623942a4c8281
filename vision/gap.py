"""The exact signed gap between bases, the faces that meet, and how sure the gap is.

A base's outline is its core rectangle grown by the corner radius, so the gap of two outlines is the signed distance of
their cores less both radii, and that is exact whether they are apart, graze or overlap: cores apart, the distance of
the nearest vertex and edge; cores overlapping, the shallowest separating axis (the edges of a Minkowski difference of
convex polygons are those of the two polygons, so no other axis can be shallower).

A gap is measured along `normal`, the direction from the first base to the second. The face that meets is the one whose
outward normal is nearest to it; beyond `CORNER_DEG` from every face it is a corner that meets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from downfield.vision.footprint import Array, Face, Footprint, rectangles_mm

CORNER_DEG: Final = 30.0
"""Between a face's normal (0) and the corner's diagonal (45 or so): beyond this the meeting part is called a corner.

Rulebooks that care how square a hit is judge `angle_deg`, which is measured however the parts are called."""

_FACES: Final[tuple[Face, ...]] = ("front", "right", "rear", "left")  # edge i runs from corner i to corner i + 1
_TOUCHING = 1e-9  # mm: cores nearer than this have no direction between them; take the separating axis


@dataclass(frozen=True, slots=True)
class Gap:
    """How two bases stand to each other.

    Attributes:
        gap_mm: signed distance of the outlines, negative when they overlap.
        face_a, face_b: the parts that meet.
        angle_deg: between the meeting faces' lines, 0 when they lie flush; 0..90.
        overlap_mm: length over which the two faces lie along each other.
        normal: unit vector from the first base to the second.
        point_a_mm, point_b_mm: the nearest points of the two outlines.

    """

    gap_mm: float
    face_a: Face
    face_b: Face
    angle_deg: float
    overlap_mm: float
    normal: tuple[float, float]
    point_a_mm: tuple[float, float]
    point_b_mm: tuple[float, float]

    def sigma_mm(self, a: Error, b: Error) -> float:
        """Standard deviation of the gap, to first order in the errors of both bases."""
        return float(np.hypot(self._share(a, self.point_a_mm), self._share(b, self.point_b_mm)))

    def _share(self, error: Error, point: tuple[float, float]) -> float:
        (nx, ny), (x, y) = self.normal, (point[0] - error.centre_mm[0], point[1] - error.centre_mm[1])
        swing = (x * ny - y * nx) * np.radians(error.sigma_deg)
        return float(np.sqrt((nx * error.sigma_mm[0]) ** 2 + (ny * error.sigma_mm[1]) ** 2 + swing**2))


@dataclass(frozen=True, slots=True)
class Error:
    """How well a base's place is known.

    Attributes:
        centre_mm: its centre.
        sigma_mm: standard deviation of the centre, along x and y.
        sigma_deg: of the heading.

    """

    centre_mm: tuple[float, float]
    sigma_mm: tuple[float, float]
    sigma_deg: float


def signed_gap(a: Footprint, b: Footprint) -> Gap:
    """How two bases stand to each other."""
    return signed_gaps([a], [b])[0]


def signed_gaps(a: list[Footprint], b: list[Footprint]) -> list[Gap]:
    """How bases stand to each other, pair by pair; both lists have the same length."""
    if not a:
        return []
    (sharp_a, core_a), (sharp_b, core_b) = rectangles_mm(a), rectangles_mm(b)
    radius_a, radius_b = (np.array([f.size.corner_mm for f in pair]) for pair in (a, b))
    out_a, out_b = _outward([f.heading_deg for f in a]), _outward([f.heading_deg for f in b])

    apart, normal = _separation(core_a, core_b, out_a, out_b)
    near_a, near_b, distance = _nearest(core_a, core_b)
    clear = (apart > 0) & (distance > _TOUCHING)
    normal[clear] = (near_b - near_a)[clear] / distance[clear, None]
    core_gap = np.where(apart > 0, distance, apart)
    gaps = core_gap - radius_a - radius_b
    touch_a = np.where(clear[:, None], near_a, _deepest(core_a, normal))
    touch_b = np.where(clear[:, None], near_b, touch_a + normal * core_gap[:, None])

    side_a, off_a = _meeting(out_a, normal)
    side_b, off_b = _meeting(out_b, -normal)
    rows = np.arange(len(a))
    facing = -np.einsum("ni,ni->n", out_a[rows, side_a], out_b[rows, side_b])
    angle = np.degrees(np.arccos(np.clip(facing, 0.0, 1.0)))
    overlap = _overlap(sharp_a, sharp_b, side_a, side_b, normal)
    return [
        Gap(
            gap_mm=float(gaps[i]),
            face_a=_FACES[side_a[i]] if off_a[i] <= CORNER_DEG else "corner",
            face_b=_FACES[side_b[i]] if off_b[i] <= CORNER_DEG else "corner",
            angle_deg=float(angle[i]),
            overlap_mm=float(overlap[i]),
            normal=_pair(normal[i]),
            point_a_mm=_pair(touch_a[i] + normal[i] * radius_a[i]),
            point_b_mm=_pair(touch_b[i] - normal[i] * radius_b[i]),
        )
        for i in range(len(a))
    ]


def gaps_mm(core_a: Array, core_b: Array, headings_deg: tuple[Array, Array], radii_mm: Array) -> Array:
    """The signed gaps alone, of many pairs at once and without building a record for each.

    Args:
        core_a: core rectangles as of `Footprint.core_mm`, shape (n, 4, 2).
        core_b: those of the others, shape (n, 4, 2).
        headings_deg: of both, shape (n,) each.
        radii_mm: the sum of both corner radii, shape (n,).

    Returns:
        Signed gaps, mm, shape (n,).

    """
    apart, _ = _separation(core_a, core_b, _outward(headings_deg[0]), _outward(headings_deg[1]))
    _, _, distance = _nearest(core_a, core_b)
    gaps: Array = np.where(apart > 0, distance, apart) - radii_mm
    return gaps


def _outward(headings_deg: ArrayLike) -> Array:
    """Outward normals of front, right, rear, left; shape (n, 4, 2)."""
    turn = np.radians(headings_deg)
    ahead = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    right = np.stack([np.sin(turn), -np.cos(turn)], axis=1)
    return np.stack([ahead, right, -ahead, -right], axis=1)


def _separation(core_a: Array, core_b: Array, out_a: Array, out_b: Array) -> tuple[Array, Array]:
    """The largest separation over all face normals, shape (n,), and its axis from a to b, shape (n, 2)."""
    from_a = np.einsum("njk,nik->nij", core_b, out_a).min(2) - np.einsum("nik,nik->ni", core_a, out_a)
    from_b = np.einsum("njk,nik->nij", core_a, out_b).min(2) - np.einsum("nik,nik->ni", core_b, out_b)
    both = np.concatenate([from_a, from_b], axis=1)
    best = both.argmax(axis=1)
    rows = np.arange(len(both))
    return both[rows, best], np.concatenate([out_a, -out_b], axis=1)[rows, best]


def _nearest(core_a: Array, core_b: Array) -> tuple[Array, Array, Array]:
    """The nearest points of two sets of disjoint polygons, shape (n, 2) each, and their distance, shape (n,)."""
    foot_on_b, far_a = _vertices_to_edges(core_a, core_b)
    foot_on_a, far_b = _vertices_to_edges(core_b, core_a)
    far = np.concatenate([far_a.reshape(len(core_a), 16), far_b.reshape(len(core_a), 16)], axis=1)
    best = far.argmin(axis=1)
    rows, vertex, edge = np.arange(len(far)), best % 16 // 4, best % 4
    by_a = (best < 16)[:, None]
    near_a = np.where(by_a, core_a[rows, vertex], foot_on_a[rows, vertex, edge])
    near_b = np.where(by_a, foot_on_b[rows, vertex, edge], core_b[rows, vertex])
    return near_a, near_b, far[rows, best]


def _vertices_to_edges(vertices: Array, polygon: Array) -> tuple[Array, Array]:
    """Feet of four vertices on four edges, shape (n, 4, 4, 2), and their distances, shape (n, 4, 4)."""
    start = polygon[:, None, :, :]
    along = np.roll(polygon, -1, axis=1)[:, None, :, :] - start
    reach = np.einsum(
        "nvek,nvek->nve", vertices[:, :, None, :] - start, np.broadcast_to(along, (*start.shape[:1], 4, 4, 2))
    )
    length2 = np.maximum((along**2).sum(axis=3), 1e-18)
    feet = start + np.clip(reach / length2, 0.0, 1.0)[..., None] * along
    return feet, np.linalg.norm(vertices[:, :, None, :] - feet, axis=3)


def _deepest(core: Array, normal: Array) -> Array:
    """The middle of each polygon's furthest vertices along a direction, shape (n, 2)."""
    reach = np.einsum("nvk,nk->nv", core, normal)
    furthest = (reach > reach.max(axis=1, keepdims=True) - 1e-6)[..., None]
    middle: Array = (core * furthest).sum(axis=1) / furthest.sum(axis=1)
    return middle


def _meeting(outward: Array, normal: Array) -> tuple[NDArray[np.intp], Array]:
    """The face nearest to a direction, shape (n,), and how far its normal is off it, degrees, shape (n,)."""
    facing = np.einsum("nik,nk->ni", outward, normal)
    side = facing.argmax(axis=1)
    return side, np.degrees(np.arccos(np.clip(facing.max(axis=1), -1.0, 1.0)))


def _overlap(
    corners_a: Array, corners_b: Array, side_a: NDArray[np.intp], side_b: NDArray[np.intp], normal: Array
) -> Array:
    """Length over which two faces lie along each other, seen along the normal, shape (n,)."""
    tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    rows = np.arange(len(normal))
    low, high = np.full(len(normal), -np.inf), np.full(len(normal), np.inf)
    for corners, side in ((corners_a, side_a), (corners_b, side_b)):
        ends = np.stack([corners[rows, side], corners[rows, (side + 1) % 4]], axis=1)
        along = np.einsum("nek,nk->ne", ends, tangent)
        low, high = np.maximum(low, along.min(axis=1)), np.minimum(high, along.max(axis=1))
    shared: Array = np.maximum(high - low, 0.0)
    return shared


def _pair(vector: Array) -> tuple[float, float]:
    return float(vector[0]), float(vector[1])
