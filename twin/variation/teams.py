"""Two teams: molds, paints and bases, and how the players are glued on."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize
from downfield.core.scene import Player
from downfield.twin.appearance import BoardAppearance, Color, FigureAppearance
from downfield.twin.materials import Material
from downfield.twin.randomization import palettes
from downfield.twin.randomization.deck import Deck
from downfield.twin.randomization.figure_draw import draw_kit, draw_kits
from downfield.twin.randomization.figure_shape import Kit
from downfield.twin.snapshot import Vector
from downfield.twin.variation.bases import BaseStyle, add_base, draw_base_color, draw_base_style
from downfield.twin.variation.colors import any_color, scaled
from downfield.twin.variation.mold import Mold, Paint, draw_mold
from downfield.twin.variation.molded_player import build_player
from downfield.twin.variation.parts import Parts
from downfield.twin.variation.turns import about_x, about_y, about_z

_SHORTEST_MM, _TALLEST_MM = 20.0, 56.0  # of players


@dataclass(frozen=True, slots=True)
class _Glue:
    """How far players are off where they should stand.

    Attributes:
        along: from the base's middle, share of its length: some sets stand over the front or the rear.
        off_mm: from there.
        turn_deg: from straight ahead; standard deviation.
        odd: whether some are turned by much.
        tilt_deg: from upright.

    """

    along: float
    off_mm: float
    turn_deg: float
    odd: bool
    tilt_deg: float


@dataclass(frozen=True, slots=True)
class _Team:
    """What a team's figures share."""

    kit: Kit
    mold: Mold
    base: BaseStyle
    body: Material
    shell: Material
    numbered: bool
    number_size: float
    number_sides: float
    banded: bool
    band: Color
    shoe: Color
    belt: Color
    bare: bool
    limbs_bare: bool
    glue: _Glue


def draw_teams(deck: Deck, players: Sequence[Player], board: BoardAppearance) -> tuple[FigureAppearance, ...]:
    """Return one figure per player, in roster order."""
    kits = draw_kits(deck, board)
    if deck.chance(0.55):
        kits = {side: _odd_kit(deck, kit, board) for side, kit in kits.items()}
    tall_mm = deck.uniform(24, 40) if deck.chance(0.75) else deck.uniform(36, 50)
    telling = deck.chance(0.5)
    mold = draw_mold(deck)
    teams = {
        side: _draw_team(deck, kit, mold if deck.chance(0.5) else draw_mold(deck), telling=telling)
        for side, kit in kits.items()
    }
    return tuple(_figure(deck, player, teams[player.jersey], tall_mm) for player in players)


def _odd_kit(deck: Deck, kit: Kit, board: BoardAppearance) -> Kit:
    """Return a kit in colors that the twin's lists do not have."""
    drawn = draw_kit(deck, any_color(deck), draw_base_color(deck, board))
    if deck.chance(0.5):
        drawn = dataclasses.replace(
            drawn, pants=any_color(deck, 0.3), helmet=any_color(deck), socks=any_color(deck, 0.3)
        )
    return dataclasses.replace(drawn, skin=kit.skin)


def _draw_team(deck: Deck, kit: Kit, mold: Mold, *, telling: bool) -> _Team:
    body = Material(roughness=deck.uniform(0.25, 0.9))
    if deck.chance(0.3):  # dirt
        dirt = (deck.uniform(0.2, 0.9), deck.free(0, 50), 0.95 - 0.45 * deck.uniform(0, 0.8), 0.0)
        body = dataclasses.replace(body, pattern="mottled", second=scaled(kit.jersey, 0.7, 0.04), values=dirt)
    shell = Material(roughness=deck.uniform(0.12, 0.6))
    if deck.chance(0.5):
        stripe = (deck.uniform(0.1, 0.3), 0.0, 0.0, 0.0)
        shell = dataclasses.replace(shell, pattern="stripe", second=kit.mask, values=stripe)
    glue = _Glue(
        deck.uniform(-0.3, 0.34) if deck.chance(0.5) else 0.0,
        deck.uniform(0, 3.5),
        deck.uniform(0, 6),
        deck.chance(0.25),
        deck.uniform(0, 4) if deck.chance(0.7) else deck.uniform(4, 14),
    )
    return _Team(
        kit=kit,
        mold=mold,
        base=draw_base_style(deck, kit.base, telling=telling),
        body=body,
        shell=shell,
        numbered=deck.chance(0.75),
        number_size=deck.uniform(0.45, 0.8),
        number_sides=float(deck.rng.choice([1.0, 2.0, 2.0])),
        banded=deck.chance(0.45),
        band=any_color(deck),
        shoe=(0.05, 0.05, 0.06) if deck.chance(0.5) else any_color(deck, 0.4),
        belt=any_color(deck, 0.3) if deck.chance(0.6) else kit.pants,
        bare=deck.chance(0.18),
        limbs_bare=deck.chance(0.15),
        glue=glue,
    )


