"""The open streams: feeds and camera pictures, who watches them, and how each is ended at once.

Every stream belongs to a device, or to an address without one. Each may open so many; viewers together may not take the
places of operators; and when a device is revoked its streams end at once, whichever process serves them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Literal, Self

from downfield.api.http.problems import ProblemError
from downfield.api.security.roles import RANK, Principal

StreamKind = Literal["feed", "picture", "download"]


@dataclass(frozen=True, slots=True)
class StreamBudget:
    """Streams of one kind open at once."""

    total: int
    """All together."""

    reserved: int
    """Of these for operators, admins and this computer."""

    per_viewer: int
    """Of one viewer's device, or of one address without a device: some overlays, in two programs, and a few tabs."""

    per_operator: int
    """Of one operator's or admin's device."""


_LIMITS: Final[dict[StreamKind, StreamBudget]] = {
    "feed": StreamBudget(total=512, reserved=64, per_viewer=24, per_operator=64),
    "picture": StreamBudget(total=64, reserved=16, per_viewer=6, per_operator=16),
}
"""A hall has a few dozen feeds; a picture of 1080p costs 30 Mbit/s."""

_RETRY_S: Final = 10


class OpenStream:
    """One open stream; entered while it is served.

    Args:
        streams: where it is registered.
        kind: what it sends.
        owner: device, or address without one.
        privileged: whether it may use the reserved places.
    """

    def __init__(self, streams: OpenStreams, kind: StreamKind, owner: str, *, privileged: bool) -> None:
        self.kind, self.owner, self.privileged = kind, owner, privileged
        self._streams = streams
        self._ended = asyncio.Event()
        self._end_elsewhere: Callable[[], None] | None = None

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

    def serve_elsewhere(self, end: Callable[[], None]) -> None:
        """Keep its place after it was handed to another process, until `release`.

        Args:
            end: makes the other process end it.
        """
        self._end_elsewhere = end
        if self.ended:
            end()

    def release(self) -> None:
        """Free its place."""
        self._streams.release(self)


class OpenStreams:
    """Registers every open stream. Used from the server's event loop, except `end_all_of`.

    Args:
        limits: how many may be open, by kind.
    """

    def __init__(self, limits: dict[StreamKind, StreamBudget] | None = None) -> None:
        self._limits = _LIMITS if limits is None else limits
        self._open: set[OpenStream] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        """Return how many are open."""
        return len(self._open)

    def open(self, kind: StreamKind, principal: Principal, address: str) -> OpenStream:
        """Register a stream.

        Args:
            kind: what it sends.
            principal: who opens it.
            address: from where.

        Raises:
            ProblemError: this device has too many open, or all places are taken.
        """
        self._loop = asyncio.get_running_loop()
        limits = self._limits[kind]
        privileged = principal.local or RANK[principal.role or "anyone"] >= RANK["operator"]
        owner = _owner(principal.device, address)
        same_kind = [stream for stream in self._open if stream.kind == kind]
        own = sum(stream.owner == owner for stream in same_kind)
        per_device = limits.per_operator if privileged else limits.per_viewer
        if own >= per_device:
            detail = f"This device has {per_device} {kind}s open already. Close one, such as a tab or an OBS source."
            raise ProblemError(429, detail, headers={"Retry-After": str(_RETRY_S)})
        viewers = sum(not stream.privileged for stream in same_kind)
        if len(same_kind) >= limits.total or (not privileged and viewers >= limits.total - limits.reserved):
            detail = f"All {limits.total} {kind}s are taken. Close one, or try again later."
            raise ProblemError(503, detail, headers={"Retry-After": str(_RETRY_S)})
        stream = OpenStream(self, kind, owner, privileged=privileged)
        self._open.add(stream)
        return stream

    def follow(self, device: str) -> OpenStream:
        """Register a download of a device; there may be any number of them."""
        self._loop = asyncio.get_running_loop()
        stream = OpenStream(self, "download", _owner(device, ""), privileged=False)
        self._open.add(stream)
        return stream

    def release(self, stream: OpenStream) -> None:
        """Free a stream's place."""
        self._open.discard(stream)

    def end_all_of(self, device: str) -> None:
        """End every stream of a device at once."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end, _owner(device, ""))

    def _end(self, owner: str) -> None:
        for stream in [stream for stream in self._open if stream.owner == owner]:
            stream.end()


def _owner(device: str, address: str) -> str:
    return f"device {device}" if device else f"address {address}"


_log = logging.getLogger(__name__)
