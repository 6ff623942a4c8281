"""Sheets of the event for print: each table's, each team's, blank score sheets; the season, and earlier events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal

from fastapi.responses import HTMLResponse
from pydantic import BaseModel

from downfield.api.context.access_control import AuthorizedRouter
from downfield.core.errors import NotFoundError
from downfield.desk.event.placing import at_table
from downfield.desk.event.progress import Progress, ordinal, ranking
from downfield.desk.event.state import TournamentEvent
from downfield.desk.service.event_views import EventView, MatchView, event_view
from downfield.desk.service.guests import PAGE_HEADERS, document, guest_page, section, table, when_text
from downfield.desk.service.parts import DeskDep, SenderDep, shown
from downfield.game.records.challenges import DECISION_WORDS
from downfield.review.catalog import DisputedCall, challenge_statistics
from downfield.review.pictures.painting import spoken_name
from downfield.store.database.reader import StoreReader

SheetName = Literal["tables", "teams", "scores"]

_PERIODS: Final = ("Q1", "Q2", "Q3", "Q4", "OT", "Total")
_PRINT: Final = '<p class="noprint note">Print this page: each sheet is kept together.</p>'


def _planned(event: EventView) -> list[MatchView]:
    matches = [match for match in event.matches if match.state != "not_needed"]
    return sorted(matches, key=lambda match: (match.slot is None, match.slot or 0, match.table))


def _table_sheets(event: EventView) -> Iterable[str]:
    for name in event.tables:
        rows = [
            (when_text(one), one.id, f"{one.home.name} – {one.away.name}", ", ".join(one.officials), _score(one))
            for one in _planned(event)
            if one.table == name
        ]
        heads = ("Begins", "Game", "Teams", "Officials", "Result")
        yield section(at_table(name)[0].upper() + at_table(name)[1:], _grid(heads, rows))


def _team_sheets(event: EventView) -> Iterable[str]:
    for entrant in event.entrants:
        rows = []
        for match in _planned(event):
            if entrant.id in (match.home.entrant, match.away.entrant):
                other = match.away if match.home.entrant == entrant.id else match.home
                rows.append((when_text(match), at_table(match.table), match.id, other.name, _score(match)))
        coach = f"<p>{escape(entrant.coach)}{escape(f', {entrant.club}' if entrant.club else '')}</p>"
        heads = ("Begins", "Where", "Game", "Against", "Result")
        yield section(entrant.team or entrant.coach, coach + _grid(heads, rows))


def _score_sheets(event: EventView) -> Iterable[str]:
    for match in _planned(event):
        if match.result is not None or None in (match.home.entrant, match.away.entrant):
            continue
        about = " · ".join(filter(None, (when_text(match), at_table(match.table), ", ".join(match.officials))))
        rows = [(side.name, *("" for _ in _PERIODS)) for side in (match.home, match.away)]
        signed = "".join(
            f"<p>Signed for {escape(side.name)}: ______________________</p>" for side in (match.home, match.away)
        )
        protest = "<p>Protest, why: ______________________</p>"
        yield section(match.id, f"<p>{escape(about)}</p>{_grid(('', *_PERIODS), rows)}{signed}{protest}")


def _score(match: MatchView) -> str:
    result = match.result
    if result is None:
        return ""
    return "forfeit" if result.forfeited_by else f"{result.home}–{result.away}"


def _grid(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table with lines, to be written in."""
    lines = [f"<tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
    return f"<div class=score>{table(lines)}</div>"


@dataclass(slots=True)
class SeasonLine:
    """What a coach did in the events of a season."""

    coach: str
    # won, lost, tied: games
    won: int = 0
    lost: int = 0
    tied: int = 0
    difference: int = 0  # of points
    places: list[str] = field(default_factory=list)  # such as ``"1st River Open"``, the latest first


def season_of(event: TournamentEvent) -> str:
    """Return the year in which an event was begun; empty where that is not known."""
    return event.changes[0].at[:4] if event.changes else ""


def season_lines(events: Iterable[TournamentEvent]) -> list[SeasonLine]:
    """Return the standings over events: by games won, then by fewer lost, then by the difference of points."""
    found: dict[str, SeasonLine] = {}
    for event in events:
        lines = {one.id: found.setdefault(one.coach.casefold(), SeasonLine(one.coach)) for one in event.entrants}
        progress = Progress(event)
        for match in event.matches:
            result = match.result
            if result is None:
                continue
            for side, entrant in zip(("home", "away"), progress.sides(match), strict=True):
                if entrant not in lines:
                    continue
                line = lines[entrant]
                line.won += result.winner == side
                line.tied += result.winner is None
                line.lost += result.winner not in {side, None}
                line.difference += (result.home - result.away) * (1 if side == "home" else -1)
        for entrant in event.byes:
            lines[entrant].won += 1
        for rank in ranking(event):
            lines[rank.entrant].places.append(f"{ordinal(rank.place)} {event.name}")
    return sorted(found.values(), key=lambda line: (-line.won, line.lost, -line.difference, line.coach.casefold()))


def season_page(events: Iterable[TournamentEvent]) -> str:
    """Return the standings of each season, the latest first."""
    seasons: dict[str, list[TournamentEvent]] = {}
    for event in {event.draw: event for event in events if event.draw}.values():  # one that was being opened twice
        seasons.setdefault(season_of(event), []).append(event)
    heads = ("", "Coach", "W", "L", "T", "±", "Places")
    parts = []
    for year in sorted(seasons, reverse=True):
        rows = [
            (
                str(number),
                line.coach,
                *map(str, (line.won, line.lost, line.tied, line.difference)),
                ", ".join(line.places),
            )
            for number, line in enumerate(season_lines(seasons[year]), start=1)
        ]
        parts.append(section(year, _grid(heads, rows)))
    return document("Season", "".join(parts) or "<p>No event was drawn yet.</p>")


_DISPUTE_HEADS: Final = ("Table", "Game", "Call", "Challenged by, and why", "Decision", "Opinions and appeal")


def disputes_page(games: StoreReader) -> str:
    """Return every challenged call of the tables' games, those under review first."""
    found = sorted(challenge_statistics(games).disputed, key=lambda one: one.challenge.decision is not None)
    rows = [_disputed(one) for one in found]
    content = _PRINT + _grid(_DISPUTE_HEADS, rows) if rows else "<p>No call was challenged.</p>"
    return document("Disputed calls", content)


def _disputed(one: DisputedCall) -> tuple[str, ...]:
    challenge, said = one.challenge, []
    if challenge.appealed is not None:
        said = [f"{challenge.appealed.by} had decided: {DECISION_WORDS[challenge.appealed.decision]}", challenge.appeal]
    said += [f"{known.by}: {DECISION_WORDS[known.decision]}, {known.reason}" for known in challenge.opinions]
    decided = "under review"
    if challenge.decision is not None:
        decided = f"{DECISION_WORDS[challenge.decision]} by {challenge.ruled_by}: {challenge.ruling_reason}"
    team = one.home if challenge.side == "home" else one.away
    asked = f"{team}: {challenge.reason}"
    return (one.table, f"{one.away} at {one.home}", spoken_name(challenge.text), asked, decided, ". ".join(said))


router = AuthorizedRouter(tags=["event"])


class EarlierEvent(BaseModel):
    """An event that was played before."""

    number: int
    name: str
    season: str


@router.get("/event/sheets/{name}", "viewer", summary="Sheets to be printed", response_class=HTMLResponse)
def read_sheets(desk: DeskDep, name: SheetName) -> HTMLResponse:
    """Each table's games, each team's, or a blank score sheet for every game whose teams are known."""
    titles = {"tables": "table sheets", "teams": "team sheets", "scores": "score sheets"}
    makers: dict[SheetName, Callable[[EventView], Iterable[str]]]
    makers = {"tables": _table_sheets, "teams": _team_sheets, "scores": _score_sheets}
    event = event_view(desk.keeper.event, "")
    sheets = "".join(f"<div class=sheet>{sheet}</div>" for sheet in makers[name](event))
    content = _PRINT + (sheets or "<p>Make the draw and the schedule first.</p>")
    return HTMLResponse(document(f"{event.name}: {titles[name]}", content), headers=PAGE_HEADERS)


@router.get("/event/season", "viewer", summary="The standings of each season", response_class=HTMLResponse)
def read_season(desk: DeskDep) -> HTMLResponse:
    """Over all events of this desk, by coach."""
    return HTMLResponse(season_page([desk.keeper.event, *desk.keeper.earlier().values()]), headers=PAGE_HEADERS)


@router.get(
    "/event/disputes", "viewer", summary="Every disputed call of the tables' games", response_class=HTMLResponse
)
def read_disputes(desk: DeskDep) -> HTMLResponse:
    """Across all tables, with who decided, and opinions and appeals."""
    return HTMLResponse(disputes_page(desk.tournament.games()), headers=PAGE_HEADERS)


@router.get(
    "/event/earlier/{number}", "viewer", summary="An earlier event, as guests saw it", response_class=HTMLResponse
)
def read_earlier(desk: DeskDep, number: int) -> HTMLResponse:
    """Results and standings."""
    event = desk.keeper.earlier().get(number)
    if event is None:
        raise NotFoundError(f"There is no earlier event {number}.")
    return HTMLResponse(guest_page(event_view(event, "")), headers=PAGE_HEADERS)


@router.get("/api/event/earlier", "viewer", summary="The events before this one")
def list_earlier(desk: DeskDep) -> list[EarlierEvent]:
    """The latest first."""
    return [
        EarlierEvent(number=number, name=event.name, season=season_of(event))
        for number, event in desk.keeper.earlier().items()
    ]


@router.post("/api/event/earlier/{number}", "admin", summary="Open an earlier event again")
def reopen(by: SenderDep, number: int) -> EventView:
    """In place of the present one, which is kept beside it."""
    return shown(by.desk, by.desk.keeper.reopen(by.request, number))
