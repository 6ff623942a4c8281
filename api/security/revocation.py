"""Ends the responses of a device that is revoked while they are sent: downloads, replays, films, tables.

Feeds and camera pictures register themselves, since they wait for most of their time. Every other response that is sent
in parts is ended here, whichever route sends it.
"""

from __future__ import annotations

import asyncio
import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downfield.api.feed.open_streams import OpenStream, OpenStreams
from downfield.api.security.roles import Principal
from downfield.api.security.tokens import TokenStore

_log = logging.getLogger(__name__)


class RevocableResponses:
    """ASGI middleware that breaks off a response once its device is revoked.

    The connection is closed, so that a part of a file is not taken for the whole of it.

    Args:
        app: the application behind it.
        streams: ends what a device has open.
        tokens: knows the paired devices.

    """

    def __init__(self, app: ASGIApp, streams: OpenStreams, tokens: TokenStore) -> None:
        self._app, self._streams, self._tokens = app, streams, tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its response until its device is revoked."""
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return
        stream: OpenStream | None = None

        async def send_followed(message: Message) -> None:
            nonlocal stream
            if stream is None and message["type"] == "http.response.body" and message.get("more_body", False):
                stream = self._follow(scope, task)
            await send(message)

        try:
            await self._app(scope, receive, send_followed)
        except asyncio.CancelledError:
            if stream is None or not stream.ended:
                raise
            task.uncancel()
            _log.warning("%s: broken off, since the device was revoked", scope["path"])
        finally:
            if stream is not None:
                stream.release()

    def _follow(self, scope: Scope, task: asyncio.Task[None]) -> OpenStream | None:
        """Have a response ended with its device; None where no device is paired, or the route does so itself."""
        principal: Principal | None = scope["state"].get("principal")
        if principal is None or not principal.device or "stream" in scope["state"]:
            return None

        def end() -> None:
            task.cancel()

        stream = self._streams.follow(principal.device)
        stream.serve_elsewhere(end)
        if all(device.id != principal.device for device in self._tokens.devices()):
            stream.end()
        return stream
