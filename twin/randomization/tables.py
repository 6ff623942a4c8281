"""One table drawn from a seed: print, figures, light, clutter and camera. The entry of the package.

Training, validation and test tables share no seed and no setting: see `twin.randomization.deck`. Two varieties:

- ``usual``: simple figures on the twin's own bases, a few lamps, boxes beside the board. Cheap to draw in bulk: plays
  are filmed on such tables, and the compositor draws its data sets of them.
- ``wide``: everything varied that a real table may vary, with materials and rooms that only the path tracer shows, to
  train and to calibrate on. What is the same in all training pictures becomes a false cue.
"""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import Final, Literal

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize
from downfield.core.scene import Jersey, Player
from downfield.twin.randomization import colors
from downfield.twin.randomization.bases import draw_bases, vary_bases
from downfield.twin.randomization.boards import draw_board, draw_bow, draw_field, vary_board, vary_field, vary_numerals
from downfield.twin.randomization.cameras import (
    draw_camera,
    draw_lamps,
    draw_sensor,
    draw_surroundings,
    draw_view,
    draw_webcam,
    skin_and_sleeve,
    vary_lamps,
)
from downfield.twin.randomization.clutter import draw_clutter, draw_varied_clutter
from downfield.twin.randomization.colors import any_color, is_bright, near
from downfield.twin.randomization.deck import Deck, Split
from downfield.twin.randomization.teams import draw_figures, draw_teams
from downfield.twin.table.appearance import Appearance, Color, FigureAppearance, Material, Solid
from downfield.twin.table.snapshot import FOAM_BALL_MM, MAGNETIC_BALL_MM, BallKind, to_vector
from downfield.twin.table.solids import quaternion_of

Variety = Literal["usual", "wide"]

_JERSEYS: Final[tuple[Jersey, ...]] = ("dark", "light")
_PER_SIDE: Final = 11
_WIDE: Final = 0x7A  # first number of the decks of wide tables


# Brown, white, black, orange, gray and yellow balls; neighbors are alike, since every split gets others of them.
INKS: tuple[Color, ...] = (
    (0.42, 0.24, 0.12), (0.45, 0.26, 0.14), (0.30, 0.16, 0.09), (0.28, 0.15, 0.09), (0.22, 0.12, 0.07),
    (0.93, 0.92, 0.88), (0.90, 0.90, 0.86), (0.04, 0.04, 0.045), (0.06, 0.06, 0.065), (0.10, 0.10, 0.11),
    (0.85, 0.42, 0.10), (0.82, 0.45, 0.14), (0.45, 0.45, 0.46), (0.28, 0.28, 0.29), (0.40, 0.40, 0.41),
    (0.95, 0.85, 0.20), (0.92, 0.82, 0.26), (0.50, 0.30, 0.16), (0.46, 0.28, 0.15), (0.52, 0.33, 0.18),
)  # fmt: skip
_ARM_MM = ((-2.0, 7.0), (4.5, 10.0), (12.0, 20.0))  # place of a ball in an arm: ahead, to a side, over the board
_BALL_TURN_DEG = 40.0  # largest turn of such a ball from the figure's heading
_STREWN_MM = (12.0, 75.0)  # distance of a ball on the board from the middle of a base
_HELD_SPREAD_MM = 0.8  # standard deviation of a ball's place in a hand
_IN_HANDS_CHANCE = 0.75  # of a held ball where the mold says, otherwise in an arm
_AT_BASE_CHANCE = 0.25  # of a ball on the board that touches its figure's base
_LACE, _STITCH = (0.36, 0.1, 0.12), (0.045, 0.3, 0.1)  # half sizes: shares of the half length and radius, and mm up


def draw_ball(deck: Deck, kind: BallKind = "foam") -> FigureAppearance:
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


