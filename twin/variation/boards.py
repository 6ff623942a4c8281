"""Boards of every convention: widths and places of lines, rows of hash marks, numbers, margins, and dirt."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np

from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import LineStyle, LineZero
from downfield.twin.appearance import BoardAppearance
from downfield.twin.materials import Wear
from downfield.twin.randomization.deck import Deck
from downfield.twin.variation.colors import any_color, near

_ZEROS: Final[tuple[LineZero, ...]] = ("inner", "center", "outer", "inner", "center")
_WIDEST_SHARE: Final = 0.3  # of the space between yard lines


def vary_field(deck: Deck, field: FieldModel) -> FieldModel:
    """Return a print of another convention; its lengths in yards stay."""
    every = deck.choice((5.0, 10.0, 5.0, 10.0, 5.0))
    every = every if round(field.length_yd) % round(every) == 0 else field.yard_line_every_yd
    widest = _WIDEST_SHARE * every * field.mm_per_yd_x
    middle, apart = field.width_yd / 2, deck.uniform(0.03, 0.22) * field.width_yd
    rows = deck.rng.random()
    number = deck.uniform(0.1, 0.3) * field.width_yd
    return dataclasses.replace(
        field,
        yard_line_every_yd=every,
        hash_rows_y_yd=(middle,) if rows < 0.1 else (middle - apart, middle + apart),
        hash_every_yd=deck.choice((1.0, 5.0, 1.0, 2.5, 1.0)) if deck.chance(0.85) else 0.0,
        hash_length_yd=deck.uniform(0.3, 1.6),
        sideline_marks=deck.chance(0.5),
        number_every_yd=10.0 if deck.chance(0.85) else 0.0,
        number_rows_y_yd=(number, field.width_yd - number),
        number_height_yd=deck.uniform(1.6, 5.5),
        number_style="through" if deck.chance(0.15) else "to_goal",
        margin_mm=(deck.uniform(2, 60), deck.uniform(2, 45)),
        sideline=_style(deck, (0.6, 9.0), widest, deck.choice(_ZEROS)),
        goal_line=_style(deck, (0.6, 6.0), widest, deck.choice(_ZEROS)),
        end_line=_style(deck, (0.6, 9.0), widest, deck.choice(_ZEROS)),
        yard_line=_style(deck, (0.5, 3.2), widest, "center"),
        hash_mark=_style(deck, (0.5, 2.4), widest, "center"),
    )


def _style(deck: Deck, width_mm: tuple[float, float], widest_mm: float, zero: LineZero) -> LineStyle:
    if deck.chance(0.3):
        return LineStyle(zero=zero)
    return LineStyle(min(deck.uniform(*width_mm), widest_mm), zero)


def vary_board(deck: Deck, board: BoardAppearance) -> BoardAppearance:
    """Return a board in colors of its own now and then, worn, glossy and dirty."""
    if deck.chance(0.2):
        color = any_color(deck)
        board = dataclasses.replace(board, grass=(color, near(deck, color, deck.uniform(0.7, 1.2))))
    if deck.chance(0.2):
        board = dataclasses.replace(board, border=any_color(deck), rail=any_color(deck, 0.4))
    if deck.chance(0.2):
        board = dataclasses.replace(board, end_zones=(any_color(deck), any_color(deck)), emblem=any_color(deck))
    gray = deck.uniform(0.25, 0.85)
    dirt = Wear(
        soil=deck.uniform(0.01, 0.055) if deck.chance(0.7) else 0.0,
        soil_mm=float(np.exp(deck.uniform(np.log(8), np.log(90)))),
        scratches=int(deck.rng.integers(3, 40)) if deck.chance(0.35) else 0,
        scratch=near(deck, (gray, gray, gray), 1.0, 0.04),
        marks=int(deck.rng.integers(1, 8)) if deck.chance(0.25) else 0,
    )
    gloss = deck.uniform(0.6, 1.0) if deck.chance(0.25) else board.gloss
    return dataclasses.replace(board, dirt=dirt, gloss=gloss)
