"""Which end of each base is its front: a belief of its own, since a network takes one for the other now and then."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array

_WORD_PER_S: Final = 6.0  # log-odds that the network's word is worth: its errors last
_WALK_PER_S: Final = 1.5  # and that walking that way is
_WALK_MM_S: Final = 15.0
_SURE: Final = 12.0  # what these beliefs are kept within, so that seconds can overturn them
_HIDDEN: Final = 1.5  # behind a hand, where a figure may be turned about
_PLAIN: Final = 0.9  # share of a base that must be seen beside a hand for the network to tell its front
_JUMP_RAD: Final = 0.7  # who turns so far between two looks is mistaken now, or was before


class FrontBelief:
    """What is believed of n figures.

    Args:
        odds: log-odds that their headings point ahead, shape (n,).

    """

    def __init__(self, odds: Array) -> None:
        self.odds = odds.copy()

    def hide(self, rows: NDArray[np.bool_]) -> None:
        """Figures are behind a hand."""
        self.odds[rows] = np.minimum(self.odds[rows], _HIDDEN)

    def jump(self, rows: NDArray[np.intp], turned_rad: Array) -> NDArray[np.intp]:
        """Figures are seen turned by angles; who jumped, whose front is then what is seen.

        A base seen across is believed turned to the nearer side, and when it is seen as it stands, to the nearer side
        again: that may be about, and what was believed of its front is worth nothing.
        """
        jumped = rows[np.abs(turned_rad) > _JUMP_RAD]
        self.odds[jumped] = 0.0
        return jumped

    def hear(
        self, rows: NDArray[np.intp], word: Array, visible: Array, by_hand: NDArray[np.bool_], step_s: float
    ) -> None:
        """The network says of figures which end is the front.

        Args:
            rows: of these, each at most once, shape (k,).
            word: -1..1, for the heading or against it, shape (k,).
            visible: share of each base that is seen, shape (k,).
            by_hand: who is beside a hand, shape (k,): of one it hides in part the network's word is worth nothing.
            step_s: since the look before.

        """
        told = ~by_hand | (visible >= _PLAIN)
        self.odds[rows] += np.where(told, word, 0.0) * _WORD_PER_S * step_s

    def walk(self, rows: NDArray[np.intp], ahead_mm_s: Array, step_s: float) -> None:
        """Figures walk ahead, or back, on a board that is on."""
        self.odds[rows] += _WALK_PER_S * step_s * np.sign(ahead_mm_s) * (np.abs(ahead_mm_s) > _WALK_MM_S)

    def settle(self) -> NDArray[np.bool_]:
        """Who faces the other way than was believed, shape (n,); from now on that is his heading."""
        wrong = self.odds < 0
        self.odds = np.minimum(np.abs(self.odds), _SURE)
        return wrong