def with_ball_at(
    figure: FigureAppearance, ball: FigureAppearance, spot: Array, turn: Rotation, part: Literal["ball", "strewn"]
) -> FigureAppearance:
    """Return a figure with a ball of its own: in an arm (``ball``) or on the board beside it (``strewn``).

    Args:
        spot: place of the ball's middle in the figure's frame, mm.
        part: part that its solids are named: held (``ball``) or on the board (``strewn``).
    """
    solids = []
    for solid in ball.solids:
        middle = to_vector(spot + turn.apply(solid.position_mm))
        turned = quaternion_of(turn * Rotation.from_quat(solid.rotation, scalar_first=True))
        solids.append(dataclasses.replace(solid, position_mm=middle, rotation=turned, part=part))
    return dataclasses.replace(figure, solids=(*figure.solids, *solids))


def draw_varied_ball(deck: Deck, kind: BallKind) -> FigureAppearance:
    """Return a ball whose lowest point is where that of the twin's own ball of this kind is."""
    ink = any_color(deck, 0.2) if deck.chance(0.08) else near(deck, deck.choice(INKS), 1.0, 0.03)
    lace: Color = (0.08, 0.08, 0.08) if is_bright(ink) else (0.93, 0.93, 0.9)
    if deck.chance(0.1):
        lace = any_color(deck)
    solids, rest = _magnetic(deck, ink, lace) if kind == "magnetic" else _foam(deck, ink, lace)
    usual = MAGNETIC_BALL_MM[1] if kind == "magnetic" else FOAM_BALL_MM[1]
    lowered = [
        dataclasses.replace(solid, position_mm=(*solid.position_mm[:2], solid.position_mm[2] + rest - usual))
        for solid in solids
    ]
    return FigureAppearance(tuple(lowered))


def _magnetic(deck: Deck, ink: Color, lace: Color) -> tuple[list[Solid], float]:
    radius, half = deck.uniform(1.5, 4.6), deck.uniform(0.7, 3.0)
    surface = Material(roughness=deck.uniform(0.12, 0.8), bevel_mm=deck.uniform(0, 0.6))
    if deck.chance(0.2):  # bare metal
        surface = dataclasses.replace(surface, roughness=deck.uniform(0.15, 0.4), reflectance=deck.uniform(0.2, 0.5))
    put = partial(Solid, part="other", material=surface)
    solids = [put("cylinder", (radius, half, 0.0), (0.0, 0.0, 0.0), color=ink)]
    print_kind = int(deck.rng.integers(4))
    if print_kind == 0:  # a football's picture
        size = (0.72 * radius, 0.42 * radius, 0.35)
        solids.append(put("ellipsoid", size, (0.0, 0.0, half - 0.15), color=lace))
    elif print_kind == 1:  # a cross
        long, thin = 0.7 * radius, 0.14 * radius
        solids += [put("box", size, (0.0, 0.0, half), color=lace) for size in ((long, thin, 0.1), (thin, long, 0.1))]
    return solids, half


def _foam(deck: Deck, ink: Color, lace: Color) -> tuple[list[Solid], float]:
    long = deck.uniform(1.7, 5.2)
    across = max(long * deck.uniform(0.52, 0.78), 1.4) if deck.chance(0.9) else long
    surface = Material(roughness=deck.uniform(0.4, 1.0), reflectance=0.03)
    skin = surface
    if deck.chance(0.35):  # felt, or worn foam
        worn = near(deck, ink, deck.uniform(0.75, 0.9), 0.0)
        values = (deck.uniform(0.6, 2.5), deck.free(0, 50), deck.uniform(0.45, 0.65), 0.0)
        skin = Material(roughness=0.98, reflectance=0.03, pattern="mottled", second=worn, values=values)
    put = partial(Solid, part="other", material=surface)
    solids = [put("ellipsoid", (long, across, across), (0.0, 0.0, 0.0), color=ink, material=skin)]
    if deck.chance(0.7):
        a, b, c = _LACE
        solids.append(put("box", (a * long, b * across, c), (0.0, 0.0, 0.96 * across), color=lace))
        if deck.chance(0.4):
            a, b, c = _STITCH
            size, at = (a * long, b * across, c), [(x * long, 0.0, 0.95 * across) for x in (-0.22, 0.0, 0.22)]
            solids += [put("box", size, place, color=lace) for place in at]
    if deck.chance(0.3):  # rings
        lengthwise = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
        for x in (-0.62, 0.62):
            size = (1.03 * across * math.sqrt(1 - x * x), 0.07 * long, 0.0)
            solids.append(put("cylinder", size, (x * long, 0.0, 0.0), lengthwise, lace))
    return solids, across


