"""What lies on and beside a board: boxes and cans, decoys, cups, phones, papers with print, dice, pens, goal posts.

Decoys are things that may be taken for a ball or a figure: knobs, screws, beads, stains, coins, caps, blocks.
"""

from __future__ import annotations

import colorsys
import dataclasses
import math
from functools import partial

import numpy as np

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.twin.randomization import colors
from downfield.twin.randomization.colors import Parts, about_y, about_z, any_color, is_bright, scaled
from downfield.twin.randomization.deck import Deck
from downfield.twin.table.appearance import BoardAppearance, Color, Material, Solid

_EDGE_MM = 8.0  # decoys are this far within the board
_BESIDE_MM = (8.0, 88.0)  # things beside the board are this far off it
_BLACK: Color = (0.04, 0.04, 0.04)


def draw_clutter(deck: Deck, field: FieldModel, board: BoardAppearance) -> tuple[Solid, ...]:
    """Return clutter beside the board, and goal posts behind the end zones."""
    out = [_box_or_can(deck, field, board) for _ in range(int(deck.rng.integers(0, 9)))]
    if deck.chance(0.6):
        out += draw_goal_posts(deck, field)
    return tuple(out)


def _box_or_can(deck: Deck, field: FieldModel, board: BoardAppearance) -> Solid:
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
    color = deck.choice(colors.STRONG + colors.TABLES)
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
        parts, reach = (_cup, _phone, _papers, _dice, _box, _pens)[int(deck.rng.integers(6))](deck)
        spot = _around(deck, field, board.rail_mm[1] + reach + deck.free(*_BESIDE_MM))
        out += _placed(parts, deck, spot, table_z_mm)
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


# Each of the following returns a thing that stands on z = 0, and its reach from its middle, mm.


def _written(deck: Deck, surface: Material, scale: tuple[float, float], ink: Color) -> Material:
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


def draw_small_decoy(deck: Deck, ground: Color) -> tuple[Parts, float]:
    """Return a thing that may be taken for a ball, standing on z = 0, and its reach from its middle, mm.

    Args:
        ground: color of what it lies on, which shows through stains and the holes of washers.
    """
    kinds = (_knob, _screw, _bead, partial(_die, half_mm=(2.2, 4.0)), _stain, _peg, _washer, _crumb)
    return kinds[int(deck.rng.integers(len(kinds)))](deck, ground)


def draw_large_decoy(deck: Deck, ground: Color) -> tuple[Parts, float]:
    """Return a thing that may be taken for a figure or a base; arguments and results as of `draw_small_decoy`."""
    kinds = (_die, _coin, _marker, _strip, _cap, _block, _card, _ruler)
    return kinds[int(deck.rng.integers(len(kinds)))](deck, ground)


def add_die(parts: Parts, deck: Deck, half_mm: float, at: tuple[float, float]) -> None:
    """Add a die that lies flat."""
    color = any_color(deck)
    pips: Color = (0.1, 0.1, 0.1) if is_bright(color) else (0.95, 0.95, 0.95)
    surface = Material(roughness=0.25, bevel_mm=0.11 * half_mm, corner_mm=0.25 * half_mm, pattern="pips", second=pips)
    turn = about_z(deck.free(0, 360))
    parts.add("box", [half_mm] * 3, (*at, half_mm), color, turn, part="other", material=surface)


def _metal(deck: Deck) -> Color:
    gray = deck.uniform(0.45, 0.8)
    return (gray, gray, gray)


