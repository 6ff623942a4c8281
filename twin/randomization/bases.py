"""Bases drawn at random: sizes, colors, plastics, stickers, wear, and details in their tops.

A dial at the rear and a plate ahead, as the simple figures' bases have them, tell front from rear in half of the tables
only; in the others they are as often the other way round, or not there: what a network always sees it takes for a rule.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from downfield.core.footprint import BaseSize
from downfield.core.scene import Player
from downfield.twin.randomization import colors
from downfield.twin.randomization.colors import Parts, any_color, jittered, near, scaled
from downfield.twin.randomization.deck import Deck, Split
from downfield.twin.table.appearance import BoardAppearance, Color, Material, Pattern

Extra = Literal["none", "ribs", "disc", "tab"]
EXTRAS: tuple[Extra, ...] = ("none", "ribs", "disc", "tab")
Profile = Literal["block", "bevel", "double"]
_PROFILES: tuple[Profile, ...] = ("block", "block", "block", "bevel", "bevel", "double")
_USUAL_CHANCE = 0.4  # of bases of the twin's own sizes
_OVER_MM = 0.03  # details rise so little over a base's top that they hide nothing of it

_STICKERS: tuple[Pattern, ...] = (
    "plain", "plain", "plain", "plain", "sticker", "rim", "worn", "worn", "grooves", "mottled"
)  # fmt: skip
_UP = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # a plate whose face toward -x looks up
_UP_TURNED = np.array([[0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]])


@dataclass(frozen=True, slots=True)
class BaseStyle:
    """The style of a team's bases."""

    surface: Material  # of the base's box
    telling: bool  # whether a dial at the rear and a plate ahead tell front from rear, as on the twin's own bases
    plain: bool  # whether there are no details, where they tell
    extra: Extra  # a detail besides dial and plate; `none` leaves these out, too
    labeled: bool  # whether a number is let into the top, in `ink`
    ink: Color
    # a block, or layers that are inset: a bevel, or a plate with a block on it. The footprint is the lowest layer's,
    # and its corners are labeled at the top's height whatever is there.
    profile: Profile = "block"
    inset_mm: float = 0.0  # of the top from the footprint
    notched: bool = False  # whether a piece is missing from each edge that a base draws
    ground: Color = (0.1, 0.2, 0.1)  # color that shows through notches


