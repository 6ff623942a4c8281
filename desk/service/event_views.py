"""The event as the pages show it: names instead of ids, times instead of slots, standings, what comes next."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from downfield.desk.event.progress import Progress, ranking
from downfield.desk.event.records import Change, Entrant, EventClock, Match, Result, Rules, Stage, TournamentEvent
from downfield.desk.event.schedule import slot_times
from downfield.desk.event.standings import pool_standings

MatchState = Literal["open", "ready", "played", "not_needed"]


class View(BaseModel):
    """A part of the event as it is shown."""

    model_config = ConfigDict(frozen=True)


class SideView(View):
    """A side of a game."""

    entrant: str | None = Field(description="Id; null while it is open.")
    name: str = Field(description="The team's name, or where it comes from.")
    color: str = ""


class MatchView(View):
    """A game."""

    id: str
    stage: Stage
    round: int
    pool: str
    home: SideView
    away: SideView
    table: str
    slot: int | None
    begins: str = Field(description="Local time, ISO 8601; empty while it is open.")
    state: MatchState
    result: Result | None


class StandingView(View):
    """A line of a pool's table."""

    place: int
    entrant: str
    name: str
    won: int
    lost: int
    tied: int
    points_for: int
    points_against: int
    difference: int
    decided_by: str
    withdrawn: bool


class PoolView(View):
    """A pool."""

    name: str
    standings: tuple[StandingView, ...]
    complete: bool


class RankView(View):
    """A place in the event."""

    place: int
    name: str
    text: str


class EventView(View):
    """The whole event."""

    revision: str = Field(description="Another one after each change.")
    name: str
    rules: Rules
    clock: EventClock
    tables: tuple[str, ...]
    slots: tuple[str, ...] = Field(description="When each slot begins, local time.")
    entrants: tuple[Entrant, ...]
    matches: tuple[MatchView, ...]
    pools: tuple[PoolView, ...]
    ranking: tuple[RankView, ...]
    changes: tuple[Change, ...] = Field(description="The latest of the audit trail, the newest first.")


class SignedGameView(View):
    """A game that both coaches have signed, and that is no result of the event yet."""

    text: str = Field(description="The table, the teams and the score.")
    reason: str = Field(description="Why it was not taken over.")


_CHANGES_SHOWN = 50


def event_view(event: TournamentEvent, revision: str) -> EventView:
    """Return an event as it is shown."""
    progress = Progress(event)
    times = slot_times(event.clock)
    names = {entrant.id: entrant.name for entrant in event.entrants}
    colors = {entrant.id: entrant.color for entrant in event.entrants}
    return EventView(
        revision=revision,
        name=event.name,
        rules=event.rules,
        clock=event.clock,
        tables=event.tables,
        slots=tuple(_text(time) for time in times),
        entrants=event.entrants,
        matches=tuple(_match_view(match, progress, times, colors) for match in event.matches),
        pools=tuple(_pool_view(event, pool, names) for pool in event.pools),
        ranking=tuple(RankView(place=rank.place, name=names[rank.entrant], text=rank.text) for rank in ranking(event)),
        changes=tuple(reversed(event.changes[-_CHANGES_SHOWN:])),
    )


def _match_view(match: Match, progress: Progress, times: list[datetime], colors: dict[str, str]) -> MatchView:
    sides = progress.sides(match)
    home, away = (
        SideView(entrant=side, name=progress.text(slot), color=colors.get(side or "", ""))
        for side, slot in zip(sides, (match.home, match.away), strict=True)
    )
    return MatchView(
        id=match.id,
        stage=match.stage,
        round=match.round,
        pool=match.pool,
        home=home,
        away=away,
        table=match.table,
        slot=match.slot,
        begins=_text(times[match.slot]) if match.slot is not None and match.slot < len(times) else "",
        state=_state(match, progress),
        result=match.result,
    )


def _state(match: Match, progress: Progress) -> MatchState:
    if match.result is not None:
        return "played"
    if progress.is_needed(match) is False:
        return "not_needed"
    return "ready" if progress.is_ready(match) else "open"


def _pool_view(event: TournamentEvent, pool: str, names: dict[str, str]) -> PoolView:
    gone = {entrant.id for entrant in event.entrants if entrant.withdrawn}
    lines = tuple(
        StandingView(
            place=line.place,
            entrant=line.entrant,
            name=names[line.entrant],
            won=line.won,
            lost=line.lost,
            tied=line.tied,
            points_for=line.points_for,
            points_against=line.points_against,
            difference=line.difference,
            decided_by=line.decided_by,
            withdrawn=line.entrant in gone,
        )
        for line in pool_standings(event, pool)
    )
    complete = all(match.result is not None for match in event.matches if match.pool == pool)
    return PoolView(name=pool, standings=lines, complete=complete)


def _text(time: datetime) -> str:
    return time.isoformat(timespec="minutes")
