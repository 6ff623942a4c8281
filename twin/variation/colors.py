"""Colors beyond the twin's lists."""

from __future__ import annotations

import colorsys

import numpy as np

from downfield.twin.appearance import Color
from downfield.twin.randomization.deck import Deck


def any_color(deck: Deck, dull: float = 0.0) -> Color:
    """Return any color at all; the duller, the less saturated."""
    rng = deck.rng
    return colorsys.hsv_to_rgb(rng.random(), rng.random() ** 0.7 * (1 - dull), float(rng.uniform(0.05, 1.0)))


def near(deck: Deck, color: Color, scale: float = 1.0, spread: float = 0.02) -> Color:
    """Return a color scaled in brightness, each channel off by a standard deviation."""
    red, green, blue = np.clip(np.array(color) * scale + deck.rng.normal(0, spread, 3), 0.01, 1.0).tolist()
    return (red, green, blue)


def scaled(color: Color, share: float, add: float = 0.0) -> Color:
    """Return a darker or brighter color."""
    red, green, blue = (min(max(share * channel + add, 0.0), 1.0) for channel in color)
    return (red, green, blue)


def is_bright(color: Color) -> bool:
    """Return whether dark print is read on it."""
    return sum(color) > 1.2
