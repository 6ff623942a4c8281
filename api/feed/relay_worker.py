"""The process that tells most of those who listen to the feed; run by `Relaying`, which hands it their connections.

What it is told comes over one socket, a line of JSON each; connections come over another. It ends with the first.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from contextlib import suppress
from typing import Any, Final

from pydantic_core import from_json

from downfield.api.feed.hub import Encoded, FeedMessage, Hub
from downfield.api.feed.send_timeout import SendTimeout
from downfield.api.feed.server_sent_events import events

LONGEST: Final = 1 << 24
"""Bytes of a line."""

_STEPS: Final = 15  # of niceness: frames come first


class Relay:
    """Tells a mirrored hub's changes to connections that are handed over.

    Args:
        passing: where they come.
        writer: is told how many there are.

    """

    def __init__(self, passing: socket.socket, writer: asyncio.StreamWriter) -> None:
        self._hub = Hub()
        self._passing, self._writer = passing, writer
        self._telling: set[asyncio.Task[None]] = set()

    def take(self, said: dict[str, Any]) -> None:
        """Take in one line."""
        if "topics" in said:
            values = {name: Encoded(text.encode()) for name, text in said["topics"].items()}
            self._hub.begin(said["epoch"], said["seq"], values)
        elif "listener" in said:
            _, connections, _, _ = socket.recv_fds(self._passing, 1, 1)
            telling = asyncio.create_task(self._tell(socket.socket(fileno=connections[0]), said["listener"]))
            self._telling.add(telling)
            telling.add_done_callback(self._told)
            self._count()
        else:
            data, full = (None if said[key] is None else Encoded(said[key].encode()) for key in ("data", "full"))
            self._hub.repeat(FeedMessage(self._hub.epoch, said["seq"], said["topic"], data, said["at_ms"]), full)

    async def end(self) -> None:
        """End the feeds."""
        self._hub.close()
        if self._telling:
            await asyncio.wait(self._telling, timeout=1)

    async def _tell(self, connection: socket.socket, listener: dict[str, Any]) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        topics = None if listener["topics"] is None else frozenset(listener["topics"])
        after = listener["after"] and tuple(listener["after"])
        patience = SendTimeout()

        async def send() -> None:
            async for changes in self._hub.subscribe(topics, after):
                body = events(changes)
                with patience:
                    writer.write(b"%x\r\n%b\r\n" % (len(body), body))
                    await writer.drain()
            with patience:
                writer.write(b"0\r\n\r\n")
                writer.close()
                await writer.wait_closed()

        async def leave() -> None:
            with suppress(OSError):
                while await reader.read(4096):
                    pass

        try:
            await patience.send(send(), leave())
        finally:
            writer.transport.abort()  # whatever a client that stalled has not taken

    def _told(self, telling: asyncio.Task[None]) -> None:
        self._telling.discard(telling)
        self._count()

    def _count(self) -> None:
        self._writer.write(b"%d\n" % len(self._telling))


async def _relay(channel: socket.socket, passing: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=channel, limit=LONGEST)
    relay = Relay(passing, writer)
    while line := await reader.readline():
        relay.take(from_json(line))
    await relay.end()


def main() -> None:
    """Run until whoever started it ends, with the numbers of two sockets as arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the rig, which ends this
    os.nice(_STEPS)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # no frame stops for it
    channel, passing = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    asyncio.run(_relay(channel, passing))


if __name__ == "__main__":
    main()
