"""The truth of a table as scenes and events: the output of perfect vision, with sigma 0.

    truth = Truth(world)
    ...
    scene = truth.scene(world.snapshot(), frame=12)

Gaps are those of the outlines on the board. Engaged bases chatter: they part by a tenth of a millimeter and meet again
many times a second. So a contact begins at the instant its gap falls to `TOUCHING_MM`, and ends at the instant the gap
rose over it for the last time, once it has stayed so for `PARTED_NS`. A fall begins at the instant the tilt passes
`FALLEN_DEG` and ends below `RISEN_DEG`. Instants are interpolated between two steps. What a hand does has the instant
at which it does it: a figure taken in hand parts from all at once, and one put against another touches it at once.

Held figures touch nothing and are ``"lifted"``; figures that are off the board are left out. The visible share of each
base depends on the renderer; here `visible` is 1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from downfield.core.arrays import Array
from downfield.core.footprint import signed_gaps
from downfield.core.scene import Ball, BallState, Contact, Figure, Hand, Player, Posture, Scene
from downfield.twin.physics.outlines import Outlines
from downfield.twin.physics.poses import FALLEN_DEG, Poses
from downfield.twin.physics.truth_file import TruthEvent
from downfield.twin.physics.world import World
from downfield.twin.table.snapshot import Snapshot
from downfield.twin.table.solids import cloud, hand_solids, stick_solid

TOUCHING_MM = 0.1
"""Bases nearer than this touch, mm: the gap that the physics leaves between bases that push each other."""

PARTED_NS = 100_000_000  # bases that touch again sooner than this count as never parted

RISEN_DEG = 30.0  # a fallen figure tilted by less than this counts as upright again

_NEVER = 2**62  # ns
_NEAR_MM = 2.0  # pairs whose circumscribed circles are further apart are not measured
_FASTEST_MM_S = 600.0  # largest closing speed of two upright bases: walking, shaking and knocks
_STEADY_DEG = 10.0  # a figure tilted further may be faster

CONTACT_MM = 5.0  # pairs with a gap below this are listed in scenes

_NO_COLOR = (0.0, 0.0, 0.0)


class Truth:
    """The truth of a world, from construction on.

    Args:
        touching_mm: bases this near touch; less than the physics needs where figures walk on exact paths.
    """

    def __init__(self, world: World, *, touching_mm: float = TOUCHING_MM) -> None:
        self._world, self._touching_mm = world, touching_mm
        self._events: list[TruthEvent] = []  # in the order they became certain
        self._players = players = world.players
        self._bases = world.bases
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
        world.watch(self._record)

    def _record(self, poses: Poses) -> None:
        """Record the next step or, at a time not after it, a change by a hand."""
        by_hand = poses.t_ns <= self._t_ns
        if by_hand:
            self._due_ns[:] = 0
        if poses.ball_kind == "none":
            self._ball_touch = None
        self._record_falls(poses, by_hand=by_hand)
        self._record_contacts(poses, by_hand=by_hand)
        self._t_ns = max(self._t_ns, poses.t_ns)

    def _record_falls(self, poses: Poses, *, by_hand: bool) -> None:
        tilt = np.where(poses.on_board, poses.tilt_deg, 0.0)
        lying = self._fell_ns < _NEVER
        for row in np.flatnonzero((~lying & (tilt > FALLEN_DEG)) | (lying & (tilt < RISEN_DEG))).tolist():
            bound = RISEN_DEG if lying[row] else FALLEN_DEG
            before = float(self._tilt_deg[row]), self._t_ns
            t_ns = _crossing(bound, before, (float(tilt[row]), poses.t_ns), by_hand=by_hand)
            self._fell_ns[row] = _NEVER if lying[row] else t_ns
            self._events.append(TruthEvent("rose" if lying[row] else "fell", t_ns, self._players[row].id))
        self._tilt_deg = tilt

    def _record_contacts(self, poses: Poses, *, by_hand: bool) -> None:
        now, touchable = poses.t_ns, poses.touchable
        able = touchable[self._pairs[:, 0]] & touchable[self._pairs[:, 1]]
        for pair in np.flatnonzero(~able & (self._since_ns < _NEVER)):
            self._part(pair, min(now, int(self._apart_ns[pair])))
        due = np.flatnonzero(able & (self._due_ns <= now))
        if len(due):
            outlines = self._bases.outlines(poses)
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
            self._events.append(TruthEvent("touched", t_ns, *_ids(self._players, a, b)))
            return
        self._events.append(TruthEvent("touched_ball", t_ns, self._players[a].id))
        if self._ball_touch is None or t_ns < self._ball_touch[0]:
            self._ball_touch = t_ns, int(a)

    def _part(self, pair: np.intp, t_ns: int) -> None:
        self._since_ns[pair] = self._apart_ns[pair] = _NEVER
        a, b = self._pairs[pair]
        if b < len(self._players):
            self._events.append(TruthEvent("parted", t_ns, *_ids(self._players, a, b)))

    @property
    def events(self) -> tuple[TruthEvent, ...]:
        """All events so far, in order of time. A parting becomes certain, and is included, only after 0.1 s."""
        return tuple(sorted(self._events, key=lambda event: event.t_ns))

    def scene(self, snapshot: Snapshot, frame: int) -> Scene:
        """Return the scene of a snapshot of this world that was taken just now.

        Args:
            snapshot: hands and sticks may have been added to it.
        """
        poses = self._world.poses()
        outlines = self._bases.outlines(poses)
        figures = tuple(self._figure(row, poses, outlines) for row in range(len(self._players)) if poses.on_board[row])
        return Scene(
            frame=frame,
            t_ns=snapshot.t_ns,
            board="on" if snapshot.power else "off",
            figures=figures,
            contacts=self._contacts(snapshot.t_ns, outlines),
            ball=self._ball(snapshot),
            hands=_hands(snapshot, figures),
        )

    def _figure(self, row: int, poses: Poses, outlines: Outlines) -> Figure:
        player, at = self._players[row], outlines.footprint(row)
        posture: Posture = "fallen" if self._fell_ns[row] <= self._world.t_ns else "upright"
        return Figure(
            id=player.id,
            jersey=player.jersey,
            x_mm=at.x_mm,
            y_mm=at.y_mm,
            heading_deg=at.heading_deg,
            length_mm=at.size.length_mm,
            width_mm=at.size.width_mm,
            corner_mm=at.size.corner_mm,
            posture="lifted" if poses.held[row] else posture,
        )

    def _contacts(self, t_ns: int, outlines: Outlines) -> tuple[Contact, ...]:
        rows = [int(row) for row in np.flatnonzero(outlines.touchable[:-1])]
        rows.sort(key=lambda row: self._players[row].id)
        reach = self._bases.reach_mm
        apart = np.linalg.norm(outlines.center_mm[:, None] - outlines.center_mm[None], axis=2)
        pairs = [
            (a, b) for i, a in enumerate(rows) for b in rows[i + 1 :] if apart[a, b] - reach[a] - reach[b] < CONTACT_MM
        ]
        footprints = {row: outlines.footprint(row) for row in rows}
        gaps = signed_gaps([footprints[a] for a, _ in pairs], [footprints[b] for _, b in pairs])
        out = []
        for (a, b), gap in zip(pairs, gaps, strict=True):
            if gap.gap_mm >= CONTACT_MM:
                continue
            id_a, id_b = self._players[a].id, self._players[b].id
            since_ns = int(self._since_ns[self._pair_of[id_a, id_b]])
            out.append(
                Contact(
                    a=id_a,
                    b=id_b,
                    gap_mm=gap.gap_mm,
                    sigma_mm=0.0,
                    probability=float(gap.gap_mm <= self._touching_mm),
                    face_a=gap.face_a,
                    face_b=gap.face_b,
                    angle_deg=gap.angle_deg,
                    overlap_mm=gap.overlap_mm,
                    since_ns=since_ns if since_ns <= t_ns else None,
                )
            )
        return tuple(out)

    def _ball(self, snapshot: Snapshot) -> Ball | None:
        ball = snapshot.ball
        if ball is None:
            return None
        x, y, _ = ball.position_mm
        if ball.carrier is not None:
            return Ball("carried", x, y, carrier=ball.carrier)
        state: BallState = "magnetic" if ball.kind == "magnetic" else "loose"
        if self._ball_touch is None or self._ball_touch[0] > snapshot.t_ns:
            return Ball(state, x, y)
        touched_ns, row = self._ball_touch
        return Ball(state, x, y, touched_by=self._players[row].id, touched_ns=touched_ns)


def _crossing(bound: float, before: tuple[float, int], now: tuple[float, int], *, by_hand: bool) -> int:
    """Return when a value crossed a bound between two (value, time) points; a change by a hand is instantaneous."""
    (value, since_ns), (reached, now_ns) = before, now
    if by_hand or not min(value, reached) <= bound <= max(value, reached) or value == reached:
        return now_ns
    return int(since_ns + round((bound - value) / (reached - value) * (now_ns - since_ns)))


def _ids(players: Sequence[Player], a: int, b: int) -> tuple[str, str]:
    first, second = sorted((players[a].id, players[b].id))
    return first, second


def by_frame(events: Sequence[TruthEvent], times_ns: Sequence[int]) -> tuple[tuple[TruthEvent, ...], ...]:
    """Return the events by frame: each in the first frame not before it; events after the last frame are left out.

    Args:
        times_ns: of the frames, rising.
    """
    when = [event.t_ns for event in events]
    ends = [bisect_right(when, t_ns) for t_ns in times_ns]
    return tuple(tuple(events[start:end]) for start, end in zip([0, *ends], ends, strict=False))


def _hands(snapshot: Snapshot, figures: Sequence[Figure]) -> tuple[Hand, ...]:
    """Return hands and sticks, projected straight down to the board."""
    arms = [hand_solids(hand, _NO_COLOR, _NO_COLOR) for hand in snapshot.hands]
    out = []
    for solids in (*arms, *((stick_solid(stick),) for stick in snapshot.sticks)):
        points = cloud(solids).reshape(-1, 3)[:, :2]
        outline = points[ConvexHull(points).vertices]  # counter-clockwise, shape (n, 2)
        covers = tuple(figure.id for figure in figures if _inside(outline, (figure.x_mm, figure.y_mm)))
        out.append(Hand(tuple((float(x), float(y)) for x, y in outline), covers))
    return tuple(out)


def _inside(outline: Array, point: tuple[float, float]) -> bool:
    edges = np.roll(outline, -1, axis=0) - outline
    to_point = np.array(point) - outline
    return bool((edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0] >= 0).all())
