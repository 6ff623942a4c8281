"""From frames to scenes: what runs live and what runs over recordings is this, and comes out bit for bit the same.

    frame -> camera watch -> detector -> measure -> teams -> tracker -> contacts -> Scene

Nothing here reads a clock or draws at random; everything comes from the frames, in the order of their times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.errors import InputError
from downfield.models.detection import Detection
from downfield.models.detector import Detector
from downfield.vision.camera_watch import CameraWatch
from downfield.vision.contacts import ContactTracker
from downfield.vision.estimate import Estimate
from downfield.vision.frame import Frame
from downfield.vision.line_up import LineUp, LineUpSearch
from downfield.vision.roster import Roster, Spot
from downfield.vision.scene import Figure, Player, Power, Scene
from downfield.vision.teams import look_at_colours
from downfield.vision.track import Tracker
from downfield.vision.track_hands import fingertips_mm
from downfield.vision.track_measure import Sightings, measure

NO_LINE_UP: Final = "nobody is known yet: stand all figures still, hands away"
"""What makes scenes unfit until everybody has been found."""

_DIGITS: Final = 4  # of millimetres and degrees: a tenth of a micrometre


class Vision:
    """Sees scenes in the frames of one camera.

    Args:
        calibration: of the camera.
        detector: sees figures, ball and hands in pictures.
        roster: who stands on the board; None takes and numbers whoever is there.
        memory: whether frames follow each other in time; else every picture is seen by itself, its figures named anew.

    """

    def __init__(
        self, calibration: Calibration, detector: Detector, roster: Roster | None = None, *, memory: bool = True
    ) -> None:
        self._calibration, self._detector, self._memory = calibration, detector, memory
        self._roster = roster
        self._camera = CameraWatch(calibration)
        self._search: LineUpSearch | None = LineUpSearch(calibration.field, roster)
        self._tracker: Tracker | None = None
        self._line_up: LineUp | None = None
        self._contacts = ContactTracker()
        self._estimates: tuple[Estimate, ...] = ()
        self._power: Power = "unknown"
        self._t_ns: int | None = None

    @property
    def players(self) -> tuple[Player, ...]:
        """Who is on the board; empty until everybody has been found."""
        return () if self._tracker is None else self._tracker.players

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """What is believed of every figure at the latest frame, in roster order."""
        return self._estimates

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Say who is on the board from now on; who stays is known where he stands, others are looked for."""
        known = {one.id: one for one in self._estimates if one.sure and one.posture != "unseen"}
        scale = self._calibration.field.mm_per_yd
        spots = tuple(
            Spot(player.id, known[player.id].footprint.x_mm / scale[0], known[player.id].footprint.y_mm / scale[1])
            for player in players
            if player.id in known
        )
        self._roster = Roster(players, spots)
        self._search = LineUpSearch(self._calibration.field, self._roster)

    def find_figures(self) -> None:
        """Forget who stands where, and find everybody anew."""
        if self._roster is not None:
            self._roster = replace(self._roster, spots=())
        self._search = LineUpSearch(self._calibration.field, self._roster)
        self._tracker, self._line_up, self._estimates = None, None, ()

    def see(self, frame: Frame) -> Scene:
        """The scene of the next frame.

        Raises:
            InputError: its picture has another size than the calibration's, or it is not later than the one before.

        """
        self._check(frame)
        if not self._memory:
            return self._see_alone(frame)
        calibration, unfit = self._camera.see(frame)
        detections = self._detector.detect(frame.image)
        self._estimates = self._track(frame, detections, calibration)
        if self._tracker is None:
            unfit = (*unfit, NO_LINE_UP)
        return self._scene(frame, calibration, unfit)

    def _check(self, frame: Frame) -> None:
        height, width = frame.image.shape[:2]
        if (width, height) != self._calibration.camera.lens.size_px:
            wide, high = self._calibration.camera.lens.size_px
            raise InputError(
                f"frame {frame.index} is {width}x{height} px but the calibration is of {wide}x{high} px: calibrate at"
                " the size that is filmed"
            )
        if self._memory and self._t_ns is not None and frame.t_ns <= self._t_ns:
            raise InputError(f"frame {frame.index}: its time, {frame.t_ns} ns, is not after the one before")
        self._t_ns = frame.t_ns

    def _see_alone(self, frame: Frame) -> Scene:
        """A picture by itself."""
        detections = self._detector.detect(frame.image)
        search = LineUpSearch(self._calibration.field, self._roster)
        sightings = self._sightings(frame, detections, self._calibration, search.height_mm)
        found = search.at_once(sightings, frame.t_ns)
        self._contacts = ContactTracker()
        unfit: tuple[str, ...] = (NO_LINE_UP,)
        self._estimates = ()
        if found is not None:
            self._tracker, unfit = Tracker(found, frame.t_ns), ()
            self._estimates = self._tracker.step(_with_teams(sightings, found), frame.t_ns)
        return self._scene(frame, self._calibration, unfit)

    def _track(self, frame: Frame, detections: Sequence[Detection], calibration: Calibration) -> tuple[Estimate, ...]:
        estimates: tuple[Estimate, ...] = ()
        if self._tracker is not None:
            seen = self._sightings(frame, detections, calibration, self._tracker.height_mm)
            estimates = self._tracker.step(
                _with_teams(seen, self._line_up),
                frame.t_ns,
                power=self._power,
                fingertips_mm=fingertips_mm(detections, calibration.camera),
            )
        if self._search is not None:
            seen = self._sightings(frame, detections, calibration, self._search.height_mm)
            found = self._search.see(seen, frame.t_ns)
            if found is not None:
                self._tracker, self._line_up, self._search = Tracker(found, frame.t_ns), found, None
                estimates = self._tracker.estimates()
        return estimates

    @staticmethod
    def _sightings(
        frame: Frame, detections: Sequence[Detection], calibration: Calibration, height_mm: float
    ) -> Sightings:
        seen = measure(detections, calibration, height_mm)
        return replace(seen, colours=look_at_colours(frame.image, seen, calibration.camera, height_mm))

    def _scene(self, frame: Frame, calibration: Calibration, unfit: tuple[str, ...]) -> Scene:
        field = calibration.field
        middle_px = calibration.camera.to_pixels(np.array([[field.length_mm / 2, field.width_mm / 2]]))
        _, shared = calibration.to_board_with_cov(middle_px)
        contacts = self._contacts.step(self._estimates, frame.t_ns, power=self._power, fit=not unfit, shared=shared[0])
        return Scene(
            frame=frame.index,
            t_ns=frame.t_ns,
            board=self._power,
            figures=tuple(figure_of(one) for one in self._estimates),
            contacts=contacts,
            unfit=unfit,
        )


def figure_of(estimate: Estimate) -> Figure:
    """A figure as scenes have it."""
    at, sigma = estimate.footprint, np.sqrt(np.diagonal(estimate.covariance))
    helmet = estimate.helmet_mm
    return Figure(
        id=estimate.id,
        jersey=estimate.jersey,
        x_mm=_rounded(at.x_mm),
        y_mm=_rounded(at.y_mm),
        heading_deg=_rounded(at.heading_deg),
        length_mm=_rounded(at.size.length_mm),
        width_mm=_rounded(at.size.width_mm),
        corner_mm=_rounded(at.size.corner_mm),
        posture=estimate.posture,
        sigma_mm=(_rounded(sigma[0]), _rounded(sigma[1])),
        sigma_deg=_rounded(np.degrees(sigma[2])),
        visible=_rounded(estimate.visible),
        helmet_mm=None if helmet is None else (_rounded(helmet[0]), _rounded(helmet[1])),
        sure=estimate.sure,
    )


def _with_teams(sightings: Sightings, line_up: LineUp | None) -> Sightings:
    if line_up is None or line_up.colours is None:
        return sightings
    return replace(sightings, light=sightings.light + line_up.colours.light_odds(sightings.colours))


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS)
