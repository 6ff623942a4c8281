"""Positions of all solids of a table at one instant, as clouds of surface points in the board frame.

A cloud's convex hull is its solid to a few hundredths of its radius, so its outline from anywhere (the camera for
occlusion, a lamp for a shadow) is the hull of its projected points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.twin.appearance import Appearance, Solid
from downfield.twin.render.hand_shape import hand_solids, stick_solid
from downfield.twin.snapshot import Snapshot

POINTS = 26
"""Points in every cloud."""

_RAIL_PIECE_MM = 80.0
_SWELL = 1.03  # a hull of 26 points lies within its sphere; this halves the difference


@dataclass(frozen=True, slots=True)
class PlacedSolids:
    """All solids on or over the board.

    Attributes:
        solids: in their owners' frames.
        owners: for each solid the index of its figure in the roster; -1 without a figure.
        points_mm: surface points in the board frame, shape (solids, POINTS, 3).

    """

    solids: tuple[Solid, ...]
    owners: tuple[int, ...]
    points_mm: Array


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
        turns = Rotation.from_quat([pose.rotation for pose in snapshot.figures], scalar_first=True).as_matrix()
        places = np.array([pose.position_mm for pose in snapshot.figures])
        posed: Array = self._figure_clouds @ turns[owners].transpose(0, 2, 1) + places[owners][:, None]
        return posed


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


def _ball_points() -> Array:
    rings = [_ring(8, 0.8, 0.6, 0.5), _ring(8, 1.0, 0.0), _ring(8, 0.8, -0.6, 0.5)]
    return np.concatenate([*rings, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]]) * _SWELL


_BALL = _ball_points()
_CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


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
