"""Printed boards drawn at random: the field's conventions, the print's colors and words, bow, wear and dirt."""

from __future__ import annotations

import dataclasses
from typing import Final, Literal

import numpy as np

from downfield.core.field.model import FieldModel, preset
from downfield.core.field.painted_lines import LineStyle, LineZero
from downfield.twin.randomization import colors
from downfield.twin.randomization.colors import any_color, near
from downfield.twin.randomization.deck import Deck, Split
from downfield.twin.table.appearance import BoardAppearance, Color, Numerals, Wear
from downfield.twin.table.lettering import FONTS, WORDS

_PRESETS = (
    *("tudor-620", "ultimate", "ultimate", "tudor-620", "monster"),
    *("canadian", "tudor-620", "tudor-620", "ultimate", "mini"),
    *("ultimate", "arena-50", "arena-50", "monster", "tudor-620"),
)  # dealt among the splits by `Deck.choice`: each gets several kinds of board
_PATTERNS: tuple[Literal["diagonal", "checks"], ...] = ("diagonal", "checks", "checks", "diagonal", "checks")
_ZEROS: Final[tuple[LineZero, ...]] = ("inner", "center", "outer", "inner", "center")
_WIDEST_SHARE: Final = 0.3  # of the space between yard lines


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


def draw_board(deck: Deck, field: FieldModel, seed: int) -> BoardAppearance:
    """Return a print: plain green, alternating greens, snow white or arena; its words, emblem, wear and rail."""
    grass, line = _grass_and_line(deck)
    ends = _ends(deck, grass[0])
    lettered = deck.chance(0.65)
    widest_yd = 0.17 * field.width_mm / field.mm_per_yd_x
    rail = deck.chance(0.6)
    return BoardAppearance(
        grass=grass,
        stripe_yd=field.yard_line_every_yd * deck.choice((1, 2, 1, 2, 1)),
        line=line,
        end_zones=ends,
        lettering=(deck.choice(WORDS), deck.choice(WORDS)) if lettered else ("", ""),
        midfield=min(deck.uniform(2.5, 10.0), widest_yd) if deck.chance(0.6) else 0.0,
        texture=deck.uniform(0.05, 0.9),
        wear=deck.uniform(0.0, 0.5) if deck.chance(0.6) else 0.0,
        gloss=deck.uniform(0.0, 0.9) if deck.chance(0.7) else 0.0,
        rail=deck.choice(colors.TABLES),
        rail_mm=(deck.uniform(3, 20), deck.uniform(4, 22)) if rail else (0.0, 0.0),
        bow_mm=0.0,
        seed=seed,
        border=_border(deck, grass[0], line),
        emblem=deck.choice(colors.STRONG),
        font=deck.choice(range(FONTS)),
        emblem_text=deck.choice(WORDS)[: deck.choice((1, 1, 1, 2, 3))] if deck.chance(0.7) else "",
        end_pattern=deck.choice(_PATTERNS) if deck.chance(0.3) else "plain",
        arrows=deck.chance(0.5),
    )


def _grass_and_line(deck: Deck) -> tuple[tuple[Color, ...], Color]:
    kind = deck.rng.random()
    if kind < 0.12:
        return (deck.choice(colors.SNOWS),), deck.choice(colors.SNOW_LINES)
    paint = deck.choice(colors.PAINTS)
    if kind < 0.24:
        return (deck.choice(colors.ARENAS),), paint
    green = deck.choice(colors.GREENS)
    if kind < 0.6:
        return (green,), paint
    shade = deck.uniform(0.72, 0.94)
    return (green, (green[0] * shade, green[1] * shade, green[2] * shade)), paint


def _ends(deck: Deck, grass: Color) -> tuple[Color, Color]:
    if deck.chance(0.2):
        return grass, grass
    left = deck.choice(colors.STRONG)
    return left, left if deck.chance(0.5) else deck.choice(colors.STRONG)


def _border(deck: Deck, grass: Color, line: Color) -> Color:
    kind = deck.rng.random()
    if kind < 0.4:
        return grass
    if kind < 0.65:
        return line
    return deck.choice(colors.STRONG)


def vary_numerals(deck: Deck, board: BoardAppearance) -> BoardAppearance:
    """Return a board with numbers of another style on most: close or apart, slim or wide, outlined, over the lines."""
    if deck.chance(0.2):
        return board
    numerals = Numerals(
        gap=deck.uniform(0.0, 0.2) if deck.chance(0.6) else deck.uniform(0.2, 0.7),
        stretch=deck.uniform(0.7, 1.7),
        weight=deck.uniform(-0.02, 0.05),
        slant=deck.uniform(-0.3, 0.3) if deck.chance(0.2) else 0.0,
        bar=deck.uniform(-0.12, 0.16) if deck.chance(0.4) else 0.0,
        bar_deg=deck.uniform(0.0, 180.0),
        ink=any_color(deck) if deck.chance(0.25) else None,
        rim=any_color(deck) if deck.chance(0.3) else None,
        is_over_lines=deck.chance(0.5),
        is_sideways=deck.chance(0.12),
    )
    return dataclasses.replace(board, numerals=numerals, arrows=board.arrows and not numerals.is_sideways)


def draw_bow(deck: Deck) -> float:
    """Return the depth of a board's middle below its edges, mm: many are flat or sag a little, some are dished."""
    kind = deck.rng.random()
    if kind < 0.3:
        return 0.0
    if kind < 0.75:
        return deck.uniform(-0.4, 1.5)
    return deck.uniform(1.2, 3.5)


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
