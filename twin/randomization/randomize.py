"""One table drawn from a seed: print, figures, light, clutter and camera.

Training, validation and test tables share no seed and no setting: see `twin.randomization.deck`.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from downfield.core.field.model import FieldModel, preset
from downfield.core.footprint import BaseSize
from downfield.core.scene import Jersey, Player
from downfield.twin.appearance import Appearance
from downfield.twin.randomization.camera_draw import draw_camera, draw_sensor
from downfield.twin.randomization.deck import Deck, Split
from downfield.twin.randomization.figure_draw import draw_ball, draw_figures, give_balls
from downfield.twin.randomization.table_draw import (
    draw_board,
    draw_bow,
    draw_clutter,
    draw_lamps,
    skin_and_sleeve,
    table_color,
)

_PRESETS = (
    *("tudor-620", "ultimate", "ultimate", "tudor-620", "monster"),
    *("canadian", "tudor-620", "tudor-620", "ultimate", "mini"),
    *("ultimate", "arena-50", "arena-50", "monster", "tudor-620"),
)  # dealt among the splits by `Deck.choice`: each gets several kinds of board
_JERSEYS: tuple[Jersey, ...] = ("dark", "light")


def draw(
    seed: int,
    players: tuple[Player, ...],
    *,
    field: FieldModel | None = None,
    split: Split = "train",
    size: tuple[int, int] = (1920, 1080),
    fps: float = 30.0,
    ball: Literal["foam", "magnetic"] = "foam",
    carriers: float = 0.0,
    strewn: float = 0.0,
) -> Appearance:
    """Return the appearance of a whole table.

    Args:
        seed: of all draws, together with the split.
        players: the roster; figures are drawn in its order, with the base sizes it carries.
        field: the printed field; drawn by `draw_field` with the same seed when None.
        split: draws come from this split's share of the settings.
        size: of the picture, px.
        fps: frames a second.
        ball: the kind of ball that the appearance shows wherever there is a ball.
        carriers: share of the figures with a ball of their own in an arm, to train the detector.
        strewn: share of them with a ball lying nearby.

    """
    field = field or draw_field(seed, split=split)
    board = dataclasses.replace(draw_board(Deck(split, seed, 2), field, seed), bow_mm=draw_bow(Deck(split, seed, 11)))
    skin, sleeve = skin_and_sleeve(Deck(split, seed, 5))
    figures = draw_figures(Deck(split, seed, 3), players, board)
    return Appearance(
        seed=seed,
        field=field,
        board=board,
        figures=give_balls(Deck(split, seed, 12), figures, carriers, strewn),
        ball=draw_ball(Deck(split, seed, 4), ball),
        lamps=(lamps := draw_lamps(Deck(split, seed, 6), field)),
        ambient=1 - sum(lamp.strength for lamp in lamps),
        table=table_color(Deck(split, seed, 7)),
        clutter=draw_clutter(Deck(split, seed, 8), field, board),
        skin=skin,
        sleeve=sleeve,
        camera=draw_camera(Deck(split, seed, 9), field, board, size),
        sensor=draw_sensor(Deck(split, seed, 10), fps, size),
    )


def draw_field(seed: int, *, split: Split = "train") -> FieldModel:
    """Return a printed field: one of the presets with its scales, lines, hash rows and numbers varied."""
    deck = Deck(split, seed, 0)
    model = preset(deck.choice(_PRESETS))
    stretch = deck.uniform(0.94, 1.06)
    hash_in = deck.uniform(0.36, 0.47)  # college to professional, as a share of the width
    return dataclasses.replace(
        model,
        mm_per_yd_x=model.mm_per_yd_x * deck.uniform(0.94, 1.06),
        mm_per_yd_y=model.mm_per_yd_y * stretch,
        line_mm=model.line_mm * deck.uniform(0.8, 1.5),
        hash_rows_y_yd=(hash_in * model.width_yd, (1 - hash_in) * model.width_yd),
        hash_every_yd=0.0 if deck.chance(0.1) else model.hash_every_yd,
        sideline_marks=deck.chance(0.7),
        number_height_yd=model.number_height_yd * deck.uniform(0.7, 1.3),
        margin_mm=(deck.uniform(4, 30), deck.uniform(4, 25)),
        measured=False,
        source="Drawn at random for the digital twin.",
    )


def draw_bases(seed: int, count: int, *, split: Split = "train") -> tuple[BaseSize, ...]:
    """Return the sizes of a table's bases: of one or two makes, each base a little off its make's size."""
    deck = Deck(split, seed, 1)
    makes = [_draw_make(deck) for _ in range(2 if deck.chance(0.5) else 1)]
    return tuple(_vary_base(deck, makes[i * len(makes) // count]) for i in range(count))


def _draw_make(deck: Deck) -> BaseSize:
    return BaseSize(
        deck.uniform(27.3, 32.7), deck.uniform(16.2, 19.8), deck.uniform(4.2, 6.8), max(deck.uniform(-0.5, 3.0), 0.0)
    )


def _vary_base(deck: Deck, make: BaseSize) -> BaseSize:
    return dataclasses.replace(
        make, length_mm=make.length_mm + deck.free(-0.25, 0.25), width_mm=make.width_mm + deck.free(-0.15, 0.15)
    )


def draw_players(seed: int, per_side: int = 11, *, split: Split = "train") -> tuple[Player, ...]:
    """Return two teams with drawn bases: ``dark-1`` .. then ``light-1`` ..."""
    sizes = draw_bases(seed, 2 * per_side, split=split)
    return tuple(
        Player(f"{jersey}-{number}", jersey, str(number), base=sizes[i * per_side + number - 1])
        for i, jersey in enumerate(_JERSEYS)
        for number in range(1, per_side + 1)
    )
