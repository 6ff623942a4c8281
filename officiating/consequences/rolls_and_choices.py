"""Dice, coins and choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from downfield.core.errors import RefusedError
from downfield.officiating.consequences.declaration_handlers import body_of, refuse_unless
from downfield.officiating.declarations import Choice, ChoiceMade, Coin, Roll, Side
from downfield.officiating.engine.interfaces import Handler, Outcome, RuleContext
from downfield.officiating.engine.state import GameState, PendingInput, Phase
from downfield.officiating.events import Event


def checked_faces(dice: Sequence[int], *, count: int, low: int, high: int, purpose: str) -> tuple[int, ...]:
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
    return sum(checked_faces(dice, count=2, low=1, high=6, purpose=purpose))


def d66(dice: Sequence[int], purpose: str) -> int:
    """Two six-sided dice read as tens and units, the first one the tens: 11..66 without the digits 7 to 0.

    Raises:
        RefusedError: these dice can't have fallen.

    """
    tens, units = checked_faces(dice, count=2, low=1, high=6, purpose=purpose)
    return 10 * tens + units


def d10(dice: Sequence[int], count: int, purpose: str) -> tuple[int, ...]:
    """Ten-sided dice, each 1..10; the face 0 is the ten.

    Raises:
        RefusedError: these dice can't have fallen.

    """
    return tuple(face or 10 for face in checked_faces(dice, count=count, low=0, high=10, purpose=purpose))


def percentile(dice: Sequence[int], purpose: str) -> int:
    """1..100, from one number or from two ten-sided dice, tens first; a double zero is 100.

    The tens die is fixed, the white one where there is one (LD-027), whatever another line of that book says (LD-069).

    Raises:
        RefusedError: these dice can't have fallen.

    """
    if len(dice) == 1:
        return checked_faces(dice, count=1, low=1, high=100, purpose=purpose)[0]
    tens, units = (face % 10 for face in checked_faces(dice, count=2, low=0, high=10, purpose=purpose))
    return 10 * tens + units or 100


TakeRoll = Callable[[GameState, Roll, RuleContext], Outcome]
TakeCoin = Callable[[GameState, Coin, RuleContext], Outcome]
TakeChoice = Callable[[GameState, ChoiceMade, RuleContext], Outcome]


def wait_for_roll(game: GameState, purpose: str, by: Side | None) -> GameState:
    """The game waiting for dice."""
    return replace(game, phase=Phase.PENDING_ROLL, wait=PendingInput("roll", purpose, by=by))


def wait_for_coin(game: GameState, purpose: str, by: Side | None) -> GameState:
    """The game waiting for a coin."""
    return replace(game, phase=Phase.PENDING_ROLL, wait=PendingInput("coin", purpose, by=by))


def wait_for_choice(game: GameState, purpose: str, options: tuple[Choice, ...], by: Side | None) -> GameState:
    """The game waiting for a coach's choice."""
    return replace(game, phase=Phase.PENDING_CHOICE, wait=PendingInput("choice", purpose, options, by))


def roll_handler(takers: Mapping[str, TakeRoll]) -> Handler:
    """A handler of dice, by what they are rolled for."""

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        body = body_of(event, Roll)
        purpose = _purpose(game, "roll", body.purpose)
        _by(game, body.by, "roll")
        return takers[purpose](game, body, context)

    return handle


def coin_handler(takers: Mapping[str, TakeCoin]) -> Handler:
    """A handler of coins, by what they are flipped for."""

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        body = body_of(event, Coin)
        purpose = _purpose(game, "coin", body.purpose)
        return takers[purpose](game, body, context)

    return handle


def choice_handler(waited: Mapping[str, TakeChoice], free: Mapping[Choice, TakeChoice]) -> Handler:
    """A handler of choices.

    Args:
        waited: by purpose, what is done with a choice the game waits for.
        free: by choice, those a coach may take unasked; each refuses what the state does not allow.

    """

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        body = body_of(event, ChoiceMade)
        wait = game.wait
        if wait is not None and wait.kind == "choice":
            if body.choice not in wait.options:
                options = ", ".join(option.replace("_", " ") for option in wait.options)
                raise RefusedError(f"choice: {body.choice.replace('_', ' ')} is not open; choose one of {options}")
            _by(game, body.by, "choice")
            return waited[wait.purpose](game, body, context)
        take = free.get(body.choice)
        refuse_unless(take is not None and wait is None, f"choice {body.choice.replace('_', ' ')}", game)
        assert take is not None
        return take(game, body, context)

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
