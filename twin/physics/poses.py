"""Poses of all figures and the ball at one instant, as arrays over the roster, and as snapshots for renderers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.core.scene import Player
from downfield.twin.table.snapshot import BallPose, FigurePose, Snapshot, Vector, to_quaternion, to_vector

FALLEN_DEG = 45.0
"""A figure tilted farther than this has fallen: most can't recover from there, and none stands at that angle."""

LoneBall = Literal["none", "magnetic", "foam"]  # the ball that is on the board by itself; a carried one is not

_BESIDE_MM = 70.0  # from the board's edge: clear of its rail and of all figures on the board


@dataclass(frozen=True, slots=True)
class Poses:
    """Poses of all figures and the ball at one instant; rows are the roster."""

    t_ns: int
    position_mm: Array  # origins of the figures' frames, shape (n, 3)
    rotation: Array  # attitudes, quaternions (w, x, y, z), shape (n, 4)
    on_board: NDArray[np.bool_]  # which figures are on the board or in a hand over it, shape (n,)
    held: NDArray[np.bool_]  # which are in a hand, shape (n,)
    ball_kind: LoneBall  # which ball is on the board
    ball: Array  # its position and attitude, shape (7,); undefined when there is none

    @property
    def axes(self) -> Array:
        """Rotation matrices: columns are the figures' x, y and z axes in the board frame; shape (n, 3, 3)."""
        w, x, y, z = self.rotation.T
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        axes: Array = np.array(rows).transpose(2, 0, 1)
        return axes

    @property
    def touchable(self) -> NDArray[np.bool_]:
        """Which figures, and at last the ball, are on the board and in no hand, shape (n + 1,)."""
        return np.append(self.on_board & ~self.held, self.ball_kind != "none")

    @property
    def tilt_deg(self) -> Array:
        """Angles between the figures' z axes and the board's normal, degrees, shape (n,)."""
        _, x, y, _ = self.rotation.T
        # By the sine of the half angle: exact for small tilts, where the cosine of the angle is not.
        tilt: Array = np.degrees(2 * np.arcsin(np.clip(np.hypot(x, y), 0.0, 1.0)))
        return tilt

    def with_row(self, row: int, other: Poses) -> Poses:
        """Return these poses with one body's row taken from other poses; the row after the last is the ball's."""
        if row == len(self.on_board):
            return replace(self, ball=other.ball, ball_kind=other.ball_kind)
        changed = {name: getattr(self, name).copy() for name in ("position_mm", "rotation", "on_board", "held")}
        for name, values in changed.items():
            values[row] = getattr(other, name)[row]
        return replace(self, **changed)


def between(before: Poses, after: Poses, t_ns: int) -> Poses:
    """Return the poses at an instant between two steps, interpolated linearly."""
    span = after.t_ns - before.t_ns
    share = (t_ns - before.t_ns) / span if span else 1.0
    if share == 1.0:
        return after
    near = np.where((before.rotation * after.rotation).sum(axis=1, keepdims=True) < 0, -1.0, 1.0) * before.rotation
    rotation = near + share * (after.rotation - near)
    ball = before.ball + share * (after.ball - before.ball)
    ball[3:] /= np.linalg.norm(ball[3:])
    return replace(
        after,
        t_ns=t_ns,
        position_mm=before.position_mm + share * (after.position_mm - before.position_mm),
        rotation=rotation / np.linalg.norm(rotation, axis=1, keepdims=True),
        ball=ball,
    )


def level_rotation(heading_deg: float) -> tuple[float, float, float, float]:
    """Return the attitude of an upright figure with a heading."""
    half = math.radians(heading_deg) / 2
    return math.cos(half), 0.0, 0.0, math.sin(half)


def to_snapshot(
    poses: Poses, players: Sequence[Player], *, power: bool, carried: tuple[int, Vector] | None
) -> Snapshot:
    """Return the poses as a snapshot.

    Args:
        carried: the carrier's row and the ball's position in its frame, mm; None when no figure carries the ball.
    """
    figures = tuple(
        FigurePose(
            player.id, to_vector(poses.position_mm[row]), to_quaternion(poses.rotation[row]), bool(poses.held[row])
        )
        for row, player in enumerate(players)
        if poses.on_board[row]
    )
    ball = None
    if carried is not None:
        row, hand_mm = carried
        spot = poses.position_mm[row] + poses.axes[row] @ hand_mm
        ball = BallPose("foam", to_vector(spot), to_quaternion(poses.rotation[row]), players[row].id)
    elif poses.ball_kind != "none":
        ball = BallPose(poses.ball_kind, to_vector(poses.ball[:3]), to_quaternion(poses.ball[3:]))
    return Snapshot(poses.t_ns, power, figures, ball)


def with_bench(snapshot: Snapshot, players: Sequence[Player], field: FieldModel) -> Snapshot:
    """Return the snapshot with every figure of the roster, in roster order, as renderers require it.

    A figure off the board stands on the table beside it and faces it, dark figures below, light ones above, each
    always at its own place.

    Args:
        snapshot: of a world; figures that are off the board are missing in it.
    """
    on_board = {figure.id: figure for figure in snapshot.figures}
    figures = tuple(
        on_board.get(player.id) or FigurePose(player.id, *_place(row, player, len(players), field))
        for row, player in enumerate(players)
    )
    return dataclasses.replace(snapshot, figures=figures)


def _place(
    row: int, player: Player, count: int, field: FieldModel
) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    _, y_low, _, y_high = field.board_mm
    below = player.jersey == "dark"
    x = field.length_mm * (row + 0.5) / count
    y = y_low - _BESIDE_MM if below else y_high + _BESIDE_MM
    return (x, y, 0.0), level_rotation(90.0 if below else -90.0)
