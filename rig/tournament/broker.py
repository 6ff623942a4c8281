"""A connection to a tournament's broker, NATS, or over HTTP to a desk on this computer; a thread begins it again.

It ends as soon as the broker is silent. nats-py's own reconnecting is off: a connection that ends ends its session, and
the next one begins by asking where everything stands. So there is one way to begin, after an hour's cut as after a
start.
"""

from __future__ import annotations

import asyncio
import importlib.util
import secrets
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from downfield.api.security.middleware import MAX_MESSAGE_BYTES
from downfield.core.errors import InputError, MissingExtraError, SourceError
from downfield.core.records import read_record, record

if TYPE_CHECKING:
    from nats.aio.client import Client


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """Times of a connection to a broker."""

    connect_s: float = 3.0  # How long the broker may take to let somebody in
    ping_s: float = 5.0  # Time between two signs of life; after two without an answer the connection is given up
    answer_s: float = 10.0  # How long the receiver of a request may take; its database gives up after half of that
    retry_s: float = 1.0  # Pause before a lost broker is tried again
    longest_retry_s: float = 5.0  # Longest pause; it doubles from try to try
    # Pause between two tries of the client's own within `connect_s`; its default keeps a table lost for longer
    again_s: float = 0.25
    drain_s: float = 2.0  # How long what is on its way may take when a connection is closed


BROKER_LIMITS: Final = BrokerLimits()

DESK_SUBJECT: Final = "downfield.push.changed"
"""A desk announces here, without content, that it follows the feed, or that it has something new for the tables."""


class BrokerError(SourceError):
    """The broker can't be reached, or somebody behind it does not answer. Retrying may help."""


@record
class BrokerCredentials:
    """Lets a rig or the desk in at a broker; a private file."""

    user: str
    password: str
    # PEM file of those who vouch for the broker's certificate, beside this file; empty for the system's
    certificate: str = ""
    format: Literal["downfield.broker-credentials"] = "downfield.broker-credentials"
    version: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class BrokerAccess:
    """Where a broker is, and how to get in."""

    servers: Sequence[str]
    # user, password: of the credentials; empty for none
    user: str = ""
    password: str = ""
    certificate: Path | None = None  # PEM file of those who vouch for its certificate; None for the system's
    name: str = ""  # of whoever connects, as the broker lists it

    @property
    def where(self) -> str:
        """The broker, for people."""
        return ", ".join(self.servers)


def inbox_of(user: str) -> str:
    """Return where a user of a broker hears answers; nobody else may."""
    return f"_INBOX.{user}" if user else "_INBOX"


def is_inbox(subject: str) -> bool:
    """Return whether an answer may go to a subject: a request must not have the desk write elsewhere in its name."""
    return subject.startswith("_INBOX.") and "*" not in subject and ">" not in subject and " " not in subject


def is_desk(servers: Sequence[str]) -> bool:
    """Return whether servers are a desk on this computer, and no broker."""
    return any(server.startswith("http://") for server in servers)


def broker_access(servers: Sequence[str], credentials: str, name: str) -> BrokerAccess:
    """Return how to reach a broker as configured, with the file of credentials; empty for none.

    Raises:
        InputError, FormatError: the file can't be read, or holds something else.
        MissingExtraError: the client is not installed.
    """
    if not is_desk(servers) and importlib.util.find_spec("nats") is None:
        raise MissingExtraError("tournament", "a tournament's broker")
    if not credentials:
        return BrokerAccess(servers, name=name)
    file = Path(credentials).expanduser()
    found = read_record(BrokerCredentials, file)
    certificate = file.parent / found.certificate if found.certificate else None
    if certificate is not None and not certificate.is_file():
        raise InputError(f"{file}: names the certificate {certificate}, which is not there. Copy both files.")
    return BrokerAccess(servers, found.user, found.password, certificate, name)


class BrokerConnection:
    """An open connection to a broker, used from one event loop; `ended` is set once it is no longer connected."""

    def __init__(self, client: Client, where: str, ended: asyncio.Event, inbox: str) -> None:
        self.client, self.ended = client, ended
        self._where, self._inbox = where, inbox

    @property
    def max_bytes(self) -> int:
        """The largest message that is carried."""
        return self.client.max_payload

    async def request(self, subject: str, content: bytes) -> bytes:
        """Send a request and return the answer. Raises BrokerError: nobody answers, or the connection has ended."""
        from nats.errors import Error

        # The client's own requests have tokens that can be counted on from one to the next.
        reply = f"{self._inbox}.{secrets.token_hex(16)}"
        try:
            answers = await self.client.subscribe(reply, max_msgs=1)
            try:
                await self.client.publish(subject, content, reply=reply)
                answer = await answers.next_msg(BROKER_LIMITS.answer_s)
            finally:
                with suppress(Exception):  # it is over with its one message, or with the connection
                    await answers.unsubscribe()
        except TimeoutError:  # NATS's own is one
            raise BrokerError(f"{self._where}: the tournament's desk does not answer") from None
        except (Error, OSError) as error:
            raise BrokerError(f"{self._where}: {reason_of(error)}") from None
        if not answer.data and (answer.headers or {}).get("Status") == "503":
            raise BrokerError(f"{self._where}: the tournament's desk is not connected to the broker")
        return answer.data

    async def publish(self, subject: str, content: bytes, headers: dict[str, str] | None = None) -> None:
        """Publish a message to whoever follows the subject. Raises BrokerError: the connection has ended."""
        from nats.errors import Error

        try:
            await self.client.publish(subject, content, headers=headers)
        except (Error, OSError) as error:
            raise BrokerError(f"{self._where}: {reason_of(error)}") from None

    async def follow(self, subject: str) -> asyncio.Event:
        """Return an event that is set by each message to a subject. Raises BrokerError: the connection has ended."""
        from nats.errors import Error

        came = asyncio.Event()

        async def note(_: object) -> None:
            came.set()

        try:
            await self.client.subscribe(subject, cb=note)
        except (Error, OSError) as error:
            raise BrokerError(f"{self._where}: {reason_of(error)}") from None
        return came


def reason_of(error: BaseException) -> str:
    """Return what the client reported, for people."""
    return str(error).removeprefix("nats: ") or type(error).__name__


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
                now = await self.request(DESK_SUBJECT, b"")
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


@asynccontextmanager
async def open_desk(address: str) -> AsyncIterator[BrokerConnection]:
    """Open a connection to a desk on this computer. Raises BrokerError: it does not answer."""
    connection = DeskConnection(address, asyncio.Event())
    await connection.request(DESK_SUBJECT, b"")
    watching = asyncio.create_task(connection.watch())
    try:
        yield connection
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
