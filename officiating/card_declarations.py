"""Declarations of a game of cards: plays and returns as read from play cards and dice."""

from __future__ import annotations

from typing import Final, Literal

from downfield.core.records import record

CardKind = Literal[
    "run",
    "pass",
    "kneel",
    "spike",
    "punt",
    "touch_punt",
    "field_goal",
    "fair_catch_kick",
    "kickoff",
    "onside",
    "extra_point",
    "two_point",
]

HASH_UNTOLD: Final = "hash_untold"
"""Note that the last play's dot was not declared, so that the ball's hash is the middle one only by default."""


@record
class WindowResult:
    """One of the three results in a window.

    Attributes:
        shown: the result as printed, as in `CardPlayed`.
        dot: the hash mark dot beside it; None where there is none.
    """

    shown: str
    dot: Literal["black", "red", "blue"] | None = None


@record
class CardWindow:
    """One window of two cards over one another.

    Attributes:
        rolls_to: the highest roll it is for; it begins after the window before, the first one at 1.
        black: the result when the ball lay on the left hash.
        red: when it lay in the center.
        blue: when it lay on the right hash.
    """

    rolls_to: int
    black: WindowResult
    red: WindowResult
    blue: WindowResult


@record
class CardPlayed:
    """A play as read from play cards and dice.

    Attributes:
        kind: kind of play.
        shown: the card's result for this hash (NFLS-089): ``"7"``, ``"10F"`` (fumble), ``"13i"`` (interception),
            ``"inc"``, ``"good"``, ``"no good"``, ``"blocked"``, or a kick's yards followed by ``OB``, ``DN``, ``FC`` or
            ``TB``; for a kick after a fair catch the number for its distance, which the roll must beat. Empty with
            ``windows``.
        roll: the roll it came from, 1..100; None where none is made.
        reroll: the second roll, when the first one brought a penalty.
        play: the offense's card.
        defense: the defense's card.
        dot: the hash mark dot beside the number; None where there is none.
        ran_out: whether the runner chose to go out of bounds.
        highlighted: whether a fumble of this result may be returned.
        return_to: highest roll that returns that fumble, or this interception (its pick number), for a touchdown.
        windows: the numbers in the cards' windows, by ascending rolls; the roll and the ball's hash then select the
            result and its dot.
    """

    kind: CardKind
    shown: str = ""
    roll: int | None = None
    reroll: int | None = None
    play: str = ""
    defense: str = ""
    dot: Literal["black", "red", "blue"] | None = None
    ran_out: bool = False
    highlighted: bool = False
    return_to: int = 0
    windows: tuple[CardWindow, ...] = ()
    type: Literal["card"] = "card"


@record
class ReturnPlayed:
    """The return of a kick, as read from cards and dice.

    Attributes:
        shown: the card's result: yards, followed by F for a fumble.
        roll: the roll it came from, 1..100.
        reroll: the second roll, when the first one brought a penalty.
    """

    shown: str
    roll: int | None = None
    reroll: int | None = None
    type: Literal["return"] = "return"
