"""The event: registration, draw, results, its lists as CSV; when and where its games are played."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import Body as FromBody
from fastapi import Header, Response
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.http.requests import sent_file
from downfield.desk.event import operations, placing, swiss
from downfield.desk.event.changes import QuestionError, result_text
from downfield.desk.event.csv_files import (
    entrants_csv,
    figures_csv,
    games_csv,
    read_entrants,
    read_figures,
    standings_csv,
)
from downfield.desk.event.operations import enter_late
from downfield.desk.event.outcomes import Waiting
from downfield.desk.event.records import MAX_NAME, Entrant, EventClock, RegisteredFigure, Result, Rules
from downfield.desk.event.state import Change, TournamentEvent
from downfield.desk.event.swiss import next_round
from downfield.desk.service.event_views import EventView, event_view
from downfield.desk.service.parts import DeskDep, SenderDep, change_event, shown
from downfield.game.records.models import RequestModel

router = AuthorizedRouter(prefix="/api/event", tags=["event"])

EventName = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]


class NewEvent(RequestModel):
    """Another event."""

    name: EventName


class EntrantRequest(RequestModel):
    """A coach with a team."""

    coach: EventName
    team: str = Field(default="", max_length=MAX_NAME)
    short: str = Field(default="", max_length=6)
    color: str = Field(default="", pattern=r"^(#[0-9a-fA-F]{6})?$")
    club: str = Field(default="", max_length=MAX_NAME)
    seed: int | None = None
    figures: tuple[RegisteredFigure, ...] | None = Field(default=None, description="Null keeps the roster.")


class ResultRequest(RequestModel):
    """How a game came out, signed by both coaches, or entered by the director."""

    home: int
    away: int
    overtime: bool = False
    overtime_winner: Literal["home", "away"] | None = Field(
        default=None, description="Who won an overtime that the points do not show, such as one of yards."
    )
    forfeited_by: Literal["home", "away"] | None = None
    signed_by: tuple[Annotated[str, Field(max_length=MAX_NAME)], ...] = Field(
        default=(), max_length=2, description="The coaches, home and away; empty for one who did not sign."
    )
    note: str = Field(default="", max_length=400)
    game: str = Field(default="", max_length=60, description="Of a table, where the result is one of those it gave.")


class AssignRequest(RequestModel):
    """The match that a table's game counts for."""

    match: str = Field(max_length=20, description="Empty for none.")
    turned: bool = Field(default=False, description="Whether the table's home is away in the match.")


class ClockRequest(RequestModel):
    """When and where games are played."""

    clock: EventClock
    tables: tuple[str, ...]


class PlaceRequest(RequestModel):
    """Where and when a game is played."""

    table: str
    slot: int


class DelayRequest(RequestModel):
    """How much later a round begins."""

    slot: int = Field(description="Number of the round's start time, from 0.")
    minutes: int = Field(ge=-600, le=600)


class SwapRequest(RequestModel):
    """Two games that exchange tables and times."""

    matches: tuple[str, str]


@router.get("", "viewer", summary="The event", response_model=EventView)
def read_event(desk: DeskDep, response: Response, if_none_match: Annotated[str | None, Header()] = None) -> object:
    """With an ETag: a page that has it already gets 304."""
    etag = f'"{desk.keeper.revision}"'
    if if_none_match == etag:
        return Response(status_code=304, headers={"ETag": etag})
    response.headers["ETag"] = etag
    return event_view(desk.keeper.event, desk.keeper.revision)


@router.post("", "admin", summary="Begin another event", status_code=201)
def begin(by: SenderDep, new: NewEvent) -> EventView:
    """The present one is kept beside it as a file."""
    return shown(by.desk, by.desk.keeper.begin(by.request, new.name))


@router.put("/name", "admin", summary="Rename the event")
def rename(by: SenderDep, new: NewEvent) -> EventView:
    """Its name on every page."""

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        return replace(event, name=new.name, changes=(*event.changes, change))

    return change_event(by, f"named it {new.name}", operation)


@router.put("/rules", "admin", summary="Change how it is played")
def put_rules(by: SenderDep, rules: Rules) -> EventView:
    """Before the draw only."""
    return change_event(by, "changed the rules", operations.change_rules, rules)


@router.post("/entrants", "admin", summary="Register a coach", status_code=201)
def register(by: SenderDep, given: EntrantRequest) -> EventView:
    """Before the draw; after it into the smallest pool, as long as no game of the elimination is played."""
    entrant = _entrant(secrets.token_hex(4), given, None)

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        return enter_late(event, entrant, change) if event.matches else operations.register(event, entrant, change)

    return change_event(by, f"registered {entrant.name}", operation)


