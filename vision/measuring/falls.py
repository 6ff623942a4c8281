"""Falls: the evidence of one frame that a figure has fallen, and its probability filtered over frames.

Evidence. The detector says "upright" or "fallen"; the shape of the base and the place of the helmet say more. At the
edge of the board a standing figure looks much like a fallen one: its helmet is far off its base in the image. The
camera tells: projected down from the height of helmets, a standing figure's helmet is over its base. The log-odds are
how often each case occurs with fallen and with standing figures, in validation images and plays of the twin, halved,
since errors last from frame to frame.

A figure that falls tilts its base, knocks it aside, or takes it out of sight. Figures of builds that the detector was
never taught may be called fallen for as long as they stand, or for a second now and then. So a call counts for a fall
only once the base gave way, and the less the more often this figure was called fallen while it stood. A base that
stops, is pushed or is measured badly did not give way: it must be further off the way it walked than that explains. One
that was out of sight and is back in full where it was did not either. A figure that walks on with a flat base stands.
How often all this together speaks for a fall of a figure that goes on standing is measured too, over the whole table:
where bodies and bases are unfamiliar, it takes more of it. Among bases that touch, the body over a base may be a
neighbor's, and its sides may be hidden: signs of a fall must last for several frames. And while the board is off and no
hand is near, hardly anything falls: they must then last for seconds.

Filter. A figure is upright or fallen and sometimes changes between the two; every detection is evidence for one. Two or
three frames in a row settle it; a single one that mistakes a leaning figure for a fallen one does not. The time of the
fall is where the frames since speak most for a fall and those before most for standing, however late that is believed:
the change point of Page's cumulative sums (Biometrika 41, 1954).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools, Indices
from downfield.core.frame import Detection


@dataclass(frozen=True, slots=True)
class FallLimits:
    """Thresholds and evidence weights of falls; weights are log-odds that a figure has fallen."""

    fallen_class: float = 2.4  # Weight of the detector's class "fallen", times its score
    # Weight of "upright": one in six fallen figures is classified so, and one in 200 standing figures as "fallen"
    upright_class: float = -1.1
    # A base that appears shorter or narrower than this is seen from its edge
    edge_mm: tuple[float, float] = (20.0, 11.0)
    edge: float = 1.0  # Weight of a base seen from its edge
    # A base that appears shorter or narrower than this share of its own size stands on its very edge
    steep_share: float = 0.45
    steep: float = 1.0  # Weight of that, besides `edge`: no side of a standing figure's base is measured so short
    full_base: float = -1.3  # Weight of a full base on a "fallen" figure: a quarter of fallen figures show one
    # Weight of a helmet over that base (90 % of standing, 50 % of fallen figures); raised to cancel `fallen_class`
    helmet_over_base: float = -1.3
    # Most that a call is worth while the base lies as it lay: nothing falls without moving its base
    unmoved: float = -0.2
    tilted_share: float = 0.7  # A base that appears shorter or narrower than this share of its own size tilts
    full_share: float = 0.85  # A base that appears at least this long and wide, as a share of its own size, lies flat
    # A flat base that walked on for this far since it gave way carries a standing figure; others slide on an edge
    walked_mm: float = 30.0
    gave_way_ns: int = 400_000_000  # A fall is recognized within this time after the base gave way
    calls_true: float = 0.83  # Share of detections of fallen figures that are called so; five in six
    calls_false: float = 0.005  # The same of standing figures of known builds
    # Time over which the calls of one standing figure are averaged: much longer than a fall takes to be recognized
    calls_memory_s: float = 2.0
    calls_at_rest_memory_s: float = 0.3  # The same while the board is off, when hardly any call is true
    # A standing figure called fallen more often than this does not stay fallen by the call alone
    calls_useless: float = 0.5
    # Share of the time for which the signs of a standing figure of a known build speak for a fall
    alarms_false: float = 0.002
    # Seconds of standing figures of known builds that count beside those of this table: half a second of a line-up
    alarms_memory_s: float = 10.0
    # Least share of the weight of signs that speak for a fall, however often they do so falsely on this table
    alarms_least_worth: float = 0.25
    # Share of the signs of a fall that counts in a second while the board is off: two seconds of them are a fall
    at_rest_per_s: float = 1.0
    # The same beside a base that it just touched, in a frame at most half: a neighbor's body may lie over this base
    crowded_per_s: float = 15.0
    crowded_share: float = 0.5
    stands_per_s: float = 5.0  # The same of the signs that who lies stands: nobody gets up, so the base must walk on
    helmet_score: float = 0.5  # Score (0..1) above which a helmet's place counts
    jump_mm: float = 4.0  # A base jumps off its way by more than this when its figure falls
    jump_sigmas: float = 2.0  # Errors of its measured place that a jump must exceed besides
    pushed_mm_per_s: float = 100.0  # Speed at which another base may push it off its way
    # Weight of a jump: half of falling figures jump, and one in 20 standing figures classified as "fallen"
    jump: float = 3.0
    fallen_probability: float = 0.5  # Probability above which a figure counts as fallen
    falls_per_s: float = 0.05  # Rate at which a figure falls while the board is on
    rises_per_s: float = 0.02  # Rate at which it stands up by itself: next to never
    start: float = -4.0  # Probability that a figure at the line-up has fallen
    # Least probability for a visible figure missed twice without a hand near: one in 14 fell too fast to detect
    vanished: float = -3.0
    in_view: float = 0.6  # Recently visible share of the base top from which an undetected figure counts as vanished
    in_view_gain: float = 0.2  # Weight of the latest detection in that recent share


FALL_LIMITS: Final = FallLimits()


@dataclass(frozen=True, slots=True)
class FallSigns:
    """What one image shows of m figures that tells the fallen from the standing; arrays of shape (m,) unless noted."""

    called_fallen: Bools  # whether the detector says "fallen"
    score: Array  # its confidence, 0..1
    size_mm: Array  # apparent length and width of the bases, shape (m, 2)
    helmet_over: Bools  # whether the helmet would be over the base, did the figure stand

    def select(self, rows: Bools | Indices) -> FallSigns:
        """Return the signs of some figures."""
        return FallSigns(self.called_fallen[rows], self.score[rows], self.size_mm[rows], self.helmet_over[rows])

    @property
    def edgewise(self) -> Bools:
        """Which bases appear as small as one seen from its edge, shape (m,)."""
        return np.asarray((self.size_mm < FALL_LIMITS.edge_mm).any(axis=1))

    def tilted(self, own_mm: Array) -> Bools:
        """Return which bases appear much smaller than they are, given their own length and width, shape (m, 2)."""
        return np.asarray((self.size_mm < FALL_LIMITS.tilted_share * own_mm).any(axis=1))

    def flat(self, own_mm: Array) -> Bools:
        """Return which bases appear in full, given their own length and width, shape (m, 2)."""
        return np.asarray((self.size_mm > FALL_LIMITS.full_share * own_mm).all(axis=1))

    def log_odds(
        self,
        call_weight: float | Array = FALL_LIMITS.fallen_class,
        gave_way: bool | Bools = False,
        own_mm: Array | None = None,
    ) -> Array:
        """Return the log-odds that figures have fallen, shape (m,).

        Args:
            call_weight: of the detector's "fallen"; shape (m,) where it differs.
            gave_way: whether the base has just tilted, jumped or vanished; shape (m,) where it differs. A call on a
                base that lies as it lay is no fall, wherever the helmet is: figures lean, and are of many builds.
            own_mm: length and width of their bases, where known: a small base is no edge; shape (m, 2).
        """
        edge = self.edgewise if own_mm is None else self.edgewise & self.tilted(own_mm)
        full = FALL_LIMITS.full_base + np.where(self.helmet_over, FALL_LIMITS.helmet_over_base, 0.0)
        steep = (
            0.0 if own_mm is None else FALL_LIMITS.steep * (self.size_mm < FALL_LIMITS.steep_share * own_mm).any(axis=1)
        )
        shape = np.where(edge, FALL_LIMITS.edge + steep, np.where(self.called_fallen, full, 0.0))
        odds = np.where(self.called_fallen, call_weight * self.score, FALL_LIMITS.upright_class) + shape
        unmoved = self.called_fallen & ~edge & ~np.asarray(gave_way)
        return np.where(unmoved, np.minimum(odds, FALL_LIMITS.unmoved), odds)


def find_fall_signs(figures: Sequence[Detection], size_mm: Array, heading: Array, helmet_mm: Array) -> FallSigns:
    """Return the signs of falls in one image.

    Args:
        size_mm: apparent length and width of their bases, shape (m, 2).
        heading: of their bases, radians, shape (m,).
        helmet_mm: offset of their helmets from the centers of their bases if they stand, NaN where unknown, shape
            (m, 2).
    """
    cos, sin = np.cos(heading), np.sin(heading)
    along = cos * helmet_mm[:, 0] + sin * helmet_mm[:, 1]
    across = cos * helmet_mm[:, 1] - sin * helmet_mm[:, 0]
    helmet = np.array([figure.helmet_score > FALL_LIMITS.helmet_score for figure in figures], dtype=np.bool_)
    return FallSigns(
        called_fallen=np.array([figure.kind == "fallen" for figure in figures], dtype=np.bool_),
        score=np.clip([figure.score for figure in figures], 0.0, 1.0),
        size_mm=size_mm.copy(),
        helmet_over=helmet & (np.abs(along) <= size_mm[:, 0] / 2) & (np.abs(across) <= size_mm[:, 1] / 2),
    )


@dataclass(frozen=True, slots=True)
class BaseMotion:
    """What the bases of k detected figures do; arrays of shape (k,) unless noted."""

    own_mm: Array  # their length and width, as measured before, shape (k, 2)
    off_way_mm: Array  # distance from the way on which they were walking, beyond what errors and pushes explain
    followed: Bools  # whether they were detected just before, and were walking, not just starting to
    place_mm: Array  # where they were measured, shape (k, 2)
    crowded: Bools  # whether each touched another base just now

    def select(self, rows: Bools) -> BaseMotion:
        """Return the motion of some bases."""
        places = (self.own_mm[rows], self.off_way_mm[rows], self.followed[rows], self.place_mm[rows])
        return BaseMotion(*places, self.crowded[rows])


@dataclass(frozen=True, slots=True)
class Fall:
    """A fallen figure."""

    id: str
    t_ns: int  # when it fell, half-way between the detections before and after
    toward_deg: float | None  # where its head points, counter-clockwise from +x; None while its helmet is not visible


class PostureFilter:
    """The probability that each figure of a roster has fallen, and the direction of its head.

    Args:
        t_ns: a time at which all are known to stand.

    Attributes:
        fell_ns: when each fallen figure fell; None for standing figures.
        helmet_mm: each helmet's center projected to the board; None if not visible in the latest detection.
        head: unit vectors from base centers to helmets when last visible, NaN before, shape (n, 2).
    """

    def __init__(self, count: int, t_ns: int) -> None:
        self._log_odds = np.full(count, FALL_LIMITS.start)
        self._seen_ns = np.full(count, t_ns, dtype=np.int64)
        self._change_ns = self._seen_ns.copy()  # when the evidence below began
        self._in_view = np.ones(count)  # share of the base top visible lately
        self._called = np.full(count, FALL_LIMITS.calls_false)  # share of detections called fallen while it stood
        self._gave_way_ns = np.full(count, t_ns - 2 * FALL_LIMITS.gave_way_ns, dtype=np.int64)
        self._missed = np.zeros(count, dtype=np.int64)  # runs of the detector in a row that missed it
        self._vanished = np.zeros(count, dtype=np.bool_)  # it was missed so, and has not been detected since
        self._flat_from_mm = np.full((count, 2), np.nan)  # where its base lay flat first since it last gave way
        self._alarm_s = np.zeros(count)  # time for which the signs of each have spoken for a fall, until they don't
        self._standing_s = FALL_LIMITS.alarms_memory_s
        self._false_alarm_s = FALL_LIMITS.alarms_memory_s * FALL_LIMITS.alarms_false
        self._evidence = np.zeros(count)  # cumulative sum of log-odds since then, while it favors a fall
        self.fell_ns: list[int | None] = [None] * count
        self.helmet_mm: list[tuple[float, float] | None] = [None] * count
        self.head = np.full((count, 2), np.nan)

    @property
    def fallen(self) -> Array:
        """Probability that each has fallen, shape (n,)."""
        probability: Array = 1 / (1 + np.exp(-self._log_odds))
        return probability

    def falls(self, ids: Sequence[str]) -> tuple[Fall, ...]:
        """Return the fallen figures, in the order of the given roster ids."""
        directions_deg = np.degrees(np.arctan2(self.head[:, 1], self.head[:, 0])).tolist()
        return tuple(
            Fall(figure, t_ns, None if math.isnan(direction_deg) else direction_deg)
            for figure, t_ns, direction_deg in zip(ids, self.fell_ns, directions_deg, strict=True)
            if t_ns is not None
        )

    def update_helmets(
        self, rows: Indices, helmets_mm: Sequence[tuple[float, float] | None], centers_mm: Array
    ) -> None:
        """Update the places of detected figures' helmets.

        Args:
            rows: rows of the detected figures, shape (k,).
            helmets_mm: their helmets, k of them.
            centers_mm: the centers of their bases, shape (k, 2).
        """
        self.helmet_mm = [None] * len(self.helmet_mm)
        for row, helmet, center in zip(rows.tolist(), helmets_mm, centers_mm.tolist(), strict=True):
            self.helmet_mm[row] = helmet
            if helmet is not None:
                reach = max(math.dist(helmet, center), 1e-6)
                self.head[row] = (helmet[0] - center[0]) / reach, (helmet[1] - center[1]) / reach

    def weigh(
        self, rows: Indices, signs: FallSigns, bases: BaseMotion, step_s: float, t_ns: int, at_rest: Bools | None = None
    ) -> Array:
        """Return the log-odds of one frame that figures have fallen, given their earlier state, shape (k,).

        A figure that is called fallen just as its base jumps aside is falling. A fallen figure stays fallen while it is
        still called fallen, even if its base is fully visible, unless that base walks on.

        Args:
            rows: rows of the detected figures without a hand near, shape (k,).
            at_rest: which of them nothing can have made fall, as the board is off, shape (k,); None for none.
        """
        off_way = bases.off_way_mm > FALL_LIMITS.jump_mm
        jumped, tilted, flat = off_way & bases.followed, signs.tilted(bases.own_mm), signs.flat(bases.own_mm)
        self._gave_way_ns[rows[jumped | tilted]] = t_ns
        back = rows[self._vanished[rows] & flat & ~off_way]
        self._gave_way_ns[back] = t_ns - 2 * FALL_LIMITS.gave_way_ns
        self._vanished[rows] = False
        called, lies = self._called[rows], self.fallen[rows] > FALL_LIMITS.fallen_probability
        rest = np.zeros(len(rows), dtype=np.bool_) if at_rest is None else at_rest & ~lies
        weight = np.clip(np.log(FALL_LIMITS.calls_true / called), 0.0, FALL_LIMITS.fallen_class)
        odds = signs.log_odds(weight, t_ns - self._gave_way_ns[rows] <= FALL_LIMITS.gave_way_ns, bases.own_mm)
        odds += np.where(signs.called_fallen & jumped, np.minimum(FALL_LIMITS.jump, FALL_LIMITS.jump * weight), 0.0)
        steady = (flat & ~jumped & np.isfinite(self._flat_from_mm[rows, 0]))[:, None]
        begins_mm = np.where(flat[:, None], bases.place_mm, np.nan)
        self._flat_from_mm[rows] = np.where(steady, self._flat_from_mm[rows], begins_mm)
        walks = np.linalg.norm(bases.place_mm - self._flat_from_mm[rows], axis=1) > FALL_LIMITS.walked_mm
        stays = signs.called_fallen & lies & (called < FALL_LIMITS.calls_useless)
        memory_s = np.where(rest, FALL_LIMITS.calls_at_rest_memory_s, FALL_LIMITS.calls_memory_s)
        gain = np.where(lies, 0.0, 1 - np.exp(-step_s / memory_s))
        self._called[rows] = np.maximum(called + gain * (signs.called_fallen - called), FALL_LIMITS.calls_false)
        crowded = min(FALL_LIMITS.crowded_per_s * step_s, FALL_LIMITS.crowded_share)
        in_crowd = np.where(bases.crowded & ~lies, crowded, 1.0)
        worth = np.where(rest, min(FALL_LIMITS.at_rest_per_s * step_s, 1.0), self._alarms_worth * in_crowd)
        odds = np.where(odds > 0, worth * odds, odds)
        odds = np.where(stays, np.maximum(odds, 0.0), odds)
        odds = np.where(lies & (odds < 0), min(FALL_LIMITS.stands_per_s * step_s, 1.0) * odds, odds)
        odds = np.where(walks, np.minimum(odds, FALL_LIMITS.upright_class), odds)
        self._note_alarms(rows, odds > 0, lies, step_s)
        return odds

    @property
    def _alarms_worth(self) -> float:
        """What signs of a fall are worth on this table, as a share of what they are with figures of known builds."""
        rates = (FALL_LIMITS.alarms_false, self._false_alarm_s / self._standing_s)
        known, here = (FALL_LIMITS.calls_true / rate for rate in rates)
        return min(max(math.log(here) / math.log(known), FALL_LIMITS.alarms_least_worth), 1.0)

    def _note_alarms(self, rows: Indices, alarmed: Bools, lies: Bools, step_s: float) -> None:
        """Learn how long signs speak for falls of figures that stand; an alarm was false once it is over.

        By rows of detected figures, whether their signs speak for a fall, and whether they seem to lie, (k,) each.
        """
        over = rows[~alarmed & ~lies]
        self._false_alarm_s += float(self._alarm_s[over].sum())
        self._alarm_s[over] = 0.0
        self._alarm_s[rows[alarmed | lies]] += step_s
        self._standing_s += step_s * int((~lies).sum())

    def update_missed(self, rows: Indices, missed: Bools, visible: Array, t_ns: int) -> None:
        """Raise the probability of figures that were not detected although nothing is known to hide them.

        Args:
            rows: rows of the detected figures, shape (k,).
            missed: figures not detected with the board on and no hand near, shape (n,).
            visible: visible share of the detected figures' bases, shape (k,).
        """
        self._missed[rows] = 0
        self._missed[missed] += 1
        self._in_view[rows] += FALL_LIMITS.in_view_gain * (visible - self._in_view[rows])
        gone = missed & (self._missed >= 2) & (self._in_view > FALL_LIMITS.in_view)
        first = gone & (self._missed == 2)
        self._log_odds[first] = np.maximum(self._log_odds[first], FALL_LIMITS.vanished)
        self._gave_way_ns[gone] = t_ns
        self._vanished[gone] = True
        self._flat_from_mm[gone] = np.nan

    def update(self, rows: Indices, odds: Array, step_s: float, t_ns: int) -> None:
        """Add the evidence of one frame.

        Args:
            rows: rows of the detected figures without a hand near, shape (k,).
            odds: log-odds that they have fallen, from this frame alone, shape (k,).
        """
        before = self.fallen
        falls, rises = (1 - math.exp(-rate * step_s) for rate in (FALL_LIMITS.falls_per_s, FALL_LIMITS.rises_per_s))
        now = before * (1 - rises) + (1 - before) * falls
        self._log_odds = np.log(now / (1 - now))
        self._log_odds[rows] += odds
        after = self.fallen
        silent = rows[self._evidence[rows] == 0.0]
        self._change_ns[silent] = (self._seen_ns[silent] + t_ns) // 2
        self._seen_ns[rows] = t_ns
        self._evidence[rows] = np.maximum(self._evidence[rows] + odds, 0.0)
        was_fallen, is_fallen = before >= FALL_LIMITS.fallen_probability, after >= FALL_LIMITS.fallen_probability
        for row in np.flatnonzero(~was_fallen & is_fallen):
            self.fell_ns[row] = int(self._change_ns[row])
        self._evidence[was_fallen & ~is_fallen] = 0.0  # it stands again and may fall another time
        for row in np.flatnonzero(~is_fallen):
            self.fell_ns[row] = None

    def set_upright(self, rows: Indices) -> None:
        """Set figures in a hand to upright, since hands put them down standing."""
        self._log_odds[rows] = np.minimum(self._log_odds[rows], 0.0)
        self._evidence[rows] = 0.0
