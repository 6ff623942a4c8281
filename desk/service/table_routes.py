"""The tables of the hall, and the phones that may work at them: the director makes and revokes grants."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response
from pydantic import BaseModel, Field

from downfield.api.context.access_control import AuthorizedRouter, PrincipalDep
from downfield.api.http.network_addresses import qr_svg
from downfield.api.http.requests import sends
from downfield.api.routes.pairing import base_url
from downfield.api.security.access import Role
from downfield.core.errors import RefusedError
from downfield.core.records import made_of
from downfield.desk.service.parts import DeskDep, DeskParts
from downfield.desk.service.push_routes import AnswerView, answers_to
from downfield.desk.tables.address_book import MAX_NAME, TableStatus
from downfield.desk.tables.grant_keeper import IssuedGrant
from downfield.desk.tables.rig_client import pair_with
from downfield.game.records.commands import Name
from downfield.game.records.models import RequestModel

tables_router = AuthorizedRouter(prefix="/api/tables", tags=["tables"])
grants_router = AuthorizedRouter(prefix="/api/grants", tags=["access"])

TableId = Annotated[str, Path(pattern=r"^([0-9a-f]{8}|[a-z2-7]{16})$")]
"""At this desk, or the rig's where a tournament's broker tells of it."""


class TableRequest(RequestModel):
    """A table to be watched."""

    name: str = Field(min_length=1, max_length=MAX_NAME)
    address: str = Field(min_length=1, max_length=300, description="Of its rig, such as 192.168.1.43:8317.")
    code: str = Field(min_length=1, max_length=40, description="A pairing code of its rig, to watch.")


class NameRequest(RequestModel):
    """Another name for a table."""

    name: str = Field(min_length=1, max_length=MAX_NAME)


@tables_router.get("", "viewer", summary="Every table, those that need somebody first")
def tables(desk: DeskDep) -> list[TableStatus]:
    """A table that is not heard of for 5 s is lost."""
    return desk.statuses()


@tables_router.post("", "admin", summary="Watch a table", status_code=201)
def add_table(desk: DeskDep, given: TableRequest) -> list[TableStatus]:
    """Pairs with its rig by a code that the rig's start page shows. A known name gets another rig."""
    desk.watcher.watch(desk.book.add(given.name, *pair_with(given.address, given.code, "the director's desk")))
    return tables(desk)


@tables_router.put("/{table}", "admin", summary="Rename a table")
def rename_table(desk: DeskDep, table: TableId, given: NameRequest) -> list[TableStatus]:
    """Its rig stays the same."""
    desk.watcher.watch(desk.book.rename(table, given.name))
    return tables(desk)


@tables_router.delete("/{table}", "admin", summary="Stop watching a table", status_code=204)
def remove_table(desk: DeskDep, table: TableId) -> Response:
    """Its rig and its game are not touched; revoke the desk there as well if it should not come back.

    One that a tournament's broker tells of can be taken off once its rig is gone.
    """
    if any(status.id == table for status in desk.tournament.statuses()):
        desk.tournament.tables.forget(table)
    else:
        desk.watcher.forget(desk.book.remove(table).id)
    return Response(status_code=204)


GrantId = Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")]


class GrantRequest(RequestModel):
    """A phone that shall work at tables."""

    name: Name = Field(description="Of the person or the phone.")
    role: Role = Field(description="At the tables. At the desk referees enter results, and operators watch.")
    tables: tuple[Annotated[str, Field(min_length=1, max_length=60)], ...] = Field(
        default=(), max_length=20, description="Names of tables; empty for all."
    )
    days: int = Field(default=7, ge=1, le=90, description="For how long.")


class GrantView(BaseModel):
    """A phone of the tournament."""

    id: str
    name: str
    role: Role
    tables: tuple[str, ...]
    expires_ms: int = Field(description="Ms since 1970.")
    by: str
    revoked_by: str = Field(description="Empty while it is in force.")


