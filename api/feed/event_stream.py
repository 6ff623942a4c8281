"""Endless responses: how many may be open, how each is ended at once, and when a stalled client is disconnected.

Every stream belongs to a device, or to an address without one. Each may open so many; viewers together may not take the
places of operators; and when a device is revoked its streams end at once, whichever process serves them.

FastAPI's and sse-starlette's event streams cost 85 and 58 us of processor time per message, this one 36 us (100
subscribers at 40 messages a second). FastAPI's never disconnects a stalled client.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Literal, Self

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from downfield.api.http.problems import ProblemError
from downfield.api.security.access import RANK, Principal
from downfield.game.published.hub import FeedMessage

HEARTBEAT: Final = b": alive\n\n"  # A comment: it shows that the connection lives


StreamKind = Literal["feed", "picture", "download"]


@dataclass(frozen=True, slots=True)
class StreamBudget:
    """Streams of one kind open at once."""

    total: int  # All together
    reserved: int  # Of these for operators, admins and this computer
    # Of one viewer's device, or of one address without a device: some overlays, in two programs, and a few tabs
    per_viewer: int
    per_operator: int  # Of one operator's or admin's device


_LIMITS: Final[dict[StreamKind, StreamBudget]] = {
    "feed": StreamBudget(total=512, reserved=64, per_viewer=24, per_operator=64),
    "picture": StreamBudget(total=64, reserved=16, per_viewer=6, per_operator=16),
}
"""A hall has a few dozen feeds; a picture of 1080p costs 30 Mbit/s."""

_RETRY_S: Final = 10


class OpenStream:
    """One open stream; entered while it is served.

    Args:
        among: all that are open; it is one of them until it is released.
        owner: device, or address without one.
        privileged: whether it may use the reserved places.
        address: where it goes to.
    """

    def __init__(
        self, among: set[OpenStream], kind: StreamKind, owner: str, *, privileged: bool, address: str = ""
    ) -> None:
        self.kind, self.owner, self.privileged, self.address = kind, owner, privileged, address
        self._open = among
        among.add(self)
        self._ended = asyncio.Event()
        self._end_elsewhere: Callable[[], object] | None = None

    def __enter__(self) -> Self:
        """Begin to serve it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Free its place, unless another process serves it now."""
        if self._end_elsewhere is None:
            self.release()

    @property
    def ended(self) -> bool:
        """Whether it must not be served any more."""
        return self._ended.is_set()

    def end(self) -> None:
        """End it at once. Called on the server's event loop."""
        self._ended.set()
        if self._end_elsewhere is not None:
            self._end_elsewhere()

    async def wait_until_ended(self) -> None:
        """Return when it has to end."""
        await self._ended.wait()

    def serve_elsewhere(self, end: Callable[[], object]) -> None:
        """Keep its place after it was handed to another process, which `end` makes end it, until `release`."""
        self._end_elsewhere = end
        if self.ended:
            end()

    def release(self) -> None:
        """Free its place."""
        self._open.discard(self)


