"""Dice, coins and choices: accepted only when the game waits for them.

`roll_handler`, `coin_handler` and `choice_handler` build a system's handlers from its handler for each purpose. The
game waits until its phase changes: a result of the dice may be struck, and then they are rolled again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.consequences.declaration_handlers import body_of, refuse_unless
from downfield.officiating.declarations import Choice, ChoiceMade, Coin, Roll, Side
from downfield.officiating.events import Event
from downfield.officiating.state.dice import checked_faces
from downfield.officiating.state.game_state import GameState, PendingInput, Phase
from downfield.officiating.state.interfaces import Handler, Outcome, RuleContext


def two_dice(dice: Sequence[int], purpose: str) -> int:
    """Return the sum of two six-sided dice, 2..12. Raises RefusedError: such dice do not exist."""
    return sum(checked_faces(dice, count=2, low=1, high=6, purpose=purpose))


def d66(dice: Sequence[int], purpose: str) -> int:
    """Return two dice as tens and units, 11..66 without 7 to 0. Raises RefusedError: such dice do not exist."""
    tens, units = checked_faces(dice, count=2, low=1, high=6, purpose=purpose)
    return 10 * tens + units


def d10(dice: Sequence[int], count: int, purpose: str) -> tuple[int, ...]:
    """Return ten-sided dice, each 1..10; the face 0 counts as 10. Raises RefusedError: such dice do not exist."""
    return tuple(face or 10 for face in checked_faces(dice, count=count, low=0, high=10, purpose=purpose))


def percentile(dice: Sequence[int], purpose: str) -> int:
    """Return 1..100, from one number or from two ten-sided dice, tens first; a double zero is 100.

    The tens die is fixed, the white one where there is one (LD-027), although another line of that book differs
    (LD-069). Raises RefusedError: such dice do not exist.
    """
    if len(dice) == 1:
        return checked_faces(dice, count=1, low=1, high=100, purpose=purpose)[0]
    tens, units = (face % 10 for face in checked_faces(dice, count=2, low=0, high=10, purpose=purpose))
    return 10 * tens + units or 100


RollHandler = Callable[[GameState, Roll, RuleContext], Outcome]
CoinHandler = Callable[[GameState, Coin, RuleContext], Outcome]
ChoiceHandler = Callable[[GameState, ChoiceMade, RuleContext], Outcome]


def wait_for_roll(game: GameState, purpose: str, by: Side | None, options: tuple[Choice, ...] = ()) -> GameState:
    """Return the game waiting for dice, or for one of the choices that a coach may make in their place."""
    return replace(game, phase=Phase.PENDING_ROLL, wait=PendingInput("roll", purpose, options, by))


def wait_for_coin(game: GameState, purpose: str, by: Side | None) -> GameState:
    """Return the game waiting for a coin."""
    return replace(game, phase=Phase.PENDING_ROLL, wait=PendingInput("coin", purpose, by=by))


def wait_for_choice(game: GameState, purpose: str, options: tuple[Choice, ...], by: Side | None) -> GameState:
    """Return the game waiting for a coach's choice."""
    return replace(game, phase=Phase.PENDING_CHOICE, wait=PendingInput("choice", purpose, options, by))


def roll_handler(handlers: Mapping[str, RollHandler]) -> Handler:
    """Return a handler of dice, by what they are rolled for."""

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        body = body_of(event, Roll)
        purpose = _purpose(game, "roll", body.purpose)
        _check_side(game, body.by, "roll")
        rule = context.system.dice.get(purpose)
        if rule is not None:
            rule.check(body.dice, game, purpose.replace("_", " "))
        return handlers[purpose](game, body, context)

    return handle


def coin_handler(handlers: Mapping[str, CoinHandler]) -> Handler:
    """Return a handler of coins, by what they are flipped for."""

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        body = body_of(event, Coin)
        purpose = _purpose(game, "coin", body.purpose)
        return handlers[purpose](game, body, context)

    return handle


def choice_handler(awaited: Mapping[str, ChoiceHandler], anytime: Mapping[Choice, ChoiceHandler]) -> Handler:
    """Return a handler of choices.

    Args:
        awaited: by purpose, the handler of a choice that the game waits for, or that may be made in place of dice.
        anytime: by choice, the handler of a choice a coach may make at any time; it refuses what the state forbids.
    """

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        body = body_of(event, ChoiceMade)
        wait = game.wait
        # With dice the options are what may be chosen in their place, such as not to roll.
        if wait is not None and wait.options:
            if body.choice not in wait.options:
                options = ", ".join(option.replace("_", " ") for option in wait.options)
                raise RefusedError(f"choice: {body.choice.replace('_', ' ')} is not on offer; choose one of {options}")
            _check_side(game, body.by, "choice")
            return awaited[wait.purpose](game, body, context)
        handle_choice = anytime.get(body.choice)
        refuse_unless(handle_choice is not None and wait is None, f"choice {body.choice.replace('_', ' ')}", game)
        assert handle_choice is not None
        if body.by not in {None, game.play.ball_side}:
            raise RefusedError(f"choice: it is {game.team(game.play.ball_side).name}'s to make")
        return handle_choice(game, body, context)

    return handle


def _purpose(game: GameState, kind: str, declared: str) -> str:
    """Return what dice or a coin decide; refuse them when the game does not wait for them."""
    wait = game.wait
    if wait is None or wait.kind != kind:
        raise RefusedError(
            f"{kind}: the game does not wait for one now" + (f"; it waits for a {wait.kind}" if wait else "")
        )
    if declared and declared != wait.purpose:
        raise RefusedError(f"{kind}: the game waits for one for {wait.purpose.replace('_', ' ')}, not for {declared}")
    return wait.purpose


def _check_side(game: GameState, by: Side | None, name: str) -> None:
    wait = game.wait
    if wait is not None and wait.by is not None and by is not None and by != wait.by:
        raise RefusedError(f"{name}: it is {game.team(wait.by).name}'s to make")
