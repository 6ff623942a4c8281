"""Who comes after the draw: a coach joins the smallest pool, and plays everybody in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from downfield.core.errors import InputError, RefusedError
from downfield.desk.event.elimination import elimination
from downfield.desk.event.operations import register
from downfield.desk.event.records import Change, Entrant, KnownEntrant, Match, TournamentEvent
from downfield.desk.event.schedule import schedule


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
