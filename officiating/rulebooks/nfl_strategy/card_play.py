"""A card play under way: what has been rolled and chosen for it so far, and what it still waits for."""

from __future__ import annotations

from typing import Literal

from downfield.core.records import record
from downfield.officiating.declarations import Foul
from downfield.officiating.rulebooks.nfl_strategy.declarations import CardPlayed, ReturnPlayed


@record
class CardPlay:
    """A card play under way.

    Attributes:
        card: the play.
        running: whether the clock ran before it.
        hurry_up: whether the offense hurried.
        flagged: whether its first roll, or its return's, brought a penalty.
        back: the return of a kick.
        recovered: who recovered a fumble, as seen by the side that had the ball.
        onside: whether the kickers recovered an onside kick.
        run_back: whether a fumble recovery or interception was returned for a touchdown.
        review: what became of reviewing an interception; empty while nobody has asked.
        foul: the penalty.
        accepted: whether the offended side takes it.

    """

    card: CardPlayed
    running: bool = False
    hurry_up: bool = False
    flagged: bool = False
    back: ReturnPlayed | None = None
    recovered: Literal["offense", "defense"] | None = None
    onside: bool | None = None
    run_back: bool | None = None
    review: Literal["", "asked", "waived", "upheld", "overturned"] = ""
    foul: Foul | None = None
    accepted: bool | None = None
