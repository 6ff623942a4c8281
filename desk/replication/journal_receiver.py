"""Receives the journals of all tables from the broker, and stores them.

Several desks may receive at once: the broker gives each batch to one of them. What waits for the database waits in the
broker's client, up to a limit; beyond that a rig gets no answer and sends its batch again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from downfield.core.errors import DownfieldError, FormatError
from downfield.core.records import from_json, to_json
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.game.database import cause_of
from downfield.game.replication import BatchReply, JournalBatch, PositionsQuestion, PositionsReply
from downfield.rig.tournament.broker import BrokerConnection
from downfield.rig.tournament.journal_sender import APPEND_SUBJECT, POSITIONS_SUBJECT

if TYPE_CHECKING:
    from nats.aio.msg import Msg

AT_ONCE: Final = 4
"""Batches stored at once, each in a thread with a connection of its own: a server commits them together."""

WAITING_BYTES: Final = 64 << 20
"""Batches that wait; beyond that they are dropped, and sent again by their rigs."""

_GROUP: Final = "downfield-receivers"
_log = logging.getLogger(__name__)

Stored = Callable[[JournalBatch], None]
"""Called in some thread with each batch that was stored; may be called again for one whose answer was lost."""


class JournalReceiver:
    """Stores what rigs send.

    Args:
        store: of the tournament.
        stored: called after each batch.

    """

    def __init__(self, store: TournamentStore, stored: Stored = lambda _: None) -> None:
        self._store, self._stored = store, stored
        self._threads = ThreadPoolExecutor(AT_ONCE, "journal-receiver")

    async def run(self, connection: BrokerConnection) -> None:
        """Receive for as long as a connection lasts."""
        free = asyncio.Semaphore(AT_ONCE)
        working: set[asyncio.Task[None]] = set()

        def end(task: asyncio.Task[None]) -> None:
            working.discard(task)
            free.release()

        async def receive(message: Msg) -> None:
            await free.acquire()  # the next message waits in the client meanwhile
            task = asyncio.create_task(self._answer(message))
            working.add(task)
            task.add_done_callback(end)

        client = connection.client
        for subject in (APPEND_SUBJECT, POSITIONS_SUBJECT):
            await client.subscribe(subject, _GROUP, receive, pending_bytes_limit=WAITING_BYTES)
        try:
            await connection.ended.wait()
        finally:
            await asyncio.gather(*working, return_exceptions=True)

    def close(self) -> None:
        """End the threads; what they are storing is stored first."""
        self._threads.shutdown()

    async def _answer(self, message: Msg) -> None:
        loop = asyncio.get_running_loop()
        try:
            answer = await loop.run_in_executor(self._threads, self._work, message.subject, message.data)
            await message.respond(answer.encode())
        except Exception:  # the rig gets no answer, and sends its batch again
            _log.exception("A batch of a journal could not be received")

    def _work(self, subject: str, content: bytes) -> str:
        if subject == POSITIONS_SUBJECT:
            return to_json(PositionsReply, self._positions(content))
        try:
            batch = from_json(JournalBatch, content, path="a batch")
        except FormatError as error:
            return to_json(BatchReply, BatchReply("refused", text=f"{error}. Rig and desk need the same version."))
        reply = self._store.receive(batch)
        if reply.status == "stored":
            self._stored(batch)
        elif reply.status == "refused":
            _log.warning("Table %s, game %s: %s", batch.game.table, batch.game.id, reply.text)
        return to_json(BatchReply, reply)

    def _positions(self, content: bytes) -> PositionsReply:
        try:
            question = from_json(PositionsQuestion, content, path="a question about positions")
            return PositionsReply(self._store.positions(question.games))
        except DownfieldError as error:
            return PositionsReply({}, str(error))
        except SQLAlchemyError as error:
            return PositionsReply({}, f"the tournament's database: {cause_of(error)}")
