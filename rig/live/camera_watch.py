"""Watches a live camera for faults of lamps, exposure and frame rate, and says what to do about them.

It observes the loop, and spends some tenths of a millisecond on a frame and two milliseconds in a second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import numpy as np

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CapturedFrame, LoopObserver, SourceFacts
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.game.published.board_topics import HealthReason
from downfield.vision.board.lighting import (
    LIGHTING_LIMITS,
    Flicker,
    Mains,
    PictureLook,
    cell_levels,
    find_flicker,
    has_moved_exposure,
    look_changes,
    look_of,
    lowered_rate,
    median_look,
)

FLICKER, EXPOSURE, LOWERED_RATE = "lamps_flicker", "exposure_moves", "camera_rate_lowered"
CAMERA_CHANGED: Final = "camera_changed"

_EVERY_NS: Final = 500_000_000  # Time between two judgments
_LASTING: Final = 3  # Judgments in a row that must find flicker or a lowered rate: light settles after a change
REPORT_NS: Final = 20_000_000_000  # A fault is reported for this long after it was last found
_RETURNED_NS: Final = 800_000_000  # After a longer gap the camera was opened again
_COMPARED_NS: Final = 1_000_000_000  # Pictures of this time before and after a gap are compared

_EXPOSURES: Final[dict[Mains, str]] = {50: "100 or 200", 60: "83 or 167"}
"""Exposures over which a lamp's flicker is even, 0.1 ms: whole periods of twice the mains frequency."""


class CameraWatch(LoopObserver):
    """Watches the frames of a live camera."""

    def __init__(self, facts: Callable[[], SourceFacts], problems: ActiveProblems) -> None:
        self._facts, self._problems = facts, problems
        self._arrivals: deque[tuple[int, int]] = deque()
        self._levels: deque[tuple[int, np.ndarray]] = deque()
        self._looks: deque[tuple[int, PictureLook]] = deque()
        self._before: PictureLook | None = None
        self._returned_ns = 0
        self._usual_fps = 0.0
        self._judged_arrivals_ns = self._judged_ns = 0
        self._in_a_row: dict[str, int] = {}
        self._found_ns: dict[str, int] = {}

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Measure the rate at which the camera sends."""
        self._arrivals.append((frame.index, frame.t_ns))
        window_ns = LIGHTING_LIMITS.rate_window_s * 1e9
        while frame.t_ns - self._arrivals[0][1] > window_ns:
            self._arrivals.popleft()
        if frame.t_ns - self._judged_arrivals_ns >= _EVERY_NS:
            self._judged_arrivals_ns = frame.t_ns
            self._judge_rate(frame.t_ns)

    def scene_ready(self, frame: Frame, _: Scene) -> None:
        """Measure the light in a picture, and judge it with those before."""
        t_ns = frame.t_ns
        if self._levels and not 0 < t_ns - self._levels[-1][0] < _RETURNED_NS:
            self._begin_anew(t_ns)
        self._levels.append((t_ns, cell_levels(frame.image)))
        while t_ns - self._levels[0][0] > LIGHTING_LIMITS.flicker_window_s * 1e9:
            self._levels.popleft()
        if t_ns - self._judged_ns >= _EVERY_NS or t_ns < self._judged_ns:
            self._judged_ns = t_ns
            self._looks.append((t_ns, look_of(frame.image)))
            while t_ns - self._looks[0][0] > _COMPARED_NS:
                self._looks.popleft()
            self._judge_light(t_ns)

    def _begin_anew(self, t_ns: int) -> None:
        """Judge nothing across a gap; keep how the pictures looked before it."""
        if self._looks and self._before is None:
            self._before = median_look([look for _, look in self._looks])
        self._returned_ns = t_ns
        self._levels.clear()
        self._looks.clear()
        self._in_a_row.clear()

    def _judge_rate(self, t_ns: int) -> None:
        numbers, times_ns = zip(*self._arrivals, strict=True)
        if len(times_ns) < 4 or numbers[-1] - numbers[0] != len(numbers) - 1:
            return  # frames are missing, which health reports
        times_s = (np.array(times_ns) - times_ns[0]) / 1e9
        facts = self._facts()
        if facts.is_plugged_in and facts.fps:
            self._usual_fps = max(self._usual_fps, facts.fps)
        is_full = times_s[-1] > 0.75 * LIGHTING_LIMITS.rate_window_s
        lowered = lowered_rate(times_s, self._usual_fps) if is_full else None
        if lowered is None and is_full:
            self._usual_fps = max(self._usual_fps, float(1 / np.median(np.diff(times_s))))
        text = f"The camera sends {lowered or 0:.0f} frames/s in place of {self._usual_fps:.0f}"
        dark = "Add light, or set a shorter exposure in [source]"
        remedy = dark if facts.is_plugged_in else "Add light; see that it is not hot and its network is fast"
        self._report(LOWERED_RATE, lowered is not None, t_ns, text, remedy)

    def _judge_light(self, t_ns: int) -> None:
        times_s = (np.array([at for at, _ in self._levels]) - self._levels[0][0]) / 1e9
        levels = np.array([row for _, row in self._levels])
        flicker = (
            find_flicker(times_s, levels[:, -1]) if times_s[-1] > 0.75 * LIGHTING_LIMITS.flicker_window_s else None
        )
        self._report(FLICKER, flicker is not None, t_ns, *_flicker_texts(flicker))
        recent = times_s >= times_s[-1] - LIGHTING_LIMITS.exposure_window_s
        moved = has_moved_exposure(times_s[recent], levels[recent, :-1])
        text = "The camera changes its exposure by itself when something comes into view"
        remedy = "Hold it: exposure in [source], or manual exposure in the camera's own settings"
        self._report(EXPOSURE, moved, t_ns, text, remedy, lasting=1)
        changes = self._changes(t_ns)
        text = f"The camera came back with a picture that is {' and '.join(changes)} than before"
        remedy = "Set exposure, focus and white balance as they were, or calibrate again; was a lamp switched?"
        self._report(CAMERA_CHANGED, bool(changes), t_ns, text, remedy, lasting=1)

    def _changes(self, t_ns: int) -> tuple[str, ...]:
        """Return how the pictures look different from before the last gap."""
        since_ns = t_ns - self._returned_ns
        if self._before is None or since_ns < _COMPARED_NS:
            return ()
        changes = look_changes(self._before, median_look([look for _, look in self._looks]))
        if not changes or since_ns > REPORT_NS:
            self._before = None
        return changes

    def _report(self, code: str, found: bool, t_ns: int, text: str, remedy: str, lasting: int = _LASTING) -> None:
        """Report what was found often enough; end it once it has not been found for long."""
        row = self._in_a_row[code] = self._in_a_row.get(code, 0) + 1 if found else 0
        if row >= lasting:
            self._found_ns[code] = t_ns
            self._problems.report(HealthReason(code=code, level="warning", text=text, remedy=remedy))
        elif code in self._found_ns and not 0 <= t_ns - self._found_ns[code] < REPORT_NS:
            del self._found_ns[code]
            self._problems.resolve(code)


def _flicker_texts(flicker: Flicker | None) -> tuple[str, str]:
    if flicker is None:
        return "", ""
    mains = " or ".join(f"{hertz} Hz" for hertz in flicker.mains_hz)
    exposures = "; ".join(f"{_EXPOSURES[hertz]} for {hertz} Hz" for hertz in flicker.mains_hz)
    text = f"The lamps flicker with the mains of {mains}: the picture is lighter and darker by {flicker.amplitude:.0%}"
    return text, f"Set exposure in [source] to whole periods of it ({exposures}), or use lamps that do not flicker"
