"""Assigns detections to figures over the whole board at once, and reports ambiguous figures.

The cost of a pair is twice the negative log-likelihood of the detection, minus the part due to its own noise: the
Mahalanobis distance of place, heading modulo 180 degrees and size, the volume in which the figure might have been, and
the jersey. Bases are solid, so two visible figures never compete for one detection; figures become ambiguous when one
was not detected for a while. Duplicates, and detections that a hand may have caused, are dropped first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Bools, Indices
from downfield.core.footprint import Gaps
from downfield.core.mathematics import least_cost_pairs, wrap_half_turn_rad
from downfield.models.runtime import logit
from downfield.models.suppression import non_maximum_suppression
from downfield.vision.measuring.measurement import PLACE, POSE, SIZE, Measurements
from downfield.vision.tracking.kalman import KALMAN_LIMITS, MEASURED, MotionFilter, mahalanobis

_NEVER: Final = 1.0e6  # the cost of an impossible pair


@dataclass(frozen=True, slots=True)
class AssignmentLimits:
    """Thresholds of assigning detections to figures; log-odds unless a unit is given."""

    solid_mm: float = 8.0  # Centers of two bases are never this near: two detections here are duplicates
    # Deviation of a figure that is hit from its predicted course within a frame: x mm, y mm, heading rad
    knock_sigma: tuple[float, float, float] = (3.0, 3.0, 0.15)
    toppled_log_odds: float = 1.5  # Log-odds of a fall above which the base stands on its edge, beside its old place
    # Deviation of a toppled base's measurement: x mm, y mm, heading rad, length mm, width mm
    toppled_sigma: tuple[float, float, float, float, float] = (5.0, 5.0, 1.0, 15.0, 15.0)
    across_rad: float = np.pi / 4  # A base detected at a larger angle to its heading has its middle hidden by an arm
    any_heading_rad: float = 0.9  # Deviation above which a heading is unknown
    # Squared Mahalanobis distance of place and heading (chi squared of 3, 99.998 %) beyond which no pair is made
    gate: float = 25.0
    unmatched_cost: float = 100.0  # Cost of leaving a figure unmatched: more than any pair within the gate
    # Errors of a good detection, mm and rad; vaguer ones are worth less
    usual_sigma: tuple[float, float, float, float, float] = (0.4, 0.4, 0.02, 0.6, 0.6)
    max_score_log_odds: float = 3.0  # Limit of the network's confidence in the cost
    # Limit of the evidence of one view of a jersey, since a finger or a neighbor's arm may cover it
    max_jersey_log_odds: float = 4.0
    # A detection that looks this much like the other team is not matched to a figure away from its place
    other_team_log_odds: float = 3.0
    vague_mm: float = 3.0  # Deviation of place above which a figure's place is unknown
    low_score: float = 0.7  # Score (0..1) below which a detection may be false
    sure_score: float = 0.9  # Score from which it is no body for a figure that was missed for a moment
    # Distance beyond which no low-score detection is matched to a figure: further than a pile pushes it
    far_mm: float = 25.0
    near_mm: float = 12.0  # The same distance for a figure whose place is known
    known_mm: float = 20.0  # A figure whose place is known is assigned no detection beyond this
    knocked_mm: float = 3.0  # A base that is hit leaves its way by this much at once
    fastest_mm_per_s: float = 150.0  # No base walks, or is pushed off its way, this fast
    reach_sigmas: float = 2.0  # Errors of a measured place by which it may be further off, or lie on another base
    overlap_mm: float = 3.0  # A base that enters a surer one by more than this, besides errors, is no other base
    merged_mm: float = 45.0  # Bases whose centers are further apart than this are not detected as one
    # A detection of two bases as one is this near to the middle between them, as a share of their distance
    merged_off_share: float = 0.25
    # One of two figures detected as one was detected this short a time ago; a figure missed longer is hidden
    merged_start_ns: int = 250_000_000
    merged_other_ns: int = 400_000_000  # And the other this short a time ago; later it may be anywhere
    merged_ns: int = 3_000_000_000  # For so long two figures may be detected as one
    # Twice the log of the odds, 100 to 1, by which the assignment must beat the one with two figures exchanged
    exchange_margin: float = 9.2
    # Weight of that margin in the log-odds of an identity: half of what it would be if errors of one picture were
    # independent, so that at the margin an identity is right ten times to one
    exchange_weight: float = 0.25
    missed_cost: float = 5.0  # Twice the negative log of how often a figure is not detected
    moved_cost: float = 5.0  # The same of how often a hand moves a figure that it hides
    false_cost: float = 6.0  # The same of a detection of nothing
    near_cost: float = 25.0  # A detection dearer by this for another figure than for its own is no other figure's
    # Speed, one sigma, at which a figure leaves its way while it is not detected
    leaves_way_mm_per_s: float = 20.0
    # The same while the board is off: it may be on for a moment before that is known
    leaves_place_mm_per_s: float = 8.0
    way_freedom: float = 4.0  # Degrees of freedom of Student's distribution of that


ASSIGNMENT_LIMITS: Final = AssignmentLimits()


@dataclass(frozen=True, slots=True)
class Assignment:
    """Pairs of figures and detections."""

    # figures, detections: rows of the pairs, shape (k,) each
    figures: Indices
    detections: Indices
    flipped: Bools  # whether the detection faces opposite to the figure's estimated heading, shape (k,)

    def select(self, kept: Bools) -> Assignment:
        """Return only these pairs, shape (k,)."""
        return Assignment(self.figures[kept], self.detections[kept], self.flipped[kept])

    def joined(self, other: Assignment) -> Assignment:
        """Return both together; they must share no figure and no detection."""
        return Assignment(
            np.concatenate([self.figures, other.figures]),
            np.concatenate([self.detections, other.detections]),
            np.concatenate([self.flipped, other.flipped]),
        )


def suppress_duplicates(measurements: Measurements) -> Measurements:
    """Drop all but the best-scoring detection of each figure."""
    place = measurements.pose[:, :2]
    near = np.linalg.norm(place[:, None] - place[None], axis=2) < ASSIGNMENT_LIMITS.solid_mm
    np.fill_diagonal(near, False)
    if not near.any():
        return measurements
    best_first = np.argsort(-measurements.scores, kind="stable")
    kept = non_maximum_suppression(len(best_first), lambda row, rest: near[best_first[row], best_first[rest]])
    keep = np.zeros(len(best_first), dtype=bool)
    keep[best_first[kept]] = True
    return measurements.select(keep)


def out_of_reach(off_way_mm: Array, away_ns: NDArray[np.int64], measurements: Measurements) -> Bools:
    """Return which detections are further off figures' ways than bases walk or are pushed, shape (n, m).

    Whoever falls is thrown further, so what may be a fall is within reach of every figure.

    Args:
        off_way_mm: distances of the m detections from the n figures' ways, shape (n, m).
        away_ns: time since each figure was last detected, shape (n,).
    """
    walked_mm = ASSIGNMENT_LIMITS.fastest_mm_per_s * away_ns[:, None] * 1e-9
    reach_mm = ASSIGNMENT_LIMITS.knocked_mm + walked_mm + ASSIGNMENT_LIMITS.reach_sigmas * measurements.place_sigma_mm
    may_fall = measurements.signs.called_fallen | measurements.signs.edgewise
    return (off_way_mm > reach_mm) & ~may_fall


def lie_on_others(measurements: Measurements) -> Bools:
    """Return which detections lie partly on a surer one's base, shape (m,): at most one of the two is there."""
    pose, out = measurements.pose, np.zeros(len(measurements), dtype=np.bool_)
    apart = np.linalg.norm(pose[:, None, PLACE] - pose[None, :, PLACE], axis=2)
    reach = np.hypot(pose[:, 3], pose[:, 4]) / 2
    pairs = np.array(np.nonzero(np.triu(apart < reach[:, None] + reach, k=1)))
    if not pairs.size:
        return out
    outlines = np.concatenate(
        [pose[:, PLACE], np.degrees(pose[:, 2:3]), pose[:, SIZE], np.zeros((len(pose), 1))], axis=1
    )
    sigma_mm = np.hypot(*measurements.place_sigma_mm[pairs])
    enters = Gaps.of(outlines[pairs]).gap_mm < -ASSIGNMENT_LIMITS.overlap_mm - ASSIGNMENT_LIMITS.reach_sigmas * sigma_mm
    first, second = pairs[:, enters]
    out[np.where(measurements.scores[first] < measurements.scores[second], first, second)] = True
    return out


