"""Brackets: single and double elimination with byes, a consolation bracket, a game for third place.

A bracket is built for the next power of two; the strongest meet nobody in the first round where entrants are missing.
Games without two sides are then taken out, and whoever would have waited in them goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

from downfield.desk.event.records import LoserOf, Match, Slot, Stage, WinnerOf

Side = Slot | None
"""None: nobody, a bye."""


def seed_order(size: int) -> list[int]:
    """Return the seeds, from 1, from the top of a bracket to its bottom: the two strongest meet only in the final.

    Args:
        size: a power of two.

    """
    order = [1]
    while len(order) < size:
        total = 2 * len(order) + 1
        order = [seed for one in order for seed in (one, total - one)]
    return order


def single_elimination(sides: Sequence[Slot], *, consolation: bool = False, third_place: bool = False) -> list[Match]:
    """Return the games of a single elimination.

    Args:
        sides: at least two, the strongest first.
        consolation: whether the first-round losers play on among themselves.
        third_place: whether the losers of the semifinals play for third place.

    """
    games = _Games()
    rounds = games.knock_out("winners", "W", _first_round(sides), final=True)
    if consolation and len(rounds) > 1:
        losers = [games.loser(game) for game in rounds[0]]
        games.knock_out("consolation", "C", losers)
    if third_place and len(rounds) > 1:
        semifinals = rounds[-2]
        games.add("third_place", "THIRD", 1, games.loser(semifinals[0]), games.loser(semifinals[1]))
    return games.played()


def consolation_bracket(sides: Sequence[Slot]) -> list[Match]:
    """Return the games of a single elimination for a place of its own; none for fewer than two.

    Args:
        sides: the strongest first.

    """
    games = _Games()
    if len(sides) > 1:
        games.knock_out("consolation", "C", _first_round(sides))
    return games.played()


def double_elimination(sides: Sequence[Slot]) -> list[Match]:
    """Return the games of a double elimination: who has lost twice is out.

    The winner of the losers' bracket must beat the winner of the winners' bracket twice, so the last game is played
    only if needed. Losers drop into the losers' bracket from alternating ends, which puts off repeated pairings.

    Args:
        sides: at least two, the strongest first.

    """
    games = _Games()
    rounds = games.knock_out("winners", "W", _first_round(sides))
    left = [games.loser(game) for game in rounds[0]]
    number = 0
    for dropped, winners_round in enumerate(rounds[1:], start=1):
        number += 1
        left = games.round("losers", "L", number, left)
        number += 1
        dropping = [games.loser(game) for game in winners_round]
        left = games.paired("losers", "L", number, left, dropping[::-1] if dropped % 2 else _rotated(dropping))
    champion, challenger = games.winner(rounds[-1][0]), left[0]
    final = games.add("final", "FINAL", 1, champion, challenger)
    if challenger is not None:
        games.add("final", "FINAL2", 2, games.winner(final), games.loser(final), if_needed=True)
    return games.played()


def _first_round(sides: Sequence[Slot]) -> list[Side]:
    size = 1
    while size < len(sides):
        size *= 2
    return [sides[seed - 1] if seed <= len(sides) else None for seed in seed_order(size)]


def _rotated(sides: Sequence[Side]) -> list[Side]:
    half = len(sides) // 2
    return [*sides[half:], *sides[:half]]


class _Games:
    """Games under construction; those with a bye are never played."""

    def __init__(self) -> None:
        self._games: list[tuple[str, Stage, int, Side, Side, bool]] = []
        self._sides: dict[str, tuple[Side, Side]] = {}

    def add(self, stage: Stage, identity: str, number: int, home: Side, away: Side, *, if_needed: bool = False) -> str:
        """Add a game and return its id."""
        self._sides[identity] = home, away
        self._games.append((identity, stage, number, home, away, if_needed))
        return identity

    def winner(self, game: str) -> Side:
        """Return who wins a game; where somebody has a bye, that one."""
        home, away = self._sides[game]
        return away if home is None else home if away is None else WinnerOf(game)

    def loser(self, game: str) -> Side:
        """Return who loses a game; nobody where there is a bye."""
        return None if None in self._sides[game] else LoserOf(game)

    def round(self, stage: Stage, prefix: str, number: int, sides: Sequence[Side]) -> list[Side]:
        """Add a round in which neighbors meet; return its winners."""
        return self.paired(stage, prefix, number, sides[::2], sides[1::2])

    def paired(
        self, stage: Stage, prefix: str, number: int, homes: Sequence[Side], aways: Sequence[Side]
    ) -> list[Side]:
        """Add a round of given pairs; return its winners."""
        games = self._paired(stage, prefix, number, homes, aways)
        return [self.winner(game) for game in games]

    def knock_out(self, stage: Stage, prefix: str, sides: Sequence[Side], *, final: bool = False) -> list[list[str]]:
        """Add rounds until one is left; return the games of each round."""
        rounds: list[list[str]] = []
        left = list(sides)
        while len(left) > 1:
            number = len(rounds) + 1
            if final and len(left) == 2:
                games = [self.add("final", "FINAL", number, left[0], left[1])]
            else:
                games = self._paired(stage, prefix, number, left[::2], left[1::2])
            rounds.append(games)
            left = [self.winner(game) for game in games]
        return rounds

    def played(self) -> list[Match]:
        """Return the games that are played."""
        return [
            Match(identity, stage, number, home, away, if_needed=if_needed)
            for identity, stage, number, home, away, if_needed in self._games
            if home is not None and away is not None
        ]

    def _paired(
        self, stage: Stage, prefix: str, number: int, homes: Sequence[Side], aways: Sequence[Side]
    ) -> list[str]:
        return [
            self.add(stage, f"{prefix}{number}-{place}", number, home, away)
            for place, (home, away) in enumerate(zip(homes, aways, strict=True), start=1)
        ]
