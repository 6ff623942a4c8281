"""How an event's games are drawn: pools by seeds in a snake, with a round robin in each, and the elimination.

Those who go on from the pools, or stay, are seeded so that two of one pool meet again as late as they can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Final

import numpy as np

from downfield.core.errors import InputError
from downfield.core.mathematics import least_cost_pairs
from downfield.desk.event.records import Entrant, KnownEntrant, LoserOf, Match, PoolPlace, Rules, Slot, Stage, WinnerOf


def pool_names(count: int) -> list[str]:
    """Return the names of pools: A to Z, then AA, AB, ..."""
    names = list(ascii_uppercase) + [first + second for first in ascii_uppercase for second in ascii_uppercase]
    return names[:count]


def draw_pools(entrants: Sequence[Entrant], count: int) -> dict[str, tuple[str, ...]]:
    """Return the entrants' ids of each pool.

    They are dealt in a snake, 1 2 3 3 2 1 1 ..., so that pools are about equally strong and their sizes differ by at
    most one. Within one row of the snake an entrant goes to the pool with the fewest of the same club.

    Args:
        entrants: the strongest first.
        count: number of pools, at least 1 and at most as many as entrants.
    """
    pools: list[list[Entrant]] = [[] for _ in range(count)]
    for start in range(0, len(entrants), count):
        row = list(entrants[start : start + count])
        order = list(range(count)) if start // count % 2 == 0 else list(range(count - 1, -1, -1))
        open_pools = order[: len(row)] if len(row) < count else order
        for entrant in row:
            best = min(open_pools, key=lambda pool: _of_club(pools[pool], entrant.club))
            open_pools = [pool for pool in open_pools if pool != best]
            pools[best].append(entrant)
    return dict(zip(pool_names(count), (tuple(entrant.id for entrant in pool) for pool in pools), strict=True))


def round_robin(pool: str, ids: Sequence[str]) -> list[Match]:
    """Return the games of a pool in which everybody plays everybody once, by the circle method.

    Nobody plays twice in a round. Everybody is at home in half of the games, or in one more or less.
    """
    circle: list[str | None] = [*ids, None] if len(ids) % 2 else list(ids)
    size = len(circle)
    matches: list[Match] = []
    for number in range(size - 1):
        for place in range(size // 2):
            one, other = circle[place], circle[size - 1 - place]
            if one is None or other is None:
                continue
            home, away = (one, other) if _is_at_home(ids.index(one), ids.index(other), len(ids)) else (other, one)
            identity = f"{pool}{len(matches) + 1}"
            matches.append(Match(identity, "pool", number + 1, KnownEntrant(home), KnownEntrant(away), pool))
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return matches


def _is_at_home(one: int, other: int, count: int) -> bool:
    """Return whether the first of two is at home: against those on the next half of the circle."""
    ahead = (other - one) % count
    return ahead < count - ahead or (ahead == count - ahead and one < other)


def _of_club(pool: Sequence[Entrant], club: str) -> int:
    return sum(bool(club) and entrant.club == club for entrant in pool)


Side = Slot | None  # None: nobody, a bye


def seed_order(size: int) -> list[int]:
    """Return the seeds, from 1, of a bracket of a power of two, top to bottom: the strongest meet only in the final."""
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
    rounds = games.knock_out("winners", _first_round(sides), final=True)
    if consolation and len(rounds) > 1:
        games.knock_out("consolation", [games.loser(game) for game in rounds[0]])
    if third_place and len(rounds) > 1:
        semifinals = rounds[-2]
        games.add("third_place", "THIRD", 1, games.loser(semifinals[0]), games.loser(semifinals[1]))
    return games.played()


def double_elimination(sides: Sequence[Slot]) -> list[Match]:
    """Return the games of a double elimination: who has lost twice is out.

    The winner of the losers' bracket must beat the winner of the winners' bracket twice, so the last game is played
    only if needed. Losers drop into the losers' bracket from alternating ends, which puts off repeated pairings.

    Args:
        sides: at least two, the strongest first.
    """
    games = _Games()
    rounds = games.knock_out("winners", _first_round(sides))
    left = [games.loser(game) for game in rounds[0]]
    for dropped, winners_round in enumerate(rounds[1:], start=1):
        left = games.winners(games.paired("losers", 2 * dropped - 1, left[::2], left[1::2]))
        dropping, half = [games.loser(game) for game in winners_round], len(winners_round) // 2
        from_the_end = dropping[::-1] if dropped % 2 else [*dropping[half:], *dropping[:half]]
        left = games.winners(games.paired("losers", 2 * dropped, left, from_the_end))
    champion, challenger = games.winner(rounds[-1][0]), left[0]
    final = games.add("final", "FINAL", 1, champion, challenger)
    if challenger is not None:
        games.add("final", "FINAL2", 2, games.winner(final), games.loser(final), if_needed=True)
    return games.played()


def _first_round(sides: Sequence[Slot]) -> list[Side]:
    size = 1 << max(len(sides) - 1, 0).bit_length()
    return [sides[seed - 1] if seed <= len(sides) else None for seed in seed_order(size)]


class _Games:
    """Games under construction; those with a bye are never played."""

    def __init__(self) -> None:
        self._games: dict[str, tuple[Stage, int, Side, Side, bool]] = {}

    def add(self, stage: Stage, identity: str, number: int, home: Side, away: Side, *, if_needed: bool = False) -> str:
        """Add a game and return its id."""
        self._games[identity] = stage, number, home, away, if_needed
        return identity

    def winner(self, game: str) -> Side:
        """Return who wins a game; where somebody has a bye, that one."""
        _, _, home, away, _ = self._games[game]
        return away if home is None else home if away is None else WinnerOf(game)

    def winners(self, games: Sequence[str]) -> list[Side]:
        """Return who wins each of some games."""
        return [self.winner(game) for game in games]

    def loser(self, game: str) -> Side:
        """Return who loses a game; nobody where there is a bye."""
        return None if None in self._games[game][2:4] else LoserOf(game)

    def paired(self, stage: Stage, number: int, homes: Sequence[Side], aways: Sequence[Side]) -> list[str]:
        """Add a round of given pairs; return its games, such as W2-1 of the winners' second round."""
        return [
            self.add(stage, f"{stage[0].upper()}{number}-{place}", number, home, away)
            for place, (home, away) in enumerate(zip(homes, aways, strict=True), start=1)
        ]

    def knock_out(self, stage: Stage, sides: Sequence[Side], *, final: bool = False) -> list[list[str]]:
        """Add rounds until one is left; return the games of each round."""
        rounds: list[list[str]] = []
        left = list(sides)
        while len(left) > 1:
            number = len(rounds) + 1
            if final and len(left) == 2:
                rounds.append([self.add("final", "FINAL", number, left[0], left[1])])
            else:
                rounds.append(self.paired(stage, number, left[::2], left[1::2]))
            left = self.winners(rounds[-1])
        return rounds

    def played(self) -> list[Match]:
        """Return the games that are played."""
        return [
            Match(identity, stage, number, home, away, if_needed=if_needed)
            for identity, (stage, number, home, away, if_needed) in self._games.items()
            if home is not None and away is not None
        ]


