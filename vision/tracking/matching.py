"""Matches the detections of a frame to figures: near their predictions first, then settled ones to lost figures.

With what is known of each figure besides its motion, its posture and its front, and the tracker's thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Bools, Indices
from downfield.core.scene import SURE_IDENTITY, Power
from downfield.models.runtime import logit
from downfield.vision.hands import near_hands
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.tracking.assignment import (
    ASSIGNMENT_LIMITS,
    Assignment,
    MergedPairs,
    assign,
    exchange_doubts,
    find_merged,
    lie_on_others,
    out_of_reach,
    way_costs,
)
from downfield.vision.tracking.initialization import LineUpPoses
from downfield.vision.tracking.kalman import VX, MotionFilter
from downfield.vision.tracking.recovery import (
    RECOVERY_LIMITS,
    LostFigures,
    UnmatchedDetections,
    recover,
    settled_for_far,
)


@dataclass(frozen=True, slots=True)
class TrackerLimits:
    """Thresholds of the tracker."""

    hand_reach_mm: float = 55.0  # A hand may move figures nearer to its fingertips than this
    grasp_mm: float = 35.0  # A moving figure nearer to the fingertips than this is held
    carried_mm: float = 25.0  # Largest movement within a frame of a detected figure in a hand
    settled_ns: int = 1_000_000_000  # For this long after nobody was seen, figures that leave their ways tell nothing
    let_go_ns: int = 300_000_000  # A figure counts as handled for this long after the hand
    unseen_ns: int = 250_000_000  # A figure not detected for less than this was missed, not hidden
    missed_once_steps: float = 2.5  # A figure missed in one detection was detected at most this many steps ago
    blind_ns: int = 100_000_000  # When no figure was detected for this long, the board's power is not known either
    surprise_ns: int = 200_000_000  # Time for which a figure that moved against the prediction may continue to do so
    pushed_ns: int = 200_000_000  # A figure may still slide from a push for this long after it touched another
    # Figures start to walk until this long after the board is known to be on, and leave the place where they stood
    starting_ns: int = 300_000_000
    # Figures may still fall until this long after the board is known to be off, or after a hand was near them
    coming_to_rest_ns: int = 500_000_000
    pivot_mm: float = 4.0  # Deviation of the place of a figure that a hand hides and leaves in place
    pivot_rad: float = 1.0  # Deviation of the heading of a figure that a hand hides and leaves in place
    # A figure found further than this from its prediction, without a hand, may be a different figure
    astray_mm: float = 60.0
    astray_sigmas: float = 4.0  # So may one that is further off its way than figures leave it by so many sigmas
    off_way_mm: float = 18.0  # and further than this, a base's width
    replaced_mm: float = 120.0  # A figure put down further than this from its old place may be a different figure
    astray_identity: float = 0.5  # Probability that a figure found so far from where it was is the same
    # so many figures that leave their ways at once, all in one picture, have leaped: pictures between were cut out
    leaped: int = 3
    leaped_share: float = 0.25  # and so large a share of those that were detected just before
    # deviation of the place to which figures leap: they may have walked on for a second, or been set up anew
    leap_mm: float = 60.0
    # where the usual leap is further than this, a figure may be where another one was expected: bases are wider
    far_leap_mm: float = 12.0
    walks_mm_per_s: float = 15.0  # figures that walked faster than this are then no longer known


TRACKER_LIMITS: Final = TrackerLimits()


@dataclass(slots=True)
class FigureStates:
    """States of n figures. Masks and not one enumeration, since a figure can be grasped and lost at once."""

    seen_ns: NDArray[np.int64]  # time of the last detection, shape (n,) as all but the last few
    handled_ns: NDArray[np.int64]  # time of the last contact with a hand
    surprised_ns: NDArray[np.int64]  # time of the last movement against the prediction
    touched_ns: NDArray[np.int64]  # time of the last contact with another figure
    merged_ns: NDArray[np.int64]  # time of the last detection of it and another as one
    visible: Array  # visible share of the base top, 0..1
    identity: Array  # probability that it is this figure
    named: Array  # the same by the line-up, given the teams; a person's word about the teams leaves this
    grasped: Bools  # whether it is in a hand
    lost: Bools  # whether it may be anywhere
    stood_mm: Array  # place before the hand came, shape (n, 2)
    systematic: Array  # covariance of place from the calibration, shape (n, 2, 2)
    by_height: Array  # movement of the place per mm of base height, shape (n, 2)

    def doubt(self, rows: Indices | Bools, identity: Array | float) -> None:
        """Limit the probability that figures are who they are said to be, shape (k,)."""
        for probability in (self.identity, self.named):
            probability[rows] = np.minimum(probability[rows], identity)

    @classmethod
    def of(cls, line_up: LineUpPoses, t_ns: int) -> FigureStates:
        """Return the states of the figures of a line-up, found at a time."""
        count = len(line_up.players)
        never = np.full(count, t_ns - 10 * TRACKER_LIMITS.let_go_ns, dtype=np.int64)
        return cls(
            seen_ns=np.where(line_up.found, t_ns, never + 1),
            handled_ns=never.copy(),
            surprised_ns=never.copy(),
            touched_ns=never.copy(),
            merged_ns=never.copy(),
            visible=np.ones(count),
            identity=line_up.identity * line_up.teams,
            named=line_up.identity.copy(),
            grasped=np.zeros(count, dtype=np.bool_),
            lost=~line_up.found,
            stood_mm=line_up.pose[:, :2].copy(),
            systematic=np.zeros((count, 2, 2)),
            by_height=np.zeros((count, 2)),
        )


_LIES_BESIDE_MM: Final = 45.0  # A base lies at most this far from where it stood, or from what is still detected there
_MISSING_MM: Final = 60.0  # A figure that is not detected and was this near may be the one that lies
# The detection that lies is surer by this than what is still detected where the figure stood; for a figure that is
# believed to lie it is enough that it is surer
_SURER_LOG_ODDS: Final = 2.0
_MIN_LYING_SCORE: Final = 0.7  # Least score (0..1) of the detection that lies


def prefer_fallen(
    found: Assignment, measurements: Measurements, off_mm: Array, jersey: Array, lies: Bools
) -> Assignment:
    """Return the pairs, figures that lie beside their places matched to where they lie.

    Args:
        off_mm: distances of detections from the n figures' predicted places, shape (n, m).
        jersey: of each figure, 1 light, -1 dark, shape (n,).
        lies: which figures are believed to lie, shape (n,).
    """
    place, sure = measurements.pose[:, :2], logit(measurements.scores)
    lying = measurements.signs.called_fallen & measurements.signs.edgewise & (measurements.scores >= _MIN_LYING_SCORE)
    lying[found.detections] = False
    surer = np.where(lies, 0.0, _SURER_LOG_ODDS)[found.figures]
    missing = np.ones(len(off_mm), dtype=np.bool_)
    missing[found.figures] = False
    detections = found.detections.copy()
    for column in np.flatnonzero(lying).tolist():
        if (off_mm[missing, column] < _MISSING_MM).any():
            continue
        near = np.linalg.norm(place[detections] - place[column], axis=1) < _LIES_BESIDE_MM
        near &= off_mm[found.figures, column] < _LIES_BESIDE_MM
        near &= sure[column] - sure[detections] > surer
        near &= jersey[found.figures] * measurements.light[column] > -ASSIGNMENT_LIMITS.other_team_log_odds
        if near.any():
            detections[np.where(near, sure[detections], np.inf).argmin()] = column
    return replace(found, detections=detections)


@dataclass(frozen=True, slots=True)
class FrameInput:
    """What is known of a frame besides its measurements."""

    t_ns: int
    power: Power  # whether the board is on, as known before
    hands_mm: Sequence[Array]  # outlines of hands on the board
    lies: Bools  # which figures are believed to lie, shape (n,)


class FigureMatcher:
    """Matches detections to the figures of one line-up, frame after frame.

    Args:
        jersey: of each figure, 1 light, -1 dark, shape (n,).

    Attributes:
        more_figures: number of figures that stand on the board and are none of the line-up's.
    """

    def __init__(self, jersey: Array, began_ns: int) -> None:
        self._jersey, self._began_ns, self._blind_ns = jersey, began_ns, began_ns
        self.more_figures = 0
        self._unmatched = UnmatchedDetections()
        self._sure_ns = np.full(len(jersey), began_ns, dtype=np.int64)  # when each was last detected, and surely it

    def match(
        self, motion: MotionFilter, figures: FigureStates, measurements: Measurements, frame: FrameInput, taken: Bools
    ) -> Assignment:
        """Return which detection is which figure; update which are lost and how sure each is, and move merged ones.

        Args:
            motion: of the figures, predicted to the frame.
            taken: which figures a hand may have taken, shape (n,).
        """
        place, columns = measurements.pose[:, :2], np.arange(len(measurements))
        off_mm = np.linalg.norm(motion.mean[:, None, :2] - place[None], axis=2)
        away_ns = frame.t_ns - figures.seen_ns
        missed_ns = frame.t_ns - np.maximum(figures.seen_ns, figures.merged_ns)
        off_way_mm = motion.off_way_mm(place, away_ns)
        alone = frame.t_ns - figures.handled_ns > TRACKER_LIMITS.let_go_ns
        merged = self._find_merged(motion, figures, place, frame.t_ns)
        impossible = _impossible(off_mm, measurements, frame.hands_mm, away_ns <= TRACKER_LIMITS.unseen_ns, taken)
        occupied = impossible.copy()
        impossible[:, merged.detections] = True
        excluded = impossible | self._unmatched.seen_beside(place, figures.seen_ns)
        excluded |= out_of_reach(off_way_mm, away_ns, measurements) & alone[:, None]
        # A figure that was never there comes by a detection that lasts, not by the first one left unmatched.
        excluded |= (figures.seen_ns < self._began_ns - 2 * TRACKER_LIMITS.let_go_ns)[:, None]
        # So does one that is missed while others are detected, if not back on its way, falling, setting off, or sure.
        blind = frame.t_ns - int(figures.seen_ns.max()) > TRACKER_LIMITS.blind_ns
        fallen, edge = measurements.signs.called_fallen, measurements.signs.edgewise
        walked_mm = RECOVERY_LIMITS.walking_mm_per_s * away_ns[:, None] * 1e-9
        sets_off = (np.hypot(*motion.measured[:, 2:4].T) < TRACKER_LIMITS.walks_mm_per_s)[:, None]
        sure = sets_off | fallen | edge | (measurements.scores >= ASSIGNMENT_LIMITS.sure_score)
        back = sure & (away_ns <= TRACKER_LIMITS.unseen_ns)[:, None]
        walked_mm = np.where(back, np.inf, np.where(edge & ~fallen, 0.0, walked_mm))
        excluded |= (off_way_mm > ASSIGNMENT_LIMITS.known_mm + walked_mm) & (alone & (not blind))[:, None]
        found = assign(motion, np.arange(len(away_ns)), measurements, columns, self._jersey, excluded, frame.lies)
        found = prefer_fallen(found, measurements, off_mm, self._jersey, frame.lies)
        found = self._follow_leap(motion, figures, measurements, found, frame.t_ns)
        left = np.delete(columns, found.detections)
        lasted_ns = np.zeros(len(columns), dtype=np.int64)
        lasted_ns[left] = self._unmatched.update(place[left], place[found.detections], frame.t_ns, len(away_ns))
        far = np.zeros(len(away_ns), dtype=np.bool_)
        settled = np.flatnonzero(lasted_ns >= RECOVERY_LIMITS.settled_ns)
        away_ns[found.figures] = 0
        hidden = (away_ns > TRACKER_LIMITS.unseen_ns) & ~near_hands(frame.hands_mm, motion.mean[:, :2])
        vague = (motion.place_sigma_mm() > RECOVERY_LIMITS.lost_mm) | (away_ns > RECOVERY_LIMITS.lost_ns)
        figures.lost = hidden & (taken | vague)
        sure = figures.identity >= SURE_IDENTITY
        self._sure_ns[sure] = figures.seen_ns[sure]
        if len(settled):
            walking, standing = ASSIGNMENT_LIMITS.fastest_mm_per_s, RECOVERY_LIMITS.standing_mm_per_s
            fastest_mm_per_s = standing if frame.power == "off" else walking
            away_ns = np.minimum(away_ns, frame.t_ns - self._began_ns)
            # A figure that is not where it surely was may have been another one all along.
            astray = figures.lost & ~sure & (away_ns > RECOVERY_LIMITS.unnoticed_ns)
            lost = LostFigures(away_ns, hidden, figures.lost, taken | astray, fastest_mm_per_s)
            # Neither is a detection that stayed in one place while the figure was surely detected elsewhere.
            impossible |= self._unmatched.fixtures(place, self._sure_ns)
            impossible |= lost.too_far(off_mm)
            # Who may be detected in its own place, though not for long yet, is not searched for elsewhere.
            own = off_mm < ASSIGNMENT_LIMITS.solid_mm
            impossible |= own[:, left].any(axis=1)[:, None] & ~own
            impossible |= (off_mm > RECOVERY_LIMITS.far_mm) & ~settled_for_far(measurements, lasted_ns)[None]
            recovered = recover(motion, lost, measurements, settled, self._jersey, impossible)
            soon = lost.too_soon(off_way_mm)[recovered.figures, recovered.detections]
            recovered = recovered.select(~soon)
            moved_mm = np.linalg.norm(place[recovered.detections] - figures.stood_mm[recovered.figures], axis=1)
            far[recovered.figures] = moved_mm > TRACKER_LIMITS.replaced_mm
            found = found.joined(recovered)
        _follow_merged(motion, figures, merged, found, place, frame.t_ns)
        if frame.power != "on":  # in play those beyond the line-up walk, and are as many as before
            missing = int((figures.seen_ns < frame.t_ns - TRACKER_LIMITS.unseen_ns).sum())
            self.more_figures = max(self._unmatched.standing(frame.t_ns, motion.mean[:, :2]) - missing, 0)
        # Once two figures may be exchanged, no later frame tells them apart: only a person or a line-up does.
        walked_mm = ASSIGNMENT_LIMITS.fastest_mm_per_s * missed_ns * 1e-9
        walked_mm[figures.lost] = np.inf
        stands = frame.power == "off" and not blind
        mm_per_s = ASSIGNMENT_LIMITS.leaves_place_mm_per_s if stands else ASSIGNMENT_LIMITS.leaves_way_mm_per_s
        sigma_mm = np.hypot(mm_per_s * missed_ns * 1e-9, ASSIGNMENT_LIMITS.knocked_mm)
        sigma_mm = np.hypot(sigma_mm, np.sqrt(motion.persistent[:, [0, 1], [0, 1]].mean(axis=1)))
        rows, columns = found.figures, found.detections
        sigma_mm[taken] = np.hypot(sigma_mm[taken], TRACKER_LIMITS.pivot_mm)
        off_way_mm /= motion.misfit
        likely_mm = np.maximum(TRACKER_LIMITS.astray_sigmas * sigma_mm, TRACKER_LIMITS.off_way_mm)
        astray = (off_way_mm[rows, columns] > likely_mm[rows]) & ~measurements.signs.called_fallen[columns]
        astray |= (off_mm[rows, columns] > TRACKER_LIMITS.astray_mm) | far[rows]
        others = _others_may_be_there(found, astray, off_way_mm, likely_mm + walked_mm)
        others |= missed_ns[rows] > RECOVERY_LIMITS.unnoticed_ns
        figures.doubt(rows[np.where(taken[rows], far[rows], astray & others)], TRACKER_LIMITS.astray_identity)
        occupied[rows, columns] = False
        cost = way_costs(off_way_mm, sigma_mm, self._jersey, measurements, occupied)
        if taken.any():  # most figures that a hand hides are left in place, and the others may be anywhere
            anywhere_mm = np.full(len(taken), RECOVERY_LIMITS.anywhere_mm)
            moved = way_costs(off_way_mm, anywhere_mm, self._jersey, measurements, occupied)
            cost[taken] = np.minimum(cost, moved + ASSIGNMENT_LIMITS.moved_cost)[taken]
        free = ~np.isin(np.arange(len(measurements)), columns)
        free &= measurements.scores >= ASSIGNMENT_LIMITS.low_score
        figures.doubt(*exchange_doubts(found, cost, free[None] & ~impossible))
        return found

    def _follow_leap(
        self, motion: MotionFilter, figures: FigureStates, measurements: Measurements, found: Assignment, t_ns: int
    ) -> Assignment:
        """Return the pairs with those of figures that leaped, as if hands had moved them, which are doubted.

        Pushed figures leave their ways too, and a push of the camera moves all alike.
        """
        limits, last_ns = TRACKER_LIMITS, int(figures.seen_ns.max())
        if t_ns - last_ns > limits.unseen_ns:
            self._blind_ns = t_ns
        if t_ns - self._blind_ns < limits.settled_ns:  # whoever was found since need not be who it was taken for
            return found
        alone = t_ns - np.maximum(figures.handled_ns, figures.touched_ns) > limits.let_go_ns
        present = (figures.seen_ns == last_ns) & alone
        missed = present.copy()
        missed[found.figures] = False
        left = np.setdiff1d(np.flatnonzero(measurements.scores >= ASSIGNMENT_LIMITS.low_score), found.detections)
        leap_mm = self._leaps_mm(motion, figures, measurements, found, t_ns)[present[found.figures]]
        leap_mm = np.concatenate([leap_mm, np.full(min(int(missed.sum()), len(left)), ASSIGNMENT_LIMITS.known_mm)])
        leap_mm = leap_mm[leap_mm > ASSIGNMENT_LIMITS.knocked_mm]
        few = len(leap_mm) < max(limits.leaped, limits.leaped_share * present.sum())
        if few:
            return found
        walked = present & (np.linalg.norm(motion.mean[:, VX : VX + 2], axis=1) > limits.walks_mm_per_s)
        doubted = missed | walked if np.median(leap_mm) > limits.far_leap_mm else missed
        rows = np.flatnonzero(missed)
        motion.inflate(rows, limits.leap_mm, limits.pivot_rad)
        figures.stood_mm[doubted] = motion.mean[doubted, :2]
        figures.handled_ns[doubted] = t_ns
        figures.doubt(doubted, limits.astray_identity)
        return found.joined(assign(motion, rows, measurements, left, self._jersey))

    @staticmethod
    def _leaps_mm(
        motion: MotionFilter, figures: FigureStates, measurements: Measurements, found: Assignment, t_ns: int
    ) -> Array:
        """Return how far found figures are off their ways, beyond errors and what all have in common, shape (k,)."""
        rows, columns = found.figures, found.detections
        if not len(rows):
            return np.zeros(0)
        place = measurements.pose[columns, :2]
        off_mm = place - motion.mean[rows, :2]
        apart_mm = np.linalg.norm(off_mm - np.median(off_mm, axis=0), axis=1)
        off_way_mm = motion.off_way_mm(place, t_ns - figures.seen_ns)[rows, np.arange(len(rows))]
        errors_mm = ASSIGNMENT_LIMITS.reach_sigmas * measurements.place_sigma_mm[columns]
        leaps: Array = np.minimum(apart_mm, off_way_mm) - errors_mm
        return leaps

    @staticmethod
    def _find_merged(motion: MotionFilter, figures: FigureStates, place_mm: Array, t_ns: int) -> MergedPairs:
        """Return the pairs without a hand near that are likely detected as one, see `find_merged`."""
        since_ns = t_ns - np.maximum(figures.seen_ns, figures.merged_ns)
        merged = find_merged(motion.mean[:, :2], t_ns - figures.seen_ns, since_ns, place_mm)
        alone = t_ns - figures.handled_ns > TRACKER_LIMITS.let_go_ns
        return merged.select(np.asarray(alone[merged.figures].all(axis=1)))


def _others_may_be_there(found: Assignment, astray: Bools, off_way_mm: Array, reach_mm: Array) -> Bools:
    """Return which found figures others may be, that were missed or are astray too, or may be elsewhere, shape (k,).

    Args:
        astray: which of the k found figures are further off than is likely, shape (k,).
        off_way_mm: distances of all detections from all figures' ways, shape (n, m).
        reach_mm: how far off each figure may be, shape (n,).
    """
    within = off_way_mm < reach_mm[:, None]
    others = np.ones(len(within), dtype=np.bool_)
    others[found.figures[~astray]] = False
    theirs = within[:, found.detections] & others[:, None]
    theirs[found.figures, np.arange(len(found.figures))] = False
    elsewhere = np.delete(within, found.detections, axis=1)[found.figures]
    return np.asarray(theirs.any(axis=0) | elsewhere.any(axis=1))


def _impossible(
    off_mm: Array, measurements: Measurements, hands_mm: Sequence[Array], present: Bools, taken: Bools
) -> Bools:
    """Return which detections can't be which figures, wherever these may have gone, shape (n, m).

    Args:
        off_mm: distances of the m detections from the n figures' predictions, shape (n, m).
        present: figures detected a moment ago without a hand near, shape (n,).
        taken: figures that a hand may have taken, shape (n,).
    """
    # A detection in a hand, or beside one, is no figure that was missed elsewhere.
    own_mm = np.where(taken, ASSIGNMENT_LIMITS.solid_mm, TRACKER_LIMITS.carried_mm)
    out: Bools = near_hands(hands_mm, measurements.pose[:, :2])[None] & (off_mm > own_mm[:, None])
    out |= lie_on_others(measurements)[None]
    # Where a figure is that was just detected, no other one can be, even if it looks different now.
    own = off_mm < ASSIGNMENT_LIMITS.solid_mm
    occupied: Bools = np.asarray((own & present[:, None]).any(axis=0))
    out |= occupied[None] & ~own
    return out


def _follow_merged(
    motion: MotionFilter, figures: FigureStates, merged: MergedPairs, found: Assignment, place_mm: Array, t_ns: int
) -> None:
    """Move pairs that are detected as one, and of which neither was found, with their detection: it is their middle."""
    merged = merged.select(np.asarray(~np.isin(merged.figures, found.figures).any(axis=1)))
    before_mm = motion.mean[merged.figures, :2]
    by_mm = place_mm[merged.detections] - before_mm.mean(axis=1)
    rows = merged.figures.ravel()
    motion.stop(rows)
    motion.relocate(rows, (before_mm + by_mm[:, None]).reshape(-1, 2))
    figures.merged_ns[rows] = t_ns
