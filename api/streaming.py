"""Answers without an end: sent as they come, until the client is gone, stalls, or there is no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Final

from fastapi import Response
from starlette.types import Receive, Scope, Send

STALLED_S: Final = 30.0
"""A client that takes nothing for this long is let go."""


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
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            with suppress(asyncio.CancelledError, TimeoutError, OSError):
                await sending

    async def _send(self, send: Send) -> None:
        async with aclosing(self._parts) as parts:
            async for body in parts:
                async with asyncio.timeout(STALLED_S):
                    await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
