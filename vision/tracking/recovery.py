"""Recovers lost figures: an unmatched detection that stays in place may be a figure that was lost elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Bools, Indices
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.tracking.assignment import ASSIGNMENT_LIMITS, Assignment, assign
from downfield.vision.tracking.kalman import MotionFilter


@dataclass(frozen=True, slots=True)
class RecoveryLimits:
    """Thresholds of following unmatched detections, and of matching them to lost figures."""

    same_place_mm: float = 6.0  # An unmatched detection this near to an earlier one continues it
    # Speed of a walking figure, which an unmatched detection may be: it continues an earlier one further off
    walks_mm_per_s: float = 100.0
    max_continued_mm: float = 15.0  # Largest distance at which it continues one; further off another base may stand
    settled_ns: int = 150_000_000  # Unmatched detections that last this long are real; false detections do not last
    # Unmatched detections that last this long may be a figure lost far off; one detected twice is soon over
    settled_far_ns: int = 400_000_000
    # Time after which an unmatched detection beside a surer one is real; the figure may be detected twice until then
    settled_beside_ns: int = 1_000_000_000
    beside_mm: float = 30.0  # Distance of the centers of a figure and of what may be its second detection
    far_mm: float = 60.0  # Distance from its predicted place beyond which a figure is far off
    forgotten_ns: int = 150_000_000  # An unmatched detection not repeated for this long is gone
    min_detections: int = 3  # Least number of detections in one place for a settled one
    # An object that stays in one place for this long while a figure is detected elsewhere is not that figure
    fixture_ns: int = 300_000_000
    fixture_forgotten_ns: int = 3_000_000_000  # What settled in one place, as print does, is remembered for so long
    lost_mm: float = 25.0  # A hidden figure whose place has this deviation may be anywhere
    lost_ns: int = 400_000_000  # A hidden figure not detected for this long may be anywhere
    walking_mm_per_s: float = 30.0  # Speed, one sigma, at which a lost figure may have walked away
    walking_sigmas: float = 2.5  # A lost figure has walked away at most this many sigmas
    stride_mm: float = 80.0  # Distance within which a lost figure may always be
    anywhere_mm: float = 300.0  # Deviation of the place of a figure that may be anywhere
    # A figure not detected for longer than this may have been moved by a hand that went unnoticed
    unnoticed_ns: int = 1_000_000_000
    standing_mm_per_s: float = 10.0  # No figure moves faster while the board is off
    missed_turn_rad: float = 0.25  # Angle by which a figure that was missed for a moment may have turned in place
    # what is detected in one place for this long, without a break, and matches no figure is one more
    stands_ns: int = 2_000_000_000


RECOVERY_LIMITS: Final = RecoveryLimits()


@dataclass(slots=True)
class _Unmatched:
    """An unmatched detection that is followed."""

    place_mm: Array  # its last place, shape (2,)
    since_ns: int  # start of its detection without a break
    last_ns: int  # time of its last detection
    home_mm: Array  # the place where it stays, shape (2,)
    home_ns: int  # start of its stay there
    count: int = 1  # detections since `since_ns`
    surplus: bool = False  # whether it stayed there while every figure was detected elsewhere

    def update(self, place_mm: Array, t_ns: int) -> None:
        """Add a new detection."""
        if t_ns - self.last_ns > RECOVERY_LIMITS.forgotten_ns:
            self.since_ns, self.count = t_ns, 0
        if np.linalg.norm(place_mm - self.home_mm) > RECOVERY_LIMITS.same_place_mm:
            self.home_mm, self.home_ns, self.surplus = place_mm, t_ns, False
        self.place_mm, self.last_ns, self.count = place_mm, t_ns, self.count + 1

    def may_be_at(self, place_mm: Array, t_ns: int) -> bool:
        """Return whether a detection at a place, shape (2,), may continue it."""
        walked_mm = RECOVERY_LIMITS.walks_mm_per_s * (t_ns - self.last_ns) * 1e-9
        reach_mm = max(
            RECOVERY_LIMITS.same_place_mm,
            min(walked_mm + RECOVERY_LIMITS.same_place_mm / 2, RECOVERY_LIMITS.max_continued_mm),
        )
        return bool(np.linalg.norm(self.place_mm - place_mm) <= reach_mm)

    def is_forgotten(self, t_ns: int) -> bool:
        """Return whether the last detection is too long ago."""
        stayed = self.last_ns - self.home_ns >= RECOVERY_LIMITS.settled_ns
        return t_ns - self.last_ns > (RECOVERY_LIMITS.fixture_forgotten_ns if stayed else RECOVERY_LIMITS.forgotten_ns)


class UnmatchedDetections:
    """Remembers the places of unmatched detections.

    A stain or a printed helmet that the network detects as a figure is unmatched as well. It is recognized because it
    was there while the figure was still detected elsewhere, and it is remembered while a hand hides it.
    """

    def __init__(self) -> None:
        self._known: list[_Unmatched] = []

    def seen_beside(self, place_mm: Array, seen_ns: NDArray[np.int64]) -> Bools:
        """Return which places held an unmatched detection at the time a figure was last detected elsewhere.

        Args:
            place_mm: shape (m, 2).
            seen_ns: when each figure was last detected, shape (n,).

        Returns:
            Shape (n, m).
        """
        return self._at_places(place_mm, seen_ns, lambda old: (seen_ns >= old.since_ns) & (seen_ns <= old.last_ns))

    def fixtures(self, place_mm: Array, seen_ns: NDArray[np.int64]) -> Bools:
        """Return which places held one for long while a figure, or every figure, was elsewhere, even if hidden since.

        Args and result as of `seen_beside`, with the times when each figure was last detected and was surely it.
        """
        since_ns = RECOVERY_LIMITS.fixture_ns
        return self._at_places(place_mm, seen_ns, lambda old: (seen_ns - old.home_ns >= since_ns) | old.surplus)

    def standing(self, t_ns: int, figures_mm: Array) -> int:
        """Return how many stand still that are none of the figures, nor seen twice beside one.

        Args:
            figures_mm: places of the figures, shape (n, 2).
        """
        return sum(
            old.last_ns - max(old.home_ns, old.since_ns) >= RECOVERY_LIMITS.stands_ns
            and t_ns - old.last_ns <= RECOVERY_LIMITS.forgotten_ns
            and bool((np.linalg.norm(figures_mm - old.place_mm, axis=1) >= RECOVERY_LIMITS.beside_mm).all())
            for old in self._known
        )

    def _at_places(
        self, place_mm: Array, seen_ns: NDArray[np.int64], was_elsewhere: Callable[[_Unmatched], Bools]
    ) -> Bools:
        out = np.zeros((len(seen_ns), len(place_mm)), dtype=bool)
        for old in self._known:
            near = np.linalg.norm(place_mm - old.place_mm, axis=1) < RECOVERY_LIMITS.same_place_mm
            out |= was_elsewhere(old)[:, None] & near[None]
        return out

    def update(self, place_mm: Array, matched_mm: Array, t_ns: int, figures: int) -> NDArray[np.int64]:
        """Add the unmatched detections of one frame; return how long each has lasted, ns, shape (k,); 0 if too few.

        Args:
            place_mm: their places, shape (k, 2).
            matched_mm: places of the others, which are figures, shape (l, 2).
            figures: how many there are in all.
        """
        self._known = [
            old
            for old in self._known
            if not old.is_forgotten(t_ns)
            and not (np.linalg.norm(matched_mm - old.place_mm, axis=1) < RECOVERY_LIMITS.same_place_mm).any()
        ]
        lasted_ns = np.zeros(len(place_mm), dtype=np.int64)
        for row, place in enumerate(place_mm):
            same = min(self._known, key=lambda old: float(np.linalg.norm(old.place_mm - place)), default=None)
            if same is None or not same.may_be_at(place, t_ns) or same.last_ns == t_ns:
                self._known.append(_Unmatched(place, t_ns, t_ns, place, t_ns))
                continue
            same.update(place, t_ns)
            same.surplus |= len(matched_mm) == figures and t_ns - same.home_ns >= RECOVERY_LIMITS.fixture_ns
            lasted_ns[row] = t_ns - same.since_ns if same.count >= RECOVERY_LIMITS.min_detections else 0
        return lasted_ns


@dataclass(frozen=True, slots=True)
class LostFigures:
    """The states of n figures that decide which may be recovered; arrays of shape (n,)."""

    away_ns: NDArray[np.int64]  # time since each was last detected
    hidden: Bools  # not detected for a while; before they are lost they get no detection, but compete for them
    lost: Bools  # may be anywhere
    taken: Bools  # may be in a hand
    fastest_mm_per_s: float = ASSIGNMENT_LIMITS.fastest_mm_per_s  # speed at which figures move at most without a hand

    def too_far(self, off_mm: Array) -> Bools:
        """Return which detections are further off than figures walk, shape (n, m), given their distances."""
        reach_mm = RECOVERY_LIMITS.walking_sigmas * RECOVERY_LIMITS.walking_mm_per_s * self.away_ns * 1e-9
        too_far: Bools = (off_mm > np.maximum(reach_mm, RECOVERY_LIMITS.stride_mm)[:, None]) & ~self.taken[:, None]
        return too_far

    def too_soon(self, off_way_mm: Array) -> Bools:
        """Return which detections are further off than figures can have gone by now without a hand, shape (n, m).

        Such a figure competes for the detection with others, but does not get it yet.

        Args:
            off_way_mm: distances of detections from the ways on which the figures were walking, shape (n, m).
        """
        reach_mm = ASSIGNMENT_LIMITS.solid_mm + self.fastest_mm_per_s * self.away_ns * 1e-9
        noticed = (self.away_ns <= RECOVERY_LIMITS.unnoticed_ns) & ~self.taken
        return (off_way_mm > reach_mm[:, None]) & noticed[:, None]


def settled_for_far(measurements: Measurements, lasted_ns: NDArray[np.int64]) -> Bools:
    """Return which detections have lasted long enough to be figures that were lost far off, shape (m,).

    Args:
        lasted_ns: how long each has lasted unmatched, shape (m,).
    """
    place, scores = measurements.pose[:, :2], measurements.scores
    beside = np.linalg.norm(place[:, None] - place[None], axis=2) < RECOVERY_LIMITS.beside_mm
    doubtful = (beside & (scores[None] > scores[:, None])).any(axis=1)
    return lasted_ns >= np.where(doubtful, RECOVERY_LIMITS.settled_beside_ns, RECOVERY_LIMITS.settled_far_ns)


def recover(
    motion: MotionFilter,
    figures: LostFigures,
    measurements: Measurements,
    settled: Indices,
    jersey: Array,
    excluded: Bools,
) -> Assignment:
    """Assign settled unmatched detections to lost figures, and to figures that look different at their own place.

    Args:
        motion: motion of all n figures, predicted to the time of the detections.
        measurements: the m measurements of the frame.
        settled: rows of the settled measurements.
        jersey: as in `assign`.
        excluded: pairs of figure and detection that are impossible, shape (n, m).
    """
    place = measurements.pose[:, :2]
    off_mm = np.linalg.norm(motion.mean[:, None, :2] - place[None], axis=2)
    # A detection at a figure's place is that figure, even if it looks different, and no other missed figure.
    own = off_mm < ASSIGNMENT_LIMITS.solid_mm
    own &= ((figures.away_ns > 0) & ~figures.taken)[:, None]
    in_place: Bools = np.asarray(own[:, settled].any(axis=1))
    rows = np.flatnonzero(figures.lost | in_place | figures.hidden)
    walked_mm = np.minimum(RECOVERY_LIMITS.walking_mm_per_s * figures.away_ns * 1e-9, RECOVERY_LIMITS.anywhere_mm)
    known_mm, any_mm = ASSIGNMENT_LIMITS.solid_mm, RECOVERY_LIMITS.anywhere_mm
    sigma_mm = np.select([in_place[rows], figures.taken[rows]], [known_mm, any_mm], walked_mm[rows])
    turned_rad = np.where(in_place[rows] & ~figures.lost[rows], RECOVERY_LIMITS.missed_turn_rad, np.pi)
    anywhere = motion.copy()
    anywhere.inflate(rows, sigma_mm, turned_rad)
    others = ~own & np.asarray(own.any(axis=0))[None]
    found = assign(anywhere, rows, measurements, settled, jersey, excluded | others)
    return found.select((figures.lost | in_place)[found.figures])
