"""What NFL Strategy keeps of a game beyond the general state: its clock in lines and the card play under way."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from downfield.core.records import record
from downfield.officiating.declarations import FoulDeclared
from downfield.officiating.engine.state import GameState, SystemState
from downfield.officiating.rulebooks.nfl_strategy.clock import LineClock
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
    foul: FoulDeclared | None = None
    accepted: bool | None = None


@record
class CardGame(SystemState):
    """What NFL Strategy keeps of a game.

    Attributes:
        lines: the game clock.
        play: the card play under way, None between plays.

    """

    lines: LineClock
    play: CardPlay | None = None


def card_game(game: GameState) -> CardGame:
    """Return NFL Strategy's part of the state.

    Raises:
        TypeError: the game is played under another rulebook.

    """
    if not isinstance(game.system, CardGame):
        raise TypeError(f"NFL Strategy's state expected, not {type(game.system).__name__}")
    return game.system


def with_play(game: GameState, play: CardPlay | None) -> GameState:
    """Return the game with this card play under way."""
    return replace(game, system=replace(card_game(game), play=play))


def with_lines(game: GameState, lines: LineClock) -> GameState:
    """Return the game with its clock set to these lines."""
    return replace(game, system=replace(card_game(game), lines=lines))
