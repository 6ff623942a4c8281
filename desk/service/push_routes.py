"""What the desk sends to tables: announcements, rulebooks, calibrations, parts of the event; and which table has it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Header, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from downfield.api.context.access_control import AuthorizedRouter, PrincipalDep
from downfield.api.http.requests import sends
from downfield.calibration.calibration import Calibration
from downfield.core.errors import InputError, RefusedError
from downfield.core.records import from_json, made_of
from downfield.desk.event.operations import find_entrant
from downfield.desk.event.outcomes import in_play
from downfield.desk.event.progress import Progress
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.service.parts import DeskDep, DeskParts
from downfield.desk.service.push_content import match_of, schedule_of, table_of, teams_of
from downfield.game.records.models import RequestModel
from downfield.rig.tables.profile import TableProfile
from downfield.rig.tournament.push_payloads import (
    MAX_TEXT,
    MAX_TOML,
    Announcement,
    Payload,
    PushedCalibration,
    PushedGame,
    PushedRulebook,
    PushStatus,
    TablePush,
)

MAX_CALIBRATION: Final = 400_000  # Letters; one with every quality cell has about 60,000

rigs_router = AuthorizedRouter(prefix="/api/tournament", tags=["tables"])


@rigs_router.post(
    "/{subject}",
    "admin",
    summary="What a rig on this computer sends, in place of a broker",
    **sends("application/octet-stream", is_binary=True),
)
async def receive(
    desk: DeskDep,
    request: Request,
    subject: Annotated[str, Path(pattern=r"^downfield\.[a-z0-9._]{1,80}$")],
    downfield_signature: Annotated[str, Header(max_length=200)] = "",
) -> Response:
    """Each message is signed by its rig, as those of a broker are."""
    answer = await run_in_threadpool(desk.tournament.answer, subject, await request.body(), downfield_signature)
    return Response(answer, media_type="application/octet-stream")


router = AuthorizedRouter(prefix="/api/pushes", tags=["tables"])


class PushRequest(RequestModel):
    """Something to be sent to tables; exactly one of text, rulebook, calibration, event and match."""

    text: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT, description="An announcement.")
    rulebook: str | None = Field(
        default=None, min_length=1, max_length=MAX_TOML, description="The text of a rulebook's file."
    )
    calibration: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_CALIBRATION,
        description="The text of a `*.calibration.json` or a `*.table.json`.",
    )
    event: Literal["teams", "schedule"] | None = Field(
        default=None, description="The event's teams with their rosters, or the games still to be played."
    )
    match: str | None = Field(
        default=None, max_length=20, description="A game of the event, which goes to the table it is scheduled at."
    )
    team: str = Field(
        default="",
        max_length=40,
        description="Id of an entrant that a text is for: it goes to the table where they play next, else to all.",
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
    kind: Literal["announcement", "rulebook", "teams", "schedule", "calibration", "access", "game"]
    title: str
    by: str
    at_ms: int = Field(description="Ms since 1970.")
    tables: tuple[AnswerView, ...]


@router.get("", "viewer", summary="What was sent to tables, and what became of it")
def read_pushes(desk: DeskDep) -> list[PushView]:
    """The latest first."""

    def view(push: TablePush) -> PushView:
        answers = answers_to(desk.tournament, push)
        return made_of(PushView, push, kind=push.payload.type, at_ms=push.at_ns // 1_000_000, tables=answers)

    return [view(push) for push in reversed(desk.tournament.pushes.pushes)]


def answers_to(tournament: DeskTournament, push: TablePush) -> tuple[AnswerView, ...]:
    """Return what became of a push at each table it is for."""
    found = tournament.pushes.answers(push, _names(tournament))
    return tuple(AnswerView(table=table, status=state.status, text=state.text) for table, state in found)


@router.post("", "admin", summary="Send something to tables", status_code=201)
def send_push(
    desk: DeskDep,
    principal: PrincipalDep,
    given: PushRequest,
    idempotency_key: Annotated[str, Header(max_length=100)] = "",
) -> list[PushView]:
    """Kept until each table is connected. A game that is under way is not touched: a next game waits for its end."""
    title, payload, tables = _content(desk, given)
    desk.tournament.pushes.send(principal.name, title, payload, _rigs(desk.tournament, tables), idempotency_key)
    return read_pushes(desk)


class RoundCall(BaseModel):
    """What a called round means for a table."""

    table: str
    match: str = Field(description="Empty where nothing is to be played.")
    state: Literal["sent", "playing", "late", "next", "free"]
    text: str


@router.post("/round", "admin", summary="Call the round: send each table its next game", status_code=201)
def call_round(desk: DeskDep, principal: PrincipalDep) -> list[RoundCall]:
    """One line a table: sent, still playing, late since a team plays elsewhere, or what comes next."""
    event = desk.keeper.event
    playing = {game.table.casefold(): match for match, game in in_play(event).items()}
    progress, out = Progress(event), []
    for table in event.tables:
        left = [match for match in event.matches if match.table == table and match.slot is not None]
        left = sorted((match for match in left if match.result is None), key=lambda match: match.slot or 0)
        following = next((match for match in left if match.id not in playing.values()), None)
        names = "" if following is None else f"{progress.text(following.home)} against {progress.text(following.away)}"
        identity = "" if following is None else following.id
        if table.casefold() in playing:
            text = f"{playing[table.casefold()]} is in play; then {names}" if identity else "its last game is in play"
            out.append(RoundCall(table=table, match=playing[table.casefold()], state="playing", text=text))
        elif following is None:
            out.append(RoundCall(table=table, match="", state="free", text="nothing is left to be played"))
        else:
            try:
                title, payload, tables = _content(desk, PushRequest(match=identity))
                desk.tournament.pushes.send(principal.name, title, payload, _rigs(desk.tournament, tables))
                out.append(RoundCall(table=table, match=identity, state="sent", text=names))
            except RefusedError as error:
                state: Literal["late", "next"] = "late" if progress.is_ready(following) else "next"
                out.append(RoundCall(table=table, match=identity, state=state, text=str(error)))
    return out


@router.delete("/{push}", "admin", summary="Send something no longer", status_code=204)
def withdraw_push(desk: DeskDep, push: Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")]) -> Response:
    """Tables that have it already keep it."""
    desk.tournament.pushes.withdraw(push)
    return Response(status_code=204)


def _content(desk: DeskParts, given: PushRequest) -> tuple[str, Payload, tuple[str, ...]]:
    """Return the title of what is to be sent, what it is, and the names of the tables it is for; empty for all.

    Raises:
        InputError: it is nothing, more than one thing, or no calibration.
        NotFoundError: the event has no such game.
        RefusedError: the event has nothing of the kind yet, or a calibration is for all tables.
    """
    if [given.text, given.rulebook, given.calibration, given.event, given.match].count(None) != 4:
        raise InputError(
            "Send one thing at a time: an announcement, a rulebook, a calibration, or a part of the event."
        )
    event, key, tournament = desk.keeper.event, desk.grants.key, desk.tournament
    if given.match is not None:
        table, game = match_of(event, given.match, lambda name: _rigs(tournament, (name,))[0], key)
        return f"{given.match}: {game.home.name} against {game.away.name}", PushedGame(game), (table,)
    if given.event == "teams":
        teams = teams_of(event)
        return f"{event.name}, {len(teams.teams)} teams", teams, given.tables
    if given.event == "schedule":
        rigs = {name.casefold(): rig for rig, name in _names(tournament).items()}
        games = schedule_of(event, rigs, key)
        unknown = sorted({game.table for game in games.games if game.table.strip().casefold() not in rigs})
        note = f"; no rig is called {', '.join(unknown)}" if unknown else ""
        return f"{event.name}, {len(games.games)} games{note}", games, given.tables
    if given.calibration is not None:
        calibration = _calibration(given.calibration)
        if len(given.tables) != 1:
            raise RefusedError("A calibration belongs to one camera. Choose the table it is for.")
        return (
            f"{calibration.field.name}, for {given.tables[0].strip()[:60]}",
            PushedCalibration(calibration),
            given.tables,
        )
    if given.rulebook is not None:
        return "", PushedRulebook(given.rulebook), given.tables
    if given.team:
        name = find_entrant(event, given.team).name
        known = {table.strip().casefold() for table in _names(tournament).values()}
        tables = table_of(event, given.team, known)
        return f"To {name}", Announcement(f"{name}: {given.text}"[:MAX_TEXT], name), tables
    return given.text or "", Announcement(given.text or ""), given.tables


def _calibration(text: str) -> Calibration:
    """Return the calibration in the text of its file, or of a saved table's. Raises FormatError: it is neither."""
    if '"downfield.table"' in text:
        return from_json(TableProfile, text, path="the table's file").calibration
    return from_json(Calibration, text, path="the calibration")


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
