"""The hub of the live feed: the latest value of every topic, and numbered messages to all subscribers.

The rig publishes from its own threads and never waits for a subscriber: a message goes into one bounded buffer, and the
server's event loop is woken at most once for any number of messages. Every subscriber reads from the buffer at its own
pace. One that falls out of the buffer, or comes back too late, gets a fresh snapshot instead.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

from pydantic_core import to_json

from downfield.core.platform.clock import RUN_CLOCK
from downfield.game.published import board_topics, game_topics, stream_topics
from downfield.game.published.game_topics import CallsUpdate, CallView
from downfield.game.records.challenges import ChallengesView
from downfield.game.records.models import TopicModel

PROTOCOL: Final = 2  # version of the messages

SNAPSHOT: Final = "snapshot"  # topic of a message that carries every topic's value

TOPICS: Final[Mapping[str, type[TopicModel]]] = MappingProxyType(
    {
        "game": game_topics.GameView,
        "ball": game_topics.BallView,
        "calls": CallsUpdate,
        "questions": game_topics.Questions,
        "declared": game_topics.RecentDeclarations,
        "line_up": board_topics.LineUpView,
        "scene": board_topics.SceneView,
        "picture": board_topics.PictureView,
        "health": board_topics.HealthStatus,
        "source": board_topics.SourceStatus,
        "notice": game_topics.Notice,
        "challenges": ChallengesView,
        "reviewed": game_topics.ReviewedCalls,
        "replay": stream_topics.ReplayView,
        "graphic": stream_topics.GraphicView,
        "sponsors": stream_topics.SponsorsView,
        "on_air": stream_topics.OnAirView,
        "strip": stream_topics.StripView,
        "schedule": board_topics.ScheduleView,
    }
)
"""The topics, and what the values of each are."""

CONFLATED_TOPICS: Final = TOPICS.keys() - {"calls", "notice", "reviewed"}
"""Topics whose messages carry the topic's full value, so that a subscriber that lags needs the newest only."""

PACED_TOPICS: Final = frozenset({"scene", "health"})  # topics that are published often; a small delay does no harm


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """Thresholds of the feed."""

    buffered_messages: int = 1024  # a subscriber may lag, or be away, by so many: about a minute of a running game
    heartbeat_s: float = 5.0  # a subscriber that was sent nothing for this long gets a heartbeat
    paced_batch: int = 8  # subscribers woken at once for a paced topic, so that frames don't wait for hundreds
    # time between two such batches: with more than about sixty subscribers each gets scenes more rarely
    paced_interval_s: float = 0.009


FEED_LIMITS: Final = FeedLimits()


@dataclass(frozen=True, slots=True)
class EncodedValue:
    """A value that is JSON already."""

    text: bytes


def encode_value(value: Any) -> bytes:
    """Return a value as JSON."""
    return value.text if isinstance(value, EncodedValue) else to_json(value)


@dataclass(slots=True)
class FeedMessage:
    """One message of the feed."""

    epoch: str  # identifies the run of the service that numbers the messages
    seq: int  # the message's number; a snapshot carries the number of the last message it includes
    topic: str  # `"snapshot"`, or the topic that changed
    data: Any  # the topic's value; for a snapshot the values of all topics
    at_ms: int = 0  # wall clock, ms since 1970
    _text: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> bytes:
        """The message as one line of JSON; encoded once for all subscribers."""
        if self._text is None:
            head = f'{{"v":{PROTOCOL},"epoch":"{self.epoch}","seq":{self.seq},"topic":"{self.topic}",'
            self._text = f'{head}"at_ms":{self.at_ms},"data":'.encode() + self._encode_data() + b"}"
        return self._text

    def _encode_data(self) -> bytes:
        if self.topic != SNAPSHOT:
            return encode_value(self.data)
        values = (to_json(topic) + b":" + encode_value(value) for topic, value in self.data.items())
        return b"{" + b",".join(values) + b"}"


Mirror = Callable[[FeedMessage, Any], None]
"""Called with each message and its topic's full value, in the publishing thread; must not block."""


