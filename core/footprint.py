"""The footprint of a base on the board, and the exact signed gap between two footprints.

A footprint is a rectangle with rounded corners at a position and heading: a core rectangle grown by the corner radius.
The gap of two outlines is the signed distance of their cores minus both radii. It is exact whether they are apart
or overlap: for cores that are apart it is the distance of the nearest vertex and edge; for cores that overlap, the
depth along the shallowest separating axis (the edges of a Minkowski difference of convex polygons are those of the two
polygons, so no other axis can be shallower).

A gap is measured along `normal`, the direction from the first base to the second. The face that meets is the one whose
outward normal is nearest to it; beyond `CORNER_DEG` from every face it is a corner that meets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from downfield.core.arrays import Array, Indices
from downfield.core.errors import InputError
from downfield.core.records import check, record

Face = Literal["front", "rear", "left", "right", "corner"]

BASE_TOP_MM: Final = 5.5  # height of an ordinary base's top over the board

_FRONT: Final[Array] = np.array([[1.0], [1.0], [-1.0], [-1.0]])  # of the four corners: 1 front, -1 rear
_LEFT: Final[Array] = np.array([[1.0], [-1.0], [-1.0], [1.0]])  # 1 left, -1 right


@record
class BaseSize:
    """The size of one base.

    Attributes:
        length_mm: along the heading.
        width_mm: across the heading.
        height_mm: height of the base's top over the board.
        corner_mm: radius of the rounded corners.
    """

    length_mm: float = 30.0
    width_mm: float = 18.0
    height_mm: float = BASE_TOP_MM
    corner_mm: float = 1.0

    def __post_init__(self) -> None:
        # Made for every figure of every frame: the valid case returns early.
        largest = min(self.length_mm, self.width_mm) / 2
        if largest > 0 and self.height_mm >= 0 and 0 <= self.corner_mm <= largest:
            return
        for name in ("length_mm", "width_mm"):
            check(getattr(self, name) > 0, InputError, f"{name} must be above 0, not {getattr(self, name):g}")
        check(self.height_mm >= 0, InputError, f"height_mm can't be negative ({self.height_mm:g})")
        check(0 <= self.corner_mm <= largest, InputError, f"corner_mm must be 0..{largest:g}, not {self.corner_mm:g}")


@record
class Footprint:
    """A base at its place on the board.

    Attributes:
        x_mm, y_mm: center of the base, board frame.
        heading_deg: where its front points, counter-clockwise from +x.
        size: its dimensions.
    """

    x_mm: float
    y_mm: float
    heading_deg: float
    size: BaseSize

    def corners_mm(self) -> Array:
        """Return the sharp corners: front-left, front-right, rear-right, rear-left; shape (4, 2)."""
        return self._rectangle(self.size.length_mm / 2, self.size.width_mm / 2)

    def core_mm(self) -> Array:
        """Return the centers of the corner circles, same order, shape (4, 2); the outline lies corner_mm outside."""
        inset = self.size.corner_mm
        return self._rectangle(self.size.length_mm / 2 - inset, self.size.width_mm / 2 - inset)

    def reach_mm(self, direction_deg: float) -> float:
        """Return how far the outline reaches along a direction, from the board frame's origin."""
        along = np.array([math.cos(math.radians(direction_deg)), math.sin(math.radians(direction_deg))])
        return float((self.core_mm() @ along).max() + self.size.corner_mm)

    def _rectangle(self, half_length: float, half_width: float) -> Array:
        turn = math.radians(self.heading_deg)
        cos, sin = math.cos(turn), math.sin(turn)
        x, y = self.x_mm, self.y_mm
        ahead_x, ahead_y, aside_x, aside_y = half_length * cos, half_length * sin, -half_width * sin, half_width * cos
        return np.array(
            (
                (x + ahead_x + aside_x, y + ahead_y + aside_y),
                (x + ahead_x - aside_x, y + ahead_y - aside_y),
                (x - ahead_x - aside_x, y - ahead_y - aside_y),
                (x - ahead_x + aside_x, y - ahead_y + aside_y),
            )
        )


