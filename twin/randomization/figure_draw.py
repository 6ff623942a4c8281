"""Two teams drawn at random: kits, poses, proportions; and the ball."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.core.scene import Player
from downfield.twin.appearance import BoardAppearance, Color, FigureAppearance, Solid
from downfield.twin.measures import FOAM_BALL_MM, MAGNETIC_BALL_MM
from downfield.twin.randomization import palettes
from downfield.twin.randomization.deck import Deck
from downfield.twin.randomization.figure_shape import POSES, Kit, shape

_ARM_MM = ((-2.0, 7.0), (4.5, 10.0), (12.0, 20.0))  # place of practice balls: ahead, to a side, over the board
_BALL_TURN_DEG = 40.0
_STREWN_MM = (12.0, 75.0)  # distance of practice balls from the middle of a base


def draw_figures(deck: Deck, players: tuple[Player, ...], board: BoardAppearance) -> tuple[FigureAppearance, ...]:
    """Return one figure per player, in roster order."""
    kits = draw_kits(deck, board)
    height_mm = deck.uniform(27, 40)
    return tuple(_draw_figure(deck, player, kits[player.jersey], height_mm) for player in players)


def draw_kits(deck: Deck, board: BoardAppearance) -> dict[str, Kit]:
    """Return the two teams' kits, with some hard cases: bases in the board's green, clear bases, two dark teams."""
    dark = deck.choice(palettes.DARKS)
    light = deck.choice(palettes.LIGHTS)
    if deck.chance(0.08):
        light = _apart(deck, dark)
    shared_base = draw_base(deck, board)
    return {
        "dark": draw_kit(deck, dark, shared_base),
        "light": draw_kit(deck, light, shared_base if deck.chance(0.4) else draw_base(deck, board)),
    }


def draw_ball(deck: Deck, kind: Literal["foam", "magnetic"] = "foam") -> FigureAppearance:
    """Return the foam football, or the magnetic ball: a disc with a football or a cross; brown, white or yellow."""
    brown = (deck.uniform(0.40, 0.50), deck.uniform(0.22, 0.30), deck.uniform(0.10, 0.18))
    bright = (deck.uniform(0.85, 1.0), deck.uniform(0.75, 1.0), deck.uniform(0.1, 0.9))
    color = brown if deck.chance(0.5) else bright
    lace = (0.95, 0.95, 0.92)
    if kind == "magnetic":
        radius, half = MAGNETIC_BALL_MM
        sign = Solid("ellipsoid", (3.2, 1.9, 0.5), (0.0, 0.0, half - 0.2), color=lace, part="other")
        return FigureAppearance(
            (Solid("cylinder", (radius, half, 0.0), (0.0, 0.0, 0.0), color=color, part="other"), sign)
        )
    long, across = FOAM_BALL_MM
    return FigureAppearance(
        (
            Solid("ellipsoid", (long, across, across), (0.0, 0.0, 0.0), color=color, part="other"),
            Solid("box", (1.4, 0.3, 0.25), (0.0, 0.0, 2.4), color=lace, part="other"),
        )
    )


def give_balls(
    deck: Deck, figures: tuple[FigureAppearance, ...], carriers: float, strewn: float = 0.0
) -> tuple[FigureAppearance, ...]:
    """Return the figures with practice balls of their own, as training for the detector.

    A game has one ball, which at most one figure of 22 carries: too few examples for training.

    Args:
        deck: of random draws.
        figures: without balls.
        carriers: approximate share of them with a ball in the left or right arm.
        strewn: share of them with a ball lying on the board nearby instead.

    """
    out = []
    for figure in figures:
        if deck.chance(carriers):
            figure = _with_ball(deck, figure)
        elif strewn and deck.chance(strewn / (1 - carriers)):
            figure = _beside_ball(deck, figure)
        out.append(figure)
    return tuple(out)


def _with_ball(deck: Deck, figure: FigureAppearance) -> FigureAppearance:
    ahead, aside, over = (deck.free(*limits) for limits in _ARM_MM)
    spot = np.array([ahead, aside if deck.chance(0.5) else -aside, over])
    turn = Rotation.from_euler("z", deck.free(-_BALL_TURN_DEG, _BALL_TURN_DEG), degrees=True)
    return with_ball_at(figure, draw_ball(deck), spot, turn, "ball")


def _beside_ball(deck: Deck, figure: FigureAppearance) -> FigureAppearance:
    magnetic = deck.chance(0.5)
    bearing, away = deck.free(0, 2 * np.pi), deck.free(*_STREWN_MM)
    height = (MAGNETIC_BALL_MM if magnetic else FOAM_BALL_MM)[1]
    spot = np.array([away * np.cos(bearing), away * np.sin(bearing), height])
    turn = Rotation.from_euler("z", deck.free(-180, 180), degrees=True)
    return with_ball_at(figure, draw_ball(deck, "magnetic" if magnetic else "foam"), spot, turn, "strewn")


def with_ball_at(
    figure: FigureAppearance, ball: FigureAppearance, spot: Array, turn: Rotation, part: Literal["ball", "strewn"]
) -> FigureAppearance:
    """Return a figure with a ball of its own: in an arm (``ball``) or on the board beside it (``strewn``).

    Args:
        figure: without it.
        ball: its solids.
        spot: place of its middle in the figure's frame, mm.
        turn: its attitude there.
        part: name of its solids' part.

    """
    solids = []
    for solid in ball.solids:
        middle = (spot + turn.apply(solid.position_mm)).tolist()
        w, x, y, z = (turn * Rotation.from_quat(solid.rotation, scalar_first=True)).as_quat(scalar_first=True).tolist()
        solids.append(
            dataclasses.replace(solid, position_mm=(middle[0], middle[1], middle[2]), rotation=(w, x, y, z), part=part)
        )
    return dataclasses.replace(figure, solids=(*figure.solids, *solids))


def draw_base(deck: Deck, board: BoardAppearance) -> tuple[Color, float]:
    """Return color and opacity of a team's bases."""
    kind = deck.rng.random()
    if kind < 0.22:  # clear: the board shows through
        tint = deck.uniform(0.75, 0.95)
        return (tint, tint, tint), deck.uniform(0.25, 0.6)
    if kind < 0.42:  # near the board's own color
        grass = board.grass[0]
        return _jitter(deck, grass, 0.07), 1.0
    return _jitter(deck, deck.choice(palettes.BASES), 0.03), 1.0


