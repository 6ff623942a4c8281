"""Two teams drawn at random: kits, then simple figures, or molded ones with their paints, bases and glue."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize
from downfield.core.scene import Player
from downfield.twin.randomization import colors
from downfield.twin.randomization.bases import BaseStyle, add_base, draw_base, draw_base_color, draw_base_style
from downfield.twin.randomization.colors import Parts, about_x, about_y, about_z, any_color, jittered, scaled
from downfield.twin.randomization.deck import Deck
from downfield.twin.randomization.molded_player import build_player
from downfield.twin.randomization.molds import Mold, Paint, draw_mold
from downfield.twin.randomization.simple_player import POSES, Kit, shape
from downfield.twin.table.appearance import BoardAppearance, Color, FigureAppearance, Material
from downfield.twin.table.snapshot import to_vector

_SHORTEST_MM, _TALLEST_MM = 20.0, 56.0  # of players


@dataclass(frozen=True, slots=True)
class _Glue:
    """How far a team's players are glued off the place where they should stand."""

    along: float  # from the base's middle, share of its length: some sets stand over the front or the rear
    off_mm: float  # scale of the deviation from there
    turn_deg: float  # standard deviation of the turn from straight ahead
    odd: bool  # whether turns are drawn from -15 to 15 degrees instead
    tilt_deg: float  # scale of the deviation from upright, for three players in five


@dataclass(frozen=True, slots=True)
class _Team:
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


def draw_figures(deck: Deck, players: tuple[Player, ...], board: BoardAppearance) -> tuple[FigureAppearance, ...]:
    """Return one figure per player, in roster order."""
    kits = draw_kits(deck, board)
    height_mm = deck.uniform(27, 40)
    return tuple(_draw_figure(deck, player, kits[player.jersey], height_mm) for player in players)


def _draw_figure(deck: Deck, player: Player, kit: Kit, height_mm: float) -> FigureAppearance:
    pose = deck.choice(POSES)
    build = dataclasses.replace(
        pose,
        height_mm=min(max(height_mm + deck.free(-2.0, 2.0), 25.0), 45.0),
        lean_deg=pose.lean_deg + deck.free(-5, 5),
        twist_deg=pose.twist_deg + deck.free(-12, 12),
        bulk=deck.free(0.95, 1.45),
    )
    own = dataclasses.replace(kit, skin=colors.SKINS[int(deck.rng.integers(len(colors.SKINS)))])
    return shape(player.base, own, build)


def draw_kits(deck: Deck, board: BoardAppearance) -> dict[str, Kit]:
    """Return the two teams' kits, with some hard cases: bases in the board's green, clear bases, two dark teams."""
    dark = deck.choice(colors.DARKS)
    light = deck.choice(colors.LIGHTS)
    if deck.chance(0.08):
        light = _apart(deck, dark)
    shared_base = draw_base(deck, board)
    return {
        "dark": draw_kit(deck, dark, shared_base),
        "light": draw_kit(deck, light, shared_base if deck.chance(0.4) else draw_base(deck, board)),
    }


def _apart(deck: Deck, dark: Color) -> Color:
    """Return another dark color, distinct from the first in hue."""
    others = [color for color in colors.DARKS if max(abs(a - b) for a, b in zip(color, dark, strict=True)) > 0.15]
    return jittered(deck, others[int(deck.rng.integers(len(others)))], 0.02)


def draw_kit(deck: Deck, jersey: Color, base: tuple[Color, float]) -> Kit:
    """Return a team's kit about the color of its jerseys."""
    strong = deck.choice(colors.STRONG)
    pants = deck.choice((jersey, colors.LIGHTS[0], strong, colors.LIGHTS[4], (0.75, 0.68, 0.45)))
    bright = sum(jersey) > 1.5
    number = (0.08, 0.08, 0.12) if bright else (0.95, 0.95, 0.95)
    return Kit(
        base=base[0],
        base_opacity=base[1],
        jersey=jersey,
        pants=jittered(deck, pants, 0.03),
        socks=deck.choice((jersey, (0.93, 0.93, 0.93), strong, (0.1, 0.1, 0.1), jersey)),
        helmet=deck.choice((strong, jersey, strong, (0.92, 0.92, 0.92), strong, (0.72, 0.6, 0.25), jersey)),
        mask=deck.choice(((0.85, 0.85, 0.85), (0.15, 0.15, 0.15), strong, (0.8, 0.8, 0.8), (0.2, 0.2, 0.2))),
        number=number,
        skin=deck.choice(colors.SKINS),
    )


