"""A coach's hand and forearm, and a passing stick, as solids in the board frame."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.twin.look import Colour, Solid
from downfield.twin.snapshot import HandPose, Quaternion, StickPose, Vector
from downfield.vision.footprint import Array

_PALM_MM = (48.0, 40.0, 15.0)
_FINGER_MM = (8.5, 30.0)
_WRIST_MM = 27.0
_FOREARM_MM = 38.0
_FINGERS_MM = 75.0  # fingertip to knuckles
_HAND_MM = 165.0  # fingertip to wrist
_STICK_MM = 2.0
_WHITE: Colour = (0.92, 0.91, 0.86)


def hand_solids(hand: HandPose, skin: Colour, sleeve: Colour) -> tuple[Solid, ...]:
    """Fingers, palm, wrist and sleeve; the fingertips meet at the pose's fingertip when the hand holds a figure."""
    tip = np.array(hand.fingertip_mm)
    back = np.array(hand.elbow_mm) - tip
    reach = float(np.linalg.norm(back))
    back /= reach
    side = np.cross([0.0, 0.0, 1.0], back)
    side /= max(float(np.linalg.norm(side)), 1e-9)
    up = np.cross(back, side)
    # A closed hand pinches a figure from above; an open one points at it.
    spread = 7.0 if hand.holds else 13.0
    knuckles = tip + back * _FINGERS_MM + up * 22.0
    solids = [
        _limb(knuckles + side * 20.0 * place, tip + side * spread * place, _FINGER_MM[0], skin)
        for place in (-1.5, -0.5, 0.5, 1.5)
    ]
    thumb = tip + back * _FINGERS_MM * 1.1 + side * 38.0
    solids.append(_limb(thumb, tip + side * (10.0 if hand.holds else 40.0) + back * 18.0, _FINGER_MM[0] * 1.15, skin))
    palm = tip + back * 105.0 + up * 20.0
    solids.append(Solid("ellipsoid", _PALM_MM, _vector(palm), _axes(back, side), skin))
    wrist = tip + back * _HAND_MM + up * 18.0
    solids.append(_limb(palm, wrist + back * 40.0, _WRIST_MM, skin))
    solids.append(_limb(wrist + back * 45.0, tip + back * max(reach, _HAND_MM + 60.0) + up * 18.0, _FOREARM_MM, sleeve))
    return tuple(solids)


def stick_solid(stick: StickPose) -> Solid:
    """A flat white stick."""
    start, end = np.array(stick.start_mm), np.array(stick.end_mm)
    along = end - start
    length = float(np.linalg.norm(along))
    along /= max(length, 1e-9)
    side = np.cross([0.0, 0.0, 1.0], along)
    size = (max(length / 2, 0.1), stick.width_mm / 2, _STICK_MM / 2)
    return Solid("box", size, _vector((start + end) / 2), _axes(along, side), _WHITE, part="other")


def _limb(start: Array, end: Array, radius_mm: float, colour: Colour) -> Solid:
    along = end - start
    length = float(np.linalg.norm(along))
    turn = Rotation.align_vectors(along[None] / max(length, 1e-9), [[0.0, 0.0, 1.0]])[0]
    kind: Literal["capsule"] = "capsule"
    return Solid(kind, (radius_mm, max(length / 2, 0.1), 0.0), _vector((start + end) / 2), _quaternion(turn), colour)


def _axes(x: Array, y: Array) -> Quaternion:
    """The attitude whose x and y axes are the given unit vectors."""
    y = y / max(float(np.linalg.norm(y)), 1e-9)
    return _quaternion(Rotation.from_matrix(np.column_stack([x, y, np.cross(x, y)])))


def _quaternion(turn: Rotation) -> Quaternion:
    w, x, y, z = turn.as_quat(scalar_first=True)
    return (float(w), float(x), float(y), float(z))


def _vector(point: Array) -> Vector:
    return (float(point[0]), float(point[1]), float(point[2]))