@dataclass(frozen=True, slots=True)
class MergedPairs:
    """Pairs of figures that are detected as one base between them, which is neither."""

    figures: Indices  # rows of the two figures, shape (k, 2); each figure at most once
    detections: Indices  # row of each pair's detection, shape (k,)

    def select(self, kept: Bools) -> MergedPairs:
        """Return only these pairs, shape (k,)."""
        return MergedPairs(self.figures[kept], self.detections[kept])


def find_merged(
    place_mm: Array, away_ns: NDArray[np.int64], since_ns: NDArray[np.int64], detected_mm: Array
) -> MergedPairs:
    """Return the pairs of figures that are likely detected as one.

    Neither has a detection where it is predicted, there is one in the middle between them, and both were where they are
    predicted a moment ago.

    Args:
        place_mm: predicted places of the n figures, shape (n, 2).
        away_ns: time since each was last detected, shape (n,).
        since_ns: time since each was last detected, alone or as one with another, shape (n,).
        detected_mm: places of the m detections, shape (m, 2).
    """
    own = np.linalg.norm(place_mm[:, None] - detected_mm[None], axis=2) <= ASSIGNMENT_LIMITS.solid_mm
    lately = (away_ns <= ASSIGNMENT_LIMITS.merged_ns) & (since_ns <= ASSIGNMENT_LIMITS.merged_other_ns)
    missed = ~own.any(axis=1) & lately
    rows, columns = np.flatnonzero(missed), np.flatnonzero(~own.any(axis=0))
    apart = np.linalg.norm(place_mm[rows][:, None] - place_mm[rows][None], axis=2)
    just = since_ns[rows] <= ASSIGNMENT_LIMITS.merged_start_ns
    near = np.argwhere(np.triu((apart > 0) & (apart < ASSIGNMENT_LIMITS.merged_mm) & (just[:, None] | just[None]), k=1))
    off_mm = np.linalg.norm(place_mm[rows[near]].mean(axis=1)[:, None] - detected_mm[columns][None], axis=2)
    off = off_mm / apart[near[:, 0], near[:, 1]][:, None]
    pairs, found = np.nonzero(off < ASSIGNMENT_LIMITS.merged_off_share)
    figures, detections = rows[near[pairs]], columns[found]
    chosen: list[int] = []
    for row in np.argsort(off[pairs, found], kind="stable").tolist():
        if not np.isin(figures[row], figures[chosen]).any() and detections[row] not in detections[chosen]:
            chosen.append(row)
    return MergedPairs(figures[chosen], detections[chosen])


