"""What lies on and beside a board: decoys, cups, phones, papers with print, dice, boxes, pens, goal posts."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.twin.appearance import BoardAppearance, Color, Solid
from downfield.twin.materials import Material
from downfield.twin.randomization.deck import Deck
from downfield.twin.randomization.table_draw import draw_goal_posts
from downfield.twin.variation.colors import any_color, is_bright
from downfield.twin.variation.decoys import add_die, draw_large_decoy, draw_small_decoy
from downfield.twin.variation.parts import Parts
from downfield.twin.variation.turns import about_y, about_z

_EDGE_MM = 8.0  # decoys are this far within the board
_BESIDE_MM = (8.0, 88.0)  # things beside the board are this far off it


def draw_varied_clutter(deck: Deck, field: FieldModel, board: BoardAppearance, table_z_mm: float) -> tuple[Solid, ...]:
    """Return the solids of all things, one thing after another, board frame."""
    out: list[Solid] = []
    for _ in range(min(int(deck.rng.poisson(1.4)), 4)):
        out += _on_board(deck, field, *draw_small_decoy(deck, board.grass[0]))
    for _ in range(min(int(deck.rng.poisson(0.5)), 2)):
        out += _on_board(deck, field, *draw_large_decoy(deck, board.grass[0]))
    for _ in range(int(deck.rng.integers(0, 4))):
        parts, reach = draw_small_decoy(deck, board.border)
        out += _at_the_edge(deck, field, board, parts, reach, table_z_mm)
    for _ in range(int(deck.rng.integers(0, 6))):
        parts, reach = _thing(deck)
        out += _placed(parts, deck, _beside(deck, field, board, reach), table_z_mm)
    if deck.chance(0.6):
        out += draw_goal_posts(deck, field)
    return tuple(out)


def _placed(parts: Parts, deck: Deck, spot: tuple[float, float], z_mm: float) -> tuple[Solid, ...]:
    parts.moved(about_z(deck.free(0, 360)), np.array([*spot, z_mm]))
    return parts.solids()


def _on_board(deck: Deck, field: FieldModel, parts: Parts, reach_mm: float) -> tuple[Solid, ...]:
    edge = _EDGE_MM + reach_mm
    spot = (deck.free(edge, field.length_mm - edge), deck.free(edge, field.width_mm - edge))
    return _placed(parts, deck, spot, 0.0)


def _at_the_edge(
    deck: Deck, field: FieldModel, board: BoardAppearance, parts: Parts, reach_mm: float, table_z_mm: float
) -> tuple[Solid, ...]:
    """Return a decoy on the border, on the rail or just beside the board."""
    height, width = board.rail_mm
    kind, off, z = deck.rng.random(), width + reach_mm + deck.free(2, 60), table_z_mm
    if kind < 0.4:
        off, z = deck.free(-6, -2), 0.0
    elif kind < 0.6 and height > 0 and width > reach_mm:
        off, z = width / 2, height
    return _placed(parts, deck, _around(deck, field, off), z)


def _around(deck: Deck, field: FieldModel, off_mm: float) -> tuple[float, float]:
    """Return a place at a distance beyond one of the board's edges."""
    left, low, right, high = field.board_mm
    along, across = deck.free(left, right), deck.free(low, high)
    spots = ((along, low - off_mm), (along, high + off_mm), (left - off_mm, across), (right + off_mm, across))
    return spots[int(deck.rng.integers(4))]


def _beside(deck: Deck, field: FieldModel, board: BoardAppearance, reach_mm: float) -> tuple[float, float]:
    return _around(deck, field, board.rail_mm[1] + reach_mm + deck.free(*_BESIDE_MM))


def _thing(deck: Deck) -> tuple[Parts, float]:
    """Return a thing that stands on z = 0, and its reach, mm."""
    kinds = (_cup, _phone, _papers, _dice, _box, _pens)
    return kinds[int(deck.rng.integers(len(kinds)))](deck)


