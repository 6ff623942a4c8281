"""The time stamps of cameras and streams, believed only while they agree with the arrival of the pictures.

Cameras send stamps that are always zero, that repeat within a burst, jump back, run at another rate or change
their epoch when a network clock is found. Each of these is noticed, and the arrival counts instead until the stamps
have agreed with it for a while.
"""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Final


@dataclass(frozen=True, slots=True)
class SourceClockLimits:
    """Thresholds of believing time stamps."""

    # A time stamp this near to a clock's present time is of that clock; other clocks usually differ by days
    same_clock_ns: int = 10_000_000_000
    # Growth of the offset to a camera's clock, to follow a slow clock: ten times the drift of a bad crystal
    drift_rate: float = 1e-4
    # A picture that took this much longer than the fastest one has a wrong stamp: the source is reopened by then
    longest_delay_ns: int = 1_000_000_000
    window: int = 32  # Pictures over which stamps and arrivals are compared
    # Difference in rate, over the window, from which the stamps count time wrongly; the network's jitter is less
    wrong_rate: float = 0.1
    least_span_ns: int = 400_000_000  # Least time that the window must cover to compare rates
    # Stamps whose steps vary this much more than those of the arrivals were not made when the pictures were
    irregularity: float = 2.0
    jitter_ns: int = 8_000_000  # Variation of steps that is not held against stamps: half a frame at 60 frames/s
    strikes: int = 3  # Wrong stamps within the window after which stamps are not believed
    probation: int = 150  # Pictures with right stamps after which they are believed again: a few seconds


_LIMITS: Final = SourceClockLimits()


class SourceClock:
    """Converts the time stamps of a camera or stream to this computer's monotonic clock.

    A V4L2 driver uses one of this computer's clocks, which is recognized. The offset of any other clock is taken from
    the packets with the shortest delay, and followed as it drifts.

    Args:
        is_trusted: whether stamps are always believed, however unevenly pictures arrive: a sender's RTP times.
    """

    def __init__(self, *, is_trusted: bool = False) -> None:
        self._is_trusted = is_trusted
        self.believed = True  # whether the stamps agree with the arrivals
        self._offset_ns: float | None = None
        self._arrived_ns = 0
        self._pairs: deque[tuple[int, int]] = deque(maxlen=_LIMITS.window)
        self._strikes: deque[bool] = deque(maxlen=_LIMITS.window)
        self._delays_ns: deque[int] = deque(maxlen=_LIMITS.window)
        self._right_since = 0

    def to_monotonic(self, stamp_ns: int, arrived_ns: int) -> int:
        """Return the time of a picture on the monotonic clock, never after its arrival on that."""
        right = self._steps_forward(stamp_ns)
        self._pairs.append((stamp_ns, arrived_ns))
        if self._is_trusted and self._has_other_epoch():
            self._offset_ns = None
        converted_ns = self._convert(stamp_ns, arrived_ns)
        if self._is_trusted:
            return converted_ns
        right = right and arrived_ns - converted_ns <= _LIMITS.longest_delay_ns + self._usual_delay_ns
        self._judge(right=right and self._keeps_time() and self._is_regular())
        if self.believed and right:
            self._delays_ns.append(arrived_ns - converted_ns)
            return converted_ns
        return arrived_ns - self._usual_delay_ns

    @property
    def _usual_delay_ns(self) -> int:
        """The usual delay of a picture with a right stamp; 0 before the first."""
        return round(statistics.median(self._delays_ns)) if self._delays_ns else 0

    def _has_other_epoch(self) -> bool:
        """Return whether even the fastest of the latest pictures came too late: the sender's clock was set back."""
        if self._offset_ns is None or len(self._pairs) < _LIMITS.window:
            return False
        fastest_ns = min(arrived_ns - stamp_ns for stamp_ns, arrived_ns in self._pairs)
        return fastest_ns - self._offset_ns > _LIMITS.longest_delay_ns

    def _steps_forward(self, stamp_ns: int) -> bool:
        """Return whether a stamp is later than the last one; after a jump back the offset is found anew."""
        if not self._pairs or stamp_ns > self._pairs[-1][0]:
            return True
        if stamp_ns < self._pairs[-1][0]:
            self._offset_ns = None
            self._pairs.clear()
        return False

    def _convert(self, stamp_ns: int, arrived_ns: int) -> int:
        if 0 <= arrived_ns - stamp_ns < _LIMITS.same_clock_ns and self._offset_ns is None:
            return stamp_ns
        offset = arrived_ns - stamp_ns
        if self._offset_ns is not None and offset - self._offset_ns < _LIMITS.same_clock_ns:
            drifted = self._offset_ns + _LIMITS.drift_rate * (arrived_ns - self._arrived_ns)
            offset = min(offset, round(drifted))
        self._offset_ns, self._arrived_ns = offset, arrived_ns
        return stamp_ns + offset

    def _keeps_time(self) -> bool:
        """Return whether stamps advance as fast as arrivals, by the fastest pictures of each half of the window."""
        if len(self._pairs) < _LIMITS.window:
            return True
        pairs = list(self._pairs)
        half = _LIMITS.window // 2
        first, second = (min(part, key=lambda pair: pair[1] - pair[0]) for part in (pairs[:half], pairs[half:]))
        arrived_ns, stamped_ns = second[1] - first[1], second[0] - first[0]
        if max(arrived_ns, stamped_ns) < _LIMITS.least_span_ns:
            return True
        return abs(stamped_ns - arrived_ns) <= _LIMITS.wrong_rate * max(arrived_ns, stamped_ns) + _LIMITS.jitter_ns

    def _is_regular(self) -> bool:
        """Return whether the steps of the stamps vary at most little more than those of the arrivals."""
        if len(self._pairs) < _LIMITS.window // 2:
            return True
        pairs = list(self._pairs)
        stamped, arrived = (
            statistics.pstdev([after[part] - before[part] for before, after in pairwise(pairs)]) for part in (0, 1)
        )
        return stamped <= _LIMITS.irregularity * arrived + _LIMITS.jitter_ns

    def _judge(self, *, right: bool) -> None:
        self._strikes.append(not right)
        self._right_since = self._right_since + 1 if right else 0
        if self.believed and sum(self._strikes) >= _LIMITS.strikes:
            self.believed = False
        elif not self.believed and self._right_since >= _LIMITS.probation:
            self.believed = True
            self._strikes.clear()
