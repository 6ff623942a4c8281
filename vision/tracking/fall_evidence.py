"""What one picture says of figures' lying: the network's word, the shape of their bases, and where their helmets are.

Seen from the side, at the edge of the board, one that stands looks much like one that lies: its helmet is in the
picture far off its base. The camera tells: brought down from the height at which helmets are, it is over the base.
Numbers are log-odds, by how often each is so of figures that lie and of figures that stand, in validation pictures and
plays of the twin, and halved, for errors last from frame to frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.frame import Detection

_SAID_FALLEN: Final = 2.4  # times the score of the network's word
_SAID_UPRIGHT: Final = -1.1  # of those that lie it takes a sixth for upright, of those that stand one in 200 for fallen
_EDGE_MM: Final = (20.0, 11.0)  # no base is so short or so narrow: it is seen from its edge
_SHORT: Final = 1.0
_FULL: Final = -1.3  # of one taken for fallen with a base in full: of those that lie a quarter show so much of it
_OVER: Final = -1.3  # and with its helmet over that: so do nine tenths of those that stand, half of those that lie. It
# counts for more than that, so that the network's word says nothing then: such errors last for seconds
_SEEN: Final = 0.5  # score of a helmet
_JUMP_MM: Final = 4.0  # from one look to the next: of those taken for fallen who stand one in 20 seems to go so far,
_JUMPS: Final = 3.0  # of those who fall every other one


def lying_odds(figures: Sequence[Detection], size_mm: Array, heading: Array, helmet_mm: Array) -> Array:
    """Log-odds that figures lie, by one picture alone, shape (m,).

    Args:
        figures: m of them.
        size_mm: length and width of their bases as they look, shape (m, 2).
        heading: of their bases, radians, shape (m,).
        helmet_mm: where their helmets would be if they stood, from the middles of their bases, NaN where that is not
            known, shape (m, 2).

    """
    taken = np.array([one.kind == "fallen" for one in figures], dtype=np.bool_)
    score = np.clip([one.score for one in figures], 0.0, 1.0)
    short = (size_mm < _EDGE_MM).any(axis=1)
    seen = np.array([one.helmet_score > _SEEN for one in figures], dtype=np.bool_)
    over = seen & _over(size_mm, heading, helmet_mm)
    shape = np.where(short, _SHORT, np.where(taken, _FULL + np.where(over, _OVER, 0.0), 0.0))
    odds: Array = np.where(taken, _SAID_FALLEN * score, _SAID_UPRIGHT) + shape
    return odds


def followed_odds(odds: Array, figures: Sequence[Detection], jump_mm: Array, fallen: Array) -> Array:
    """Log-odds that figures lie, by one picture and by what was known of them before, shape (k,).

    One that is taken for fallen just as its base jumps aside falls; and who lies does not get up again while he is
    still taken for fallen, for all that his base shows in full.

    Args:
        odds: by the picture alone, shape (k,).
        figures: k of them.
        jump_mm: how far each is from where it was going; 0 for those not seen in the looks before, shape (k,).
        fallen: how probably each lay before, shape (k,).

    """
    taken = np.array([one.kind == "fallen" for one in figures], dtype=np.bool_)
    moved: Array = odds + np.where(taken & (jump_mm > _JUMP_MM), _JUMPS, 0.0)
    return np.where(taken & (fallen > 0.5), np.maximum(moved, 0.0), moved)


def _over(size_mm: Array, heading: Array, off_mm: Array) -> NDArray[np.bool_]:
    """Whether points, by their offsets from the middles of bases, are over these."""
    cos, sin = np.cos(heading), np.sin(heading)
    along, across = cos * off_mm[:, 0] + sin * off_mm[:, 1], cos * off_mm[:, 1] - sin * off_mm[:, 0]
    inside: NDArray[np.bool_] = (np.abs(along) <= size_mm[:, 0] / 2) & (np.abs(across) <= size_mm[:, 1] / 2)
    return inside