def _paint(deck: Deck, team: _Team) -> Paint:
    """Return one player's paint."""
    kit, skin = team.kit, palettes.SKINS[int(deck.rng.integers(len(palettes.SKINS)))]
    plastic = kit.jersey
    chest, banded = team.body, None
    if team.numbered:
        number = (float(deck.rng.integers(-1, 10)), float(deck.rng.integers(10)), team.number_sides, team.number_size)
        chest = dataclasses.replace(team.body, pattern="body_digits", second=kit.number, values=number)
    if team.banded and not team.limbs_bare:
        band = (deck.free(0.1, 0.35), deck.free(-0.3, 0.6), 0.0, 0.0)
        banded = dataclasses.replace(team.body, pattern="bands", second=team.band, values=band)
    limbs = plastic if team.limbs_bare else None
    return Paint(
        jersey=kit.jersey,
        pants=kit.pants,
        socks=limbs or kit.socks,
        helmet=kit.helmet,
        mask=kit.mask,
        skin=limbs or skin,
        shoe=limbs or team.shoe,
        belt=team.belt,
        sleeve=limbs or (skin if deck.chance(0.2) else kit.jersey),
        body=team.body,
        chest=chest,
        shell=team.shell,
        banded=banded,
    )


def _plain_paint(team: _Team) -> Paint:
    """Return the paint of unpainted players, who are all of one plastic."""
    p, shell = team.kit.jersey, dataclasses.replace(team.shell, pattern="plain")
    return Paint(p, p, p, p, p, p, p, p, p, team.body, team.body, shell, None)


def _figure(deck: Deck, player: Player, team: _Team, tall_mm: float) -> FigureAppearance:
    rng, base = deck.rng, player.base
    tall = min(max(tall_mm + float(rng.normal(0, 1.5)), _SHORTEST_MM), _TALLEST_MM)
    paint = _plain_paint(team) if team.bare else _paint(deck, team)
    block, body = Parts(), Parts(paint.body)
    add_base(block, base, team.kit.base, team.kit.base_opacity, team.base, deck)
    holds = build_player(body, team.mold, paint, deck, tall, base.height_mm)
    turn, shift = _glued(deck, team.glue, base)
    body.moved(turn, shift)
    held = [_vector(place) for place in holds @ turn.T + shift]
    return FigureAppearance((*block.solids(), *body.solids()), tuple(held))


def _glued(deck: Deck, glue: _Glue, base: BaseSize) -> tuple[Array, Array]:
    """Return turn and shift of a player from where he should stand: off the middle, turned, now and then aslant."""
    rng = deck.rng
    yaw = deck.free(-15, 15) if glue.odd else float(rng.normal(0, glue.turn_deg))
    tilt = glue.tilt_deg if deck.chance(0.6) else 0.0
    turn = about_x(float(rng.normal(0, 0.7)) * tilt) @ about_y(float(rng.normal(0, 0.7)) * tilt) @ about_z(yaw)
    top = np.array([0.0, 0.0, base.height_mm])
    off = np.array([rng.normal(0, 0.9), rng.normal(0, 0.45), 0.0]) * glue.off_mm
    off[0] += glue.along * base.length_mm
    return turn, off + top - turn @ top


def _vector(place: Array) -> Vector:
    x, y, z = place.tolist()
    return (x, y, z)
