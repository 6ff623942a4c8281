"""What of the event can be sent to tables: a game with its teams, all teams with their rosters, the schedule."""

from __future__ import annotations

from typing import Final

from downfield.core.errors import NotFoundError, RefusedError
from downfield.desk.event.csv_files import COLOR
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant, TournamentEvent
from downfield.desk.service.event_views import event_view
from downfield.game.records.commands import AWAY_SHEET, HOME_SHEET, NewGame, TeamSheet
from downfield.rig.tournament.push_payloads import PushedFigure, PushedSchedule, PushedTeam, PushedTeams, ScheduledGame

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