class OpenStreams:
    """Registers every open stream. Used from the server's event loop, except `end_all_of`."""

    def __init__(self, limits: dict[StreamKind, StreamBudget] | None = None) -> None:
        self._limits = _LIMITS if limits is None else limits
        self._open: set[OpenStream] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        """Return how many are open."""
        return len(self._open)

    def open(self, kind: StreamKind, principal: Principal, address: str) -> OpenStream:
        """Register a stream. Raises ProblemError: this device has too many open, or all places are taken."""
        self._loop = asyncio.get_running_loop()
        limits = self._limits[kind]
        privileged = principal.local or RANK[principal.role or "anyone"] >= RANK["producer"]
        owner = _owner(principal.device, address)
        same_kind = [stream for stream in self._open if stream.kind == kind]
        own = sum(stream.owner == owner and (privileged or stream.address == address) for stream in same_kind)
        per_device = limits.per_operator if privileged else limits.per_viewer
        if own >= per_device:
            detail = f"This device has {per_device} {kind}s open already. Close one, such as a tab or an OBS source."
            raise ProblemError(429, detail, headers={"Retry-After": str(_RETRY_S)})
        viewers = sum(not stream.privileged for stream in same_kind)
        if len(same_kind) >= limits.total or (not privileged and viewers >= limits.total - limits.reserved):
            detail = (
                f"As many watch as this computer can serve: {limits.total} {kind}s, {limits.reserved} of them for who"
                " operates. One link serves all of them; try again when somebody has left."
            )
            raise ProblemError(503, detail, headers={"Retry-After": str(_RETRY_S)})
        return OpenStream(self._open, kind, owner, privileged=privileged, address=address)

    def follow(self, device: str) -> OpenStream:
        """Register a download of a device; there may be any number of them."""
        self._loop = asyncio.get_running_loop()
        return OpenStream(self._open, "download", _owner(device, ""), privileged=False)

    def end_all_of(self, device: str) -> None:
        """End every stream of a device at once."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end, _owner(device, ""))

    def _end(self, owner: str) -> None:
        for stream in [stream for stream in self._open if stream.owner == owner]:
            stream.end()


def _owner(device: str, address: str) -> str:
    return f"device {device}" if device else f"address {address}"


STALLED_S: Final = 10.0  # A client that accepts no data for this long is disconnected


def encode_events(messages: Iterable[FeedMessage]) -> bytes:
    """Return messages as Server-Sent Events; the heartbeat if there are none."""
    parts = (
        f"event: {message.topic}\nid: {message.epoch}-{message.seq}\ndata: ".encode() + message.text + b"\n\n"
        for message in messages
    )
    return b"".join(parts) or HEARTBEAT


class SendTimeout:
    """Measures how long a client has kept a send waiting; entered around each send.

    It is checked every few seconds instead of by a timer for each message, which would cost a fifth of what a message
    to one of two hundred clients costs.
    """

    def __init__(self) -> None:
        self._since: float | None = None

    @property
    def expired(self) -> bool:
        """Whether the client has stalled."""
        return self._since is not None and time.monotonic() - self._since > STALLED_S

    def __enter__(self) -> Self:
        """Begin to wait."""
        self._since = time.monotonic()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Note that the client has accepted the data."""
        self._since = None

    async def send(self, sending: Coroutine[None, None, None], *leaving: Coroutine[None, None, None]) -> None:
        """Send until everything is sent, the client has left, or it has stalled.

        Args:
            sending: sends, and enters this timeout around each send.
            leaving: the first of these to end ends it: when the client has left, or may no longer watch.
        """
        tasks = [asyncio.create_task(part) for part in (sending, *leaving)]
        try:
            while not (self.expired or any(task.done() for task in tasks)):
                await asyncio.wait(tasks, timeout=STALLED_S / 3, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError, RuntimeError, OSError):
                await tasks[0]


class EndlessResponse(Response):
    """A response that is sent as its parts come, until the client is gone or has stalled, or there are no more."""

    def __init__(self, parts: AsyncGenerator[bytes], stream: OpenStream, media_type: str | None = None) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}, media_type=media_type)
        del self.headers["content-length"]
        self._parts = parts
        self.stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        with self.stream:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if await self.hand_over(scope):
                await _wait_for_disconnect(receive)
                return
            timeout = SendTimeout()
            leaving = _wait_for_disconnect(receive), self.stream.wait_until_ended()
            await timeout.send(self._send(send, timeout), *leaving)
            if self.stream.ended:
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def hand_over(self, scope: Scope) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether another process now sends the parts over its own copy of this connection."""
        return False

    async def _send(self, send: Send, timeout: SendTimeout) -> None:
        async with aclosing(self._parts) as parts:
            async for body in parts:
                with timeout:
                    await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
