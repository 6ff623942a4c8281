"""A connection to a tournament's broker, NATS, ended as soon as the broker is silent; a thread begins it again.

nats-py's own reconnecting is off: a connection that ends ends its session, and the next one begins by asking where
everything stands. So there is one way to begin, after an hour's cut as after a start.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import secrets
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from downfield.core.errors import DownfieldError, InputError, MissingExtraError, SourceError
from downfield.core.records import read_record, record
from downfield.core.threads import supervised_thread

if TYPE_CHECKING:
    from nats.aio.client import Client


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """Times of a connection to a broker."""

    connect_s: float = 3.0
    """How long the broker may take to let somebody in."""

    ping_s: float = 5.0
    """Time between two signs of life; after two without an answer the connection is given up."""

    answer_s: float = 10.0
    """How long the receiver of a request may take; its database gives up after half of that."""

    retry_s: float = 1.0
    """Pause before a lost broker is tried again."""

    longest_retry_s: float = 5.0
    """Longest pause; it doubles from try to try."""

    again_s: float = 0.25
    """Pause between two tries of the client's own within `connect_s`; its default keeps a table lost for longer."""

    drain_s: float = 2.0
    """How long what is on its way may take when a connection is closed."""


BROKER_LIMITS: Final = BrokerLimits()


class BrokerError(SourceError):
    """The broker can't be reached, or somebody behind it does not answer. Retrying may help."""


@record
class BrokerCredentials:
    """Lets a rig or the desk in at a broker; a private file.

    Attributes:
        user: as whom.
        password: of that user.
        certificate: PEM file of those who vouch for the broker's certificate, beside this file; empty for the system's.
    """

    user: str
    password: str
    certificate: str = ""
    format: Literal["downfield.broker-credentials"] = "downfield.broker-credentials"
    version: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class BrokerAccess:
    """Where a broker is, and how to get in.

    Attributes:
        servers: its addresses.
        user, password: of the credentials; empty for none.
        certificate: PEM file of those who vouch for its certificate; None for the system's.
        name: of whoever connects, as the broker lists it.
    """

    servers: Sequence[str]
    user: str = ""
    password: str = ""
    certificate: Path | None = None
    name: str = ""

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


def broker_access(servers: Sequence[str], credentials: str, name: str) -> BrokerAccess:
    """Return how to reach a broker as configured.

    Args:
        credentials: the file; empty for none.

    Raises:
        InputError: the file can't be read.
        FormatError: it holds something else.
        MissingExtraError: the client is not installed.
    """
    if importlib.util.find_spec("nats") is None:
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
    """An open connection to a broker, used from one event loop.

    Attributes:
        ended: set once it is no longer connected.
    """

    def __init__(self, client: Client, where: str, ended: asyncio.Event, inbox: str) -> None:
        self.client, self.ended = client, ended
        self._where, self._inbox = where, inbox

    @property
    def max_bytes(self) -> int:
        """The largest message that the broker carries."""
        return self.client.max_payload

    async def request(self, subject: str, content: bytes) -> bytes:
        """Send a request and return the answer.

        Raises:
            BrokerError: nobody answers, or the connection has ended.
        """
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
            raise BrokerError(f"{self._where}: {_reason(error)}") from None
        if not answer.data and (answer.headers or {}).get("Status") == "503":
            raise BrokerError(f"{self._where}: the tournament's desk is not connected to the broker")
        return answer.data

    async def publish(self, subject: str, content: bytes, headers: dict[str, str] | None = None) -> None:
        """Publish a message to whoever follows the subject.

        Raises:
            BrokerError: the connection has ended.
        """
        from nats.errors import Error

        try:
            await self.client.publish(subject, content, headers=headers)
        except (Error, OSError) as error:
            raise BrokerError(f"{self._where}: {_reason(error)}") from None

    async def follow(self, subject: str) -> asyncio.Event:
        """Return an event that is set by each message to a subject, whatever it holds.

        Raises:
            BrokerError: the connection has ended.
        """
        from nats.errors import Error

        came = asyncio.Event()

        async def note(_: object) -> None:
            came.set()

        try:
            await self.client.subscribe(subject, cb=note)
        except (Error, OSError) as error:
            raise BrokerError(f"{self._where}: {_reason(error)}") from None
        return came


