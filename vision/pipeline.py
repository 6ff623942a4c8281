"""Turns frames into scenes, bit for bit the same live and from a recording.

    frame -> picture health, online calibration -> detector -> measurements, teams -> tracker -> refinement
          -> hands, board power, contacts, ball -> scene

Nothing here reads a clock or draws random numbers; everything follows from the frames, in the order of their times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.calibration.online.calibrator import OnlineCalibrator
from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.frame import TIME_UNKNOWN_NS, Detection, Frame
from downfield.core.scene import Jersey, Player, Power, Scene
from downfield.core.track_files import Roster, RosterSpot
from downfield.models.detector import Detector
from downfield.vision.ball_tracker import BallTracker
from downfield.vision.board.picture_changes import PictureChanges
from downfield.vision.board.picture_health import PictureHealth, PictureHealthMonitor
from downfield.vision.board.power import PowerDetector
from downfield.vision.contacts.contact_tracker import ContactTracker
from downfield.vision.detection_schedule import DetectionRate, DetectionSchedule
from downfield.vision.hands import HandTracker, IntrusionDetector
from downfield.vision.line_ups import LineUps
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.measuring.falls import Fall
from downfield.vision.measuring.measurement import Measurements, measure
from downfield.vision.refinement import find_decisive, refine_outlines, separate_overlaps
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.teams import TeamClassifier, TeamColors, sample_colors
from downfield.vision.tracking.tracker import Tracker

NO_LINE_UP: Final = "Waiting for the line-up: stand all figures still and keep hands away"
"""Why scenes are unfit until every figure has been found."""

_LINE_UP_LATE_NS: Final = 600_000_000  # figures that stand are found in half of it
_LOST_SOON_NS: Final = 2_000_000_000  # who is lost within this time after a fault of the picture is lost by it

SLOW_COMPUTER: Final = "This computer is slow: the detector runs less often, and contacts are timed less exactly"
"""Warning while the detector runs less often than requested."""


class Vision:
    """Turns the frames of one camera into scenes.

    Args:
        detector: finds figures, ball and hands in images.
        roster: the players on the board; None to number every figure found.
        continuous: whether frames follow each other in time; if not, every image is processed on its own.
        rate: how often the detector runs if frames are continuous; None for the default rate.
        colors: of the teams, as learned on this table before; None if they never were.
        keep_colors: takes them at each line-up in which it is known who is who.
    """

    def __init__(
        self,
        calibration: Calibration,
        detector: Detector,
        roster: Roster | None = None,
        *,
        continuous: bool = True,
        rate: DetectionRate | None = None,
        colors: TeamColors | None = None,
        keep_colors: Callable[[TeamColors], None] | None = None,
    ) -> None:
        self._calibration, self._continuous = calibration, continuous
        self._line_ups, self._keep_colors = LineUps(calibration.field, roster, colors), keep_colors
        # Solved between frames, not in the background, so that the result does not depend on the time it takes.
        self._calibrator = OnlineCalibrator(calibration, in_background=False)
        self._center_px: Array | None = None
        self._tracker: Tracker | None = None
        self._teams = TeamClassifier()
        self._trackers = _SceneTrackers()
        changes = PictureChanges()
        self._health_monitor = PictureHealthMonitor(changes, _outline_px(calibration))
        self._intrusions = IntrusionDetector(calibration.field)
        self._health: PictureHealth | None = None
        self._estimates: tuple[Estimate, ...] = ()
        self._power: Power = "unknown"
        self._t_ns: int | None = None
        self._searched_ns: int | None = None  # when the search without a line-up began
        self._fault: tuple[int, tuple[str, ...]] = (0, ())  # of the picture: when it was last, and its reasons
        self._rate = rate or DetectionRate()
        self._schedule = DetectionSchedule(detector, self._rate, continuous=continuous, changes=changes)
        self._shared_error: tuple[tuple[tuple[float, ...], ...], Array] | None = None

    @property
    def players(self) -> tuple[Player, ...]:
        """The players on the board; empty until every figure has been found."""
        return () if self._tracker is None else self._tracker.players

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates of all figures at the latest frame, in roster order."""
        return self._estimates

    @property
    def colors(self) -> TeamColors | None:
        """The colors of the teams, as learned so far; None if the teams can't be distinguished."""
        return self._line_ups.colors if self._teams.colors is None else self._teams.colors

    @property
    def falls(self) -> tuple[Fall, ...]:
        """The fallen figures at the latest frame, with the time and direction of their falls."""
        return () if self._tracker is None else self._tracker.falls

    @property
    def health(self) -> PictureHealth | None:
        """The state of the pictures at the latest frame; None before the first."""
        return self._health

    @property
    def camera(self) -> Camera | None:
        """The camera where it was in the latest frame, as far as its shake was followed."""
        return self._calibrator.camera if self._continuous else self._calibration.camera

    def line_up(self, players: tuple[Player, ...], left: Jersey | None = None) -> None:
        """Set the players on the board: tracked figures keep their places, and unseen figures are searched for.

        Setting the same players again confirms the identity of every figure, unless a scene `asks` about it.

        Args:
            left: the team that the rules have on the left, toward smaller x; None where they don't say.
        """
        self._line_ups.declare(players, left, self._tracker, self._estimates, self.colors)

    def identify(self, left: Jersey | None, spots: Sequence[RosterSpot] = ()) -> None:
        """Take a person's word for who is who; it answers what a scene `asks`. See `LineUps.identify`."""
        self._line_ups.identify(left, spots, self._tracker, self._estimates, self.colors)

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Take a person's word for where a figure faces, about; None takes it back. See `Tracker.settle_front`."""
        if self._tracker is not None:
            self._tracker.settle_front(player, heading_deg)

    def find_figures(self) -> None:
        """Drop all tracks and search for every figure again; where more stand than were numbered, number all."""
        more = self._tracker is not None and self._tracker.more_figures > 0
        self._line_ups.forget_places(self.colors, renumber=more)
        self._tracker, self._teams, self._estimates, self._searched_ns = None, TeamClassifier(), (), None

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...] | None:
        """Run the detector on the next frame; may run in another thread than `update`.

        Args:
            waiting: number of newer frames that already wait.

        Returns:
            None when the detection rate skips the frame.
        """
        return self._schedule.detect(frame, waiting)

    def process(self, frame: Frame, carrier: str | None = None) -> Scene:
        """Run the detector on the next frame and return its scene. Raises InputError: as `update`."""
        return self.update(frame, partial(self.detect, frame), carrier)

    def update(
        self, frame: Frame, detections: Callable[[], Sequence[Detection] | None], carrier: str | None = None
    ) -> Scene:
        """Return the scene of the next frame.

        Args:
            detections: returns the result of `detect`; called after all work that does not need it.
            carrier: roster id of the declared ball carrier; None if none is declared.

        Raises:
            InputError: its picture has another size than the calibration's, or it is not later than the one before.
        """
        self._check(frame)
        self._t_ns = frame.t_ns
        if not self._continuous:
            return self._process_alone(frame, detections() or (), carrier)
        warnings = (*((SLOW_COMPUTER,) if self._rate.slow else ()), *self._line_ups.warnings(self._estimates, carrier))
        health = self._health_monitor.step(frame, self._estimates, warnings)
        self._health = replace(health, more_figures=0 if self._tracker is None else self._tracker.more_figures)
        online = self._calibrator.update(frame.image, frame.t_ns)
        found = detections()
        # Without new information, or a time, it would make figures seem to stand still, or to leap.
        is_news = not self._health.repeated and frame.t_sigma_ns < TIME_UNKNOWN_NS
        if not is_news:
            found = None
        if found is not None:
            self._update_hands(frame, found, online.calibration)
        self._track(frame, found, online.calibration)
        # Without a ball carrier, no call depends on a single frame, so skipped frames are not refined.
        if found is not None or (carrier and is_news):
            self._refine(frame, online.calibration, carrier)
        else:
            self._estimates = separate_overlaps(self._estimates)
        faults = (*self._health.unfit, *online.problems)
        unfit = (*faults, *self._who_is_who(frame.t_ns, self._health, faults))
        return self._build_scene(frame, found, online.calibration, unfit, carrier)

    def _who_is_who(self, t_ns: int, health: PictureHealth, faults: tuple[str, ...]) -> tuple[str, ...]:
        """Return why scenes are unfit because it is not known who is who, and what of the picture made it so."""
        if self._tracker is not None:
            doubts = self._line_ups.unfit(self._estimates)
            lost = bool(doubts) and not self._line_ups.asks
            if faults or (not lost and t_ns - self._fault[0] > _LOST_SOON_NS):
                self._fault = (t_ns, faults)
            return (*(self._fault[1] if lost and not faults else ()), *doubts)
        self._searched_ns = t_ns if self._searched_ns is None else self._searched_ns
        late = t_ns - self._searched_ns > _LINE_UP_LATE_NS
        return (*(health.poor if late else ()), NO_LINE_UP)

    def _check(self, frame: Frame) -> None:
        if frame.image.dtype != np.uint8 or frame.image.ndim != 3 or frame.image.shape[2] != 3:
            kind = f"{frame.image.dtype} of shape {frame.image.shape}"
            raise InputError(f"frame {frame.index} is {kind}: give 8-bit BGR, shape (height, width, 3)")
        height, width = frame.image.shape[:2]
        wide, high = self._calibration.camera.lens.size_px
        if (width, height) != (wide, high):
            raise InputError(
                f"frame {frame.index} is {width}x{height} px, but the calibration is for {wide}x{high} px: set the"
                " camera to that size, or calibrate again"
            )
        if self._continuous and self._t_ns is not None and frame.t_ns <= self._t_ns:
            raise InputError(f"frame {frame.index}: its time, {frame.t_ns} ns, is not later than the last frame's")

    def _process_alone(self, frame: Frame, detections: Sequence[Detection], carrier: str | None) -> Scene:
        search = LineUpSearch(self._calibration.field, self._line_ups.roster)
        measurements = self._measure(frame, detections, self._calibration, search.height_mm)
        found = search.from_single_frame(measurements, frame.t_ns)
        if found is not None:
            self._tracker = Tracker(found, frame.t_ns)
            self._estimates = self._tracker.update(TeamClassifier(found.colors).classify(measurements), frame.t_ns)
        self._refine(frame, self._calibration, carrier)
        self._trackers = _SceneTrackers()
        self._trackers.hands.update(detections, self._calibration.camera, frame.t_ns)
        self._power = "unknown"
        return self._build_scene(frame, detections, self._calibration, () if found else (NO_LINE_UP,), carrier)

    def _update_hands(self, frame: Frame, detections: Sequence[Detection], calibration: Calibration) -> None:
        camera = calibration.camera
        hands = [detection for detection in detections if detection.kind == "hand"]
        reaches = self._intrusions.update(frame.image, camera, frame.t_ns, [hand.box_px for hand in hands])
        hands = [hand for hand in hands if self._intrusions.may_cover(hand.box_px)]
        self._trackers.hands.update(hands, camera, frame.t_ns, reaches)

    def _track(self, frame: Frame, detections: Sequence[Detection] | None, calibration: Calibration) -> None:
        self._estimates = ()
        if detections is None:
            if self._tracker is not None:
                self._estimates = self._tracker.predict(frame.t_ns, power=self._power)
            return
        if self._tracker is not None:
            measurements = self._measure(frame, detections, calibration, self._tracker.height_mm)
            measurements = self._teams.classify(measurements)
            hands = self._trackers.hands
            self._estimates = self._tracker.update(
                measurements,
                frame.t_ns,
                power=self._power,
                fingertips_mm=hands.fingertips_mm,
                hands_mm=hands.outlines_mm,
                touching=self._trackers.contacts.touching,
            )
            if not self._line_ups.asks:
                self._teams.update(measurements, self._estimates, frame.t_ns)
        if self._power == "on":
            self._line_ups.begin_play(self.players)
        if self._line_ups.search is not None:
            self._search_line_up(self._line_ups.search, frame, detections, calibration)

    def _search_line_up(
        self, search: LineUpSearch, frame: Frame, detections: Sequence[Detection], calibration: Calibration
    ) -> None:
        measurements = self._measure(frame, detections, calibration, search.height_mm)
        hidden, is_tracking = bool(self._trackers.hands.outlines_mm), self._tracker is not None
        found = self._line_ups.find(measurements, frame.t_ns, self._estimates, is_tracking=is_tracking, hidden=hidden)
        if found is not None:
            self._tracker = Tracker(found, found.stood_ns)
            self._teams = TeamClassifier(self.colors if found.asks else found.colors)
            self._estimates = self._tracker.estimates()
            self._line_ups.begin(found, self._estimates)
            for measured, t_ns in found.since:
                self._estimates = self._tracker.update(self._teams.classify(measured), t_ns)
            if self._keep_colors is not None and found.colors is not None and not found.asks:
                self._keep_colors(found.colors)

    def _refine(self, frame: Frame, calibration: Calibration, carrier: str | None) -> None:
        """Separate overlapping bases, and measure the decisive ones (see `find_decisive`) on their edges."""
        estimates = list(separate_overlaps(self._estimates))
        rows = find_decisive(estimates, calibration.field, carrier)
        refined = refine_outlines(frame.image, calibration.camera, [estimates[row] for row in rows])
        for row, outline in zip(rows, refined, strict=True):
            if outline is not None:
                estimates[row] = estimates[row].with_pose(outline.footprint, outline.covariance)
        self._estimates = tuple(estimates)

    @staticmethod
    def _measure(
        frame: Frame, detections: Sequence[Detection], calibration: Calibration, height_mm: float
    ) -> Measurements:
        measurements = measure(detections, calibration, height_mm)
        colors = sample_colors(frame.image, measurements, calibration.camera, height_mm)
        return replace(measurements, colors=colors)

    def _build_scene(
        self,
        frame: Frame,
        detections: Sequence[Detection] | None,
        calibration: Calibration,
        unfit: tuple[str, ...],
        carrier: str | None,
    ) -> Scene:
        estimates, camera, t_ns, trackers = self._estimates, calibration.camera, frame.t_ns, self._trackers
        hands = trackers.hands.assess(estimates, t_ns)
        unfit = (*unfit, *hands.unfit)
        t_sigma_ns = frame.t_sigma_ns if self._health is None else self._health.t_sigma_ns
        # Who was not measured, as in a picture of unknown time, was predicted for the time that is given.
        place_s = t_sigma_ns / 1e9 if t_sigma_ns < TIME_UNKNOWN_NS else 0.0
        center_mm = np.array([[calibration.field.length_mm / 2, calibration.field.width_mm / 2]])
        if self._continuous and detections is not None:
            center_px = camera.to_pixels(center_mm)
            shake_px = None if self._center_px is None else float(np.linalg.norm(center_px - self._center_px))
            self._power = trackers.power.step(estimates, t_ns, shake_px=shake_px, hum=frame.hum).power
            self._center_px = center_px
        if self._shared_error is None or self._shared_error[0] is not calibration.covariance:
            # A shake of the camera hardly changes it, so it is computed once per calibration.
            error = calibration.to_board_with_cov(camera.to_pixels(center_mm))[1][0]
            self._shared_error = calibration.covariance, error
        shared = self._shared_error[1]
        power, fit = self._power, not unfit
        contacts = trackers.contacts.step(estimates, t_ns, power=power, fit=fit, shared=shared, t_sigma_ns=t_sigma_ns)
        ball = trackers.ball.step(detections, estimates, camera, t_ns, carrier=carrier, fit=fit)
        return Scene(
            frame=frame.index,
            t_ns=t_ns,
            board=power,
            figures=tuple(estimate.to_figure(place_s) for estimate in estimates),
            contacts=contacts,
            ball=ball,
            hands=hands.hands,
            unfit=unfit,
            asks=self._line_ups.asks,
        )


def _outline_px(calibration: Calibration) -> Array:
    """Return the corners of the field with its end zones in the picture, shape (4, 2)."""
    zone, length, width = (calibration.field.end_zone_mm, calibration.field.length_mm, calibration.field.width_mm)
    corners = [(-zone, 0.0), (length + zone, 0.0), (length + zone, width), (-zone, width)]
    return calibration.camera.to_pixels(np.array(corners))


@dataclass(slots=True)
class _SceneTrackers:
    """The trackers of everything besides the figures."""

    contacts: ContactTracker = field(default_factory=ContactTracker)
    ball: BallTracker = field(default_factory=BallTracker)
    power: PowerDetector = field(default_factory=PowerDetector)
    hands: HandTracker = field(default_factory=HandTracker)
