"""Answers without an end: sent as they come, until the client is gone, stalls, or there is no more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Final, Self

from fastapi import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

STALLED_S: Final = 30.0
"""A client that takes nothing for this long is let go."""


class Patience:
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
            with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError, OSError):
                await tasks[0]


class Stream(Response):
    """An answer without an end.

    Args:
        parts: the bytes to send, as they come.
        media_type: of the whole.

    """

    def __init__(self, parts: AsyncGenerator[bytes], media_type: str | None = None) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}, media_type=media_type)
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        patience = Patience()
        await patience.send(self._send(send, patience), _left(receive))

    async def _send(self, send: Send, patience: Patience) -> None:
        async with aclosing(self._parts) as parts:
            async for body in parts:
                with patience:
                    await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
