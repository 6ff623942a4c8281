"""From frames to scenes: what runs live and what runs over recordings is this, and comes out bit for bit the same.

    frame -> health, keeper of the calibration -> detector -> measure, teams -> tracker -> solid -> refine
          -> hands, power, contacts, ball -> Scene

Nothing here reads a clock or draws at random; everything comes from the frames, in the order of their times.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.online.calibrator import OnlineCalibrator
from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.frame import Detection, Frame
from downfield.core.roster import Roster, RosterSpot
from downfield.core.scene import Player, Power, Scene
from downfield.models.detector import Detector
from downfield.vision.ball import BallTracker
from downfield.vision.board.health import PictureHealth, PictureHealthMonitor
from downfield.vision.board.power import PowerDetector
from downfield.vision.contacts.tracker import ContactTracker
from downfield.vision.detection_schedule import DetectionSchedule
from downfield.vision.frame_rate import DetectionRate
from downfield.vision.occlusion.hands import HandTracker
from downfield.vision.occlusion.intrusion import IntrusionDetector
from downfield.vision.refinement.refine import refine
from downfield.vision.scene_builder import deciding, figure_of
from downfield.vision.tracking.estimate import Estimate
from downfield.vision.tracking.falls import Fall
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.measurement import Measurements, measure
from downfield.vision.tracking.overlap import apart
from downfield.vision.tracking.team_learning import TeamLearner
from downfield.vision.tracking.teams import TeamColors, sample_colors
from downfield.vision.tracking.tracker import Tracker

NO_LINE_UP: Final = "nobody is known yet: stand all figures still, hands away"
"""What makes scenes unfit until everybody has been found."""

FORMATIONS: Final = 6
"""Line-ups that are remembered: those of offense and defense, and a few others."""

SLOW_COMPUTER: Final = "this computer is slow: figures are looked at more rarely, and contacts timed less exactly"
"""Warned of while that is so."""


class Vision:
    """Sees scenes in the frames of one camera.

    Args:
        calibration: of the camera.
        detector: sees figures, ball and hands in pictures.
        roster: who stands on the board; None takes and numbers whoever is there.
        continuous: whether frames follow each other in time; else every picture is processed on its own.
        rate: how often the detector looks; without memory it always does. None for the usual one.

    """

    def __init__(
        self,
        calibration: Calibration,
        detector: Detector,
        roster: Roster | None = None,
        *,
        continuous: bool = True,
        rate: DetectionRate | None = None,
    ) -> None:
        self._calibration, self._continuous = calibration, continuous
        self._roster = roster
        # Solved again in its turn, not beside the frames: what comes out must not depend on how long that takes.
        self._keeper = OnlineCalibrator(calibration, in_background=False)
        self._middle_px: Array | None = None
        self._formations: deque[tuple[RosterSpot, ...]] = deque(maxlen=FORMATIONS)
        self._search: LineUpSearch | None = LineUpSearch(calibration.field, roster)
        self._tracker: Tracker | None = None
        self._teams = TeamLearner()
        self._followers = _Followers()
        self._health_watch = PictureHealthMonitor()
        self._intrusions = IntrusionDetector(calibration.field)
        self._health: PictureHealth | None = None
        self._estimates: tuple[Estimate, ...] = ()
        self._power: Power = "unknown"
        self._t_ns: int | None = None
        self._rate = rate or DetectionRate()
        self._schedule = DetectionSchedule(detector, self._rate, continuous=continuous)
        self._shared: tuple[tuple[tuple[float, ...], ...], Array] | None = None

    @property
    def players(self) -> tuple[Player, ...]:
        """Who is on the board; empty until everybody has been found."""
        return () if self._tracker is None else self._tracker.players

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """What is believed of every figure at the latest frame, in roster order."""
        return self._estimates

    @property
    def colors(self) -> TeamColors | None:
        """How the teams differ, as learned so far; None where that can't be told."""
        return self._teams.colors

    @property
    def falls(self) -> tuple[Fall, ...]:
        """Those that lie at the latest frame, with when they fell and which way."""
        return () if self._tracker is None else self._tracker.falls

    @property
    def health(self) -> PictureHealth | None:
        """The state of the pictures as of the latest frame; None before the first."""
        return self._health

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Say who is on the board from now on: each where he is believed to be; who is not seen is looked for.

        Saying it again of the same men takes away every doubt of who is who.
        """
        if players == (self.players if self._roster is None else self._roster.players):
            if self._tracker is None:
                return  # they are being looked for
            if self._tracker.confirm():
                self._formations.append(self._spots(players))
                return
        self._roster = Roster(players, self._spots(players))
        self._search = LineUpSearch(self._calibration.field, self._roster, self._formations)

    def _spots(self, players: Sequence[Player]) -> tuple[RosterSpot, ...]:
        """Where those of these men stand who are seen."""
        on_board = {player.id for player in players}
        scale = self._calibration.field.mm_per_yd
        return tuple(
            RosterSpot(one.id, one.footprint.x_mm / scale[0], one.footprint.y_mm / scale[1])
            for one in self._estimates
            if one.id in on_board and one.posture != "unseen"
        )

    def find_figures(self) -> None:
        """Forget who stands where, and find everybody anew."""
        if self._roster is not None:
            self._roster = replace(self._roster, spots=())
        self._search = LineUpSearch(self._calibration.field, self._roster, self._formations)
        self._tracker, self._teams, self._estimates = None, TeamLearner(), ()

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...] | None:
        """What the detector finds in the next frame; may run in another thread than `update`.

        Args:
            frame: the frame.
            waiting: how many frames have come since.

        Returns:
            None where it comes so soon after the last that it isn't looked at.

        """
        return self._schedule.detect(frame, waiting)

    def process(self, frame: Frame, carrier: str | None = None) -> Scene:
        """Detect figures in the next frame and return its scene.

        Args:
            frame: the frame.
            carrier: as of `update`.

        Raises:
            InputError: as `update`.

        """
        return self.update(frame, partial(self.detect, frame), carrier)

    def update(
        self, frame: Frame, detections: Callable[[], Sequence[Detection] | None], carrier: str | None = None
    ) -> Scene:
        """The scene of the next frame.

        Args:
            frame: the frame.
            detections: returns what `detect` found in it; called once everything that does not need it is done.
            carrier: roster id of the declared ball carrier; None if none is declared.

        Raises:
            InputError: its picture has another size than the calibration's, or it is not later than the one before.

        """
        self._check(frame)
        self._t_ns = frame.t_ns
        if not self._continuous:
            return self._see_alone(frame, detections() or (), carrier)
        slow = (SLOW_COMPUTER,) if self._rate.slow else ()
        self._health = self._health_watch.step(frame, self._estimates, slow)
        kept = self._keeper.update(frame.image, frame.t_ns)
        found = detections()
        if found is not None:
            # A picture that came twice shows nothing new, and would make everybody stand still.
            found = () if self._health.repeated else found
            camera = kept.calibration.camera
            hands = [one for one in found if one.kind == "hand"]
            reaches = self._intrusions.update(frame.image, camera, frame.t_ns, [one.box_px for one in hands])
            hands = [one for one in hands if self._intrusions.may_cover(one.box_px)]
            self._followers.hands.update(hands, camera, frame.t_ns, reaches)
        self._track(frame, found, kept.calibration, carrier)
        nobody = () if self._tracker is not None else (NO_LINE_UP,)
        return self._scene(frame, found, kept.calibration, (*self._health.unfit, *kept.problems, *nobody), carrier)

    def _check(self, frame: Frame) -> None:
        height, width = frame.image.shape[:2]
        if (width, height) != self._calibration.camera.lens.size_px:
            wide, high = self._calibration.camera.lens.size_px
            raise InputError(
                f"frame {frame.index} is {width}x{height} px but the calibration is of {wide}x{high} px: calibrate at"
                " the size that is filmed"
            )
        if self._continuous and self._t_ns is not None and frame.t_ns <= self._t_ns:
            raise InputError(f"frame {frame.index}: its time, {frame.t_ns} ns, is not after the one before")

    def _see_alone(self, frame: Frame, detections: Sequence[Detection], carrier: str | None) -> Scene:
        """A picture by itself."""
        search = LineUpSearch(self._calibration.field, self._roster)
        sightings = self._sightings(frame, detections, self._calibration, search.height_mm)
        found = search.at_once(sightings, frame.t_ns)
        if found is not None:
            self._tracker = Tracker(found, frame.t_ns)
            self._estimates = self._tracker.step(TeamLearner(found.colors).tell(sightings), frame.t_ns)
        self._refine(frame, self._calibration, carrier)
        self._followers = _Followers()
        self._followers.hands.update(detections, self._calibration.camera, frame.t_ns)
        self._power = "unknown"
        return self._scene(frame, detections, self._calibration, () if found else (NO_LINE_UP,), carrier)

    def _track(
        self, frame: Frame, detections: Sequence[Detection] | None, calibration: Calibration, carrier: str | None
    ) -> None:
        """Take the frame in: who is where now."""
        self._estimates = ()
        if detections is None:
            if self._tracker is not None:
                self._estimates = self._tracker.go_on(frame.t_ns, power=self._power)
                self._refine(frame, calibration, carrier, looked=False)
            return
        if self._tracker is not None:
            seen = self._teams.tell(self._sightings(frame, detections, calibration, self._tracker.height_mm))
            hands = self._followers.hands
            self._estimates = self._tracker.step(
                seen,
                frame.t_ns,
                power=self._power,
                fingertips_mm=hands.fingertips_mm,
                hands_mm=hands.outlines_mm,
            )
            self._teams.learn(seen, self._estimates, frame.t_ns)
        if self._power == "on" and self._roster is not None and self._roster.players == self.players:
            self._search = None  # they play on as they are believed to stand
        if self._search is not None:
            seen = self._sightings(frame, detections, calibration, self._search.height_mm)
            believed = None if self._roster is None or self._tracker is None else self._spots(self._roster.players)
            hidden = bool(self._followers.hands.outlines_mm)
            found = self._search.see(seen, frame.t_ns, believed=believed, hidden=hidden)
            if found is not None:
                self._tracker, self._teams, self._search = Tracker(found, frame.t_ns), TeamLearner(found.colors), None
                self._estimates = self._tracker.estimates()
                self._formations.append(self._spots(self.players))
        self._refine(frame, calibration, carrier)

    def _refine(self, frame: Frame, calibration: Calibration, carrier: str | None, *, looked: bool = True) -> None:
        """Have nobody overlap, and measure those on the edges of their bases whom a decision may hang on.

        While nobody has the ball nothing hangs on a single frame: then that is done where it was looked at.
        """
        self._estimates = apart(self._estimates)
        if not (looked or carrier):
            return
        rows = deciding(self._estimates, calibration.field, carrier)
        better = refine(frame.image, calibration.camera, [self._estimates[row] for row in rows])
        estimates = list(self._estimates)
        for row, one in zip(rows, better, strict=True):
            if one is not None:
                estimates[row] = estimates[row].at(one.footprint, one.covariance)
        self._estimates = tuple(estimates)

    @staticmethod
    def _sightings(
        frame: Frame, detections: Sequence[Detection], calibration: Calibration, height_mm: float
    ) -> Measurements:
        seen = measure(detections, calibration, height_mm)
        return replace(seen, colors=sample_colors(frame.image, seen, calibration.camera, height_mm))

    def _scene(
        self,
        frame: Frame,
        detections: Sequence[Detection] | None,
        calibration: Calibration,
        unfit: tuple[str, ...],
        carrier: str | None,
    ) -> Scene:
        estimates, camera, t_ns, follow = self._estimates, calibration.camera, frame.t_ns, self._followers
        field_model = calibration.field
        hands = follow.hands.assess(estimates, t_ns)
        unfit = (*unfit, *hands.unfit)
        middle_mm = np.array([[field_model.length_mm / 2, field_model.width_mm / 2]])
        if self._continuous and detections is not None:
            middle_px = camera.to_pixels(middle_mm)
            shake_px = None if self._middle_px is None else float(np.linalg.norm(middle_px - self._middle_px))
            self._power = follow.power.step(estimates, t_ns, shake_px=shake_px, hum=frame.hum).power
            self._middle_px = middle_px
        if self._shared is None or self._shared[0] is not calibration.covariance:
            # A shake hardly changes it: it is that of the calibration, until there is another.
            middle_px = camera.to_pixels(middle_mm)
            self._shared = calibration.covariance, calibration.to_board_with_cov(middle_px)[1][0]
        contacts = follow.contacts.step(estimates, t_ns, power=self._power, fit=not unfit, shared=self._shared[1])
        ball = follow.ball.step(detections, estimates, camera, t_ns, carrier=carrier, fit=not unfit)
        return Scene(
            frame=frame.index,
            t_ns=t_ns,
            board=self._power,
            figures=tuple(figure_of(one) for one in estimates),
            contacts=contacts,
            ball=ball,
            hands=hands.hands,
            unfit=unfit,
        )


@dataclass(slots=True)
class _Followers:
    """What follows the figures from frame to frame."""

    contacts: ContactTracker = field(default_factory=ContactTracker)
    ball: BallTracker = field(default_factory=BallTracker)
    power: PowerDetector = field(default_factory=PowerDetector)
    hands: HandTracker = field(default_factory=HandTracker)
