"""The live feed's hub: what is true now, and numbered changes to everyone who listens.

The rig publishes from its own threads and never waits for a listener: a change goes into one bounded buffer, and the
server's loop is woken at most once for all of them. Every listener reads from the buffer at its own pace; one that
falls out of it is given a fresh snapshot instead. So is one that comes back after too long.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from pydantic_core import to_json

PROTOCOL: Final = 1
BUFFER: Final = 1024
"""Changes a listener may lag behind or come back after: about a minute of a running game."""

HEARTBEAT_S: Final = 5.0
CONFLATED: Final = frozenset({"game", "ball", "questions", "declared", "line_up", "scene", "health", "source"})
"""Topics that are told full, so that a listener that lags needs the newest value only."""

PACED: Final = frozenset({"scene", "health"})
"""Topics that come often and can wait a moment."""

AT_ONCE: Final = 8
APART_S: Final = 0.009
"""Of these so many subscribers are told at once, the next so much later. Where more than sixty listen, each is told of
them more rarely, and frames don't wait for hundreds of messages at once."""

SNAPSHOT: Final = "snapshot"


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value that is JSON already."""

    text: bytes


def encoded(value: Any) -> bytes:
    """A value as JSON."""
    return value.text if isinstance(value, Encoded) else to_json(value)


@dataclass(slots=True)
class FeedMessage:
    """One message of the feed.

    Attributes:
        epoch: which run of the service numbers it.
        seq: its number; a snapshot carries that of the last change it holds.
        topic: ``"snapshot"``, or what changed.
        data: the topic's value; for a snapshot all topics' values.
        at_ms: wall clock, ms since 1970.

    """

    epoch: str
    seq: int
    topic: str
    data: Any
    at_ms: int = 0
    _text: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> bytes:
        """It as one line of JSON, made once for all subscribers."""
        if self._text is None:
            head = f'{{"v":{PROTOCOL},"epoch":"{self.epoch}","seq":{self.seq},"topic":"{self.topic}",'
            self._text = f'{head}"at_ms":{self.at_ms},"data":'.encode() + self._data() + b"}"
        return self._text

    def _data(self) -> bytes:
        if self.topic != SNAPSHOT:
            return encoded(self.data)
        return b"{" + b",".join(to_json(topic) + b":" + encoded(value) for topic, value in self.data.items()) + b"}"


Mirror = Callable[[FeedMessage, Any], None]
"""Told of each change, and of its topic's value for a snapshot, in the thread that publishes; never blocks."""


@dataclass(slots=True, eq=False)
class _Listener:
    """One who listens: to which topics, what wakes it, and when it was last told something."""

    topics: frozenset[str] | None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    told_at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class _Loop:
    """One server loop, its subscribers, the topics there is news of, and who is still to be woken for earlier ones."""

    loop: asyncio.AbstractEventLoop
    listening: set[_Listener] = field(default_factory=set)
    news: set[str] = field(default_factory=set)
    due: dict[_Listener, None] = field(default_factory=dict)
    pacing: bool = False

    def beat(self) -> None:
        """Wake who has long heard nothing, again and again while there are subscribers: one timer for all."""
        due = time.monotonic() - HEARTBEAT_S
        for one in self.listening:
            if one.told_at <= due:
                one.changed.set()
        if self.listening:
            self.loop.call_later(HEARTBEAT_S / 5, self.beat)

    def tell(self, news: Collection[str]) -> None:
        """Wake who wants to hear of these topics; a few at a time where that can wait."""
        urgent = not PACED.issuperset(news)
        for one in self.listening:
            if one.topics is None or SNAPSHOT in news or not one.topics.isdisjoint(news):
                if urgent:
                    self.due.pop(one, None)
                    one.changed.set()
                else:
                    self.due[one] = None
        if not self.pacing:
            self.wake_some()

    def wake_some(self) -> None:
        """Wake the next of those who are due, and the others soon after."""
        for one in list(islice(self.due, AT_ONCE)):
            del self.due[one]
            one.changed.set()
        self.pacing = bool(self.due)
        if self.pacing:
            self.loop.call_later(APART_S, self.wake_some)


