"""What the desk sends to tables: announcements, rulebooks, calibrations, parts of the event; and which table has it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Header, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from downfield.api.context.access_control import PrincipalDep, RepeatableRoute
from downfield.api.security.access import allow
from downfield.calibration.calibration import Calibration
from downfield.core.errors import InputError, NotFoundError, RefusedError
from downfield.core.records import from_json
from downfield.desk.event.csv_files import COLOR
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant, TournamentEvent
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.service.event_views import event_view
from downfield.desk.service.parts import DeskDep, DeskParts
from downfield.game.records.commands import AWAY_SHEET, HOME_SHEET, NewGame, TeamSheet
from downfield.rig.tables.profile import TableProfile
from downfield.rig.tournament.push_payloads import (
    MAX_TEXT,
    MAX_TOML,
    Announcement,
    Payload,
    PushedCalibration,
    PushedFigure,
    PushedGame,
    PushedRulebook,
    PushedSchedule,
    PushedTeam,
    PushedTeams,
    PushStatus,
    ScheduledGame,
)

MAX_NOTE: Final = 80
"""Letters of a weigh-in note as tables get it."""


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
    return match.table, NewGame(home=sheets[0], away=sheets[1], title=_one_line(f"{event.name}, {match.id}")[:120])


def teams_of(event: TournamentEvent) -> PushedTeams:
    """Return the teams of those who are in the event, with their rosters.

    Raises:
        RefusedError: nobody is.
    """
    teams = tuple(
        PushedTeam(
            entrant.id,
            _sheet(entrant, HOME_SHEET),
            tuple(
                PushedFigure(figure.number, figure.position[:8], figure.note[:MAX_NOTE], figure.refused)
                for figure in entrant.figures
            ),
        )
        for entrant in event.entrants
        if not entrant.withdrawn
    )
    if not teams:
        raise RefusedError("Nobody is registered yet. Register coaches on the page Event.")
    return PushedTeams(event.name, teams)


def schedule_of(event: TournamentEvent) -> PushedSchedule:
    """Return the games that are to be played at a table, in the order of their times.

    Raises:
        RefusedError: there are none.
    """
    rows = [
        match
        for match in event_view(event, "").matches
        if match.table and match.slot is not None and match.state in {"open", "ready"}
    ]
    if not rows:
        raise RefusedError("No game that is still to be played has a table and a time. Make the schedule first.")
    rows.sort(key=lambda match: (match.slot or 0, match.table))
    games = [ScheduledGame(row.id, row.table, row.begins, row.home.name, row.away.name) for row in rows]
    return PushedSchedule(event.name, tuple(games))


def _one_line(text: str) -> str:
    """Return a text without control characters, which a table takes in no name."""
    return " ".join("".join(letter if letter >= " " and letter != "\x7f" else " " for letter in text).split())


def _sheet(entrant: Entrant, usual: TeamSheet) -> TeamSheet:
    name = _one_line(entrant.name)[:60] or "?"
    short = (_one_line(entrant.short) or "".join(name.split())[:3].upper())[:4]
    if not COLOR.fullmatch(entrant.color):
        return TeamSheet(name=name, short=short, color=usual.color, ink=usual.ink)
    red, green, blue = (int(entrant.color[place : place + 2], 16) for place in (1, 3, 5))
    ink = "#10151b" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"
    return TeamSheet(name=name, short=short, color=entrant.color, ink=ink)


MAX_CALIBRATION: Final = 400_000
"""Letters; one with every quality cell has about 60,000."""

router = APIRouter(prefix="/api/pushes", tags=["tables"], route_class=RepeatableRoute)


class PushRequest(BaseModel):
    """Something to be sent to tables; exactly one of text, rulebook, calibration, event and match."""

    model_config = ConfigDict(extra="forbid")

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
    title, payload, tables = _content(desk.keeper.event, given)
    tournament.pushes.send(principal.name, title, payload, _rigs(tournament, tables), idempotency_key)
    return read_pushes(desk)


@router.delete("/{push}", summary="Send something no longer", status_code=204)
@allow("admin")
def withdraw_push(desk: DeskDep, push: Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")]) -> Response:
    """Tables that have it already keep it."""
    _tournament(desk).pushes.withdraw(push)
    return Response(status_code=204)


def _content(event: TournamentEvent, given: PushRequest) -> tuple[str, Payload, tuple[str, ...]]:
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
    if given.match is not None:
        table, game = match_of(event, given.match)
        return f"{given.match}: {game.home.name} against {game.away.name}", PushedGame(game), (table,)
    if given.event == "teams":
        teams = teams_of(event)
        return f"{event.name}, {len(teams.teams)} teams", teams, given.tables
    if given.event == "schedule":
        games = schedule_of(event)
        return f"{event.name}, {len(games.games)} games", games, given.tables
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
    return given.text or "", Announcement(given.text or ""), given.tables


def _calibration(text: str) -> Calibration:
    """Return the calibration in the text of its file, or of a saved table's.

    Raises:
        FormatError: it is neither.
    """
    if '"downfield.table"' in text:
        return from_json(TableProfile, text, path="the table's file").calibration
    return from_json(Calibration, text, path="the calibration")


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
