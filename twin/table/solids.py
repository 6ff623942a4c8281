"""Where all solids of a table are at one instant, as clouds of surface points in the board frame.

A cloud's convex hull is its solid to a few hundredths of its radius, so its outline from anywhere (the camera for
occlusion, a lamp for a shadow) is the hull of its projected points. A bowed board lies lower in its middle, together
with the figures on it (`settle`). A coach's hand and forearm, and a passing stick, are made of solids here too.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from downfield.calibration.camera import Camera, flat_bow
from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.twin.table.appearance import Appearance, Color, Solid
from downfield.twin.table.snapshot import (
    FigurePose,
    HandPose,
    Quaternion,
    Snapshot,
    StickPose,
    Vector,
    to_quaternion,
    to_vector,
)

# A hand is laid out from its fingertips: distance back along the arm, and height.
_MIDDLE_JOINT_MM = (24.0, 27.0)
_KNUCKLE_MM = (64.0, 36.0)
_THUMB_ROOT_MM = (96.0, 26.0)
_PALM_AT_MM = (108.0, 36.0)
_PALM_MM = (56.0, 42.0, 19.0)
_WRIST_MM = (150.0, 38.0)
_CUFF_MM = (200.0, 42.0)
_FINGER_MM, _THUMB_MM, _WRIST_RADIUS_MM, _SLEEVE_MM = 8.0, 10.0, 25.0, 36.0
_APART_MM = 19.5  # knuckle to knuckle
_STICK_MM = 2.0
_WHITE: Color = (0.92, 0.91, 0.86)

POINTS = 26  # points in every cloud

_RAIL_PIECE_MM = 80.0
_SWELL = 1.03  # a hull of 26 points lies within its sphere; this halves the difference
_CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def surface_mm(field: FieldModel, bow_mm: float, points_mm: ArrayLike) -> Array:
    """Return the height of the surface over the plane through the board's edges, mm.

    Args:
        bow_mm: depth of the middle below the edges.
        points_mm: shape (..., 2).

    Returns:
        Heights, shape (...): -bow_mm in the middle, 0 at the edges and beyond them.
    """
    x_low, y_low, x_high, y_high = field.board_mm
    points = np.asarray(points_mm, dtype=np.float64)
    center = np.array([x_low + x_high, y_low + y_high]) / 2
    half = np.array([x_high - x_low, y_high - y_low]) / 2
    off = np.clip((points - center) / half, -1, 1) ** 2
    heights: Array = -bow_mm * (1 - off[..., 0]) * (1 - off[..., 1])
    return heights


def settle(snapshot: Snapshot, field: FieldModel, bow_mm: float) -> Snapshot:
    """Return the snapshot with figures and ball lowered onto a bowed surface."""
    if not bow_mm:
        return snapshot

    def lowered(at: Vector) -> Vector:
        return (at[0], at[1], at[2] + float(surface_mm(field, bow_mm, at[:2])))

    figures: tuple[FigurePose, ...] = tuple(
        dataclasses.replace(pose, position_mm=lowered(pose.position_mm)) for pose in snapshot.figures
    )
    ball = snapshot.ball and dataclasses.replace(snapshot.ball, position_mm=lowered(snapshot.ball.position_mm))
    return dataclasses.replace(snapshot, figures=figures, ball=ball)


def as_calibrated(camera: Camera, field: FieldModel, bow_mm: float) -> Camera:
    """Return the camera as a calibration of the bowed board describes it: heights count from the surface.

    Args:
        camera: in whose board frame z = 0 is the plane through the board's edges.
    """
    if not bow_mm:
        return camera
    # The surface is a product of two parabolas: in the bow's own shapes it is these four ninths, and a step down.
    part = 4 / 9 * bow_mm
    bow = dataclasses.replace(flat_bow(field), along_mm=part, across_mm=part, both_mm=-part)
    x, y, z = (float(v) for v in np.array(camera.translation_mm) - part * camera.board_to_camera[:, 2])
    return dataclasses.replace(camera, translation_mm=(x, y, z), bow=bow)


def hand_solids(hand: HandPose, skin: Color, sleeve: Color) -> tuple[Solid, ...]:
    """Return fingers, thumb, palm, wrist and sleeve; a held figure is pinched between thumb and fingers."""
    tip, elbow = np.array(hand.fingertip_mm), np.array(hand.elbow_mm)
    back = (elbow - tip) * [1.0, 1.0, 0.0]
    back /= max(float(np.linalg.norm(back)), 1e-9)
    side = np.array([-back[1], back[0], 0.0])

    def at(place: tuple[float, float], aside_mm: float = 0.0) -> Array:
        point: Array = tip + back * place[0] + side * aside_mm + np.array([0.0, 0.0, place[1]])
        return point

    spread = 0.45 if hand.holds else 0.85
    solids = []
    for finger in (-1.5, -0.5, 0.5, 1.5):
        aside, short = finger * _APART_MM, 5.0 * abs(finger + 0.4)  # the middle finger is the longest
        ends = (
            at((short, 0.0), aside * spread),
            at(_MIDDLE_JOINT_MM, aside * (1 + spread) / 2),
            at(_KNUCKLE_MM, aside),
        )
        solids += [_limb(a, b, _FINGER_MM, skin) for a, b in itertools.pairwise(ends)]
    thumb = (
        at((10.0, 0.0), 16.0) if hand.holds else at((34.0, 4.0), 58.0),
        at((52.0, 18.0), 42.0 if hand.holds else 52.0),
        at(_THUMB_ROOT_MM, 26.0),
    )
    solids += [_limb(a, b, _THUMB_MM, skin) for a, b in itertools.pairwise(thumb)]
    solids.append(Solid("ellipsoid", _PALM_MM, to_vector(at(_PALM_AT_MM)), _axes(back, side), skin))
    solids.append(_limb(at(_WRIST_MM), at(_CUFF_MM), _WRIST_RADIUS_MM, skin))
    cuff = at(_CUFF_MM)
    # When the elbow is nearer than a hand's length, the arm continues beyond it.
    end = elbow if float((elbow - cuff) @ back) > _SLEEVE_MM else cuff + back * _SLEEVE_MM
    solids.append(_limb(cuff + back * _SLEEVE_MM / 2, end, _SLEEVE_MM, sleeve))
    return tuple(solids)


def stick_solid(stick: StickPose) -> Solid:
    """Return a flat white stick."""
    start, end = np.array(stick.start_mm), np.array(stick.end_mm)
    along = end - start
    length = float(np.linalg.norm(along))
    along /= max(length, 1e-9)
    side = np.cross([0.0, 0.0, 1.0], along)
    size = (max(length / 2, 0.1), stick.width_mm / 2, _STICK_MM / 2)
    return Solid("box", size, to_vector((start + end) / 2), _axes(along, side), _WHITE, part="other")


def _limb(start: Array, end: Array, radius_mm: float, color: Color) -> Solid:
    along = end - start
    length = float(np.linalg.norm(along))
    turn = Rotation.align_vectors(along[None] / max(length, 1e-9), [[0.0, 0.0, 1.0]])[0]
    size = (radius_mm, max(length / 2, 0.1), 0.0)
    return Solid("capsule", size, to_vector((start + end) / 2), quaternion_of(turn), color)


def _axes(x: Array, y: Array) -> Quaternion:
    """Return the attitude whose x and y axes are the given unit vectors."""
    y = y / max(float(np.linalg.norm(y)), 1e-9)
    return quaternion_of(Rotation.from_matrix(np.column_stack([x, y, np.cross(x, y)])))


def quaternion_of(turn: Rotation) -> Quaternion:
    """Return a rotation of scipy's as a quaternion."""
    return to_quaternion(turn.as_quat(scalar_first=True))