class GrantLink(GrantView):
    """A grant with the address that a phone opens."""

    url: str = Field(description="The invitation is behind the #, so that it is in no log; one phone opens it, once.")


class PassView(BaseModel):
    """What a phone opens one of its tables with, beside a proof by its own key."""

    table: str
    rig: str
    address: str
    given: str = Field(description="The pass.")


class MyGrantView(BaseModel):
    """What the phone that asks may do."""

    name: str
    role: Role
    tables: tuple[str, ...] = Field(description="Empty for all.")
    passes: tuple[PassView, ...] = Field(description="For the rigs that were heard of, each for twelve hours.")


class GrantsView(BaseModel):
    """The phones of the tournament, and which tables know who was revoked."""

    grants: tuple[GrantView, ...] = Field(description="The latest first.")
    tables: tuple[AnswerView, ...] = Field(description="Whether each knows the desk's key and what was revoked.")


@grants_router.get("", "admin", summary="The phones of the tournament")
def read_grants(desk: DeskDep) -> GrantsView:
    """With the tables that know already who was revoked."""
    tables = tuple(answer for push in desk.grants.standing() for answer in answers_to(desk.tournament, push))
    return GrantsView(grants=tuple(_view(one) for one in reversed(desk.grants.issued)), tables=tables)


@grants_router.get("/mine", "viewer", summary="What this phone may do, with passes for its tables")
def read_mine(desk: DeskDep, principal: PrincipalDep) -> MyGrantView:
    """For a phone that has opened its invitation."""
    grant = desk.grants.grant_of(principal.device)
    tables = (table for table in desk.tournament.statuses() if table.address)
    made = ((table, desk.grants.pass_for(grant.id, table.id, table.name)) for table in tables)
    passes = [PassView(table=one.name, rig=one.id, address=one.address, given=text) for one, text in made if text]
    return MyGrantView(name=grant.name, role=grant.role, tables=grant.tables, passes=tuple(passes))


@grants_router.post("", "admin", summary="Let a phone work at tables", status_code=201)
def make_grant(desk: DeskDep, request: Request, principal: PrincipalDep, given: GrantRequest) -> GrantLink:
    """Its phone opens an invitation at the desk, once; tables take its passes while the desk is away."""
    known = {status.name.casefold() for status in desk.tournament.statuses()}
    known |= {name.strip().casefold() for name in desk.keeper.event.tables}
    for table in given.tables:
        if " ".join(table.split()).casefold() not in known:  # it would be refused everywhere
            raise RefusedError(f"No table is called '{table[:60]}'. Each rig's table is named by rig.table.")
    grant = desk.grants.issue(principal.name, given.name, given.role, given.tables, given.days)
    issued = next(one for one in desk.grants.issued if one.grant.id == grant.id)
    return GrantLink(**_view(issued).model_dump(), url=_url(desk, request, grant.id))


@grants_router.get("/{grant}/qr.svg", "admin", summary="An invitation as a QR code", **sends("image/svg+xml"))
def grant_picture(desk: DeskDep, request: Request, grant: GrantId) -> Response:
    """Holds the address with the invitation, for a phone's camera."""
    return Response(qr_svg(_url(desk, request, grant)), media_type="image/svg+xml")


@grants_router.delete("/{grant}", "admin", summary="Revoke a phone", status_code=204)
def revoke_grant(desk: DeskDep, principal: PrincipalDep, grant: GrantId) -> Response:
    """At the desk at once; at each table as soon as it is connected, where its open feeds and pictures end."""
    desk.grants.revoke(principal.name, grant)
    return Response(status_code=204)


def _view(issued: IssuedGrant) -> GrantView:
    grant = issued.grant
    return made_of(
        GrantView, grant, expires_ms=grant.expires_ns // 1_000_000, by=issued.by, revoked_by=issued.revoked_by
    )


def _url(desk: DeskParts, request: Request, grant: str) -> str:
    return f"{base_url(request)}/pair#{desk.grants.invitation(grant)}"