class Hub:
    """Holds the latest value of every topic and tells subscribers of each change.

    Attributes:
        epoch: which run of the service numbers the changes.
        elsewhere: how many listen to those who mirror this.

    Args:
        buffer: how many changes are kept for those who lag.

    """

    def __init__(self, buffer: int = BUFFER) -> None:
        self.epoch = secrets.token_hex(4)
        self.elsewhere = 0
        self._mirror: Mirror | None = None
        self._lock = threading.Lock()
        self._seq = 0
        self._buffer: deque[FeedMessage] = deque(maxlen=buffer)
        self._topics: dict[str, Any] = {}
        self._told: dict[str, int] = {}  # number of its last change
        self._told_at: dict[str, float] = {}
        self._loops: dict[asyncio.AbstractEventLoop, _Loop] = {}
        self._closed = False

    @property
    def subscribers(self) -> int:
        """How many listen now."""
        return self.here + self.elsewhere

    @property
    def here(self) -> int:
        """How many of them in this process."""
        with self._lock:
            return sum(len(one.listening) for one in self._loops.values())

    @property
    def seq(self) -> int:
        """Number of the last change."""
        return self._seq

    def close(self) -> None:
        """Let every listener's feed end."""
        with self._lock:
            self._closed = True
            self._wake(SNAPSHOT)

    def publish(self, topic: str, data: Any, *, full: Any = None) -> None:
        """Set a topic's value. Never blocks on a listener; callable from any thread.

        Args:
            topic: which.
            data: its value, or what of it changed; must not be changed afterwards.
            full: its value for a snapshot, where `data` is only what changed.

        """
        with self._lock:
            self._add(FeedMessage(self.epoch, self._seq + 1, topic, data, time.time_ns() // 1_000_000), full)

    def mirrored(self, mirror: Mirror | None) -> FeedMessage:
        """Have another one told of every change from now on; None for nobody any more.

        Returns:
            A snapshot to begin with.

        """
        with self._lock:
            self._mirror = mirror
            return self._snapshot(None)

    def begin(self, epoch: str, seq: int, topics: dict[str, Any]) -> None:
        """Begin where a hub that is mirrored by this one is."""
        with self._lock:
            self.epoch, self._seq, self._topics = epoch, seq, topics

    def repeat(self, change: FeedMessage, full: Any = None) -> None:
        """Publish what a hub that is mirrored by this one did, as it came."""
        with self._lock:
            self._add(change, full)

    def value(self, topic: str) -> Any:
        """A topic's value now; None before it was first published."""
        with self._lock:
            return self._topics.get(topic)

    def age_s(self, topic: str) -> float:
        """How long ago a topic was last published; infinite before it was first."""
        with self._lock:
            return time.monotonic() - self._told_at.get(topic, float("-inf"))

    def snapshot(self, topics: Collection[str] | None = None) -> FeedMessage:
        """Everything that is true now, or of some topics only."""
        with self._lock:
            return self._snapshot(topics)

    async def subscribe(
        self, topics: Collection[str] | None = None, after: tuple[str, int] | None = None
    ) -> AsyncGenerator[list[FeedMessage]]:
        """A snapshot, then every change until the hub is closed; after falling behind a snapshot again.

        Args:
            topics: which; None for all.
            after: epoch and number of the last change that was received, to go on from there.

        Yields:
            What has come since, in order; nothing as a heartbeat, when there was nothing.

        """
        loop = asyncio.get_running_loop()
        listener = _Listener(None if topics is None else frozenset(topics))
        with self._lock:
            here = self._loops.setdefault(loop, _Loop(loop))
            here.listening.add(listener)
            first = len(here.listening) == 1
        if first:
            here.beat()
        seq = after[1] if after is not None and after[0] == self.epoch and after[1] <= self._seq else None
        try:
            while not self._closed:
                listener.changed.clear()
                changes, seq = self._since(seq, topics)
                if changes or time.monotonic() - listener.told_at >= HEARTBEAT_S:
                    yield changes
                    listener.told_at = time.monotonic()
                else:
                    await listener.changed.wait()
        finally:
            with self._lock:
                here.listening.discard(listener)
                here.due.pop(listener, None)
                if not here.listening:
                    self._loops.pop(loop, None)

    def _since(self, seq: int | None, topics: Collection[str] | None) -> tuple[list[FeedMessage], int]:
        """What came after a change, and the number of the last of it."""
        with self._lock:
            behind = None if seq is None else self._seq - seq
            if behind is None or behind > len(self._buffer):
                return [self._snapshot(topics)], self._seq
            changes = [self._buffer[place] for place in range(-behind, 0)]
            seq = self._seq
        return _conflated(one for one in changes if topics is None or one.topic in topics), seq

    def _snapshot(self, topics: Collection[str] | None) -> FeedMessage:
        data = {name: value for name, value in self._topics.items() if topics is None or name in topics}
        return FeedMessage(self.epoch, self._seq, SNAPSHOT, data, time.time_ns() // 1_000_000)

    def _add(self, change: FeedMessage, full: Any) -> None:
        topic = change.topic
        self._forget(topic)
        self._seq = self._told[topic] = change.seq
        self._topics[topic] = change.data if full is None else full
        self._told_at[topic] = time.monotonic()
        self._buffer.append(change)
        if self._mirror is not None:
            self._mirror(change, full)
        self._wake(topic)

    def _forget(self, topic: str) -> None:
        """Let go of a value nobody will be told any more: a minute of scenes is much for the collector to visit."""
        before = self._told.get(topic)
        if topic in CONFLATED and before is not None and self._seq - before < len(self._buffer):
            self._buffer[before - self._seq - 1] = FeedMessage(self.epoch, before, topic, None)

    def _wake(self, topic: str) -> None:
        for one in self._loops.values():
            if not one.news and not one.loop.is_closed():
                one.loop.call_soon_threadsafe(self._woken, one)
            one.news.add(topic)

    def _woken(self, one: _Loop) -> None:
        with self._lock:
            news, one.news = one.news, set()
        one.tell(news)


def _conflated(changes: Iterable[FeedMessage]) -> list[FeedMessage]:
    """Changes without values of conflated topics that a later one replaces."""
    newest: set[str] = set()
    kept: list[FeedMessage] = []
    for change in reversed(list(changes)):
        if change.topic in newest:
            continue
        if change.topic in CONFLATED:
            newest.add(change.topic)
        kept.append(change)
    kept.reverse()
    return kept