@router.put("/entrants/{entrant}", "admin", summary="Change what is registered")
def change_entrant(by: SenderDep, entrant: str, given: EntrantRequest) -> EventView:
    """Names, rosters and notes at any time, seeds before the draw."""

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        return operations.register(event, _entrant(entrant, given, operations.find_entrant(event, entrant)), change)

    return change_event(by, f"changed {given.team or given.coach}", operation)


@router.delete("/entrants/{entrant}", "admin", summary="Withdraw a coach")
def withdraw(by: SenderDep, entrant: str) -> EventView:
    """After the draw, what is left of their games is forfeited."""
    name = operations.find_entrant(by.desk.keeper.event, entrant).name
    return change_event(by, f"withdrew {name}", operations.withdraw, entrant)


@router.post("/entrants/{entrant}/return", "admin", summary="Take a coach back who has withdrawn")
def return_entrant(by: SenderDep, entrant: str) -> EventView:
    """What they forfeited is to be played again."""
    name = operations.find_entrant(by.desk.keeper.event, entrant).name
    return change_event(by, f"took {name} back", operations.take_back, entrant)


@router.put("/entrants/{entrant}/here", "operator", summary="Check a coach in, or out")
def put_here(by: SenderDep, entrant: str, here: Annotated[bool, FromBody()]) -> EventView:
    """For those at the door as well."""
    name = operations.find_entrant(by.desk.keeper.event, entrant).name
    text = f"{'checked in' if here else 'checked out'} {name}"
    return change_event(by, text, operations.check_in, entrant, here)


@router.post("/entrants.csv", "admin", summary="Register coaches from CSV")
def import_entrants(by: SenderDep, text: Annotated[str, FromBody(media_type="text/csv")] = "") -> EventView:
    """Columns: coach, team, short, color, club, seed. All lines or none."""

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        for entrant in read_entrants(text, event.entrants):
            event = replace(operations.register(event, entrant, change), changes=event.changes)
        return replace(event, changes=(*event.changes, change))

    return change_event(by, "registered coaches from a file", operation)


@router.post("/figures.csv", "admin", summary="Register rosters from CSV")
def import_figures(by: SenderDep, text: Annotated[str, FromBody(media_type="text/csv")] = "") -> EventView:
    """Columns: coach, number, position, grams, note, refused. All lines or none."""

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        for identity, figures in read_figures(text, event.entrants).items():
            entrant = replace(operations.find_entrant(event, identity), figures=figures)
            event = replace(operations.register(event, entrant, change), changes=event.changes)
        return replace(event, changes=(*event.changes, change))

    return change_event(by, "registered rosters from a file", operation)


@router.post("/draw", "admin", summary="Draw pools and brackets")
def make_draw(by: SenderDep) -> EventView:
    """By seeds, those without one in the order of registration."""
    return change_event(by, "made the draw", operations.draw)


@router.post("/draw/swap", "admin", summary="Exchange two entrants' places in the draw")
def swap_places(by: SenderDep, given: Annotated[tuple[str, str], FromBody()]) -> EventView:
    """As lots drawn by hand say: between pools, or in a bracket; before either has begun a game."""
    one, other = (operations.find_entrant(by.desk.keeper.event, entrant).name for entrant in given)
    return change_event(by, f"exchanged {one} and {other} in the draw", operations.swap_places, *given)


@router.post("/rounds", "admin", summary="Pair the next Swiss round")
def pair_round(by: SenderDep) -> EventView:
    """By the standings, once the round before is played; nobody meets twice."""
    number = next_round(by.desk.keeper.event)
    return change_event(by, f"paired round {number}", swiss.pair_round)


@router.delete("/draw", "admin", summary="Undo the draw")
def undo_draw(by: SenderDep) -> EventView:
    """Only while no game is played."""
    return change_event(by, "undid the draw", operations.undo_draw)


@router.delete("/changes/last", "admin", summary="Undo the last change")
def undo_last(by: SenderDep) -> EventView:
    """Of a person: what tables have said since stays. Again for the one before it."""
    return shown(by.desk, by.desk.keeper.undo(by.request))


@router.put("/matches/{match}/result", "operator", summary="Enter or correct a result")
def put_result(by: SenderDep, match: str, given: ResultRequest) -> EventView:
    """Asks first if results of other games, or games in play, would not count any more."""
    known = by.desk.keeper.event.matches
    given_now = next((one.result for one in known if one.id == match), None)
    signed = tuple(given.signed_by) if any(given.signed_by) else ()
    won, overtime = given.overtime_winner, given.overtime or given.overtime_winner is not None
    result = Result(given.home, given.away, overtime, given.forfeited_by, signed, given.note, given.game, False, won)
    text = f"{'entered' if given_now is None else 'corrected'} {match}: {result_text(result)}"
    return change_event(by, text, operations.enter_result, match, result, about=match)


@router.get("/waiting", "viewer", summary="What waits for the director")
def read_waiting(desk: DeskDep) -> tuple[Waiting, ...]:
    """Matches stopped by a contradiction, and games of tables that decide no match; each with what can be done."""
    return desk.keeper.outcomes.waiting


