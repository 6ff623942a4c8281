"""Assigning detections to figures: one assignment over the whole board, and whether another would fit as well.

The cost of a pair is twice the negative log-likelihood of the detection, less what its own noise accounts for: the
Mahalanobis distance of place, heading modulo 180 degrees and size, the volume in which the figure might have been, and
the jersey. Bases are solid, so two visible figures never compete for one detection; figures become ambiguous where one
was not detected for a while. Duplicates, and detections that a hand may have caused, are dropped first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from scipy.optimize import linear_sum_assignment

from downfield.core.angles import wrap_half_turn_rad
from downfield.core.arrays import Array, Bools, Indices
from downfield.models.runtime import logit
from downfield.models.suppression import non_maximum_suppression
from downfield.vision.occlusion.hands import outline_contains
from downfield.vision.tracking.kalman import LIMITS as KALMAN
from downfield.vision.tracking.kalman import MEASURED, MotionFilter, mahalanobis
from downfield.vision.tracking.measurement import PLACE, POSE, Measurements

_NEVER: Final = 1.0e6  # the cost of an impossible pair


@dataclass(frozen=True, slots=True)
class AssignmentLimits:
    """Thresholds of assigning detections to figures; log-odds where no unit is named."""

    solid_mm: float = 8.0
    """Centers of two bases are never this near: two detections here are duplicates."""

    knock_sigma: tuple[float, float, float] = (3.0, 3.0, 0.15)
    """How far a figure may be off its course within a frame when it is hit: x mm, y mm, heading rad."""

    toppled_log_odds: float = 1.5
    """Above, the base is turned up on its edge, beside where it stood."""

    toppled_sigma: tuple[float, float, float, float, float] = (5.0, 5.0, 1.0, 15.0, 15.0)
    """How far a toppled base's measurement may be off: x mm, y mm, heading rad, length mm, width mm."""

    across_rad: float = np.pi / 4
    """A base detected at more than this to its heading is one whose middle an arm hides."""

    any_heading_rad: float = 0.9
    """Deviation above which a heading may have become any."""

    gate: float = 25.0
    """Squared Mahalanobis distance of place and heading (chi squared of 3, 99.998 %) beyond which no pair is made."""

    unmatched_cost: float = 100.0
    """Cost of leaving a figure unmatched: more than any pair within the gate."""

    usual_sigma: tuple[float, float, float, float, float] = (0.4, 0.4, 0.02, 0.6, 0.6)
    """Errors of a good detection, mm and rad; vaguer ones are worth less."""

    max_score_log_odds: float = 3.0
    """Most that the network's confidence is worth."""

    max_jersey_log_odds: float = 4.0
    """Most that one view of a jersey is worth, since a finger or a neighbor's arm may be over it."""

    other_team_log_odds: float = 3.0
    """A figure that is not where it was is not taken for one that looks this much like the other team."""

    vague_mm: float = 3.0
    """Deviation of place above which it is not known where a figure is."""

    low_score: float = 0.7
    """Score (0..1) below which a detection may be of nothing."""

    far_mm: float = 25.0
    """Further than a pile pushes a figure: no low-score detection is taken for it there."""

    near_mm: float = 12.0
    """The same for a figure whose place is known."""

    known_mm: float = 20.0
    """A figure whose place is known is assigned no detection beyond this."""

    exchange_margin: float = 9.2
    """Twice the log of the odds, 100 to 1, by which the assignment must beat the one with two figures exchanged."""

    beside_hand_mm: float = 20.0
    """Nearer to a hand's outline than this, a figure may be measured wrongly because of the hand."""

    min_visible_under_hand: float = 0.6
    """Share of a base that must be visible for a detection under a hand to count."""


LIMITS: Final = AssignmentLimits()