def assign(
    motion: MotionFilter,
    rows: Indices,
    measurements: Measurements,
    columns: Indices,
    jersey: Array,
    elsewhere: Bools | None = None,
    lies: Bools | None = None,
) -> Assignment:
    """Assign detections to figures.

    Args:
        motion: of all figures, predicted to the time of the detections.
        jersey: of each figure, 1 light, -1 dark, shape (n,).
        lies: which figures are believed to lie, shape (n,); None if that does not count.
        elsewhere: which detections are candidates for a figure only at its own place, shape (n, m).
    """
    cost, flipped = _costs(motion, rows, measurements, columns)
    jersey_odds, jersey_cost = _by_jersey(jersey[rows], measurements.light[columns])
    # Colors are sometimes wrong, but away from its place a figure is matched neither to a detection in the other team's
    # color nor to a low-score detection far off. A toppling figure does not show its jersey in the usual place.
    vague = motion.place_sigma_mm()[rows] > ASSIGNMENT_LIMITS.vague_mm
    apart = np.linalg.norm(motion.mean[rows][:, None, :2] - measurements.pose[columns][None, :, :2], axis=2)
    away = apart > ASSIGNMENT_LIMITS.solid_mm
    low_score = measurements.scores[columns] < ASSIGNMENT_LIMITS.low_score
    far = apart > np.where(vague, ASSIGNMENT_LIMITS.far_mm, ASSIGNMENT_LIMITS.near_mm)[:, None]
    topples = (measurements.fallen[columns] > 0)[None] & (apart < ASSIGNMENT_LIMITS.known_mm)
    other_team = (jersey_odds < -ASSIGNMENT_LIMITS.other_team_log_odds) & ~topples
    never = (away & other_team) | (far & low_score[None]) | ((apart > ASSIGNMENT_LIMITS.known_mm) & ~vague[:, None])
    never |= cost >= _NEVER
    if elsewhere is not None:
        never |= away & elsewhere[np.ix_(rows, columns)]
    missed = np.where(np.eye(len(rows), dtype=bool), ASSIGNMENT_LIMITS.unmatched_cost, _NEVER)
    # A detection within the gate is the figure unless its colors contradict; how badly it fits decides between figures.
    # Of two figures that it fits badly the one that it fits less badly is preferred: by less than any other difference.
    if lies is not None:  # nobody gets up, least of all away from where one lies
        lying, fallen = lies[rows, None], measurements.fallen[columns]
        jersey_cost = jersey_cost + _by_jersey(np.where(lies[rows], 1.0, -1.0), fallen)[1]
        never |= lying & away & (fallen < 0) & (~away & (fallen > 0)).any(axis=1)[:, None]
    fits = np.where(never, _NEVER, np.minimum(cost, ASSIGNMENT_LIMITS.unmatched_cost - 1 + cost / _NEVER) + jersey_cost)
    chosen_row, chosen = least_cost_pairs(np.concatenate([fits, missed], axis=1))
    paired = chosen < len(columns)
    own, column = chosen_row[paired], chosen[paired]
    return Assignment(rows[own], columns[column], flipped[own, column])


