"""Who goes on from the pools, or stays, by seeds: those of one pool meet again as late as they can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from downfield.core.least_cost import least_cost_pairs
from downfield.desk.event.brackets import seed_order
from downfield.desk.event.pools import pool_names
from downfield.desk.event.records import PoolPlace

_A_ROUND_EARLIER: Final = 64.0
"""How much worse it is to meet a round earlier: more than any number of later meetings."""

_OUT_OF_TURN: Final = 1e-6
"""Among equals the seconds follow in the opposite order of the firsts, the thirds in theirs again."""


def advancing(pools: int, advance: int) -> list[PoolPlace]:
    """Return who goes on, the strongest first: all firsts, then all seconds, and so on.

    Args:
        pools: how many pools there are.
        advance: how many of each go on.

    """
    names = pool_names(pools)
    return _seeded([(place, names) for place in range(1, advance + 1)])


def staying(pools: Mapping[str, Sequence[str]], advance: int) -> list[PoolPlace]:
    """Return who does not go on, the strongest first.

    Args:
        pools: ids of the entrants of each pool.
        advance: how many of each go on.

    """
    last = max(len(ids) for ids in pools.values())
    return _seeded(
        [(place, [pool for pool, ids in pools.items() if len(ids) >= place]) for place in range(advance + 1, last + 1)]
    )


def _seeded(levels: Sequence[tuple[int, Sequence[str]]]) -> list[PoolPlace]:
    """Return places in pools by seeds: level by level, each where it meets others of its pool as late as it can.

    Args:
        levels: places, and the pools that have somebody there, the strongest first.

    """
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