@dataclass(frozen=True, slots=True)
class Assignment:
    """Pairs of figures and detections.

    Attributes:
        figures, detections: rows of the pairs, shape (k,) each.
        flipped: whether the detection faces the other way than the figure was believed to, shape (k,).
        ambiguous: rows of figures that might as well be another of them.

    """

    figures: Indices
    detections: Indices
    flipped: Bools
    ambiguous: Indices

    def select(self, kept: Bools) -> Assignment:
        """Only these pairs, shape (k,); ambiguous figures stay."""
        return Assignment(self.figures[kept], self.detections[kept], self.flipped[kept], self.ambiguous)

    def joined(self, other: Assignment) -> Assignment:
        """Both together; they share no figure and no detection."""
        return Assignment(
            np.concatenate([self.figures, other.figures]),
            np.concatenate([self.detections, other.detections]),
            np.concatenate([self.flipped, other.flipped]),
            np.concatenate([self.ambiguous, other.ambiguous]),
        )


def suppress_duplicates(measurements: Measurements) -> Measurements:
    """Drop all but the best-scoring detection of each figure."""
    place = measurements.pose[:, :2]
    near = np.linalg.norm(place[:, None] - place[None], axis=2) < LIMITS.solid_mm
    np.fill_diagonal(near, False)
    if not near.any():
        return measurements
    best_first = np.argsort(-measurements.scores, kind="stable")
    kept = non_maximum_suppression(len(best_first), lambda row, rest: near[best_first[row], best_first[rest]])
    keep = np.zeros(len(best_first), dtype=bool)
    keep[best_first[kept]] = True
    return measurements.select(keep)


def near_hands(hands_mm: Sequence[Array], place_mm: Array) -> Bools:
    """Which places on the board, shape (k, 2), are under a hand or next to it, shape (k,)."""
    out = np.zeros(len(place_mm), dtype=bool)
    for outline in hands_mm:
        shape = outline.astype(np.float32)
        near = [cv2.pointPolygonTest(shape, (x, y), True) > -LIMITS.beside_hand_mm for x, y in place_mm.tolist()]
        out |= np.array(near, dtype=bool)
    return out


def drop_under_hands(hands_mm: Sequence[Array], measurements: Measurements) -> Measurements:
    """Drop hardly visible detections under hands: they are as likely knuckles."""
    if not hands_mm:
        return measurements
    keep = measurements.visible >= LIMITS.min_visible_under_hand
    for row in np.flatnonzero(~keep).tolist():
        place = measurements.pose[row, :2].tolist()
        keep[row] = not any(outline_contains(outline, place) for outline in hands_mm)
    return measurements.select(keep)


def assign(
    motion: MotionFilter,
    rows: Indices,
    measurements: Measurements,
    columns: Indices,
    jersey: Array,
    elsewhere: Bools | None = None,
) -> Assignment:
    """Assign detections to figures.

    Args:
        motion: of all figures, predicted to the time of the detections.
        rows: the figures to assign to.
        measurements: of the frame.
        columns: the detections to assign.
        jersey: of each figure, 1 light, -1 dark, shape (n,).
        elsewhere: which detections are no candidates for which figures but at their own place, shape (n, m).

    """
    cost, flipped = _costs(motion, rows, measurements, columns)
    max_jersey = LIMITS.max_jersey_log_odds
    jersey_odds = jersey[rows][:, None] * np.clip(measurements.light[columns], -max_jersey, max_jersey)[None]
    jersey_cost = 2 * np.logaddexp(0.0, -jersey_odds)
    # Colors are wrong now and then, but a figure that is not where it was is not found in the other team's color, nor
    # far off in a low-score detection. A toppling figure shows something else where the jersey usually is.
    vague = motion.place_sigma_mm()[rows] > LIMITS.vague_mm
    apart = np.linalg.norm(motion.mean[rows][:, None, :2] - measurements.pose[columns][None, :, :2], axis=2)
    away = apart > LIMITS.solid_mm
    low_score = measurements.scores[columns] < LIMITS.low_score
    far = apart > np.where(vague, LIMITS.far_mm, LIMITS.near_mm)[:, None]
    topples = (measurements.fallen[columns] > 0)[None] & (apart < LIMITS.known_mm)
    other_team = (jersey_odds < -LIMITS.other_team_log_odds) & ~topples
    never = (away & other_team) | (far & low_score[None]) | ((apart > LIMITS.known_mm) & ~vague[:, None])
    never |= cost >= _NEVER
    if elsewhere is not None:
        never |= away & elsewhere[np.ix_(rows, columns)]
    missed = np.where(np.eye(len(rows), dtype=bool), LIMITS.unmatched_cost, _NEVER)
    # A detection within the gate is the figure unless its colors contradict; how badly it fits decides between figures.
    fits = np.where(never, _NEVER, np.minimum(cost, LIMITS.unmatched_cost - 1) + jersey_cost)
    chosen_row, chosen = linear_sum_assignment(np.concatenate([fits, missed], axis=1))
    padded = np.concatenate([np.where(never, _NEVER, cost + jersey_cost), missed], axis=1)
    paired = chosen < len(columns)
    own, column = chosen_row[paired], chosen[paired]
    return Assignment(rows[own], columns[column], flipped[own, column], rows[_ambiguous(padded, chosen)])


