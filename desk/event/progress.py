"""Who plays whom by now: the sides of games as earlier results decide them."""

from __future__ import annotations

from collections.abc import Mapping

from downfield.desk.event.records import KnownEntrant, LoserOf, Match, PoolPlace, Slot, TournamentEvent, WinnerOf
from downfield.desk.event.standings import pool_standings


class Progress:
    """The event as its results decide it.

    Args:
        event: as it stands.

    """

    def __init__(self, event: TournamentEvent) -> None:
        self._matches: Mapping[str, Match] = {match.id: match for match in event.matches}
        self._decided: dict[str, tuple[str | None, str | None]] = {}
        self._places = {
            pool: [standing.entrant for standing in pool_standings(event, pool)]
            for pool in event.pools
            if all(match.result is not None for match in event.matches if match.pool == pool)
        }
        self._names = {entrant.id: entrant.name for entrant in event.entrants}

    def entrant(self, slot: Slot) -> str | None:
        """Return the id of who plays; None while it is open."""
        if isinstance(slot, KnownEntrant):
            return slot.entrant
        if isinstance(slot, PoolPlace):
            places = self._places.get(slot.pool)
            return places[slot.place - 1] if places is not None and slot.place <= len(places) else None
        match = self._matches[slot.match]
        if match.result is None:
            return None
        winner = match.result.winner
        if winner is None:
            return None
        home, away = self.sides(match)
        wins, loses = (home, away) if winner == "home" else (away, home)
        return wins if isinstance(slot, WinnerOf) else loses

    def sides(self, match: Match) -> tuple[str | None, str | None]:
        """Return the ids of both sides; None while one is open."""
        if match.id not in self._decided:
            self._decided[match.id] = self.entrant(match.home), self.entrant(match.away)
        return self._decided[match.id]

    def is_ready(self, match: Match) -> bool:
        """Return whether both sides are known and it is still to be played."""
        return match.result is None and None not in self.sides(match) and self.is_needed(match) is True

    def is_needed(self, match: Match) -> bool | None:
        """Return whether a game is played at all; None while that is open."""
        if not match.if_needed:
            return True
        assert isinstance(match.home, WinnerOf)
        before = self._matches[match.home.match]
        if before.result is None:
            return None
        return before.result.winner == "away"  # who comes from the losers' bracket is listed second

    def text(self, slot: Slot) -> str:
        """Return who plays, for people: a name, or where they come from."""
        entrant = self.entrant(slot)
        if entrant is not None:
            return self._names.get(entrant, entrant)
        if isinstance(slot, PoolPlace):
            return f"{ordinal(slot.place)} of pool {slot.pool}"
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


def ordinal(number: int) -> str:
    """Return a place for people, such as ``"2nd"``."""
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
