"""The parts of the desk that its endpoints use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.tables.address_book import AddressBook, TableStatus
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.desk.tables.rig_client import TableWatcher


@dataclass(frozen=True, slots=True)
class DeskParts:
    """The parts of the desk."""

    keeper: EventKeeper
    book: AddressBook
    watcher: TableWatcher  # what each of them is doing
    tournament: DeskTournament | None = None  # the tables that a broker tells of; None without one
    grants: GrantKeeper = field(default_factory=GrantKeeper)  # the phones of the tournament

    def statuses(self) -> list[TableStatus]:
        """Return what each table is doing now, those that need somebody first; one that both tell of once."""
        connected = [] if self.tournament is None else self.tournament.statuses()
        known = {status.address for status in connected}
        others = [status for status in self.watcher.statuses() if status.address not in known]
        return sorted([*connected, *others], key=lambda status: status.order)

    def forget(self, table: str) -> None:
        """Stop watching a table.

        Raises:
            NotFoundError: there is no such table.
            RefusedError: a broker tells of it, and its rig is connected.
            OutputError: it can't be kept.
        """
        if self.tournament is not None and any(status.id == table for status in self.tournament.statuses()):
            self.tournament.tables.forget(table)
        else:
            self.watcher.forget(self.book.remove(table).id)


async def _parts(connection: HTTPConnection) -> DeskParts:
    parts: DeskParts = connection.app.state.desk
    return parts


DeskDep = Annotated[DeskParts, Depends(_parts)]
