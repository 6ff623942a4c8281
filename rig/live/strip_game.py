"""A card game's strip: the vision stage that reads it instead of figures, and how its readings meet the game.

Each reading is compared once the game has judged its frame. A strip lies loose on the table: it is pushed by the hands
that set it. When the print no longer is where it was, or something has been lying still over it, it is calibrated again
from the picture, in the background of a live camera.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.jacobians import LENS
from downfield.calibration.lens.prior import MeasuredLens
from downfield.calibration.online.shake import ShakeTracker
from downfield.capture.problems import ActiveProblems
from downfield.capture.source import LoopObserver, NoticeLevel
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.core.strip import StripSet, load_strip
from downfield.game.published.hub import Hub
from downfield.game.published.stream_topics import StripView
from downfield.game.service import GameService
from downfield.game.strip.strip_follower import StripFollower
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.connections import FigurelessVision
from downfield.vision.board.picture_health import PictureHealthMonitor
from downfield.vision.strip.strip_calibration import CalibratedStrip, calibrate_strip
from downfield.vision.strip.strip_reader import StripReader, StripReading

_READ_EVERY_NS: Final = 90_000_000  # Time between two readings: people set a strip in seconds
_MOVED_PX: Final = 1.0  # A print displaced further is calibrated again: a tenth of a yard at the recommended size
_LEAST_SHARE: Final = 0.4  # Of the print's corners: with fewer it is not judged whether it moved
# What covers the print, or has displaced it, for so long without moving is examined,
_COVERED_NS: Final = 4_000_000_000
_RETRY_NS: Final = 10_000_000_000  # and again after so long

MOVED: Final = "the strip was moved and is being calibrated again"
COVERED: Final = "something lies over the strip, or it was moved out of the picture: clear it"


class StripReadings:
    """Readings on their way from the vision stage to the game, by frame; the oldest are dropped."""

    def __init__(self) -> None:
        self._readings: deque[tuple[int, StripReading]] = deque(maxlen=256)

    def put(self, frame: int, reading: StripReading) -> None:
        """Add the reading of a frame."""
        self._readings.append((frame, reading))

    def pop(self, frame: int) -> StripReading | None:
        """Return the reading of a frame, and drop those before it; None if the frame was not read."""
        while self._readings and self._readings[0][0] <= frame:
            index, reading = self._readings.popleft()
            if index == frame:
                return reading
        return None


class StripVision(FigurelessVision):
    """Reads the strip in the frames of one camera; a live one is calibrated beside the frames, others wait for it."""

    def __init__(self, strip: StripSet, calibration: Calibration, readings: StripReadings, *, live: bool) -> None:
        self._described, self._readings = strip, readings
        self._printed = CalibratedStrip(strip.printed_as(calibration.field), calibration)
        self.camera = self._printed.camera
        self._monitor = PictureHealthMonitor()
        self._pool = ThreadPoolExecutor(1, "strip calibration") if live else None
        self._solving: tuple[Image, Future[CalibratedStrip]] | None = None
        self._reader: StripReader | None = None
        self._tracker: ShakeTracker | None = None
        self._read_ns: int | None = None
        self._tried_ns = 0
        self._displaced = False
        self._covered_since_ns: int | None = None
        self._problem: tuple[str, ...] = ()

    def update(self, frame: Frame, *_: object) -> Scene:
        """Read the strip; return an empty scene of a board at rest. Raises InputError: the picture has another size."""
        self._check_size(frame)
        self.health = self._monitor.step(frame)
        if self._read_ns is None or not 0 <= frame.t_ns - self._read_ns < _READ_EVERY_NS:
            self._read_ns = frame.t_ns
            reading = self._current_reader(frame.image).read(frame.image, frame.t_ns)
            self._watch(frame, reading)
            if not self.health.unfit and not self._displaced:
                self._readings.put(frame.index, reading)
        # "off" and not "unknown": the game then keeps no scenes of a board on which nothing runs.
        return Scene(frame.index, frame.t_ns, "off", (), unfit=(*self.health.unfit, *self._problem))

    def find_figures(self) -> None:
        """Look at the strip afresh, as it lies now."""
        self._reader = None

    def _check_size(self, frame: Frame) -> None:
        height, width = frame.image.shape[:2]
        wide, high = self._printed.camera.lens.size_px
        if (width, height) != (wide, high):
            raise InputError(
                f"frame {frame.index} is {width}x{height} px, but the calibration is for {wide}x{high} px: set the"
                " camera to that size, or calibrate again"
            )

    def _current_reader(self, image: Image) -> StripReader:
        if self._solving is not None and self._solving[1].done():
            solved_for, result = self._solving
            self._solving = None
            try:
                self._printed = result.result()
            except CalibrationError:
                self._problem = (COVERED,)
            else:
                self._problem = ()
                self._look_at(solved_for)
        return self._reader or self._look_at(image)

    def _look_at(self, image: Image) -> StripReader:
        """Begin with a picture in which nothing covers the strip."""
        self._displaced = False
        self.camera = self._printed.camera
        self._reader = StripReader(self._printed.strip, self.camera, image)
        self._covered_since_ns = None
        try:
            self._tracker = ShakeTracker(image, self.camera, self._printed.strip.field)
        except CalibrationError:  # too little print to follow; what covers it is seen all the same
            self._tracker = None
        return self._reader

    def _watch(self, frame: Frame, reading: StripReading) -> None:
        """Calibrate again when the print was displaced, or has been covered for long without a movement."""
        if not reading.covered:
            self._covered_since_ns = None
        elif self._covered_since_ns is None:
            self._covered_since_ns = frame.t_ns
        t_ns = frame.t_ns
        if reading.settled:
            self._displaced = self._is_displaced(frame.image)
            self._problem = (MOVED,) if self._displaced else ()
        long_covered = self._covered_since_ns is not None and t_ns - self._covered_since_ns >= _COVERED_NS
        if self._solving is not None or (self._tried_ns and t_ns - self._tried_ns < _RETRY_NS):
            return
        if long_covered or self._displaced:
            self._tried_ns = t_ns
            self._solve(frame.image.copy())  # the camera's buffer may be used again

    def _is_displaced(self, image: Image) -> bool:
        """Return whether the print is not where the camera was calibrated by it: its yards would be read wrong."""
        if self._tracker is None:
            return False
        shake = self._tracker.track(image)
        return shake.share >= _LEAST_SHARE and shake.largest_px > _MOVED_PX

    def _solve(self, image: Image) -> None:
        before = self._printed.calibration
        known = np.array(before.covariance)[LENS, LENS] if before.covariance else np.zeros((9, 9))
        prior = MeasuredLens.of(before.camera.lens, known)
        work = partial(calibrate_strip, [image], self._described, prior=prior)
        if self._pool is not None:
            self._solving = (image, self._pool.submit(work))
            return
        result: Future[CalibratedStrip] = Future()
        try:
            result.set_result(work())
        except CalibrationError as error:
            result.set_exception(error)
        self._solving = (image, result)


class StripTopic:
    """Publishes the topic `strip`; each new question, and once each dial under a reflection, is a notice as well."""

    def __init__(self, hub: Hub, notify: Callable[[NoticeLevel, str], None]) -> None:
        self._hub, self._notify = hub, notify
        self._asked = ""
        self._hidden: set[str] = set()

    def publish(self, view: StripView) -> None:
        """Publish the topic's value."""
        self._hub.publish("strip", view)
        if view.question is not None and view.question.id != self._asked:
            self._asked = view.question.id
            self._notify("warning", f"{view.question.text} Answer on the panel.")
        for text in view.hidden:
            if text not in self._hidden:
                self._hidden.add(text)
                self._notify("warning", text)


class StripGame(LoopObserver):
    """Passes readings of the open table to the follower in the judging thread, after the declarations before them."""

    def __init__(self, follower: StripFollower, readings: Callable[[], StripReadings | None]) -> None:
        self.follower, self._readings = follower, readings

    def entry_judged(self, entry: Scene | Event, _calls: tuple[Call, ...], /) -> None:
        """Follow the strip by the reading of a judged frame."""
        readings = self._readings()
        if isinstance(entry, Scene) and readings is not None:
            reading = readings.pop(entry.frame)
            if reading is not None:
                self.follower.follow(reading)


def follow_strip(
    settings: RigSettings,
    game: GameService,
    hub: Hub,
    problems: ActiveProblems,
    readings: Callable[[], StripReadings | None],
) -> StripGame | None:
    """Return what follows the configured strip; None over a table."""
    if not settings.calibration.strip:
        return None
    declares = settings.game.strip_moves == "declare"
    follower = StripFollower(
        load_strip(settings.calibration.strip), game, StripTopic(hub, problems.notify).publish, declares=declares
    )
    return StripGame(follower, readings)
