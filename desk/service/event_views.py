"""The event as the pages show it: names instead of ids, times instead of slots, standings, what comes next."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from downfield.core.records import made_of
from downfield.desk.event.outcomes import WITHDREW, outcomes
from downfield.desk.event.progress import Progress, pool_text, ranking
from downfield.desk.event.records import Entrant, EventClock, KnownEntrant, Match, PoolPlace, Result, Rules, Stage
from downfield.desk.event.schedule import slot_times
from downfield.desk.event.standings import pool_standings
from downfield.desk.event.state import Change, TournamentEvent
from downfield.desk.event.swiss import next_round

MatchState = Literal["open", "ready", "in_play", "stopped", "played", "not_needed"]


class View(BaseModel):
    """A part of the event as it is shown."""

    model_config = ConfigDict(frozen=True)


class SideView(View):
    """A side of a game."""

    entrant: str | None = Field(description="Id; null while it is open.")
    name: str = Field(description="The team's name, or where it comes from.")
    color: str = ""
    bye: bool = Field(default=False, description="Whether it skips the first round of its bracket.")


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
    dispute: str = Field(description="Why it is stopped until the director decides it; empty otherwise.")
    waits_for: str = Field(description="Id of a stopped game that it waits for; empty otherwise.")
    game: str = Field(description="Id of the table's game that is, or was last, played for it.")
    played_at: str = Field(description="The table of that game.")
    fixed: bool
    postponed: bool
    if_needed: bool
    officials: tuple[str, ...] = Field(description="Who referees or operates it.")


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
    title: str = Field(description='Such as "Pool A".')
    standings: tuple[StandingView, ...]
    complete: bool


class RankView(View):
    """A place in the event."""

    place: int
    name: str
    text: str


class EventView(View):
    """The whole event."""

    revision: str = Field(description="Another one after each change; the ETag, for If-Match.")
    name: str
    rules: Rules
    clock: EventClock
    tables: tuple[str, ...]
    slots: tuple[str, ...] = Field(description="When each slot begins, local time.")
    entrants: tuple[Entrant, ...]
    matches: tuple[MatchView, ...]
    pools: tuple[PoolView, ...]
    byes: tuple[str, ...] = Field(description="Names of those who had a bye in a Swiss round, in their order.")
    next_round: int = Field(description="Number of the Swiss round that is paired next; 0 for none.")
    ranking: tuple[RankView, ...]
    changes: tuple[Change, ...] = Field(description="The latest of the audit trail, the newest first.")
    here: tuple[str, ...] = Field(description="Ids of those who have checked in.")
    waiting: int = Field(description="How many things wait for the director: see `/api/event/waiting`.")
    undo: str = Field(description="What would be undone next; empty for nothing.")
    lots: bool = Field(description="Whether lots are drawn.")


_CHANGES_SHOWN = 50


def event_view(event: TournamentEvent, revision: str) -> EventView:
    """Return an event as it is shown."""
    progress = Progress(event)
    times = slot_times(event.clock)
    names = {entrant.id: entrant.name for entrant in event.entrants}
    colors = {entrant.id: entrant.color for entrant in event.entrants}
    return made_of(
        EventView,
        event,
        revision=revision,
        slots=tuple(_text(time) for time in times),
        matches=tuple(_match_view(event, match, progress, times, colors) for match in event.matches),
        pools=tuple(_pool_view(event, pool, names) for pool in event.pools),
        byes=tuple(names[entrant] for entrant in event.byes),
        next_round=next_round(event),
        ranking=tuple(RankView(place=rank.place, name=names[rank.entrant], text=rank.text) for rank in ranking(event)),
        changes=tuple(reversed(event.changes[-_CHANGES_SHOWN:])),
        lots=bool(event.lots),
        waiting=len(outcomes(event).waiting),
        undo=next((one.text for one in event.changes if event.undo and one.id == event.undo[-1].change), ""),
    )


def _match_view(
    event: TournamentEvent, match: Match, progress: Progress, times: list[datetime], colors: dict[str, str]
) -> MatchView:
    sides = progress.sides(match)
    home, away = (
        SideView(
            entrant=side,
            name=progress.text(slot),
            color=colors.get(side or "", ""),
            bye=match.stage not in {"pool", "losers"}
            and match.round > 1
            and isinstance(slot, KnownEntrant | PoolPlace),
        )
        for side, slot in zip(sides, (match.home, match.away), strict=True)
    )
    return made_of(
        MatchView,
        match,
        home=home,
        away=away,
        begins=_text(times[match.slot]) if match.slot is not None and match.slot < len(times) else "",
        state=_state(event, match, progress),
        waits_for=progress.stopped_by(match),
        played_at=event.games[match.game].table if match.game in event.games else "",
    )


def _state(event: TournamentEvent, match: Match, progress: Progress) -> MatchState:
    game = event.games.get(match.game)
    if match.dispute:
        return "stopped"
    if game is not None and game.state == "in_play" and (match.result is None or match.result.note == WITHDREW):
        return "in_play"
    if match.result is not None:
        return "played"
    if progress.is_needed(match) is False:
        return "not_needed"
    return "ready" if progress.is_ready(match) else "open"


def _pool_view(event: TournamentEvent, pool: str, names: dict[str, str]) -> PoolView:
    gone = {entrant.id for entrant in event.entrants if entrant.withdrawn}
    lines = tuple(
        StandingView(**asdict(line), name=names[line.entrant], withdrawn=line.entrant in gone)
        for line in pool_standings(event, pool)
    )
    decided = all(match.result is not None for match in event.matches if match.pool == pool)
    complete = decided and not next_round(event)
    text = pool_text(pool).removeprefix("the ")
    return PoolView(name=pool, title=text[0].upper() + text[1:], standings=lines, complete=complete)


def _text(time: datetime) -> str:
    return time.isoformat(timespec="minutes")