def _written(deck: Deck, surface: Material, scale: tuple[float, float], ink: Color) -> Material:
    """Return a surface with lines of text."""
    values = (deck.uniform(*scale), float(deck.rng.integers(99)), 0.0, 0.0)
    return dataclasses.replace(surface, pattern="text", second=ink, values=values)


def _cup(deck: Deck) -> tuple[Parts, float]:
    parts = Parts(Material(roughness=deck.uniform(0.05, 0.6)))
    radius, tall = deck.uniform(25, 45), deck.uniform(50, 130)
    parts.add("cylinder", (radius, tall / 2), (0, 0, tall / 2), any_color(deck, 0.3), part="other")
    parts.add("cylinder", (0.88 * radius, 1.0), (0, 0, tall), any_color(deck, 0.5), part="other")
    return parts, radius


def _phone(deck: Deck) -> tuple[Parts, float]:
    half, parts = (deck.uniform(60, 80), deck.uniform(28, 40), deck.uniform(3, 7)), Parts()
    surface = Material(roughness=deck.uniform(0.03, 0.3), corner_mm=deck.uniform(3, 12), bevel_mm=1.5)
    if deck.chance(0.4):
        surface = _written(deck, surface, (0.1, 0.4), any_color(deck))
    parts.add("box", half, (0, 0, half[2]), any_color(deck, 0.7), part="other", material=surface)
    return parts, half[0]


def _papers(deck: Deck) -> tuple[Parts, float]:
    """Return cards or sheets with print, some of them as small as a lying figure."""
    parts, reach = Parts(), 0.0
    for _ in range(int(deck.rng.integers(1, 4))):
        small = deck.chance(0.4)
        half = (deck.uniform(12, 40), deck.uniform(10, 28)) if small else (deck.uniform(60, 150), deck.uniform(45, 110))
        surface = _written(deck, Material(roughness=0.9), (0.1, 0.9), (0.15, 0.15, 0.18))
        paper = (0.93, 0.93, deck.free(0.75, 0.95)) if deck.chance(0.7) else any_color(deck, 0.4)
        at = deck.rng.uniform(-20, 20, 2)
        parts.add("box", (*half, 0.15), (*at, 0.15), paper, about_z(deck.free(0, 360)), part="other", material=surface)
        reach = max(reach, math.hypot(*half) + 28)
    return parts, reach


def _dice(deck: Deck) -> tuple[Parts, float]:
    parts = Parts()
    for _ in range(int(deck.rng.integers(1, 4))):
        x, y = deck.rng.uniform(-25, 25, 2).tolist()
        add_die(parts, deck, deck.uniform(5, 9), (x, y))
    return parts, 40.0


def _box(deck: Deck) -> tuple[Parts, float]:
    """Return a box or a scoreboard."""
    half, color = (deck.uniform(30, 100), deck.uniform(15, 60), deck.uniform(4, 40)), any_color(deck, 0.3)
    surface = Material(roughness=deck.uniform(0.1, 0.8), bevel_mm=deck.uniform(0, 3))
    if deck.chance(0.5):
        ink = (0.08, 0.08, 0.08) if is_bright(color) else (0.9, 0.9, 0.9)
        surface = _written(deck, surface, (0.03, 0.2), ink)
    parts = Parts()
    parts.add("box", half, (0, 0, half[2]), color, part="other", material=surface)
    return parts, math.hypot(half[0], half[1])


def _pens(deck: Deck) -> tuple[Parts, float]:
    parts = Parts(Material(roughness=0.4))
    for _ in range(int(deck.rng.integers(1, 5))):
        r, turn = deck.uniform(2, 6), about_z(deck.free(0, 360)) @ about_y(90)
        at: Array = np.array([*deck.rng.uniform(-20, 20, 2), r])
        parts.add("capsule", (r, deck.uniform(25, 70)), at, any_color(deck), turn, part="other")
    return parts, 95.0