@dataclass(slots=True, eq=False)
class _Subscriber:
    """One subscriber: its topics, the event that wakes it, and when it was last sent something."""

    topics: frozenset[str] | None
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    sent_at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class _LoopSubscribers:
    """The subscribers on one event loop, the topics published since it was woken, and the subscribers to wake later."""

    loop: asyncio.AbstractEventLoop
    subscribers: set[_Subscriber] = field(default_factory=set)
    changed_topics: set[str] = field(default_factory=set)
    waiting: dict[_Subscriber, None] = field(default_factory=dict)
    pacing: bool = False

    def send_heartbeats(self) -> None:
        """Wake every subscriber that was sent nothing lately; repeats while there are any, with one timer for all."""
        due_since = time.monotonic() - FEED_LIMITS.heartbeat_s
        for subscriber in self.subscribers:
            if subscriber.sent_at <= due_since:
                subscriber.wake.set()
        if self.subscribers:
            self.loop.call_later(FEED_LIMITS.heartbeat_s / 5, self.send_heartbeats)

    def notify(self, topics: Collection[str]) -> None:
        """Wake the subscribers of these topics: at once, or a few at a time if all the topics are paced."""
        urgent = not PACED_TOPICS.issuperset(topics)
        for subscriber in self.subscribers:
            if subscriber.topics is None or SNAPSHOT in topics or not subscriber.topics.isdisjoint(topics):
                if urgent:
                    self.waiting.pop(subscriber, None)
                    subscriber.wake.set()
                else:
                    self.waiting[subscriber] = None
        if not self.pacing:
            self.wake_batch()

    def wake_batch(self) -> None:
        """Wake the next few waiting subscribers, and schedule the others."""
        for subscriber in list(islice(self.waiting, FEED_LIMITS.paced_batch)):
            del self.waiting[subscriber]
            subscriber.wake.set()
        self.pacing = bool(self.waiting)
        if self.pacing:
            self.loop.call_later(FEED_LIMITS.paced_interval_s, self.wake_batch)


