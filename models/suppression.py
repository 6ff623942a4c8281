"""Bases are solid: of what lies in one another one is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.first_look import SAME_PLACE, base_lengths
from downfield.models.head import logit

_LIES_IN = 0.3  # share of a base in another from which one of them is none
_REACH = 1.8  # bases whose middles are so many of the longer one's lengths apart don't meet, whatever their width
_KNOWN_WORD, _LEAST_WORD = 1.0, 0.05  # log-odds for who was seen a moment ago; score that is worth nothing
_SAMPLES = 5  # of a base's sides


def find_same_figure(one: Detection, others: Sequence[Detection]) -> int | None:
    """The row of the figure that is where this one is, and so is the same; None where none is."""
    if not others:
        return None
    corners = np.array([other.corners_px for other in (one, *others)])
    middles, lengths = corners.mean(axis=1), base_lengths(corners)
    apart = np.linalg.norm(middles[1:] - middles[0], axis=1) / np.maximum(lengths[1:], lengths[0])
    nearest = int(apart.argmin())
    return nearest if apart[nearest] < SAME_PLACE else None


def suppress_overlaps(figures: list[Detection], known: int) -> list[Detection]:
    """Figures less those that lie in others: bases are solid.

    Where two bases meet, half of each may look like a base of its own. It lies in two that don't lie in each other, and
    together they have more to be said for them: who has least for himself against those he lies in goes first.

    Args:
        figures: as they are seen.
        known: so many of them, the first, were seen a moment ago.

    """
    if not figures:
        return []
    corners = np.array([figure.corners_px for figure in figures])
    middles, lengths = corners.mean(axis=1), base_lengths(corners)
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    longer = np.maximum(lengths[:, None], lengths[None])
    clash = apart < SAME_PLACE * longer
    upright = np.array([figure.kind == "upright" for figure in figures])
    one, other = np.nonzero(np.triu(upright[:, None] & upright[None] & (apart < _REACH * longer), k=1))
    inside = _shared(corners[one], corners[other]) > _LIES_IN
    clash[one[inside], other[inside]] = clash[other[inside], one[inside]] = True
    np.fill_diagonal(clash, False)
    word = logit(np.array([figure.score for figure in figures])) + _KNOWN_WORD * (np.arange(len(figures)) < known)
    word = np.maximum(word - float(logit(np.array(_LEAST_WORD))), 0.0)
    alive = np.ones(len(figures), dtype=np.bool_)
    while True:
        against = (clash & alive[None]) @ word
        clashing = alive & (clash & alive[None]).any(axis=1)
        if not clashing.any():
            return [figure for figure, stays in zip(figures, alive, strict=True) if stays]
        alive[np.where(clashing, word - against, np.inf).argmin()] = False


def _shared(one: Array, other: Array) -> Array:
    """The larger share of either of two bases that lies in the other, corners of pairs, (n, 4, 2); (n,), about."""
    shared: Array = np.maximum(_share_in(one, other), _share_in(other, one))
    return shared


def _share_in(one: Array, other: Array) -> Array:
    """The share of bases that lies in others, shape (n,)."""
    ends = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    u, v = (side.ravel()[:, None] for side in np.meshgrid(ends, ends))
    a, b, c, d = (one[:, None, k] for k in range(4))
    points = (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * d + u * c)
    a, b, c, d = (other[:, k] for k in range(4))
    ahead, aside = (a + b - c - d) / 2, (a + d - b - c) / 2
    off = points - other.mean(axis=1)[:, None]
    # In a base's own frame it reaches from -1/2 to 1/2 along both its sides.
    turn = ahead[:, 0] * aside[:, 1] - ahead[:, 1] * aside[:, 0]
    turn = np.where(np.abs(turn) < 1e-9, np.inf, turn)[:, None]
    along = (off[..., 0] * aside[:, 1:] - off[..., 1] * aside[:, :1]) / turn
    across = (off[..., 1] * ahead[:, :1] - off[..., 0] * ahead[:, 1:]) / turn
    share: Array = ((np.abs(along) < 0.5) & (np.abs(across) < 0.5)).mean(axis=1)
    return share
