"""Snapshots of the table at one instant: the interface between the physics, the truth and the renderers.

All positions are in the board frame, mm. A figure's own frame has its origin at the center of its base's underside, x
ahead, y to its left, z up. Quaternions are (w, x, y, z) and rotate the figure's frame into the board frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from downfield.core.records import record

MAGNETIC_BALL_MM: Final = (4.5, 3.0)  # radius and half height of the magnetic ball

FOAM_BALL_MM: Final = (4.0, 2.5)  # half length and radius of the foam ball, whose long axis is x

HAND_MM: Final = (3.0, 7.5, 16.0)  # place of a carried ball in the carrier's frame: ahead, to its left, over the board


BallKind = Literal["foam", "magnetic"]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


def to_vector(values: Iterable[float]) -> Vector:
    """Return three numbers, such as an array of shape (3,), as a vector."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def to_quaternion(values: Iterable[float]) -> Quaternion:
    """Return four numbers, such as an array of shape (4,), as a quaternion."""
    w, x, y, z = (float(value) for value in values)
    return (w, x, y, z)


@record
class FigurePose:
    """One figure."""

    id: str  # roster id
    position_mm: Vector  # origin of the figure's frame
    rotation: Quaternion  # attitude of that frame
    in_hand: bool = False  # whether a coach holds it


@record
class BallPose:
    """The ball: a small ellipsoid of foam, or a magnetic disc."""

    kind: BallKind  # foam or magnetic
    position_mm: Vector  # its center
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)  # its attitude
    carrier: str | None = None  # roster id while a figure carries it


@record
class HandPose:
    """A coach's hand and forearm over the board."""

    fingertip_mm: Vector  # end of the fingers
    elbow_mm: Vector  # end of the forearm, beyond the board
    holds: str | None = None  # roster id of the figure it holds; None for none


@record
class StickPose:
    """A passing stick lying or held over the board."""

    start_mm: Vector  # start_mm, end_mm: middles of its short edges
    end_mm: Vector
    width_mm: float = 8.0  # from one long edge to the other


@record
class Snapshot:
    """All figures, hands, sticks and the ball on or over the board at one instant."""

    t_ns: int  # the instant
    power: bool  # whether the board is switched on
    # in roster order; a world leaves out figures that are not on the board (`bench.with_bench` adds them for the
    # renderers, which need all)
    figures: tuple[FigurePose, ...]
    ball: BallPose | None = None  # None when there is none in play
    hands: tuple[HandPose, ...] = ()  # hands over the board
    sticks: tuple[StickPose, ...] = ()  # passing sticks on it
