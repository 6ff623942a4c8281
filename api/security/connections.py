"""Connections: how many each address may hold, which are closed when places run out, and HTTP with timeouts.

Budgets are counted where connections are accepted, so that one that never sends a byte, or never ends its TLS
handshake, counts as well. Strangers share one pool; this computer, trusted proxies and known operators have places of
their own beside it. When a pool is full, the connection that has been idle for longest gives way to the new one, and
where none is idle the oldest that waits for its client: neither idle connections nor slow ones, from however many
addresses, keep anybody out.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from downfield.api.security.forwarding import KnownClients, plain_address


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Budgets and timeouts of connections."""

    total: int = 2048  # Open at once; fewer if the operating system allows the process fewer open files
    reserved: int = 256  # Places that strangers can't take: four dozen devices of operators with five connections each
    # Of one address that is not known: a browser opens six, and a venue's guests may share one address
    per_stranger: int = 64
    per_known: int = 512  # Of this computer, a trusted proxy or a known device
    other_files: int = 256  # Open files left to the rig itself: cameras, recordings, the store, network models
    header_s: float = 10.0  # Time for a TLS handshake, and for the head of a request
    body_s: float = 30.0  # Time for the body of a request, of at most 1 MiB: 280 kbit/s
    stalled_s: float = 60.0  # A client that accepts no data of its response for this long is disconnected
    sweep_s: float = 1.0  # Time between two looks at all connections


CONNECTION_LIMITS: Final = ConnectionLimits()


@dataclass(slots=True)
class _Connection:
    """One accepted connection; without a state until its TLS handshake has ended."""

    accepted: CountedSocket
    address: str
    known: bool
    since: float
    state: TimedHttpProtocol | None = None

    def is_idle(self) -> bool:
        return self.state is None or self.state.is_idle()

    def waits_for_client(self) -> bool:
        return self.state is not None and self.state.waits_for_client()

    def is_late(self, now: float, limits: ConnectionLimits) -> bool:
        if self.state is None:
            return now - self.since > limits.header_s
        return self.state.is_late(now, limits)

    def abort(self) -> None:
        if self.state is not None:
            self.state.abort()
            return
        with suppress(OSError):
            self.accepted.shutdown(socket.SHUT_RDWR)


class ConnectionGuard:
    """Counts connections by address, refuses those above the budgets, and closes those that are late.

    Used from the server's event loop. Addresses that are `known` have places of their own; the clock's seconds are
    monotonic.
    """

    def __init__(
        self,
        known: KnownClients,
        limits: ConnectionLimits = CONNECTION_LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._known, self._limits, self._clock = known, limits, clock
        self._open: dict[Any, _Connection] = {}  # in the order in which they were accepted
        self._count: Counter[str] = Counter()
        self._strangers = 0
        self._sweeping = False

    def __len__(self) -> int:
        """Return how many connections are open."""
        return len(self._open)

    def admit(self, accepted: CountedSocket, peer: Any) -> bool:
        """Return whether a connection of a peer (`socket.getpeername`) may stay; an idle one may be closed for it."""
        address = plain_address(peer[0]) if isinstance(peer, tuple) else ""
        known, limits = address in self._known, self._limits
        budget = limits.per_known if known else limits.per_stranger
        if self._count[address] >= budget and not self._make_room(lambda other: other.address == address):
            return False
        full = self._strangers >= limits.total - limits.reserved
        if not known and full and not self._make_room(lambda other: not other.known):
            return False
        if len(self._open) >= limits.total and not self._make_room(lambda _: True):
            return False
        self._open[peer] = _Connection(accepted, address, known, self._clock())
        self._count[address] += 1
        self._strangers += not known
        return True

    def begin(self, peer: Any, state: TimedHttpProtocol) -> None:
        """Note that HTTP begins on a connection."""
        if peer in self._open:
            self._open[peer].state = state
        if not self._sweeping:
            self._sweeping = True
            asyncio.get_running_loop().call_later(self._limits.sweep_s, self._sweep_again)

    def forget(self, peer: Any, accepted: CountedSocket) -> None:
        """Free the place of a connection whose socket is closed."""
        connection = self._open.get(peer)
        if connection is not None and connection.accepted is accepted:
            self._remove(peer)

    def close_late(self) -> int:
        """Close the connections that are late; return how many there were."""
        now = self._clock()
        late = [connection for connection in self._open.values() if connection.is_late(now, self._limits)]
        for connection in late:
            connection.abort()
        return len(late)

    def _make_room(self, counts: Callable[[_Connection], bool]) -> bool:
        """Close the oldest that is idle, or else waits for its client, of those that count; False for none."""
        counting = [(peer, other) for peer, other in self._open.items() if counts(other)]
        found = next((peer for peer, other in counting if other.is_idle()), None)
        found = found or next((peer for peer, other in counting if other.waits_for_client()), None)
        if found is None:
            return False
        self._open[found].abort()
        self._remove(found)
        return True

    def _remove(self, peer: Any) -> None:
        connection = self._open.pop(peer)
        self._strangers -= not connection.known
        self._count[connection.address] -= 1
        if not self._count[connection.address]:
            del self._count[connection.address]

    def _sweep_again(self) -> None:
        self.close_late()
        self._sweeping = bool(self._open)
        if self._sweeping:
            asyncio.get_running_loop().call_later(self._limits.sweep_s, self._sweep_again)


class CountedSocket(socket.socket):
    """An accepted connection that frees its place in the guard when it is closed."""

    on_close: Callable[[], None] | None = None  # called once

    def close(self) -> None:
        """Close the socket."""
        on_close, self.on_close = self.on_close, None
        super().close()
        if on_close is not None:
            on_close()


class GuardedListener(socket.socket):
    """A listening socket that accepts only what its guard admits."""

    guard: ConnectionGuard

    @classmethod
    def over(cls, listener: socket.socket, guard: ConnectionGuard) -> GuardedListener:
        """Take over a socket that listens."""
        guarded = cls(listener.family, listener.type, listener.proto, listener.detach())
        guarded.guard = guard
        return guarded

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises ConnectionAbortedError: its address has used up its budget; the event loop goes on with the next.
        """
        plain, peer = super().accept()
        accepted = CountedSocket(plain.family, plain.type, plain.proto, plain.detach())
        if not self.guard.admit(accepted, peer):
            accepted.close()
            raise ConnectionAbortedError
        accepted.on_close = lambda: self.guard.forget(peer, accepted)
        return accepted, peer


def affordable(soft_limit: int) -> ConnectionLimits:
    """Return the limits for a process that may open so many files (RLIMIT_NOFILE)."""
    limits = CONNECTION_LIMITS
    total = max(32, min(limits.total, soft_limit - limits.other_files))
    reserved = min(limits.reserved, total // 2)
    of_strangers, of_known = min(limits.per_stranger, (total - reserved) // 2), min(limits.per_known, total // 2)
    return replace(limits, total=total, reserved=reserved, per_stranger=of_strangers, per_known=of_known)


class TimedHttpProtocol(H11Protocol):
    """uvicorn's protocol on h11, which tells its guard how far the client has come; see `guarded_protocol`."""

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
