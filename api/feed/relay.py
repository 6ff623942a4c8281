"""Most of those who listen to the feed are told by another process: frames then share no interpreter with them.

The first few are told here. A connection is handed over once its answer has begun; what the feed tells goes to the
other process as it is published. Where that can't be, or it ended, everybody is told here.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import to_json

from downfield.api.feed.hub import FeedMessage, Hub, encoded
from downfield.api.feed.relay_worker import LONGEST

HERE: Final = 8
"""Listeners told in this process: a panel, some overlays, and no other process for them."""

_AGAIN_S: Final = 10.0  # after one that ended
_ENDING_S: Final = 3.0

TransportOf = Callable[[tuple[str, int]], asyncio.Transport | None]
"""The connection of a client, by its address."""


@dataclass(frozen=True, slots=True)
class _Relay:
    """The other process, what it is told over, what connections are handed to it over, and who watches it."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    passing: socket.socket
    writer: asyncio.StreamWriter
    watching: asyncio.Task[None]


class Relaying:
    """Starts the other process when it is needed, tells it what is published, and hands it connections.

    Used from the server's loop, but for `close`.

    Args:
        hub: what is told.
        transport_of: finds connections.

    """

    def __init__(self, hub: Hub, transport_of: TransportOf) -> None:
        self._hub, self._transport_of = hub, transport_of
        self._relay: _Relay | None = None
        self._not_before = 0.0

    @property
    def process(self) -> int | None:
        """Number of the other process; None while there is none."""
        return None if self._relay is None else self._relay.process.pid

    async def take(
        self, client: tuple[str, int], topics: Collection[str] | None, after: tuple[str, int] | None
    ) -> bool:
        """Hand over a connection whose answer, in chunks, has begun.

        Args:
            client: its address.
            topics: as of `Hub.subscribe`.
            after: as of `Hub.subscribe`.

        Returns:
            Whether it was; else it is to be told here.

        """
        if self._hub.here < HERE:
            return False
        relay = self._relay or await self._started()
        transport = self._transport_of(client)
        if relay is None or transport is None or transport.get_write_buffer_size():
            return False
        connection = os.dup(transport.get_extra_info("socket").fileno())
        try:
            socket.send_fds(relay.passing, [b"."], [connection])
        except OSError:
            return False
        finally:
            os.close(connection)
        self._write({"listener": {"topics": None if topics is None else sorted(topics), "after": after}})
        transport.close()  # here only: the other process holds it
        return True

    def close(self) -> None:
        """End the other process, and so its feeds, in order; once the server has ended."""
        self._hub.mirrored(None)
        if self._relay is None:
            return
        with suppress(OSError):
            self._relay.channel.shutdown(socket.SHUT_RDWR)
        self._relay.passing.close()
        try:
            self._relay.process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._relay.process.kill()
            self._relay.process.wait()

    async def _started(self) -> _Relay | None:
        """The other process, if it can be had now."""
        if not hasattr(socket, "send_fds") or time.monotonic() < self._not_before:
            return None
        self._not_before = time.monotonic() + _AGAIN_S
        (channel, its_channel), (passing, its_passing) = socket.socketpair(), socket.socketpair()
        passing.setblocking(False)
        numbers = its_channel.fileno(), its_passing.fileno()
        command = [sys.executable, "-m", "downfield.api.feed.relay_worker", *map(str, numbers)]
        try:
            with its_channel, its_passing:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=numbers)  # noqa: S603
        except OSError:
            channel.close()
            passing.close()
            return None
        reader, writer = await asyncio.open_connection(sock=channel)
        self._relay = _Relay(process, channel, passing, writer, asyncio.create_task(self._watch(reader)))
        loop = asyncio.get_running_loop()

        def mirror(change: FeedMessage, full: Any) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._tell, change, full)

        begin = self._hub.mirrored(mirror)
        texts = {topic: encoded(value).decode() for topic, value in begin.data.items()}
        self._write({"epoch": begin.epoch, "seq": begin.seq, "topics": texts})
        return self._relay

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        """Note how many listen there, until it ends: then they come back, and are told here."""
        with suppress(OSError):
            while line := await reader.readline():
                self._hub.elsewhere = int(line)
        self._hub.elsewhere = 0
        self._hub.mirrored(None)
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.writer.close()
            relay.passing.close()
            relay.process.kill()
            await asyncio.to_thread(relay.process.wait)

    def _tell(self, change: FeedMessage, full: Any) -> None:
        text = encoded(change.data).decode()
        whole_text = None if full is None else encoded(full).decode()
        said = {"seq": change.seq, "topic": change.topic, "at_ms": change.at_ms, "data": text, "full": whole_text}
        self._write(said)

    def _write(self, said: dict[str, Any]) -> None:
        if self._relay is None:
            return
        if self._relay.writer.transport.get_write_buffer_size() > LONGEST:  # it takes nothing any more
            self._relay.writer.transport.abort()
            return
        self._relay.writer.write(to_json(said) + b"\n")
