"""What of the event goes to tables: a game, the teams, the schedule; and where a team is to be found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from downfield.core.errors import RefusedError
from downfield.desk.event.changes import result_text
from downfield.desk.event.csv_files import COLOR
from downfield.desk.event.outcomes import in_play, outcomes
from downfield.desk.event.placing import at_table, find_match
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant
from downfield.desk.event.state import TournamentEvent
from downfield.desk.event.tickets import ticket_for
from downfield.desk.service.event_views import event_view
from downfield.game.records.commands import AWAY_SHEET, HOME_SHEET, NewGame, TeamSheet
from downfield.rig.tournament.push_payloads import PushedFigure, PushedSchedule, PushedTeam, PushedTeams, ScheduledGame
from downfield.store.sealing.signing import RigKey

MAX_NOTE: Final = 80  # Letters of a weigh-in note as tables get it


def match_of(event: TournamentEvent, identity: str, rig: Callable[[str], str], key: RigKey) -> tuple[str, NewGame]:
    """Return the table of a game of the event, and the game to be played there.

    Args:
        rig: returns the id of the rig of a table, or refuses.
        key: the desk's, which assigns the game to that rig.

    Raises:
        NotFoundError: there is no such game.
        RefusedError: it can't be played yet, is in play, or has no table, or one of the teams plays elsewhere.
    """
    match = find_match(event, identity)
    playing = in_play(event)
    if identity in playing:
        raise RefusedError(f"{identity} is in play at {at_table(playing[identity].table)} already. It goes on there.")
    if match.dispute:
        raise RefusedError(f"{identity} waits for your decision: {match.dispute}")
    progress = Progress(event)
    if match.result is not None:
        raise RefusedError(f"{identity} is decided: {result_text(match.result)}. Remove that to have it played again.")
    if not progress.is_ready(match):
        raise RefusedError(f"It is not decided yet who plays {identity}.")
    unsigned = next((one for one in outcomes(event).waiting if (one.kind, one.match) == ("unsigned", identity)), None)
    if unsigned is not None:
        raise RefusedError(f"{identity} was played, and its result is missing: {unsigned.text}. {unsigned.reason}")
    if not match.table:
        raise RefusedError(f"{identity} has no table yet. Make the schedule, or move it to a table.")
    entrants = {entrant.id: entrant for entrant in event.entrants}
    sides = [side for side in progress.sides(match) if side is not None]
    for other, game in playing.items():
        busy = set(sides) & set(progress.sides(find_match(event, other)))
        if busy:
            name = entrants[busy.pop()].name
            raise RefusedError(f"{name} is still playing {other} at {at_table(game.table)}. Send {identity} after it.")
    home, away = _sheet(entrants[sides[0]], HOME_SHEET), _sheet(entrants[sides[1]], AWAY_SHEET)
    ticket = ticket_for(event, match, rig(match.table), (home.name, away.name), key)
    title = _one_line(f"{event.name}, {match.id}")[:120]
    return match.table, NewGame(home=home, away=away, title=title, match=ticket)


def teams_of(event: TournamentEvent) -> PushedTeams:
    """Return the teams of those who are in the event, with their rosters. Raises RefusedError: nobody is."""
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


def schedule_of(event: TournamentEvent, rigs: Mapping[str, str], key: RigKey) -> PushedSchedule:
    """Return the games that are to be played, in the order of their times.

    Those whose sides are known can be started at their tables, also while the desk is away.

    Args:
        rigs: ids of the rigs by their tables' names, in small letters.
        key: the desk's.

    Raises:
        RefusedError: there are none.
    """
    matches = {match.id: match for match in event.matches}
    rows = [
        match
        for match in event_view(event, "").matches
        if match.table and match.slot is not None and match.state in {"open", "ready"}
    ]
    if not rows:
        raise RefusedError("No game that is still to be played has a table and a time. Make the schedule first.")
    rows.sort(key=lambda match: (match.slot or 0, match.table))
    games = []
    for row in rows:
        rig, names = rigs.get(row.table.strip().casefold(), ""), (_name(row.home.name), _name(row.away.name))
        ready = bool(rig) and row.state == "ready"
        ticket = ticket_for(event, matches[row.id], rig, names, key) if ready else None
        games.append(ScheduledGame(row.id, row.table, row.begins, row.home.name, row.away.name, ticket))
    return PushedSchedule(event.name, tuple(games))


def _name(text: str) -> str:
    return _one_line(text)[:60] or "?"


def _one_line(text: str) -> str:
    """Return a text without control characters, which a table takes in no name."""
    return " ".join("".join(letter if letter >= " " and letter != "\x7f" else " " for letter in text).split())


def _sheet(entrant: Entrant, usual: TeamSheet) -> TeamSheet:
    name = _name(entrant.name)
    short = (_one_line(entrant.short) or "".join(name.split())[:3].upper())[:4]
    if not COLOR.fullmatch(entrant.color):
        return TeamSheet(name=name, short=short, color=usual.color, ink=usual.ink)
    red, green, blue = (int(entrant.color[place : place + 2], 16) for place in (1, 3, 5))
    ink = "#10151b" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"
    return TeamSheet(name=name, short=short, color=entrant.color, ink=ink)


def table_of(event: TournamentEvent, entrant: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the table where an entrant plays now or next, if it is known (small letters); else none, which is all."""
    progress, playing = Progress(event), in_play(event)
    own = [match for match in event.matches if match.result is None and entrant in progress.sides(match)]
    own.sort(key=lambda match: (match.id not in playing, match.slot is None, match.slot or 0))
    tables = [playing[match.id].table if match.id in playing else match.table for match in own[:1]]
    return tuple(table for table in tables if table.strip().casefold() in known)
