"""Limits on the body of a request."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downfield.api.problems import problem_response

MAX_BODY_BYTES: Final = 64 << 10
"""A line-up of 120 players is 20 kB."""

MAX_CALIBRATION_BYTES: Final = 1 << 20
"""A calibration with its covariance and cells is about 30 kB."""


class BodyLimit:
    """Refuses a body above a limit, whatever its Content-Length says.

    Args:
        app: the application behind it.
        max_bytes: the largest body.

    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then pass the request on."""
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or int(announced[:20]) > self._max_bytes:
            await self._refuse(scope, receive, send)
            return
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._max_bytes:
                await self._refuse(scope, receive, send)
                return
        replayed = False

        async def receive_body() -> Message:
            nonlocal replayed
            if replayed:
                return await receive()
            replayed = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, receive_body, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"The request is too large: {self._max_bytes >> 10} KiB at most."
        await problem_response(413, detail, headers={"Connection": "close"})(scope, receive, send)
