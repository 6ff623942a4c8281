"""A molded football player: a body of many parts in a stance, standing on the top of a base.

The body itself tells front from rear: face and mask ahead of the helmet, toes, knees, elbows, hands, and a chest that
is deeper ahead than behind. Nothing else does reliably, since details of bases differ from make to make.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np

from downfield.core.arrays import Array
from downfield.twin.randomization.colors import Parts, about_x, about_y, about_z, hanging, z_along
from downfield.twin.randomization.deck import Deck
from downfield.twin.randomization.molds import Joint, Mold, Paint, PlayerStance, draw_stance
from downfield.twin.table.appearance import Material

_ANKLE = 0.04  # height of an ankle, share of the player's
_THINNEST = 0.25  # of a trunk cut from a sheet, factor on its depth or width
_STANDS = 0.05  # a foot this much higher than the lower one still stands


@dataclass(slots=True)
class _Body:
    """One player while its solids are built; lengths in the mold are shares of `tall_mm`."""

    parts: Parts
    mold: Mold
    paint: Paint
    stance: PlayerStance
    deck: Deck
    tall_mm: float
    top_mm: float
    bulk: float
    hips: Array = field(default_factory=lambda: np.zeros(3))
    trunk: Array = field(default_factory=lambda: np.eye(3))
    holds: list[Array] = field(default_factory=list)

    def on_trunk(self, x: float, y: float, z: float) -> Array:
        """Return a place on the trunk, from the hips, by shares of the height."""
        deep, wide = self.mold.flat
        place: Array = self.hips + (self.trunk @ np.array([x, y, z])) * self.tall_mm * [deep, wide, 1.0]
        return place


def build_player(parts: Parts, mold: Mold, paint: Paint, deck: Deck, tall_mm: float, top_mm: float) -> Array:
    """Add one player to the parts.

    Args:
        deck: random draws of one split: the stance, and small differences from player to player.
        tall_mm: from the base's top to the helmet's top when he stands straight.

    Returns:
        Places of a ball in his hands and arms, shape (k, 3).
    """
    bulk = mold.bulk * float(np.exp(deck.rng.normal(0, 0.04)))
    body = _Body(parts, mold, paint, draw_stance(deck, mold.stances), deck, tall_mm, top_mm, bulk)
    lean, twist = body.stance.lean, body.stance.twist
    body.trunk = about_y(lean) @ about_x(float(deck.rng.normal(0, 5))) @ about_z(twist)
    _legs(body)
    _trunk(body)
    hands = [_arm(body, side, joint) for side, joint in zip((1, -1), body.stance.arms, strict=True)]
    if np.linalg.norm(hands[0] - hands[1]) < 0.3 * tall_mm:
        body.holds.append((hands[0] + hands[1]) / 2)
    _head(body)
    return np.array(body.holds)


def _legs(body: _Body) -> None:
    """Add both legs, and lift the hips until a foot stands."""
    tall, mold = body.tall_mm, body.mold
    flat = np.array([*mold.flat, 1.0])
    joints = []
    for side, leg in zip((1, -1), body.stance.legs, strict=True):
        hip = np.array([0.0, mold.hips * tall * side, -0.015 * tall])
        knee = hip + 0.225 * tall * mold.leg * hanging(leg.up, leg.out, side)
        ankle = knee + 0.205 * tall * mold.leg * hanging(leg.up - leg.bend, 0.6 * leg.out, side)
        joints.append((hip * flat, knee * flat, ankle * flat))
    lowest = min(ankle[2] for *_, ankle in joints)
    stands = [bool(ankle[2] < lowest + _STANDS * tall) for *_, ankle in joints]
    under = np.mean([ankle for (*_, ankle), stand in zip(joints, stands, strict=True) if stand], axis=0)
    raised = mold.stand_mm if mold.stand != "none" else 0.0
    lift = np.array([-0.6 * under[0], -0.6 * under[1], body.top_mm + raised - lowest + _ANKLE * tall])
    for side, (hip, knee, ankle), stand in zip((1, -1), joints, stands, strict=True):
        _leg(body, side, (hip + lift, knee + lift, ankle + lift), raised, stands=stand)
    body.hips = lift
    spot = np.array([lift[0] + 0.7 * under[0], lift[1] + 0.7 * under[1], body.top_mm + raised / 2])
    color = body.paint.jersey if body.deck.chance(0.3) else body.paint.belt
    if mold.stand == "plate":
        body.parts.add(
            "box", (body.deck.free(0.1, 0.24) * tall, body.deck.free(0.08, 0.2) * tall, raised / 2), spot, color
        )
    elif mold.stand == "disc":
        body.parts.add("cylinder", (body.deck.free(0.08, 0.2) * tall, raised / 2), spot, color)


def _leg(body: _Body, side: int, joints: tuple[Array, Array, Array], raised: float, *, stands: bool) -> None:
    hip, knee, ankle = joints
    tall, mold, paint, parts = body.tall_mm, body.mold, body.paint, body.parts
    thin = min(mold.flat) ** 0.5
    radius = 0.05 * tall * body.bulk * mold.limb * thin
    limb = parts.muscle if mold.tapered else parts.limb
    limb(hip, knee, 1.12 * radius, paint.pants)
    limb(knee, ankle, 0.82 * radius, paint.socks, paint.banded)
    bare = paint.skin if mold.tapered and paint.banded is None else paint.pants
    parts.add("ellipsoid", [0.98 * radius] * 3, knee + np.array([0.25 * radius, 0, 0]), bare)
    droop = 0.0 if stands else body.deck.free(10, 55)
    foot = about_z(side * body.deck.free(-4, 18)) @ about_y(droop)
    length = 0.072 * tall * mold.foot
    middle = ankle + foot @ np.array([0.6 * length, 0.0, -0.018 * tall])
    parts.add("ellipsoid", (length, 0.036 * tall * mold.limb * thin + 0.1, 0.03 * tall), middle, paint.shoe, foot)
    if mold.stand == "pegs" and stands:
        at = [ankle[0] + 0.4 * length, ankle[1], body.top_mm + raised / 2]
        parts.add("cylinder", (0.04 * tall, raised / 2 + 0.2), at, paint.shoe)


def _trunk(body: _Body) -> None:
    tall, mold, paint, bulk, parts = body.tall_mm, body.mold, body.paint, body.bulk, body.parts
    deep, wide = (max(share, _THINNEST) for share in mold.flat)
    half = about_y(0.5 * body.stance.lean)
    seat = (0.088 * tall * bulk * deep, (mold.hips + 0.045) * tall * bulk**0.5 * wide, 0.085 * tall)
    parts.add("ellipsoid", seat, body.hips - np.array([0.008 * tall, 0, 0]), paint.pants, half)
    belt = (0.086 * tall * bulk * deep, 0.103 * tall * bulk * wide, 0.03 * tall)
    parts.add("ellipsoid", belt, body.on_trunk(0, 0, 0.065), paint.belt, body.trunk)
    belly = (0.084 * tall * bulk * mold.belly * deep, 0.098 * tall * bulk * wide, 0.11 * tall)
    parts.add("ellipsoid", belly, body.on_trunk(0.006, 0, 0.10), paint.jersey, body.trunk)
    chest = (0.094 * tall * bulk * mold.chest * deep, 0.125 * tall * bulk * wide, 0.125 * tall)
    parts.add("ellipsoid", chest, body.on_trunk(0.008, 0, 0.185), paint.jersey, body.trunk, material=paint.chest)
    if mold.blocky:
        block = Material(roughness=0.5, bevel_mm=0.6, corner_mm=0.02 * tall)
        size = (0.085 * tall * bulk * deep, (mold.shoulders + 0.01) * tall * bulk**0.5 * wide, 0.1 * tall)
        parts.add("box", size, body.on_trunk(0, 0, 0.16), paint.jersey, body.trunk, material=block)
        digits = (float(body.deck.rng.integers(-1, 10)), float(body.deck.rng.integers(10)), 1.0, 0.0)
        plate = dataclasses.replace(paint.body, pattern="plate_digits", second=paint.belt, values=digits)
        size = (0.01 * tall, 0.75 * size[1], 0.08 * tall)
        parts.add("box", size, body.on_trunk(-0.085 * bulk, 0, 0.165), paint.helmet, body.trunk, material=plate)
    yoke = (0.078 * tall * bulk * mold.chest * deep, (mold.shoulders * bulk**0.5 + 0.02) * tall * wide, 0.06 * tall)
    parts.add("ellipsoid", yoke, body.on_trunk(0, 0, 0.245), paint.jersey, body.trunk)


def _arm(body: _Body, side: int, joint: Joint) -> Array:
    """Add an arm; return the place of its hand."""
    tall, mold, paint, trunk, parts = body.tall_mm, body.mold, body.paint, body.trunk, body.parts
    flat = np.array([*mold.flat, 1.0])
    deep, wide = (max(share, _THINNEST) for share in mold.flat)
    shoulder = body.on_trunk(0, mold.shoulders * body.bulk**0.5 * side, 0.245)
    if mold.pads:
        size = np.array([0.08 * deep, 0.07 * wide, 0.05]) * tall * mold.pads
        at = shoulder + trunk @ np.array([0, -0.01 * side * tall, 0.018 * tall])
        parts.add("ellipsoid", size.tolist(), at, paint.jersey, trunk @ about_x(-side * 18))
    upper = hanging(joint.up, joint.out, side)
    toward = np.array(joint.toward) * [1.0, side, 1.0]
    across = toward - (toward @ upper) * upper
    across = across / max(float(np.linalg.norm(across)), 1e-6)
    fore = math.cos(math.radians(joint.bend)) * upper + math.sin(math.radians(joint.bend)) * across
    elbow = shoulder + trunk @ upper * 0.165 * tall * mold.arm * flat
    hand: Array = elbow + trunk @ fore * 0.15 * tall * mold.arm * flat
    hand[2] = max(hand[2], body.top_mm + 0.02 * tall)  # no hand reaches through the base
    radius = 0.04 * tall * body.bulk * mold.limb * min(mold.flat) ** 0.5
    limb = parts.muscle if mold.tapered else parts.limb
    limb(shoulder, elbow, 1.1 * radius, paint.sleeve, paint.banded)
    parts.limb(elbow, hand, 0.82 * radius, paint.skin)
    fist = (0.75 * radius, radius, 1.35 * radius)
    parts.add("ellipsoid", fist, hand + trunk @ fore * 0.02 * tall, paint.skin, trunk @ z_along(fore))
    body.holds.append(hand + trunk @ fore * 0.045 * tall)
    if joint.bend > 60:  # in the crook of the arm
        body.holds.append(0.5 * elbow + 0.5 * hand + trunk @ np.array([0.03, -0.035 * side, 0.02]) * tall)
    return hand


def _head(body: _Body) -> None:
    tall, mold, paint, parts, rng = body.tall_mm, body.mold, body.paint, body.parts, body.deck.rng
    r, lean = mold.head * tall, body.stance.lean
    up = body.trunk[:, 2]
    neck = body.on_trunk(0, 0, 0.27)
    nod = about_y(float(rng.normal(0.35 * lean, 7))) @ about_x(float(rng.normal(0, 4)))
    head = about_z(0.7 * body.stance.twist + float(rng.normal(0, 9))) @ nod
    middle = neck + (0.55 * up + 0.45 * head[:, 2]) * (0.035 * tall + 0.98 * r) + head[:, 0] * 0.12 * r
    narrow = max(mold.flat[1], 0.35)

    def at(x: float, y: float, z: float) -> Array:
        place: Array = middle + head @ np.array([x, y * narrow, z]) * r
        return place

    parts.limb(neck - up * 0.01 * tall, middle, 0.5 * r, paint.skin)
    shell = (1.12 * r, 0.96 * r * narrow, 1.03 * r)
    parts.add("ellipsoid", shell, middle, paint.helmet, head, part="helmet", material=paint.shell)
    parts.add("ellipsoid", (0.55 * r, 0.66 * r * narrow, 0.6 * r), at(0.62, 0, -0.3), paint.skin, head)
    jut, bar = mold.jut, mold.bar * r
    if mold.cage == 3:
        parts.add("ellipsoid", (0.42 * r, 0.6 * r * narrow, 0.42 * r), at(jut - 0.36, 0, -0.42), paint.mask, head)
        return
    for z in (-0.3, -0.62)[: mold.cage]:
        parts.limb(at(0.5, 0.86, z), at(jut, 0.36, z), bar, paint.mask)
        parts.limb(at(0.5, -0.86, z), at(jut, -0.36, z), bar, paint.mask)
        parts.limb(at(jut, 0.36, z), at(jut, -0.36, z), bar, paint.mask)
    if mold.cage == 2:
        parts.limb(at(1.0, 0, 0.25), at(jut, 0, -0.62), bar, paint.mask)
