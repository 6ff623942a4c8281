"""Pools: drawn by seeds in a snake, and a round robin in each."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from downfield.desk.event.records import Entrant, KnownEntrant, Match


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

    Args:
        pool: its name.
        ids: of the entrants.

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
