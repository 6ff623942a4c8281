"""Opens connections to a broker, or to a desk on this computer, and works with them in a thread until it is closed."""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from downfield.core.errors import DownfieldError
from downfield.core.threads import supervised_thread
from downfield.rig.tournament.broker import (
    BROKER_LIMITS,
    BrokerAccess,
    BrokerConnection,
    BrokerError,
    inbox_of,
    is_desk,
    open_desk,
    reason_of,
)

if TYPE_CHECKING:
    from nats.aio.client import Client


@asynccontextmanager
async def open_broker(access: BrokerAccess) -> AsyncIterator[BrokerConnection]:
    """Open a connection to a broker, closed at the end. Raises BrokerError: it can't be reached, or lets nobody in."""
    if is_desk(access.servers):
        async with open_desk(access.servers[0]) as opened:
            yield opened
        return
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
        async with asyncio.timeout(2 * BROKER_LIMITS.connect_s * len(access.servers)):
            await client.connect(
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
            )
    except BaseException as error:  # also when it is cancelled: the client keeps its socket otherwise
        await _close(client)
        if not isinstance(error, Error | OSError | TimeoutError):
            raise
        raise BrokerError(
            f"{access.where}: the broker can't be reached ({reason_of(last[-1] if last else error)})"
        ) from None
    try:
        yield BrokerConnection(client, access.where, ended, inbox_of(access.user))
    finally:
        await _close(client)


async def _close(client: Client) -> None:
    """Close a client in any state, one that was never let in as well."""
    with suppress(Exception):  # whatever closing reports, the connection is over
        async with asyncio.timeout(BROKER_LIMITS.drain_s):
            await client.close()


def _tls(access: BrokerAccess) -> ssl.SSLContext | None:
    if not any(server.startswith("tls://") for server in access.servers):
        return None
    return ssl.create_default_context(cafile=None if access.certificate is None else str(access.certificate))


_log = logging.getLogger(__name__)

_CLOSE_S: Final = 5.0


async def _end_all(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel tasks until all have ended: `wait_for` of Python 3.11, as the client uses it, may swallow one."""
    while left := [task for task in tasks if not task.done()]:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=BROKER_LIMITS.again_s)
    await asyncio.gather(*tasks, return_exceptions=True)


Work = Callable[[BrokerConnection], Coroutine[Any, Any, None]]
"""Works for as long as a connection lasts; cancelled at its end."""


class BrokerThread:
    """Works with a broker until it is closed; `problem` says why it is not, and is empty where it is.

    Args:
        works: what is done with each connection, side by side.
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
        """Work with one connection until it ends. Raises DownfieldError: why it has ended."""
        async with open_broker(self._access) as connection:
            self.is_connected, self.problem = True, ""
            tasks = [asyncio.create_task(work(connection)) for work in self._works]
            ended = asyncio.create_task(connection.ended.wait())
            try:
                done, _ = await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
            finally:
                self.is_connected = False
                await _end_all((ended, *tasks))
            for task in tasks:
                if task in done:
                    task.result()
        raise BrokerError(f"{self._access.where}: the connection to the broker has ended")
