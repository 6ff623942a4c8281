"""Which sighting is which figure: one assignment over the whole board, and whether another would have done as well.

The cost of a pair is twice the negative log-likelihood of the sighting, less what its own noise accounts for: the
Mahalanobis distance of place, heading modulo 180 degrees and size, the volume in which the figure might have been, and
the jersey. Bases are solid, so two figures that are both seen are never in each other's reach; doubt arises where one
was not seen for a while.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from downfield.core.angles import wrap_half_turn_rad
from downfield.core.arrays import Array
from downfield.models.head import logit
from downfield.vision.tracking.kalman import LASTING, MEASURED, Motion, mahalanobis
from downfield.vision.tracking.measurement import PLACE, POSE, Measurements

Rows = NDArray[np.intp]

SOLID_MM: Final = 8.0
"""Middles of two bases are never so near: what is seen twice there is seen double."""

_KNOCK: Final = (3.0, 3.0, 0.15)  # mm and rad that a figure may be off its course within a frame when it is hit
_LIES: Final = 1.5  # log-odds of a sighting that it lies: its base turned up on its edge, beside where it stood
_TOPPLED: Final = (5.0, 5.0, 1.0, 15.0, 15.0)  # how far: deviations of place, heading and size, mm and rad
_ACROSS_RAD, _ANY_RAD = np.pi / 4, 0.9  # seen across; deviation of a heading that may have become any
_GATE: Final = 25.0  # 99.998 % of honest places lie within: chi squared of 3
_UNMATCHED: Final = 100.0  # dearer than any pair within the gate
_USUAL: Final = (0.4, 0.4, 0.02, 0.6, 0.6)  # errors of a good sighting: vaguer ones are worth less
_SCORE_WORD: Final = 3.0  # the most that the network's log-odds of there being a figure at all are worth
_VAGUE_MM: Final = 3.0
_OTHER_TEAM: Final = 3.0  # log-odds
_GUESS, _FAR_MM = 0.7, 25.0  # score below which a sighting may be of nothing; further than a pile pushes anybody,
_NEAR_MM, _KNOWN_MM = 12.0, 20.0  # or anybody of whom it is known where he was; further than he is found in anything
_COLOR_WORD: Final = 4.0  # the most that one look at a jersey is worth: a finger or a neighbor's arm may be over it
_NEVER: Final = 1.0e6
DOUBT: Final = 9.2
"""Twice the log of the odds, 100 to 1, that the assignment must be better by than with two figures exchanged."""


@dataclass(frozen=True, slots=True)
class Match:
    """What was matched.

    Attributes:
        figures, sightings: rows of pairs, shape (k,) each.
        flipped: whether the sighting faces the other way than the figure was believed to, shape (k,).
        doubtful: rows of figures that might as well be another of them.

    """

    figures: Rows
    sightings: Rows
    flipped: NDArray[np.bool_]
    doubtful: Rows

    def only(self, kept: NDArray[np.bool_]) -> Match:
        """The pairs to be kept, shape (k,), of these; doubts stay."""
        return Match(self.figures[kept], self.sightings[kept], self.flipped[kept], self.doubtful)

    def and_also(self, other: Match) -> Match:
        """Both of them; no figure and no sighting is in either."""
        return Match(
            np.concatenate([self.figures, other.figures]),
            np.concatenate([self.sightings, other.sightings]),
            np.concatenate([self.flipped, other.flipped]),
            np.concatenate([self.doubtful, other.doubtful]),
        )


def without_doubles(sightings: Measurements) -> Measurements:
    """The sightings less those that are of the same figure as a better one."""
    place = sightings.pose[:, :2]
    near = np.linalg.norm(place[:, None] - place[None], axis=2) < SOLID_MM
    np.fill_diagonal(near, False)
    if not near.any():
        return sightings
    score = np.array([one.score for one in sightings.detections])
    keep = np.ones(len(score), dtype=bool)
    for row in np.argsort(-score, kind="stable"):
        if keep[row]:
            keep &= ~near[row]
    return sightings.only(keep)


def match(
    motion: Motion,
    rows: Rows,
    sightings: Measurements,
    columns: Rows,
    jersey: Array,
    strange: NDArray[np.bool_] | None = None,
) -> Match:
    """Assign sightings to figures.

    Args:
        motion: of all figures, carried forward to the sightings' time.
        rows: the figures to match.
        sightings: of the frame.
        columns: those to match.
        jersey: of each figure, 1 light, -1 dark, shape (n,).
        strange: which sightings are of something that was there while the figure was elsewhere, shape (n, m).

    """
    cost, flipped = _costs(motion, rows, sightings, columns)
    for_it = jersey[rows][:, None] * np.clip(sightings.light[columns], -_COLOR_WORD, _COLOR_WORD)[None]
    word = 2 * np.logaddexp(0.0, -for_it)
    # Colors err now and then, but who is not where he was is not found in the other team's; nor far off in a guess.
    # Of one that topples it is not his jersey that is seen where jerseys are.
    vague = motion.spread_mm()[rows] > _VAGUE_MM
    apart = np.linalg.norm(motion.mean[rows][:, None, :2] - sightings.pose[columns][None, :, :2], axis=2)
    away = apart > SOLID_MM
    guessed = np.array([one.score for one in sightings.detections])[columns] < _GUESS
    far = apart > np.where(vague, _FAR_MM, _NEAR_MM)[:, None]
    topples = (sightings.fallen[columns] > 0)[None] & (apart < _KNOWN_MM)
    other = (for_it < -_OTHER_TEAM) & ~topples
    never = (away & other) | (far & guessed[None]) | ((apart > _KNOWN_MM) & ~vague[:, None]) | (cost >= _NEVER)
    if strange is not None:
        never |= away & strange[np.ix_(rows, columns)]
    missed = np.where(np.eye(len(rows), dtype=bool), _UNMATCHED, _NEVER)
    # What is within the gate is he unless his colors speak against it; how badly it fits tells who else it may be.
    fits = np.where(never, _NEVER, np.minimum(cost, _UNMATCHED - 1) + word)
    chosen_row, chosen = linear_sum_assignment(np.concatenate([fits, missed], axis=1))
    padded = np.concatenate([np.where(never, _NEVER, cost + word), missed], axis=1)
    paired = chosen < len(columns)
    own, column = chosen_row[paired], chosen[paired]
    return Match(rows[own], columns[column], flipped[own, column], rows[_doubtful(padded, chosen)])


def _costs(motion: Motion, rows: Rows, sightings: Measurements, columns: Rows) -> tuple[Array, NDArray[np.bool_]]:
    """Costs of all pairs, shape (k, l), and whether the sighting faces the other way, same shape."""
    off = sightings.pose[columns][None] - motion.mean[rows][:, MEASURED][:, None]
    flipped = np.cos(off[..., 2]) < 0
    off[..., 2] = wrap_half_turn_rad(off[..., 2])
    noise = sightings.covariance[columns]
    believed = motion.cov[rows][:, MEASURED][:, :, MEASURED]
    believed[:, POSE, POSE] += LASTING * motion.lasting[rows] + np.diag(np.array(_KNOCK) ** 2)
    lies = sightings.fallen[columns] > _LIES
    noise[lies] += np.diag(np.square(_TOPPLED))
    # Only who is near is worth a closer look: a distance is at least as great as along x, or along y, alone.
    wide = [np.diagonal(part, axis1=1, axis2=2)[:, PLACE] for part in (believed, noise)]
    near = (np.square(off[..., PLACE]) < _GATE * (wide[0][:, None] + wide[1][None])).all(axis=2)
    row, column = np.nonzero(near)
    off, spread = off[row, column], believed[row] + noise[column]
    within = mahalanobis(off[:, POSE], spread[:, POSE, POSE]) < _GATE
    # A base of which an arm hides the middle looks like one that stands across.
    within &= (np.abs(off[:, 2]) < _ACROSS_RAD) | (believed[row, 2, 2] > _ANY_RAD**2) | lies[column]
    row, column, off, spread = row[within], column[within], off[within], spread[within]
    volume = np.linalg.slogdet(spread)[1] - np.log(np.square(_USUAL)).sum()
    score = np.array([one.score for one in sightings.detections])[columns]
    nobody = np.clip(-logit(score), -_SCORE_WORD, _SCORE_WORD) + _SCORE_WORD
    cost = np.full(near.shape, _NEVER)
    cost[row, column] = np.maximum(mahalanobis(off, spread) + volume + 2 * nobody[column], 0.0)
    return cost, flipped


def _doubtful(padded: Array, chosen: Rows) -> Rows:
    """Rows that could change places with another row at little cost; being unmatched is such a place."""
    count = len(chosen)
    own = padded[np.arange(count), chosen]
    across = padded[:, chosen].copy()  # across[i, k]: row i in the place of row k
    for k in range(count):
        if own[k] == _UNMATCHED:
            across[:, k] = _UNMATCHED  # anyone can be unmatched
    dearer = across + across.T - own[:, None] - own[None]
    np.fill_diagonal(dearer, _NEVER)
    both_missed = (own == _UNMATCHED)[:, None] & (own == _UNMATCHED)[None]
    dearer[both_missed] = _NEVER
    doubtful: Rows = np.flatnonzero((dearer < DOUBT).any(axis=1))
    return doubtful
