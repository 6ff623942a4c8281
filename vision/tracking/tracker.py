"""The tracker: follows a fixed roster through the detections of successive frames, in board millimeters.

The roster is closed. Every frame's detections are assigned to its figures; unmatched detections start no track, and an
undetected figure is predicted with growing error. A figure that a hand takes may come back anywhere: it is recognized
once it has stood there for a moment, and less sure the better another figure fits that place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Bools
from downfield.core.footprint import Footprint
from downfield.core.mathematics import wrap_rad
from downfield.core.scene import SURE_IDENTITY, Posture, Power
from downfield.vision.hands import drop_under_hands, near_hands
from downfield.vision.measuring.estimate import Estimate, estimate_base_size, fallen_base_size
from downfield.vision.measuring.falls import FALL_LIMITS, BaseMotion, Fall, PostureFilter
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.tracking.assignment import Assignment, suppress_duplicates
from downfield.vision.tracking.front import FrontFilter, facing_odds
from downfield.vision.tracking.identification import IDENTIFICATION_LIMITS
from downfield.vision.tracking.initialization import LINE_UP_LIMITS, LineUpPoses
from downfield.vision.tracking.kalman import (
    HEADING,
    KALMAN_LIMITS,
    LENGTH,
    SPIN,
    VX,
    WIDTH,
    MotionFilter,
    MotionMode,
    X,
    Y,
)
from downfield.vision.tracking.matching import TRACKER_LIMITS, FigureMatcher, FigureStates, FrameInput
from downfield.vision.tracking.recovery import RECOVERY_LIMITS

_ANY_HEADING: Final = np.pi**2 / 3  # variance of an angle that may be any
_ANYWHERE: Final = np.diag([RECOVERY_LIMITS.anywhere_mm**2, RECOVERY_LIMITS.anywhere_mm**2, np.pi**2])


class Tracker:
    """Tracks the figures of one line-up. `line_up`: the figures' poses at the start."""

    def __init__(self, line_up: LineUpPoses, t_ns: int) -> None:
        self.players = line_up.players
        count = len(self.players)
        self._height_mm = np.array([player.base.height_mm for player in self.players])
        self._height_sigma_mm = line_up.height_sigma_mm
        self._jersey = np.array([1.0 if player.jersey == "light" else -1.0 for player in self.players])
        self._motion = MotionFilter.standing(line_up.pose, line_up.cov, line_up.size_sigma_mm)
        self._posture = PostureFilter(count, t_ns)
        self._front = FrontFilter(line_up.front, line_up.facing)
        self._motion.turn_around(self._front.resolve_flips())
        self._power: Power = "unknown"
        self._matcher = FigureMatcher(self._jersey, t_ns)
        self._t_ns = self._detected_ns = self._started_ns = t_ns
        self._stopped_ns = t_ns - TRACKER_LIMITS.coming_to_rest_ns  # all stand still in a line-up
        self._figures = FigureStates.of(line_up, t_ns)

    @property
    def height_mm(self) -> float:
        """The height at which base tops are to be measured; the tracker then corrects for each figure's own height."""
        return float(self._height_mm.mean())

    @property
    def more_figures(self) -> int:
        """Number of figures that stand on the board and are none of the line-up's."""
        return self._matcher.more_figures

    @property
    def falls(self) -> tuple[Fall, ...]:
        """The fallen figures, in roster order."""
        return self._posture.falls([player.id for player in self.players])

    def update(
        self,
        measurements: Measurements,
        t_ns: int,
        *,
        power: Power = "unknown",
        fingertips_mm: Sequence[tuple[float, float]] = (),
        hands_mm: Sequence[Array] = (),
        touching: Collection[str] = (),
    ) -> tuple[Estimate, ...]:
        """Track through the next frame.

        Args:
            measurements: measurements of the frame, at `height_mm`.
            t_ns: time of the frame, later than the previous one.
            power: whether the board is on, as known before this frame.
            fingertips_mm: fingertips of hands on the board.
            hands_mm: outlines of hands on the board; figures under them are not searched for elsewhere.
            touching: roster ids of figures that touched another in the frame before, which may have pushed them.

        Returns:
            The estimates of all figures, in roster order.
        """
        step_s, modes = (t_ns - self._t_ns) * 1e-9, self._motion_modes(power)
        if step_s * 1e9 > TRACKER_LIMITS.unseen_ns:
            modes[modes == MotionMode.WALKING] = MotionMode.UNSEEN  # frames were dropped
        detection_step_s = (t_ns - self._detected_ns) * 1e-9
        self._t_ns = self._detected_ns = t_ns
        fingertips_off_mm = self._note_hands(fingertips_mm)
        self._motion.predict(step_s, modes)
        # Bases are solid, so two detections in one place are one figure.
        measurements = drop_under_hands(hands_mm, suppress_duplicates(measurements))
        lies = np.asarray(self._posture.fallen >= FALL_LIMITS.fallen_probability)
        missed = t_ns - self._figures.seen_ns > 1.5e9 * detection_step_s
        lying = np.flatnonzero(lies & missed)
        self._motion.stop(lying)  # who lies does not walk on, and may lie across
        self._motion.inflate(lying, 0.0, np.pi)
        self._motion.doubt_turns(np.flatnonzero(missed))
        frame, taken = FrameInput(t_ns, power, hands_mm, lies), self._release_taken(power)
        found = self._matcher.match(self._motion, self._figures, measurements, frame, taken)
        touched = np.array([player.id in touching for player in self.players], dtype=np.bool_)
        self._figures.touched_ns[touched] = t_ns
        self._note_start(power)
        self._correct(found, measurements, detection_step_s, power, hands_mm)
        self._update_grasped(fingertips_off_mm)
        return self.estimates()

    def predict(self, t_ns: int, *, power: Power = "unknown") -> tuple[Estimate, ...]:
        """Return the estimates at a frame that the detector skipped: figures keep their motion and their `seen`."""
        seen = self._figures.seen_ns == self._t_ns
        self._motion.predict((t_ns - self._t_ns) * 1e-9, self._motion_modes(power))
        self._figures.seen_ns[seen] = self._t_ns = t_ns
        return self.estimates(fresh=False)

    def confirm_identities(self) -> bool:
        """Take every visible figure for certain, because a person confirmed the identities.

        Returns:
            Whether all were visible and sure already.
        """
        figures, seen = self._figures, self._t_ns - self._figures.seen_ns <= TRACKER_LIMITS.unseen_ns
        all_sure = bool((seen & (figures.identity >= SURE_IDENTITY)).all())
        figures.identity[seen] = figures.named[seen] = 1.0
        return all_sure

    def confirm_teams(self) -> None:
        """Take it for certain, as a person says, that the teams are not exchanged; names are as sure as before."""
        self._figures.identity[:] = np.maximum(self._figures.identity, self._figures.named)

    @property
    def unnamed(self) -> bool:
        """Whether so many names are guesses that they are to be asked about, whichever the teams."""
        return int((self._figures.named <= IDENTIFICATION_LIMITS.even).sum()) >= LINE_UP_LIMITS.unnamed

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Take a person's word for which end of a figure's base is the front; None takes it back.

        Args:
            player: roster id; one that is not tracked is ignored.
            heading_deg: about where it faces, counter-clockwise from +x; the end nearer to it is the front.
        """
        row = next((row for row, one in enumerate(self.players) if one.id == player), None)
        if row is None:
            return
        if heading_deg is None:
            self._front.withdraw(row)
        else:
            self._front.settle(row, ahead=bool(np.cos(np.radians(heading_deg) - self._motion.mean[row, HEADING]) >= 0))
            self._motion.turn_around(self._front.resolve_flips())

    def estimates(self, *, fresh: bool = True) -> tuple[Estimate, ...]:
        """Return the estimates of all figures at the latest frame, in roster order; fresh if the detector ran on it."""
        figures, mean = self._figures, self._motion.mean
        covariance = self._motion.cov[:, :3, :3] + self._motion.persistent
        covariance[figures.lost] += _ANYWHERE
        # The variance of a heading is at most that of an unknown heading.
        known = np.sqrt(np.minimum(_ANY_HEADING / covariance[:, 2, 2], 1.0))
        covariance[:, 2] *= known[:, None]
        covariance[:, :, 2] *= known[:, None]
        velocity = mean[:, VX : SPIN + 1].copy()
        tall = figures.by_height * self._height_sigma_mm
        covariance[:, :2, :2] += figures.systematic + tall[:, :, None] * tall[:, None, :]
        heading_deg = np.degrees(mean[:, HEADING]).tolist()
        fallen, away_ns = self._posture.fallen.tolist(), (self._t_ns - figures.seen_ns).tolist()
        front, identity = self._front.probability.tolist(), figures.identity.tolist()
        out = []
        for row, (player, state) in enumerate(zip(self.players, mean.tolist(), strict=True)):
            posture: Posture = "fallen" if fallen[row] >= FALL_LIMITS.fallen_probability else "upright"
            if posture == "fallen":
                head = self._posture.head[row]
                size = fallen_base_size(state[LENGTH], state[WIDTH], state[HEADING], head, player.base)
            else:
                size = estimate_base_size(state[LENGTH], state[WIDTH], player.base)
            if figures.grasped[row]:
                posture = "lifted"
            elif away_ns[row] > TRACKER_LIMITS.unseen_ns:
                posture = "unseen"
            estimate = Estimate(
                id=player.id,
                jersey=player.jersey,
                footprint=Footprint(state[X], state[Y], heading_deg[row], size),
                covariance=covariance[row],
                velocity=velocity[row],
                posture=posture,
                fallen=fallen[row],
                visible=float(figures.visible[row]),
                helmet_mm=self._posture.helmet_mm[row],
                seen=away_ns[row] == 0,
                identity=identity[row],
                fell_ns=self._posture.fell_ns[row] if posture == "fallen" else None,
                fresh=fresh,
                front=front[row],
            )
            out.append(estimate)
        return tuple(out)

    def _motion_modes(self, power: Power) -> NDArray[np.int64]:
        """Return the `MotionMode` of each figure from the latest frame on, shape (n,)."""
        figures, now = self._figures, self._t_ns
        blind = now - int(figures.seen_ns.max()) > TRACKER_LIMITS.blind_ns
        usual = MotionMode.STANDING if power == "off" and not blind else MotionMode.WALKING
        modes = np.full(len(self.players), usual, dtype=np.int64)
        seen = figures.seen_ns == now
        modes[seen & (now - figures.surprised_ns < TRACKER_LIMITS.surprise_ns)] = MotionMode.WALKING
        # Where a figure goes that just moved against the prediction is not known either.
        away_ns = now - figures.seen_ns
        lost = (away_ns > 0) & (figures.seen_ns - figures.surprised_ns < TRACKER_LIMITS.surprise_ns)
        modes[(lost | (away_ns > TRACKER_LIMITS.unseen_ns)) & (modes == MotionMode.WALKING)] = MotionMode.UNSEEN
        # A figure that a hand hides is most likely left in place; only a detected figure is tracked in the hand.
        modes[seen & (now - figures.handled_ns < TRACKER_LIMITS.let_go_ns)] = MotionMode.HANDLED
        return modes

    def _note_start(self, power: Power) -> None:
        """Take what the line-up says of fronts when a play begins; a moment of unknown power begins none."""
        if power == "on" and self._power != "on":
            place, light = self._motion.mean, self._jersey > 0
            self._started_ns = self._t_ns
            self._front.line_up(facing_odds(place, self._front.log_odds, light, ~self._figures.lost))
        if power == "off" and self._power == "on":
            self._stopped_ns = self._t_ns
        self._power = self._power if power == "unknown" else power

    def _note_hands(self, fingertips_mm: Sequence[tuple[float, float]]) -> Array:
        """Mark the figures within reach of hands; return each figure's distance to the nearest fingertips, (n,)."""
        if not fingertips_mm:
            return np.full(len(self.players), np.inf)
        place = self._motion.mean[:, :2]
        off_mm: Array = np.linalg.norm(place[:, None] - np.array(fingertips_mm)[None], axis=2).min(axis=1)
        figures, reached = self._figures, off_mm < TRACKER_LIMITS.hand_reach_mm
        fresh = reached & (self._t_ns - figures.handled_ns > TRACKER_LIMITS.let_go_ns)
        figures.stood_mm[fresh] = place[fresh]
        figures.handled_ns[reached] = self._t_ns
        return off_mm

    def _update_grasped(self, fingertips_off_mm: Array) -> None:
        """Update which figures are in a hand: within its grasp, and hidden by it or moving."""
        figures, now = self._figures, self._t_ns
        moving = (now - figures.surprised_ns < TRACKER_LIMITS.surprise_ns) | (now - figures.seen_ns > 0)
        figures.grasped = (fingertips_off_mm < TRACKER_LIMITS.grasp_mm) & (moving | figures.grasped)
        self._posture.set_upright(np.flatnonzero(figures.grasped))

    def _release_taken(self, power: Power) -> Bools:
        """Return the figures that a hand may have taken, shape (n,), after making their predictions as vague."""
        figures = self._figures
        taken: Bools = (figures.handled_ns >= figures.seen_ns) & (self._t_ns - figures.seen_ns > 0)
        if taken.any():
            # A hand may turn the figure while it hides it.
            self._front.limit_hidden(taken)
            if power == "off":
                self._motion.stop(np.flatnonzero(taken))
            self._motion.inflate(np.flatnonzero(taken), TRACKER_LIMITS.pivot_mm, TRACKER_LIMITS.pivot_rad)
        return taken

    def _correct(
        self, found: Assignment, measurements: Measurements, step_s: float, power: Power, hands_mm: Sequence[Array]
    ) -> None:
        """Correct the figures with the detections assigned to them, a step after the last detection."""
        rows, columns, figures = found.figures, found.detections, self._figures
        upright = ~(measurements.fallen[columns] > 0)
        visible = measurements.visible[columns]
        pose = measurements.pose[columns].copy()
        pose[:, :2] += measurements.by_height[columns] * (self._height_mm[rows] - self.height_mm)[:, None]
        pose[found.flipped, 2] += np.pi
        before = self._motion.mean[rows, HEADING]
        bases = self._base_motion(found, pose, measurements, step_s, power)
        noise = self._motion.with_misplaced_edges(rows, pose, measurements.covariance[columns])
        nis = self._motion.correct(rows, pose, noise, step_s)
        self._motion.note_misfit(nis[self._t_ns - figures.seen_ns[rows] <= TRACKER_LIMITS.blind_ns], step_s)
        heading = self._motion.mean[rows, HEADING]
        jumped = self._front.reset_jumped(rows, heading, wrap_rad(heading - before), self._t_ns)
        self._motion.mean[jumped, SPIN] = 0.0
        figures.surprised_ns[rows[nis > KALMAN_LIMITS.outlier_nis]] = self._t_ns
        figures.seen_ns[rows] = self._t_ns
        figures.visible[:] = 0.0
        figures.visible[rows] = visible
        figures.systematic[rows] = measurements.systematic[columns]
        figures.by_height[rows] = measurements.by_height[columns]
        helmets_mm = [measurements.helmet_mm[column] for column in columns.tolist()]
        self._posture.update_helmets(rows, helmets_mm, self._motion.mean[rows, :2])
        beside_hand = near_hands(hands_mm, pose[:, :2])
        self._front.limit_handled(rows[beside_hand])
        front = np.where(found.flipped, -1.0, 1.0) * measurements.front[columns]
        self._front.update_from_network(rows[upright], front[upright], visible[upright], beside_hand[upright], step_s)
        free = (self._t_ns - figures.handled_ns[rows] > 0) & ~beside_hand
        if power == "on":
            # Figures walk ahead, but one that an opponent pushes back keeps its front.
            alone = self._t_ns - figures.touched_ns[rows] > TRACKER_LIMITS.pushed_ns
            walkers = rows[upright & free & alone]
            heading, velocity = self._motion.mean[walkers, HEADING], self._motion.mean[walkers, VX : VX + 2]
            ahead_mm_s = velocity[:, 0] * np.cos(heading) + velocity[:, 1] * np.sin(heading)
            self._front.update_from_walking(walkers, ahead_mm_s * step_s)
        self._motion.turn_around(self._front.resolve_flips())
        missed = self._t_ns - figures.handled_ns > TRACKER_LIMITS.let_go_ns
        missed &= ~near_hands(hands_mm, self._motion.mean[:, :2])
        missed[rows] = False
        self._posture.update_missed(rows, missed & (power == "on"), visible, self._t_ns)
        signs = measurements.signs.select(columns[free])
        moved_ns = np.maximum(figures.handled_ns[rows[free]], self._stopped_ns)
        at_rest = (self._power != "on") & (self._t_ns - moved_ns >= TRACKER_LIMITS.coming_to_rest_ns)
        # A call of the network counts only if the base gave way, hence `bases`: it calls some standing figures fallen.
        odds = self._posture.weigh(rows[free], signs, bases.select(free), step_s, self._t_ns, at_rest)
        self._posture.update(rows[free], odds, step_s, self._t_ns)

    def _base_motion(
        self, found: Assignment, pose: Array, measurements: Measurements, step_s: float, power: Power
    ) -> BaseMotion:
        """Return what the bases of detected figures do, before the detections correct their predictions."""
        rows, figures = found.figures, self._figures
        away_ns = self._t_ns - figures.seen_ns
        off_way_mm = self._motion.off_way_mm(pose[:, :2], away_ns)[rows, np.arange(len(rows))]
        pushed = self._t_ns - figures.touched_ns[rows] <= TRACKER_LIMITS.pushed_ns
        explained_mm = FALL_LIMITS.jump_sigmas * measurements.jump_sigma_mm[found.detections]
        walking = power == "on" and self._t_ns - self._started_ns > TRACKER_LIMITS.starting_ns
        explained_mm += np.where(pushed, FALL_LIMITS.pushed_mm_per_s * away_ns[rows] * 1e-9, 0.0)
        return BaseMotion(
            own_mm=self._motion.mean[rows][:, [LENGTH, WIDTH]],
            off_way_mm=np.maximum(off_way_mm - explained_mm, 0.0),
            followed=(away_ns[rows] < TRACKER_LIMITS.missed_once_steps * step_s * 1e9) & walking,
            place_mm=pose[:, :2],
            crowded=pushed,
        )
