"""Bases are solid: of what lies in one another one is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from downfield.models.detection import Detection
from downfield.models.first_look import SAME_PLACE, base_lengths
from downfield.models.head import Array, logit

_LIES_IN = 0.3  # share of a base in another from which one of them is none
_KNOWN_WORD, _LEAST_WORD = 1.0, 0.05  # log-odds for who was seen a moment ago; score that is worth nothing
_SAMPLES = 5  # of a base's sides


def whose_place(one: Detection, others: Sequence[Detection]) -> int | None:
    """The row of the figure that is where this one is, and so is the same; None where none is."""
    if not others:
        return None
    corners = np.array([other.corners_px for other in (one, *others)])
    middles, lengths = corners.mean(axis=1), base_lengths(corners)
    apart = np.linalg.norm(middles[1:] - middles[0], axis=1) / np.maximum(lengths[1:], lengths[0])
    nearest = int(apart.argmin())
    return nearest if apart[nearest] < SAME_PLACE else None


def solid(figures: list[Detection], known: int) -> list[Detection]:
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
    upright = np.array([figure.kind == "upright" for figure in figures])
    both = upright[:, None] & upright[None]
    shared = _shared(corners)
    clash = (apart < SAME_PLACE * np.maximum(lengths[:, None], lengths[None])) | (both & (shared > _LIES_IN))
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


def _shared(corners: Array) -> Array:
    """The larger share of either of two bases that lies in the other, of all pairs, shape (n, n); about."""
    ends = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    u, v = (side.ravel()[:, None] for side in np.meshgrid(ends, ends))
    a, b, c, d = (corners[:, None, k] for k in range(4))
    points = (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * d + u * c)
    ahead, aside = (a + b - c - d)[:, 0] / 2, (a + d - b - c)[:, 0] / 2
    off = points[:, None] - corners.mean(axis=1)[None, :, None]
    # In a base's own frame it reaches from -1/2 to 1/2 along both its sides.
    turn = ahead[:, 0] * aside[:, 1] - ahead[:, 1] * aside[:, 0]
    turn = np.where(np.abs(turn) < 1e-9, np.inf, turn)
    along = (off[..., 0] * aside[:, None, 1] - off[..., 1] * aside[:, None, 0]) / turn[:, None]
    across = (off[..., 1] * ahead[:, None, 0] - off[..., 0] * ahead[:, None, 1]) / turn[:, None]
    inside = ((np.abs(along) < 0.5) & (np.abs(across) < 0.5)).mean(axis=2)
    shared: Array = np.maximum(inside, inside.T)
    return shared
