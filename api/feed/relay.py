"""Hands most event streams to a second process, so that sending to hundreds shares no interpreter with the frames.

Measured by benchmarks/service.py with 200 subscribers at 60 messages a second on two busy cores: 2 ms of work on a
frame ended within 7 to 18 ms (99th percentile, six runs) with the second process and within 13 to 27 ms without it,
where up to 15 % of the messages came too late as well. With 40 subscribers there was no difference, so the first few
are served here. If the second process can't be started, or has ended, all are. It is a plain subprocess and not a
process pool, since each connection is handed over as an open socket. Messages come to it over one socket as lines of
JSON, connections over another; it ends with the first.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from pydantic_core import from_json, to_json

from downfield.api.feed.event_stream import OpenStream, SendTimeout, encode_events
from downfield.core.platform.processes import end_process, lower_process_priority
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS
from downfield.game.published.hub import EncodedValue, FeedMessage, Hub, encode_value


@dataclass(frozen=True, slots=True)
class RelayLimits:
    """Thresholds of the relay."""

    # Up to this many subscribers are served by this process: a panel and some overlays need no second process
    local_subscribers: int = 8
    restart_after_s: float = 10.0  # Shortest time between two starts of the second process
    stop_s: float = 3.0  # The second process is killed if it does not stop within this time


RELAY_LIMITS: Final = RelayLimits()

_MAX_LINE_BYTES: Final = 1 << 24
_NICENESS: Final = 15  # of the second process: frames come first

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
    """

    def __init__(self, hub: Hub, find_transport: FindTransport) -> None:
        self._hub, self._find_transport = hub, find_transport
        self._worker: _Worker | None = None
        self._not_before = 0.0
        self._numbers = count()
        self._streams: dict[int, OpenStream] = {}

    async def hand_over(
        self, client: tuple[str, int], stream: OpenStream, topics: Collection[str] | None, after: tuple[str, int] | None
    ) -> bool:
        """Hand over a connection on which a chunked response has begun; return whether that was possible.

        Args:
            stream: its place among the open streams, kept until the other process has ended it.
            topics, after: as of `Hub.subscribe`.
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
        if not CAN_PASS_DESCRIPTORS or self._hub.closed or time.monotonic() < self._not_before:
            return None
        self._not_before = time.monotonic() + RELAY_LIMITS.restart_after_s
        (channel, its_channel), (connections, its_connections) = socket.socketpair(), socket.socketpair()
        connections.setblocking(False)
        numbers = its_channel.fileno(), its_connections.fileno()
        command = [sys.executable, "-m", "downfield.api.feed.relay", *map(str, numbers)]
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
        if self._worker.writer.transport.get_write_buffer_size() > _MAX_LINE_BYTES:  # the second process hangs
            self._worker.writer.transport.abort()
            return
        self._worker.writer.write(to_json(line) + b"\n")


class RelayWorker:
    """In the second process: sends a mirrored hub's messages over the connections it is handed.

    Args:
        connections: the socket they come over.
        writer: is sent the number of each that has ended.
    """

    def __init__(self, connections: socket.socket, writer: asyncio.StreamWriter) -> None:
        self._hub = Hub()
        self._connections, self._writer = connections, writer
        self._streams: dict[int, asyncio.Task[None]] = {}

    def handle(self, line: dict[str, Any]) -> None:
        """Handle one line: a snapshot to begin with, a new subscriber, the end of one, or a message."""
        if "values" in line:
            values = {name: EncodedValue(text.encode()) for name, text in line["values"].items()}
            self._hub.begin_as_mirror(line["epoch"], line["seq"], values)
        elif "subscriber" in line:
            _, connections, _, _ = socket.recv_fds(self._connections, 1, 1)
            subscriber = line["subscriber"]
            number = subscriber["number"]
            stream = asyncio.create_task(self._serve(socket.socket(fileno=connections[0]), subscriber))
            self._streams[number] = stream
            stream.add_done_callback(lambda _: self._forget(number))
        elif "end" in line:
            if line["end"] in self._streams:
                self._streams[line["end"]].cancel()
        else:
            data, full = (None if line[key] is None else EncodedValue(line[key].encode()) for key in ("data", "full"))
            message = FeedMessage(self._hub.epoch, line["seq"], line["topic"], data, line["at_ms"])
            self._hub.repeat(message, full)

    async def end(self) -> None:
        """End the streams."""
        self._hub.close()
        if self._streams:
            await asyncio.wait(self._streams.values(), timeout=1)

    async def _serve(self, connection: socket.socket, subscriber: dict[str, Any]) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        topics = None if subscriber["topics"] is None else frozenset(subscriber["topics"])
        after = subscriber["after"] and tuple(subscriber["after"])
        timeout = SendTimeout()

        async def send() -> None:
            async for messages in self._hub.subscribe(topics, after):
                body = encode_events(messages)
                with timeout:
                    writer.write(b"%x\r\n%b\r\n" % (len(body), body))
                    await writer.drain()
            with timeout:
                writer.write(b"0\r\n\r\n")
                writer.close()
                await writer.wait_closed()

        async def wait_for_disconnect() -> None:
            with suppress(OSError):
                while await reader.read(4096):
                    pass

        try:
            await timeout.send(send(), wait_for_disconnect())
        finally:
            writer.transport.abort()  # drops data that a stalled client has not accepted

    def _forget(self, number: int) -> None:
        del self._streams[number]
        self._writer.write(b"%d\n" % number)


async def _run(channel: socket.socket, connections: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=channel, limit=_MAX_LINE_BYTES)
    worker = RelayWorker(connections, writer)
    while line := await reader.readline():
        worker.handle(from_json(line))
    await worker.end()


if __name__ == "__main__":  # runs until the rig ends, with the numbers of two sockets as arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the rig, which ends this process
    lower_process_priority(_NICENESS, "batch")
    channel, connections = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    asyncio.run(_run(channel, connections))
