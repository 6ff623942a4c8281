"""Fumbles by dice, where a league rolls for one after a tackle: no book has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating.call_numbers import CallNumbers
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.rolls_and_choices import two_dice, wait_for_roll
from downfield.officiating.declarations import Roll
from downfield.officiating.rules.house_tackles import was_hard
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import Consequence, Outcome, RuleContext

FUMBLE: Final = "fumble_dice"
"""Purpose of the roll after a tackle, rolled by the coach who had the ball."""
_NONE: Final = "no_fumble"
_SIGMA: Final = "tackled_sigma_yd"


def or_fumble(tackled: Consequence) -> Consequence:
    """Return the consequence of a tackle after which the league's dice say whether the ball came loose."""

    def tackle(game: GameState, call: Call, context: RuleContext) -> Outcome:
        closing = None if call.numbers is None else call.numbers.closing_mm_s
        sums = context.params.table("tackle.fumble_sums")
        on_try = game.due in {"extra_point", "two_point"}  # over, whoever has the ball
        if not sums or on_try or call.spot_yd is None or not was_hard(closing, context.params):
            return tackled(game, call, context)
        notes = (*game.play.notes, (_SIGMA, call.spot_sigma_yd[0]))
        tackler = call.players[1] if len(call.players) > 1 else None
        play = replace(game.play, fumble_yd=call.spot_yd, tackler=tackler, notes=notes)
        return Outcome(wait_for_roll(replace(game, play=play), FUMBLE, play.ball_side))

    return tackle


def or_no_fumble(tackled: Consequence, info: Consequence | None = None) -> Consequence:
    """Return the consequence of information: the tackle stands if it is that the dice say so, else the book's own."""

    def told(game: GameState, call: Call, context: RuleContext) -> Outcome:
        if call.detail != _NONE:
            return Outcome(game) if info is None else info(game, call, context)
        sigma_yd = game.play.note(_SIGMA) or 0.0
        game = replace(game, wait=None, play=replace(game.play, fumble_yd=None))
        return tackled(game, replace(call, kind="tackle", spot_sigma_yd=(sigma_yd, 0.0)), context)

    return told


def roll_fumble(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the dice after a tackle: a fumble where it happened, or no fumble."""
    total, play = two_dice(roll.dice, "fumble"), game.play
    is_fumble = (float(total),) in context.params.table("tackle.fumble_sums")
    found = Finding(
        downs.DOWNS,
        "fumble" if is_fumble else "info",
        context.t_ns,
        f"a fumble on {total}" if is_fumble else f"no fumble on {total}",
        (),
        key=f"fumble@{context.t_ns}",
        players=tuple(name for name in (play.carrier, play.tackler) if name is not None and play.carrier),
        spot_yd=play.fumble_yd,
        spot_sigma_yd=(play.note(_SIGMA) or 0.0, 0.0),
        side=play.ball_side,
        detail="dice" if is_fumble else _NONE,
        numbers=CallNumbers(rolled=total),
    )
    if is_fumble:  # the ball is live until somebody has it
        game = replace(game, wait=None, phase=Phase.LIVE if game.board == "on" else Phase.STOPPED)
    return Outcome(game, (found,))