@asynccontextmanager
async def open_broker(access: BrokerAccess) -> AsyncIterator[BrokerConnection]:
    """Open a connection to a broker, closed at the end.

    Raises:
        BrokerError: it can't be reached, or lets nobody in with these credentials.
    """
    from nats.aio.client import Client
    from nats.errors import Error

    client = Client()
    ended = asyncio.Event()
    last: list[Exception] = []

    async def note_end() -> None:
        ended.set()

    async def note_error(error: Exception) -> None:
        last.append(error)

    options = {"user": access.user, "password": access.password} if access.user else {}
    try:
        await asyncio.wait_for(
            client.connect(
                list(access.servers),
                name=access.name,
                allow_reconnect=False,
                connect_timeout=BROKER_LIMITS.connect_s,  # type: ignore[arg-type]
                reconnect_time_wait=BROKER_LIMITS.again_s,  # type: ignore[arg-type]
                ping_interval=BROKER_LIMITS.ping_s,  # type: ignore[arg-type]
                max_outstanding_pings=2,
                drain_timeout=BROKER_LIMITS.drain_s,  # type: ignore[arg-type]
                tls=_tls(access),
                closed_cb=note_end,
                disconnected_cb=note_end,
                error_cb=note_error,
                inbox_prefix=inbox_of(access.user).encode(),
                **options,  # type: ignore[arg-type]
            ),
            2 * BROKER_LIMITS.connect_s * len(access.servers),
        )
    except BaseException as error:  # also when it is cancelled: the client keeps its socket otherwise
        await _close(client)
        if not isinstance(error, Error | OSError | TimeoutError):
            raise
        raise BrokerError(
            f"{access.where}: the broker can't be reached ({_reason(last[-1] if last else error)})"
        ) from None
    try:
        yield BrokerConnection(client, access.where, ended, inbox_of(access.user))
    finally:
        await _close(client)


async def _close(client: Client) -> None:
    """Close a client in any state, one that was never let in as well."""
    with suppress(Exception):  # whatever closing reports, the connection is over
        await asyncio.wait_for(client.close(), BROKER_LIMITS.drain_s)


def _tls(access: BrokerAccess) -> ssl.SSLContext | None:
    if not any(server.startswith("tls://") for server in access.servers):
        return None
    return ssl.create_default_context(cafile=None if access.certificate is None else str(access.certificate))


def _reason(error: BaseException) -> str:
    return str(error).removeprefix("nats: ") or type(error).__name__


_log = logging.getLogger(__name__)

_CLOSE_S: Final = 5.0

Work = Callable[[BrokerConnection], Coroutine[Any, Any, None]]
"""Works for as long as a connection lasts; cancelled at its end."""


class BrokerThread:
    """Works with a broker until it is closed.

    Args:
        works: what is done with each connection, side by side.

    Attributes:
        problem: why it is not; empty where it is.
    """

    def __init__(self, access: BrokerAccess, works: Sequence[Work], name: str) -> None:
        self.is_connected, self.problem = False, ""
        self._access, self._works = access, works
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sessions: asyncio.Task[None] | None = None
        self._closing = threading.Event()
        self._thread = supervised_thread(
            self._run, name, self._note_problem, restarts=True, closed=self._closing.is_set
        )

    def start(self) -> None:
        """Begin to connect."""
        self._thread.start()

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function in the thread's event loop soon; never waits, and does nothing while there is none."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """End the connection and the thread."""
        self._closing.set()
        self.call_soon(self._cancel)
        self._thread.join(_CLOSE_S)

    def _cancel(self) -> None:
        if self._sessions is not None:
            self._sessions.cancel()

    def _note_problem(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning("The tournament: %s", problem)
        self.is_connected, self.problem = False, problem

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._run_sessions())

    async def _run_sessions(self) -> None:
        self._loop, self._sessions = asyncio.get_running_loop(), asyncio.current_task()
        pause_s = BROKER_LIMITS.retry_s
        while not self._closing.is_set():
            began_s = time.monotonic()
            try:
                await self._run_session()
            except DownfieldError as error:
                self._note_problem(str(error))
            if time.monotonic() - began_s > 2 * BROKER_LIMITS.longest_retry_s:
                pause_s = BROKER_LIMITS.retry_s
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, BROKER_LIMITS.longest_retry_s)

    async def _run_session(self) -> None:
        """Work with one connection until it ends.

        Raises:
            DownfieldError: why it has ended.
        """
        async with open_broker(self._access) as connection:
            self.is_connected, self.problem = True, ""
            tasks = [asyncio.create_task(work(connection)) for work in self._works]
            ended = asyncio.create_task(connection.ended.wait())
            try:
                done, _ = await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
            finally:
                self.is_connected = False
                for task in (ended, *tasks):
                    task.cancel()
                await asyncio.gather(ended, *tasks, return_exceptions=True)
            for task in tasks:
                if task in done:
                    task.result()
        raise BrokerError(f"{self._access.where}: the connection to the broker has ended")
