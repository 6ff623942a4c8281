"""The parts of the desk that its endpoints use, and changes of the event on behalf of a request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Query
from fastapi import Request as HttpRequest
from fastapi.requests import HTTPConnection

from downfield.api.context.access_control import PrincipalDep
from downfield.core.errors import InputError
from downfield.desk.event.keeper import EventKeeper, Request
from downfield.desk.event.state import Change, TournamentEvent
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.service.event_views import EventView, event_view
from downfield.desk.tables.address_book import AddressBook, TableStatus
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.desk.tables.rig_client import TableWatcher


@dataclass(frozen=True, slots=True)
class DeskParts:
    """The parts of the desk."""

    keeper: EventKeeper
    book: AddressBook
    watcher: TableWatcher  # what each of them is doing
    tournament: DeskTournament  # the tables that tell of themselves
    grants: GrantKeeper  # the phones of the tournament

    def statuses(self) -> list[TableStatus]:
        """Return what each table is doing now, those that need somebody first; one that both tell of once."""
        connected = self.tournament.statuses()
        known = {status.address for status in connected}
        others = [status for status in self.watcher.statuses() if status.address not in known]
        return sorted([*connected, *others], key=lambda status: status.order)


async def _parts(connection: HTTPConnection) -> DeskParts:
    parts: DeskParts = connection.app.state.desk
    return parts


DeskDep = Annotated[DeskParts, Depends(_parts)]


@dataclass(frozen=True, slots=True)
class Sender:
    """A desk, and who changes its event."""

    desk: DeskParts
    request: Request


async def _sender(
    desk: DeskDep,
    principal: PrincipalDep,
    http: HttpRequest,
    confirmed: Annotated[bool, Query(description="That what else it changes is known.")] = False,
    why: Annotated[str, Query(max_length=200, description="For the trail.")] = "",
    idempotency_key: Annotated[str, Header(max_length=100)] = "",
    if_match: Annotated[str, Header(max_length=40, description="The ETag of the event that was shown.")] = "",
) -> Sender:
    content = hashlib.sha256(f"{http.method} {http.url.path}\n".encode() + await http.body()).hexdigest()
    revision = if_match.strip().removeprefix("W/").strip('"').partition("-")[0]
    if not (revision in {"", "*"} or revision.isdecimal()):
        raise InputError("If-Match is the ETag of the event, as GET /api/event answers it.")
    seen = int(revision) if revision.isdecimal() else None
    return Sender(desk, Request(principal.name, why, idempotency_key, content, seen, confirmed))


SenderDep = Annotated[Sender, Depends(_sender)]


def change_event(
    by: Sender, text: str, operation: Callable[..., TournamentEvent], *given: Any, about: str = ""
) -> EventView:
    """Change the event, and return it as it is shown afterwards.

    Args:
        operation: gets the event, what is given, and the line for the audit trail.
        about: id of the match it is about.
    """

    def change(event: TournamentEvent, line: Change) -> TournamentEvent:
        return operation(event, *given, line)

    return shown(by.desk, by.desk.keeper.change(by.request, text, change, about=about))


def shown(desk: DeskParts, event: TournamentEvent) -> EventView:
    """Return the event as it is shown."""
    return event_view(event, desk.keeper.revision)