def outlines_of(footprints: Sequence[Footprint]) -> Array:
    """Return bases as rows: x mm, y mm, heading in degrees, length, width and corner radius mm; shape (n, 6)."""
    return np.array(
        [(f.x_mm, f.y_mm, f.heading_deg, f.size.length_mm, f.size.width_mm, f.size.corner_mm) for f in footprints]
    ).reshape(-1, 6)


def rectangles_mm(outlines: Array) -> tuple[Array, Array]:
    """Return the sharp corners and the centers of the corner circles of many bases; shape (n, 4, 2) each."""
    turn = np.radians(outlines[:, 2])
    cos, sin = np.cos(turn), np.sin(turn)
    ahead, aside = np.empty((len(turn), 1, 2)), np.empty((len(turn), 1, 2))
    ahead[:, 0, 0], ahead[:, 0, 1] = cos, sin
    aside[:, 0, 0], aside[:, 0, 1] = -sin, cos
    half_length, half_width, inset = (
        outlines[:, 3, None, None] / 2,
        outlines[:, 4, None, None] / 2,
        outlines[:, 5, None, None],
    )
    middle = outlines[:, None, :2]
    sharp = middle + _FRONT * half_length * ahead + _LEFT * half_width * aside
    return sharp, sharp - inset * (_FRONT * ahead + _LEFT * aside)


CORNER_DEG: Final = 30.0
"""A direction further than this from every face's normal meets a corner (the diagonal is at about 45 degrees).

Rulebooks that care how square a hit is use `angle_deg`, which is measured for corners too."""

_FACES: Final[tuple[Face, ...]] = ("front", "right", "rear", "left")  # edge i runs from corner i to corner i + 1
_TOUCHING_MM: Final = 1e-9  # cores nearer than this have no direction between them; take the separating axis


@dataclass(frozen=True, slots=True)
class Gap:
    """The gap between two bases and the faces that meet.

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

    def sigma_mm(self, a: PoseError, b: PoseError) -> float:
        """Return the standard deviation of the gap, to first order in the errors of both bases."""
        return float(np.hypot(self._share(a, self.point_a_mm), self._share(b, self.point_b_mm)))

    def _share(self, error: PoseError, point: tuple[float, float]) -> float:
        (nx, ny), (x, y) = self.normal, (point[0] - error.center_mm[0], point[1] - error.center_mm[1])
        swing = (x * ny - y * nx) * np.radians(error.sigma_deg)
        return float(np.sqrt((nx * error.sigma_mm[0]) ** 2 + (ny * error.sigma_mm[1]) ** 2 + swing**2))


@dataclass(frozen=True, slots=True)
class PoseError:
    """The error of a base's position and heading.

    Attributes:
        sigma_mm: standard deviation of the center, along x and y.
        sigma_deg: of the heading.
    """

    center_mm: tuple[float, float]
    sigma_mm: tuple[float, float]
    sigma_deg: float


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of n pairs of bases as arrays; `each` also finds the faces that meet."""

    outlines: Array  # those of the first bases and of the second, from `outlines_of`, shape (2, n, 6)
    gap_mm: Array  # gap_mm, normal, point_a_mm, point_b_mm: as in `Gap`, shape (n,) and (n, 2)
    normal: Array
    point_a_mm: Array
    point_b_mm: Array

    @classmethod
    def of(cls, outlines: Array) -> Gaps:
        """Measure the gaps of outlines, shape (2, n, 6)."""
        count = outlines.shape[1]
        both = outlines.reshape(-1, 6)
        radius = both[:, 5]
        _, core = rectangles_mm(both)
        others = np.concatenate([core[count:], core[:count]])
        apart, normal = _separation(core, others, _outward(both[:, 2]))
        near_a, near_b, distance = _nearest(core, others)
        clear = (apart > 0) & (distance > _TOUCHING_MM)
        normal[clear] = (near_b - near_a)[clear] / distance[clear, None]
        core_gap = np.where(apart > 0, distance, apart)
        if not clear.all():  # overlapping cores have no nearest points
            near_a = np.where(clear[:, None], near_a, _deepest(core[:count], normal))
            near_b = np.where(clear[:, None], near_b, near_a + normal * core_gap[:, None])
        return cls(
            outlines,
            core_gap - radius[:count] - radius[count:],
            normal,
            near_a + normal * radius[:count, None],
            near_b - normal * radius[count:, None],
        )

    def rows(self, which: Indices) -> Gaps:
        """Return some of the pairs."""
        values = (self.gap_mm, self.normal, self.point_a_mm, self.point_b_mm)
        return Gaps(self.outlines[:, which], *(one[which] for one in values))

    def each(self) -> list[Gap]:
        """Return the gap of every pair, with the faces that meet."""
        count, both = len(self.gap_mm), self.outlines.reshape(-1, 6)
        sharp, _ = rectangles_mm(both)
        outward = _outward(both[:, 2])
        side, off_deg = _meeting(outward, np.concatenate([self.normal, -self.normal]))
        meeting = outward[np.arange(2 * count), side]
        facing = -np.einsum("ni,ni->n", meeting[:count], meeting[count:])
        angle = np.degrees(np.arccos(np.clip(facing, 0.0, 1.0)))
        overlap = _overlap(sharp, side, self.normal)
        faces = _faces(side, off_deg)
        numbers = (self.gap_mm, angle, overlap, self.normal, self.point_a_mm, self.point_b_mm)
        return [
            Gap(gap_mm, face_a, face_b, angle_deg, overlap_mm, (nx, ny), (ax, ay), (bx, by))
            for face_a, face_b, gap_mm, angle_deg, overlap_mm, (nx, ny), (ax, ay), (bx, by) in zip(
                faces[:count], faces[count:], *(values.tolist() for values in numbers), strict=True
            )
        ]


