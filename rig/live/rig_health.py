"""The health of the rig: frame statistics and problems, reported once a second, and notices that are read once."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from downfield.calibration.calibration import Calibration
from downfield.calibration.online.calibrator import CAMERA_MOVED
from downfield.capture.problems import CAMERA_LOST, ActiveProblems
from downfield.capture.source import LoopObserver, NoticeLevel, SourceFacts
from downfield.capture.sources.phone_link import PHONE_LINK
from downfield.core.frame import Frame
from downfield.core.platform.clock import RUN_CLOCK, monotonic_ns
from downfield.core.scene import Power, Scene
from downfield.core.texts import counted
from downfield.core.threads import supervised_thread
from downfield.game.published.board_topics import HealthReason, HealthStatus, Level, RecordingStatus, UnfitFrames
from downfield.game.published.game_topics import Notice
from downfield.game.published.hub import Hub
from downfield.vision.board.picture_health import PictureHealth
from downfield.vision.hands import HAND_OVER_FIGURES
from downfield.vision.pipeline import NO_LINE_UP

_log = logging.getLogger(__name__)


class Notices:
    """Publishes notices, and passes them to observers; each first gets those given before there were any.

    `give` is called from any thread; `add_observer` only while the rig is being put together.
    """

    def __init__(self, hub: Hub) -> None:
        self.observers: list[LoopObserver] = []
        self._hub = hub
        self._early: list[tuple[NoticeLevel, str]] = []

    def give(self, level: NoticeLevel, text: str) -> None:
        """Publish a notice, and pass it on; an observer that fails keeps it from nobody else."""
        self._hub.publish("notice", Notice(level=level, text=text))
        if not self.observers:
            self._early.append((level, text))
        for observer in self.observers:
            try:
                observer.notice_given(level, text)
            except Exception:  # a notice that can't be shown is no failure of what it is about
                _log.exception("A notice could not be passed on")

    def add_observer(self, observer: LoopObserver) -> None:
        """Pass notices to an observer from now on, and those given before."""
        for level, text in self._early:
            observer.notice_given(level, text)
        self.observers.append(observer)


PICTURE: Final = "picture"  # Code of warnings about the pictures

SIZE_CHANGED: Final = "camera_size_changed"
TRACKING_FAILED: Final = "tracking_failed"
PICTURES_DAMAGED: Final = "pictures_damaged"
HEALTH_FAILED: Final = "health_failed"
LENGTHS_UNKNOWN: Final = "lengths_unknown"
CLOCK_SET: Final = "clock_set"
MORE_FIGURES: Final = "more_figures"
"""Code of figures on the board that are none of the line-up's; the panel offers to find all figures again."""


_WINDOW_NS: Final = 1_000_000_000  # Frame rate and latency are measured over the last second
_WINDOW_FRAMES: Final = 1000  # Largest number of frames remembered of that second; no camera sends more
_DAMAGE_NS: Final = 10_000_000_000
"""Damaged pictures are reported for this long, so that a camera that glitches now and then gives one warning."""

_UNFIT_NS: Final = 10_000_000_000  # Frames from which no calls could be made are shown for this long
LATE_MS: Final = 60.0  # Median latency beyond which frames come late: on a computer with room it is 35 to 40
_REPORT_EVERY_S: Final = 1.0  # Time between two reports while nothing changes


@dataclass(frozen=True, slots=True)
class FrameStatistics:
    """Frame rate and latency at one moment."""

    frames: int  # published since the start
    fps: float | None  # over the last second; None before the first frame
    # latency_ms, latency_p99_ms: from capture to publication over the last second; None when no frame was published
    latency_ms: float | None
    latency_p99_ms: float | None
    damaged: int = 0  # whose pictures could not be decoded, since the start
    damaged_lately: int = 0  # of these, those of the last ten seconds
    damaged_only: bool = False  # whether all pictures of the last second were damaged


class FrameMeter:
    """Measures frame rate and latency of published frames. Callable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: deque[tuple[int, int]] = deque(maxlen=_WINDOW_FRAMES)
        self._damaged_at_ns: deque[int] = deque(maxlen=_WINDOW_FRAMES)
        self._began_ns: int | None = None
        self._frames = self._damaged = 0

    def frame_damaged(self) -> None:
        """Count a frame whose picture can't be decoded."""
        with self._lock:
            self._damaged += 1
            self._damaged_at_ns.append(monotonic_ns())

    def frame_published(self, captured_ns: int) -> None:
        """Count a frame that is published now; its capture time is that of the monotonic clock."""
        now_ns = monotonic_ns()
        with self._lock:
            self._began_ns = self._began_ns or now_ns
            self._frames += 1
            self._recent.append((now_ns, now_ns - captured_ns))

    def statistics(self) -> FrameStatistics:
        """Return the statistics now."""
        now_ns = monotonic_ns()
        with self._lock:
            latencies = sorted(latency for at, latency in self._recent if at > now_ns - _WINDOW_NS)
            damaged_at_ns = [at for at in self._damaged_at_ns if at > now_ns - _DAMAGE_NS]
            frames, began_ns, damaged = self._frames, self._began_ns, self._damaged
        damaged_now = any(at > now_ns - _WINDOW_NS for at in damaged_at_ns)
        damage = (damaged, len(damaged_at_ns), damaged_now and not latencies)
        if began_ns is None:
            return FrameStatistics(0, None, None, None, *damage)
        window_s = min(_WINDOW_NS, max(now_ns - began_ns, 1)) / 1e9
        median, p99 = (latencies[int(q * (len(latencies) - 1))] / 1e6 if latencies else None for q in (0.5, 0.99))
        return FrameStatistics(frames, len(latencies) / window_s, median, p99, *damage)

    def is_late(self) -> bool:
        """Return whether frames came late in the last second."""
        latency_ms = self.statistics().latency_ms
        return latency_ms is not None and latency_ms > LATE_MS


