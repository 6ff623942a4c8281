"""HTTP/1.1 with a time for everything a client has to send or to accept.

uvicorn ends a connection that is kept alive without a request, but waits for ever for the first byte, for the rest of a
head or of a body, and for a client that accepts no data.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from downfield.api.security.connections import ConnectionGuard, ConnectionLimits


class TimedHttpProtocol(H11Protocol):
    """uvicorn's protocol on h11, which tells the guard how far its client has come.

    Use a subclass with a guard: `guarded_protocol` makes one.
    """

    guard: ConnectionGuard

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._requests = 0
        self._stage: tuple[object, int] | None = None
        self._since = self.loop.time()
        self._paused_since: float | None = None
        self._upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to measure."""
        super().connection_made(transport)
        self.guard.begin(transport.get_extra_info("peername"), self)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Leave the connection to the WebSocket, which has its own timeouts."""
        self._upgraded = True
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Count the request."""
        self._requests += 1
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Note that the client accepts no more data for now."""
        self._paused_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that the client accepts data again."""
        self._paused_since = None
        super().resume_writing()

    def is_idle(self) -> bool:
        """Return whether no request is in progress."""
        if self._upgraded:
            return False
        return self.conn.their_state is h11.IDLE and (self.cycle is None or self.cycle.response_complete)

    def waits_for_client(self) -> bool:
        """Return whether the client has to send more of a request, or to accept more of its response."""
        return not self._upgraded and (self.conn.their_state is h11.SEND_BODY or self._paused_since is not None)

    def is_late(self, now: float, limits: ConnectionLimits) -> bool:
        """Return whether the client has used up its time."""
        if self._upgraded:
            return False
        if self._paused_since is not None and now - self._paused_since > limits.stalled_s:
            return True
        stage = (self.conn.their_state, self._requests)
        if stage != self._stage:
            self._stage, self._since = stage, now
        if self.conn.their_state is h11.IDLE:
            return now - self._since > limits.header_s
        return self.conn.their_state is h11.SEND_BODY and now - self._since > limits.body_s

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()


def guarded_protocol(guard: ConnectionGuard) -> type[TimedHttpProtocol]:
    """Return the protocol for the connections of a guard; uvicorn makes one of a class for each connection."""
    return type("GuardedHttpProtocol", (TimedHttpProtocol,), {"guard": guard})
