"""Where and when the games of an event are played: the schedule, and what a director does to it by hand.

Nothing here moves a game that has begun; a game that was moved by hand stays where it was put.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal

from downfield.core.errors import InputError, NotFoundError, RefusedError
from downfield.desk.event.outcomes import in_play, settled
from downfield.desk.event.progress import Progress, depends_on
from downfield.desk.event.records import EventClock, Match
from downfield.desk.event.schedule import schedule, slot_times
from downfield.desk.event.state import Change, TournamentEvent

MAX_DELAY_MIN: Final = 600  # Minutes that one round may be late


def change_clock(event: TournamentEvent, clock: EventClock, tables: Sequence[str], by: Change) -> TournamentEvent:
    """Change when and where games are played. Games that have not begun are scheduled again if there is a schedule.

    Raises:
        InputError: a table is named twice or not at all, a session is impossible, or there is too little time.
    """
    names = tuple(name.strip() for name in tables)
    if len(set(names)) != len(names) or "" in names:
        raise InputError("Every table needs a name of its own.")
    slot_times(clock)
    changed = replace(event, clock=clock, tables=names)
    if any(match.slot is not None for match in event.matches):
        changed = scheduled(changed)
    return noted(changed, by)


def make_schedule(event: TournamentEvent, by: Change) -> TournamentEvent:
    """Schedule what has not begun and is not held. Raises InputError: no table, or no time; RefusedError: no draw."""
    if not event.matches:
        raise RefusedError("Make the draw first.")
    return noted(scheduled(event), by)


def move(event: TournamentEvent, identity: str, table: str, slot: int, by: Change) -> TournamentEvent:
    """Move a game to another table or time, where it is fixed then.

    Raises:
        NotFoundError: no game has that id.
        InputError: there is no such table or time.
        RefusedError: it has begun, the table is taken, a side plays elsewhere then, or the game before is not over.
    """
    match = find_match(event, identity)
    _check_movable(event, match)
    if table not in event.tables:
        raise InputError(f"There is no table '{table}'.")
    if slot < 0 or (event.clock.sessions and slot >= len(slot_times(event.clock))):
        raise InputError("There is no such time in the sessions.")
    placed = replace(match, table=table, slot=slot, fixed=True, postponed=False)
    changed = replace(event, matches=tuple(placed if other.id == identity else other for other in event.matches))
    _check_place(changed, placed)
    return noted(changed, by)


def swap(event: TournamentEvent, identity: str, other: str, by: Change) -> TournamentEvent:
    """Exchange tables and times of two games.

    Raises:
        NotFoundError: there is no such game.
        RefusedError: one has begun or has no time, or a side or the order of games does not allow it.
    """
    one, two = find_match(event, identity), find_match(event, other)
    for match in (one, two):
        _check_movable(event, match)
        if match.slot is None:
            raise RefusedError(f"{match.id} has no time yet.")
    pairs = {
        one.id: replace(one, table=two.table, slot=two.slot, fixed=True),
        two.id: replace(two, table=one.table, slot=one.slot, fixed=True),
    }
    changed = replace(event, matches=tuple(pairs.get(match.id, match) for match in event.matches))
    for match in pairs.values():
        _check_place(changed, match)
    return noted(changed, by)


Holding = Literal["fixed", "postponed", "free"]  # How a game is held in its place


def hold(event: TournamentEvent, identity: str, how: Holding, by: Change) -> TournamentEvent:
    """Fix a game where it is, postpone it until it is moved to a time, or leave it to the schedule again.

    Raises:
        NotFoundError: no game has that id.
        RefusedError: it has begun, or is to be fixed and has no time.
    """
    match = find_match(event, identity)
    _check_movable(event, match)
    if how == "fixed" and match.slot is None:
        raise RefusedError(f"{identity} has no time yet. Move it to one.")
    held = replace(match, fixed=how == "fixed", postponed=how == "postponed")
    if how == "postponed":
        held = replace(held, slot=None, table="")
    return noted(replace(event, matches=tuple(held if one == match else one for one in event.matches)), by)


def assign_officials(event: TournamentEvent, identity: str, names: Sequence[str], by: Change) -> TournamentEvent:
    """Say who referees or operates a game, in place of those named before; empty for nobody.

    Raises:
        NotFoundError: no game has that id.
        InputError: somebody is named twice.
        RefusedError: one of them has another game, or plays, at that time.
    """
    match = find_match(event, identity)
    officials = tuple(" ".join(name.split()) for name in names if name.strip())
    if len({name.casefold() for name in officials}) < len(officials):
        raise InputError("Somebody is named twice.")
    changed = replace(match, officials=officials)
    _check_officials(event, changed)
    return noted(replace(event, matches=tuple(changed if one == match else one for one in event.matches)), by)


def delay(event: TournamentEvent, slot: int, minutes: int, by: Change) -> TournamentEvent:
    """Have a slot and those after it in its session begin later, or earlier again where they were late.

    Raises:
        InputError: there is no such slot, or nothing would be later than planned any more.
    """
    times = slot_times(event.clock)
    if not 0 <= slot < len(times):
        raise InputError("There is no such time in the sessions.")
    delays = {**event.clock.delays, slot: event.clock.delays.get(slot, 0) + minutes}
    clock = replace(event.clock, delays={number: late for number, late in delays.items() if late})
    if min(delays.values()) < 0 or max(delays.values()) > MAX_DELAY_MIN:
        raise InputError(f"A round can be 0 to {MAX_DELAY_MIN} minutes late.")
    return noted(replace(event, clock=clock), by)


def moved_by_delay(before: TournamentEvent, after: TournamentEvent, slot: int) -> str:
    """Return what a delay moves, for people."""
    old, new = slot_times(before.clock), slot_times(after.clock)
    moved = [number for number, (was, now) in enumerate(zip(old, new, strict=True)) if was != now]
    games = sum(match.slot in moved and match.result is None for match in before.matches)
    first, last = new[slot], new[moved[-1] if moved else slot]
    ends = last + timedelta(minutes=after.clock.game_min)
    text = f"{games} games begin at another time, the first at {first:%H:%M}; the last of them ends at {ends:%H:%M}."
    late = [one for one in after.clock.sessions if datetime.fromisoformat(one.begins).date() == last.date()]
    over = max((datetime.fromisoformat(one.ends) for one in late), default=ends)
    return f"{text} That is after the session's end at {over:%H:%M}." if ends > over else text


def find_match(event: TournamentEvent, identity: str) -> Match:
    """Return a game. Raises NotFoundError: no game has that id."""
    found = next((match for match in event.matches if match.id == identity), None)
    if found is None:
        raise NotFoundError(f"The event has no game '{identity}'.")
    return found


def scheduled(event: TournamentEvent) -> TournamentEvent:
    """Return an event with every game scheduled that has not begun, and is not fixed or postponed."""
    progress = Progress(event)
    players = {match.id: {side for side in progress.sides(match) if side is not None} for match in event.matches}
    matches = schedule(event.matches, event.tables, event.clock, players, in_play(event).keys())
    return replace(event, matches=matches)


def noted(event: TournamentEvent, change: Change) -> TournamentEvent:
    """Return a changed event with its results made anew, and a line in its audit trail."""
    return settled(replace(event, changes=(*event.changes, change)))


def at_table(name: str) -> str:
    """Return a table's name for a sentence: "Table 1" and "1" both as Table 1; nothing for no table."""
    return name if not name or name.casefold().startswith("table") else f"table {name}"


