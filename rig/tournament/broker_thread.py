"""A thread that stays connected to a broker, works with each connection, and begins again when it is cut."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final

from downfield.core.errors import DownfieldError
from downfield.core.supervision import supervised_thread
from downfield.rig.tournament.broker import BROKER_LIMITS, BrokerAccess, BrokerConnection, BrokerError, open_broker

_log = logging.getLogger(__name__)

_CLOSE_S: Final = 5.0

Work = Callable[[BrokerConnection], Coroutine[Any, Any, None]]
"""Works for as long as a connection lasts; cancelled at its end."""


class BrokerThread:
    """Works with a broker until it is closed.

    Args:
        access: to the broker.
        works: what is done with each connection, side by side.
        name: of the thread.

    Attributes:
        is_connected: whether the broker is reached.
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
