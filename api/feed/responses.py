"""Answers without an end: sent as they come, until the client is gone, stalls, or there is no more."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import Response
from starlette.types import Receive, Scope, Send

from downfield.api.feed.send_timeout import SendTimeout


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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if await self.hand_over(scope):
            await _left(receive)
            return
        patience = SendTimeout()
        await patience.send(self._send(send, patience), _left(receive))

    async def hand_over(self, scope: Scope) -> bool:  # noqa: ARG002 - for others to answer
        """Whether somebody else sends the parts; this connection is closed then, and the client's stays open."""
        return False

    async def _send(self, send: Send, patience: SendTimeout) -> None:
        async with aclosing(self._parts) as parts:
            async for body in parts:
                with patience:
                    await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
