"""What figures of one mold and paint share: proportions, face masks, numbers, the stand under their feet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from downfield.twin.appearance import Color
from downfield.twin.materials import Material
from downfield.twin.randomization.deck import Deck
from downfield.twin.variation.stances import STANCES, PlayerStance

Stand = Literal["none", "plate", "disc", "pegs"]


@dataclass(frozen=True, slots=True)
class Mold:
    """A mold. Lengths of bodies are shares of the height from the base's top to the helmet's top, standing straight.

    Attributes:
        bulk: thickness of trunk and limbs, 1 for a usual one.
        head, shoulders, hips: radius of the head; half widths.
        chest, belly, pads, limb, foot, arm, leg: relative sizes; pads 0 for none.
        tapered: whether limbs are thickest in their middle.
        cage: bars of the face mask, 0 for a bare face; 3 for a lump.
        bar, jut: thickness and reach of the bars, relative to the head.
        flat: relative depth and width: older figures are cut from a sheet, along or across.
        stand, stand_mm: what is under the feet, and its height.
        stances: of the set.

    """

    bulk: float
    head: float
    shoulders: float
    hips: float
    chest: float
    belly: float
    pads: float
    limb: float
    foot: float
    arm: float
    leg: float
    tapered: bool
    cage: int
    bar: float
    jut: float
    flat: tuple[float, float]
    stand: Stand
    stand_mm: float
    stances: tuple[PlayerStance, ...]


@dataclass(frozen=True, slots=True)
class Paint:
    """Colors and surfaces of one player.

    Attributes:
        jersey, pants, socks, helmet, mask, skin, shoe, belt, sleeve: colors.
        body: surface of most parts.
        chest: of the trunk: with numbers or without.
        shell: of the helmet.
        banded: of banded socks and sleeves; None for plain ones.

    """

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
    chest: Material
    shell: Material
    banded: Material | None


def draw_mold(deck: Deck) -> Mold:
    """Return a mold of this split."""
    rng = deck.rng
    flat = (1.0, 1.0)
    if deck.chance(0.1):
        flat = (1.0, deck.uniform(0.3, 0.6)) if deck.chance(0.5) else (deck.uniform(0.35, 0.6), 1.0)
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
        stand=stands[int(rng.integers(len(stands)))],
        stand_mm=deck.uniform(0.4, 2.2),
        stances=tuple(deck.choice(STANCES) for _ in range(several)),
    )
