"""The schedule: which game is played when and on which table, by the event's common clock.

Games are placed slot by slot. Of those that could be played, the ones that most others wait for come first (the
longest way to the end of the event), so that the event ends early. Nobody plays twice at a time, a game comes after
those that decide its sides, and everybody rests as long as the event's clock says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from downfield.core.errors import InputError
from downfield.desk.event.progress import depends_on
from downfield.desk.event.records import EventClock, Match


def slot_times(clock: EventClock) -> list[datetime]:
    """Return when each slot begins, local time, with its delays: the last of a session may then end after it.

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
        at, late = begins, timedelta()
        while at + timedelta(minutes=clock.game_min) <= ends:
            late += timedelta(minutes=clock.delays.get(len(times), 0))
            times.append(at + late)
            at += timedelta(minutes=clock.game_min + clock.change_min)
    return times


def schedule(
    matches: Sequence[Match],
    tables: Sequence[str],
    clock: EventClock,
    players: Mapping[str, set[str]],
    active: Collection[str] = (),
) -> tuple[Match, ...]:
    """Return the games with their slots and tables.

    What is played, is in play, waits for the director's decision or was fixed stays where it is, and nothing is put on
    its table then. What is postponed has no time, nor has what waits for it. Once games are played, the others come no
    earlier than the last of those: nothing is scheduled into the past.

    Args:
        tables: names, without repetition.
        clock: the event's clock. Without sessions, slots are numbered and have no times.
        players: ids of who is known to play each game.
        active: ids of the games that are in play.

    Raises:
        InputError: there is no table, or there are too few slots; says how many are missing.
    """
    if not tables:
        raise InputError("There is no table to play on. Name the tables first.")
    times = slot_times(clock)
    decided = {match.id for match in matches if match.result is not None or match.dispute or match.id in active}
    stays = [match for match in matches if match.id in decided or (match.fixed and match.slot is not None)]
    placed: dict[str, Match] = {match.id: match for match in stays}
    before = {match.id: [other.id for other in matches if depends_on(match, other)] for match in matches}
    waiting = _without_time(matches, placed, before)
    open_matches = [match for match in matches if match.id not in placed and match.id not in waiting]
    urgency = _urgency(matches, before)
    taken = {(match.slot, match.table) for match in stays}
    used: dict[str, Counter[str]] = {}
    # What somebody forfeits who has left may be far ahead, and is not played.
    played = {match.id for match in stays if match.result is not None and match.result.forfeited_by is None}
    slot = max((match.slot for match in stays if match.slot is not None and match.id in {*active, *played}), default=0)
    while open_matches:
        ready = [match for match in open_matches if _may_begin(match, slot, placed, before, clock.rest_slots)]
        ready.sort(key=lambda match: -urgency[match.id])  # stable: listed order among equals
        busy = {player for match in placed.values() if match.slot == slot for player in players[match.id]}
        free = [table for table in tables if (slot, table) not in taken]
        for match in ready:
            if not free:
                break
            own = players[match.id]
            if own & busy or not _rested(own, slot, placed.values(), clock.rest_slots, players):
                continue
            table = min(free, key=lambda name: sum(used.get(player, Counter())[name] for player in own))
            free.remove(table)
            busy |= own
            for player in own:
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
    made = tuple(placed.get(match.id) or replace(match, slot=None, table="") for match in matches)
    slots = {match.id: -1 if match.slot is None else match.slot for match in made}
    for match in made:
        late = [one for one in before[match.id] if match.slot is not None and slots[one] >= match.slot]
        if late and match.fixed and match.result is None:
            raise InputError(
                f"{match.id} is fixed before {late[0]}, which decides who plays it. Release it, or move it."
            )
    return made


def _without_time(matches: Sequence[Match], placed: Mapping[str, Match], before: Mapping[str, list[str]]) -> set[str]:
    """Return the games that have no time: those postponed, and those that wait for one without."""
    out: set[str] = set()
    for match in matches:  # games are listed after those that decide them
        if match.id not in placed and (match.postponed or out & set(before[match.id])):
            out.add(match.id)
    return out


def _may_begin(match: Match, slot: int, placed: dict[str, Match], before: dict[str, list[str]], rest: int) -> bool:
    """Return whether everything that decides a game's sides is over, and its winners and losers have rested."""
    for identity in before[match.id]:
        earlier = placed.get(identity)
        if earlier is None or (earlier.slot is not None and earlier.slot + rest >= slot):
            return False
    return True


def _rested(own: set[str], slot: int, placed: Iterable[Match], rest: int, players: Mapping[str, set[str]]) -> bool:
    return not any(
        match.slot is not None and 0 < abs(slot - match.slot) <= rest and own & players[match.id] for match in placed
    )


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
