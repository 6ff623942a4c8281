"""When and where the games of the event are played: times and tables, the schedule, and games moved by hand."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body as FromBody
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.desk.event import placing
from downfield.desk.event.changes import QuestionError
from downfield.desk.event.records import MAX_NAME, EventClock
from downfield.desk.event.state import Change, TournamentEvent
from downfield.desk.service.event_views import EventView
from downfield.desk.service.parts import SenderDep, change_event
from downfield.game.records.models import RequestModel

router = AuthorizedRouter(prefix="/api/event", tags=["event"])


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


@router.put("/clock", "admin", summary="Change when and where games are played")
def put_clock(by: SenderDep, given: ClockRequest) -> EventView:
    """Games that have not begun are scheduled again if there is a schedule."""
    return change_event(
        by,
        "changed times and tables",
        lambda event, change: placing.change_clock(event, given.clock, given.tables, change),
    )


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
    return change_event(by, f"swapped {one} and {other}", lambda event, change: placing.swap(event, one, other, change))


@router.put(
    "/matches/{match}/held", "admin", summary="Fix a game in its place, postpone it, or leave it to the schedule"
)
def put_held(by: SenderDep, match: str, how: Annotated[placing.Holding, FromBody()]) -> EventView:
    """A postponed game has no time until it is moved to one."""
    texts = {"fixed": f"fixed {match}", "postponed": f"postponed {match}", "free": f"left {match} to the schedule"}
    return change_event(by, texts[how], lambda event, change: placing.hold(event, match, how, change))


@router.put("/matches/{match}/officials", "admin", summary="Say who referees or operates a game")
def put_officials(
    by: SenderDep,
    match: str,
    names: Annotated[tuple[Annotated[str, Field(max_length=MAX_NAME)], ...], FromBody(max_length=4)],
) -> EventView:
    """Refused for who has another game, or plays, at that time."""
    text = f"assigned {', '.join(filter(None, names)) or 'nobody'} to {match}"
    return change_event(by, text, lambda event, change: placing.assign_officials(event, match, names, change))


@router.put("/matches/{match}/place", "admin", summary="Move a game")
def put_place(by: SenderDep, match: str, place: PlaceRequest) -> EventView:
    """To another table or time, where nothing collides; it stays there when the schedule is made again."""
    return change_event(
        by,
        f"moved {match} to {placing.at_table(place.table)}",
        lambda event, change: placing.move(event, match, place.table, place.slot, change),
    )
