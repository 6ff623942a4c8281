"""Dice, coins and choices: taken only when the game waits for just them.

`rolled`, `flipped` and `chosen` build a system's handlers from what it does with each purpose. The game goes on waiting
until something changes its phase: what came of the dice may be struck, and then they are rolled again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from downfield.core.errors import RefusedError
from downfield.officiating.consequences.declared import body_of, refuse_unless
from downfield.officiating.declarations import Choice, ChoiceMade, Coin, Roll, Side
from downfield.officiating.engine.seams import Handler, Outcome, View
from downfield.officiating.engine.state import GameState, Phase, Wait
from downfield.officiating.events import Event

TakeRoll = Callable[[GameState, Roll, View], Outcome]
TakeCoin = Callable[[GameState, Coin, View], Outcome]
TakeChoice = Callable[[GameState, ChoiceMade, View], Outcome]


def wait_for_roll(game: GameState, purpose: str, by: Side | None) -> GameState:
    """The game waiting for dice."""
    return replace(game, phase=Phase.PENDING_ROLL, wait=Wait("roll", purpose, by=by))


def wait_for_coin(game: GameState, purpose: str, by: Side | None) -> GameState:
    """The game waiting for a coin."""
    return replace(game, phase=Phase.PENDING_ROLL, wait=Wait("coin", purpose, by=by))


def wait_for_choice(game: GameState, purpose: str, options: tuple[Choice, ...], by: Side | None) -> GameState:
    """The game waiting for a coach's choice."""
    return replace(game, phase=Phase.PENDING_CHOICE, wait=Wait("choice", purpose, options, by))


def rolled(takers: Mapping[str, TakeRoll]) -> Handler:
    """A handler of dice, by what they are rolled for."""

    def handle(game: GameState, event: Event, view: View) -> Outcome:
        body = body_of(event, Roll)
        purpose = _purpose(game, "roll", body.purpose)
        _by(game, body.by, "roll")
        return takers[purpose](game, body, view)

    return handle


def flipped(takers: Mapping[str, TakeCoin]) -> Handler:
    """A handler of coins, by what they are flipped for."""

    def handle(game: GameState, event: Event, view: View) -> Outcome:
        body = body_of(event, Coin)
        purpose = _purpose(game, "coin", body.purpose)
        return takers[purpose](game, body, view)

    return handle


def chosen(waited: Mapping[str, TakeChoice], free: Mapping[Choice, TakeChoice]) -> Handler:
    """A handler of choices.

    Args:
        waited: by purpose, what is done with a choice the game waits for.
        free: by choice, those a coach may take unasked; each refuses what the state does not allow.

    """

    def handle(game: GameState, event: Event, view: View) -> Outcome:
        body = body_of(event, ChoiceMade)
        wait = game.wait
        if wait is not None and wait.kind == "choice":
            if body.choice not in wait.options:
                options = ", ".join(option.replace("_", " ") for option in wait.options)
                raise RefusedError(f"choice: {body.choice.replace('_', ' ')} is not open; choose one of {options}")
            _by(game, body.by, "choice")
            return waited[wait.purpose](game, body, view)
        take = free.get(body.choice)
        refuse_unless(take is not None and wait is None, f"choice {body.choice.replace('_', ' ')}", game)
        assert take is not None
        return take(game, body, view)

    return handle


def _purpose(game: GameState, kind: str, said: str) -> str:
    wait = game.wait
    if wait is None or wait.kind != kind:
        raise RefusedError(f"{kind}: the game does not wait for one" + (f" but for a {wait.kind}" if wait else ""))
    if said and said != wait.purpose:
        raise RefusedError(f"{kind}: the game waits for one for {wait.purpose.replace('_', ' ')}, not for {said}")
    return wait.purpose


def _by(game: GameState, said: Side | None, what: str) -> None:
    wait = game.wait
    if wait is not None and wait.by is not None and said is not None and said != wait.by:
        raise RefusedError(f"{what}: it is {game.team(wait.by).name}'s to make")
