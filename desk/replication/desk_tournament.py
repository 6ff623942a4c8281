"""A tournament at the desk: the journals of all tables are received and stored, results taken, pushes and feeds kept.

Several desks may receive at once: the broker gives each batch to one of them. Batches that come within a moment are
stored in one transaction, which saves most of their processor time. What waits for the database waits in the broker's
client, up to a limit; beyond that a rig gets no answer and sends its batch again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from downfield.core.errors import DownfieldError, FormatError, InputError, NotFoundError
from downfield.core.files.private_files import make_private_folder
from downfield.core.records import from_json, to_json
from downfield.core.threads import supervised_thread
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.event.tickets import is_assigned, is_open
from downfield.desk.replication.result_taker import ResultTaker
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.desk.tables.address_book import TableStatus
from downfield.desk.tables.broker_tables import BrokerTables
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.tournament.broker import DESK_SUBJECT, BrokerAccess, BrokerConnection, broker_access, is_inbox
from downfield.rig.tournament.broker_thread import BrokerThread
from downfield.rig.tournament.journal_sender import APPEND_SUBJECT, POSITIONS_SUBJECT
from downfield.rig.tournament.push_payloads import PUSH_SUBJECT, PushList, PushReport
from downfield.rig.tournament.table_feed import FEED_SUBJECT, opened_message
from downfield.store.database.engines import cause_of
from downfield.store.database.reader import StoreReader
from downfield.store.writing.replication import BatchReply, JournalBatch, PositionsQuestion, PositionsReply

if TYPE_CHECKING:
    from nats.aio.msg import Msg

GROUP_S: Final = 0.05  # While many tables send, one transaction begins in this time, which they share

MANY: Final = 4  # Of the last eight batches, so many rigs sent some of them: one that catches up alone waits for nobody

GROUP_MAX: Final = 64  # Batches of one transaction

WAITING_BYTES: Final = 64 << 20  # Batches that wait; beyond that they are dropped, and sent again by their rigs

GAMES_FILE: Final = "games.db"  # In the desk's folder: the games of all tables, where no database is named

_GROUP: Final = "downfield-receivers"
_log = logging.getLogger(__name__)


class JournalReceiver:
    """Stores what rigs send, and notes each batch that was stored, in some thread; again where an answer was lost."""

    def __init__(self, store: TournamentStore, stored: Callable[[JournalBatch], None]) -> None:
        self._store, self._stored = store, stored
        self._threads = ThreadPoolExecutor(2, "journal-receiver")

    async def run(self, connection: BrokerConnection) -> None:
        """Receive for as long as a connection lasts."""
        batches: asyncio.Queue[Msg] = asyncio.Queue(GROUP_MAX)  # the next message waits in the client meanwhile
        client = connection.client
        await client.subscribe(APPEND_SUBJECT, _GROUP, batches.put, pending_bytes_limit=WAITING_BYTES)
        await client.subscribe(POSITIONS_SUBJECT, _GROUP, self._answer_position, pending_bytes_limit=WAITING_BYTES)
        storing = asyncio.create_task(self._store_groups(batches))
        try:
            await connection.ended.wait()
        finally:
            storing.cancel()
            await asyncio.gather(storing, return_exceptions=True)

    def append(self, contents: list[bytes]) -> list[str]:
        """Store batches, and return the answer to each."""
        replies: dict[int, BatchReply] = {}
        batches: dict[int, JournalBatch] = {}
        for place, content in enumerate(contents):
            try:
                batches[place] = from_json(JournalBatch, content, path="a batch")
            except FormatError as error:
                replies[place] = BatchReply("refused", text=f"{error}. Rig and desk need the same version.")
        replies |= zip(batches, self._store.receive_all(list(batches.values())), strict=True)
        for place, batch in batches.items():
            reply = replies[place]
            if reply.status == "stored":
                self._stored(batch)
            elif reply.status == "refused":
                _log.warning("Table %s, game %s: %s", batch.game.table, batch.game.id, reply.text)
        return [to_json(BatchReply, replies[place]) for place in range(len(contents))]

    def positions(self, content: bytes) -> str:
        """Return the answer to a question about positions."""
        try:
            question = from_json(PositionsQuestion, content, path="a question about positions")
            reply = PositionsReply(self._store.positions(question.games))
        except DownfieldError as error:
            reply = PositionsReply({}, str(error))
        except SQLAlchemyError as error:
            reply = PositionsReply({}, f"the tournament's database: {cause_of(error)}")
        return to_json(PositionsReply, reply)

    def close(self) -> None:
        """End the threads; what they are storing is stored first."""
        self._threads.shutdown()

    async def _store_groups(self, batches: asyncio.Queue[Msg]) -> None:
        began_s = -GROUP_S
        senders: deque[str] = deque(maxlen=2 * MANY)
        while True:
            group = [await batches.get()]
            if len(set(senders)) >= MANY:
                await asyncio.sleep(max(0.0, began_s + GROUP_S - time.monotonic()))
            while len(group) < GROUP_MAX and not batches.empty():
                group.append(batches.get_nowait())
            began_s = time.monotonic()
            senders.extend(message.reply.rpartition(".")[0] for message in group)  # each client has an inbox
            await self._answer(self.append, group)

    async def _answer_position(self, message: Msg) -> None:
        await self._answer(lambda contents: [self.positions(contents[0])], [message])

    async def _answer(self, work: Callable[[list[bytes]], list[str]], messages: list[Msg]) -> None:
        """Do the work of messages in a thread, and respond to each that asks for an answer in an inbox."""
        messages = [message for message in messages if is_inbox(message.reply)]
        if not messages:
            return
        contents = [message.data for message in messages]
        try:
            answers = await asyncio.get_running_loop().run_in_executor(self._threads, work, contents)
            for message, answer in zip(messages, answers, strict=True):
                await message.respond(answer.encode())
        except Exception:  # the rigs get no answer, and send their batches again
            _log.exception("Batches of journals could not be received")


class DeskTournament:
    """Receives the journals of all tables, and follows their feed, until it is closed.

    Args:
        access: to the broker; None for tables on this computer, whose rigs ask the desk itself.
        keeper: of the event, which gets what tables say of its games.
        desk_key: public key of the desk, which assigns games to rigs.

    Attributes:
        tables: what each table is doing.
        pushes: what is sent to tables, and what became of it.
        results: reports what the tables' games say to the event.
        where: the broker, for people.
        kept_in: the tournament's database, for people.
    """

    def __init__(
        self,
        access: BrokerAccess | None,
        store: TournamentStore,
        keeper: EventKeeper,
        desk_key: str,
        pushes: PushKeeper,
    ) -> None:
        self.where, self.kept_in = "" if access is None else access.where, store.where
        self._store, self.pushes = store, pushes
        self.tables = BrokerTables()
        self.results = ResultTaker(store, keeper, lambda ticket, rig: is_assigned(ticket, rig, desk_key))
        self._receiver = JournalReceiver(store, self.results.note)
        works = (self._receiver.run, self.tables.run, self.pushes.run)
        self._thread = None if access is None else BrokerThread(access, works, "tournament")
        if self._thread is not None:
            self._thread.start()
        self._closing = closing = threading.Event()
        self._reporting = supervised_thread(
            lambda: self.results.run(closing), "results", _log.warning, restarts=True, closed=closing.is_set
        )
        self._reporting.start()

    def games(self) -> StoreReader:
        """Return what reads the games of all tables."""
        return self._store.reader()

    @property
    def problem(self) -> str:
        """Why the broker is not reached; empty where it is, or there is none."""
        return "" if self._thread is None else self._thread.problem

    def statuses(self) -> list[TableStatus]:
        """Return what each table is doing now, in no order."""
        return self.tables.statuses(self.problem)

    def answer(self, subject: str, content: bytes, signature: str) -> bytes:
        """Return the answer to what a rig on this computer sends, as a broker would carry it.

        Args:
            signature: of a message of the feed.

        Raises:
            FormatError: it is none of what a rig sends.
            NotFoundError: nothing is sent to that subject.
        """
        if subject == APPEND_SUBJECT:
            return self._receiver.append([content])[0].encode()
        if subject == POSITIONS_SUBJECT:
            return self._receiver.positions(content).encode()
        if subject == PUSH_SUBJECT:
            return to_json(PushList, self.pushes.list_for(from_json(PushReport, content, path=subject))).encode()
        if subject == DESK_SUBJECT:
            return self.pushes.mark.encode()
        if subject.startswith(f"{FEED_SUBJECT}."):
            self.tables.note(opened_message(subject, content, signature))
            return b""
        raise NotFoundError(f"Nothing is sent to {subject[:60]}.")

    def close(self) -> None:
        """Receive nothing more; what is being stored is stored first."""
        self._closing.set()
        self._reporting.join()
        if self._thread is not None:
            self._thread.close()
        self._receiver.close()
        self._store.close()


def open_desk_tournament(
    settings: RigSettings, keeper: EventKeeper, folder: Path, grants: GrantKeeper
) -> DeskTournament:
    """Join a tournament as its desk; without a broker it is one of tables on this computer, kept in an SQLite file.

    Args:
        grants: the phones of the tournament, which every table gets to know.

    Raises:
        InputError: the credentials or what was sent before can't be read, or there is no database.
        MissingExtraError: a client is not installed.
    """
    tournament, path, access = settings.tournament, folder / "pushes.json", None
    pushes = PushKeeper(path, grants.standing, lambda ticket: is_open(keeper.event, ticket), grants.key)
    if tournament.servers:
        access = broker_access(tournament.servers, tournament.credentials, "desk")
        if not tournament.database:
            raise InputError("tournament.servers: the desk keeps the games of all tables: set tournament.database.")
    else:
        make_private_folder(folder)
    store = TournamentStore(tournament.database or f"sqlite:///{(folder / GAMES_FILE).absolute()}")
    return DeskTournament(access, store, keeper, grants.key.public_text, pushes)
