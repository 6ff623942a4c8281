"""How often pictures for viewers are drawn: less often while frames come late, since calls come first."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PictureRateLimits:
    """When pictures are drawn less often, and for how long."""

    first_late_s: float = 10.0
    """Duration of the half rate once frames were late."""

    longest_late_s: float = 160.0
    """It is twice as long every time frames are late again soon after the full rate was tried, up to this."""

    overload_s: float = 2.0
    """Duration of the lowest rate after the last sign of overload."""


PICTURE_RATE_LIMITS: Final = PictureRateLimits()


class PictureRate:
    """The rate of one kind of pictures, by how the computer keeps up with the frames.

    Args:
        full_fps: rate while it does; half of it while frames come late.
        overloaded_fps: rate while frames are dropped or detections are too rare.
        late: whether frames come late.
        overloaded: whether the computer is too slow for its work.
    """

    def __init__(
        self, full_fps: float, overloaded_fps: float, late: Callable[[], bool], overloaded: Callable[[], bool]
    ) -> None:
        self._full_fps, self._overloaded_fps = full_fps, overloaded_fps
        self._late, self._overloaded = late, overloaded
        self._last_index: int | None = None
        self._overloaded_until = self._late_until = -math.inf
        self._late_s = PICTURE_RATE_LIMITS.first_late_s

    def pause(self) -> None:
        """Forget the last frame: the next one is not compared with it."""
        self._last_index = None

    def fps(self, index: int, now_s: float) -> float:
        """Return the rate from a frame on.

        Args:
            index: of the frame in the source; a gap means dropped frames.
            now_s: on a clock that never goes back.
        """
        dropped = self._last_index is not None and index > self._last_index + 1
        self._last_index = index
        if dropped or self._overloaded():
            self._overloaded_until = now_s + PICTURE_RATE_LIMITS.overload_s
        if now_s >= self._late_until and self._late():
            again = now_s < self._late_until + self._late_s
            self._late_s = (
                min(2 * self._late_s, PICTURE_RATE_LIMITS.longest_late_s) if again else PICTURE_RATE_LIMITS.first_late_s
            )
            self._late_until = now_s + self._late_s
        if now_s < self._overloaded_until:
            return self._overloaded_fps
        return self._full_fps / 2 if now_s < self._late_until else self._full_fps