def draw_bases(seed: int, count: int, *, split: Split = "train") -> tuple[BaseSize, ...]:
    """Return the sizes of a table's bases: of one or two makes, each base a little off its make's size."""
    deck = Deck(split, seed, 1)
    spans = ((27.3, 32.7), (16.2, 19.8), (4.2, 6.8), (-0.5, 3.0))
    drawn = [[deck.uniform(*span) for span in spans] for _ in range(2 if deck.chance(0.5) else 1)]
    out = []
    for i in range(count):
        length, width, height, corner = drawn[i * len(drawn) // count]
        length, width = length + deck.free(-0.25, 0.25), width + deck.free(-0.15, 0.15)
        out.append(BaseSize(length, width, height, max(corner, 0.0)))
    return tuple(out)


def vary_bases(deck: Deck, players: Sequence[Player]) -> tuple[Player, ...]:
    """Return the roster, on most tables with bases of other makes than the twin's."""
    if deck.chance(_USUAL_CHANCE):
        return tuple(players)
    first, second = _make(deck), _make(deck)
    of_side = {"dark": first, "light": second if deck.chance(0.5) else first}
    return tuple(dataclasses.replace(player, base=of_side[player.jersey]) for player in players)


def _make(deck: Deck) -> BaseSize:
    length = deck.uniform(26.5, 33.5) if deck.chance(0.6) else deck.uniform(23, 38)
    width = min(max(length * deck.uniform(0.48, 0.72), 14.0), 25.0)
    corner = deck.uniform(-1, 4) if deck.chance(0.7) else deck.uniform(2, 9)
    return BaseSize(length, width, deck.uniform(3.0, 8.0), min(max(corner, 0.0), 0.45 * width))


def draw_base(deck: Deck, board: BoardAppearance) -> tuple[Color, float]:
    """Return color and opacity of a team's bases."""
    kind = deck.rng.random()
    if kind < 0.22:  # clear: the board shows through
        tint = deck.uniform(0.75, 0.95)
        return (tint, tint, tint), deck.uniform(0.25, 0.6)
    if kind < 0.42:  # near the board's own color
        grass = board.grass[0]
        return jittered(deck, grass, 0.07), 1.0
    return jittered(deck, deck.choice(colors.BASES), 0.03), 1.0


def draw_base_color(deck: Deck, board: BoardAppearance) -> tuple[Color, float]:
    """Return color and opacity of a team's bases: often the turf's green, dark or clear, the hardest ones."""
    kind = deck.rng.random()
    turf = board.grass[int(deck.rng.integers(len(board.grass)))]
    if kind < 0.22:
        return near(deck, turf), 1.0
    if kind < 0.36:
        return near(deck, turf, deck.uniform(0.3, 1.35), 0.015), 1.0
    if kind < 0.56:
        dark = deck.uniform(0.02, 0.2)
        return near(deck, (dark, dark, dark), 1.0, 0.25 * dark), 1.0
    if kind < 0.7:
        return scaled(any_color(deck, 0.5), 0.4, 0.6), deck.uniform(0.12, 0.6)
    if kind < 0.85:
        return any_color(deck), 1.0
    return draw_base(deck, board)


def draw_base_style(deck: Deck, color: Color, board: BoardAppearance, *, telling: bool) -> BaseStyle:
    """Return a style for bases of a color on a board."""
    plain = Material(
        roughness=deck.uniform(0.12, 0.6), bevel_mm=max(deck.uniform(-0.4, 1.2), 0.0), refraction=deck.uniform(1.0, 1.4)
    )
    pattern = _STICKERS[int(deck.rng.integers(len(_STICKERS)))]
    return BaseStyle(
        surface=_patterned(deck, plain, pattern, color),
        telling=telling,
        plain=deck.chance(0.3),
        extra=EXTRAS[int(deck.rng.integers(len(EXTRAS)))],
        labeled=deck.chance(0.15),
        ink=any_color(deck),
        profile=_PROFILES[int(deck.rng.integers(len(_PROFILES)))],
        inset_mm=deck.uniform(0.8, 3.2),
        notched=deck.chance(0.15),
        ground=scaled(board.grass[int(deck.rng.integers(len(board.grass)))], deck.uniform(0.35, 0.8)),
    )


def _patterned(deck: Deck, material: Material, pattern: Pattern, color: Color) -> Material:
    second, values = any_color(deck), (0.0, 0.0, 0.0, 0.0)
    if pattern == "sticker":
        values = (deck.uniform(-0.8, 0.8), deck.uniform(-0.5, 0.5), deck.uniform(0.08, 0.3), deck.uniform(0.15, 0.6))
    elif pattern == "rim":
        values = (deck.uniform(0.5, 2.0), 0.0, 0.0, 0.0)
    elif pattern == "worn":  # to something paler, or darker
        threshold = deck.uniform(0.3, 0.6)
        values = (deck.uniform(0.4, 1.8), deck.free(0, 50), threshold, 0.0)
        second = scaled(color, 0.7, 0.25) if threshold < 0.45 else scaled(color, 0.65)
    elif pattern == "grooves":
        pimples = float(deck.chance(0.4))
        values = (deck.uniform(0.3, 0.9), pimples, deck.uniform(0.15, 0.6), 0.0)
        second = scaled(color, 0.75) if pimples else scaled(color, 0.85, 0.12)
    elif pattern == "mottled":
        values = (deck.uniform(0.2, 1.2), deck.free(0, 50), deck.uniform(0.4, 0.7), 0.0)
        second = scaled(color, 0.75, 0.02)
    return dataclasses.replace(material, pattern=pattern, second=second, values=values)


def add_base(parts: Parts, base: BaseSize, color: Color, opacity: float, style: BaseStyle, deck: Deck) -> None:
    """Add a base, its box first, and its details."""
    _add_layers(parts, base, color, opacity, style)
    if style.notched and opacity == 1:
        _add_notches(parts, base, style, deck)
    way, shown = 1.0, not style.plain
    if not style.telling:
        way, shown = float(deck.rng.choice([-1.0, 1.0])), deck.chance(2 / 3)
    if shown:
        _add_details(parts, base, color, opacity, style, way)
    if style.labeled and opacity == 1:
        _add_label(parts, base, color, style, deck)


def _add_layers(parts: Parts, base: BaseSize, color: Color, opacity: float, style: BaseStyle) -> None:
    """Add the base's box, and above a low one the layers that are inset; clear bases are blocks."""
    surface = dataclasses.replace(style.surface, corner_mm=base.corner_mm)
    layers = 1 if style.profile == "block" or opacity < 1 else 2 if style.profile == "double" else 4
    plain = dataclasses.replace(surface, pattern="plain")
    for layer in range(layers):
        low, high = base.height_mm * layer / layers, base.height_mm * (layer + 1) / layers
        inset = style.inset_mm * layer / max(layers - 1, 1)
        half = (base.length_mm / 2 - inset, base.width_mm / 2 - inset, (high - low) / 2)
        own = dataclasses.replace(surface if layer == layers - 1 else plain, corner_mm=max(base.corner_mm - inset, 0.0))
        at, part = (0.0, 0.0, (high + low) / 2), "other" if layer else "base"
        parts.add("box", half, at, color, part=part, material=own, opacity=opacity)


def _add_notches(parts: Parts, base: BaseSize, style: BaseStyle, deck: Deck) -> None:
    """Add what is seen through notches in some edges: the ground, as a piece let into the top."""
    matt = Material(roughness=0.9)
    low = base.height_mm - 0.5 + 2 * _OVER_MM
    for across in (False, True):
        for side in (-1, 1):
            if deck.chance(0.45):
                deep, wide = deck.free(0.8, 2.6), deck.free(1.5, 4.0)
                edge = side * ((base.width_mm if across else base.length_mm) / 2 - deep - _OVER_MM)
                along = deck.free(-0.25, 0.25) * (base.length_mm if across else base.width_mm)
                size, at = ((wide, deep), (along, edge)) if across else ((deep, wide), (edge, along))
                parts.add("box", (*size, 0.5), (*at, low), style.ground, part="other", material=matt)


def _add_details(parts: Parts, base: BaseSize, color: Color, opacity: float, style: BaseStyle, way: float) -> None:
    """Add a dial and a clip's plate, ribs, a disc or a tab; prongs seen through clear bases."""
    length, width, low = base.length_mm, base.width_mm, base.height_mm - 0.5 + _OVER_MM
    matt = dataclasses.replace(style.surface, pattern="plain", bevel_mm=0.0)
    dark = scaled(color, 0.82)
    shade = scaled(color, 1.2 if style.extra == "disc" else 0.75)

    def add(kind: str, size: tuple[float, ...], x: float, y: float, ink: Color) -> None:
        parts.add(kind, size, (x, y, low), ink, part="other", material=matt)

    if opacity < 1:
        through = min(1.0, opacity + 0.25)
        for x in (-0.3, 0.15):
            for y in (-0.33, 0.33):
                at = (way * x * length, y * width, 0.35 * base.height_mm)
                size = (1.6, 0.4, 0.32 * base.height_mm)
                parts.add("box", size, at, shade, part="other", material=matt, opacity=through)
        return
    if style.extra != "none":
        add("cylinder", (min(0.27 * width, 4.6), 0.5), way * -0.28 * length, 0.0, dark)
        add("box", (0.09 * length, 0.3 * width, 0.5), way * 0.2 * length, 0.0, dark)
    if style.extra == "ribs":
        for y in (-0.3, 0.0, 0.3):
            add("box", (0.3 * length, 0.35, 0.5), 0.0, y * width, shade)
    elif style.extra == "disc":
        add("cylinder", (0.2 * width, 0.5), way * 0.3 * length, 0.0, shade)
    elif style.extra == "tab":
        add("box", (0.8, 0.28 * width, 0.5), way * -0.4 * length, 0.0, shade)


def _add_label(parts: Parts, base: BaseSize, color: Color, style: BaseStyle, deck: Deck) -> None:
    """Add a number on the top, to be read from either end."""
    tens, ones = float(deck.rng.integers(-1, 10)), float(deck.rng.integers(10))
    inked = dataclasses.replace(
        style.surface, pattern="plate_digits", second=style.ink, values=(tens, ones, 1.0, 0.0), bevel_mm=0.0
    )
    turn = _UP if deck.chance(0.5) else _UP_TURNED
    x = float(deck.rng.choice([-0.22, 0.0, 0.22])) * base.length_mm
    size = (0.5, 0.28 * base.width_mm, 0.22 * base.length_mm)
    at = (x, 0.0, base.height_mm - 0.5 + 1.5 * _OVER_MM)
    parts.add("box", size, at, color, turn, part="other", material=inked)