def give_balls(
    deck: Deck, figures: tuple[FigureAppearance, ...], carriers: float, strewn: float, variety: Variety = "usual"
) -> tuple[FigureAppearance, ...]:
    """Return the figures with balls of their own, to train on: in hands and arms, or on the board beside them.

    A game has one ball, which at most one figure of 22 carries: too few examples for training.

    Args:
        carriers: share of them that hold a ball, 0..1.
        strewn: share of them with a ball on the board beside them instead, 0..1 - `carriers`.
    """
    out = []
    for figure in figures:
        if deck.chance(carriers):
            figure = _holding(deck, figure, variety)
        elif strewn and deck.chance(strewn / (1 - carriers)):
            figure = _beside(deck, figure, variety)
        out.append(figure)
    return tuple(out)


def _holding(deck: Deck, figure: FigureAppearance, variety: Variety) -> FigureAppearance:
    if figure.holds_mm and deck.chance(_IN_HANDS_CHANCE):
        place = figure.holds_mm[int(deck.rng.integers(len(figure.holds_mm)))]
        spot = np.array(place) + deck.rng.normal(0, _HELD_SPREAD_MM, 3)
    else:
        ahead, aside, over = (deck.free(*limits) for limits in _ARM_MM)
        spot = np.array([ahead, aside if deck.chance(0.5) else -aside, over])
    if variety == "usual":
        turn = Rotation.from_euler("z", deck.free(-_BALL_TURN_DEG, _BALL_TURN_DEG), degrees=True)
        return with_ball_at(figure, draw_ball(deck), spot, turn, "ball")
    wild = 1.0 if deck.chance(0.6) else 3.6
    turn = Rotation.from_euler("zyx", deck.rng.uniform(-50, 50, 3) * [wild, wild / 2, wild / 2], degrees=True)
    return with_ball_at(figure, draw_varied_ball(deck, "foam"), spot, turn, "ball")


def _beside(deck: Deck, figure: FigureAppearance, variety: Variety) -> FigureAppearance:
    kind: BallKind = "magnetic" if deck.chance(0.5) else "foam"
    if variety == "wide" and deck.chance(_AT_BASE_CHANCE):
        base = next(solid for solid in figure.solids if solid.part == "base")
        edge = deck.rng.uniform(-1, 1, 2)
        edge[int(deck.rng.integers(2))] = deck.rng.choice([-1.0, 1.0])
        x, y = edge * np.array(base.size_mm[:2]) + deck.rng.normal(1.0, 2.0, 2) * np.sign(edge)
    else:
        bearing, away = deck.free(0, 2 * np.pi), deck.free(*_STREWN_MM)
        x, y = away * np.cos(bearing), away * np.sin(bearing)
    height = MAGNETIC_BALL_MM[1] if kind == "magnetic" else FOAM_BALL_MM[1]
    turn = Rotation.from_euler("z", deck.free(-180, 180), degrees=True)
    ball = draw_ball(deck, kind) if variety == "usual" else draw_varied_ball(deck, kind)
    return with_ball_at(figure, ball, np.array([x, y, height]), turn, "strewn")


