"""Which dials of a filmed strip can be seen at all: told from the pictures of two states, not from the reader.

A lamp's mirror image may fill a window with white until the number in it leaves no trace in the picture. Two states are
filmed, every dial turned on by one face; where the two differ without the lamp's image, they must differ with it.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.strip import StripSet
from downfield.twin.render.renderers import RendererName
from downfield.twin.strip.clip import StripFilm, StripMoment
from downfield.twin.strip.look import StripLook, StripState
from downfield.vision.strip.rectify import BoardBox, Rectifier

LEVELS: Final = 16.0
"""A difference of fewer gray levels in every channel is none."""
SHARE: Final = 0.9
"""A dial can be seen when this share of what tells its faces apart is left."""
PX_PER_MM: Final = 5.0


def visible_shares(look: StripLook, renderer: RendererName, state: StripState) -> tuple[float, ...]:
    """Return for each dial the share of what tells two of its faces apart that the lamps' images leave."""
    turned = dataclasses.replace(state, dials=tuple(turn + 1 for turn in state.dials))
    with_lamps = _difference(look, renderer, state, turned)
    without = _difference(dataclasses.replace(look, shine=0.0), "compositor", state, turned)
    shares = []
    for window in windows(look.strip, look):
        plain = window.sample(without).max(axis=2)
        tells = plain >= max(float(plain.max()) / 2, LEVELS)
        left = window.sample(with_lamps).max(axis=2) >= LEVELS
        shares.append(float(left[tells].mean()) if tells.any() else 0.0)
    return tuple(shares)


def windows(strip: StripSet, look: StripLook) -> list[Rectifier]:
    """Return the dials' windows in the pictures of a look."""
    return [Rectifier(look.camera, BoardBox(dial.x_mm, dial.y_mm, PX_PER_MM)) for dial in strip.dials]


def _difference(look: StripLook, renderer: RendererName, a: StripState, b: StripState) -> NDArray[np.uint8]:
    """Return by how many gray levels the pictures of two states differ."""
    film = StripFilm(look, renderer, seed=look.seed)
    first, second = (frame.image.astype(np.int16) for frame in film.film([StripMoment((0,), a), StripMoment((1,), b)]))
    return np.asarray(np.abs(first - second), dtype=np.uint8)
