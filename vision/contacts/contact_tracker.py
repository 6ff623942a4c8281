"""Tracks contacts: which bases touch, with what probability, and since when."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from downfield.core.arrays import Array
from downfield.core.scene import Contact, Power
from downfield.vision.board.power import HaltDetector
from downfield.vision.contacts.filter import ContactFilter, RateChanges
from downfield.vision.contacts.gaps import (
    GapHistory,
    GapNoise,
    Pair,
    PairMeasurements,
    find_near_pairs,
    measure_pairs,
    passing_corrections,
)
from downfield.vision.contacts.limits import CONTACT_LIMITS
from downfield.vision.measuring.estimate import Estimate


class _Onset(NamedTuple):
    """When a contact began, and the error that its pictures leave: those that did not come, and that of their times."""

    t_ns: int
    error_s: float


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """A filtered frame, and the tracker's state before it."""

    measured: PairMeasurements
    t_ns: int
    filter: ContactFilter
    last: PairMeasurements
    last_ns: int | None
    began: Mapping[Pair, _Onset]


class ContactTracker:
    """Tracks the pairs of bases that are near each other; call `step` once for every frame, in order of time."""

    def __init__(self) -> None:
        # Pairs of the last frame that was fit, in the order of the filter's rows.
        self._last: PairMeasurements = measure_pairs(*find_near_pairs([], CONTACT_LIMITS.followed_mm), np.zeros((2, 2)))
        self._filter = ContactFilter.empty()
        self._last_ns: int | None = None
        self._start_ns: int | None = None
        self._power: Power = "unknown"
        self._settled_ns: int | None = None
        self._noise = GapNoise()
        self._history = GapHistory()
        self._began: Mapping[Pair, _Onset] = {}
        self._measured: deque[tuple[int, int, AbstractSet[str]]] = deque()  # frames, their errors, who was seen
        self._halts = HaltDetector()
        self._checkpoints: deque[_Checkpoint] = deque()

    def step(
        self,
        estimates: Sequence[Estimate],
        t_ns: int,
        *,
        power: Power = "on",
        fit: bool = True,
        shared: Array | None = None,
        t_sigma_ns: int = 0,
    ) -> tuple[Contact, ...]:
        """Add a frame and return its contacts.

        Args:
            fit: whether the picture is reliable; if not, it is ignored.
            shared: covariance of the position error that all figures share, mm^2, shape (2, 2).
            t_sigma_ns: error of the frame's time.

        Returns:
            Pairs with a gap below 5 mm, in order of ids. `since_ns` is set where a touch is more likely than not.
        """
        now = measure_pairs(
            *find_near_pairs(estimates, CONTACT_LIMITS.followed_mm), np.zeros((2, 2)) if shared is None else shared
        )
        now = now.select(np.flatnonzero(now.gap_mm < CONTACT_LIMITS.followed_mm).tolist())
        if fit and self._halts.step(estimates, t_ns) and power == "on" and not self._unsettled(t_ns):
            self._refilter(t_ns)
            self._unsettle(t_ns, CONTACT_LIMITS.unsettled_ns)
        if power == "off" and self._power != "off":
            self._unsettle(t_ns, CONTACT_LIMITS.unsettled_ns)
        if not fit:
            self._unsettle(t_ns, CONTACT_LIMITS.unreliable_ns)
        self._power = power
        seen = {figure.id for figure in estimates if figure.fresh and figure.seen}
        # What was only predicted is no step of its own: bases would enter each other in it.
        if fit and seen:
            # The state before it is kept for as long as it may have to be filtered again.
            while self._checkpoints and t_ns - self._checkpoints[0].t_ns > CONTACT_LIMITS.halt_noticed_ns:
                self._checkpoints.popleft()
            self._checkpoints.append(_Checkpoint(now, t_ns, self._filter, self._last, self._last_ns, self._began))
            self._noise.add(now)
            self._measured.append((t_ns, t_sigma_ns, seen))
            while len(self._measured) > 2 and t_ns - self._measured[1][0] > CONTACT_LIMITS.remembered_ns:
                self._measured.popleft()
            self._advance(now, t_ns)
        late = bool(self._measured) and t_ns - self._measured[-1][0] > CONTACT_LIMITS.usual_step_ns
        return self._contacts(now, {figure.id for figure in estimates if not figure.sure}, fit=fit and not late)

    @property
    def touching(self) -> AbstractSet[str]:
        """Roster ids of the figures that touched another in the latest frame, or were about to."""
        near = self._last.gap_mm < CONTACT_LIMITS.pushing_mm
        return {id_ for pair, close in zip(self._last.pairs, near.tolist(), strict=True) if close for id_ in pair}

    def _refilter(self, t_ns: int) -> None:
        """Filter the last frames again, now knowing that all figures stopped meanwhile."""
        again = [
            checkpoint for checkpoint in self._checkpoints if t_ns - checkpoint.t_ns <= CONTACT_LIMITS.halt_noticed_ns
        ]
        if not again:
            return
        first = again[0]
        self._filter, self._last, self._last_ns, self._began = first.filter, first.last, first.last_ns, first.began
        self._unsettle(first.t_ns, CONTACT_LIMITS.unsettled_ns)
        for checkpoint in again:
            self._advance(checkpoint.measured, checkpoint.t_ns)

    def _advance(self, now: PairMeasurements, t_ns: int) -> None:
        self._start_ns = t_ns if self._start_ns is None else self._start_ns
        step_s = 0.0 if self._last_ns is None else (t_ns - self._last_ns) / 1e9
        known = self._continued(now, step_s) if 0 < step_s <= CONTACT_LIMITS.max_step_s else {}
        old_rows = [row for row, pair in enumerate(now.pairs) if pair in known]
        # Nothing is known yet of a gap with a larger error than that from which pairs are followed.
        measured = now.fresh & (now.variance_mm2 < CONTACT_LIMITS.followed_mm**2)
        new_rows = [row for row in np.flatnonzero(measured).tolist() if now.pairs[row] not in known]
        old, new = now.select(old_rows), now.select(new_rows)
        before = [known[pair] for pair in old.pairs]
        state = self._filter.select(np.array(before, dtype=np.intp))
        t_s = (t_ns - self._start_ns) / 1e9
        # Once the board has been off for long, contacts no longer change.
        if old.pairs and (self._power != "off" or self._unsettled(t_ns)):
            passing = passing_corrections(self._last.select(before), step_s)
            changes = self._changes(old.pairs, state, t_ns, step_s)
            state.step(t_s, step_s, passing, changes, _bias_sigma_mm(old), self._noise.observations(old))
        if new.pairs:
            started = ContactFilter.start(self._noise.observations(new), new.rate_mm_s, _bias_sigma_mm(new), t_s)
            state = state.append(started)
        self._filter, self._last, self._last_ns = state, now.select(old_rows + new_rows), t_ns
        self._history.add(now, self._noise.observations(now).noise_mm, t_s, known)
        self._time_onsets(t_ns)

    def _time_onsets(self, t_ns: int) -> None:
        """Keep the start of each contact, refined while it is recent: later frames add no information."""
        onset_s = self._filter.mean_onset_s
        touch = self._filter.contact_probability
        stays = self._filter.touching.sum(axis=1) > touch / 2
        began: dict[Pair, _Onset] = {}
        for row in np.flatnonzero(touch > CONTACT_LIMITS.touch_probability).tolist():
            pair, about_s = self._last.pairs[row], float(onset_s[row])
            known = self._began.get(pair)
            if known is not None and t_ns - known.t_ns > CONTACT_LIMITS.onset_settles_ns:
                began[pair] = known
                continue
            # The gap of a pair that bounced off at once never settled.
            met_s = self._history.refine_onset_s(pair, about_s) if stays[row] else about_s
            met_ns = (self._start_ns or 0) + round(met_s * 1e9)
            error_s = self._error_s(pair, met_ns)
            if known is not None and abs(met_ns - known.t_ns) < CONTACT_LIMITS.usual_step_ns:
                error_s = max(error_s, known.error_s)  # refined to just after what was not seen, it is no better known
            began[pair] = _Onset(met_ns, error_s)
        self._began = began

    def _error_s(self, pair: Pair, met_ns: int) -> float:
        """Return the error of an instant that the pictures around it leave."""
        gaps = self._history.of(pair)
        first_ns = (self._start_ns or 0) + round(gaps[0][0] * 1e9) if gaps else met_ns
        if gaps and gaps[0][1] < CONTACT_LIMITS.pushing_mm and met_ns < first_ns + CONTACT_LIMITS.usual_step_ns:
            met_ns = first_ns  # it may have touched ever since both were seen before
        seen = [one for one in self._measured if one[2] >= set(pair)]
        before = [one for one in seen if one[0] < met_ns] or [self._measured[0]]
        after = [one for one in seen if one[0] >= met_ns]
        if not after:
            return 0.0
        blind_ns = max(after[0][0] - before[-1][0] - CONTACT_LIMITS.usual_step_ns, 0)  # dated to either end of that
        return math.hypot(blind_ns / math.sqrt(3), before[-1][1], after[0][1]) / 1e9

    def _continued(self, now: PairMeasurements, step_s: float) -> dict[Pair, int]:
        """Return the filter's rows of continued pairs; pairs that a hand has moved start over."""
        rows = {pair: row for row, pair in enumerate(self._last.pairs)}
        old = now.select([row for row, pair in enumerate(now.pairs) if pair in rows])
        before_mm = self._last.gap_mm[[rows[pair] for pair in old.pairs]]
        moved_mm = CONTACT_LIMITS.moved_mm * max(step_s * 1e9 / CONTACT_LIMITS.usual_step_ns, 1.0)
        most_mm = CONTACT_LIMITS.moved_at_rest_mm if self._power == "off" else moved_mm
        noise_mm = self._noise.observations(old).noise_mm
        near = np.abs(old.gap_mm - before_mm) < most_mm + CONTACT_LIMITS.moved_sigmas * noise_mm
        return {pair: rows[pair] for pair, same in zip(old.pairs, near.tolist(), strict=True) if same}

    def _unsettle(self, t_ns: int, for_ns: int) -> None:
        """Expect figures to stop without a touch, from a time on and for a while."""
        settled_ns = t_ns + for_ns
        self._settled_ns = settled_ns if self._settled_ns is None else max(self._settled_ns, settled_ns)

    def _unsettled(self, t_ns: int) -> bool:
        return self._settled_ns is not None and t_ns < self._settled_ns

    def _changes(self, pairs: Sequence[Pair], state: ContactFilter, t_ns: int, step_s: float) -> RateChanges:
        """Return the probability that a base changes course in this step without touching the other."""
        unsettled = self._unsettled(t_ns)
        rate = np.full(
            len(pairs), CONTACT_LIMITS.unsettled_changes_per_s if unsettled else CONTACT_LIMITS.changes_per_s
        )
        if not unsettled:
            for row, third in _third_contacts(pairs, state.contact_probability).items():
                rate[row] += CONTACT_LIMITS.busy_changes_per_s * third
        sigma_mm_s = CONTACT_LIMITS.stopping_rate_mm_s if unsettled else CONTACT_LIMITS.changed_rate_mm_s
        return RateChanges(1 - np.exp(-rate * step_s), sigma_mm_s)

    def _contacts(self, now: PairMeasurements, unsure: AbstractSet[str], *, fit: bool) -> tuple[Contact, ...]:
        known = dict(zip(self._last.pairs, self._filter.contact_probability.tolist(), strict=True))
        listed = now.select(np.flatnonzero(now.gap_mm < CONTACT_LIMITS.listed_mm).tolist())
        sigma_mm = np.sqrt(listed.variance_mm2)
        out = []
        for (a, b), gap, sigma, seen in zip(
            listed.pairs, listed.gaps.each(), sigma_mm.tolist(), listed.seen.tolist(), strict=True
        ):
            probability = known.get((a, b), 0.0)
            if not (fit and seen):
                probability = min(probability, CONTACT_LIMITS.unseen_probability)
            if sigma > CONTACT_LIMITS.vague_sigma_mm or not unsure.isdisjoint((a, b)):
                probability = min(probability, CONTACT_LIMITS.vague_probability)
            onset = self._began.get((a, b)) if probability > CONTACT_LIMITS.touch_probability else None
            contact = Contact(
                a=a,
                b=b,
                gap_mm=gap.gap_mm,
                sigma_mm=sigma,
                probability=min(max(probability, 0.0), 1.0),
                face_a=gap.face_a,
                face_b=gap.face_b,
                angle_deg=gap.angle_deg,
                overlap_mm=gap.overlap_mm,
                since_ns=None if onset is None else onset.t_ns,
                since_sigma_s=0.0 if onset is None else round(onset.error_s, 4),
            )
            out.append(contact)
        return tuple(out)


def _third_contacts(pairs: Sequence[Pair], touch: Array) -> dict[int, float]:
    """Return, by row, the probability that one of the two touches a third figure."""
    touches: dict[str, list[tuple[float, int]]] = {}
    for row, (pair, probability) in enumerate(zip(pairs, touch.tolist(), strict=True)):
        for id_ in pair:
            touches.setdefault(id_, []).append((probability, row))
    return {
        row: max((probability for id_ in pair for probability, at in touches[id_] if at != row), default=0.0)
        for row, pair in enumerate(pairs)
    }


def _bias_sigma_mm(pairs: PairMeasurements) -> Array:
    return np.sqrt(pairs.variance_mm2 + CONTACT_LIMITS.min_bias_mm**2)
