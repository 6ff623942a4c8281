"""The rig's pulse: how many frames, how many lost, and how long from capture to publication."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Final

_WINDOW_NS: Final = 1_000_000_000
_MOST: Final = 1000  # remembered of one window; no camera sends more a second


@dataclass(frozen=True, slots=True)
class FrameStatistics:
    """The pulse at one moment.

    Attributes:
        frames: judged since the start.
        fps: over the last second; None before the first.
        latency_ms, latency_p99_ms: from capture to publication over the last second; None when none was judged.

    """

    frames: int
    fps: float | None
    latency_ms: float | None
    latency_p99_ms: float | None


class FrameMeter:
    """Counts published frames; callable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: deque[tuple[int, int]] = deque(maxlen=_MOST)
        self._began_ns: int | None = None
        self._frames = 0

    def published(self, captured_ns: int) -> None:
        """What was seen in a frame is published.

        Args:
            captured_ns: when the frame was captured, monotonic clock.

        """
        now_ns = time.monotonic_ns()
        with self._lock:
            self._began_ns = self._began_ns or now_ns
            self._frames += 1
            self._recent.append((now_ns, now_ns - captured_ns))

    def beat(self) -> FrameStatistics:
        """The pulse now."""
        now_ns = time.monotonic_ns()
        with self._lock:
            recent = sorted(took for at, took in self._recent if at > now_ns - _WINDOW_NS)
            frames, began_ns = self._frames, self._began_ns
        if began_ns is None:
            return FrameStatistics(0, None, None, None)
        over_s = min(_WINDOW_NS, max(now_ns - began_ns, 1)) / 1e9
        middle, late = (recent[int(share * (len(recent) - 1))] / 1e6 if recent else None for share in (0.5, 0.99))
        return FrameStatistics(frames, len(recent) / over_s, middle, late)
