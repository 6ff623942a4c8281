"""The tables of the hall: what each is doing, and which are watched."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from downfield.api.context.access_control import RepeatableRoute
from downfield.api.security.roles import allow
from downfield.desk.service.parts import DeskDep
from downfield.desk.tables.address_book import MAX_NAME
from downfield.desk.tables.rig_client import pair_with
from downfield.desk.tables.status import TableStatus

router = APIRouter(prefix="/api/tables", tags=["tables"], route_class=RepeatableRoute)

TableId = Annotated[str, Path(pattern=r"^([0-9a-f]{8}|[a-z2-7]{16})$")]
"""At this desk, or the rig's where a tournament's broker tells of it."""


class TableRequest(BaseModel):
    """A table to be watched."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=MAX_NAME)
    address: str = Field(min_length=1, max_length=300, description="Of its rig, such as 192.168.1.43:8317.")
    code: str = Field(min_length=1, max_length=40, description="A pairing code of its rig, to watch.")


class NameRequest(BaseModel):
    """Another name for a table."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=MAX_NAME)


@router.get("", summary="Every table, those that need somebody first")
@allow("viewer")
def tables(desk: DeskDep) -> list[TableStatus]:
    """A table that is not heard of for 5 s is lost."""
    return desk.statuses()


@router.post("", summary="Watch a table", status_code=201)
@allow("admin")
def add_table(desk: DeskDep, given: TableRequest) -> list[TableStatus]:
    """Pairs with its rig by a code that the rig's start page shows. A known name gets another rig."""
    paired = pair_with(given.address, given.code, "the director's desk")
    desk.watcher.watch(desk.book.add(given.name, paired.address, paired.token, paired.certificate))
    return tables(desk)


@router.put("/{table}", summary="Rename a table")
@allow("admin")
def rename_table(desk: DeskDep, table: TableId, given: NameRequest) -> list[TableStatus]:
    """Its rig stays the same."""
    desk.watcher.watch(desk.book.rename(table, given.name))
    return tables(desk)


@router.delete("/{table}", summary="Stop watching a table", status_code=204)
@allow("admin")
def remove_table(desk: DeskDep, table: TableId) -> Response:
    """Its rig and its game are not touched; revoke the desk there as well if it should not come back.

    One that a tournament's broker tells of can be taken off once its rig is gone.
    """
    desk.forget(table)
    return Response(status_code=204)