@router.put("/games/{game}/match", "admin", summary="Count a table's game for a match, or for none")
def put_game_match(by: SenderDep, game: str, given: AssignRequest) -> EventView:
    """Of those that wait."""
    text = f"counted game {game} for {given.match}" if given.match else f"put game {game} aside"
    return change_event(by, text, operations.assign_game, game, given.match, given.turned, about=given.match)


@router.delete("/matches/{match}/result", "admin", summary="Remove a result")
def delete_result(by: SenderDep, match: str) -> EventView:
    """With what tables say of it by now, and a forfeit; asks first if results of other games would not count."""
    return change_event(by, f"removed the result of {match}", operations.enter_result, match, None, about=match)


@router.put("/lots", "admin", summary="Enter the order that lots gave")
def put_lots(by: SenderDep, order: Annotated[list[str], FromBody(max_length=256)]) -> EventView:
    """Every entrant's id once; it decides ties that nothing else breaks."""
    return change_event(by, "drew lots", operations.draw_lots, order)


@router.get("/{name}.csv", "viewer", summary="A list as CSV", response_class=Response)
def read_csv(desk: DeskDep, name: Literal["entrants", "figures", "games", "standings"]) -> Response:
    """Entrants and figures in the form that can be read again."""
    write = {"entrants": entrants_csv, "figures": figures_csv, "games": games_csv, "standings": standings_csv}[name]
    return sent_file(f"{name}.csv", write(desk.keeper.event), "text/csv; charset=utf-8")


@router.put("/clock", "admin", summary="Change when and where games are played")
def put_clock(by: SenderDep, given: ClockRequest) -> EventView:
    """Games that have not begun are scheduled again if there is a schedule."""
    return change_event(by, "changed times and tables", placing.change_clock, given.clock, given.tables)


@router.post("/schedule", "admin", summary="Schedule every game that has not begun")
def make_schedule(by: SenderDep) -> EventView:
    """Over the tables, by the event's common clock. What is in play, fixed or postponed stays as it is."""
    return change_event(by, "made the schedule", placing.make_schedule)


@router.post("/delay", "admin", summary="Let a round begin later")
def post_delay(by: SenderDep, given: DelayRequest) -> EventView:
    """With those after it in its session; asks first, with what it moves."""
    late = f"{abs(given.minutes)} min {'later' if given.minutes > 0 else 'earlier'}"

    def operation(event: TournamentEvent, change: Change) -> TournamentEvent:
        delayed = placing.delay(event, given.slot, given.minutes, change)
        if not by.request.confirmed:
            raise QuestionError(f"{placing.moved_by_delay(event, delayed, given.slot)} Do it?")
        return delayed

    return change_event(by, f"had round {given.slot + 1} begin {late}", operation)


@router.post("/swap", "admin", summary="Exchange tables and times of two games")
def post_swap(by: SenderDep, given: SwapRequest) -> EventView:
    """Of games that have not begun."""
    one, other = given.matches
    return change_event(by, f"swapped {one} and {other}", placing.swap, one, other)


@router.put(
    "/matches/{match}/held", "admin", summary="Fix a game in its place, postpone it, or leave it to the schedule"
)
def put_held(by: SenderDep, match: str, how: Annotated[placing.Holding, FromBody()]) -> EventView:
    """A postponed game has no time until it is moved to one."""
    texts = {"fixed": f"fixed {match}", "postponed": f"postponed {match}", "free": f"left {match} to the schedule"}
    return change_event(by, texts[how], placing.hold, match, how)


@router.put("/matches/{match}/officials", "admin", summary="Say who referees or operates a game")
def put_officials(
    by: SenderDep,
    match: str,
    names: Annotated[tuple[Annotated[str, Field(max_length=MAX_NAME)], ...], FromBody(max_length=4)],
) -> EventView:
    """Refused for who has another game, or plays, at that time."""
    text = f"assigned {', '.join(filter(None, names)) or 'nobody'} to {match}"
    return change_event(by, text, placing.assign_officials, match, names)


@router.put("/matches/{match}/place", "admin", summary="Move a game")
def put_place(by: SenderDep, match: str, place: PlaceRequest) -> EventView:
    """To another table or time, where nothing collides; it stays there when the schedule is made again."""
    return change_event(
        by, f"moved {match} to {placing.at_table(place.table)}", placing.move, match, place.table, place.slot
    )


def _entrant(identity: str, given: EntrantRequest, known: Entrant | None) -> Entrant:
    figures = given.figures
    if figures is None:
        figures = () if known is None else known.figures
    new = Entrant(identity, given.coach, given.team, given.short, given.color, given.club, given.seed, figures)
    return new if known is None else replace(new, withdrawn=known.withdrawn, keeps_place=known.keeps_place)
