"""SendTimeout with clients: one that takes nothing is let go, and waiting for it costs next to nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

STALLED_S: Final = 30.0
"""A client that takes nothing for this long is let go."""


class SendTimeout:
    """How long a client has been waited for: entered around each sending.

    It is looked at now and then. A timer for each message would cost a fifth of all that a message to one of two
    hundred clients costs.
    """

    def __init__(self) -> None:
        self._since: float | None = None

    @property
    def ended(self) -> bool:
        """Whether the client has stalled."""
        return self._since is not None and time.monotonic() - self._since > STALLED_S

    def __enter__(self) -> Self:
        """Begin to wait."""
        self._since = time.monotonic()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """The client has taken it."""
        self._since = None

    async def send(self, sending: Coroutine[None, None, None], leaving: Coroutine[None, None, None]) -> None:
        """Send until there is no more, the client has left, or it has stalled.

        Args:
            sending: sends, entering this.
            leaving: ends when the client has left.

        """
        tasks = asyncio.create_task(sending), asyncio.create_task(leaving)
        try:
            while not (self.ended or any(task.done() for task in tasks)):
                await asyncio.wait(tasks, timeout=STALLED_S / 3, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError, RuntimeError, OSError):
                await tasks[0]
