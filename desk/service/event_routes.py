"""The event: registration, draw, schedule, results, and its lists as CSV."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Depends, Header, Response
from pydantic import BaseModel, ConfigDict, Field

from downfield.api.context.access_control import PrincipalDep, RepeatableRoute
from downfield.api.security.access import allow
from downfield.desk.event import operations
from downfield.desk.event.csv_files import (
    entrants_csv,
    figures_csv,
    games_csv,
    read_entrants,
    read_figures,
    standings_csv,
)
from downfield.desk.event.operations import enter_late
from downfield.desk.event.records import (
    MAX_NAME,
    Change,
    Entrant,
    EventClock,
    RegisteredFigure,
    Result,
    Rules,
    TournamentEvent,
)
from downfield.desk.service.event_views import EventView, SignedGameView, event_view
from downfield.desk.service.parts import DeskDep, DeskParts

router = APIRouter(prefix="/api/event", tags=["event"], route_class=RepeatableRoute)

EventName = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]


class Request(BaseModel):
    """A request; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class NewEvent(Request):
    """Another event."""

    name: EventName


class EntrantRequest(Request):
    """A coach with a team."""

    coach: EventName
    team: str = Field(default="", max_length=MAX_NAME)
    short: str = Field(default="", max_length=6)
    color: str = Field(default="", pattern=r"^(#[0-9a-fA-F]{6})?$")
    club: str = Field(default="", max_length=MAX_NAME)
    seed: int | None = None
    figures: tuple[RegisteredFigure, ...] | None = Field(default=None, description="Null keeps the roster.")


class ClockRequest(Request):
    """When and where games are played."""

    clock: EventClock
    tables: tuple[str, ...]


class PlaceRequest(Request):
    """Where and when a game is played."""

    table: str
    slot: int


class ResultRequest(Request):
    """How a game came out, signed by both coaches, or entered by the director."""

    home: int
    away: int
    overtime: bool = False
    forfeited_by: Literal["home", "away"] | None = None
    signed_by: tuple[Annotated[str, Field(min_length=1, max_length=MAX_NAME)], ...] = Field(default=(), max_length=4)
    note: str = Field(default="", max_length=400)


@dataclass(frozen=True, slots=True)
class Sender:
    """Who changes the event, and the key under which it counts once."""

    desk: DeskParts
    name: str
    key: str


async def _sender(
    desk: DeskDep, principal: PrincipalDep, idempotency_key: Annotated[str, Header(max_length=100)] = ""
) -> Sender:
    return Sender(desk, principal.name, idempotency_key)


SenderDep = Annotated[Sender, Depends(_sender)]


@router.get("", summary="The event", response_model=EventView)
@allow("viewer")
def read_event(desk: DeskDep, response: Response, if_none_match: Annotated[str | None, Header()] = None) -> object:
    """With an ETag: a page that has it already gets 304."""
    etag = f'"{desk.keeper.revision}"'
    if if_none_match == etag:
        return Response(status_code=304, headers={"ETag": etag})
    response.headers["ETag"] = etag
    return event_view(desk.keeper.event, desk.keeper.revision)


@router.post("", summary="Begin another event", status_code=201)
@allow("admin")
def begin(by: SenderDep, new: NewEvent) -> EventView:
    """The present one is kept beside it as a file."""
    event = by.desk.keeper.begin(by.name, new.name, by.key)
    return event_view(event, by.desk.keeper.revision)


@router.put("/name", summary="Rename the event")
@allow("admin")
def rename(by: SenderDep, new: NewEvent) -> EventView:
    """Its name on every page."""
    return _change(
        by,
        f"named it {new.name}",
        lambda event, change: replace(event, name=new.name, changes=(*event.changes, change)),
    )


@router.put("/rules", summary="Change how it is played")
@allow("admin")
def put_rules(by: SenderDep, rules: Rules) -> EventView:
    """Before the draw only."""
    return _change(by, "changed the rules", lambda event, change: operations.change_rules(event, rules, change))


@router.put("/clock", summary="Change when and where games are played")
@allow("admin")
def put_clock(by: SenderDep, given: ClockRequest) -> EventView:
    """Games without a result are scheduled again if there is a schedule."""
    return _change(
        by,
        "changed times and tables",
        lambda event, change: operations.change_clock(event, given.clock, given.tables, change),
    )


@router.post("/entrants", summary="Register a coach", status_code=201)
@allow("admin")
def register(by: SenderDep, given: EntrantRequest) -> EventView:
    """Before the draw; after it into the smallest pool, as long as no game of the elimination is played."""
    entrant = _entrant(secrets.token_hex(4), given, None)

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        return enter_late(event, entrant, change) if event.matches else operations.register(event, entrant, change)

    return _change(by, f"registered {entrant.name}", operation)


@router.put("/entrants/{entrant}", summary="Change what is registered")
@allow("admin")
def change_entrant(by: SenderDep, entrant: str, given: EntrantRequest) -> EventView:
    """Names, rosters and notes at any time, seeds before the draw."""

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        return operations.register(event, _entrant(entrant, given, operations.find_entrant(event, entrant)), change)

    return _change(by, f"changed {given.team or given.coach}", operation)


