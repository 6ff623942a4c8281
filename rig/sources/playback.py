"""The pace of what was captured earlier: its own, or as fast as it goes."""

from __future__ import annotations

import threading
import time
from typing import Final

_CATCHES_UP_NS: Final = 100_000_000
"""Late by more, everything after is as late: nobody can judge a game that rushes on to make up for a halt."""


class PlaybackPacer:
    """Holds pictures back until they are due.

    Args:
        paced: whether to hold them back at all.

    """

    def __init__(self, *, paced: bool) -> None:
        self._paced = paced
        self._ended = threading.Event()
        self._ahead_ns: int | None = None

    def wait_for(self, t_ns: int) -> bool:
        """Wait until a picture is due; the first one is at once.

        Returns:
            False when it was ended meanwhile.

        """
        if self._paced:
            now = time.monotonic_ns()
            if self._ahead_ns is None or now - (self._ahead_ns + t_ns) > _CATCHES_UP_NS:
                self._ahead_ns = now - t_ns
            self._ended.wait(max(0, self._ahead_ns + t_ns - now) / 1e9)
        return not self._ended.is_set()

    def end(self) -> None:
        """Wait no longer, for nothing."""
        self._ended.set()