def _by_jersey(jersey: Array, light: Array) -> tuple[Array, Array]:
    """Return the log-odds that detections are of figures' teams, and what they cost, shape (k, l) each."""
    limit = ASSIGNMENT_LIMITS.max_jersey_log_odds
    odds: Array = jersey[:, None] * np.clip(light, -limit, limit)[None]
    return odds, 2 * np.logaddexp(0.0, -odds)


def way_costs(off_mm: Array, sigma_mm: Array, jersey: Array, measurements: Measurements, never: Bools) -> Array:
    """Return what each detection costs for each figure by its way and its jersey alone, see `exchange_doubts`.

    Args:
        off_mm: distances of the m detections from the n figures' ways, shape (n, m).
        sigma_mm: by how much each figure may have left its way, one direction, shape (n,).
        jersey: as in `assign`.
        never: which pairs are impossible, shape (n, m).
    """
    variance = np.square(sigma_mm)[:, None] + np.square(measurements.place_sigma_mm)[None] / 2
    # Most figures keep their ways, and a few leave them far: a distribution with heavy tails, Student's.
    freedom = ASSIGNMENT_LIMITS.way_freedom
    cost: Array = (freedom + 2) * np.log1p(off_mm**2 / (freedom * variance)) + 2 * np.log(variance)
    cost += _by_jersey(jersey, measurements.light)[1]
    cost[never] = _NEVER
    return cost


