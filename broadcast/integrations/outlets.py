"""Runs the outlets, each by itself in one thread beside the game: what fails is told once and tried again."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from downfield.core.threads import supervised_thread
from downfield.game.published.game_topics import CallView, GameView
from downfield.game.published.hub import SNAPSHOT, FeedMessage, Hub, NewCalls
from downfield.game.published.stream_topics import ReplayView

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OutletLimits:
    """Limits of the outlets."""

    waiting: int = 200
    """Updates that wait for an outlet; beyond that the oldest are dropped."""

    retry_s: float = 5.0
    """Pause after an outlet failed."""

    works_s: float = 30.0
    """An outlet that ran for so long did work: what fails then is told, even if it failed the same way before."""

    close_s: float = 3.0
    """Timeout for the thread to end."""


OUTLET_LIMITS: Final = OutletLimits()

_TOPICS: Final = frozenset({"game", "calls", "replay"})


@dataclass(frozen=True, slots=True)
class StreamUpdate:
    """What happened.

    Attributes:
        game: the state of the game afterwards; None before there is one.
        call: a call that was just made; None where something else happened.
        replay: a replay that the overlay now shows; None likewise.
        replay_over: whether the overlay was told to show the replay before no longer; nothing else happened then.
        made_s: when, on the monotonic clock.
    """

    game: GameView | None
    call: CallView | None = None
    replay: ReplayView | None = None
    replay_over: bool = False
    made_s: float = field(default_factory=time.monotonic, compare=False)


class Outlet(Protocol):
    """Sends updates to another program."""

    @property
    def name(self) -> str:
        """What it is, for people, such as ``"OBS"``."""
        ...

    async def run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        """Send updates until there are no more; an exception is reported, and it is run again."""
        ...


class UpdateQueue:
    """Updates that wait for one outlet, in one event loop."""

    def __init__(self, capacity: int = OUTLET_LIMITS.waiting) -> None:
        self._queue: asyncio.Queue[StreamUpdate] = asyncio.Queue(capacity)
        self.dropped = 0

    def put(self, update: StreamUpdate) -> None:
        """Add an update; when full, drop the oldest."""
        if self._queue.full():
            self._queue.get_nowait()
            self.dropped += 1
        self._queue.put_nowait(update)

    async def __aiter__(self) -> AsyncIterator[StreamUpdate]:
        """Yield updates as they come, for ever."""
        while True:
            yield await self._queue.get()


class OutletRunner:
    """Runs outlets in a thread until it is closed.

    Args:
        outlets: at least one.
        failed: receives what failed, as a sentence; once until it works again.
        monotonic_s: measures how long an outlet worked.
    """

    def __init__(
        self,
        hub: Hub,
        outlets: Sequence[Outlet],
        failed: Callable[[str], None] = lambda _: None,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hub, self._outlets, self._failed, self._monotonic_s = hub, outlets, failed, monotonic_s
        self._closed = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._following: asyncio.Task[None] | None = None
        self._thread = supervised_thread(
            self._run, "outlets", self._report_failure, restarts=True, closed=self._closed.is_set
        )
        self._thread.start()

    def close(self) -> None:
        """Stop all outlets."""
        self._closed.set()
        loop, following = self._loop, self._following
        if loop is not None and following is not None and not loop.is_closed():
            with suppress(RuntimeError):  # it has just ended by itself
                loop.call_soon_threadsafe(following.cancel)
        self._thread.join(OUTLET_LIMITS.close_s)

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._run_all())

    def _report_failure(self, cause: str) -> None:
        self._failed(f"What is sent to other programs stopped: {cause}. It is begun again; the game goes on.")

    async def _run_all(self) -> None:
        self._loop = asyncio.get_running_loop()
        queues = [UpdateQueue() for _ in self._outlets]
        work = [self._supervise(outlet, queue) for outlet, queue in zip(self._outlets, queues, strict=True)]
        outlets = [asyncio.create_task(one) for one in work]
        self._following = following = asyncio.create_task(self._follow(queues))
        try:
            await following
        finally:
            for task in outlets:
                task.cancel()
            await asyncio.gather(*outlets, return_exceptions=True)

    async def _follow(self, queues: Sequence[UpdateQueue]) -> None:
        source = UpdateSource()
        async with aclosing(self._hub.subscribe(_TOPICS)) as batches:
            async for messages in batches:
                for update in (update for message in messages for update in source.updates(message)):
                    for queue in queues:
                        queue.put(update)

    async def _supervise(self, outlet: Outlet, queue: UpdateQueue) -> None:
        told = ""
        while True:
            began_s = self._monotonic_s()
            try:
                await outlet.run(aiter(queue))
            except Exception as error:
                if self._monotonic_s() - began_s > OUTLET_LIMITS.works_s:
                    told = ""
                text = f"{outlet.name}: {error or type(error).__name__}. It is tried again; the game goes on."
                if text != told:
                    told = text
                    _log.warning("%s", text)
                    with suppress(Exception):  # the report of a failure is no reason for another
                        self._failed(text)
            await asyncio.sleep(OUTLET_LIMITS.retry_s)


class UpdateSource:
    """Turns the messages of a hub into updates."""

    def __init__(self) -> None:
        self._new_calls = NewCalls()
        self._game: GameView | None = None
        self._take = 0

    def updates(self, message: FeedMessage) -> list[StreamUpdate]:
        """Return what a message tells."""
        made = [StreamUpdate(self._game, call=call) for call in self._new_calls.of(message)]
        if message.topic == "calls":
            return made
        data = message.data if message.topic == SNAPSHOT else {message.topic: message.data}
        replay, game = data.get("replay"), data.get("game")
        if isinstance(replay, ReplayView) and replay.state == "ready" and replay.take != self._take:
            self._take = replay.take
            if message.topic != SNAPSHOT:
                made.append(StreamUpdate(self._game, replay=replay))
        elif isinstance(replay, ReplayView) and replay.state != "ready" and replay.take != self._take:
            made.append(StreamUpdate(self._game, replay_over=True))
        if isinstance(game, GameView) and game != self._game:
            self._game = game
            made.append(StreamUpdate(game))
        return made