def draw_teams(deck: Deck, players: Sequence[Player], board: BoardAppearance) -> tuple[FigureAppearance, ...]:
    """Return one figure per player, in roster order."""
    kits = draw_kits(deck, board)
    if deck.chance(0.55):
        kits = {side: _odd_kit(deck, kit, board) for side, kit in kits.items()}
    tall_mm = deck.uniform(24, 40) if deck.chance(0.75) else deck.uniform(36, 50)
    telling = deck.chance(0.5)
    mold = draw_mold(deck)
    teams = {
        side: _draw_team(deck, kit, mold if deck.chance(0.5) else draw_mold(deck), board, telling=telling)
        for side, kit in kits.items()
    }
    return tuple(_figure(deck, player, teams[player.jersey], tall_mm) for player in players)


def _odd_kit(deck: Deck, kit: Kit, board: BoardAppearance) -> Kit:
    """Return a kit in any colors, beside those of the lists."""
    drawn = draw_kit(deck, any_color(deck), draw_base_color(deck, board))
    if deck.chance(0.5):
        drawn = dataclasses.replace(
            drawn, pants=any_color(deck, 0.3), helmet=any_color(deck), socks=any_color(deck, 0.3)
        )
    return dataclasses.replace(drawn, skin=kit.skin)


def _draw_team(deck: Deck, kit: Kit, mold: Mold, board: BoardAppearance, *, telling: bool) -> _Team:
    body = Material(roughness=deck.uniform(0.25, 0.9))
    if deck.chance(0.3):  # dirt
        dirt = (deck.uniform(0.2, 0.9), deck.free(0, 50), 0.95 - 0.45 * deck.uniform(0, 0.8), 0.0)
        body = dataclasses.replace(body, pattern="mottled", second=scaled(kit.jersey, 0.7, 0.04), values=dirt)
    shell = Material(roughness=deck.uniform(0.12, 0.6))
    if deck.chance(0.5):
        stripe = (deck.uniform(0.1, 0.3), 0.0, 0.0, 0.0)
        shell = dataclasses.replace(shell, pattern="stripe", second=kit.mask, values=stripe)
    glue = _Glue(
        deck.uniform(-0.42, 0.34) if deck.chance(0.5) else 0.0,
        deck.uniform(0, 3.5),
        deck.uniform(0, 6),
        deck.chance(0.25),
        deck.uniform(0, 4) if deck.chance(0.7) else deck.uniform(4, 14),
    )
    return _Team(
        kit=kit,
        mold=mold,
        base=draw_base_style(deck, kit.base, board, telling=telling),
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
    kit, skin = team.kit, colors.SKINS[int(deck.rng.integers(len(colors.SKINS)))]
    chest, banded = team.body, None
    if team.numbered:
        number = (float(deck.rng.integers(-1, 10)), float(deck.rng.integers(10)), team.number_sides, team.number_size)
        chest = dataclasses.replace(team.body, pattern="body_digits", second=kit.number, values=number)
    if team.banded and not team.limbs_bare:
        band = (deck.free(0.1, 0.35), deck.free(-0.3, 0.6), 0.0, 0.0)
        banded = dataclasses.replace(team.body, pattern="bands", second=team.band, values=band)
    limbs = kit.jersey if team.limbs_bare else None
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


def _figure(deck: Deck, player: Player, team: _Team, tall_mm: float) -> FigureAppearance:
    rng, base = deck.rng, player.base
    tall = min(max(tall_mm + float(rng.normal(0, 1.5)), _SHORTEST_MM), _TALLEST_MM)
    if team.bare:  # unpainted players are all of one plastic
        p, shell = team.kit.jersey, dataclasses.replace(team.shell, pattern="plain")
        paint = Paint(p, p, p, p, p, p, p, p, p, team.body, team.body, shell, None)
    else:
        paint = _paint(deck, team)
    block, body = Parts(), Parts(paint.body)
    add_base(block, base, team.kit.base, team.kit.base_opacity, team.base, deck)
    holds = build_player(body, team.mold, paint, deck, tall, base.height_mm)
    turn, shift = _glued(deck, team.glue, base)
    body.moved(turn, shift)
    held = [to_vector(place) for place in holds @ turn.T + shift]
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