@dataclass(frozen=True, slots=True)
class PlacedSolids:
    """All solids on or over the board."""

    solids: tuple[Solid, ...]  # in their owners' frames
    owners: tuple[int, ...]  # for each solid the index of its figure in the roster; -1 without a figure
    points_mm: Array  # surface points in the board frame, shape (solids, POINTS, 3)


class SolidPlacer:
    """Places the solids of one appearance."""

    def __init__(self, appearance: Appearance) -> None:
        self._appearance = appearance
        self._figure_solids = tuple(solid for figure in appearance.figures for solid in figure.solids)
        self._owners = tuple(i for i, figure in enumerate(appearance.figures) for _ in figure.solids)
        self._figure_clouds = cloud(self._figure_solids)
        self._still = (*appearance.clutter, *rail_solids(appearance))
        self._still_clouds = cloud(self._still)
        self._ball_cloud = cloud(appearance.ball.solids)

    def place(self, snapshot: Snapshot) -> PlacedSolids:
        """Return the solids of a snapshot: of the figures in roster order, then the others."""
        solids = [*self._figure_solids, *self._still]
        clouds = [self._posed_figures(snapshot), self._still_clouds]
        if snapshot.ball is not None:
            ball = snapshot.ball
            turn = Rotation.from_quat(ball.rotation, scalar_first=True).as_matrix()
            solids += self._appearance.ball.solids
            clouds.append(self._ball_cloud @ turn.T + ball.position_mm)
        loose = loose_solids(self._appearance, snapshot)
        solids += loose
        clouds.append(cloud(loose))
        owners = (*self._owners, *([-1] * (len(solids) - len(self._owners))))
        return PlacedSolids(tuple(solids), owners, np.concatenate(clouds))

    def _posed_figures(self, snapshot: Snapshot) -> Array:
        if not self._owners:
            return np.empty((0, POINTS, 3))
        owners = np.array(self._owners)
        turns = figure_turns(snapshot)
        places = np.array([pose.position_mm for pose in snapshot.figures])
        posed: Array = self._figure_clouds @ turns[owners].transpose(0, 2, 1) + places[owners][:, None]
        return posed


