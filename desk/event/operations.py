"""What a director does to an event; each returns the event as it is afterwards, with a line in its audit trail.

A coach who comes after the draw joins the smallest pool, and plays everybody in it; in Swiss rounds from the next on.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from downfield.core.errors import InputError, NotFoundError, RefusedError
from downfield.desk.event.brackets import draw_pools, elimination, round_robin
from downfield.desk.event.outcomes import known_keys, settled
from downfield.desk.event.placing import find_match, noted, scheduled
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import MAX_ENTRANTS, Entrant, KnownEntrant, Match, PoolPlace, Result, Rules, Slot
from downfield.desk.event.state import Change, GameAssignment, MatchDecision, TournamentEvent
from downfield.desk.event.swiss import SWISS, check_rounds, first_round, next_round

Operation = Callable[[TournamentEvent, Change], TournamentEvent]
"""Something a director does to an event, with the line for the audit trail."""


def change_rules(event: TournamentEvent, rules: Rules, by: Change) -> TournamentEvent:
    """Change how the event is played, before the draw. Raises RefusedError: it is drawn already."""
    _before_the_draw(event, "The rules can only change before the draw.")
    return noted(replace(event, rules=rules), by)


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
        return noted(replace(event, entrants=(*event.entrants, entrant)), by)
    if event.matches and entrant.seed != known.seed:
        raise RefusedError("The draw is made, so seeds can't change any more.")
    entrants = tuple(entrant if other.id == entrant.id else other for other in event.entrants)
    return noted(replace(event, entrants=entrants), by)


def withdraw(event: TournamentEvent, identity: str, by: Change) -> TournamentEvent:
    """Take a coach out: before the draw as if they had never registered, afterwards by forfeiting what is left.

    A place in a pool goes to the next one, unless a game that is decided by the places of that pool has begun.

    Raises:
        NotFoundError: nobody has that id.
    """
    leaving = find_entrant(event, identity)
    if not event.matches:
        return noted(replace(event, entrants=tuple(other for other in event.entrants if other != leaving)), by)
    pool = next((name for name, ids in event.pools.items() if identity in ids), None)
    keeps = any(
        (match.result is not None or bool(match.game))
        and any(isinstance(slot, PoolPlace) and slot.pool == pool for slot in (match.home, match.away))
        for match in event.matches
    )
    left = replace(leaving, withdrawn=True, keeps_place=keeps)
    return noted(replace(event, entrants=tuple(left if one == leaving else one for one in event.entrants)), by)


def take_back(event: TournamentEvent, identity: str, by: Change) -> TournamentEvent:
    """Take back a coach who left; forfeits are to be played. Raises NotFoundError: nobody; RefusedError: not left."""
    back = find_entrant(event, identity)
    if not back.withdrawn:
        raise RefusedError(f"{back.name} has not withdrawn.")
    entrants = tuple(replace(one, withdrawn=False, keeps_place=False) if one == back else one for one in event.entrants)
    return noted(replace(event, entrants=entrants), by)


def check_in(event: TournamentEvent, identity: str, here: bool, by: Change) -> TournamentEvent:
    """Note that a coach is here, or is not. Raises NotFoundError: nobody has that id."""
    find_entrant(event, identity)
    others = tuple(one for one in event.here if one != identity)
    return noted(replace(event, here=(*others, identity) if here else others), by)


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
    byes: tuple[str, ...] = ()
    if rules.swiss:
        check_rounds(rules, len(entrants))
        pools = {SWISS: tuple(entrant.id for entrant in entrants)}
        matches, byes = first_round(entrants)
        knock_out = elimination(rules, entrants, pools)  # follows the last round; what is wrong with it is said now
        matches += knock_out if rules.swiss == 1 else []
    else:
        pools = draw_pools(entrants, rules.pools) if rules.pools else {}
        matches = [match for pool, ids in pools.items() for match in round_robin(pool, ids)]
        matches += elimination(rules, entrants, pools)
    identity = by.id or secrets.token_hex(8)
    return noted(replace(event, pools=pools, byes=byes, matches=tuple(matches), draw=identity, lots=()), by)


def undo_draw(event: TournamentEvent, by: Change) -> TournamentEvent:
    """Undo the draw and the schedule. Raises RefusedError: a game is played already."""
    if any(match.result is not None for match in event.matches):
        raise RefusedError("Games are played already, so the draw stands. Remove their results first.")
    return noted(replace(event, pools={}, byes=(), matches=(), lots=(), draw="", games_after=None), by)


def enter_result(event: TournamentEvent, identity: str, result: Result | None, by: Change) -> TournamentEvent:
    """Decide a game: enter or correct its result, or remove it (None) with what tables say of it by now.

    Raises:
        NotFoundError: no game has that id.
        RefusedError: its sides are open, it may not be a tie, or there is nothing to remove.
    """
    match = find_match(event, identity)
    progress = Progress(event)
    sides = progress.sides(match)
    if None in sides:
        raise RefusedError(f"It is not decided yet who plays {identity}.")
    if progress.is_needed(match) is not True:
        raise RefusedError(f"{identity} is only played if the side from the losers' bracket wins the game before.")
    if result is not None and match.stage != "pool" and result.winner is None:
        raise RefusedError(f"{identity} decides who goes on, so it can't be a tie. Play overtime, or say who won it.")
    if result is None and match.result is None and not match.dispute:
        raise RefusedError(f"{identity} has no result.")
    decision = MatchDecision(by.id, event.draw, identity, sides, result, known_keys(event, match))
    return noted(replace(event, decisions=(*event.decisions, decision)), by)


def assign_game(event: TournamentEvent, game: str, identity: str, turned: bool, by: Change) -> TournamentEvent:
    """Count a table's game for a match, or for none.

    Args:
        identity: of the match; empty to put the game aside.
        turned: whether the table's home is away in the match.

    Raises:
        NotFoundError: there is no such game or match.
        RefusedError: its sides are open.
    """
    if game not in event.games:
        raise NotFoundError(f"No table has reported a game '{game[:40]}'.")
    sides: tuple[str | None, str | None] = (None, None)
    if identity:
        sides = Progress(event).sides(find_match(event, identity))
        if None in sides:
            raise RefusedError(f"It is not decided yet who plays {identity}.")
    others = tuple(one for one in event.assignments if one.game != game)
    return noted(replace(event, assignments=(*others, GameAssignment(game, event.draw, identity, sides, turned))), by)


def draw_lots(event: TournamentEvent, order: Sequence[str], by: Change) -> TournamentEvent:
    """Enter the order that lots gave, for ties nothing else breaks. Raises InputError: one is missing or twice."""
    if sorted(order) != sorted(entrant.id for entrant in event.entrants):
        raise InputError("The lots need every entrant exactly once.")
    return noted(replace(event, lots=tuple(order)), by)


def swap_places(event: TournamentEvent, identity: str, other: str, by: Change) -> TournamentEvent:
    """Exchange two entrants' places in the draw, as if it had dealt them so: pools, or first games of a bracket.

    Raises:
        NotFoundError: nobody has that id.
        RefusedError: there is no draw, or a game of one of them is decided or in play.
    """
    one, two = find_entrant(event, identity), find_entrant(event, other)
    if not event.matches:
        raise RefusedError("Make the draw first; then exchange places in it.")
    exchanged = {one.id: two.id, two.id: one.id}
    progress = Progress(event)
    for match in event.matches:
        if (match.result is not None or match.game) and exchanged.keys() & set(progress.sides(match)):
            raise RefusedError(f"{match.id} of one of them is played or in play, so their places stand.")

    def placed(slot: Slot) -> Slot:
        return KnownEntrant(exchanged.get(slot.entrant, slot.entrant)) if isinstance(slot, KnownEntrant) else slot

    matches = tuple(replace(match, home=placed(match.home), away=placed(match.away)) for match in event.matches)
    pools = {name: tuple(exchanged.get(entrant, entrant) for entrant in ids) for name, ids in event.pools.items()}
    byes = tuple(exchanged.get(entrant, entrant) for entrant in event.byes)
    return noted(replace(event, matches=matches, pools=pools, byes=byes), by)


def find_entrant(event: TournamentEvent, identity: str) -> Entrant:
    """Return an entrant. Raises NotFoundError: nobody has that id."""
    found = next((entrant for entrant in event.entrants if entrant.id == identity), None)
    if found is None:
        raise NotFoundError("Nobody is registered with that id.")
    return found


def seeded(entrants: Sequence[Entrant]) -> list[Entrant]:
    """Return entrants by seed; those without one follow in the order of registration."""
    return sorted(entrants, key=lambda entrant: (entrant.seed is None, entrant.seed or 0))


def _before_the_draw(event: TournamentEvent, problem: str) -> None:
    if event.matches:
        raise RefusedError(problem)


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
    if any(match.result is not None or match.game for match in event.matches if match.stage != "pool"):
        raise RefusedError("The elimination has begun, so it is too late for the pools.")
    if event.rules.swiss and not next_round(event):
        raise RefusedError("The last Swiss round is paired, so it is too late.")
    if entrant.seed is not None:
        raise InputError("The draw is made, so a seed means nothing any more. Leave it out.")
    known = replace(event, matches=(), pools={}, entrants=event.entrants)
    entrants = register(known, entrant, by).entrants
    gone = {entrant.id for entrant in event.entrants if entrant.withdrawn}
    pool = min(event.pools, key=lambda name: len(set(event.pools[name]) - gone))
    added = [] if event.rules.swiss else _games(event, pool, entrant.id)
    pools = {**event.pools, pool: (*event.pools[pool], entrant.id)}
    drawn = [match for match in event.matches if match.stage == "pool"]
    bracket = elimination(event.rules, entrants, pools) if len(drawn) < len(event.matches) else []
    known_matches = {match.id: match for match in event.matches}
    bracket = [_placed_as(match, known_matches.get(match.id, match)) for match in bracket]
    end = max(place for place, match in enumerate(drawn, start=1) if match.pool == pool)
    matches = (*drawn[:end], *added, *drawn[end:], *bracket)  # games are listed after those that decide them
    changed = settled(replace(event, entrants=entrants, pools=pools, matches=matches))
    return noted(scheduled(changed) if any(match.slot is not None for match in event.matches) else changed, by)


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


def _placed_as(match: Match, other: Match) -> Match:
    held = replace(match, fixed=other.fixed, postponed=other.postponed, officials=other.officials)
    return replace(held, table=other.table, slot=other.slot)