def signed_gap(a: Footprint, b: Footprint) -> Gap:
    """Measure the gap between two bases."""
    return signed_gaps([a], [b])[0]


def signed_gaps(a: list[Footprint], b: list[Footprint]) -> list[Gap]:
    """Measure the gaps between bases, pair by pair; both lists have the same length."""
    if not a:
        return []
    return Gaps.of(np.stack([outlines_of(a), outlines_of(b)])).each()


def gaps_mm(core_a: Array, core_b: Array, headings_deg: tuple[Array, Array], radii_mm: Array) -> Array:
    """Return only the signed gaps of many pairs, mm, shape (n,), without building a record for each.

    Args:
        core_a: core rectangles of the first bases, see `Footprint.core_mm`, shape (n, 4, 2).
        core_b: those of the second bases, shape (n, 4, 2).
        headings_deg: headings of both, shape (n,) each.
        radii_mm: the sum of both corner radii, shape (n,).
    """
    core, others = np.concatenate([core_a, core_b]), np.concatenate([core_b, core_a])
    apart, _ = _separation(core, others, _outward(np.concatenate(headings_deg)))
    _, _, distance = _nearest(core, others)
    gaps: Array = np.where(apart > 0, distance, apart) - radii_mm
    return gaps


def _outward(headings_deg: ArrayLike) -> Array:
    """Return the outward normals of front, right, rear, left; shape (n, 4, 2)."""
    turn = np.radians(headings_deg)
    cos, sin = np.cos(turn), np.sin(turn)
    outward = np.empty((len(turn), 4, 2))
    outward[:, 0, 0], outward[:, 0, 1] = cos, sin
    outward[:, 1, 0], outward[:, 1, 1] = sin, -cos
    outward[:, 2:] = -outward[:, :2]
    return outward


def _separation(core: Array, others: Array, outward: Array) -> tuple[Array, Array]:
    """Return the largest separation of n pairs of bases over all face normals.

    Args:
        core: core rectangles of the first bases, a, and then of the second, b, shape (2 n, 4, 2).
        others: the same, with the two bases of each pair exchanged.
        outward: outward normals of `core`, same shape.

    Returns:
        The largest separation, shape (n,), and its axis from a to b, shape (n, 2).
    """
    count = len(core) // 2
    reach = np.einsum("njk,nik->nij", others, outward).min(2) - np.einsum("nik,nik->ni", core, outward)
    both = np.concatenate([reach[:count], reach[count:]], axis=1)
    best = both.argmax(axis=1)
    rows = np.arange(count)
    return both[rows, best], np.concatenate([outward[:count], -outward[count:]], axis=1)[rows, best]


