"""The final ranking of an event: from the last game back to the pools."""

from __future__ import annotations

from dataclasses import dataclass

from downfield.desk.event.progress import Progress, ordinal
from downfield.desk.event.records import Match, Stage, TournamentEvent
from downfield.desk.event.standings import pool_standings


@dataclass(frozen=True, slots=True)
class Rank:
    """A place in the event.

    Attributes:
        place: from 1; shared by those who went out in the same round.
        entrant: id.
        text: how it was decided, such as ``"lost FINAL"``.

    """

    place: int
    entrant: str
    text: str


def ranking(event: TournamentEvent) -> list[Rank]:
    """Return the places that are decided by now, the best first."""
    if event.rules.elimination == "none":
        return _of_pools(event)
    progress = Progress(event)
    last = _last_final(event, progress)
    if last is None or last.result is None:
        return []
    out: list[Rank] = []
    third = next((match for match in event.matches if match.stage == "third_place"), None)
    decided = [last, *([third] if third is not None else [])]
    for match in decided:
        if match.result is None:
            continue
        home, away = progress.sides(match)
        wins, loses = (home, away) if match.result.winner == "home" else (away, home)
        for entrant, text in ((wins, f"won {match.id}"), (loses, f"lost {match.id}")):
            if entrant is not None:
                out.append(Rank(len(out) + 1, entrant, text))
    placed = {rank.entrant for rank in out}
    for group in (*_knocked_out(event, progress), *_consoled(event, progress)):
        level = [(entrant, text) for entrant, text in group if entrant not in placed]
        place = len(out) + 1
        for entrant, text in level:
            placed.add(entrant)
            out.append(Rank(place, entrant, text))
    rest = [rank for rank in _of_pools(event) if rank.entrant not in placed]
    levels = [rank.place for rank in rest]
    out += [
        Rank(len(placed) + 1 + sum(other < rank.place for other in levels), rank.entrant, rank.text) for rank in rest
    ]
    return out


def _last_final(event: TournamentEvent, progress: Progress) -> Match | None:
    finals = [match for match in event.matches if match.stage == "final" and progress.is_needed(match) is not False]
    return finals[-1] if finals else None


def _knocked_out(event: TournamentEvent, progress: Progress) -> list[list[tuple[str, str]]]:
    """Return who went out in each round of the elimination, the last round first."""
    stage: Stage = "losers" if event.rules.elimination == "double" else "winners"
    by_round: dict[int, list[tuple[str, str]]] = {}
    for match in event.matches:
        if match.stage != stage or match.result is None or match.result.winner is None:
            continue
        loser = progress.sides(match)[1 if match.result.winner == "home" else 0]
        if loser is not None:
            by_round.setdefault(match.round, []).append((loser, f"lost {match.id}"))
    return [by_round[number] for number in sorted(by_round, reverse=True)]


def _consoled(event: TournamentEvent, progress: Progress) -> list[list[tuple[str, str]]]:
    """Return the places of those who did not go on from the pools, once their own bracket is played."""
    games = [match for match in event.matches if match.stage == "consolation"]
    if not event.pools or not games or any(match.result is None for match in games):
        return []
    groups: list[list[tuple[str, str]]] = []
    for number in sorted({match.round for match in games}, reverse=True):
        for wins in (True, False) if not groups else (False,):
            group = [(_side(progress, match, wins=wins), match.id) for match in games if match.round == number]
            word = "won" if wins else "lost"
            groups.append([(entrant, f"{word} {name}") for entrant, name in group if entrant is not None])
    return groups


def _side(progress: Progress, match: Match, *, wins: bool) -> str | None:
    """Return who won or lost a game; None where that is open."""
    winner = None if match.result is None else match.result.winner
    if winner is None:
        return None
    return progress.sides(match)[0 if (winner == "home") == wins else 1]


def _of_pools(event: TournamentEvent) -> list[Rank]:
    """Return the places by pools: all firsts, then all seconds, ...; in one pool as it stands."""
    found = [
        (standing.place, pool, standing.entrant) for pool in event.pools for standing in pool_standings(event, pool)
    ]
    found.sort(key=lambda item: item[0])
    out: list[Rank] = []
    for place, pool, entrant in found:
        level = sum(other < place for other, _, _ in found) + 1
        out.append(Rank(level, entrant, f"{ordinal(place)} of pool {pool}"))
    return out