@router.delete("/entrants/{entrant}", summary="Withdraw a coach")
@allow("admin")
def withdraw(by: SenderDep, entrant: str) -> EventView:
    """After the draw, what is left of their games is forfeited."""
    name = operations.find_entrant(by.desk.keeper.event, entrant).name
    return _change(by, f"withdrew {name}", lambda event, change: operations.withdraw(event, entrant, change))


@router.post("/entrants.csv", summary="Register coaches from CSV")
@allow("admin")
def import_entrants(by: SenderDep, text: Annotated[str, Body(media_type="text/csv")] = "") -> EventView:
    """Columns: coach, team, short, color, club, seed. All lines or none."""

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        for entrant in read_entrants(text, event.entrants):
            event = replace(operations.register(event, entrant, change), changes=event.changes)
        return replace(event, changes=(*event.changes, change))

    return _change(by, "registered coaches from a file", operation)


@router.post("/figures.csv", summary="Register rosters from CSV")
@allow("admin")
def import_figures(by: SenderDep, text: Annotated[str, Body(media_type="text/csv")] = "") -> EventView:
    """Columns: coach, number, position, grams, note, refused. All lines or none."""

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        for identity, figures in read_figures(text, event.entrants).items():
            entrant = replace(operations.find_entrant(event, identity), figures=figures)
            event = replace(operations.register(event, entrant, change), changes=event.changes)
        return replace(event, changes=(*event.changes, change))

    return _change(by, "registered rosters from a file", operation)


@router.post("/draw", summary="Draw pools and brackets")
@allow("admin")
def make_draw(by: SenderDep) -> EventView:
    """By seeds, those without one in the order of registration."""
    return _change(by, "made the draw", operations.draw)


@router.delete("/draw", summary="Undo the draw")
@allow("admin")
def undo_draw(by: SenderDep) -> EventView:
    """Only while no game is played."""
    return _change(by, "undid the draw", operations.undo_draw)


@router.post("/schedule", summary="Schedule every game without a result")
@allow("admin")
def make_schedule(by: SenderDep) -> EventView:
    """Over the tables, by the event's common clock."""
    return _change(by, "made the schedule", operations.make_schedule)


@router.put("/matches/{match}/place", summary="Move a game")
@allow("admin")
def put_place(by: SenderDep, match: str, place: PlaceRequest) -> EventView:
    """To another table or time, where nothing collides."""
    return _change(
        by,
        f"moved {match} to table {place.table}",
        lambda event, change: operations.move(event, match, place.table, place.slot, change),
    )


@router.put("/matches/{match}/result", summary="Enter or correct a result")
@allow("operator")
def put_result(by: SenderDep, match: str, given: ResultRequest) -> EventView:
    """Corrections are refused once a later game was played with who came out of it."""
    result = Result(given.home, given.away, given.overtime, given.forfeited_by, given.signed_by, given.note)
    return _change(
        by,
        f"entered {match}: {given.home} to {given.away}",
        lambda event, change: operations.enter_result(event, match, result, change),
    )


@router.get("/signed-games", summary="Signed games that are no result yet")
@allow("viewer")
def read_signed_games(desk: DeskDep) -> list[SignedGameView]:
    """Games that both coaches have signed at their table since the draw, and that fit no open game of the event.

    All others are taken over by themselves.
    """
    found = [] if desk.tournament is None else desk.tournament.results.open_games()
    return [SignedGameView(text=signed.text, reason=why) for signed, why in found]


@router.delete("/matches/{match}/result", summary="Remove a result")
@allow("admin")
def delete_result(by: SenderDep, match: str) -> EventView:
    """Refused once a later game was played with who came out of it."""
    return _change(
        by,
        f"removed the result of {match}",
        lambda event, change: operations.enter_result(event, match, None, change),
    )


@router.put("/lots", summary="Enter the order that lots gave")
@allow("admin")
def put_lots(by: SenderDep, order: Annotated[list[str], Body(max_length=256)]) -> EventView:
    """Every entrant's id once; it decides ties that nothing else breaks."""
    return _change(by, "drew lots", lambda event, change: operations.draw_lots(event, order, change))


@router.get("/{name}.csv", summary="A list as CSV", response_class=Response)
@allow("viewer")
def read_csv(desk: DeskDep, name: Literal["entrants", "figures", "games", "standings"]) -> Response:
    """Entrants and figures in the form that can be read again."""
    write = {"entrants": entrants_csv, "figures": figures_csv, "games": games_csv, "standings": standings_csv}[name]
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(write(desk.keeper.event).encode(), media_type="text/csv; charset=utf-8", headers=headers)


def _change(by: Sender, text: str, operation: operations.Operation) -> EventView:
    desk = by.desk
    event = desk.keeper.change(by.name, text, operation, by.key)
    return event_view(event, desk.keeper.revision)


def _entrant(identity: str, given: EntrantRequest, known: Entrant | None) -> Entrant:
    figures = given.figures
    if figures is None:
        figures = () if known is None else known.figures
    withdrawn = known is not None and known.withdrawn
    return Entrant(
        identity, given.coach, given.team, given.short, given.color, given.club, given.seed, figures, withdrawn
    )