def draw_table(
    seed: int,
    players: tuple[Player, ...],
    *,
    variety: Variety = "usual",
    field: FieldModel | None = None,
    split: Split = "train",
    size: tuple[int, int] = (1920, 1080),
    fps: float = 30.0,
    ball: BallKind = "foam",
    carriers: float = 0.0,
    strewn: float = 0.0,
) -> Appearance:
    """Return the appearance of a whole table; equal arguments give equal appearances.

    Args:
        seed: of all draws, together with the split and the variety.
        players: the roster; figures are drawn in its order, on bases of the sizes it carries.
        variety: how widely tables differ from one another.
        field: the printed field; drawn with the same seed when None.
        ball: the kind of ball that the appearance shows wherever there is a ball.
        carriers: share of the figures that hold a ball of their own, 0..1, for training; a game has one ball, which at
            most one figure of 22 carries.
        strewn: share of the figures with a ball on the board beside them, 0..1 - `carriers`.
    """

    # The numbers of the decks are part of what a seed means: another number is another table.
    def deck(*numbers: int) -> Deck:
        return Deck(split, seed, *numbers)

    around = None
    if variety == "usual":
        field = field or draw_field(seed, split=split)
        board = dataclasses.replace(draw_board(deck(2), field, seed), bow_mm=draw_bow(deck(11)))
        figures = give_balls(deck(12), draw_figures(deck(3), players, board), carriers, strewn)
        lamps, clutter = draw_lamps(deck(6), field), draw_clutter(deck(8), field, board)
        camera, sensor = draw_camera(deck(9), field, board, size), draw_sensor(deck(10), fps, size)
        table, own_ball = deck(7).choice(colors.TABLES), draw_ball(deck(4), ball)
        skin, sleeve = skin_and_sleeve(deck(5))
    else:
        field = field or vary_field(deck(_WIDE, 0), draw_field(seed, split=split))
        board = vary_board(deck(_WIDE, 2), draw_board(deck(_WIDE, 1), field, seed))
        board = vary_numerals(deck(_WIDE, 15), board)
        board = dataclasses.replace(board, bow_mm=draw_bow(deck(_WIDE, 3)))
        around = draw_surroundings(deck(_WIDE, 7), board.gloss)
        figures = give_balls(deck(_WIDE, 10), draw_teams(deck(_WIDE, 8), players, board), carriers, strewn, "wide")
        lamps = vary_lamps(deck(_WIDE, 5), draw_lamps(deck(_WIDE, 6), field), field)
        clutter = draw_varied_clutter(deck(_WIDE, 12), field, board, around.table_z_mm)
        camera, sensor = draw_view(deck(_WIDE, 13), field, board, size), draw_webcam(deck(_WIDE, 14), fps, size)
        cloth, own_ball = deck(_WIDE, 9), draw_varied_ball(deck(_WIDE, 11), ball)
        skin, sleeve = skin_and_sleeve(deck(_WIDE, 4))
        table = cloth.choice(colors.TABLES) if cloth.chance(0.6) else any_color(cloth, 0.4)
        sleeve = any_color(cloth, 0.2) if cloth.chance(0.4) else sleeve
    return Appearance(
        seed=seed,
        field=field,
        board=board,
        figures=figures,
        ball=own_ball,
        lamps=lamps,
        ambient=1 - sum(lamp.strength for lamp in lamps),
        table=table,
        clutter=clutter,
        skin=skin,
        sleeve=sleeve,
        camera=camera,
        sensor=sensor,
        surroundings=around,
    )


def draw_players(
    seed: int, per_side: int | None = None, *, variety: Variety = "usual", split: Split = "train"
) -> tuple[Player, ...]:
    """Return two teams with drawn bases: ``dark-1`` .. then ``light-1`` ...

    Args:
        per_side: figures of a team; None for eleven, in the wide variety on a quarter of the tables fewer.
        variety: ``wide`` gives most tables bases of other makes than the twin's own.
    """
    if variety == "usual":
        return _roster(draw_bases(seed, 2 * (per_side or _PER_SIDE), split=split))
    deck = Deck(split, seed, 0x51)
    drawn = _PER_SIDE if deck.chance(0.75) else int(deck.rng.integers(4, 11))
    return vary_bases(deck, _roster(draw_bases(seed, 2 * (per_side or drawn), split=split)))


def _roster(sizes: tuple[BaseSize, ...]) -> tuple[Player, ...]:
    per_side = len(sizes) // 2
    return tuple(
        Player(f"{jersey}-{number}", jersey, str(number), base=sizes[i * per_side + number - 1])
        for i, jersey in enumerate(_JERSEYS)
        for number in range(1, per_side + 1)
    )
