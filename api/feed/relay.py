"""Hands most event streams to a second process, so that sending to hundreds shares no interpreter with the frames.

Measured by benchmarks/service.py with 200 subscribers at 60 messages a second on two busy cores: 2 ms of work on a
frame ended within 7 to 18 ms (99th percentile, six runs) with the second process and within 13 to 27 ms without it,
where up to 15 % of the messages came too late as well. With 40 subscribers there was no difference, so the first few
are served here. If the second process can't be started, or has ended, all are. It is a plain subprocess and not a
process pool, since each connection is handed over as an open socket.
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
from itertools import count
from typing import Any, Final

from pydantic_core import to_json

from downfield.api.feed.event_stream import OpenStream
from downfield.api.feed.relay_worker import MAX_LINE_BYTES
from downfield.core.platform.processes import end_process
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS
from downfield.game.published.hub import FeedMessage, Hub, encode_value


@dataclass(frozen=True, slots=True)
class RelayLimits:
    """Thresholds of the relay."""

    # Up to this many subscribers are served by this process: a panel and some overlays need no second process
    local_subscribers: int = 8
    restart_after_s: float = 10.0  # Shortest time between two starts of the second process
    stop_s: float = 3.0  # The second process is killed if it does not stop within this time


RELAY_LIMITS: Final = RelayLimits()

FindTransport = Callable[[tuple[str, int]], asyncio.Transport | None]
"""Returns the transport of a client's connection, by its address and port."""


@dataclass(frozen=True, slots=True)
class _Worker:
    """The second process, the socket for messages, the socket for connections, and the task that reads its reports."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    connections: socket.socket
    writer: asyncio.StreamWriter
    reading: asyncio.Task[None]


class RelayManager:
    """Starts the second process when it is needed, sends it what is published, and hands it connections.

    Used from the server's event loop, except `close`.

    Args:
        find_transport: finds connections.
    """

    def __init__(self, hub: Hub, find_transport: FindTransport) -> None:
        self._hub, self._find_transport = hub, find_transport
        self._worker: _Worker | None = None
        self._not_before = 0.0
        self._numbers = count()
        self._streams: dict[int, OpenStream] = {}

    @property
    def process_id(self) -> int | None:
        """Process id of the second process; None while there is none."""
        return None if self._worker is None else self._worker.process.pid

    async def hand_over(
        self, client: tuple[str, int], stream: OpenStream, topics: Collection[str] | None, after: tuple[str, int] | None
    ) -> bool:
        """Hand over a connection on which a chunked response has begun.

        Args:
            stream: its place among the open streams, kept until the other process has ended it.
            topics: as of `Hub.subscribe`.
            after: as of `Hub.subscribe`.

        Returns:
            Whether it was handed over; if not, it has to be served here.
        """
        if self._hub.local_subscribers < RELAY_LIMITS.local_subscribers:
            return False
        worker = self._worker or await self._start()
        transport = self._find_transport(client)
        if worker is None or transport is None or transport.get_write_buffer_size():
            return False
        connection = os.dup(transport.get_extra_info("socket").fileno())
        try:
            socket.send_fds(worker.connections, [b"."], [connection])
        except OSError:
            return False
        finally:
            os.close(connection)
        number = next(self._numbers)
        subscriber = {"number": number, "topics": None if topics is None else sorted(topics), "after": after}
        self._write({"subscriber": subscriber})
        self._streams[number] = stream
        self._hub.count_relayed(len(self._streams))
        stream.serve_elsewhere(lambda: self._write({"end": number}))
        transport.close()  # closes this process's copy; the second process holds its own
        return True

    async def disconnect(self) -> None:
        """Let go of the second process's socket before the event loop ends; call `close` afterward."""
        if self._worker is not None:
            self._worker.reading.cancel()
            self._worker.writer.close()
            with suppress(OSError):
                await self._worker.writer.wait_closed()

    def close(self) -> None:
        """End the second process's streams in order, then the process. Call it when the server has ended."""
        self._hub.detach_mirror()
        worker, self._worker = self._worker, None
        if worker is None:
            return
        with suppress(OSError):
            worker.channel.shutdown(socket.SHUT_RDWR)
        worker.connections.close()
        try:
            worker.process.wait(RELAY_LIMITS.stop_s)
        except subprocess.TimeoutExpired:
            end_process(worker.process)

    async def _start(self) -> _Worker | None:
        """Start the second process, if that is possible now."""
        if not CAN_PASS_DESCRIPTORS or self._hub.closed or time.monotonic() < self._not_before:
            return None
        self._not_before = time.monotonic() + RELAY_LIMITS.restart_after_s
        (channel, its_channel), (connections, its_connections) = socket.socketpair(), socket.socketpair()
        connections.setblocking(False)
        numbers = its_channel.fileno(), its_connections.fileno()
        command = [sys.executable, "-m", "downfield.api.feed.relay_worker", *map(str, numbers)]
        try:
            with its_channel, its_connections:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=numbers)  # noqa: S603
        except OSError:
            channel.close()
            connections.close()
            return None
        reader, writer = await asyncio.open_connection(sock=channel)
        self._worker = _Worker(
            process, channel, connections, writer, asyncio.create_task(self._read_reports(reader, writer))
        )
        loop = asyncio.get_running_loop()

        def mirror(message: FeedMessage, full: Any) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._send, message, full)

        snapshot = self._hub.attach_mirror(mirror)
        values = {topic: encode_value(value).decode() for topic, value in snapshot.data.items()}
        self._write({"epoch": snapshot.epoch, "seq": snapshot.seq, "values": values})
        return self._worker

    async def _read_reports(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Follow which streams of the second process have ended until it ends; then their clients reconnect."""
        with suppress(OSError):
            while line := await reader.readline():
                self._streams.pop(int(line)).release()
                self._hub.count_relayed(len(self._streams))
        for stream in self._streams.values():
            stream.release()
        self._streams.clear()
        self._hub.detach_mirror()
        writer.close()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.connections.close()
            await asyncio.to_thread(end_process, worker.process)

    def _send(self, message: FeedMessage, full: Any) -> None:
        self._write(
            {
                "seq": message.seq,
                "topic": message.topic,
                "at_ms": message.at_ms,
                "data": encode_value(message.data).decode(),
                "full": None if full is None else encode_value(full).decode(),
            }
        )

    def _write(self, line: dict[str, Any]) -> None:
        if self._worker is None:
            return
        if self._worker.writer.transport.get_write_buffer_size() > MAX_LINE_BYTES:  # the second process hangs
            self._worker.writer.transport.abort()
            return
        self._worker.writer.write(to_json(line) + b"\n")
