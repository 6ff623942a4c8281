"""How a request changes the event: who sends it, what they have seen, what they confirm, and that it counts once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Query
from fastapi import Request as HttpRequest

from downfield.api.context.access_control import PrincipalDep
from downfield.core.errors import InputError
from downfield.desk.event.keeper import Request
from downfield.desk.event.operations import Operation
from downfield.desk.event.state import TournamentEvent
from downfield.desk.service.event_views import EventView, event_view
from downfield.desk.service.parts import DeskDep, DeskParts


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
    return Sender(desk, Request(principal.name, why, idempotency_key, content, _revision(if_match), confirmed))


def _revision(etag: str) -> int | None:
    """Return the revision of an ETag; None without one. Raises InputError: it is none of this desk's."""
    text = etag.strip().removeprefix("W/").strip('"').partition("-")[0]
    if text in {"", "*"}:
        return None
    if not text.isdecimal():
        raise InputError("If-Match is the ETag of the event, as GET /api/event answers it.")
    return int(text)


SenderDep = Annotated[Sender, Depends(_sender)]


def change_event(by: Sender, text: str, operation: Operation, about: str = "") -> EventView:
    """Change the event, and return it as it is shown afterwards."""
    return shown(by.desk, by.desk.keeper.change(by.request, text, operation, about=about))


def shown(desk: DeskParts, event: TournamentEvent) -> EventView:
    """Return the event as it is shown."""
    return event_view(event, desk.keeper.revision)
