"""Who goes on from the pools, in the order of their seeds: those of one pool meet again as late as they can."""

from __future__ import annotations

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
    size = 1 << (pools * advance - 1).bit_length()
    position = {seed: at for at, seed in enumerate(seed_order(size))}
    seeds_of: dict[str, list[int]] = {name: [] for name in names}
    places: list[PoolPlace] = []
    for place in range(1, advance + 1):
        seeds = range(len(places) + 1, len(places) + pools + 1)
        in_turn = names if place % 2 else names[::-1]
        cost = np.array(
            [
                [
                    sum(_earliness(position[seed], position[other], size) for other in seeds_of[name])
                    + _OUT_OF_TURN * abs(in_turn.index(name) - number)
                    for number, seed in enumerate(seeds)
                ]
                for name in names
            ]
        )
        by_seed = sorted(zip(least_cost_pairs(cost)[1].tolist(), names, strict=True))
        for number, name in by_seed:
            seeds_of[name].append(seeds[number])
            places.append(PoolPlace(name, place))
    return places


def _earliness(one: int, other: int, size: int) -> float:
    """Return how early two positions of a bracket meet: more the earlier the round, 1 in the final."""
    rounds_to_meet = (one ^ other).bit_length()
    return float(_A_ROUND_EARLIER ** (size.bit_length() - 1 - rounds_to_meet))
