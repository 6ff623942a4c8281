"""What the desk sends to tables: announcements, rulebooks, the next game; and which table has it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from downfield.api.dependencies import PrincipalDep
from downfield.api.security.roles import allow
from downfield.core.errors import InputError, NotFoundError, RefusedError
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant, TournamentEvent
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.service.parts import DeskDep, DeskParts
from downfield.game.commands import AWAY_SHEET, HOME_SHEET, NewGame, TeamSheet
from downfield.game.table_push import MAX_TEXT, MAX_TOML, Announcement, Payload, PushedGame, PushedRulebook, PushStatus

router = APIRouter(prefix="/api/pushes", tags=["tables"])


class PushRequest(BaseModel):
    """Something to be sent to tables; exactly one of text, rulebook and match."""

    model_config = ConfigDict(extra="forbid")

    text: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT, description="An announcement.")
    rulebook: str | None = Field(
        default=None, min_length=1, max_length=MAX_TOML, description="The text of a rulebook's file."
    )
    match: str | None = Field(
        default=None, max_length=20, description="A game of the event, which goes to the table it is scheduled at."
    )
    tables: tuple[str, ...] = Field(default=(), max_length=200, description="Names of tables; empty for all.")


class AnswerView(BaseModel):
    """What became of it at a table."""

    table: str
    status: PushStatus
    text: str


class PushView(BaseModel):
    """Something that was sent to tables."""

    id: str
    kind: Literal["announcement", "rulebook", "game"]
    title: str
    by: str
    at_ms: int = Field(description="Ms since 1970.")
    tables: tuple[AnswerView, ...]


@router.get("", summary="What was sent to tables, and what became of it")
@allow("viewer")
def read_pushes(desk: DeskDep) -> list[PushView]:
    """The latest first; empty without a tournament's broker."""
    if desk.tournament is None:
        return []
    keeper, names = desk.tournament.pushes, _names(desk.tournament)
    return [
        PushView(
            id=push.id,
            kind=push.payload.type,
            title=push.title,
            by=push.by,
            at_ms=push.at_ns // 1_000_000,
            tables=tuple(
                AnswerView(table=answer.table, status=answer.state.status, text=answer.state.text)
                for answer in keeper.answers(push, names)
            ),
        )
        for push in reversed(keeper.pushes)
    ]


@router.post("", summary="Send something to tables", status_code=201)
@allow("admin")
def send_push(
    desk: DeskDep,
    principal: PrincipalDep,
    given: PushRequest,
    idempotency_key: Annotated[str, Header(max_length=100)] = "",
) -> list[PushView]:
    """Kept until each table is connected. A game that is under way is not touched: a next game waits for its end."""
    tournament = _tournament(desk)
    if [given.text, given.rulebook, given.match].count(None) != 2:
        raise InputError("Send one thing at a time: an announcement, a rulebook or a game.")
    payload: Payload
    title, tables = given.text or "", given.tables
    if given.match is not None:
        table, game = match_of(desk.keeper.event, given.match)
        title, tables = f"{given.match}: {game.home.name} against {game.away.name}", (table,)
        payload = PushedGame(game)
    elif given.rulebook is not None:
        payload = PushedRulebook(given.rulebook)
    else:
        payload = Announcement(title)
    tournament.pushes.send(principal.name, title, payload, _rigs(tournament, tables), idempotency_key)
    return read_pushes(desk)


@router.delete("/{push}", summary="Send something no longer", status_code=204)
@allow("admin")
def withdraw_push(desk: DeskDep, push: Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")]) -> Response:
    """Tables that have it already keep it."""
    _tournament(desk).pushes.withdraw(push)
    return Response(status_code=204)


def match_of(event: TournamentEvent, identity: str) -> tuple[str, NewGame]:
    """Return the table of a game of the event, and the game to be played there.

    Raises:
        NotFoundError: there is no such game.
        RefusedError: it can't be played yet, or has no table.

    """
    match = next((match for match in event.matches if match.id == identity), None)
    if match is None:
        raise NotFoundError(f"The event has no game {identity[:20]}.")
    progress = Progress(event)
    if not progress.is_ready(match):
        raise RefusedError(f"{match.id} is played already, or its sides are not known yet.")
    if not match.table:
        raise RefusedError(f"{match.id} has no table yet. Make the schedule, or move it to a table.")
    entrants = {entrant.id: entrant for entrant in event.entrants}
    home, away = (entrants[side] for side in progress.sides(match) if side is not None)
    sheets = _sheet(home, HOME_SHEET), _sheet(away, AWAY_SHEET)
    return match.table, NewGame(home=sheets[0], away=sheets[1], title=f"{event.name}, {match.id}"[:120])


def _sheet(entrant: Entrant, usual: TeamSheet) -> TeamSheet:
    short = (entrant.short or "".join(entrant.name.split())[:3].upper())[:4]
    if not entrant.color:
        return TeamSheet(name=entrant.name[:60], short=short, color=usual.color, ink=usual.ink)
    red, green, blue = (int(entrant.color[place : place + 2], 16) for place in (1, 3, 5))
    ink = "#10151b" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"
    return TeamSheet(name=entrant.name[:60], short=short, color=entrant.color, ink=ink)


def _tournament(desk: DeskParts) -> DeskTournament:
    if desk.tournament is None:
        raise RefusedError("Sending to tables needs the tournament's broker: set tournament.servers of the desk.")
    return desk.tournament


def _names(tournament: DeskTournament) -> dict[str, str]:
    return {status.id: status.name for status in tournament.statuses()}


def _rigs(tournament: DeskTournament, tables: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ids of the rigs of tables by their names."""
    rigs = []
    for table in tables:
        found = [rig for rig, name in _names(tournament).items() if name.casefold() == table.strip().casefold()]
        if len(found) != 1:
            many = "Several rigs call their table" if found else "No rig was heard of whose table is called"
            raise RefusedError(f"{many} '{table[:60]}'. Each rig's table is named by rig.table in its configuration.")
        rigs += found
    return tuple(rigs)
