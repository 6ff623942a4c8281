"""A coach's hand and forearm, and a passing stick, as solids in the board frame."""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.twin.appearance import Color, Solid
from downfield.twin.snapshot import HandPose, Quaternion, StickPose, Vector

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
    solids.append(Solid("ellipsoid", _PALM_MM, _vector(at(_PALM_AT_MM)), _axes(back, side), skin))
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
    return Solid("box", size, _vector((start + end) / 2), _axes(along, side), _WHITE, part="other")


def _limb(start: Array, end: Array, radius_mm: float, color: Color) -> Solid:
    along = end - start
    length = float(np.linalg.norm(along))
    turn = Rotation.align_vectors(along[None] / max(length, 1e-9), [[0.0, 0.0, 1.0]])[0]
    kind: Literal["capsule"] = "capsule"
    return Solid(kind, (radius_mm, max(length / 2, 0.1), 0.0), _vector((start + end) / 2), _quaternion(turn), color)


def _axes(x: Array, y: Array) -> Quaternion:
    """Return the attitude whose x and y axes are the given unit vectors."""
    y = y / max(float(np.linalg.norm(y)), 1e-9)
    return _quaternion(Rotation.from_matrix(np.column_stack([x, y, np.cross(x, y)])))


def _quaternion(turn: Rotation) -> Quaternion:
    w, x, y, z = turn.as_quat(scalar_first=True)
    return (float(w), float(x), float(y), float(z))


def _vector(point: Array) -> Vector:
    return (float(point[0]), float(point[1]), float(point[2]))
