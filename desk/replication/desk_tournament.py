"""The desk's part in a tournament: it receives the journals of all tables, follows their feed, takes their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from downfield.core.errors import InputError
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.journal_receiver import JournalReceiver, Stored
from downfield.desk.replication.result_taker import ResultTaker
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.desk.tables.broker_tables import BrokerTables
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.desk.tables.status import TableStatus
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.tournament.broker import BrokerAccess, broker_access
from downfield.rig.tournament.broker_thread import BrokerThread
from downfield.rig.tournament.table_push import TablePush
from downfield.store.writing.replication import JournalBatch


class DeskTournament:
    """Receives the journals of all tables, and follows their feed, until it is closed.

    Args:
        access: to the broker.
        store: of the tournament.
        keeper: of the event, which gets the results of signed games.
        stored: called in some thread with each batch that was stored; again for one whose answer was lost.
        pushes: what is sent to tables; None to keep that in memory.

    Attributes:
        tables: what each table is doing.
        pushes: what is sent to tables, and what became of it.
        results: takes the results of signed games over into the event.
        where: the broker, for people.
        kept_in: the tournament's database, for people.

    """

    def __init__(
        self,
        access: BrokerAccess,
        store: TournamentStore,
        keeper: EventKeeper,
        stored: Stored = lambda _: None,
        pushes: PushKeeper | None = None,
    ) -> None:
        self.where, self.kept_in = access.where, store.where
        self._store, self.pushes = store, pushes or PushKeeper()
        self.tables = BrokerTables()
        self.results = ResultTaker(store, keeper)
        self._stored = stored
        self._receiver = JournalReceiver(store, self._note_stored)
        works = (self._receiver.run, self.tables.run, self.results.run, self.pushes.run)
        self._thread = BrokerThread(access, works, "tournament")
        self._thread.start()

    @property
    def problem(self) -> str:
        """Why the broker is not reached; empty where it is."""
        return self._thread.problem

    def statuses(self) -> list[TableStatus]:
        """Return what each table is doing now, in no order."""
        return self.tables.statuses(self.problem)

    def _note_stored(self, batch: JournalBatch) -> None:
        self.results.note(batch)
        self._stored(batch)

    def close(self) -> None:
        """Receive nothing more; what is being stored is stored first."""
        self._thread.close()
        self._receiver.close()
        self._store.close()


def open_desk_tournament(
    settings: RigSettings, keeper: EventKeeper, folder: Path, standing: Callable[[], tuple[TablePush, ...]] = tuple
) -> DeskTournament | None:
    """Join a tournament as its desk; None where the configuration names none.

    Args:
        settings: the configuration.
        keeper: of the event.
        folder: of the desk.
        standing: returns what every table gets besides what is sent to it.

    Raises:
        InputError: the credentials or what was sent before can't be read, or there is no database.
        MissingExtraError: a client is not installed.

    """
    tournament = settings.tournament
    if not tournament.servers:
        if tournament.database:
            raise InputError("tournament.database: the desk needs the broker as well: set tournament.servers.")
        return None
    access = broker_access(tournament.servers, tournament.credentials, "desk")
    if not tournament.database:
        raise InputError("tournament.servers: the desk keeps the games of all tables: set tournament.database.")
    pushes = PushKeeper(folder / "pushes.json", standing)
    return DeskTournament(access, TournamentStore(tournament.database), keeper, pushes=pushes)
