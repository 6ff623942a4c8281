"""The tables of a tournament by its broker's feed: each appears by itself as soon as its rig is connected."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from downfield.core.errors import FormatError, NotFoundError, RefusedError
from downfield.desk.tables.address_book import MAX_NAME, STALE_S, TableEntry, TableStatus, status_of
from downfield.game.records.owner import rig_id
from downfield.rig.tournament.broker import DESK_SUBJECT, BrokerConnection, BrokerError
from downfield.rig.tournament.table_feed import ABOUT, FEED_SUBJECT, SIGNATURE_HEADER, TableMessage, opened_message

if TYPE_CHECKING:
    from nats.aio.msg import Msg
    from nats.js import JetStreamContext

STREAM: Final = "DOWNFIELD_FEED"  # The stream in which the broker keeps the newest message of each subject of the feed

MAX_AGE_S: Final = 7 * 86_400  # A table that was not heard of for this long is forgotten

MAX_TABLES: Final = 2000  # Of one tournament; further ones are not shown

_FETCHED_AT_ONCE: Final = 200
_FETCH_S: Final = 5.0
_ALL: Final = f"{FEED_SUBJECT}.*.*"
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _FeedTable:
    name: str
    values: dict[str, Any] = field(default_factory=dict)
    heard_ns: int | None = None


class BrokerTables:
    """The tables that a broker's feed tells of. Callable from any thread.

    Args:
        now_ns: the monotonic clock.
    """

    def __init__(self, now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._now_ns = now_ns
        self._lock = threading.Lock()
        self._tables: dict[str, _FeedTable] = {}
        self._forgotten: set[str] = set()

    def statuses(self, problem: str = "") -> list[TableStatus]:
        """Return what each table is doing now, in no order. `problem`: why the broker is not reached, if it isn't."""
        now_ns = self._now_ns()
        with self._lock:
            known = [(rig, table.name, dict(table.values), table.heard_ns) for rig, table in self._tables.items()]
        found = []
        for rig, name, values, heard_ns in known:
            about = values.get(ABOUT)
            address = about.get("address") if isinstance(about, dict) else ""
            if not isinstance(address, str) or not address.startswith(("http://", "https://")):
                address = ""
            entry = TableEntry(rig, name, address)
            silent_s = None if heard_ns is None else (now_ns - heard_ns) / 1e9
            found.append(status_of(entry, values, silent_s, problem, refused=False))
        return found

    def note(self, message: TableMessage, *, live: bool = True) -> None:
        """Note the newest value of a topic.

        Args:
            live: whether it was sent now; otherwise it is what the broker has kept, and never replaces a live one.
        """
        rig = rig_id(message.key)
        name = message.table.strip()[:MAX_NAME] or rig
        with self._lock:
            if rig not in self._tables and len(self._tables) >= MAX_TABLES:
                return
            table = self._tables.setdefault(rig, _FeedTable(name))
            if live:
                table.name, table.heard_ns = name, self._now_ns()
                table.values[message.topic] = message.data
            else:
                table.values.setdefault(message.topic, message.data)

    def forget(self, rig: str) -> None:
        """Forget a table. Raises NotFoundError: there is none of this rig; RefusedError: its rig is connected."""
        with self._lock:
            table = self._tables.get(rig)
            if table is None:
                raise NotFoundError("The desk watches no such table.")
            if table.heard_ns is not None and self._now_ns() - table.heard_ns < STALE_S * 1e9:
                raise RefusedError(f"{table.name} is connected. Stop its rig, or take it out of the tournament.")
            del self._tables[rig]
            self._forgotten.add(rig)

    async def run(self, connection: BrokerConnection) -> None:
        """Follow the feed for as long as a connection lasts."""
        client = connection.client
        stream = client.jetstream(timeout=_FETCH_S)
        await client.subscribe(_ALL, cb=self._hear)
        try:
            await self._begin(stream)
            await connection.publish(DESK_SUBJECT, b"")  # what rigs sent before the stream existed was not kept
            while True:
                await asyncio.sleep(1.0)
                with self._lock:
                    gone, self._forgotten = self._forgotten, set()
                for rig in gone:
                    await stream.purge_stream(STREAM, subject=f"{FEED_SUBJECT}.{rig}.*")
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the client raises a type of its own for each answer
            text = f"the broker keeps no feed ({error}). Start it as 'downfield desk broker' does, with JetStream"
            raise BrokerError(text) from None

    async def _hear(self, message: Msg, *, live: bool = True) -> None:
        try:
            signature = (message.headers or {}).get(SIGNATURE_HEADER, "")
            self.note(opened_message(message.subject, message.data, signature), live=live)
        except FormatError as error:
            _log.warning("%s", error)

    async def _begin(self, stream: JetStreamContext) -> None:
        """Have the broker keep the feed, and take what it has kept so far."""
        from nats.errors import TimeoutError as NothingError
        from nats.js.api import ConsumerConfig, DeliverPolicy, DiscardPolicy, StorageType, StreamConfig
        from nats.js.errors import BadRequestError

        wanted = StreamConfig(
            STREAM,
            subjects=[_ALL],
            max_msgs_per_subject=1,
            discard=DiscardPolicy.OLD,
            storage=StorageType.FILE,
            max_age=MAX_AGE_S,
        )
        try:
            await stream.add_stream(wanted)
        except BadRequestError:  # one of another version is there
            await stream.update_stream(wanted)
        newest = ConsumerConfig(deliver_policy=DeliverPolicy.LAST_PER_SUBJECT, inactive_threshold=60.0)
        kept = await stream.pull_subscribe(_ALL, stream=STREAM, config=newest)
        while (await kept.consumer_info()).num_pending:
            try:
                messages = await kept.fetch(_FETCHED_AT_ONCE, timeout=_FETCH_S)
            except NothingError:
                break
            for message in messages:
                await self._hear(message, live=False)
        await kept.unsubscribe()