def _check_movable(event: TournamentEvent, match: Match) -> None:
    """Check that a game has not begun. Raises RefusedError: it has, or it is decided."""
    game = in_play(event).get(match.id)
    if game is not None:
        raise RefusedError(f"{match.id} is in play at {at_table(game.table) or 'a table'}. It stays there.")
    if match.result is not None or match.dispute:
        raise RefusedError(f"{match.id} is played already. It stays where it was.")


def _check_place(event: TournamentEvent, match: Match) -> None:
    """Refuse a place where the table is taken, a side plays elsewhere then, or the game before is not over."""
    progress = Progress(event)
    sides = {side for side in progress.sides(match) if side is not None}
    for other in event.matches:
        if other.id == match.id or other.slot is None or match.slot is None:
            continue
        if other.slot == match.slot and other.table == match.table:
            raise RefusedError(f"{other.id} is played at {at_table(match.table)} then.")
        if other.slot == match.slot and sides & set(progress.sides(other)):
            raise RefusedError(f"One of them plays {other.id} then.")
        first, second = (match, other) if depends_on(other, match) else (other, match)
        if depends_on(second, first) and (second.slot or 0) <= (first.slot or 0):
            raise RefusedError(f"{first.id} decides who plays {second.id}, so it can't be played after it.")
    _check_officials(event, match)


def _check_officials(event: TournamentEvent, match: Match) -> None:
    """Refuse officials of a game who have, or play, another one then."""
    progress, coaches = Progress(event), {entrant.id: entrant.coach.casefold() for entrant in event.entrants}
    wanted = {name.casefold(): name for name in match.officials}
    for other in event.matches:
        if match.slot is None or other.slot != match.slot:
            continue
        others = [] if other.id == match.id else [name.casefold() for name in other.officials]
        playing = [coaches[side] for side in progress.sides(other) if side is not None]
        for name in wanted.keys() & {*others, *playing}:
            what = "plays" if name in playing else "has"
            raise RefusedError(f"{wanted[name]} {what} {other.id} at that time.")
