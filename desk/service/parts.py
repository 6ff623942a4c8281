"""The parts of the desk that its endpoints use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from downfield.desk.event.keeper import EventKeeper
from downfield.desk.tables.address_book import AddressBook
from downfield.desk.tables.watcher import TableWatcher


@dataclass(frozen=True, slots=True)
class DeskParts:
    """The parts of the desk.

    Attributes:
        keeper: the event.
        book: the tables.
        watcher: what each table is doing.

    """

    keeper: EventKeeper
    book: AddressBook
    watcher: TableWatcher


async def _parts(connection: HTTPConnection) -> DeskParts:
    parts: DeskParts = connection.app.state.desk
    return parts


DeskDep = Annotated[DeskParts, Depends(_parts)]
