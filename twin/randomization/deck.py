"""Random draws that keep training, validation and test sets apart in every setting, not only in their seeds.

Every list of options is dealt out among the splits by position, and every interval is cut into narrow cells that are
dealt out in the same way: of every five, three belong to training, one to validation and one to test. What a split
draws, no other split ever draws: palettes, poses, prints, lenses, lamps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

import numpy as np

from downfield.core.errors import InputError

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

T = TypeVar("T")

_DEAL: dict[Split, tuple[int, ...]] = {"train": (0, 2, 4), "val": (1,), "test": (3,)}
_ROUND = 5  # cells in one deal
_ROUNDS = 3  # deals along an interval


def split_named(name: str) -> Split:
    """Return the split of a name. Raises InputError: there is no such split."""
    for split in SPLITS:
        if split == name:
            return split
    raise InputError(f"no split is named '{name}'; there are: {', '.join(SPLITS)}")


class Deck:
    """A stream of random draws for one split.

    Args:
        split: draws come from this split's share of every setting.
        seeds: whole numbers; the same ones give the same stream, in another split another one.
    """

    def __init__(self, split: Split, *seeds: int) -> None:
        self.split = split
        self.rng = np.random.default_rng([SPLITS.index(split), *seeds])

    def choice(self, options: Sequence[T]) -> T:
        """Return one of this split's share of five or more options."""
        share = [option for i, option in enumerate(options) if i % _ROUND in _DEAL[self.split]]
        return share[int(self.rng.integers(len(share)))]

    def uniform(self, low: float, high: float) -> float:
        """Return a value from this split's cells of an interval."""
        cells = [_ROUND * turn + i for turn in range(_ROUNDS) for i in _DEAL[self.split]]
        cell = cells[int(self.rng.integers(len(cells)))]
        return low + (high - low) * (cell + float(self.rng.random())) / (_ROUND * _ROUNDS)

    def chance(self, probability: float) -> bool:
        """Return whether an event of this probability happens; the same for every split."""
        return bool(self.rng.random() < probability)

    def free(self, low: float, high: float) -> float:
        """Return a value from the whole interval, for values that splits can't divide, such as positions."""
        return float(self.rng.uniform(low, high))
