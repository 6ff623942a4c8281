"""What a director does to an event; each returns the event as it is afterwards, with a line in its audit trail.

A coach who comes after the draw joins the smallest pool, and plays everybody in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from downfield.core.errors import InputError, NotFoundError, RefusedError
from downfield.desk.event.brackets import draw_pools, elimination, round_robin
from downfield.desk.event.progress import Progress, depends_on
from downfield.desk.event.records import (
    MAX_ENTRANTS,
    Change,
    Entrant,
    EventClock,
    KnownEntrant,
    Match,
    Result,
    Rules,
    TournamentEvent,
)
from downfield.desk.event.schedule import schedule, slot_times

Operation = Callable[[TournamentEvent, Change], TournamentEvent]
"""Something a director does to an event, with the line for the audit trail."""

_FORFEIT_POINTS = 2
"""What a forfeit counts in the points of a pool, as in football."""


def change_rules(event: TournamentEvent, rules: Rules, by: Change) -> TournamentEvent:
    """Change how the event is played, before the draw.

    Raises:
        RefusedError: it is drawn already.
    """
    _before_the_draw(event, "The rules can only change before the draw.")
    return _noted(replace(event, rules=rules), by)


def change_clock(event: TournamentEvent, clock: EventClock, tables: Sequence[str], by: Change) -> TournamentEvent:
    """Change when and where games are played. Games without a result are scheduled again if there is a schedule.

    Raises:
        InputError: a table is named twice or not at all, a session is impossible, or there is too little time.
    """
    names = tuple(name.strip() for name in tables)
    if len(set(names)) != len(names) or "" in names:
        raise InputError("Every table needs a name of its own.")
    slot_times(clock)
    changed = replace(event, clock=clock, tables=names)
    if any(match.slot is not None for match in event.matches):
        changed = replace(changed, matches=schedule(changed.matches, names, clock))
    return _noted(changed, by)


def register(event: TournamentEvent, entrant: Entrant, by: Change) -> TournamentEvent:
    """Register a coach, or change what is registered; after the draw only roster, notes and names may change.

    Raises:
        InputError: another coach has the name or the seed, or there are too many.
        RefusedError: it is drawn already, and somebody new wants to play.
    """
    others = [other for other in event.entrants if other.id != entrant.id]
    if any(other.name.casefold() == entrant.name.casefold() for other in others):
        raise InputError(f"'{entrant.name}' is registered already. Give the team a name of its own.")
    same_seed = next((other for other in others if entrant.seed is not None and other.seed == entrant.seed), None)
    if same_seed is not None:
        raise InputError(f"{same_seed.name} has seed {entrant.seed} already.")
    if len(others) >= MAX_ENTRANTS:
        raise InputError(f"An event has at most {MAX_ENTRANTS} entrants.")
    known = next((other for other in event.entrants if other.id == entrant.id), None)
    if known is None:
        _before_the_draw(
            event,
            "The draw is made, so nobody can be added by a list. Register who comes late alone; or undo the draw first,"
            " if no game is played.",
        )
        return _noted(replace(event, entrants=(*event.entrants, entrant)), by)
    if event.matches and entrant.seed != known.seed:
        raise RefusedError("The draw is made, so seeds can't change any more.")
    entrants = tuple(entrant if other.id == entrant.id else other for other in event.entrants)
    return _noted(replace(event, entrants=entrants), by)


def withdraw(event: TournamentEvent, identity: str, by: Change) -> TournamentEvent:
    """Take a coach out: before the draw as if they had never registered, afterwards by forfeiting what is left.

    Games that become known later are forfeited then, by `enter_result`.

    Raises:
        NotFoundError: nobody has that id.
    """
    leaving = find_entrant(event, identity)
    if not event.matches:
        return _noted(replace(event, entrants=tuple(other for other in event.entrants if other != leaving)), by)
    entrants = tuple(replace(other, withdrawn=True) if other == leaving else other for other in event.entrants)
    return _noted(_forfeited(replace(event, entrants=entrants)), by)


def draw(event: TournamentEvent, by: Change) -> TournamentEvent:
    """Draw pools and brackets from the seeds; those without a seed follow in the order of registration.

    Raises:
        RefusedError: it is drawn already.
        InputError: there are too few for the pools or for a game.
    """
    _before_the_draw(event, "The draw is made already. Undo it first, if no game is played.")
    rules, entrants = event.rules, seeded(event.entrants)
    if len(entrants) < 2:
        raise InputError("A draw needs at least two entrants.")
    if len(entrants) < 2 * rules.pools:
        raise InputError(
            f"{rules.pools} pools need at least {2 * rules.pools} entrants; {len(entrants)} are registered."
        )
    pools = draw_pools(entrants, rules.pools) if rules.pools else {}
    matches = [match for pool, ids in pools.items() for match in round_robin(pool, ids)]
    matches += elimination(rules, entrants, pools)
    return _noted(replace(event, pools=pools, matches=tuple(matches)), by)


def undo_draw(event: TournamentEvent, by: Change) -> TournamentEvent:
    """Undo the draw and the schedule.

    Raises:
        RefusedError: a game is played already.
    """
    if any(match.result is not None for match in event.matches):
        raise RefusedError("Games are played already, so the draw stands. Remove their results first.")
    return _noted(replace(event, pools={}, matches=(), lots=()), by)


def make_schedule(event: TournamentEvent, by: Change) -> TournamentEvent:
    """Schedule every game without a result.

    Raises:
        InputError: there is no table or too little time.
        RefusedError: there is no draw yet.
    """
    if not event.matches:
        raise RefusedError("Make the draw first.")
    return _noted(replace(event, matches=schedule(event.matches, event.tables, event.clock)), by)


def enter_result(event: TournamentEvent, identity: str, result: Result | None, by: Change) -> TournamentEvent:
    """Enter, correct or remove (None) the result of a game.

    Raises:
        NotFoundError: no game has that id.
        RefusedError: its sides are open, a later game was played with its winner or loser, or it may not be a tie.
    """
    match = find_match(event, identity)
    progress = Progress(event)
    if None in progress.sides(match):
        raise RefusedError(f"It is not decided yet who plays {identity}.")
    if progress.is_needed(match) is not True:
        raise RefusedError(f"{identity} is only played if the side from the losers' bracket wins the game before.")
    if result is not None and match.stage != "pool" and result.winner is None:
        raise RefusedError(f"{identity} decides who goes on, so it can't be a tie. Play overtime.")
    later = next((other for other in event.matches if other.result is not None and depends_on(other, match)), None)
    if later is not None and (match.stage == "pool" or _winner(match.result) != _winner(result)):
        raise RefusedError(f"{later.id} was played with who came out of {identity}. Remove its result first.")
    matches = tuple(replace(other, result=result) if other.id == identity else other for other in event.matches)
    return _noted(_forfeited(replace(event, matches=matches)), by)


def move(event: TournamentEvent, identity: str, table: str, slot: int, by: Change) -> TournamentEvent:
    """Move a game to another table or time.

    Raises:
        NotFoundError: no game has that id.
        InputError: there is no such table or time.
        RefusedError: the table is taken, a side plays elsewhere then, or the game before is not over.
    """
    match = find_match(event, identity)
    if table not in event.tables:
        raise InputError(f"There is no table '{table}'.")
    if slot < 0 or (event.clock.sessions and slot >= len(slot_times(event.clock))):
        raise InputError("There is no such time in the sessions.")
    progress = Progress(event)
    sides = {side for side in progress.sides(match) if side is not None}
    for other in event.matches:
        if other.id == identity or other.slot is None:
            continue
        if other.slot == slot and other.table == table:
            raise RefusedError(f"{other.id} is played on table {table} then.")
        if other.slot == slot and sides & set(progress.sides(other)):
            raise RefusedError(f"One of them plays {other.id} then.")
        if (depends_on(match, other) and other.slot >= slot) or (depends_on(other, match) and other.slot <= slot):
            raise RefusedError(f"{identity} and {other.id} decide one another, so they can't be played in that order.")
    matches = tuple(replace(other, table=table, slot=slot) if other == match else other for other in event.matches)
    return _noted(replace(event, matches=matches), by)


def draw_lots(event: TournamentEvent, order: Sequence[str], by: Change) -> TournamentEvent:
    """Enter the order that lots gave to entrants whom no tie-break separates.

    Raises:
        InputError: somebody is missing or named twice.
    """
    if sorted(order) != sorted(entrant.id for entrant in event.entrants):
        raise InputError("The lots need every entrant exactly once.")
    return _noted(replace(event, lots=tuple(order)), by)


def find_match(event: TournamentEvent, identity: str) -> Match:
    """Return a game.

    Raises:
        NotFoundError: no game has that id.
    """
    found = next((match for match in event.matches if match.id == identity), None)
    if found is None:
        raise NotFoundError(f"The event has no game '{identity}'.")
    return found


def find_entrant(event: TournamentEvent, identity: str) -> Entrant:
    """Return an entrant.

    Raises:
        NotFoundError: nobody has that id.
    """
    found = next((entrant for entrant in event.entrants if entrant.id == identity), None)
    if found is None:
        raise NotFoundError("Nobody is registered with that id.")
    return found


def seeded(entrants: Sequence[Entrant]) -> list[Entrant]:
    """Return entrants by seed; those without one follow in the order of registration."""
    return sorted(entrants, key=lambda entrant: (entrant.seed is None, entrant.seed or 0))


def _forfeited(event: TournamentEvent) -> TournamentEvent:
    """Forfeit every game that is known to need somebody who has left; one decides the next."""
    gone = {entrant.id for entrant in event.entrants if entrant.withdrawn}
    while gone:
        progress = Progress(event)
        match = next((m for m in event.matches if progress.is_ready(m) and gone & set(progress.sides(m))), None)
        if match is None:
            break
        side = "home" if progress.sides(match)[0] in gone else "away"
        points = {"home": 0, "away": 0, "away" if side == "home" else "home": _FORFEIT_POINTS}
        result = Result(**points, forfeited_by=side, note="withdrew")  # type: ignore[arg-type]
        matches = tuple(replace(other, result=result) if other.id == match.id else other for other in event.matches)
        event = replace(event, matches=matches)
    return event


def _before_the_draw(event: TournamentEvent, problem: str) -> None:
    if event.matches:
        raise RefusedError(problem)


def _winner(result: Result | None) -> str | None:
    return None if result is None else result.winner


def _noted(event: TournamentEvent, change: Change) -> TournamentEvent:
    return replace(event, changes=(*event.changes, change))


def enter_late(event: TournamentEvent, entrant: Entrant, by: Change) -> TournamentEvent:
    """Register a coach after the draw, in the pool with the fewest who are still there.

    Games played so far stand. The new ones are scheduled with all open games, where there is a schedule.

    Raises:
        InputError: another coach has the name, there are too many, or the sessions have no time for more games.
        RefusedError: there are no pools, the elimination has begun, or the draw is not made.
    """
    if not event.matches:
        raise RefusedError("The draw is not made, so nobody is late. Register the coach.")
    if not event.pools:
        raise RefusedError(
            "A bracket without pools has no place for who comes late. Undo the draw, if no game is played, or let the"
            " coach play for one who is not there: change that coach's name."
        )
    if any(match.result is not None for match in event.matches if match.stage != "pool"):
        raise RefusedError("The elimination has begun, so it is too late for the pools.")
    if entrant.seed is not None:
        raise InputError("The draw is made, so a seed means nothing any more. Leave it out.")
    known = replace(event, matches=(), pools={}, entrants=event.entrants)
    entrants = register(known, entrant, by).entrants
    pool = _smallest_pool(event)
    added = _games(event, pool, entrant.id)
    pools = {**event.pools, pool: (*event.pools[pool], entrant.id)}
    drawn = [match for match in event.matches if match.stage == "pool"]
    matches = (*_after_the_pool(drawn, pool, added), *elimination(event.rules, entrants, pools))
    if any(match.slot is not None for match in event.matches):
        matches = schedule(matches, event.tables, event.clock)
    return replace(event, entrants=entrants, pools=pools, matches=matches, changes=(*event.changes, by))


def _smallest_pool(event: TournamentEvent) -> str:
    gone = {entrant.id for entrant in event.entrants if entrant.withdrawn}
    return min(event.pools, key=lambda pool: len(set(event.pools[pool]) - gone))


def _games(event: TournamentEvent, pool: str, late: str) -> list[Match]:
    """Return a late entrant's games against everybody of a pool who is still there, one in each further round."""
    gone = {entrant.id for entrant in event.entrants if entrant.withdrawn}
    own = [match for match in event.matches if match.pool == pool]
    last = max((match.round for match in own), default=0)
    games = []
    for number, other in enumerate((one for one in event.pools[pool] if one not in gone), start=1):
        home, away = (late, other) if number % 2 else (other, late)
        identity = f"{pool}{len(own) + number}"
        games.append(Match(identity, "pool", last + number, KnownEntrant(home), KnownEntrant(away), pool))
    return games


def _after_the_pool(matches: Sequence[Match], pool: str, added: Sequence[Match]) -> tuple[Match, ...]:
    """Return the games with some more after those of a pool: games are listed after those that decide them."""
    last = max(place for place, match in enumerate(matches) if match.pool == pool)
    return (*matches[: last + 1], *added, *matches[last + 1 :])