def figure_turns(snapshot: Snapshot) -> Array:
    """Return the rotation matrices of all figures, shape (n, 3, 3)."""
    if not snapshot.figures:
        return np.empty((0, 3, 3))
    quaternions = [pose.rotation for pose in snapshot.figures]
    return np.asarray(Rotation.from_quat(quaternions, scalar_first=True).as_matrix())


def loose_solids(appearance: Appearance, snapshot: Snapshot) -> tuple[Solid, ...]:
    """Return the solids of a snapshot's hands and sticks, in the board frame."""
    hands = [solid for hand in snapshot.hands for solid in hand_solids(hand, appearance.skin, appearance.sleeve)]
    return (*hands, *(stick_solid(stick) for stick in snapshot.sticks))


def rail_solids(appearance: Appearance) -> tuple[Solid, ...]:
    """Return the rail around the board, in pieces short enough to follow a lens's distortion; none without a rail."""
    height, width = appearance.board.rail_mm
    if height <= 0:
        return ()
    x_low, y_low, x_high, y_high = appearance.field.board_mm
    along, across = _pieces(x_low - width, x_high + width), _pieces(y_low, y_high)
    boxes = [
        *((x, y, half, width / 2) for y in (y_low - width / 2, y_high + width / 2) for x, half in along),
        *((x, y, width / 2, half) for x in (x_low - width / 2, x_high + width / 2) for y, half in across),
    ]
    return tuple(
        Solid("box", (half_x, half_y, height / 2), (x, y, height / 2), color=appearance.board.rail, part="other")
        for x, y, half_x, half_y in boxes
    )


def _pieces(low: float, high: float) -> list[tuple[float, float]]:
    """Return an interval's pieces of about `_RAIL_PIECE_MM`: middle and half length of each."""
    count = math.ceil((high - low) / _RAIL_PIECE_MM)
    half = (high - low) / count / 2
    return [(low + (2 * i + 1) * half, half) for i in range(count)]


def cloud(solids: Sequence[Solid]) -> Array:
    """Return surface points of solids in their owners' frames, shape (solids, POINTS, 3)."""
    if not solids:
        return np.empty((0, POINTS, 3))
    points = np.stack([_unplaced(solid) for solid in solids])
    turns = Rotation.from_quat([solid.rotation for solid in solids], scalar_first=True).as_matrix()
    places = np.array([solid.position_mm for solid in solids])
    placed: Array = points @ turns.transpose(0, 2, 1) + places[:, None]
    return placed


def _ring(count: int, radius: float, z: float, phase: float = 0.0) -> Array:
    angle = 2 * np.pi * (np.arange(count) + phase) / count
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(count, z)])


_RINGS = (_ring(8, 0.8, 0.6, 0.5), _ring(8, 1.0, 0.0), _ring(8, 0.8, -0.6, 0.5))
_BALL = np.concatenate([*_RINGS, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]]) * _SWELL


def _unplaced(solid: Solid) -> Array:
    a, b, _ = solid.size_mm
    if solid.kind == "box":
        return np.resize(_CUBE, (POINTS, 3)) * solid.size_mm
    if solid.kind == "ellipsoid":
        return _BALL * solid.size_mm
    if solid.kind == "cylinder":
        return np.concatenate([_ring(13, a * _SWELL, -b), _ring(13, a * _SWELL, b)])
    half = np.concatenate([_ring(8, a * _SWELL, b), _ring(4, 0.7 * a, b + 0.7 * a, 0.5), np.array([[0.0, 0.0, b + a]])])
    return np.concatenate([half, half * np.array([1.0, 1.0, -1.0])])