_SETTING_UP: Final = frozenset({HAND_OVER_FIGURES, NO_LINE_UP})  # Why scenes are unfit while people set the figures up


class HealthReporter(LoopObserver):
    """Reports the rig's health once a second, and at once when it changes; observes the loop's scenes.

    Args:
        wake: set on a change, so that the next report is made at once.
        picture_health: returns the vision stage's health of the pictures; None without one.
    """

    def __init__(
        self,
        report: Callable[[HealthStatus], None],
        problems: ActiveProblems,
        meter: FrameMeter,
        wake: threading.Event,
        *,
        facts: Callable[[], SourceFacts],
        dropped: Callable[[], int],
        calibration: Callable[[], Calibration | None],
        recording: Callable[[], RecordingStatus] = RecordingStatus,
        picture_health: Callable[[], PictureHealth | None] = lambda: None,
    ) -> None:
        self._report, self._problems, self._meter, self._wake = report, problems, meter, wake
        self._facts, self._dropped, self._calibration = facts, dropped, calibration
        self._recording, self._picture_health = recording, picture_health
        self._board: Power = "unknown"
        self._unfit: tuple[str, ...] = ()
        self._unfit_frames: dict[tuple[str, int], tuple[int, UnfitFrames]] = {}  # by reason and first, with the time
        self._going = frozenset[str]()  # reasons of the latest frame
        self._closed = False
        self._thread = supervised_thread(
            self._run, "health", self._report_failure, restarts=True, closed=lambda: self._closed
        )

    def start(self) -> None:
        """Start reporting, also what is wrong with a phone that is the camera."""
        PHONE_LINK.follow(self._problems)
        self._thread.start()

    def close(self) -> None:
        """Stop reporting."""
        PHONE_LINK.follow(None)
        self._closed = True
        self._wake.set()
        self._thread.join()

    def scene_ready(self, _: Frame, scene: Scene) -> None:
        """Note whether the board is on, and whether calls can be made."""
        if scene.unfit != self._unfit:
            self._wake.set()
        self._count_unfit(scene)
        self._board, self._unfit = scene.board, scene.unfit

    def _count_unfit(self, scene: Scene) -> None:
        """Count the frames in a row from which no calls can be made, by reason."""
        if not scene.unfit and not self._unfit_frames:
            return
        shown = {
            key: (t_ns, frames)
            for key, (t_ns, frames) in self._unfit_frames.items()
            if 0 <= scene.t_ns - t_ns < _UNFIT_NS
        }
        for reason in map(_without_numbers, scene.unfit):
            known = [frames for _, frames in shown.values() if frames.reason == reason] if reason in self._going else []
            first, count = (known[-1].first, known[-1].count) if known else (scene.frame, 0)
            frames = UnfitFrames(reason=reason, first=first, last=scene.frame, count=count + 1)
            shown[reason, first] = (scene.t_ns, frames)
        self._going = frozenset(map(_without_numbers, scene.unfit))
        self._unfit_frames = shown  # replaced whole, as another thread reads it

    def health(self) -> HealthStatus:
        """Return the rig's health now."""
        PHONE_LINK.report()
        statistics, facts = self._meter.statistics(), self._facts()
        calibration = self._calibration()
        changed = tuple(_changed_size(facts, calibration))
        problems, unfit = self._problems.active(), self._unfit
        if changed:  # every picture fails by it; what the last fitting one showed is no longer so
            problems, unfit = tuple(problem for problem in problems if problem.code != TRACKING_FAILED), ()
        warnings = () if changed else self._picture_warnings()
        reasons = (
            *problems,
            *changed,
            *_damage(statistics),
            *warnings,
            *_unsized(calibration),
            *_clock_set(),
            *_sliding(facts, unfit),
        )
        quality = calibration.quality if calibration is not None else None
        lost = any(reason.code == CAMERA_LOST for reason in reasons)
        level: Level = "warning" if reasons or unfit else "ok"
        if any(reason.level == "alarm" for reason in reasons):
            level = "alarm"
        texts = [*(reason.text for reason in reasons), *unfit]
        return HealthStatus(
            level=level,
            text="; ".join(dict.fromkeys(texts)) or f"board {self._board}",
            reasons=reasons,
            calls="suspended" if lost or changed or unfit else "on",
            unfit=() if changed else tuple(frames for _, frames in self._unfit_frames.values()),
            setting_up=not lost and bool(unfit) and _SETTING_UP.issuperset(unfit),
            fps=_rounded(statistics.fps),
            latency_ms=_rounded(statistics.latency_ms),
            latency_p99_ms=_rounded(statistics.latency_p99_ms),
            frames=statistics.frames,
            dropped=self._dropped(),
            damaged=statistics.damaged,
            board=self._board,
            camera=facts.name,
            size=facts.size_px,
            calibration_rms_px=None if quality is None else quality.rms_px,
            calibration_rms_yd=None if quality is None else quality.rms_yd,
            recording=self._recording(),
        )

    def _picture_warnings(self) -> tuple[HealthReason, ...]:
        health = self._picture_health()
        if health is None:
            return ()
        reasons = tuple(HealthReason(code=PICTURE, level="warning", text=warning) for warning in health.warnings)
        return (*reasons, *_more_figures(health.more_figures))

    def _run(self) -> None:
        while not self._closed:
            self._wake.clear()
            self._report(self.health())
            self._problems.resolve(HEALTH_FAILED)
            self._wake.wait(_REPORT_EVERY_S)

    def _report_failure(self, cause: str) -> None:
        text = f"The rig's health could not be reported: {cause}"
        remedy = "It is tried again every second. Calls continue"
        self._problems.report(HealthReason(code=HEALTH_FAILED, level="alarm", text=text, remedy=remedy))


