"""Events of a table at every step that rules depend on: contacts, falls, touches of the ball, and when.

Engaged bases chatter: they part by a tenth of a millimeter and meet again many times a second. So a contact begins at
the instant its gap falls to `TOUCHING_MM`, and ends at the instant the gap rose over it for the last time, once it has
stayed so for `PARTED_NS`. A fall begins at the instant the tilt passes `FALLEN_DEG` and ends below `RISEN_DEG`.
Instants are interpolated between two steps. What a hand does has the instant at which it does it: a figure taken in
hand parts from all at once, and one put against another touches it at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from downfield.core.scene import Player
from downfield.twin.physics.outlines import Bases, Outlines
from downfield.twin.physics.poses import FALLEN_DEG, Poses
from downfield.twin.physics.truth_file import TruthEvent

TOUCHING_MM = 0.1
"""Bases nearer than this touch, mm: the gap that the physics leaves between bases that push each other."""

PARTED_NS = 100_000_000
"""Bases that touch again sooner than this count as never parted."""

RISEN_DEG = 30.0
"""A fallen figure tilted by less than this counts as upright again."""

_NEVER = 2**62  # ns
_NEAR_MM = 2.0  # pairs whose circumscribed circles are further apart are not measured
_FASTEST_MM_S = 600.0  # largest closing speed of two upright bases: walking, shaking and knocks
_STEADY_DEG = 10.0  # a figure tilted further may be faster


class EventRecorder:
    """Records the events of a table; call it with the poses of every step.

    Args:
        players: the roster.
        touching_mm: bases this near touch.

    Attributes:
        events: all events, in the order they became certain.

    """

    def __init__(self, players: Sequence[Player], touching_mm: float = TOUCHING_MM) -> None:
        self._touching_mm = touching_mm
        self.events: list[TruthEvent] = []
        self._players = players
        self._bases = Bases(players)
        count = len(players)
        self._pairs = np.array([(a, b) for a in range(count) for b in range(a + 1, count + 1)], dtype=np.intp)
        self._reach_mm = self._bases.reach_mm[self._pairs].sum(axis=1)
        self._pair_of = {_ids(players, a, b): pair for pair, (a, b) in enumerate(self._pairs) if b < count}
        self._gap_mm = np.full(len(self._pairs), np.inf)  # at the last measurement
        self._gap_ns = np.zeros(len(self._pairs), dtype=np.int64)  # times of the last measurements
        self._due_ns = np.zeros(len(self._pairs))  # times of the next measurements
        self._since_ns = np.full(len(self._pairs), _NEVER)  # of a contact: its beginning
        self._apart_ns = np.full(len(self._pairs), _NEVER)  # of a contact whose gap is open: since when
        self._fell_ns = np.full(count, _NEVER)
        self._tilt_deg = np.zeros(count)
        self._ball_touch: tuple[int, int] | None = None  # when, and by which row
        self._t_ns = 0

    def __call__(self, poses: Poses) -> None:
        """Record the next step or, at a time not after it, a change by a hand."""
        by_hand = poses.t_ns <= self._t_ns
        if by_hand:
            self._due_ns[:] = 0
        if poses.ball_kind == "none":
            self._ball_touch = None
        self._falls(poses, by_hand=by_hand)
        self._contacts(poses, self._bases.outlines(poses), by_hand=by_hand)
        self._t_ns = max(self._t_ns, poses.t_ns)

    def contact_since_ns(self, a: str, b: str, t_ns: int) -> int | None:
        """Return when the contact that two figures (in order of their ids) have at an instant began."""
        since = int(self._since_ns[self._pair_of[a, b]])
        return since if since <= t_ns else None

    def is_fallen(self, row: int, t_ns: int) -> bool:
        """Return whether a figure lies at an instant."""
        return bool(self._fell_ns[row] <= t_ns)

    def ball_touched(self, t_ns: int) -> tuple[int, str] | None:
        """Return the first touch of the ball on the board up to an instant, and the figure that touched it."""
        if self._ball_touch is None or self._ball_touch[0] > t_ns:
            return None
        return self._ball_touch[0], self._players[self._ball_touch[1]].id

    def _falls(self, poses: Poses, *, by_hand: bool) -> None:
        tilt = np.where(poses.on_board, poses.tilt_deg, 0.0)
        lying = self._fell_ns < _NEVER
        for row in np.flatnonzero((~lying & (tilt > FALLEN_DEG)) | (lying & (tilt < RISEN_DEG))).tolist():
            bound = RISEN_DEG if lying[row] else FALLEN_DEG
            before = float(self._tilt_deg[row]), self._t_ns
            t_ns = _crossing(bound, before, (float(tilt[row]), poses.t_ns), by_hand=by_hand)
            self._fell_ns[row] = _NEVER if lying[row] else t_ns
            self.events.append(TruthEvent("rose" if lying[row] else "fell", t_ns, self._players[row].id))
        self._tilt_deg = tilt

    def _contacts(self, poses: Poses, outlines: Outlines, *, by_hand: bool) -> None:
        now = poses.t_ns
        able = outlines.touchable[self._pairs].all(axis=1)
        for pair in np.flatnonzero(~able & (self._since_ns < _NEVER)):
            self._part(pair, min(now, int(self._apart_ns[pair])))
        due = np.flatnonzero(able & (self._due_ns <= now))
        centers = outlines.center_mm[self._pairs[due]]
        clear_mm = np.linalg.norm(centers[:, 0] - centers[:, 1], axis=1) - self._reach_mm[due]
        self._due_ns[due] = now + np.maximum(clear_mm - _NEAR_MM, 0.0) / _FASTEST_MM_S * 1e9
        near = due[clear_mm <= _NEAR_MM]
        if len(near):
            self._measure(near, now, outlines, by_hand=by_hand)
        for pair in np.flatnonzero(now - self._apart_ns >= PARTED_NS):
            self._part(pair, int(self._apart_ns[pair]))

    def _measure(self, pairs: NDArray[np.intp], now: int, outlines: Outlines, *, by_hand: bool) -> None:
        before_mm, before_ns = self._gap_mm[pairs], self._gap_ns[pairs]
        gap_mm = outlines.gaps_mm(self._pairs[pairs])
        self._gap_mm[pairs], self._gap_ns[pairs] = gap_mm, now
        steady = (np.append(self._tilt_deg, 0.0)[self._pairs[pairs]] < _STEADY_DEG).all(axis=1)
        self._due_ns[pairs] = now + steady * np.maximum(gap_mm - self._touching_mm, 0.0) / _FASTEST_MM_S * 1e9
        touching = gap_mm <= self._touching_mm
        known = self._since_ns[pairs] < _NEVER
        self._apart_ns[pairs[touching]] = _NEVER
        for i in np.flatnonzero((touching & ~known) | (~touching & known & (self._apart_ns[pairs] == _NEVER))):
            t_ns = _crossing(self._touching_mm, (before_mm[i], before_ns[i]), (gap_mm[i], now), by_hand=by_hand)
            if touching[i]:
                self._touch(pairs[i], t_ns)
            else:
                self._apart_ns[pairs[i]] = t_ns

    def _touch(self, pair: np.intp, t_ns: int) -> None:
        self._since_ns[pair] = t_ns
        a, b = self._pairs[pair]
        if b < len(self._players):
            self.events.append(TruthEvent("touched", t_ns, *_ids(self._players, a, b)))
            return
        self.events.append(TruthEvent("touched_ball", t_ns, self._players[a].id))
        if self._ball_touch is None or t_ns < self._ball_touch[0]:
            self._ball_touch = t_ns, int(a)

    def _part(self, pair: np.intp, t_ns: int) -> None:
        self._since_ns[pair] = self._apart_ns[pair] = _NEVER
        a, b = self._pairs[pair]
        if b < len(self._players):
            self.events.append(TruthEvent("parted", t_ns, *_ids(self._players, a, b)))


def _crossing(bound: float, before: tuple[float, int], now: tuple[float, int], *, by_hand: bool) -> int:
    """Return when a value crossed a bound between two (value, time) points; a change by a hand is instantaneous."""
    (value, since_ns), (reached, now_ns) = before, now
    if by_hand or not min(value, reached) <= bound <= max(value, reached) or value == reached:
        return now_ns
    return int(since_ns + round((bound - value) / (reached - value) * (now_ns - since_ns)))


def _ids(players: Sequence[Player], a: int, b: int) -> tuple[str, str]:
    first, second = sorted((players[a].id, players[b].id))
    return first, second
