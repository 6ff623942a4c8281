"""Who plays whom by now, as earlier results decide it; and the final ranking, from the last game back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from downfield.desk.event.records import KnownEntrant, LoserOf, Match, PoolPlace, Slot, Stage, WinnerOf
from downfield.desk.event.standings import pool_standings, standings
from downfield.desk.event.state import TournamentEvent


class Progress:
    """The event as its results decide it."""

    def __init__(self, event: TournamentEvent) -> None:
        self._event = event
        self._matches: dict[str, Match] = {match.id: match for match in event.matches}
        self._sides: dict[str, tuple[str | None, str | None]] = {}
        self._places: dict[str, list[str | None]] = {}
        self._names = {entrant.id: entrant.name for entrant in event.entrants}

    def note(self, match: Match) -> None:
        """Note how a match came out, before anybody asks about those that it decides."""
        self._matches[match.id] = match

    def entrant(self, slot: Slot) -> str | None:
        """Return the id of who plays; None while it is open."""
        if isinstance(slot, KnownEntrant):
            return slot.entrant
        if isinstance(slot, PoolPlace):
            places = self._places_of(slot.pool)
            return places[slot.place - 1] if slot.place <= len(places) else None
        return self.decided(self._matches[slot.match])[0 if isinstance(slot, WinnerOf) else 1]

    def decided(self, match: Match) -> tuple[str | None, str | None]:
        """Return the ids of who won and who lost a game; None where that is open."""
        winner = None if match.result is None else match.result.winner
        if winner is None:
            return None, None
        home, away = self.sides(match)
        return (home, away) if winner == "home" else (away, home)

    def _places_of(self, pool: str) -> list[str | None]:
        """Return who has each place of a pool: nobody before it is played, and where only lots would tell."""
        if pool in self._places:
            return self._places[pool]
        matches = [match for match in self._matches.values() if match.pool == pool]
        if any(match.result is None for match in matches):
            return []
        lines = standings(self._event, self._event.pools[pool], matches)
        level = Counter(line.place for line in lines)
        self._places[pool] = [line.entrant if level[line.place] == 1 else None for line in lines]
        return self._places[pool]

    def sides(self, match: Match) -> tuple[str | None, str | None]:
        """Return the ids of both sides; None while one is open."""
        if match.id not in self._sides:
            self._sides[match.id] = self.entrant(match.home), self.entrant(match.away)
        return self._sides[match.id]

    def is_ready(self, match: Match) -> bool:
        """Return whether both sides are known and it is still to be played."""
        return (
            match.result is None
            and not match.dispute
            and None not in self.sides(match)
            and self.is_needed(match) is True
        )

    def is_needed(self, match: Match) -> bool | None:
        """Return whether a game is played at all; None while that is open."""
        if not match.if_needed:
            return True
        assert isinstance(match.home, WinnerOf)
        before = self._matches[match.home.match]
        if before.result is None:
            return None
        return before.result.winner == "away"  # who comes from the losers' bracket is listed second

    def stopped_by(self, match: Match) -> str:
        """Return the id of a game that a contradiction has stopped, and that this one waits for; empty for none."""
        for other in self._matches.values():
            if depends_on(match, other):
                found = other.id if other.dispute else self.stopped_by(other)
                if found:
                    return found
        return ""

    def text(self, slot: Slot) -> str:
        """Return who plays, for people: a name, or where they come from."""
        entrant = self.entrant(slot)
        if entrant is not None:
            return self._names.get(entrant, entrant)
        if isinstance(slot, PoolPlace):
            tied = ", lots to be drawn" if self._places_of(slot.pool) else ""
            return f"{ordinal(slot.place)} of {pool_text(slot.pool)}{tied}"
        if isinstance(slot, LoserOf):
            return f"loser of {slot.match}"
        return f"winner of {slot.match}" if isinstance(slot, WinnerOf) else ""


def depends_on(match: Match, other: Match) -> bool:
    """Return whether a game's sides are decided by another game."""
    for slot in (match.home, match.away):
        if isinstance(slot, WinnerOf | LoserOf) and slot.match == other.id:
            return True
        if isinstance(slot, PoolPlace) and other.stage == "pool" and slot.pool == other.pool:
            return True
    return False


