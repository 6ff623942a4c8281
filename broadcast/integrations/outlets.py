"""Runs the outlets, each by itself in one thread beside the game: what fails is told once and tried again."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from downfield.core.threads import supervised_thread
from downfield.game.published.game_topics import CallsUpdate, CallView, DeclarationView, GameView, ReviewedCalls
from downfield.game.published.hub import SNAPSHOT, FeedMessage, Hub
from downfield.game.published.stream_topics import ReplayView
from downfield.officiating.state.game_state import Phase

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OutletLimits:
    """Limits of the outlets."""

    waiting: int = 200  # Updates that wait for an outlet; beyond that the oldest are dropped
    retry_s: float = 5.0  # Pause after an outlet failed
    # An outlet that ran for so long did work: what fails then is told, even if it failed the same way before
    works_s: float = 30.0
    close_s: float = 3.0  # Timeout for the thread to end


OUTLET_LIMITS: Final = OutletLimits()

_TOPICS: Final = frozenset({"game", "calls", "replay", "reviewed"})


@dataclass(frozen=True, slots=True)
class StreamUpdate:
    """What happened."""

    game: GameView | None  # the state of the game afterwards; None before there is one
    call: CallView | None = None  # a call that was just made; None where something else happened
    # a call made before that was confirmed, overturned, struck or amended, as it is now; None likewise
    changed: CallView | None = None
    withdrawn: CallView | None = None  # a call made before that no longer stands, as it was; None likewise
    cause: DeclarationView | None = None  # what a person declared or ruled that led to it; None where nobody did
    turn: Literal["", "started", "ended"] = ""  # whether a game has begun or ended; empty otherwise
    replay: ReplayView | None = None  # a replay that the overlay now shows; None likewise
    paced: ReplayView | None = None  # the replay that is shown goes on at another speed, or is frozen; None likewise
    # whether the overlay was told to show the replay before no longer; nothing else happened then
    replay_over: bool = False
    at_ms: int = field(default=0, compare=False)  # when, ms since 1970
    made_s: float = field(default_factory=time.monotonic, compare=False)  # when, on the monotonic clock

    @property
    def is_state(self) -> bool:
        """Whether it tells how the game stands and nothing else: a newer one says all that it says."""
        other = self.call, self.changed, self.withdrawn, self.replay, self.paced
        return not (self.turn or self.replay_over) and all(part is None for part in other)


class Outlet(Protocol):
    """Sends updates to another program."""

    @property
    def name(self) -> str:
        """What it is, for people, such as ``"OBS"``."""

    async def run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        """Send updates until there are no more; an exception is reported, and it is run again."""


class UpdateQueue:
    """Updates that wait for one outlet, in one event loop; of states the newest alone."""

    def __init__(self, capacity: int = OUTLET_LIMITS.waiting) -> None:
        self._waiting: deque[StreamUpdate] = deque()
        self._capacity = capacity
        self._filled = asyncio.Event()
        self.dropped = 0

    def put(self, update: StreamUpdate) -> None:
        """Add an update; a state replaces one that waits last; when full, the oldest is dropped, states first."""
        if update.is_state and self._waiting and self._waiting[-1].is_state:
            self._waiting.pop()
        elif len(self._waiting) >= self._capacity:
            oldest = next((place for place, one in enumerate(self._waiting) if one.is_state), 0)
            del self._waiting[oldest]
            self.dropped += 1
        self._waiting.append(update)
        self._filled.set()

    async def __aiter__(self) -> AsyncIterator[StreamUpdate]:
        """Yield updates as they come, for ever."""
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            self._filled.clear()
            await self._filled.wait()


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
    """Turns the messages of a hub into updates; what the first snapshot has of before is not told."""

    def __init__(self) -> None:
        self._begun = False
        self._calls: dict[str, CallView] = {}
        self._calls_of = ""
        self._game: GameView | None = None
        self._has_begun = False  # whether anything has happened in this game
        self._replay = ReplayView()  # that was told last

    def updates(self, message: FeedMessage) -> list[StreamUpdate]:
        """Return what a message tells."""
        is_old, self._begun = message.topic == SNAPSHOT and not self._begun, True
        data = message.data if message.topic == SNAPSHOT else {message.topic: message.data}
        told = self._told_by_game(data.get("game"), data.get("calls"))
        of_calls = self._told_by_calls(data.get("calls"))
        told += [] if is_old else of_calls
        told += self._told_by_replay(data.get("replay"), is_old=message.topic == SNAPSHOT)
        if isinstance(reviewed := message.data, ReviewedCalls):
            told += _told_of_calls(reviewed.game, reviewed.calls, dict.fromkeys(c.id for c in reviewed.calls.calls))
        return [replace(update, at_ms=message.at_ms) for update in told]

    def _told_by_calls(self, update: object) -> list[StreamUpdate]:
        if not isinstance(update, CallsUpdate):
            return []
        if update.game != self._calls_of:  # the game before is over: its calls are not withdrawn
            self._calls_of, self._calls = update.game, {}
        told = list(_told_of_calls(self._game, update, self._calls))
        for call_id in update.withdrawn:
            self._calls.pop(call_id, None)
        self._calls |= {call.id: call for call in update.calls}
        return told

    def _told_by_replay(self, replay: object, *, is_old: bool) -> list[StreamUpdate]:
        if not isinstance(replay, ReplayView):
            return []
        before = self._replay
        if replay.take == before.take:
            self._replay = replay
            return [] if is_old or replay == before else [StreamUpdate(self._game, paced=replay)]
        if replay.state != "ready":
            return [StreamUpdate(self._game, replay_over=True)]
        self._replay = replay
        return [] if is_old else [StreamUpdate(self._game, replay=replay)]

    def _told_by_game(self, game: object, calls: object) -> list[StreamUpdate]:
        before = self._game
        if not isinstance(game, GameView) or game == before:
            return []
        self._game = game
        if before is not None and before.game != game.game:
            told = [StreamUpdate(game, turn="started")]
            if self._has_begun and before.phase != "over":  # of states the newest comes, which may be of another game
                told.insert(0, StreamUpdate(before.model_copy(update={"phase": Phase.OVER}), turn="ended"))
            self._has_begun = False
            return told
        self._has_begun = before is not None or game.t_ns > 0 or (isinstance(calls, CallsUpdate) and bool(calls.calls))
        if not self._has_begun:
            return [StreamUpdate(game, turn="started")]
        if before is not None and before.phase != "over" and game.phase == "over":
            return [StreamUpdate(game, turn="ended")]
        return [StreamUpdate(game)]


def _told_of_calls(
    game: GameView | None, update: CallsUpdate, known: Mapping[str, CallView | None]
) -> Iterator[StreamUpdate]:
    """Yield what has become of calls; `known`: those that were told before, by id."""
    struck = {call.id: call for call in update.struck}
    for call_id in update.withdrawn:
        if call_id in struck:
            yield StreamUpdate(game, changed=struck[call_id], cause=update.cause)
        elif (gone := known.get(call_id)) is not None:
            yield StreamUpdate(game, withdrawn=gone, cause=update.cause)
    for call in update.calls:
        if call.id not in known:
            yield StreamUpdate(game, call=call, cause=update.cause)
        elif known[call.id] != call:
            yield StreamUpdate(game, changed=call, cause=update.cause)
