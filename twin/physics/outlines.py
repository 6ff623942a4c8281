"""Outlines of bases and the ball on the board, as arrays over the roster: the geometry of the truth.

An upright figure covers its base's outline about the middle of its base's height, turned to its heading: rocking on the
shaking board moves that by hundredths of a millimeter. A fallen one covers the rectangle along its heading into which
its base projects as it lies. A figure on its face or back has no level front; its heading is then square to its left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize, Footprint, gaps_mm, signed_gap
from downfield.core.scene import Player
from downfield.twin.physics.poses import FALLEN_DEG, Poses
from downfield.twin.table.snapshot import FOAM_BALL_MM, MAGNETIC_BALL_MM

_OVERLAP_MM = 0.02  # bases may be placed this far into each other: rounding that does not affect the solver
_BALLS = {"magnetic": (MAGNETIC_BALL_MM[0], MAGNETIC_BALL_MM[0]), "foam": FOAM_BALL_MM}
_CORNERS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])  # in a footprint's order


@dataclass(frozen=True, slots=True)
class Outlines:
    """Rounded rectangles on the board: one row per figure, in roster order, and one more for the ball."""

    center_mm: Array  # shape (n + 1, 2)
    heading_deg: Array  # -180..180, shape (n + 1,)
    half_mm: Array  # half the length and half the width, shape (n + 1, 2)
    corner_mm: Array  # radii of the corners, shape (n + 1,)
    height_mm: Array  # of the object with the outline, 0 for fallen figures, shape (n + 1,)
    touchable: NDArray[np.bool_]  # on the board and in no hand, shape (n + 1,)

    def footprint(self, row: int) -> Footprint:
        """Return one row as a footprint."""
        x, y = self.center_mm[row].tolist()
        length, width = (2 * self.half_mm[row]).tolist()
        size = BaseSize(length, width, float(self.height_mm[row]), float(self.corner_mm[row]))
        return Footprint(x, y, float(self.heading_deg[row]), size)

    def gaps_mm(self, pairs: NDArray[np.intp]) -> Array:
        """Return the signed gaps of pairs of rows, mm: shape (m, 2) to (m,)."""
        rows, count = pairs.T.ravel(), len(pairs)
        headings, corners = self.heading_deg[rows], self.corner_mm[rows]
        cores = cores_mm(self.center_mm[rows], headings, self.half_mm[rows] - corners[:, None])
        radii = corners[:count] + corners[count:]
        return gaps_mm(cores[:count], cores[count:], (headings[:count], headings[count:]), radii)


def cores_mm(center_mm: Array, heading_deg: Array, half_mm: Array) -> Array:
    """Return the corners of turned rectangles, in a footprint's order, mm: shapes (n, 2), (n,), (n, 2) to (n, 4, 2)."""
    turn = np.radians(heading_deg)
    ahead = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    aside = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    arms = half_mm[:, None, :] * _CORNERS
    corners: Array = center_mm[:, None] + arms[:, :, :1] * ahead[:, None] + arms[:, :, 1:] * aside[:, None]
    return corners


class Bases:
    """The bases of a roster."""

    def __init__(self, players: Sequence[Player]) -> None:
        sizes = [player.base for player in players]
        self._sides = np.array([[size.length_mm, size.width_mm, size.height_mm] for size in sizes]).reshape(-1, 3)
        self._corner = np.array([size.corner_mm for size in sizes])
        self._latest: tuple[Poses, Outlines] | None = None

    @property
    def reach_mm(self) -> Array:
        """Radii of circles about the centers that contain the outlines at any attitude, mm; shape (n + 1,)."""
        ball = max(max(half) for half in _BALLS.values())
        return np.append(np.linalg.norm(self._sides, axis=1) / 2, ball)

    def outlines(self, poses: Poses) -> Outlines:
        """Return the outlines of all figures and the ball; of the same poses as last, the same."""
        if self._latest is None or self._latest[0] is not poses:
            self._latest = poses, self._measured(poses)
        return self._latest[1]

    def _measured(self, poses: Poses) -> Outlines:
        axes, sides = poses.axes, self._sides
        ahead, left, up = axes[:, :2, 0], axes[:, :2, 1], axes[:, :2, 2]
        level = (np.hypot(ahead[:, 0], ahead[:, 1]) >= np.hypot(left[:, 0], left[:, 1]))[:, None]
        front = np.where(level, ahead, np.stack([left[:, 1], -left[:, 0]], axis=1))
        heading = np.degrees(np.arctan2(front[:, 1], front[:, 0]))
        center = poses.position_mm[:, :2] + up * sides[:, 2:] / 2
        half, corner, height = sides[:, :2] / 2, self._corner, sides[:, 2]
        fallen = poses.tilt_deg > FALLEN_DEG
        if fallen.any():
            turn = np.radians(heading)
            along = np.stack([np.cos(turn), np.sin(turn)], axis=1)
            across = np.stack([-along[:, 1], along[:, 0]], axis=1)
            lying = [(np.abs(np.einsum("nk,nki->ni", way, axes[:, :2])) * sides).sum(1) / 2 for way in (along, across)]
            half = np.where(fallen[:, None], np.stack(lying, axis=1), half)
            corner, height = np.where(fallen, 0.0, corner), np.where(fallen, 0.0, height)
        ball_half = np.array(_BALLS.get(poses.ball_kind, (1.0, 1.0)))[:2]
        w, x, y, z = poses.ball[3:]
        ball_heading = np.degrees(np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)))
        return Outlines(
            center_mm=np.concatenate([center, poses.ball[None, :2]]),
            heading_deg=np.append(heading, ball_heading),
            half_mm=np.concatenate([half, ball_half[None]]),
            corner_mm=np.append(corner, ball_half.min()),
            height_mm=np.append(height, 2 * ball_half.min()),
            touchable=poses.touchable,
        )


def check_room(row: int, where: Footprint, outlines: Outlines, players: Sequence[Player], field: FieldModel) -> None:
    """Check that a figure has room at a place. Raises ScriptError: it would stand in another base or off the board."""
    spot = f"{players[row].id} at {where.x_mm:.1f}, {where.y_mm:.1f} mm"
    x_low, y_low, x_high, y_high = field.board_mm
    corners = where.corners_mm()
    if (corners < (x_low, y_low)).any() or (corners > (x_high, y_high)).any():
        raise ScriptError(f"{spot} would not stand on the board")
    apart_mm = np.linalg.norm(outlines.center_mm[:-1] - (where.x_mm, where.y_mm), axis=1)
    reach_mm = np.linalg.norm(outlines.half_mm[:-1], axis=1) + math.hypot(where.size.length_mm, where.size.width_mm) / 2
    for other in np.flatnonzero(outlines.touchable[:-1] & (apart_mm < reach_mm)).tolist():
        if other == row:
            continue
        gap_mm = signed_gap(where, outlines.footprint(other)).gap_mm
        if gap_mm < -_OVERLAP_MM:
            raise ScriptError(f"{spot} would stand {-gap_mm:.2f} mm inside {players[other].id}")
