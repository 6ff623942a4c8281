"""A rig's connection to a desk on its own computer, over HTTP: what a broker carries, without one."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from downfield.rig.tournament.broker import BROKER_LIMITS, BrokerConnection, BrokerError


class DeskConnection(BrokerConnection):
    """A connection to a desk on this computer, over HTTP, in place of a broker."""

    def __init__(self, address: str, ended: asyncio.Event) -> None:
        self.ended, self._where, self._address = ended, address, address.rstrip("/")
        self._followed: list[asyncio.Event] = []

    @property
    def max_bytes(self) -> int:
        """The largest message that the desk takes."""
        return MAX_MESSAGE_BYTES

    async def request(self, subject: str, content: bytes) -> bytes:
        """Send a request and return the answer. Raises BrokerError: the desk does not answer, or refuses it."""
        return await asyncio.to_thread(self._post, subject, content, {})

    async def publish(self, subject: str, content: bytes, headers: dict[str, str] | None = None) -> None:
        """Publish a message to the desk. Raises BrokerError: the desk does not answer, or refuses it."""
        await asyncio.to_thread(self._post, subject, content, headers or {})

    async def follow(self, subject: str) -> asyncio.Event:
        """Return an event that is set when the desk has something new for its tables."""
        del subject  # a desk says nothing else
        self._followed.append(asyncio.Event())
        return self._followed[-1]

    async def watch(self) -> None:
        """Ask the desk what is new until it does not answer any more."""
        known = b""
        while True:
            try:
                now = await self.request(CHANGED_SUBJECT, b"")
            except BrokerError:
                self.ended.set()
                return
            if now != known:
                known = now
                for followed in self._followed:
                    followed.set()
            await asyncio.sleep(BROKER_LIMITS.again_s)

    def _post(self, subject: str, content: bytes, headers: dict[str, str]) -> bytes:
        sent = {"Content-Type": "application/octet-stream", **headers}
        request = urllib.request.Request(f"{self._address}/api/tournament/{subject}", content, sent, method="POST")  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=BROKER_LIMITS.answer_s) as answer:  # noqa: S310  http: of the settings
                found: bytes = answer.read()
                return found
        except urllib.error.HTTPError as error:
            raise BrokerError(f"{self._where}: the desk refuses this ({error.code})") from None
        except OSError as error:
            raise BrokerError(f"{self._where}: the desk can't be reached ({error})") from None


CHANGED_SUBJECT: Final = "downfield.push.changed"
MAX_MESSAGE_BYTES: Final = 8 << 20  # The largest message that a broker or a desk takes


@asynccontextmanager
async def open_desk(address: str) -> AsyncIterator[BrokerConnection]:
    """Open a connection to a desk on this computer. Raises BrokerError: it does not answer."""
    connection = DeskConnection(address, asyncio.Event())
    await connection.request(CHANGED_SUBJECT, b"")
    watching = asyncio.create_task(connection.watch())
    try:
        yield connection
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