def _changed_size(facts: SourceFacts, calibration: Calibration | None) -> Iterator[HealthReason]:
    if facts.live and calibration is not None and calibration.camera.lens.size_px != facts.size_px:
        now, before = ("x".join(map(str, size_px)) for size_px in (facts.size_px, calibration.camera.lens.size_px))
        text = f"The camera sends {now} pixels, and is calibrated for {before}: no calls can be made"
        remedy = f"Calibrate again, which works at once; or set the camera to {before} and plug it in again"
        yield HealthReason(code=SIZE_CHANGED, level="alarm", text=text, remedy=remedy)


def _sliding(facts: SourceFacts, unfit: tuple[str, ...]) -> Iterator[HealthReason]:
    session = PHONE_LINK.session
    if session is not None and session.name == facts.name and any(CAMERA_MOVED in reason for reason in unfit):
        remedy = "Fasten the phone. If it hangs still, switch off stabilization in its camera settings"
        yield HealthReason(code="phone_slides", level="warning", text="The phone's picture slides", remedy=remedy)


def _unsized(calibration: Calibration | None) -> Iterator[HealthReason]:
    if calibration is not None and not calibration.lengths_known:
        text = "Lengths in mm are not known: calls that need them, such as one by a stick, wait for a person"
        remedy = "Measure the print from goal line to goal line, in Set up a table"
        yield HealthReason(code=LENGTHS_UNKNOWN, level="warning", text=text, remedy=remedy)


def _clock_set() -> Iterator[HealthReason]:
    """Yield that the clock was set while the rig runs: what is dated by the run and by the computer differs then."""
    behind_h = (RUN_CLOCK.now_ns() - time.time_ns()) / 3.6e12
    if abs(behind_h) >= 1.0:
        text = f"The computer's clock was set {'back' if behind_h > 0 else 'ahead'} by {abs(behind_h) / 24:.1f} days"
        remedy = "This run goes on by its own. See that the clock is right, and start the rig again between games"
        yield HealthReason(code=CLOCK_SET, level="warning", text=text, remedy=remedy)


def _more_figures(more: int) -> Iterator[HealthReason]:
    if more:
        stand = f"{counted(more, 'figure')} on the board {'is' if more == 1 else 'are'}"
        text = f"{stand} not in the line-up, and no call is made about {'it' if more == 1 else 'them'}"
        remedy = "Find all figures again, which takes all that stand; players that were named: add the others to them"
        yield HealthReason(code=MORE_FIGURES, level="warning", text=text, remedy=remedy)


def _damage(statistics: FrameStatistics) -> Iterator[HealthReason]:
    if statistics.damaged_lately:
        lately = f"of the last {_DAMAGE_NS / 1e9:.0f} s"
        pictures = counted(statistics.damaged_lately, "picture")
        text = f"Left out {pictures} {lately} that could not be decoded"
        remedy = "Plug the camera in directly, with a short cable; give a network camera a wire or a lower bit rate"
        level: Literal["warning", "alarm"] = "warning"
        if statistics.damaged_only:
            text, level = "No picture of the last second could be decoded", "alarm"
        yield HealthReason(code=PICTURES_DAMAGED, level=level, text=text, remedy=remedy)


def _without_numbers(reason: str) -> str:
    """Return a reason without the share or time in it, which change from frame to frame: ``"39 %"``, ``"0.4 s"``."""
    return re.sub(r"[0-9.]+ ?(%|s\b)", r"… \1", reason)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
