"""Dice: how many of which, as a rulebook asks for them; one table of them serves refusals, panels and programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.records import record
from downfield.officiating.sides import Side
from downfield.officiating.state.game_state import GameState


@record
class DiceDue:
    """Dice that may be rolled now.

    Attributes:
        purpose: what for.
        count: how many dice.
        sides: of each die; a ten-sided die shows 1 to 10, its 0 is the 10.
        number: whether one number from 1 to 100 may be entered instead.
        by: the side whose coach rolls, None for either.
    """

    purpose: str
    count: int
    sides: int
    number: bool = False
    by: Side | None = None


@dataclass(frozen=True, slots=True)
class DiceRule:
    """The dice that a rulebook asks for."""

    count: int  # dice in one roll
    sides: int  # of each die: 4, 6 or 10
    number: bool = False  # whether they may be entered as one number from 1 to 100
    count_in: Callable[[GameState], int] | None = None  # how many, where that depends on the game

    def due(self, game: GameState, purpose: str, by: Side | None) -> DiceDue:
        """Return the dice that are due in a game."""
        count = self.count if self.count_in is None else self.count_in(game)
        return DiceDue(purpose, count, self.sides, self.number, by)

    def check(self, dice: tuple[int, ...], game: GameState, purpose: str) -> None:
        """Refuse dice that are not these. Raises RefusedError: another number of dice, or no such face."""
        count = self.count if self.count_in is None else self.count_in(game)
        if self.number and len(dice) == 1:
            checked_faces(dice, count=1, low=1, high=100, purpose=purpose)
        else:
            checked_faces(dice, count=count, low=0 if self.sides == TEN else 1, high=self.sides, purpose=purpose)


def checked_faces(dice: Sequence[int], *, count: int, low: int, high: int, purpose: str) -> tuple[int, ...]:
    """Return the faces of a roll. Raises RefusedError: the number of dice is wrong, or no such die has that face."""
    if len(dice) != count:
        raise RefusedError(f"{purpose}: {count} {'die' if count == 1 else 'dice'} expected, {len(dice)} entered")
    for face in dice:
        if not low <= face <= high:
            raise RefusedError(f"{purpose}: a die shows {low}..{high}, not {face}")
    return tuple(dice)


TEN: Final = 10
TWO_D6: Final = DiceRule(2, 6)
PERCENTILE: Final = DiceRule(2, TEN, number=True)
