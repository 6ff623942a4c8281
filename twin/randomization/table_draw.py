"""Boards, lamps, tables and clutter, drawn at random."""

from __future__ import annotations

import math
from typing import Literal

from downfield.core.field.model import FieldModel
from downfield.twin.appearance import BoardAppearance, Color, Lamp, Solid
from downfield.twin.randomization import palettes
from downfield.twin.randomization.deck import Deck
from downfield.twin.randomization.lettering import FONTS

_PATTERNS: tuple[Literal["diagonal", "checks"], ...] = ("diagonal", "checks", "checks", "diagonal", "checks")


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
        lettering=(deck.choice(palettes.WORDS), deck.choice(palettes.WORDS)) if lettered else ("", ""),
        midfield=min(deck.uniform(2.5, 10.0), widest_yd) if deck.chance(0.6) else 0.0,
        texture=deck.uniform(0.05, 0.9),
        wear=deck.uniform(0.0, 0.5) if deck.chance(0.6) else 0.0,
        gloss=deck.uniform(0.0, 0.9) if deck.chance(0.7) else 0.0,
        rail=deck.choice(palettes.TABLES),
        rail_mm=(deck.uniform(3, 20), deck.uniform(4, 22)) if rail else (0.0, 0.0),
        bow_mm=0.0,
        seed=seed,
        border=_border(deck, grass[0], line),
        emblem=deck.choice(palettes.STRONG),
        font=deck.choice(range(FONTS)),
        emblem_text=deck.choice(palettes.WORDS)[: deck.choice((1, 1, 1, 2, 3))] if deck.chance(0.7) else "",
        end_pattern=deck.choice(_PATTERNS) if deck.chance(0.3) else "plain",
        arrows=deck.chance(0.5),
    )


def draw_bow(deck: Deck) -> float:
    """Return the depth of a board's middle below its edges, mm: many are flat or sag a little, some are dished."""
    kind = deck.rng.random()
    if kind < 0.3:
        return 0.0
    if kind < 0.75:
        return deck.uniform(-0.4, 1.5)
    return deck.uniform(1.2, 3.5)


def draw_lamps(deck: Deck, field: FieldModel) -> tuple[Lamp, ...]:
    """Return one to three lamps over and around the table, and the ambient light, which is the rest up to 1."""
    count = int(deck.rng.integers(1, 4))
    direct = deck.uniform(0.25, 0.75)
    shares = [deck.free(0.5, 1.5) for _ in range(count)]
    warmth = deck.uniform(-0.1, 0.12)
    return tuple(
        Lamp(
            (
                field.length_mm / 2 + deck.uniform(-1.2, 1.2) * field.length_mm,
                field.width_mm / 2 + deck.uniform(-1.5, 1.5) * field.length_mm,
                deck.uniform(900, 2600),
            ),
            direct * share / sum(shares),
            (1 + warmth, 1.0, 1 - warmth),
            deck.uniform(10, 250),
        )
        for share in shares
    )


def table_color(deck: Deck) -> Color:
    """Return the color of the table under the board."""
    return deck.choice(palettes.TABLES)


def skin_and_sleeve(deck: Deck) -> tuple[Color, Color]:
    """Return the colors of a coach's skin and sleeve (the same when the arm is bare)."""
    skin = deck.choice(palettes.SKINS)
    return skin, skin if deck.chance(0.35) else deck.choice(palettes.STRONG)


def draw_clutter(deck: Deck, field: FieldModel, board: BoardAppearance) -> tuple[Solid, ...]:
    """Return clutter beside the board, and goal posts behind the end zones."""
    out = [_beside(deck, field, board) for _ in range(int(deck.rng.integers(0, 9)))]
    if deck.chance(0.6):
        out += draw_goal_posts(deck, field)
    return tuple(out)


def _grass_and_line(deck: Deck) -> tuple[tuple[Color, ...], Color]:
    kind = deck.rng.random()
    if kind < 0.12:
        return (deck.choice(palettes.SNOWS),), deck.choice(palettes.SNOW_LINES)
    paint = deck.choice(palettes.PAINTS)
    if kind < 0.24:
        return (deck.choice(palettes.ARENAS),), paint
    green = deck.choice(palettes.GREENS)
    if kind < 0.6:
        return (green,), paint
    shade = deck.uniform(0.72, 0.94)
    return (green, (green[0] * shade, green[1] * shade, green[2] * shade)), paint


def _ends(deck: Deck, grass: Color) -> tuple[Color, Color]:
    if deck.chance(0.2):
        return grass, grass
    left = deck.choice(palettes.STRONG)
    return left, left if deck.chance(0.5) else deck.choice(palettes.STRONG)


def _border(deck: Deck, grass: Color, line: Color) -> Color:
    kind = deck.rng.random()
    if kind < 0.4:
        return grass
    if kind < 0.65:
        return line
    return deck.choice(palettes.STRONG)


def _beside(deck: Deck, field: FieldModel, board: BoardAppearance) -> Solid:
    """Return a box or a can on the table, clear of the board."""
    left, low, right, high = field.board_mm
    size = (deck.uniform(8, 60), deck.uniform(5, 40), deck.uniform(2, 15))
    clear = 10 + board.rail_mm[1] + math.hypot(size[0], size[1])
    side = int(deck.rng.integers(4))
    along, across = deck.free(left, right), deck.free(low, high)
    spot = (
        (along, low - clear - deck.free(0, 60)),
        (along, high + clear + deck.free(0, 60)),
        (left - clear - deck.free(0, 60), across),
        (right + clear + deck.free(0, 60), across),
    )[side]
    turn = deck.free(0, math.pi)
    color = deck.choice(palettes.STRONG + palettes.TABLES)
    if deck.chance(0.3):
        return Solid("cylinder", (size[1], size[2], 0.0), (*spot, size[2] - 20), color=color, part="other")
    rotation = (math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2))
    return Solid("box", size, (*spot, size[2] - 20), rotation, color, part="other")


def draw_goal_posts(deck: Deck, field: FieldModel) -> list[Solid]:
    """Return crossbar, uprights and stand behind both end lines."""
    color = deck.choice(((0.9, 0.8, 0.1), (0.92, 0.92, 0.92), (0.88, 0.76, 0.16), (0.95, 0.93, 0.9), (0.9, 0.85, 0.3)))
    half_mm, bar_mm, tall_mm = deck.uniform(38, 55), deck.uniform(35, 50), deck.uniform(40, 130)
    thick = deck.uniform(0.7, 2.0)
    middle = field.width_mm / 2
    sideways = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)  # the z axis laid along -y
    out: list[Solid] = []
    for x in (-field.end_zone_mm - 3.0, field.length_mm + field.end_zone_mm + 3.0):
        out.append(Solid("cylinder", (thick, bar_mm / 2, 0.0), (x, middle, bar_mm / 2), color=color, part="other"))
        out.append(Solid("cylinder", (thick, half_mm, 0.0), (x, middle, bar_mm), sideways, color, part="other"))
        out += [
            Solid("cylinder", (thick, tall_mm / 2, 0.0), (x, y, bar_mm + tall_mm / 2), color=color, part="other")
            for y in (middle - half_mm, middle + half_mm)
        ]
    return out
