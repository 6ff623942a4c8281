"""Snapshots of the table at one instant: the interface between the physics, the truth and the renderers.

All positions are in the board frame, mm. A figure's own frame has its origin at the center of its base's underside, x
ahead, y to its left, z up. Quaternions are (w, x, y, z) and rotate the figure's frame into the board frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from downfield.core.records import record

MAGNETIC_BALL_MM: Final = (4.5, 3.0)
"""Radius and half height of the magnetic ball."""

FOAM_BALL_MM: Final = (4.0, 2.5)
"""Half length and radius of the foam ball, whose long axis is x."""

HAND_MM: Final = (3.0, 7.5, 16.0)
"""Place of a carried ball in the carrier's frame: ahead, to its left, over the board."""


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
    """One figure.

    Attributes:
        id: roster id.
        position_mm: origin of the figure's frame.
        rotation: attitude of that frame.
        in_hand: whether a coach holds it.
    """

    id: str
    position_mm: Vector
    rotation: Quaternion
    in_hand: bool = False


@record
class BallPose:
    """The ball: a small ellipsoid of foam, or a magnetic disc.

    Attributes:
        kind: foam or magnetic.
        position_mm: its center.
        rotation: its attitude.
        carrier: roster id while a figure carries it.
    """

    kind: BallKind
    position_mm: Vector
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    carrier: str | None = None


@record
class HandPose:
    """A coach's hand and forearm over the board.

    Attributes:
        fingertip_mm: end of the fingers.
        elbow_mm: end of the forearm, beyond the board.
        holds: roster id of the figure it holds; None for none.
    """

    fingertip_mm: Vector
    elbow_mm: Vector
    holds: str | None = None


@record
class StickPose:
    """A passing stick lying or held over the board.

    Attributes:
        start_mm, end_mm: middles of its short edges.
        width_mm: from one long edge to the other.
    """

    start_mm: Vector
    end_mm: Vector
    width_mm: float = 8.0


@record
class Snapshot:
    """All figures, hands, sticks and the ball on or over the board at one instant.

    Attributes:
        t_ns: the instant.
        power: whether the board is switched on.
        figures: in roster order; a world leaves out figures that are not on the board (`bench.with_bench` adds them for
            the renderers, which need all).
        ball: None when there is none in play.
        hands: hands over the board.
        sticks: passing sticks on it.
    """

    t_ns: int
    power: bool
    figures: tuple[FigurePose, ...]
    ball: BallPose | None = None
    hands: tuple[HandPose, ...] = ()
    sticks: tuple[StickPose, ...] = ()
