"""Schedules the detector: on whole frames from time to time, and on known figures as often as the computer can.

Frames in between are skipped: figures keep their motion, and those on which a call may depend are measured on the edges
of their bases. On a computer too slow for the requested rates the detector runs less often and no frame is dropped:
down to a sufficient rate silently, and below it with a warning.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from downfield.core.frame import TIME_UNKNOWN_NS, Detection, Frame
from downfield.core.platform.processes import lower_priority
from downfield.models.detector import Detector, TrackingDetector
from downfield.models.suppression import merge_refined
from downfield.vision.board.picture_changes import PictureChanges

DetectorRun = Literal["full_frame", "figures"]
"""A run of the detector on the whole frame, or on the figures already known."""

BACKGROUND: Final = ThreadPoolExecutor(1, thread_name_prefix="find", initializer=lower_priority)
"""Runs the detector on full frames, one at a time, while later frames are processed."""


@dataclass(frozen=True, slots=True)
class ScheduleLimits:
    """Rates of the detector, and how they adapt to the computer."""

    # Time between full-frame runs: a new hand or a lost figure is detected a moment later
    full_frame_every_ns: int = 83_000_000
    # Time between searches for the ball in full-frame runs; a known ball is tracked like the figures
    ball_every_ns: int = 300_000_000
    # Time between figure runs while the computer has time to spare: contacts are timed more exactly
    figures_every_ns: int = 16_000_000
    # Time between figure runs where time is short: at a higher rate the network adds little information
    sufficient_figures_every_ns: int = 33_000_000
    early_ns: int = 4_000_000  # A frame may be this much early for a full-frame run
    # A frame may be early by this share of the interval for a figure run: every one at 40 frames/s, half at 50
    early_share: float = 0.28
    max_full_frame_share: float = 0.2  # Share of the time that full-frame runs may take
    max_total_share: float = 0.9  # Share of the time that all runs together may take
    # Share of the time for figure runs beyond the sufficient rate, since frames wait for them
    max_spare_share: float = 0.35
    both_ns: int = 25_000_000  # Both runs are done on one frame if together they take no longer than this
    max_delay_ns: int = 50_000_000  # A full-frame run is put off for at most this long while a figure run is due
    catch_up_ns: int = 80_000_000  # A late frame gets a figure run only if that is this much overdue
    late_frames: int = 2  # A frame is late when this many newer ones wait
    many_frames: int = 4  # When this many newer frames wait, some will soon be dropped, so the interval grows
    interval_growth: float = 1.1  # Factor by which the interval grows per frame while many frames wait
    interval_decay: float = 0.99  # Factor by which the interval shrinks per frame otherwise
    max_interval_factor: float = 3.0  # Largest factor of the interval
    relieved_factor: float = 1.1  # Factor of the interval below which the warning ends
    timed_runs: int = 8  # Runs whose median duration counts; the first few of a cold network take longer
    # The computer is slow if full-frame runs are this many times rarer than requested
    slow_full_frame_factor: float = 8.0
    slow_figures_factor: float = 1.5  # The computer is slow if figure runs are this many times rarer than sufficient


_LIMITS: Final = ScheduleLimits()
_LONG_AGO_NS: Final = -(1 << 62)  # before every picture: times may be negative

_SLOW_FACTOR: Final[dict[DetectorRun, float]] = {
    "full_frame": _LIMITS.slow_full_frame_factor,
    "figures": _LIMITS.slow_figures_factor,
}
_MAX_SHARE: Final[dict[DetectorRun, float]] = {
    "full_frame": _LIMITS.max_full_frame_share,
    "figures": _LIMITS.max_total_share,
}


class DetectionRate:
    """Decides which frames the detector runs on.

    Args:
        full_frame_every_ns: time between full-frame runs; 0 for every frame.
        figures_every_ns: time between figure runs; 0 for every frame.
        clock: returns the time in ns, so that runs become rarer when they take too long; None to keep the requested
            rates, so that the result for a recording does not depend on the computer.
    """

    def __init__(
        self,
        full_frame_every_ns: int = _LIMITS.full_frame_every_ns,
        figures_every_ns: int = _LIMITS.figures_every_ns,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._requested_ns: dict[DetectorRun, int] = {"full_frame": full_frame_every_ns, "figures": figures_every_ns}
        self._clock = clock
        self._next_ns: dict[DetectorRun, int] = {"full_frame": _LONG_AGO_NS, "figures": _LONG_AGO_NS}
        self._latest_ns = {run: deque[int](maxlen=_LIMITS.timed_runs) for run in self._requested_ns}
        self._duration_ns: dict[DetectorRun, float] = {"full_frame": 0.0, "figures": 0.0}
        self._t_ns, self._busy_ns = _LONG_AGO_NS, 0
        self._interval_factor, self._pressed = 1.0, False

    @property
    def summary(self) -> str:
        """The rates at which the detector has time to run, as a phrase for people."""
        rates = (round(1e9 / max(self._interval_ns(run), 1)) for run in ("figures", "full_frame"))
        figures, full_frame = ("once" if rate == 1 else f"{rate} times" for rate in rates)
        return f"runs {figures} per second on figures and {full_frame} on the full frame"

    @property
    def slow(self) -> bool:
        """Whether the detector runs so much less often than requested that a warning is due."""
        return self._pressed or any(
            self._interval_ns(run) > factor * max(self._requested_ns[run], _LIMITS.sufficient_figures_every_ns)
            for run, factor in _SLOW_FACTOR.items()
        )

    def due(self, t_ns: int, waiting: int = 0) -> tuple[DetectorRun, ...]:
        """Return the runs due on a frame, in their order; call once per frame, in order of time.

        Args:
            waiting: number of newer frames that already wait. A late frame is skipped unless a run is long overdue,
                and when many wait, runs become rarer. Ignored without a clock, since a recording's frames may wait.
        """
        if self._clock is None:
            waiting = 0
        else:
            change = _LIMITS.interval_growth if waiting >= _LIMITS.many_frames else _LIMITS.interval_decay
            self._interval_factor = min(max(self._interval_factor * change, 1.0), _LIMITS.max_interval_factor)
            limit = _LIMITS.relieved_factor if self._pressed else _LIMITS.slow_figures_factor
            self._pressed = self._interval_factor > limit
        if t_ns < self._t_ns + self._busy_ns / _LIMITS.max_total_share or (
            waiting >= _LIMITS.late_frames and t_ns < self._next_ns["figures"] + _LIMITS.catch_up_ns
        ):
            return ()
        full_frame, figures = t_ns >= self._next_ns["full_frame"], t_ns >= self._next_ns["figures"]
        runs: tuple[DetectorRun, ...] = ("figures",) if figures else ()
        if sum(self._duration_ns.values()) <= _LIMITS.both_ns:
            runs = ("full_frame", *runs) if full_frame and figures else runs
        elif full_frame and (not figures or t_ns >= self._next_ns["full_frame"] + _LIMITS.max_delay_ns):
            runs = ("full_frame",)  # in the background
        if not runs:
            return ()
        self._t_ns, self._busy_ns = t_ns, 0
        if "full_frame" in runs:
            self._next_ns["full_frame"] = t_ns + self._interval_ns("full_frame") - _LIMITS.early_ns
        if "figures" in runs:
            every_ns = self._interval_factor * self._interval_ns("figures")
            self._next_ns["figures"] = t_ns + round((1 - _LIMITS.early_share) * every_ns)
        return runs

    @contextmanager
    def timed(self, run: DetectorRun, *, background: bool = False) -> Iterator[None]:
        """Measure the duration of a run. `background`: whether later frames are processed meanwhile."""
        if self._clock is None:
            yield
            return
        began_ns = self._clock()
        yield
        took_ns = self._clock() - began_ns
        self._latest_ns[run].append(took_ns)
        self._duration_ns[run] = statistics.median(self._latest_ns[run])
        if not background:
            self._busy_ns += took_ns

    def _interval_ns(self, run: DetectorRun) -> int:
        requested_ns, duration_ns = self._requested_ns[run], self._duration_ns[run]
        spare_ns = 0.0
        if run == "figures":
            spare_ns = min(duration_ns / _LIMITS.max_spare_share, _LIMITS.sufficient_figures_every_ns)
        return max(requested_ns, round(max(spare_ns, duration_ns / _MAX_SHARE[run])))


@dataclass(frozen=True, slots=True)
class _BackgroundRun:
    """The result of a full-frame run in the background."""

    earlier: tuple[Detection, ...]  # detections in that frame, or in a frame before
    found: tuple[Detection, ...]  # hands, and the ball if it was searched for
    views: tuple[Detection, ...]  # result of `TrackingDetector.refine_candidates`


class DetectionSchedule:
    """Runs a detector on frames at a rate; from one thread.

    Args:
        continuous: whether frames follow each other in time; if not, each is searched in full.
        changes: tells which frames show nothing new.
    """

    def __init__(
        self, detector: Detector, rate: DetectionRate, *, continuous: bool, changes: PictureChanges | None = None
    ) -> None:
        self._detector, self._rate, self._continuous = detector, rate, continuous
        self._changes = changes or PictureChanges()
        self._detections: tuple[Detection, ...] = ()
        self._background: Future[_BackgroundRun] | None = None
        self._ball_ns = 0  # time of the next search for the ball
        self._searched_ball = False  # whether the latest full-frame run searched for it

    def detect(self, frame: Frame, waiting: int) -> tuple[Detection, ...] | None:
        """Return the detections in the next frame; None if the detector skips it, as it does what shows nothing new.

        Args:
            waiting: number of newer frames that already wait.
        """
        tracking = self._detector if isinstance(self._detector, TrackingDetector) else None
        if not self._continuous:  # a still picture is searched in full
            with self._rate.timed("figures"):
                return tracking.detect_raw(frame.image) if tracking else self._detector.detect(frame.image)
        if self._changes.of(frame).repeated or frame.t_sigma_ns >= TIME_UNKNOWN_NS:
            return None
        runs = self._rate.due(frame.t_ns, waiting)
        if tracking is not None and runs == ("full_frame",) and self._background is None:
            self._background = BACKGROUND.submit(self._run_background, tracking, frame, self._detections)
        if "figures" not in runs:
            return None
        if tracking is None:
            with self._rate.timed("figures"):
                return self._detector.detect(frame.image)
        known = self._latest_detections()
        found = None
        if "full_frame" in runs or not known:
            found = BACKGROUND.submit(self._run_full_frame, tracking, frame).result()
        with self._rate.timed("figures"):
            self._detections = tracking.track(frame.image, known, found)
        return self._detections

    def _run_full_frame(self, detector: TrackingDetector, frame: Frame) -> tuple[Detection, ...]:
        with self._rate.timed("full_frame"):
            return self._find(detector, frame)

    def _run_background(
        self, detector: TrackingDetector, frame: Frame, earlier: tuple[Detection, ...]
    ) -> _BackgroundRun:
        with self._rate.timed("full_frame", background=True):
            found = self._find(detector, frame)
            views = detector.refine_candidates(frame.image, found, earlier)
        no_figures = tuple(detection for detection in found if not detection.corners_px)
        return _BackgroundRun(earlier, no_figures, views)

    def _find(self, detector: TrackingDetector, frame: Frame) -> tuple[Detection, ...]:
        """Return the candidates in a whole frame; one frame at a time, from either thread."""
        # Never twice in a row: a slow computer has few full-frame runs, and all of them would include the slow search.
        ball = frame.t_ns >= self._ball_ns and not self._searched_ball
        self._searched_ball = ball
        if ball:
            self._ball_ns = frame.t_ns + _LIMITS.ball_every_ns
        return detector.find_candidates(frame.image, ball=ball)

    def _latest_detections(self) -> tuple[Detection, ...]:
        """Return the last detections, merged with the result of the background run since."""
        if self._background is None or not self._background.done():
            return self._detections
        finished, self._background = self._background, None
        background = finished.result()
        # Not every run searches for the ball.
        new_ball = any(found.kind == "ball" for found in background.found)
        kept = [one for one in self._detections if one.corners_px or (one.kind == "ball" and not new_ball)]
        return merge_refined([*kept, *background.found], background.earlier, background.views)
