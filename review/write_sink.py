"""A file in memory for libraries that write one: what was written waits to be taken and sent on."""

from __future__ import annotations


class WriteSink:
    """A file that is only written, never sought.

    Args:
        start: the place in the whole file at which writing begins.

    Attributes:
        waiting: what was written and not taken yet.
        closed: never; what was written is taken by whoever made it.

    """

    closed = False

    def __init__(self, start: int = 0) -> None:
        self.waiting = bytearray()
        self._at = start

    def write(self, data: bytes, /) -> int:
        """Take bytes; return how many."""
        self.waiting += data
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        """Return the place in the whole file."""
        return self._at

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """Nothing is open."""

    def take(self) -> bytes:
        """Return what waits, and forget it."""
        taken = bytes(self.waiting)
        self.waiting.clear()
        return taken