def _knob(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    parts = Parts(Material(roughness=deck.uniform(0.1, 0.6), bevel_mm=0.8))
    radius, tall = deck.uniform(3, 9), deck.uniform(2, 9)
    ink = any_color(deck, 0.8) if deck.chance(0.6) else _BLACK
    parts.add("cylinder", (radius, tall / 2), (0, 0, tall / 2), ink, part="other")
    parts.add("cylinder", (0.7 * radius, 0.6), (0, 0, tall), any_color(deck, 0.6), part="other")
    pointer = (0.4 * radius, 0.08 * radius, 0.2)
    parts.add("box", pointer, (0.45 * radius, 0, tall + 0.6), (0.9, 0.9, 0.9), part="other")
    return parts, radius


def _screw(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    parts = Parts(Material(roughness=deck.uniform(0.2, 0.5), reflectance=0.35, bevel_mm=0.5))
    radius = deck.uniform(1.6, 4)
    parts.add("cylinder", (radius, 0.5), (0, 0, 0.5), _metal(deck), part="other")
    parts.add("box", (0.85 * radius, 0.14 * radius, 0.05), (0, 0, 1.0), _BLACK, part="other")
    if deck.chance(0.6):
        parts.add("box", (0.14 * radius, 0.85 * radius, 0.05), (0, 0, 1.0), _BLACK, part="other")
    return parts, radius


def _bead(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    parts, r = Parts(Material(roughness=0.15)), deck.uniform(1.5, 4)
    color = colorsys.hsv_to_rgb(deck.uniform(0.25, 1.0), deck.uniform(0.6, 1.0), deck.uniform(0.5, 1.0))
    parts.add("ellipsoid", (r, r, 0.85 * r), (0, 0, 0.85 * r), color, part="other")
    parts.add("cylinder", (0.35 * r, 0.06), (0, 0, 1.67 * r), _BLACK, part="other")
    return parts, r


def _stain(deck: Deck, ground: Color) -> tuple[Parts, float]:
    parts = Parts(Material(roughness=0.8))
    color = scaled(ground, deck.uniform(0.4, 0.85)) if deck.chance(0.6) else any_color(deck, 0.6)
    for _ in range(int(deck.rng.integers(1, 4))):
        size = (deck.free(1.5, 6), deck.free(1.2, 4), 0.06)
        parts.add("ellipsoid", size, (*deck.rng.normal(0, 2, 2), 0.02), color, part="other")
    return parts, 2.0  # bases may stand on it


def _peg(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    parts, tall = Parts(Material(roughness=deck.uniform(0.1, 0.6))), deck.uniform(4, 16)
    radius = deck.uniform(0.8, 2.2)
    parts.add("capsule", (radius, tall / 2), (0, 0, tall / 2), any_color(deck, 0.3), part="other")
    return parts, radius


def _washer(deck: Deck, ground: Color) -> tuple[Parts, float]:
    parts, r = Parts(Material(roughness=0.3, reflectance=0.3)), deck.uniform(2.5, 7)
    parts.add("cylinder", (r, 0.4), (0, 0, 0.4), _metal(deck), part="other")
    parts.add("cylinder", (0.5 * r, 0.03), (0, 0, 0.8), ground, part="other", material=Material(roughness=0.8))
    return parts, r


def _crumb(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    parts, half = Parts(Material(roughness=0.6)), (deck.free(0.6, 2.5), deck.free(0.5, 2), deck.free(0.2, 1.2))
    parts.add("box", half, (0, 0, half[2]), any_color(deck, 0.3), part="other")
    return parts, half[0]


def _die(deck: Deck, _ground: Color, *, half_mm: tuple[float, float] = (5.0, 9.0)) -> tuple[Parts, float]:
    parts, half = Parts(), deck.uniform(*half_mm)
    add_die(parts, deck, half, (0, 0))
    return parts, 1.5 * half


def _coin(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    parts, radius = Parts(Material(roughness=0.35, reflectance=0.4)), deck.uniform(8, 13)
    parts.add(
        "cylinder", (radius, 0.8), (0, 0, 0.8), (0.75, 0.55, 0.35) if deck.chance(0.5) else _metal(deck), part="other"
    )
    return parts, radius


def _marker(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    """Return a down marker on its foot."""
    parts, tall, foot = Parts(Material(roughness=0.4)), deck.uniform(20, 60), deck.uniform(5, 9)
    parts.add("cylinder", (deck.uniform(0.8, 2), tall / 2), (0, 0, tall / 2), any_color(deck), part="other")
    parts.add("cylinder", (foot, 1.0), (0, 0, 1.0), any_color(deck), part="other")
    return parts, foot


def _strip(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    """Return a strip of paper or a yard stick."""
    parts, half = Parts(Material(roughness=0.7)), (deck.uniform(15, 70), deck.uniform(2, 8), 0.3)
    parts.add("box", half, (0, 0, 0.3), any_color(deck), about_z(deck.free(0, 360)), part="other")
    return parts, half[0]


def _card(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    """Return a score card or a letter tile: print about as large as a base, on paper or wood."""
    parts, half = Parts(), (deck.uniform(8, 24), deck.uniform(7, 16), deck.uniform(0.15, 2.5))
    paper = (0.93, 0.92, deck.free(0.75, 0.95)) if deck.chance(0.6) else any_color(deck, 0.3)
    ink = _BLACK if is_bright(paper) else (0.95, 0.95, 0.95)
    plain = Material(roughness=0.8, corner_mm=max(deck.uniform(-2, 3), 0.0))
    if deck.chance(0.5):
        surface = _written(deck, plain, (0.15, 1.0), ink)
        parts.add("box", half, (0, 0, half[2]), paper, part="other", material=surface)
        return parts, math.hypot(half[0], half[1])
    digits = (float(deck.rng.integers(-1, 10)), float(deck.rng.integers(10)), 1.0, 0.0)
    printed = dataclasses.replace(plain, pattern="plate_digits", second=ink, values=digits)
    parts.add("box", (half[2], half[1], half[0]), (0, 0, half[2]), paper, about_y(90), part="other", material=printed)
    return parts, math.hypot(half[0], half[1])


def _ruler(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    """Return a ruler or a tape with marks and print."""
    half, color = (deck.uniform(25, 80), deck.uniform(4, 14), deck.uniform(0.1, 1.2)), any_color(deck, 0.4)
    ink = _BLACK if is_bright(color) else (0.95, 0.95, 0.95)
    parts = Parts(_written(deck, Material(roughness=deck.uniform(0.2, 0.9)), (0.2, 0.8), ink))
    parts.add("box", half, (0, 0, half[2]), color, part="other")
    return parts, half[0]


def _cap(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    """Return a bottle cap or a checker."""
    parts, radius, half = Parts(Material(roughness=0.3, bevel_mm=1.5)), deck.uniform(7, 15), deck.uniform(1.5, 4)
    parts.add("cylinder", (radius, half), (0, 0, half), any_color(deck), part="other")
    return parts, radius


def _block(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    """Return a block of about a base's size."""
    half = (deck.uniform(6, 16), deck.uniform(4, 11), deck.uniform(1.5, 5))
    surface = Material(roughness=deck.uniform(0.1, 0.7), bevel_mm=0.6, corner_mm=min(half[1], deck.uniform(0, 4)))
    parts = Parts(surface)
    parts.add("box", half, (0, 0, half[2]), any_color(deck), about_z(deck.free(0, 360)), part="other")
    return parts, half[0]
