"""What follows from a measured place: how far it is past a line, with the error of both, and what else it may be.

A spot between two calls is not one of them: a first down, a safety or a touchback is as sure as the place of the ball
against the line that decides it. What is surely on one side follows; in between the first reading becomes a call that
is too close, with the other one beside it, and the game waits for a measurement by a person.

Where a league rolls for a fumble after a tackle, what follows from its place waits for the dice; no book has that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from downfield.officiating.belief import Measure, share_above_zero
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences.rolls_and_choices import two_dice, wait_for_roll
from downfield.officiating.declarations import Roll
from downfield.officiating.rules.house_tackles import was_hard
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import Consequence, Outcome, RuleContext


@dataclass(frozen=True, slots=True)
class PastLine:
    """How far a place is past a line."""

    margin_yd: float  # past it when positive
    sigma_yd: float = 0.0  # standard deviation of that, of the place and the line together; 0 where both are exact
    place_yd: tuple[float, float] | None = None  # the place itself, along x of the board and across

    @property
    def probability(self) -> float:
        """Probability that the place is on the line or past it."""
        return share_above_zero(self.margin_yd, self.sigma_yd)

    @property
    def short(self) -> PastLine:
        """How far the place is short of the line."""
        return PastLine(-self.margin_yd, self.sigma_yd, self.place_yd)

    def told(self, finding: Finding, measure: Measure = "line", within: float = 1.0) -> Finding:
        """Return a finding with this as what was measured of it, no surer than what else it rests on (`within`)."""
        probability = min(self.probability, within, finding.probability)
        if not self.sigma_yd:
            return replace(finding, probability=probability)
        margin, sigma = self.margin_yd, self.sigma_yd
        if self.place_yd is not None:
            numbers = replace(finding.numbers or CallNumbers(), measured_yd=self.place_yd)
            finding = replace(finding, numbers=numbers)
        return replace(finding, margin=margin, sigma=sigma, unit="yd", measure=measure, probability=probability)


def decide(state: GameState, over: Finding, short: Sequence[Finding], past: PastLine, context: RuleContext) -> Outcome:
    """Return what follows from a place that may be past a line.

    `state` is the game if it is short of the line, and what follows past it (`over`) starts from there, too.
    """
    first = tuple(past.short.told(finding, "short") for finding in short[:1])
    shorts = (*first, *short[1:])
    if past.probability <= 1.0 - context.params.real("calls.confidence"):
        return Outcome(state, shorts)
    if short and over.against_kind == "info":
        over = replace(over, against=short[0].text, against_kind=short[0].kind)
    return Outcome(state, (past.told(over),), shorts)


FUMBLE: Final = "fumble_dice"  # purpose of the roll after a tackle, rolled by the coach who had the ball
_NONE: Final = "no_fumble"
_SIGMA: Final = "tackled_sigma_yd"


def or_fumble(tackled: Consequence) -> Consequence:
    """Return the consequence of a tackle after which the league's dice say whether the ball came loose."""

    def tackle(game: GameState, call: Call, context: RuleContext) -> Outcome:
        closing = None if call.numbers is None else call.numbers.closing_mm_s
        known = "tackle.fumble_sums" in context.params.definitions  # a book with a tackle of its own need not
        sums = context.params.table("tackle.fumble_sums") if known else ()
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
    kind: CallKind = "fumble" if is_fumble else "info"
    text, key = f"{'a' if is_fumble else 'no'} fumble on {total}", f"fumble@{context.t_ns}"
    players = tuple(name for name in (play.carrier, play.tackler) if name is not None and play.carrier)
    sigma_yd = (play.note(_SIGMA) or 0.0, 0.0)
    found = Finding(FUMBLE, kind, context.t_ns, text, (), key, players, play.fumble_yd, sigma_yd, side=play.ball_side)
    found = replace(found, detail="dice" if is_fumble else _NONE, numbers=CallNumbers(rolled=total))
    if is_fumble:  # the ball is live until somebody has it
        game = replace(game, wait=None, phase=Phase.LIVE if game.board == "on" else Phase.STOPPED)
    return Outcome(game, (found,))