def _costs(motion: MotionFilter, rows: Indices, measurements: Measurements, columns: Indices) -> tuple[Array, Bools]:
    """Return the costs of all pairs, shape (k, l), and whether the detection faces the other way, same shape."""
    off = measurements.pose[columns][None] - motion.mean[rows][:, MEASURED][:, None]
    flipped = np.cos(off[..., 2]) < 0
    off[..., 2] = wrap_half_turn_rad(off[..., 2])
    noise = measurements.covariance[columns]
    believed = motion.cov[rows][:, MEASURED][:, :, MEASURED]
    believed[:, POSE, POSE] += KALMAN_LIMITS.persistent_share * motion.persistent[rows] + np.diag(
        np.array(ASSIGNMENT_LIMITS.knock_sigma) ** 2
    )
    toppled = measurements.fallen[columns] > ASSIGNMENT_LIMITS.toppled_log_odds
    noise[toppled] += np.diag(np.square(ASSIGNMENT_LIMITS.toppled_sigma))
    # Only near pairs need the full distance: it is at least as great as that along x, or along y, alone.
    wide = [np.diagonal(part, axis1=1, axis2=2)[:, PLACE] for part in (believed, noise)]
    near = (np.square(off[..., PLACE]) < ASSIGNMENT_LIMITS.gate * (wide[0][:, None] + wide[1][None])).all(axis=2)
    row, column = np.nonzero(near)
    off, spread = off[row, column], believed[row] + noise[column]
    within = mahalanobis(off[:, POSE], spread[:, POSE, POSE]) < ASSIGNMENT_LIMITS.gate
    # A base with its middle hidden by an arm looks like a base that stands across.
    along = np.abs(off[:, 2]) < ASSIGNMENT_LIMITS.across_rad
    within &= along | (believed[row, 2, 2] > ASSIGNMENT_LIMITS.any_heading_rad**2) | toppled[column]
    row, column, off, spread = row[within], column[within], off[within], spread[within]
    volume = np.linalg.slogdet(spread)[1] - np.log(np.square(ASSIGNMENT_LIMITS.usual_sigma)).sum()
    max_score = ASSIGNMENT_LIMITS.max_score_log_odds
    false_cost = np.clip(-logit(measurements.scores[columns]), -max_score, max_score) + max_score
    cost = np.full(near.shape, _NEVER)
    cost[row, column] = np.maximum(mahalanobis(off, spread) + volume + 2 * false_cost[column], 0.0)
    return cost, flipped


def exchange_doubts(found: Assignment, cost: Array, free: Bools) -> tuple[Indices, Array]:
    """Return the figures that may be exchanged with others, or with missed ones, in a ring of two to four.

    Args:
        found: the pairs made.
        cost: twice the negative log-likelihood of each of m detections for each of n figures, wherever each may have
            gone since it was last detected, shape (n, m).
        free: which unmatched detections may be which figures, shape (n, m).

    Returns:
        Their rows, and for each how probable it is that it is not exchanged.
    """
    limits, count = ASSIGNMENT_LIMITS, len(cost)
    own, matched = np.full(count, limits.missed_cost), np.zeros(count, dtype=np.bool_)
    own[found.figures], matched[found.figures] = cost[found.figures, found.detections], True
    # dearer[i, k]: by how much it is dearer to give figure i the detection of figure k, or none where k has none
    dearer = np.full((count, count), _NEVER)
    dearer[:, found.figures] = cost[:, found.detections] - own[:, None]
    np.fill_diagonal(dearer, _NEVER)
    near = dearer < limits.near_cost
    rows = np.flatnonzero(near.any(axis=0) | near.any(axis=1))
    if not len(rows):
        return rows, np.zeros(0)
    without = np.minimum(
        np.where(free, cost - limits.false_cost, _NEVER).min(axis=1, initial=_NEVER), limits.missed_cost
    )
    dearer[np.ix_(matched, ~matched)] = (without - own)[matched, None]
    dearer = dearer[np.ix_(rows, rows)]
    by_way = (dearer[:, :, None] + dearer[None]).min(axis=1)
    rings = np.minimum(np.minimum(dearer, by_way) + dearer.T, by_way + by_way.T)
    np.fill_diagonal(rings, _NEVER)
    least = rings.min(axis=1)
    doubtful = least < limits.exchange_margin
    identity: Array = 1.0 / (1.0 + np.exp(-limits.exchange_weight * np.maximum(least[doubtful], 0.0)))
    return rows[doubtful], identity
