"""Makes a film quickly while somebody waits for its next picture, and otherwise with the time that frames leave.

A thread without rights may lower its priority, but never raise it again. So there are two threads, and each part of the
film is made by the one or the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from downfield.broadcast.replay.fragments import encode_fragments
from downfield.core.platform.priorities import lower_thread_priority
from downfield.review.pictures.clips import TimedImage

LEAD_NS: Final = 600_000_000
"""A film is shown once so much of it is made, and nobody waits while it stays so far ahead of what is seen."""

LATER_NICENESS: Final = 14
"""Added to the process's own niceness, that is, for the thread that is in no hurry."""


class PacedFilms:
    """Makes films, one at a time.

    Args:
        now_ns: a clock that never goes back.

    """

    def __init__(self, now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._now_ns = now_ns
        self._soon = ThreadPoolExecutor(1, "awaited film")
        self._later = ThreadPoolExecutor(1, "film", lower_thread_priority, (LATER_NICENESS,))
        self._made_ns = 0
        self._shown_from_ns: int | None = None

    def film(self, images: Iterator[TimedImage]) -> Iterator[bytes]:
        """Yield a film in parts as its pictures come; see `encode_fragments`."""
        self._made_ns, self._shown_from_ns = 0, None
        parts = encode_fragments(self._noted(images))
        while True:
            thread = self._soon if self.is_awaited() else self._later
            part = thread.submit(partial(next, parts, None)).result()
            if part is None:
                return
            yield part

    def is_awaited(self) -> bool:
        """Return whether somebody waits for the next picture, or soon will."""
        if self._shown_from_ns is None and self._made_ns >= LEAD_NS:
            self._shown_from_ns = self._now_ns()
        shown_ns = 0 if self._shown_from_ns is None else self._now_ns() - self._shown_from_ns
        return self._made_ns - shown_ns < LEAD_NS

    def _noted(self, images: Iterable[TimedImage]) -> Iterator[TimedImage]:
        for image in images:
            self._made_ns = image[0]
            yield image
