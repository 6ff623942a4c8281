"""The elimination of an event: from the pools or from the seeds, with what is played beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from downfield.core.errors import InputError
from downfield.desk.event.brackets import consolation_bracket, double_elimination, single_elimination
from downfield.desk.event.pool_seeding import advancing, staying
from downfield.desk.event.records import Entrant, KnownEntrant, Match, Rules, Slot


def elimination(rules: Rules, entrants: Sequence[Entrant], pools: Mapping[str, Sequence[str]]) -> list[Match]:
    """Return the games of the elimination; none where the rules have none.

    A consolation bracket is for those who do not go on from the pools; without pools for the first-round losers.

    Args:
        rules: of the event.
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
        sides = list(advancing(len(pools), rules.advance))
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
        matches += consolation_bracket(list(staying(pools, rules.advance)))
    return matches
