"""Contacts: who touches whom, how sure that is, and since when."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.core.scene import Contact, Power
from downfield.vision.contacts.belief import ContactFilter
from downfield.vision.contacts.halt import HaltDetector
from downfield.vision.contacts.likelihood import RateChanges
from downfield.vision.contacts.measurement import (
    Pair,
    PairMeasurements,
    find_near_pairs,
    measure_pairs,
    passing_corrections,
)
from downfield.vision.contacts.noise import GapNoise
from downfield.vision.contacts.onset import GapHistory
from downfield.vision.tracking.estimate import Estimate

LISTED_MM: Final = 5.0
"""Pairs with a gap below this are listed in scenes."""

UNSEEN: Final = 0.5
"""The most that is said of a pair of which one is not seen."""

VAGUE: Final = 0.9
"""The most that is said of a pair whose gap is known too vaguely to be called, or of which one may be another."""

_VAGUE_MM: Final = 2.0  # standard deviation of such a gap: as of a figure that hardly shows
_FOLLOWED_MM: Final = 12.0  # from here on, so that the approach is known when they meet
_LEAST_BIAS_MM: Final = 0.05  # no camera is better
_CHANGES_PER_S: Final = 0.5  # how often a base changes its way for no reason that is seen, as in the twin's physics
_BUSY_PER_S: Final = 0.5  # and this more while it also touches another, which may be pushed
_STIRRED_PER_S: Final = 60.0  # when the board was switched off, or what was seen before is doubtful
_STIRRED_NS: Final = 350_000_000  # how long after the first: it is noticed late, and figures come to rest;
_DOUBTFUL_NS: Final = 100_000_000  # and after the other
_NOTICED_NS: Final = 60_000_000  # how long ago they stopped, when it is noticed that everybody has
_CHANGED_MM_S: Final = 40.0  # deviation of the gap's rate after such a change
_COMING_TO_REST_MM_S: Final = 4.0  # and when everything stops
_ONSET_SETTLES_NS: Final = 150_000_000  # after it began, when a contact began is settled
_SLOWEST_MM_S: Final = 2.0  # at which a gap is taken to have opened
_LONGEST_STEP_S: Final = 0.25  # after a longer gap in the frames pairs are met anew
_SHIFTED_MM: Final = 8.0  # a gap that changes more than this in a frame was changed by a hand
_SHIFTED_AT_REST_MM: Final = 0.7  # the same while the board is off
_SHIFTED_SIGMAS: Final = 5.0  # and by how many deviations of the noise more: it is of two frames


@dataclass(frozen=True, slots=True)
class _Moment:
    """A frame that was followed, and what was believed before it."""

    now: PairMeasurements
    t_ns: int
    belief: ContactFilter
    last: PairMeasurements
    before_ns: int | None
    began_ns: Mapping[Pair, int]


@dataclass(frozen=True, slots=True)
class EndedContact:
    """A contact that is over.

    Attributes:
        a, b: roster ids, a < b.
        began_ns: when the gap closed, between frames.
        began_sigma_ns: its standard deviation, as believed frame by frame.
        ended_ns: when it opened.

    """

    a: str
    b: str
    began_ns: int
    began_sigma_ns: int
    ended_ns: int


class ContactTracker:
    """Follows the pairs of bases that are near each other; call `step` once for every frame, in order of time.

    Attributes:
        parted: contacts that were found to be over in the last step.

    """

    def __init__(self) -> None:
        # As in the last frame that could be believed, in the order of the beliefs.
        self._last: PairMeasurements = measure_pairs(*find_near_pairs([], _FOLLOWED_MM), np.zeros((2, 2)))
        self._belief = ContactFilter.none()
        self._t_ns: int | None = None
        self._start_ns: int | None = None
        self._power: Power = "unknown"
        self._calm_ns: int | None = None
        self._noise = GapNoise()
        self._approaches = GapHistory()
        self._began_ns: Mapping[Pair, int] = {}
        self._halts = HaltDetector()
        self._lately: deque[_Moment] = deque()
        self.parted: tuple[EndedContact, ...] = ()

    def step(
        self,
        estimates: Sequence[Estimate],
        t_ns: int,
        *,
        power: Power = "on",
        fit: bool = True,
        shared: Array | None = None,
    ) -> tuple[Contact, ...]:
        """The contacts of a frame.

        Args:
            estimates: all figures.
            t_ns: capture time.
            power: whether the board is on.
            fit: whether the picture may be believed; when not, nothing is concluded from it.
            shared: covariance of an error of position that all figures have in common, mm^2, shape (2, 2).

        Returns:
            Pairs with a gap below 5 mm, in order of ids. `since_ns` is given where a touch is more likely than not.

        """
        now = measure_pairs(*find_near_pairs(estimates, _FOLLOWED_MM), np.zeros((2, 2)) if shared is None else shared)
        now = now.rows(np.flatnonzero(now.gap_mm < _FOLLOWED_MM).tolist())
        self.parted = ()
        if fit and self._halts.step(estimates, t_ns) and power == "on" and not self._stirred(t_ns):
            self._think_again(t_ns)
            self._stir(t_ns, _STIRRED_NS)
        if power == "off" and self._power != "off":
            self._stir(t_ns, _STIRRED_NS)
        if not fit:
            self._stir(t_ns, _DOUBTFUL_NS)
        self._power = power
        if fit:
            self._remember(now, t_ns)
            self._noise.note(now)
            self._follow(now, t_ns)
        return self._contacts(now, {one.id for one in estimates if not one.sure}, fit=fit)

    def _remember(self, now: PairMeasurements, t_ns: int) -> None:
        """Keep what is believed before a frame, for as long as it may have to be thought over."""
        while self._lately and t_ns - self._lately[0].t_ns > _NOTICED_NS:
            self._lately.popleft()
        self._lately.append(_Moment(now, t_ns, self._belief, self._last, self._t_ns, self._began_ns))

    def _think_again(self, t_ns: int) -> None:
        """Believe of the last frames what is right now that everybody is known to have stopped meanwhile."""
        again = [one for one in self._lately if t_ns - one.t_ns <= _NOTICED_NS]
        if not again:
            return
        first = again[0]
        self._belief, self._last, self._t_ns, self._began_ns = first.belief, first.last, first.before_ns, first.began_ns
        self._stir(first.t_ns, _STIRRED_NS)
        for one in again:
            self._follow(one.now, one.t_ns)

    def _follow(self, now: PairMeasurements, t_ns: int) -> None:
        """Take note of the pairs of a frame that may be believed."""
        self._start_ns = t_ns if self._start_ns is None else self._start_ns
        step_s = 0.0 if self._t_ns is None else (t_ns - self._t_ns) / 1e9
        known = self._known(now) if 0 < step_s <= _LONGEST_STEP_S else {}
        old_rows = [row for row, pair in enumerate(now.pairs) if pair in known]
        new_rows = [row for row in np.flatnonzero(now.fresh).tolist() if now.pairs[row] not in known]
        old, new = now.rows(old_rows), now.rows(new_rows)
        before = [known[pair] for pair in old.pairs]
        belief = self._belief.rows(np.array(before, dtype=np.intp))
        t_s = (t_ns - self._start_ns) / 1e9
        touched = belief.touch > UNSEEN
        if old.pairs and not self._at_rest(t_ns):
            turn = passing_corrections(self._last.rows(before), step_s)
            belief.step(
                t_s, step_s, turn, self._changes(old.pairs, belief, t_ns, step_s), _bias_mm(old), self._noise.seen(old)
            )
            over = np.flatnonzero(touched & (belief.touch <= UNSEEN))
            self.parted = tuple(self._over(old.pairs[row], belief, row, t_s) for row in over.tolist())
        if new.pairs:
            belief = belief.joined(ContactFilter.first(self._noise.seen(new), new.rate_mm_s, _bias_mm(new), t_s))
        self._belief, self._last, self._t_ns = belief, now.rows(old_rows + new_rows), t_ns
        self._approaches.note(now, self._noise.seen(now).noise_mm, t_s, known)
        self._note_onsets(t_ns)

    def _note_onsets(self, t_ns: int) -> None:
        """Keep when contacts began: as it looks soon after, for later frames tell no more of it."""
        onset_s, _ = self._belief.onset_s
        stays = self._belief.touching.sum(axis=1) > self._belief.touch / 2
        began_ns: dict[Pair, int] = {}
        for row in np.flatnonzero(self._belief.touch > UNSEEN).tolist():
            pair, about_s = self._last.pairs[row], float(onset_s[row])
            known_ns = self._began_ns.get(pair)
            if known_ns is not None and t_ns - known_ns > _ONSET_SETTLES_NS:
                began_ns[pair] = known_ns
                continue
            # Who bounced off at once never stayed at a level.
            met_s = self._approaches.met_s(pair, about_s) if stays[row] else about_s
            began_ns[pair] = (self._start_ns or 0) + round(met_s * 1e9)
        self._began_ns = began_ns

    def _over(self, pair: Pair, belief: ContactFilter, row: int, t_s: float) -> EndedContact:
        """A contact that is over: it ended when the gap, going as it goes, left the bias."""
        onset_s, sigma_s = (float(value[row]) for value in belief.onset_s)
        open_mm = float(belief.gap_mm[row] - belief.bias_mm[0][row])
        ended_s = t_s - max(open_mm, 0.0) / max(float(belief.rate_mm_s[row]), _SLOWEST_MM_S)
        start_ns = self._start_ns or 0
        began_ns = self._began_ns.get(pair, start_ns + round(onset_s * 1e9))
        ended_ns = max(start_ns + round(ended_s * 1e9), began_ns)
        return EndedContact(*pair, began_ns, round(sigma_s * 1e9), ended_ns)

    def _known(self, now: PairMeasurements) -> dict[Pair, int]:
        """The rows of pairs that go on; those that a hand has moved are met anew."""
        rows = {pair: row for row, pair in enumerate(self._last.pairs)}
        old = now.rows([row for row, pair in enumerate(now.pairs) if pair in rows])
        before_mm = self._last.gap_mm[[rows[pair] for pair in old.pairs]]
        most = _SHIFTED_AT_REST_MM if self._power == "off" else _SHIFTED_MM
        near = np.abs(old.gap_mm - before_mm) < most + _SHIFTED_SIGMAS * self._noise.seen(old).noise_mm
        return {pair: rows[pair] for pair, same in zip(old.pairs, near.tolist(), strict=True) if same}

    def _at_rest(self, t_ns: int) -> bool:
        """Whether the board has been off for long enough that nothing is to be learned from more of the same."""
        return self._power == "off" and not self._stirred(t_ns)

    def _stir(self, t_ns: int, for_ns: int) -> None:
        """From a time on, for a while, who stops does not stop for whom he meets."""
        calm_ns = t_ns + for_ns
        self._calm_ns = calm_ns if self._calm_ns is None else max(self._calm_ns, calm_ns)

    def _stirred(self, t_ns: int) -> bool:
        return self._calm_ns is not None and t_ns < self._calm_ns

    def _changes(self, pairs: Sequence[Pair], belief: ContactFilter, t_ns: int, step_s: float) -> RateChanges:
        """How probable it is that a base changes its way in this step without touching the other."""
        stirred = self._stirred(t_ns)
        rate = np.full(len(pairs), _STIRRED_PER_S if stirred else _CHANGES_PER_S)
        if not stirred:
            for row, other in self._busiest(pairs, belief.touch).items():
                rate[row] += _BUSY_PER_S * other
        return RateChanges(1 - np.exp(-rate * step_s), _COMING_TO_REST_MM_S if stirred else _CHANGED_MM_S)

    @staticmethod
    def _busiest(pairs: Sequence[Pair], touch: Array) -> dict[int, float]:
        """By row: how probably one of the two touches a third."""
        touches: dict[str, list[tuple[float, int]]] = {}
        for row, (pair, likely) in enumerate(zip(pairs, touch.tolist(), strict=True)):
            for id_ in pair:
                touches.setdefault(id_, []).append((likely, row))
        return {
            row: max((likely for id_ in pair for likely, at in touches[id_] if at != row), default=0.0)
            for row, pair in enumerate(pairs)
        }

    def _contacts(self, now: PairMeasurements, in_doubt: AbstractSet[str], *, fit: bool) -> tuple[Contact, ...]:
        known = dict(zip(self._last.pairs, self._belief.touch.tolist(), strict=True))
        listed = now.rows(np.flatnonzero(now.gap_mm < LISTED_MM).tolist())
        sigma_mm = np.sqrt(listed.variance_mm2)
        out = []
        for (a, b), gap, sigma, seen in zip(
            listed.pairs, listed.gaps.each(), sigma_mm.tolist(), listed.seen.tolist(), strict=True
        ):
            likely = known.get((a, b), 0.0)
            if not (fit and seen):
                likely = min(likely, UNSEEN)
            if sigma > _VAGUE_MM or not in_doubt.isdisjoint((a, b)):
                likely = min(likely, VAGUE)
            contact = Contact(
                a=a,
                b=b,
                gap_mm=gap.gap_mm,
                sigma_mm=sigma,
                probability=min(max(likely, 0.0), 1.0),
                face_a=gap.face_a,
                face_b=gap.face_b,
                angle_deg=gap.angle_deg,
                overlap_mm=gap.overlap_mm,
                since_ns=self._began_ns.get((a, b)) if likely > UNSEEN else None,
            )
            out.append(contact)
        return tuple(out)


def _bias_mm(pairs: PairMeasurements) -> Array:
    return np.sqrt(pairs.variance_mm2 + _LEAST_BIAS_MM**2)