def draw_kit(deck: Deck, jersey: Color, base: tuple[Color, float]) -> Kit:
    """Return a team's kit about the color of its jerseys."""
    strong = deck.choice(palettes.STRONG)
    pants = deck.choice((jersey, palettes.LIGHTS[0], strong, palettes.LIGHTS[4], (0.75, 0.68, 0.45)))
    bright = sum(jersey) > 1.5
    number = (0.08, 0.08, 0.12) if bright else (0.95, 0.95, 0.95)
    return Kit(
        base=base[0],
        base_opacity=base[1],
        jersey=jersey,
        pants=_jitter(deck, pants, 0.03),
        socks=deck.choice((jersey, (0.93, 0.93, 0.93), strong, (0.1, 0.1, 0.1), jersey)),
        helmet=deck.choice((strong, jersey, strong, (0.92, 0.92, 0.92), strong, (0.72, 0.6, 0.25), jersey)),
        mask=deck.choice(((0.85, 0.85, 0.85), (0.15, 0.15, 0.15), strong, (0.8, 0.8, 0.8), (0.2, 0.2, 0.2))),
        number=number,
        skin=deck.choice(palettes.SKINS),
    )


def _draw_figure(deck: Deck, player: Player, kit: Kit, height_mm: float) -> FigureAppearance:
    pose = deck.choice(POSES)
    build = dataclasses.replace(
        pose,
        height_mm=min(max(height_mm + deck.free(-2.0, 2.0), 25.0), 45.0),
        lean_deg=pose.lean_deg + deck.free(-5, 5),
        twist_deg=pose.twist_deg + deck.free(-12, 12),
        bulk=deck.free(0.95, 1.45),
    )
    own = dataclasses.replace(kit, skin=palettes.SKINS[int(deck.rng.integers(len(palettes.SKINS)))])
    return shape(player.base, own, build)


def _apart(deck: Deck, dark: Color) -> Color:
    """Return another dark color, distinct from the first in hue."""
    others = [color for color in palettes.DARKS if max(abs(a - b) for a, b in zip(color, dark, strict=True)) > 0.15]
    return _jitter(deck, others[int(deck.rng.integers(len(others)))], 0.02)


def _jitter(deck: Deck, color: Color, by: float) -> Color:
    red, green, blue = (min(max(channel + deck.free(-by, by), 0.0), 1.0) for channel in color)
    return (red, green, blue)