def _costs(motion: MotionFilter, rows: Indices, measurements: Measurements, columns: Indices) -> tuple[Array, Bools]:
    """Costs of all pairs, shape (k, l), and whether the detection faces the other way, same shape."""
    off = measurements.pose[columns][None] - motion.mean[rows][:, MEASURED][:, None]
    flipped = np.cos(off[..., 2]) < 0
    off[..., 2] = wrap_half_turn_rad(off[..., 2])
    noise = measurements.covariance[columns]
    believed = motion.cov[rows][:, MEASURED][:, :, MEASURED]
    believed[:, POSE, POSE] += KALMAN.persistent_share * motion.persistent[rows] + np.diag(
        np.array(LIMITS.knock_sigma) ** 2
    )
    toppled = measurements.fallen[columns] > LIMITS.toppled_log_odds
    noise[toppled] += np.diag(np.square(LIMITS.toppled_sigma))
    # Only near pairs need the full distance: it is at least as great as that along x, or along y, alone.
    wide = [np.diagonal(part, axis1=1, axis2=2)[:, PLACE] for part in (believed, noise)]
    near = (np.square(off[..., PLACE]) < LIMITS.gate * (wide[0][:, None] + wide[1][None])).all(axis=2)
    row, column = np.nonzero(near)
    off, spread = off[row, column], believed[row] + noise[column]
    within = mahalanobis(off[:, POSE], spread[:, POSE, POSE]) < LIMITS.gate
    # A base of which an arm hides the middle looks like one that stands across.
    along = np.abs(off[:, 2]) < LIMITS.across_rad
    within &= along | (believed[row, 2, 2] > LIMITS.any_heading_rad**2) | toppled[column]
    row, column, off, spread = row[within], column[within], off[within], spread[within]
    volume = np.linalg.slogdet(spread)[1] - np.log(np.square(LIMITS.usual_sigma)).sum()
    max_score = LIMITS.max_score_log_odds
    nothing = np.clip(-logit(measurements.scores[columns]), -max_score, max_score) + max_score
    cost = np.full(near.shape, _NEVER)
    cost[row, column] = np.maximum(mahalanobis(off, spread) + volume + 2 * nothing[column], 0.0)
    return cost, flipped


def _ambiguous(padded: Array, chosen: Indices) -> Indices:
    """Rows that could change places with another row at little cost; being unmatched is such a place."""
    count = len(chosen)
    own = padded[np.arange(count), chosen]
    across = padded[:, chosen].copy()  # across[i, k]: row i in the place of row k
    for k in range(count):
        if own[k] == LIMITS.unmatched_cost:
            across[:, k] = LIMITS.unmatched_cost  # any figure can be unmatched
    dearer = across + across.T - own[:, None] - own[None]
    np.fill_diagonal(dearer, _NEVER)
    both_missed = (own == LIMITS.unmatched_cost)[:, None] & (own == LIMITS.unmatched_cost)[None]
    dearer[both_missed] = _NEVER
    ambiguous: Indices = np.flatnonzero((dearer < LIMITS.exchange_margin).any(axis=1))
    return ambiguous
