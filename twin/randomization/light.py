"""Lamps, room and table around a board, and the hands over it, drawn at random."""

from __future__ import annotations

import math

import numpy as np

from downfield.core.field.model import FieldModel
from downfield.twin.randomization import colors
from downfield.twin.randomization.deck import Deck
from downfield.twin.table.appearance import TABLE_TOPS, Color, Lamp, SkyLobe, Surroundings

_LEAST_DIRECT, _MOST_DIRECT = 0.2, 0.92
_TABLE_Z_MM = (-2.0, -8.0, -20.0, -45.0, -70.0)


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


def vary_lamps(deck: Deck, lamps: tuple[Lamp, ...], field: FieldModel) -> tuple[Lamp, ...]:
    """Return lamps for a table: the drawn ones, one bulb, a window, or panels; ambient light is the rest up to 1."""
    kind = deck.rng.random()
    if kind < 0.2:
        lamps = (_bulb(deck, field),)
    elif kind < 0.4:
        lamps = (_window(deck, field), *lamps[: int(deck.rng.integers(0, 2))])
    elif kind < 0.5:
        lamps = tuple(_panel(deck, field) for _ in range(int(deck.rng.integers(1, 4))))
    tinted = deck.chance(0.25)
    total = sum(lamp.strength for lamp in lamps)
    direct = min(max(total, _LEAST_DIRECT), _MOST_DIRECT)
    return tuple(
        Lamp(
            lamp.position_mm,
            lamp.strength * direct / total,
            _tinted(deck, lamp.color, 0.18) if tinted else lamp.color,
            lamp.radius_mm,
            lamp.half_mm,
        )
        for lamp in lamps
    )


def _bulb(deck: Deck, field: FieldModel) -> Lamp:
    at = (*_about(deck, field, 1.1), deck.uniform(600, 2200))
    return Lamp(at, deck.uniform(0.5, 0.92), _tinted(deck, (1.0, 1.0, 1.0), 0.05), deck.uniform(3, 25))


def _window(deck: Deck, field: FieldModel) -> Lamp:
    way, away = deck.free(0, 2 * math.pi), deck.uniform(0.9, 2.5) * field.length_mm
    x, y = field.length_mm / 2 + away * math.cos(way), field.width_mm / 2 + away * math.sin(way)
    half = (deck.uniform(300, 900), deck.uniform(300, 700))
    color = _tinted(deck, (1.0, 1.0, 1.0), 0.08)
    return Lamp((x, y, deck.uniform(500, 1600)), deck.uniform(0.3, 0.8), color, max(half), half)


def _panel(deck: Deck, field: FieldModel) -> Lamp:
    half = (deck.uniform(80, 650), deck.uniform(40, 300))
    at = (*_about(deck, field, 0.9), deck.uniform(1200, 2600))
    return Lamp(at, deck.uniform(0.2, 0.6), _tinted(deck, (1.0, 1.0, 1.0), 0.04), max(half), half)


def _about(deck: Deck, field: FieldModel, reach: float) -> tuple[float, float]:
    x, y = (deck.uniform(-reach, reach) * field.length_mm for _ in range(2))
    return field.length_mm / 2 + x, field.width_mm / 2 + y


def _tinted(deck: Deck, color: Color, spread: float) -> Color:
    red, green, blue = (np.array(color) * np.exp(deck.rng.normal(0, spread, 3))).tolist()
    return (red, green, blue)


def draw_surroundings(deck: Deck, gloss: float) -> Surroundings:
    """Return table and room of a board with a gloss of 0..1."""
    return Surroundings(
        table_z_mm=deck.choice(_TABLE_Z_MM),
        table_top=TABLE_TOPS[int(deck.rng.integers(len(TABLE_TOPS)))],
        grain=deck.uniform(0.05, 0.6),
        table_roughness=deck.uniform(0.15, 0.9),
        board_roughness=0.8 - 0.68 * gloss * deck.uniform(0.5, 1),
        board_reflectance=deck.uniform(0.02, 0.07),
        sky=_tinted(deck, (1.0, 1.0, 1.0), 0.06),
        sky_rise=deck.uniform(-0.3, 0.8),
        lobes=(_lobe(deck), _lobe(deck)),
    )


def _lobe(deck: Deck) -> SkyLobe:
    toward = deck.rng.normal(0, 1, 3)
    toward[2] = abs(toward[2])
    x, y, z = (toward / np.linalg.norm(toward)).tolist()
    bright = 1.5 * deck.uniform(0, 1) ** 2
    return SkyLobe((x, y, z), math.exp(deck.uniform(0, 2.2)), _tinted(deck, (bright, bright, bright), 0.12))


def table_color(deck: Deck) -> Color:
    """Return the color of the table under the board."""
    return deck.choice(colors.TABLES)


def skin_and_sleeve(deck: Deck) -> tuple[Color, Color]:
    """Return the colors of a coach's skin and sleeve (the same when the arm is bare)."""
    skin = deck.choice(colors.SKINS)
    return skin, skin if deck.chance(0.35) else deck.choice(colors.STRONG)
