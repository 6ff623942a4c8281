"""A card's windows as numbers: which result a roll and the ball's hash select (NFLS-088, NFLS-089, NFLS-091).

Two cards over one another show five windows, each for a range of rolls and with three results, one for each hash, with
the dot of the next hash beside it. Entered once, they let the roll alone declare the play.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.officiating.card_declarations import CardPlayed, WindowResult
from downfield.officiating.declarations import Hash
from downfield.officiating.rulebooks.nfl_strategy.tables import read_card_result

HIGHEST_ROLL: Final = 100
_COLORS: Final[dict[Hash, Literal["black", "red", "blue"]]] = {"left": "black", "center": "red", "right": "blue"}
"""The color of the results for each hash (NFLS-089)."""


def read_windows(card: CardPlayed, hash_: Hash) -> CardPlayed:
    """Return a card with the result and dot that its windows have for its roll; a card without windows as it is.

    Args:
        card: the play as declared; its second roll counts where it has one (NFLS-062).
        hash_: where the ball lay before the play.

    Raises:
        RefusedError: windows that no card can have, no roll to select one of them, or another result beside them.
    """
    if not card.windows:
        return card
    _check(card)
    number = card.roll if card.reroll is None else card.reroll
    if number is None:
        raise RefusedError("card: the windows need a roll")
    window = next((window for window in card.windows if number <= window.rolls_to), None)
    if window is None:
        raise RefusedError(f"card: no window is for a roll of {number}; the last ends at {card.windows[-1].rolls_to}")
    color = _COLORS[hash_]
    result: WindowResult = getattr(window, color)
    _require_same(card.shown, result.shown, f"for a roll of {number} the {color} result in the windows")
    _require_same(card.dot, result.dot, f"for a roll of {number} the {color} dot in the windows")
    return replace(card, shown=result.shown, dot=result.dot)


def _check(card: CardPlayed) -> None:
    """Refuse windows that no card can have."""
    if card.kind in {"kneel", "spike"}:
        raise RefusedError(f"{card.kind}: it is played without a card, so it has no windows")
    ends = [0, *(window.rolls_to for window in card.windows)]
    if any(low >= high for low, high in pairwise(ends)) or ends[-1] > HIGHEST_ROLL:
        shown = ", ".join(str(end) for end in ends[1:])
        raise RefusedError(f"card: each window must end at a higher roll than the one before, 1 to 100, not {shown}")
    for window in card.windows:
        for result in (window.black, window.red, window.blue):
            read_card_result(result.shown)


def _require_same(declared: str | None, read: str | None, what: str) -> None:
    if declared and declared.strip().casefold() != (read or "").strip().casefold():
        raise RefusedError(
            f"card: {what} is {read or 'none'}, not {declared}; leave it out to take it from the windows"
        )