def _nearest(core: Array, others: Array) -> tuple[Array, Array, Array]:
    """Return the nearest points of n pairs of disjoint polygons, a and b, and their distance.

    Args:
        core: all a and then all b, shape (2 n, 4, 2).

    Returns:
        The points of a and of b, shape (n, 2) each; distances, shape (n,).
    """
    count = len(core) // 2
    feet, far = _vertices_to_edges(core, others)
    far = np.concatenate([far[:count].reshape(count, 16), far[count:].reshape(count, 16)], axis=1)
    best = far.argmin(axis=1)
    rows, vertex, edge = np.arange(count), best % 16 // 4, best % 4
    by_a = (best < 16)[:, None]
    near_a = np.where(by_a, core[rows, vertex], feet[count + rows, vertex, edge])
    near_b = np.where(by_a, feet[rows, vertex, edge], others[rows, vertex])
    return near_a, near_b, far[rows, best]


def _vertices_to_edges(vertices: Array, polygon: Array) -> tuple[Array, Array]:
    """Project four vertices on four edges: feet, shape (n, 4, 4, 2), and distances, shape (n, 4, 4)."""
    start = polygon[:, None, :, :]
    along = (polygon[:, [1, 2, 3, 0]] - polygon)[:, None, :, :]
    away = vertices[:, :, None, :] - start
    reach = away[..., 0] * along[..., 0] + away[..., 1] * along[..., 1]
    length2 = np.maximum(along[..., 0] ** 2 + along[..., 1] ** 2, 1e-18)
    feet = start + np.clip(reach / length2, 0.0, 1.0)[..., None] * along
    off = vertices[:, :, None, :] - feet
    return feet, np.sqrt(off[..., 0] ** 2 + off[..., 1] ** 2)


def _deepest(core: Array, normal: Array) -> Array:
    """Return the mean of each polygon's furthest vertices along a direction, shape (n, 2)."""
    reach = np.einsum("nvk,nk->nv", core, normal)
    furthest = (reach > reach.max(axis=1, keepdims=True) - 1e-6)[..., None]
    middle: Array = (core * furthest).sum(axis=1) / furthest.sum(axis=1)
    return middle


def _meeting(outward: Array, normal: Array) -> tuple[Indices, Array]:
    """Return the face nearest to a direction, shape (n,), and the angle of its normal to it, degrees, shape (n,)."""
    facing = np.einsum("nik,nk->ni", outward, normal)
    side = facing.argmax(axis=1)
    return side, np.degrees(np.arccos(np.clip(facing.max(axis=1), -1.0, 1.0)))


def _faces(side: Indices, off_deg: Array) -> list[Face]:
    """Return the parts that meet: a face, or a corner where no face points at the other base."""
    return [
        _FACES[at] if off <= CORNER_DEG else "corner" for at, off in zip(side.tolist(), off_deg.tolist(), strict=True)
    ]


def _overlap(corners: Array, side: Indices, normal: Array) -> Array:
    """Return the length over which the faces of n pairs lie along each other, seen along the normal, shape (n,).

    Args:
        corners: of the first bases and then of the second, shape (2 n, 4, 2).
        side: which of their faces meet, shape (2 n,).
        normal: from the first to the second, shape (n, 2).
    """
    tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    rows = np.arange(len(side))
    ends = np.stack([corners[rows, side], corners[rows, (side + 1) % 4]])
    (a, b), (c, d) = np.einsum("esnk,nk->sen", ends.reshape(2, 2, -1, 2), tangent)
    low, high = np.maximum(np.minimum(a, b), np.minimum(c, d)), np.minimum(np.maximum(a, b), np.maximum(c, d))
    shared: Array = np.maximum(high - low, 0.0)
    return shared
