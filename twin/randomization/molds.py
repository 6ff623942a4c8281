"""What figures of one mold and paint share, and the stances that they are molded in.

Stances are joint angles: those of known figures with every joint off a little, or any that joints allow.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal

from downfield.twin.randomization.deck import Deck
from downfield.twin.table.appearance import Color, Material

_FREE_CHANCE = 0.1  # of a stance that is none of the known ones
_LOOSE_DEG = 9.0  # standard deviation of joints


@dataclass(frozen=True, slots=True)
class Joint:
    """Angles of an arm or a leg, degrees."""

    up: float  # of its upper part, ahead from hanging down; of arms in the chest's frame
    out: float  # of its upper part, to its side
    bend: float  # of elbow or knee; a knee bends backward
    toward: tuple[float, float, float] = (1.0, -0.2, 0.4)  # direction in which an elbow bends: ahead, outward, up


@dataclass(frozen=True, slots=True)
class PlayerStance:
    """The joints of a player."""

    legs: tuple[Joint, Joint]  # legs, arms: left and right
    arms: tuple[Joint, Joint]
    lean: float = 8.0  # lean, twist: of the trunk, ahead and about the vertical, degrees
    twist: float = 0.0
    loose: float = _LOOSE_DEG  # standard deviation of every joint when the stance is drawn, degrees


_IN, _HIGH, _BACK = (0.5, -1.0, 0.1), (0.1, 0.0, 1.0), (-0.6, 0.0, 1.0)
_STRAIGHT = (Joint(2, 6, 3), Joint(-2, 6, 3))
_RUN = (Joint(48, 2, 62), Joint(-24, 2, 32))
_CROUCH = (Joint(55, 14, 75), Joint(42, 14, 72))


def _both(joint: Joint) -> tuple[Joint, Joint]:
    return (joint, joint)


STANCES: tuple[PlayerStance, ...] = (
    # Runners.
    PlayerStance(_RUN, (Joint(-38, 10, 80), Joint(45, 8, 85)), lean=16),
    PlayerStance(_RUN, (Joint(25, 12, 100, _IN), Joint(-30, 14, 70)), lean=22),  # ball tucked in
    PlayerStance(
        (Joint(62, 2, 85), Joint(-32, 2, 55)), (Joint(15, 10, 105, _IN), Joint(60, 25, 40)), lean=26
    ),  # high knee
    PlayerStance(_RUN, (Joint(88, 38, 6), Joint(20, 10, 105, _IN)), lean=18),  # stiff arm
    PlayerStance(
        (Joint(30, 4, 40), Joint(-18, 4, 26)), (Joint(20, 10, 100, _IN), Joint(-20, 12, 60)), lean=12
    ),  # jogging
    # Linemen.
    PlayerStance((Joint(78, 12, 98), Joint(50, 12, 85)), (Joint(40, 10, 70), Joint(68, 2, 6)), lean=66),  # three-point
    PlayerStance((Joint(72, 14, 95), Joint(70, 14, 95)), _both(Joint(66, 4, 8)), lean=68),  # four-point
    PlayerStance(_CROUCH, _both(Joint(55, 14, 55)), lean=42),  # two-point
    PlayerStance((Joint(40, 12, 55), Joint(2, 12, 30)), _both(Joint(84, 14, 30)), lean=20),  # blocking
    PlayerStance(
        (Joint(74, 14, 96), Joint(58, 14, 90)), (Joint(60, 8, 60), Joint(64, 3, 10)), lean=60
    ),  # three-point, high
    PlayerStance((Joint(25, 14, 30), Joint(-12, 14, 20)), _both(Joint(60, 35, 95, _HIGH)), lean=12),  # pass block
    PlayerStance((Joint(45, 13, 62), Joint(38, 13, 62)), _both(Joint(62, 4, 35, _IN)), lean=34),  # under center
    # Upright ones.
    PlayerStance(_STRAIGHT, _both(Joint(6, 12, 12)), lean=3),
    PlayerStance(_STRAIGHT, _both(Joint(4, 5, 4)), lean=0, loose=2.5),  # stiff
    PlayerStance(_STRAIGHT, _both(Joint(12, 30, 70)), lean=4),  # elbows bent
    PlayerStance(_STRAIGHT, _both(Joint(-14, 46, 100, _IN)), lean=2),  # hands on hips
    PlayerStance(_STRAIGHT, _both(Joint(-8, 40, 90, _IN)), lean=6),  # hands on hips, elbows lower
    PlayerStance((Joint(8, 9, 12), Joint(-6, 9, 12)), _both(Joint(40, 10, 95, _IN)), lean=4),  # ball before the chest
    # Quarterbacks.
    PlayerStance(
        (Joint(26, 8, 14), Joint(-16, 10, 14)), (Joint(72, 30, 25), Joint(-12, 82, 96, _BACK)), lean=-2, twist=-30
    ),
    PlayerStance(
        (Joint(14, 10, 8), Joint(-10, 10, 10)), (Joint(40, 62, 20), Joint(35, 75, 120, _BACK)), lean=0, twist=-18
    ),
    PlayerStance(_STRAIGHT, (Joint(60, 12, 85, _IN), Joint(-25, 60, 70, _HIGH)), lean=2, twist=-12),
    PlayerStance(
        (Joint(20, 8, 12), Joint(-14, 10, 12)), (Joint(60, 40, 25), Joint(0, 80, 105, _BACK)), lean=2, twist=-22
    ),
    PlayerStance(_STRAIGHT, (Joint(50, 14, 80, _IN), Joint(-15, 66, 84, _HIGH)), lean=0, twist=-8),
    # Receivers.
    PlayerStance((Joint(18, 5, 18), Joint(-12, 5, 12)), _both(Joint(150, 14, 18)), lean=-2),
    PlayerStance((Joint(40, 4, 50), Joint(-20, 4, 28)), (Joint(125, 12, 20), Joint(135, 12, 20)), lean=6),
    PlayerStance(_STRAIGHT, _both(Joint(172, 12, 8)), lean=0),  # hands up
    PlayerStance(_STRAIGHT, _both(Joint(95, 70, 80, _HIGH)), lean=2),  # hands up, elbows bent
    PlayerStance((Joint(24, 5, 28), Joint(-14, 5, 18)), _both(Joint(138, 14, 24)), lean=2),
    # Kickers.
    PlayerStance((Joint(-4, 5, 6), Joint(74, 3, 14)), (Joint(45, 55, 10), Joint(-22, 48, 10)), lean=-8),
    PlayerStance((Joint(4, 5, 6), Joint(-42, 3, 60)), (Joint(60, 40, 15), Joint(-10, 45, 10)), lean=8),
    PlayerStance((Joint(0, 5, 6), Joint(56, 3, 12)), (Joint(40, 50, 12), Joint(-16, 46, 12)), lean=-4),
    # Defenders.
    PlayerStance((Joint(10, 34, 28), Joint(2, 14, 16)), _both(Joint(25, 42, 45)), lean=14),  # side-stepping
    PlayerStance((Joint(12, 16, 16), Joint(-6, 16, 14)), _both(Joint(12, 78, 12)), lean=6),  # arms out
    PlayerStance(_STRAIGHT, _both(Joint(80, 82, 8)), lean=0),  # arms out, straight legs
    PlayerStance((Joint(35, 16, 45), Joint(8, 16, 30)), _both(Joint(75, 50, 35)), lean=24),  # tackling
    PlayerStance((Joint(60, 3, 20), Joint(-55, 3, 20)), _both(Joint(95, 20, 15)), lean=38),  # diving
    PlayerStance((Joint(16, 18, 20), Joint(-4, 18, 16)), _both(Joint(20, 66, 20)), lean=10),  # arms out, knees bent
    PlayerStance((Joint(30, 18, 40), Joint(12, 18, 32)), _both(Joint(66, 44, 40)), lean=20),  # tackling, higher
    # Those whose helmet is over the rear of the base.
    PlayerStance((Joint(34, 8, 8), Joint(18, 10, 12)), _both(Joint(70, 20, 60)), lean=-20),  # braced
    PlayerStance((Joint(55, 10, 40), Joint(40, 12, 50)), _both(Joint(86, 16, 20)), lean=-26),  # falling back
    PlayerStance((Joint(28, 8, 6), Joint(14, 10, 10)), (Joint(25, 12, 100, _IN), Joint(60, 30, 40)), lean=-18),  # spun
    PlayerStance((Joint(60, 10, 30), Joint(46, 12, 44)), _both(Joint(110, 20, 25)), lean=-24),  # catching behind him
    PlayerStance((Joint(40, 8, 10), Joint(10, 10, 14)), (Joint(20, 10, 105, _IN), Joint(-20, 40, 30)), lean=-22),
)
"""Stances by kind; neighbors are alike, since every split gets others of them."""


def draw_stance(deck: Deck, known: tuple[PlayerStance, ...]) -> PlayerStance:
    """Return one of the known stances with every joint off a little, either way round, or any that joints allow."""
    stance = known[int(deck.rng.integers(len(known)))]
    stance = _free(deck) if deck.chance(_FREE_CHANCE) else _strayed(deck, stance)
    return _mirrored(stance) if deck.chance(0.5) else stance


def _strayed(deck: Deck, stance: PlayerStance) -> PlayerStance:
    rng = deck.rng
    far = stance.loose * float(rng.choice([0.6, 1.0, 1.6]))

    def strayed(joint: Joint, share: float) -> Joint:
        a, b, c = (float(v + rng.normal(0, 0.15)) for v in joint.toward)
        return Joint(
            joint.up + rng.normal(0, share * far),
            joint.out + rng.normal(0, 0.5 * share * far),
            max(joint.bend + rng.normal(0, share * far), 0.0),
            (a, b, c),
        )

    return dataclasses.replace(
        stance,
        legs=(strayed(stance.legs[0], 0.7), strayed(stance.legs[1], 0.7)),
        arms=(strayed(stance.arms[0], 1.0), strayed(stance.arms[1], 1.0)),
        lean=stance.lean + rng.normal(0, 0.6 * far),
        twist=stance.twist + rng.normal(0, far),
    )


def _free(deck: Deck) -> PlayerStance:
    def leg() -> Joint:
        return Joint(deck.free(-35, 70), deck.free(0, 28), deck.free(0, 90))

    def arm() -> Joint:
        a, b, c = deck.rng.normal((0.8, -0.2, 0.4), 0.5).tolist()
        return Joint(deck.free(-45, 170), deck.free(0, 85), deck.free(0, 125), (a, b, c))

    return PlayerStance((leg(), leg()), (arm(), arm()), deck.free(-10, 45), float(deck.rng.normal(0, 15)))


def _mirrored(stance: PlayerStance) -> PlayerStance:
    return dataclasses.replace(stance, legs=stance.legs[::-1], arms=stance.arms[::-1], twist=-stance.twist)


Stand = Literal["none", "plate", "disc", "pegs"]


@dataclass(frozen=True, slots=True)
class Mold:
    """A mold. Lengths of bodies are shares of the height from the base's top to the helmet's top, standing straight."""

    bulk: float  # thickness of trunk and limbs, 1 for a usual one
    head: float  # head, shoulders, hips: radius of the head; half widths
    shoulders: float
    hips: float
    chest: float  # chest, belly, pads, limb, foot, arm, leg: relative sizes; pads 0 for none
    belly: float
    pads: float
    limb: float
    foot: float
    arm: float
    leg: float
    tapered: bool  # whether limbs are thickest in their middle
    cage: int  # bars of the face mask, 0 for a bare face; 3 for a lump
    bar: float  # bar, jut: thickness and reach of the bars, relative to the head's radius
    jut: float
    flat: tuple[float, float]  # factors on depth and width: older figures are cut from a sheet, along or across
    blocky: bool  # whether the trunk is a block, as of figures of bricks and printed ones
    stand: Stand  # stand, stand_mm: what is under the feet, and its height
    stand_mm: float
    stances: tuple[PlayerStance, ...]  # that the figures of this mold come in


@dataclass(frozen=True, slots=True)
class Paint:
    """Colors and surfaces of one player."""

    jersey: Color
    pants: Color
    socks: Color
    helmet: Color
    mask: Color
    skin: Color
    shoe: Color
    belt: Color
    sleeve: Color
    body: Material
    chest: Material  # of the trunk: with numbers or without
    shell: Material
    banded: Material | None  # of banded socks and sleeves; None for plain ones


def draw_mold(deck: Deck) -> Mold:
    """Return a mold of this split."""
    rng = deck.rng
    flat = (1.0, 1.0)
    if deck.chance(0.2):
        thin = deck.uniform(0.12, 0.6)
        flat = (1.0, thin) if deck.chance(0.5) else (thin, 1.0)
    several = int(rng.integers(2, 9)) if deck.chance(0.3) else 24
    stands: tuple[Stand, ...] = ("none", "plate", "disc", "pegs")
    return Mold(
        bulk=deck.uniform(0.8, 1.45),
        head=deck.uniform(0.082, 0.118),
        shoulders=deck.uniform(0.115, 0.17),
        hips=deck.uniform(0.05, 0.085),
        chest=deck.uniform(0.85, 1.2),
        belly=deck.uniform(0.8, 1.25),
        pads=deck.uniform(0.6, 1.25) if deck.chance(0.85) else 0.0,
        limb=deck.uniform(0.75, 1.3),
        foot=deck.uniform(0.75, 1.5),
        arm=deck.uniform(0.88, 1.12),
        leg=deck.uniform(0.9, 1.08),
        tapered=deck.chance(0.5),
        cage=int(rng.choice([0, 1, 1, 2, 2, 3])),
        bar=deck.uniform(0.1, 0.2),
        jut=deck.uniform(1.2, 1.5),
        flat=flat,
        blocky=deck.chance(0.15),
        stand=stands[int(rng.integers(len(stands)))],
        stand_mm=deck.uniform(0.4, 2.2),
        stances=tuple(deck.choice(STANCES) for _ in range(several)),
    )
