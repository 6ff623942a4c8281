"""A replay's clip while it is made: one thread adds its parts, any number read them from the beginning."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Final

from downfield.core.errors import BusyError, DownfieldError

STALLED_S: Final = 20.0
"""A reader that waits longer for the next part gives up: the computer has no time for replays."""


class ReplayClip:
    """A clip that grows until it is complete. Callable from any thread.

    Attributes:
        name: of the file; empty until it has begun.
    """

    def __init__(self) -> None:
        self.name = ""
        self._parts: list[bytes] = []
        self._complete = False
        self._error: DownfieldError | None = None
        self._changed = threading.Condition()

    def begin(self, name: str) -> None:
        """Name the file."""
        self.name = name

    def add(self, part: bytes) -> None:
        """Add the next part."""
        with self._changed:
            self._parts.append(part)
            self._changed.notify_all()

    def end(self, error: DownfieldError | None = None) -> None:
        """Complete it; with an error, its readers learn why there is no more."""
        with self._changed:
            self._complete, self._error = True, error
            self._changed.notify_all()

    @property
    def failed(self) -> bool:
        """Whether it could not be made."""
        return self._error is not None

    @property
    def content(self) -> bytes:
        """What there is of it so far."""
        with self._changed:
            return b"".join(self._parts)

    def wait_until_begun(self) -> None:
        """Wait for the first part.

        Raises:
            DownfieldError: it can't be made.
            BusyError: nothing came in time.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._parts or self._complete, STALLED_S)
            if self._error is not None:
                raise self._error
            if not self._parts:
                raise BusyError("The replay is still being made. Try again in a few seconds.")

    def parts(self) -> Iterator[bytes]:
        """Yield it from the beginning; ends early where the rest can't be made."""
        place = 0
        while new := self._after(place):
            yield from new
            place += len(new)

    def _after(self, place: int) -> list[bytes]:
        """Wait for parts after some; empty when there are no more."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._parts) > place or self._complete, STALLED_S)
            return self._parts[place:]
