"""Lion's Den between downs: injuries to a sacked passer, and the penalty that is rolled after every down."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.enforcement import walk_off
from downfield.officiating.consequences.rolls_and_choices import (
    TakeRoll,
    checked_faces,
    d10,
    percentile,
    wait_for_choice,
    wait_for_roll,
)
from downfield.officiating.declarations import ChoiceMade, Roll, Side
from downfield.officiating.engine.interfaces import Consequence, Outcome, RuleContext
from downfield.officiating.engine.state import GameState, Phase, opponent
from downfield.officiating.rulebooks.lions_den import tables
from downfield.officiating.rulebooks.lions_den.skilled_players import (
    down_played,
    injury_downs,
    injury_games,
    injury_rolled,
)
from downfield.officiating.rulebooks.params import Param
from downfield.officiating.rules.passer import may_still_pass

DOWN: Final = "down"
PENALTY_PARAMS: Final = (
    Param("penalty.rolled", True, "", "LD-062: after every down"),
    Param(
        "penalty.first_row",
        (),
        "yd",
        "LD-062: the row 01-05 is lost; one row with the yards on the offense and on the defense, else a person's",
        columns=2,
    ),
    Param("penalty.half_the_distance", True, "", "not stated; as in football"),
)
ROLLS_DUE: Final = "rolls_due"
"""Detail of the call that says what must be rolled now a down is over."""


def after_down(consequence: Consequence) -> Consequence:
    """A consequence that ends a down (LD-039): what was before it is kept for a penalty, and the rolls come due."""

    def apply(game: GameState, call: Call, context: RuleContext) -> Outcome:
        outcome = consequence(game, call, context)
        if game.play.kind not in {"scrimmage", "punt"} or game.due != "scrimmage":
            return outcome
        state = down_played(outcome.state, game.offense)
        if _is_sack(game, call):
            state = state.with_note("todo_injury", max(1, _sackers(game, call, context)))
            state = state.with_note("sacked_home", 1.0 if game.offense == "home" else 0.0)
        if context.params.flag("penalty.rolled"):
            state = _remembered(state.with_note("todo_penalty", 1.0), game)
        found = Finding(DOWN, "info", context.t_ns, "rolls after the down", ("LD-062",), ROLLS_DUE, detail=ROLLS_DUE)
        return Outcome(state, (*outcome.findings, found))

    return apply


def _is_sack(game: GameState, call: Call) -> bool:
    """Whether a passer was brought down behind the line by somebody."""
    return call.kind in {"tackle", "sack"} and call.detail != "depth" and may_still_pass(game)


def _sackers(game: GameState, call: Call, context: RuleContext) -> int:
    if context.facts is None or game.play.carrier is None:
        return len(call.players) - 1
    return sum(touch.probability > 0.5 for touch in context.facts.opponent_contacts(game.play.carrier))


def _remembered(state: GameState, before: GameState) -> GameState:
    """The state with the down as it was, for a penalty that takes it back."""
    for name, value in (
        ("before_line", before.los_yd),
        ("before_gain", before.to_gain_yd),
        ("before_down", float(before.down)),
        ("before_home", 1.0 if before.offense == "home" else 0.0),
        ("before_direction", float(before.direction)),
        ("before_pass", 1.0 if before.play.pass_attempts else 0.0),
    ):
        state = state.with_note(name, value)
    return state


def next_roll(game: GameState) -> GameState:
    """The game waiting for what is still to be rolled after the down; ready for the next one when nothing is."""
    before: Side = "home" if game.note("before_home") else "away"
    if game.note("todo_injury"):
        return wait_for_roll(game, "injury", "home" if game.note("sacked_home") else "away")
    # A score or a safety has already been followed by what follows it; there is no down left to take back.
    if game.note("todo_penalty") and game.due == "scrimmage":
        return wait_for_roll(game, "penalty", opponent(before))
    return game


def info(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """What is only told, but for the rolls that come due and a carrier who faces forward again."""
    if call.detail == ROLLS_DUE and game.phase is Phase.BETWEEN_PLAYS:
        return Outcome(next_roll(game))
    if call.detail == "forward_again":
        play = replace(game.play, notes=(*game.play.notes, (call.detail, 1.0)))
        return Outcome(replace(game, play=play))
    return Outcome(game)


def take_injury(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """The injury roll, a die for each sacker."""
    game, then, found = injury_rolled(game, roll, context)
    game = replace(game, phase=Phase.BETWEEN_PLAYS)
    side: Side = "home" if game.note("sacked_home") else "away"
    return Outcome(wait_for_roll(game, then, side) if then else next_roll(game), found)


def take_injury_downs(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """How long a winded quarterback rests."""
    game, found = injury_downs(replace(game, phase=Phase.BETWEEN_PLAYS), roll, context)
    return Outcome(next_roll(game), (found,))


def take_injury_games(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """How many games he misses."""
    found = injury_games(game, roll, context)
    return Outcome(next_roll(replace(game, phase=Phase.BETWEEN_PLAYS)), (found,))


def take_penalty(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """The penalty roll: percentile dice, tens first, and a die for the guilty side (LD-062..066)."""
    dice = checked_faces(roll.dice, count=3, low=0, high=10, purpose="penalty")
    number, side_die = percentile(dice[:2], "penalty"), d10(dice[2:], 1, "penalty")[0]
    rows = context.params.table("penalty.first_row")
    first = (round(rows[0][0]), round(rows[0][1])) if rows else (None, None)
    foul = tables.foul(number, side_die, bool(game.note("before_pass")), first)
    game = replace(game, phase=Phase.BETWEEN_PLAYS).with_note("todo_penalty", 0.0)
    if foul is None:
        return Outcome(game)
    offense: Side = "home" if game.note("before_home") else "away"
    by = offense if foul.by == "offense" else opponent(offense)
    if foul.yards is None:
        text = f"{foul.name}, {game.team(by).name}: this row of the table is lost, so a person decides"
        told = Finding(DOWN, "penalty", context.t_ns, text, ("LD-062",), "lost", reported=True, detail="lost")
        return Outcome(game, (told,))
    game = game.with_note("foul_yards", float(foul.yards)).with_note("foul_home", 1.0 if by == "home" else 0.0)
    game = game.with_note("foul_first", 1.0 if foul.first_down else 0.0)
    text = f"{foul.name}, {game.team(by).name}, {foul.yards} yards"
    told = Finding(
        DOWN, "penalty", context.t_ns, text, _foul_clauses(foul.name), "rolled", reported=True, detail="rolled"
    )
    return Outcome(wait_for_choice(game, "penalty", ("accept", "decline"), opponent(by)), (told,))


def _foul_clauses(name: str) -> tuple[str, ...]:
    return {"holding": ("LD-063",), "personal foul": ("LD-066",)}.get(name, ("LD-065",))


def penalty_chosen(game: GameState, choice: ChoiceMade, context: RuleContext) -> Outcome:
    """The offended side takes the penalty, from the line of scrimmage and the down again, or what the down came to."""
    game = replace(game, phase=Phase.BETWEEN_PLAYS)
    if choice.choice == "decline":
        return Outcome(game)
    offense: Side = "home" if game.note("before_home") else "away"
    by: Side = "home" if game.note("foul_home") else "away"
    yards = (game.note("foul_yards") or 0.0) * (-1 if by == offense else 1)
    direction = 1 if (game.note("before_direction") or 1.0) > 0 else -1
    half = context.params.flag("penalty.half_the_distance")
    own = game.progress_yd(game.note("before_line") or 0.0, direction)
    line = game.board_x_yd(walk_off(own, yards, length_yd=game.length_yd, half_the_distance=half), direction)
    found = Finding(
        DOWN,
        "penalty",
        context.t_ns,
        f"{abs(yards):g} yards against {game.team(by).name}",
        ("LD-062",),
        "enforced",
        spot_yd=(line, game.width_yd / 2 if game.lateral_yd is None else game.lateral_yd),
        side=opponent(by),
        detail="first_down" if game.note("foul_first") else "replay",
    )
    return Outcome(game, (found,))


def penalty(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """A penalty takes the down back and moves its line."""
    if call.spot_yd is None:
        return Outcome(game)
    offense: Side = "home" if game.note("before_home") else "away"
    direction = 1 if (game.note("before_direction") or 1.0) > 0 else -1
    x_yd, y_yd = call.spot_yd
    gain_yd = game.note("before_gain") or 0.0
    reached = game.progress_yd(x_yd, direction) >= game.progress_yd(gain_yd, direction)
    if call.detail == "first_down" or reached:
        game = downs.first_and_ten(game, offense, direction, x_yd, y_yd, call.t_ns, context)
        return Outcome(game, (downs.follow_up(context, "first_down", "first_down", "first down", side=offense),))
    return Outcome(
        replace(
            downs.end_play(game),
            offense=offense,
            direction=1 if direction > 0 else -1,
            los_yd=x_yd,
            to_gain_yd=gain_yd,
            down=round(game.note("before_down") or 1.0),
            due="scrimmage",
        )
    )


ROLLS: Final[dict[str, TakeRoll]] = {
    "injury": take_injury,
    "injury_downs": take_injury_downs,
    "injury_games": take_injury_games,
    "penalty": take_penalty,
}
