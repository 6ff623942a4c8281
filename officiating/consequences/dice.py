"""Dice as they fell, read the way each rulebook reads them; what can't have fallen is refused."""

from __future__ import annotations

from collections.abc import Sequence

from downfield.core.errors import RefusedError


def faces(dice: Sequence[int], *, count: int, low: int, high: int, purpose: str) -> tuple[int, ...]:
    """The faces of a roll, checked.

    Args:
        dice: the faces shown, in order.
        count: how many dice the rulebook asks for.
        low: the smallest face.
        high: the largest face.
        purpose: what was rolled for, for the error.

    Raises:
        RefusedError: the wrong number of dice, or a face no such die has.

    """
    if len(dice) != count:
        raise RefusedError(f"{purpose}: {count} {'die' if count == 1 else 'dice'} wanted, {len(dice)} given")
    for face in dice:
        if not low <= face <= high:
            raise RefusedError(f"{purpose}: a die shows {low}..{high}, not {face}")
    return tuple(dice)


def two_dice(dice: Sequence[int], purpose: str) -> int:
    """Sum of two six-sided dice, 2..12.

    Raises:
        RefusedError: these dice can't have fallen.

    """
    return sum(faces(dice, count=2, low=1, high=6, purpose=purpose))


def d66(dice: Sequence[int], purpose: str) -> int:
    """Two six-sided dice read as tens and units, the first one the tens: 11..66 without the digits 7 to 0.

    Raises:
        RefusedError: these dice can't have fallen.

    """
    tens, units = faces(dice, count=2, low=1, high=6, purpose=purpose)
    return 10 * tens + units


def d10(dice: Sequence[int], count: int, purpose: str) -> tuple[int, ...]:
    """Ten-sided dice, each 1..10; the face 0 is the ten.

    Raises:
        RefusedError: these dice can't have fallen.

    """
    return tuple(face or 10 for face in faces(dice, count=count, low=0, high=10, purpose=purpose))


def percentile(dice: Sequence[int], purpose: str) -> int:
    """1..100, from one number or from two ten-sided dice, tens first; a double zero is 100.

    The tens die is fixed, the white one where there is one (LD-027), whatever another line of that book says (LD-069).

    Raises:
        RefusedError: these dice can't have fallen.

    """
    if len(dice) == 1:
        return faces(dice, count=1, low=1, high=100, purpose=purpose)[0]
    tens, units = (face % 10 for face in faces(dice, count=2, low=0, high=10, purpose=purpose))
    return 10 * tens + units or 100
