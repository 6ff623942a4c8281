"""The tracker: a fixed roster followed through detections, in board millimeters.

The roster is closed. Every frame's sightings are assigned to its figures, never the other way round: what fits nobody
is nobody, and who is not seen is carried forward with growing error. A figure that a hand takes may come back anywhere;
it is taken for itself again once it has stood there for a moment, and marked unsure where others might be it as well.
Which end of a base is its front is a belief of its own, since a network takes one for the other now and then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.angles import wrap_rad
from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.scene import Jersey, Posture, Power
from downfield.vision.tracking.assignment import SOLID_MM, Match, match, without_doubles
from downfield.vision.tracking.base_size import believed_size
from downfield.vision.tracking.estimate import Estimate
from downfield.vision.tracking.fall_evidence import followed_odds
from downfield.vision.tracking.falls import Fall, PostureBelief
from downfield.vision.tracking.hand_exclusion import beside, clear_of
from downfield.vision.tracking.heading import FrontBelief
from downfield.vision.tracking.initialization import LineUpPoses
from downfield.vision.tracking.kalman import HEADING, LENGTH, SPIN, VX, WIDTH, Motion, X, Y
from downfield.vision.tracking.measurement import Measurements
from downfield.vision.tracking.reappearance import Strangers

_REACH_MM: Final = 55.0  # from the fingertips: what is nearer may be moved by the hand
_GRASP_MM: Final = 35.0  # and what is nearer and moves is held
_CARRIED_MM: Final = 25.0  # a figure in a hand goes no further within a frame, if it is seen there all the time
_LET_GO_NS: Final = 300_000_000  # a hand's doings count on for so long after it was last seen
_UNSEEN_NS: Final = 250_000_000  # a figure not seen for less was missed, not hidden
_MISSED_ONCE: Final = 2.5  # looks ago, at most, that one was seen who was missed in one
_BLIND_NS: Final = 100_000_000  # when nobody was seen for so long, nobody knows whether the board is on either
_SURPRISE_NS: Final = 200_000_000  # a figure that moved against all belief goes on doing so
_PIVOT_MM, _PIVOT_RAD = 4.0, 1.0  # how far a hand that hides a figure moves and turns it while it leaves it there
_LOST_MM: Final = 25.0  # a figure that may be so far off may be anywhere
_LOST_NS: Final = 400_000_000  # one not seen for so long is looked for among those who are nobody,
_WALKS_MM_S: Final = 30.0  # as far as it may have walked, one sigma,
_AT_MOST: Final = 2.5  # and no further than so many,
_STRIDE_MM: Final = 80.0  # or this
_ASTRAY_MM: Final = 60.0  # who is found further from where he should be, and no hand was at him, may be another
_ANYWHERE_MM: Final = 300.0
_ANYWHERE: Final = np.diag([_ANYWHERE_MM**2, _ANYWHERE_MM**2, np.pi**2])
_ANY_HEADING: Final = np.pi**2 / 3  # variance of what may be any angle
_TURNS_RAD: Final = 0.25  # how far somebody who was missed for a moment may have turned where he is
_MOVED_MM: Final = 120.0  # a hand that puts a figure further than this from where it was has put another one there
_WILD_NIS: Final = 16.3  # chi squared of 3, 99.9 %
_LENGTHWISE: Final = 0.7  # cosine of the head's direction to the heading: beyond, it fell ahead or back


@dataclass(slots=True)
class _State:
    """What is kept of each figure besides its movement; arrays of shape (n,) unless said otherwise."""

    seen_ns: NDArray[np.int64]
    handled_ns: NDArray[np.int64]  # when a hand was last at it
    surprised_ns: NDArray[np.int64]
    stood_mm: Array  # where it was before the hand came, shape (n, 2)
    visible: Array
    systematic: Array  # covariance of place that lasts, shape (n, 2, 2)
    by_height: Array  # shape (n, 2)
    sure: NDArray[np.bool_]
    grasped: NDArray[np.bool_]
    lost: NDArray[np.bool_]  # may be anywhere
    helmet: list[tuple[float, float] | None]
    head: Array  # unit vector from the middle of the base to the helmet when it was last seen, NaN before, shape (n, 2)


class Tracker:
    """Follows the figures of one line-up.

    Args:
        line_up: who stands where as it begins.
        t_ns: when.

    """

    def __init__(self, line_up: LineUpPoses, t_ns: int) -> None:
        self.players = line_up.players
        count = len(self.players)
        self._height_mm = np.array([player.base.height_mm for player in self.players])
        self._height_sigma_mm = line_up.height_sigma_mm
        self._jersey = np.array([1.0 if player.jersey == "light" else -1.0 for player in self.players])
        self._motion = Motion.standing(line_up.pose, line_up.cov, line_up.size_sigma_mm)
        self._posture = PostureBelief(count, t_ns)
        self._fronts = FrontBelief(line_up.front)
        self._strangers = Strangers()
        self._t_ns = self._looked_ns = t_ns
        never = np.full(count, t_ns - 10 * _LET_GO_NS, dtype=np.int64)
        self._state = _State(
            seen_ns=np.where(line_up.found, t_ns, never + 1),
            handled_ns=never.copy(),
            surprised_ns=never.copy(),
            stood_mm=line_up.pose[:, :2].copy(),
            visible=np.ones(count),
            systematic=np.zeros((count, 2, 2)),
            by_height=np.zeros((count, 2)),
            sure=np.ones(count, dtype=bool),
            grasped=np.zeros(count, dtype=bool),
            lost=np.zeros(count, dtype=bool),
            helmet=[None] * count,
            head=np.full((count, 2), np.nan),
        )

    @property
    def height_mm(self) -> float:
        """The height at which base tops are to be measured; each figure's own is then allowed for."""
        return float(self._height_mm.mean())

    @property
    def falls(self) -> tuple[Fall, ...]:
        """Those that lie, in roster order."""
        return tuple(
            Fall(player.id, t_ns, self._lies_toward_deg(row))
            for row, (player, t_ns) in enumerate(zip(self.players, self._posture.fell_ns, strict=True))
            if t_ns is not None
        )

    def step(
        self,
        sightings: Measurements,
        t_ns: int,
        *,
        power: Power = "unknown",
        fingertips_mm: Sequence[tuple[float, float]] = (),
        hands_mm: Sequence[Array] = (),
    ) -> tuple[Estimate, ...]:
        """Go on to the next frame.

        Args:
            sightings: measured at `height_mm`.
            t_ns: of the frame, later than the one before.
            power: whether the board is on, as known before this frame.
            fingertips_mm: where hands end, on the board.
            hands_mm: outlines of hands there: under them nobody is looked for elsewhere.

        Returns:
            All of the roster, in its order.

        """
        step_s, going = (t_ns - self._t_ns) * 1e-9, self._going(power)
        if step_s * 1e9 > _UNSEEN_NS:
            going[going == "walking"] = "unseen"  # where frames were lost, nobody was seen
        since_look_s = (t_ns - self._looked_ns) * 1e-9
        self._t_ns = self._looked_ns = t_ns
        near_mm = self._hand_distance(fingertips_mm)
        self._motion.predict(step_s, going)
        sightings = clear_of(hands_mm, without_doubles(sightings))
        found = self._assign(sightings, power, hands_mm)
        self._take_in(found, sightings, since_look_s, power, hands_mm)
        self._mind_hands(near_mm)
        return self.estimates()

    def confirm(self) -> bool:
        """Somebody says that everybody is who he is believed to be.

        Returns:
            Whether all were seen, and nobody was in doubt.

        """
        state, seen = self._state, self._t_ns - self._state.seen_ns <= _UNSEEN_NS
        well = bool((seen & state.sure).all())
        state.sure |= seen
        return well

    def go_on(self, t_ns: int, *, power: Power = "unknown") -> tuple[Estimate, ...]:
        """As `step`, to a frame that nobody looked at: everybody goes on as he went, and was seen if he was before."""
        seen = self._state.seen_ns == self._t_ns
        self._motion.predict((t_ns - self._t_ns) * 1e-9, self._going(power))
        self._state.seen_ns[seen] = self._t_ns = t_ns
        return self.estimates(fresh=False)

    def _going(self, power: Power) -> NDArray[np.str_]:
        """How each figure goes on from the latest frame."""
        state, now = self._state, self._t_ns
        blind = now - int(state.seen_ns.max()) > _BLIND_NS
        going = np.full(len(self.players), "standing" if power == "off" and not blind else "walking", dtype="<U8")
        seen = state.seen_ns == now
        going[seen & (now - state.surprised_ns < _SURPRISE_NS)] = "walking"
        hidden = now - state.seen_ns > _UNSEEN_NS
        going[hidden & (going == "walking")] = "unseen"
        # A figure that a hand hides is most likely left where it is; only one that is seen is followed in the hand.
        going[seen & (now - state.handled_ns < _LET_GO_NS)] = "handled"
        return going

    def _hand_distance(self, fingertips_mm: Sequence[tuple[float, float]]) -> Array:
        """How far the nearest fingertips are from each figure, shape (n,); and who is in their reach."""
        if not fingertips_mm:
            return np.full(len(self.players), np.inf)
        place = self._motion.mean[:, :2]
        near: Array = np.linalg.norm(place[:, None] - np.array(fingertips_mm)[None], axis=2).min(axis=1)
        state, reached = self._state, near < _REACH_MM
        fresh = reached & (self._t_ns - state.handled_ns > _LET_GO_NS)
        state.stood_mm[fresh] = place[fresh]
        state.handled_ns[reached] = self._t_ns
        return near

    def _assign(self, sightings: Measurements, power: Power, hands_mm: Sequence[Array]) -> Match:
        """Assign measurements to figures: first where they should be, then settled ones elsewhere to lost figures."""
        state, every = self._state, np.arange(len(sightings))
        taken = (state.handled_ns >= state.seen_ns) & (self._t_ns - state.seen_ns > 0)
        if taken.any():
            self._fronts.hide(taken)
            if power == "off":
                self._motion.rest(np.flatnonzero(taken))
            self._motion.loosen(np.flatnonzero(taken), _PIVOT_MM, _PIVOT_RAD)
        strange = self._strangers.beside(sightings.pose[:, :2], state.seen_ns)
        # What looks like a figure in a hand, or beside it, is nobody who was missed elsewhere.
        off_mm = np.linalg.norm(self._motion.mean[:, None, :2] - sightings.pose[None, :, :2], axis=2)
        near_mm = np.where(taken, SOLID_MM, _CARRIED_MM)
        in_hand = beside(hands_mm, sightings.pose[:, :2])[None] & (off_mm > near_mm[:, None])
        first = match(self._motion, np.arange(len(self.players)), sightings, every, self._jersey, strange | in_hand)
        left = np.delete(every, first.sightings)
        ripe = left[self._strangers.settled(sightings.pose[left, :2], self._t_ns)]
        away_ns = self._t_ns - state.seen_ns
        away_ns[first.figures] = 0
        hidden = away_ns > _UNSEEN_NS
        hidden &= ~beside(hands_mm, self._motion.mean[:, :2])
        state.lost = hidden & (taken | (self._motion.spread_mm() > _LOST_MM) | (away_ns > _LOST_NS))
        found = first
        if len(ripe):
            found = first.and_also(self._look_for(sightings, ripe, away_ns, hidden, taken, in_hand, off_mm))
        astray = off_mm[found.figures, found.sightings] > _ASTRAY_MM
        state.sure[found.figures[astray & ~taken[found.figures]]] = False
        return found

    def _look_for(
        self,
        sightings: Measurements,
        ripe: NDArray[np.intp],
        away_ns: NDArray[np.int64],
        hidden: NDArray[np.bool_],
        taken: NDArray[np.bool_],
        in_hand: NDArray[np.bool_],
        off_mm: Array,
    ) -> Match:
        """Whose settled sightings may be that are nobody's: of those lost, and of those seen otherwise where they are.

        Args:
            sightings: of the frame.
            ripe: rows of the settled ones.
            away_ns: for how long each figure has not been seen.
            hidden: who has not been seen for a while; he gets none before he is lost, but they may be his.
            taken: who may be in a hand.
            in_hand: what looks like each of them in a hand, far from where he is, shape (n, m).
            off_mm: how far every sighting is from where each of them should be, same shape.

        """
        state = self._state
        # What stands where somebody was is he, seen otherwise, and nobody else who is missed.
        own = off_mm < SOLID_MM
        own &= ((away_ns > 0) & ~taken)[:, None]
        still: NDArray[np.bool_] = np.asarray(own[:, ripe].any(axis=1))
        lost = np.flatnonzero(state.lost | still | hidden)
        anywhere = self._motion.copy()
        walked = np.minimum(_WALKS_MM_S * away_ns * 1e-9, _ANYWHERE_MM)
        place_mm = np.select([still[lost], taken[lost]], [SOLID_MM, _ANYWHERE_MM], walked[lost])
        too_far = (off_mm > np.maximum(_AT_MOST * walked, _STRIDE_MM)[:, None]) & ~taken[:, None]
        anywhere.loosen(lost, place_mm, np.where(still[lost] & ~state.lost[lost], _TURNS_RAD, np.pi))
        others = ~own & np.asarray(own.any(axis=0))[None]
        # Nor is anybody what was seen elsewhere, in its place for long, while he was surely seen himself.
        fixed = self._strangers.fixed(sightings.pose[:, :2], state.seen_ns) & state.sure[:, None]
        found = match(anywhere, lost, sightings, ripe, self._jersey, in_hand | others | fixed | too_far)
        found = found.only((state.lost | still)[found.figures])
        moved = np.linalg.norm(sightings.pose[found.sightings, :2] - state.stood_mm[found.figures], axis=1)
        state.sure[found.figures[moved > _MOVED_MM]] = False
        return found

    def _take_in(
        self, found: Match, sightings: Measurements, step_s: float, power: Power, hands_mm: Sequence[Array]
    ) -> None:
        """Take sightings in that were assigned, a step after the last look."""
        rows, columns, state = found.figures, found.sightings, self._state
        lying = sightings.fallen[columns] > 0
        pose = sightings.pose[columns].copy()
        pose[:, :2] += sightings.by_height[columns] * (self._height_mm[rows] - self.height_mm)[:, None]
        pose[found.flipped, 2] += np.pi
        before = self._motion.mean[rows, HEADING]
        followed = self._t_ns - state.seen_ns[rows] < _MISSED_ONCE * step_s * 1e9
        jump_mm = followed * np.linalg.norm(pose[:, :2] - self._motion.mean[rows, :2], axis=1)
        nis = self._motion.correct(rows, pose, sightings.covariance[columns], step_s)
        jumped = self._fronts.jump(rows, wrap_rad(self._motion.mean[rows, HEADING] - before))
        self._motion.mean[jumped, SPIN] = 0.0
        state.surprised_ns[rows[nis > _WILD_NIS]] = self._t_ns
        state.seen_ns[rows] = self._t_ns
        state.visible[:] = 0.0
        state.visible[rows] = sightings.visible[columns]
        state.systematic[rows] = sightings.systematic[columns]
        state.by_height[rows] = sightings.by_height[columns]
        state.helmet = [None] * len(self.players)
        places = self._motion.mean[rows, :2].tolist()
        for row, column, (x, y) in zip(rows.tolist(), columns.tolist(), places, strict=True):
            helmet = state.helmet[row] = sightings.helmet_mm[column]
            if helmet is not None:
                reach = max(math.dist(helmet, (x, y)), 1e-6)
                state.head[row] = (helmet[0] - x) / reach, (helmet[1] - y) / reach
        state.sure[found.doubtful] = False
        by_hand = beside(hands_mm, pose[:, :2])
        word = np.where(found.flipped, -1.0, 1.0) * sightings.front[columns]
        self._fronts.hear(rows[~lying], word[~lying], sightings.visible[columns][~lying], by_hand[~lying], step_s)
        if power == "on":
            heading, velocity = self._motion.mean[rows, HEADING], self._motion.mean[rows, VX : VX + 2]
            ahead = velocity[:, 0] * np.cos(heading) + velocity[:, 1] * np.sin(heading)
            self._fronts.walk(rows[~lying], ahead[~lying], step_s)
        self._motion.turn_about(self._fronts.settle())
        free = (self._t_ns - state.handled_ns[rows] > 0) & ~by_hand
        looks, lay = [sightings.detections[column] for column in columns], self._posture.fallen[rows]
        missed = (self._t_ns - state.handled_ns > _LET_GO_NS) & ~beside(hands_mm, self._motion.mean[:, :2])
        missed[rows] = False
        self._posture.miss(rows, missed & (power == "on"), sightings.visible[columns])
        odds = followed_odds(sightings.fallen[columns], looks, jump_mm, lay)
        self._posture.update(rows[free], odds[free], step_s, self._t_ns)

    def _mind_hands(self, near_mm: Array) -> None:
        """Who is in a hand: within its grasp, and hidden by it or moving."""
        state, now = self._state, self._t_ns
        moving = (now - state.surprised_ns < _SURPRISE_NS) | (now - state.seen_ns > 0)
        state.grasped = (near_mm < _GRASP_MM) & (moving | state.grasped)
        self._posture.stand(np.flatnonzero(state.grasped))

    def estimates(self, *, fresh: bool = True) -> tuple[Estimate, ...]:
        """What is believed of all of the roster, in its order, at the latest frame, and whether that was looked at."""
        state = self._state
        covariance = self._motion.pose_cov()
        covariance[state.lost] += _ANYWHERE
        # No heading is less known than one that is not known at all.
        known = np.sqrt(np.minimum(_ANY_HEADING / covariance[:, 2, 2], 1.0))
        covariance[:, 2] *= known[:, None]
        covariance[:, :, 2] *= known[:, None]
        velocity = self._motion.mean[:, VX : SPIN + 1].copy()
        tall = state.by_height * self._height_sigma_mm
        covariance[:, :2, :2] += state.systematic + tall[:, :, None] * tall[:, None, :]
        return tuple(
            self._estimate(row, covariance[row], velocity[row], *numbers, fresh=fresh)
            for row, numbers in enumerate(
                zip(
                    self._motion.mean.tolist(),
                    np.degrees(self._motion.mean[:, HEADING]).tolist(),
                    self._posture.fallen.tolist(),
                    state.visible.tolist(),
                    (self._t_ns - state.seen_ns).tolist(),
                    strict=True,
                )
            )
        )

    def _estimate(
        self,
        row: int,
        covariance: Array,
        velocity: Array,
        mean: Sequence[float],
        heading_deg: float,
        fallen: float,
        visible: float,
        away_ns: int,
        *,
        fresh: bool,
    ) -> Estimate:
        player, state = self.players[row], self._state
        posture: Posture = "fallen" if fallen >= 0.5 else "upright"
        lies = posture == "fallen"
        size = self._lying_size(row) if lies else believed_size(mean[LENGTH], mean[WIDTH], player.base)
        if state.grasped[row]:
            posture = "lifted"
        elif away_ns > _UNSEEN_NS:
            posture = "unseen"
        jersey: Jersey = player.jersey
        return Estimate(
            id=player.id,
            jersey=jersey,
            footprint=Footprint(mean[X], mean[Y], heading_deg, size),
            covariance=covariance,
            velocity=velocity,
            posture=posture,
            fallen=fallen,
            visible=visible,
            helmet_mm=state.helmet[row],
            seen=away_ns == 0,
            sure=bool(state.sure[row]),
            fell_ns=self._posture.fell_ns[row] if posture == "fallen" else None,
            fresh=fresh,
        )

    def _lies_toward_deg(self, row: int) -> float | None:
        toward = self._state.head[row]
        return None if np.isnan(toward).any() else float(np.degrees(np.arctan2(toward[1], toward[0])))

    def _lying_size(self, row: int) -> BaseSize:
        """A base on its edge: as it stood, but for the side over which it fell, which is as long as it is high."""
        base, mean = self.players[row].base, self._motion.mean[row]
        ahead = np.array([np.cos(mean[HEADING]), np.sin(mean[HEADING])])
        lengthwise = abs(float(ahead @ self._state.head[row])) > _LENGTHWISE  # False while the head is not seen
        high = max(base.height_mm, 1.0)
        length, width = (high, float(mean[WIDTH])) if lengthwise else (float(mean[LENGTH]), high)
        return BaseSize(length, width, base.height_mm, 0.0)