def pool_text(pool: str) -> str:
    """Return a pool for a sentence: those of Swiss rounds are one of all."""
    return f"pool {pool}" if pool.isupper() else f"the {pool} rounds"


def ordinal(number: int) -> str:
    """Return a place for people, such as ``"2nd"``."""
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


@dataclass(frozen=True, slots=True)
class Rank:
    """A place in the event."""

    place: int  # from 1; shared by those who went out in the same round
    entrant: str
    text: str  # how it was decided, such as ``"lost FINAL"``


def ranking(event: TournamentEvent) -> list[Rank]:
    """Return the places that are decided by now, the best first."""
    if event.rules.elimination == "none":
        return _of_pools(event)
    progress = Progress(event)
    finals = [match for match in event.matches if match.stage == "final" and progress.is_needed(match) is not False]
    if not finals or finals[-1].result is None:
        return []
    out: list[Rank] = []
    for match in (finals[-1], *(match for match in event.matches if match.stage == "third_place")):
        for entrant, text in zip(progress.decided(match), (f"won {match.id}", f"lost {match.id}"), strict=True):
            if entrant is not None:
                out.append(Rank(len(out) + 1, entrant, text))
    placed = {rank.entrant for rank in out}
    for group in (*_knocked_out(event, progress), *_consoled(event, progress)):
        level = [Rank(len(out) + 1, entrant, text) for entrant, text in group if entrant not in placed]
        placed |= {rank.entrant for rank in level}
        out += level
    rest = [rank for rank in _of_pools(event) if rank.entrant not in placed]
    levels = [rank.place for rank in rest]
    out += [
        Rank(len(placed) + 1 + sum(other < rank.place for other in levels), rank.entrant, rank.text) for rank in rest
    ]
    return out


def _knocked_out(event: TournamentEvent, progress: Progress) -> list[list[tuple[str, str]]]:
    """Return who went out in each round of the elimination, the last round first."""
    stage: Stage = "losers" if event.rules.elimination == "double" else "winners"
    by_round: dict[int, list[tuple[str, str]]] = {}
    for match in event.matches:
        loser = progress.decided(match)[1]
        if match.stage == stage and loser is not None:
            by_round.setdefault(match.round, []).append((loser, f"lost {match.id}"))
    return [by_round[number] for number in sorted(by_round, reverse=True)]


def _consoled(event: TournamentEvent, progress: Progress) -> list[list[tuple[str, str]]]:
    """Return the places of those who did not go on from the pools, once their own bracket is played."""
    games = [match for match in event.matches if match.stage == "consolation"]
    if not event.pools or not games or any(match.result is None for match in games):
        return []
    groups: list[list[tuple[str, str]]] = []
    for number in sorted({match.round for match in games}, reverse=True):
        for place, word in ((0, "won"), (1, "lost")) if not groups else ((1, "lost"),):
            group = [(progress.decided(match)[place], match.id) for match in games if match.round == number]
            groups.append([(entrant, f"{word} {name}") for entrant, name in group if entrant is not None])
    return groups


def _of_pools(event: TournamentEvent) -> list[Rank]:
    """Return the places by pools: all firsts, then all seconds, ...; in one pool as it stands."""
    found = [
        (standing.place, pool, standing.entrant) for pool in event.pools for standing in pool_standings(event, pool)
    ]
    found.sort(key=lambda item: item[0])
    out: list[Rank] = []
    for place, pool, entrant in found:
        level = sum(other < place for other, _, _ in found) + 1
        out.append(Rank(level, entrant, f"{ordinal(place)} of {pool_text(pool)}"))
    return out
