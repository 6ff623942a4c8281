"""The schedule: which game is played when and on which table, by the event's common clock.

Games are placed slot by slot. Of those that could be played, the ones that most others wait for come first (the
longest way to the end of the event), so that the event ends early. Nobody plays twice at a time, a game comes after
those that decide its sides, and everybody rests as long as the event's clock says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from downfield.core.errors import InputError
from downfield.desk.event.progress import depends_on
from downfield.desk.event.records import EventClock, KnownEntrant, Match


def slot_times(clock: EventClock) -> list[datetime]:
    """Return when each slot begins, local time.

    Raises:
        InputError: a session is malformed, ends before it begins, or begins before the one before it ends.
    """
    times: list[datetime] = []
    last_end: datetime | None = None
    for number, session in enumerate(clock.sessions, start=1):
        begins, ends = _time(session.begins, number), _time(session.ends, number)
        if ends <= begins:
            raise InputError(f"session {number} ends ({session.ends}) before it begins ({session.begins})")
        if last_end is not None and begins < last_end:
            raise InputError(f"session {number} begins ({session.begins}) before session {number - 1} ends")
        last_end = ends
        at = begins
        while at + timedelta(minutes=clock.game_min) <= ends:
            times.append(at)
            at += timedelta(minutes=clock.game_min + clock.change_min)
    return times


def schedule(matches: Sequence[Match], tables: Sequence[str], clock: EventClock) -> tuple[Match, ...]:
    """Return the games with their slots and tables; games with a result stay where they were.

    Once games are played, the others come no earlier than the last of those: nothing is scheduled into the past.

    Args:
        tables: names, without repetition.
        clock: the event's clock. Without sessions, slots are numbered and have no times.

    Raises:
        InputError: there is no table, or there are too few slots; says how many are missing.
    """
    if not tables:
        raise InputError("There is no table to play on. Name the tables first.")
    times = slot_times(clock)
    placed: dict[str, Match] = {match.id: match for match in matches if match.result is not None}
    open_matches = [match for match in matches if match.result is None]
    before = {match.id: [other.id for other in matches if depends_on(match, other)] for match in matches}
    urgency = _urgency(matches, before)
    taken = {(match.slot, match.table) for match in placed.values()}
    used: dict[str, Counter[str]] = {}
    slot = max((match.slot for match in placed.values() if match.slot is not None and _is_played(match)), default=0)
    while open_matches:
        ready = [match for match in open_matches if _may_begin(match, slot, placed, before, clock.rest_slots)]
        ready.sort(key=lambda match: -urgency[match.id])  # stable: listed order among equals
        busy = {player for match in placed.values() if match.slot == slot for player in _players(match)}
        free = [table for table in tables if (slot, table) not in taken]
        for match in ready:
            if not free:
                break
            players = _players(match)
            if players & busy or not _rested(players, slot, placed.values(), clock.rest_slots):
                continue
            table = min(free, key=lambda name: sum(used.get(player, Counter())[name] for player in players))
            free.remove(table)
            busy |= players
            for player in players:
                used.setdefault(player, Counter())[table] += 1
            placed[match.id] = replace(match, slot=slot, table=table)
        open_matches = [match for match in open_matches if match.id not in placed]
        slot += 1
    last = max((match.slot for match in placed.values() if match.slot is not None), default=-1)
    if clock.sessions and last >= len(times):
        raise InputError(
            f"The sessions have room for {len(times)} games one after another, and {last + 1} are needed. Add tables or"
            " time, or shorten the games."
        )
    return tuple(placed[match.id] for match in matches)


def _is_played(match: Match) -> bool:
    """Return whether a game was played: what somebody forfeits who has left may be far ahead."""
    return match.result is not None and match.result.forfeited_by is None


def _may_begin(match: Match, slot: int, placed: dict[str, Match], before: dict[str, list[str]], rest: int) -> bool:
    """Return whether everything that decides a game's sides is over, and its winners and losers have rested."""
    for identity in before[match.id]:
        earlier = placed.get(identity)
        if earlier is None or (earlier.slot is not None and earlier.slot + rest >= slot):
            return False
    return True


def _rested(players: set[str], slot: int, placed: Iterable[Match], rest: int) -> bool:
    return not any(
        match.slot is not None and 0 < abs(slot - match.slot) <= rest and players & _players(match) for match in placed
    )


def _players(match: Match) -> set[str]:
    """Return who is known to play from the draw; everybody else is decided by games that are over by then."""
    return {side.entrant for side in (match.home, match.away) if isinstance(side, KnownEntrant)}


def _urgency(matches: Sequence[Match], before: dict[str, list[str]]) -> dict[str, int]:
    """Return for each game the length of the longest chain of games that wait for it."""
    urgency = {match.id: 0 for match in matches}
    for match in reversed(matches):  # games are listed after those that decide them
        for earlier in before[match.id]:
            urgency[earlier] = max(urgency[earlier], urgency[match.id] + 1)
    return urgency


def _time(text: str, session: int) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M")  # local time of the hall
    except ValueError:
        raise InputError(f"session {session}: '{text}' is no time such as 2026-09-05T09:00") from None