class Hub:
    """Holds the latest value of every topic and sends each change to the subscribers.

    Attributes:
        epoch: identifies the run of the service that numbers the messages.
        seq: number of the last message.
        closed: whether every subscription has ended.

    Args:
        buffer: how many messages are kept for subscribers that lag.
    """

    def __init__(self, buffer: int = FEED_LIMITS.buffered_messages) -> None:
        self.epoch = secrets.token_hex(4)
        self._relayed_subscribers = 0
        self._mirror: Mirror | None = None
        self._lock = threading.Lock()
        self.seq = 0
        self._buffer: deque[FeedMessage] = deque(maxlen=buffer)
        self._values: dict[str, Any] = {}
        self._last_seq: dict[str, int] = {}
        self._published_at: dict[str, float] = {}
        self._loops: dict[asyncio.AbstractEventLoop, _LoopSubscribers] = {}
        self.closed = False

    @property
    def subscribers(self) -> int:
        """How many subscribers there are, here and behind the mirror."""
        return self.local_subscribers + self._relayed_subscribers

    @property
    def local_subscribers(self) -> int:
        """How many subscribers this process serves."""
        with self._lock:
            return sum(len(group.subscribers) for group in self._loops.values())

    def close(self) -> None:
        """End every subscription."""
        with self._lock:
            self.closed = True
            self._wake(SNAPSHOT)

    def publish(self, topic: str, data: Any, *, full: Any = None) -> None:
        """Set a topic's value. Never blocks on a subscriber; callable from any thread.

        Args:
            data: its value, or what of it changed; must not be changed afterwards.
            full: its value for a snapshot, where `data` is only what changed.
        """
        with self._lock:
            self._add(FeedMessage(self.epoch, self.seq + 1, topic, data, RUN_CLOCK.now_ms()), full)

    def value(self, topic: str) -> Any:
        """Return a topic's value; None before it was first published."""
        with self._lock:
            return self._values.get(topic)

    def age_s(self, topic: str) -> float:
        """Return how long ago a topic was last published; infinity if it never was."""
        with self._lock:
            return time.monotonic() - self._published_at.get(topic, float("-inf"))

    def snapshot(self, topics: Collection[str] | None = None) -> FeedMessage:
        """Return the values of all topics, or of some."""
        with self._lock:
            return self._snapshot(topics)

    def attach_mirror(self, mirror: Mirror) -> FeedMessage:
        """Pass every message from now on to a mirror as well. Returns a snapshot for the mirror to begin with."""
        with self._lock:
            self._mirror = mirror
            return self._snapshot(None)

    def detach_mirror(self) -> None:
        """Pass messages to no mirror, and count no subscribers behind one."""
        with self._lock:
            self._mirror = None
            self._relayed_subscribers = 0

    def count_relayed(self, subscribers: int) -> None:
        """Set how many subscribers the mirror serves."""
        self._relayed_subscribers = subscribers

    def begin_as_mirror(self, epoch: str, seq: int, values: dict[str, Any]) -> None:
        """Start from another hub's snapshot."""
        with self._lock:
            self.epoch, self.seq, self._values = epoch, seq, values

    def repeat(self, message: FeedMessage, full: Any = None) -> None:
        """Publish another hub's message with its number."""
        with self._lock:
            self._add(message, full)

    async def subscribe(
        self, topics: Collection[str] | None = None, after: tuple[str, int] | None = None
    ) -> AsyncGenerator[list[FeedMessage]]:
        """Yield a snapshot, then every message until the hub is closed; after falling behind a snapshot again.

        Args:
            topics: their names; None for all.
            after: epoch and number of the last message received, to resume after it.

        Yields:
            The messages since the last batch, in order; an empty list as a heartbeat when there were none.
        """
        loop = asyncio.get_running_loop()
        subscriber = _Subscriber(None if topics is None else frozenset(topics))
        with self._lock:
            group = self._loops.setdefault(loop, _LoopSubscribers(loop))
            group.subscribers.add(subscriber)
            first = len(group.subscribers) == 1
        if first:
            group.send_heartbeats()
        seq = after[1] if after is not None and after[0] == self.epoch and after[1] <= self.seq else None
        try:
            while not self.closed:
                subscriber.wake.clear()
                messages, seq = self._messages_after(seq, topics)
                if messages or time.monotonic() - subscriber.sent_at >= FEED_LIMITS.heartbeat_s:
                    yield messages
                    subscriber.sent_at = time.monotonic()
                else:
                    await subscriber.wake.wait()
        finally:
            with self._lock:
                group.subscribers.discard(subscriber)
                group.waiting.pop(subscriber, None)
                if not group.subscribers:
                    self._loops.pop(loop, None)

    def _messages_after(self, seq: int | None, topics: Collection[str] | None) -> tuple[list[FeedMessage], int]:
        """Return the messages after a number, and the number of the last of them."""
        with self._lock:
            behind = None if seq is None else self.seq - seq
            if behind is None or behind > len(self._buffer):
                return [self._snapshot(topics)], self.seq
            messages = [self._buffer[place] for place in range(-behind, 0)]
            seq = self.seq
        return _conflate(message for message in messages if topics is None or message.topic in topics), seq

    def _snapshot(self, topics: Collection[str] | None) -> FeedMessage:
        data = {name: value for name, value in self._values.items() if topics is None or name in topics}
        return FeedMessage(self.epoch, self.seq, SNAPSHOT, data, RUN_CLOCK.now_ms())

    def _add(self, message: FeedMessage, full: Any) -> None:
        topic = message.topic
        self._drop_superseded(topic)
        self.seq = self._last_seq[topic] = message.seq
        self._values[topic] = message.data if full is None else full
        self._published_at[topic] = time.monotonic()
        self._buffer.append(message)
        if self._mirror is not None:
            self._mirror(message, full)
        self._wake(topic)

    def _drop_superseded(self, topic: str) -> None:
        """Release a value no subscriber will be sent: a minute of scenes is much for the garbage collector to visit."""
        before = self._last_seq.get(topic)
        if topic in CONFLATED_TOPICS and before is not None and self.seq - before < len(self._buffer):
            self._buffer[before - self.seq - 1] = FeedMessage(self.epoch, before, topic, None)

    def _wake(self, topic: str) -> None:
        for group in self._loops.values():
            if not group.changed_topics and not group.loop.is_closed():
                group.loop.call_soon_threadsafe(self._notify, group)
            group.changed_topics.add(topic)

    def _notify(self, group: _LoopSubscribers) -> None:
        with self._lock:
            topics, group.changed_topics = group.changed_topics, set()
        group.notify(topics)


def _conflate(messages: Iterable[FeedMessage]) -> list[FeedMessage]:
    """Return the messages without those of conflated topics that a later one replaces."""
    newest: set[str] = set()
    kept: list[FeedMessage] = []
    for message in reversed(list(messages)):
        if message.topic in newest:
            continue
        if message.topic in CONFLATED_TOPICS:
            newest.add(message.topic)
        kept.append(message)
    kept.reverse()
    return kept


class NewCalls:
    """Follows the topic `calls` of a hub, to tell calls made just now from those that it repeats."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()  # by their game and their id

    def of(self, message: FeedMessage) -> list[CallView]:
        """Return the calls of a message that were not there before; those of a snapshot are old."""
        snapshot = message.topic == SNAPSHOT
        update = message.data.get("calls") if snapshot else message.data
        if not isinstance(update, CallsUpdate):
            return []
        self._known.difference_update((update.game, call_id) for call_id in update.withdrawn)
        new = [call for call in update.calls if (update.game, call.id) not in self._known]
        self._known.update((update.game, call.id) for call in new)
        return [] if snapshot else new
