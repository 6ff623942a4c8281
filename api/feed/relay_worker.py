"""The second process, which serves most event streams; started by `RelayManager`, which hands it the connections.

Messages come over one socket as lines of JSON, connections over another. The process ends with the first socket.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from contextlib import suppress
from typing import Any, Final

from pydantic_core import from_json

from downfield.api.feed.event_stream import SendTimeout, encode_events
from downfield.core.platform.processes import lower_process_priority
from downfield.game.published.hub import EncodedValue, FeedMessage, Hub

MAX_LINE_BYTES: Final = 1 << 24

_NICENESS: Final = 15  # frames come first


class RelayWorker:
    """Sends a mirrored hub's messages over the connections it is handed.

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
    reader, writer = await asyncio.open_connection(sock=channel, limit=MAX_LINE_BYTES)
    worker = RelayWorker(connections, writer)
    while line := await reader.readline():
        worker.handle(from_json(line))
    await worker.end()


def main() -> None:
    """Run until the rig ends, with the numbers of two sockets as arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the rig, which ends this process
    lower_process_priority(_NICENESS, "batch")
    channel, connections = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    asyncio.run(_run(channel, connections))


if __name__ == "__main__":
    main()