_A_ROUND_EARLIER: Final = 64.0  # How much worse it is to meet a round earlier: more than any number of later meetings

_OUT_OF_TURN: Final = 1e-6
"""Among equals the seconds follow in the opposite order of the firsts, the thirds in theirs again."""


def seeded_places(pools: Mapping[str, Sequence[str]], first: int, last: int) -> list[PoolPlace]:
    """Return places in pools by seeds: all firsts, then all seconds, each where it meets others of its pool latest."""
    levels = [(place, [pool for pool, ids in pools.items() if len(ids) >= place]) for place in range(first, last + 1)]
    size = 1 << max(sum(len(names) for _, names in levels) - 1, 0).bit_length()
    position = {seed: at for at, seed in enumerate(seed_order(size))}
    seeds_of: dict[str, list[int]] = {}
    places: list[PoolPlace] = []
    for level, (place, names) in enumerate(levels):
        seeds = range(len(places) + 1, len(places) + len(names) + 1)
        in_turn = list(names) if level % 2 == 0 else list(names)[::-1]
        cost = np.array(
            [
                [
                    sum(_earliness(position[seed], position[other], size) for other in seeds_of.get(name, ()))
                    + _OUT_OF_TURN * abs(in_turn.index(name) - number)
                    for number, seed in enumerate(seeds)
                ]
                for name in names
            ]
        )
        by_seed = sorted(zip(least_cost_pairs(cost)[1].tolist(), names, strict=True))
        for number, name in by_seed:
            seeds_of.setdefault(name, []).append(seeds[number])
            places.append(PoolPlace(name, place))
    return places


def _earliness(one: int, other: int, size: int) -> float:
    """Return how early two positions of a bracket meet: more the earlier the round, 1 in the final."""
    rounds_to_meet = (one ^ other).bit_length()
    return float(_A_ROUND_EARLIER ** (size.bit_length() - 1 - rounds_to_meet))


def elimination(rules: Rules, entrants: Sequence[Entrant], pools: Mapping[str, Sequence[str]]) -> list[Match]:
    """Return the games of the elimination; none where the rules have none.

    A consolation bracket is for those who do not go on from the pools; without pools for the first-round losers.

    Args:
        entrants: the strongest first.
        pools: ids of the entrants of each pool; empty without pools.

    Raises:
        InputError: too few would play it.
    """
    if rules.elimination == "none":
        return []
    smallest = min((len(ids) for ids in pools.values()), default=0)
    if pools and rules.advance > smallest:
        raise InputError(f"{rules.advance} of each pool are to go on, but the smallest pool has {smallest}.")
    sides: list[Slot] = [KnownEntrant(entrant.id) for entrant in entrants]
    if pools:
        sides = list(seeded_places(pools, 1, rules.advance))
    if len(sides) < 2:
        raise InputError(
            "Only one would go on to the elimination. Let more of each pool go on, or play no elimination."
        )
    if rules.elimination == "double":
        matches = double_elimination(sides)
    else:
        first_losers = rules.consolation and not pools
        matches = single_elimination(sides, consolation=first_losers, third_place=rules.third_place)
    if rules.consolation and pools:
        games, rest = _Games(), seeded_places(pools, rules.advance + 1, max(len(ids) for ids in pools.values()))
        games.knock_out("consolation", _first_round(rest))
        matches += games.played()
    return matches
