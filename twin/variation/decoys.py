"""Small things on and about a board that may be taken for a ball or a figure: knobs, screws, beads, dice, caps."""

from __future__ import annotations

import colorsys

from downfield.twin.appearance import Color
from downfield.twin.materials import Material
from downfield.twin.randomization.deck import Deck
from downfield.twin.variation.colors import any_color, is_bright, scaled
from downfield.twin.variation.parts import Parts
from downfield.twin.variation.turns import about_z

_BLACK: Color = (0.04, 0.04, 0.04)


def draw_small_decoy(deck: Deck, ground: Color) -> tuple[Parts, float]:
    """Return a thing that may be taken for a ball, standing on z = 0, and its reach from its middle, mm.

    Args:
        deck: of its shape.
        ground: color of what it lies on, which stains and washers show.

    """
    kinds = (_knob, _screw, _bead, _small_die, _stain, _peg, _washer, _crumb)
    return kinds[int(deck.rng.integers(len(kinds)))](deck, ground)


def draw_large_decoy(deck: Deck, ground: Color) -> tuple[Parts, float]:
    """Return a thing that may be taken for a figure or a base, likewise."""
    kinds = (_die, _coin, _marker, _strip, _cap, _block)
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


def _small_die(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    parts, half = Parts(), deck.uniform(2.2, 4)
    add_die(parts, deck, half, (0, 0))
    return parts, 1.5 * half


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


def _die(deck: Deck, _ground: Color) -> tuple[Parts, float]:
    parts, half = Parts(), deck.uniform(5, 9)
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
