"""Lion's Den's rolls after a down: injuries to a sacked passer, then the penalty that is rolled after every down.

A down that ends in a score is a down: the penalty is rolled before the try or the kickoff, and an accepted one takes
the points back, as in football.
"""

from __future__ import annotations

from typing import Final, Literal

from downfield.core.records import replace
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.enforcement import walk_off, walked_words
from downfield.officiating.consequences.rolls_and_choices import (
    RollHandler,
    d10,
    percentile,
    wait_for_choice,
    wait_for_roll,
)
from downfield.officiating.declarations import ChoiceMade, Roll, Side
from downfield.officiating.rulebooks.lions_den import tables
from downfield.officiating.rulebooks.lions_den.skilled_players import count_rested_down, quarterback_string, report
from downfield.officiating.rules.passer import may_still_pass
from downfield.officiating.state.facts import EVEN_ODDS
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Consequence, Outcome, RuleContext

DOWN: Final = "down"  # rule id of findings that follow a down
DOWN_KINDS: Final = frozenset({"scrimmage", "punt", "field_goal"})
"""Kinds of plays that are downs; kickoffs and tries are none."""
FOLLOWS_DOWN: Final = frozenset({"touchdown", "safety", "touchback"})
"""Calls that, with no play on, say what the last down was worth; they are no down of their own."""
ROLLS_DUE: Final = "rolls_due"  # detail of the call that requests the rolls after a down


def after_down(consequence: Consequence) -> Consequence:
    """Wrap a consequence that ends a down (LD-039): remember the situation before it and ask for the rolls."""

    def apply(game: GameState, call: Call, context: RuleContext) -> Outcome:
        outcome = consequence(game, call, context)
        rolling = game.wait is not None and game.wait.purpose in ROLLS
        if call.kind in FOLLOWS_DOWN and (rolling or game.phase is Phase.BETWEEN_PLAYS):
            # A later call about the last down has not answered its rolls.
            state = replace(outcome.state, phase=game.phase, wait=game.wait)
            return replace(outcome, state=state) if rolling else outcome
        if game.play.kind not in DOWN_KINDS or game.due != "scrimmage":
            return outcome
        state = count_rested_down(outcome.state, game.offense)
        if _is_sack(game, call):
            state = state.with_note("sacked_home", 1.0 if game.offense == "home" else 0.0)
            state = state.with_note("sacked_string", float(quarterback_string(game, game.offense)))
            state = state.with_note("todo_injury", max(1, _count_sackers(game, call, context)))
        if context.params.flag("penalty.rolled"):
            state = _with_situation_before(state.with_note("todo_penalty", 1.0), game)
        found = Finding(DOWN, "info", context.t_ns, "rolls after the down", ("LD-062",), ROLLS_DUE, detail=ROLLS_DUE)
        return replace(outcome, state=state, findings=(*outcome.findings, found))

    return apply


def _is_sack(game: GameState, call: Call) -> bool:
    if call.kind == "sack":
        return call.detail != "depth"
    return call.kind == "tackle" and bool(game.players) and may_still_pass(game)


def _count_sackers(game: GameState, call: Call, context: RuleContext) -> int:
    if context.facts is None or game.play.carrier is None:
        return len(call.players) - 1
    return sum(contact.probability > EVEN_ODDS for contact in context.facts.opponent_contacts(game.play.carrier))


def _with_situation_before(state: GameState, before: GameState) -> GameState:
    """Return the state with the situation before the down, for a penalty that replays it."""
    for name, value in (
        ("before_line", before.los_yd),
        ("before_gain", before.to_gain_yd),
        ("before_down", float(before.down)),
        ("before_home", 1.0 if before.offense == "home" else 0.0),
        ("before_direction", float(before.direction)),
        ("before_pass", 1.0 if before.play.pass_attempts else 0.0),
        ("before_home_points", float(before.score[0])),
        ("before_away_points", float(before.score[1])),
    ):
        state = state.with_note(name, value)
    return state


def _offense_before(game: GameState) -> Side:
    return "home" if game.note("before_home") else "away"


def _direction_before(game: GameState) -> Literal[-1, 1]:
    return 1 if (game.note("before_direction") or 1.0) > 0 else -1


def _wait_for_next_roll(game: GameState) -> GameState:
    """Return the game waiting for the next roll after the down, or ready for the next down when none is left."""
    if game.note("todo_injury"):
        return wait_for_roll(game, "injury", _sacked_side(game))
    if game.note("todo_penalty"):
        return wait_for_roll(game, "penalty", opponent(_offense_before(game)))
    return _go_on(game)


def _go_on(game: GameState) -> GameState:
    """Return the game as the down left it: with its try due after a touchdown, else between plays."""
    game = replace(game, phase=Phase.BETWEEN_PLAYS, wait=None)
    return wait_for_roll(game, "extra_point", game.offense) if game.due == "extra_point" else game


def handle_info(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """Request the rolls that are due, and note a carrier who faces forward again; other information changes nothing."""
    trying = game.wait is not None and game.wait.purpose == "extra_point"
    if call.detail == ROLLS_DUE and (trying or game.phase is Phase.BETWEEN_PLAYS):
        return Outcome(_wait_for_next_roll(game))
    if call.detail == "forward_again":
        return Outcome(replace(game, play=game.play.with_hold(faces_forward=True)))
    return Outcome(game)


def count_injury_dice(game: GameState) -> int:
    """Return how many dice are rolled for the injury of a sacked quarterback: one for each who sacked him."""
    return round(game.note("todo_injury") or 1.0)


def _sacked_side(game: GameState) -> Side:
    return "home" if game.note("sacked_home") else "away"


def _sacked_string(game: GameState) -> int:
    return round(game.note("sacked_string") or 1.0)


def roll_injury(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the injury roll, a die for each sacker (LD-044, LD-067)."""
    side, unhurt_to = _sacked_side(game), context.params.count("injury.unhurt_to")
    results = [tables.injury(die, unhurt_to) for die in d10(roll.dice, count_injury_dice(game), "injury")]
    game = replace(game.with_note("todo_injury", 0.0), phase=Phase.BETWEEN_PLAYS)
    if "game" in results:
        text = f"{game.team(side).name}'s quarterback is out for the game"
        game = game.with_note(f"out_{side}_{_sacked_string(game)}", 1.0)
        found = report(context, text, ("LD-067",), "injury", side, None)
        return Outcome(wait_for_roll(game, "injury_games", side), (found,))
    if "downs" in results:
        return Outcome(wait_for_roll(game, "injury_downs", side))
    found = report(context, "the quarterback is unhurt", ("LD-067",), "injury", side, None)
    return Outcome(_wait_for_next_roll(game), (found,))


def roll_injury_downs(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the roll for how many offensive downs a winded quarterback rests."""
    side, rested = _sacked_side(game), sum(d10(roll.dice, 2, "injury downs"))
    text = f"{game.team(side).name}'s quarterback is winded and rests {rested} offensive downs"
    found = report(context, text, ("LD-067",), "injury_downs", side, CallNumbers(rolled=rested, out_downs=rested))
    game = replace(game, phase=Phase.BETWEEN_PLAYS).with_note(f"winded_{side}_{_sacked_string(game)}", rested)
    return Outcome(_wait_for_next_roll(game), (found,))


def roll_injury_games(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the roll for how many further games the quarterback misses (LD-068)."""
    side, die = _sacked_side(game), d10(roll.dice, 1, "injury games")[0]
    games = tables.injury_games(die, context.params.count("injury.no_games_to"))
    missed = {0: "no further games", 1: "the next game", 2: "the next two games"}.get(games, "the rest of the season")
    text = f"{game.team(side).name}'s quarterback also misses {missed}"
    found = report(context, text, ("LD-068",), "injury_games", side, CallNumbers(rolled=die, out_games=games))
    return Outcome(_wait_for_next_roll(replace(game, phase=Phase.BETWEEN_PLAYS)), (found,))


def roll_penalty(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the penalty roll: percentile dice, tens first, and a die for the guilty side (LD-062..066)."""
    number, side_die = percentile(roll.dice[:2], "penalty"), d10(roll.dice[2:], 1, "penalty")[0]
    rows = context.params.table("penalty.first_row")
    first_row = (round(rows[0][0]), round(rows[0][1])) if rows else (None, None)
    foul = tables.penalty_roll(number, side_die, bool(game.note("before_pass")), first_row)
    game = _go_on(game.with_note("todo_penalty", 0.0))
    if foul is None:
        return Outcome(game)
    offense = _offense_before(game)
    by = offense if foul.by == "offense" else opponent(offense)
    if foul.yards is None:
        text = f"{foul.name}, {game.team(by).name}: this row of the table is lost, so a person decides"
        found = Finding(DOWN, "penalty", context.t_ns, text, ("LD-062",), "lost", reported=True, detail="lost")
        return Outcome(game, (replace(found, numbers=CallNumbers(rolled=number)),))
    game = game.with_note("foul_yards", float(foul.yards)).with_note("foul_home", 1.0 if by == "home" else 0.0)
    game = game.with_note("foul_first", 1.0 if foul.first_down else 0.0)
    text = f"{foul.name}, {game.team(by).name}, {foul.yards} yards"
    clauses = {"holding": ("LD-063",), "personal foul": ("LD-066",)}.get(foul.name, ("LD-065",))
    found = Finding(DOWN, "penalty", context.t_ns, text, clauses, "rolled", reported=True, detail="rolled")
    found = replace(found, side=opponent(by), numbers=CallNumbers(penalty_yd=float(foul.yards), rolled=number))
    return Outcome(wait_for_choice(game, "penalty", ("accept", "decline"), opponent(by)), (found,))


def choose_penalty(game: GameState, choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the offended side's choice: the penalty from the line of scrimmage with the down replayed, or the play."""
    game = _go_on(game)
    if choice.choice == "decline":
        return Outcome(game)
    by: Side = "home" if game.note("foul_home") else "away"
    yards = (game.note("foul_yards") or 0.0) * (-1 if by == _offense_before(game) else 1)
    direction = _direction_before(game)
    half = context.params.flag("penalty.half_the_distance")
    own = game.progress_yd(game.note("before_line") or 0.0, direction)
    line = game.board_x_yd(walk_off(own, yards, length_yd=game.length_yd, half_the_distance=half), direction)
    from_yd, lateral = game.note("before_line"), game.width_yd / 2 if game.lateral_yd is None else game.lateral_yd
    text = f"{walked_words(abs(yards), abs(line - (from_yd or 0.0)))} against {game.team(by).name}"
    found = Finding(DOWN, "penalty", context.t_ns, text, ("LD-062",), "enforced", spot_yd=(line, lateral))
    numbers = CallNumbers(penalty_yd=abs(yards), enforced_from_yd=from_yd, enforced_to_yd=line)
    detail = "first_down" if game.note("foul_first") else "replay"
    found = replace(found, side=opponent(by), detail=detail, numbers=numbers)
    return Outcome(game, (found,))


def enforce_penalty(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Enforce a penalty: the down is replayed from the moved line, and what was scored on it does not count."""
    if call.spot_yd is None:
        return Outcome(game)
    game = _without_score(game, call)
    offense, direction = _offense_before(game), _direction_before(game)
    x_yd, y_yd = call.spot_yd
    gain_yd = game.note("before_gain") or 0.0
    reached = game.progress_yd(x_yd, direction) >= game.progress_yd(gain_yd, direction)
    if call.detail == "first_down" or reached:
        game = downs.start_series(game, offense, direction, x_yd, y_yd, call.t_ns, context)
        return Outcome(game, (downs.follow_up(context, "first_down", "first_down", "first down", side=offense),))
    game = replace(game, offense=offense, direction=direction, los_yd=x_yd, to_gain_yd=gain_yd, due="scrimmage")
    return Outcome(downs.end_play(replace(game, down=round(game.note("before_down") or 1.0))))


def _without_score(game: GameState, call: Call) -> GameState:
    """Return the game with the points that it had before the down, and without the try or kick that followed."""
    home, away = game.note("before_home_points"), game.note("before_away_points")
    if home is None or away is None or game.score == (home, away):
        return game
    return replace(game, score=(round(home), round(away)), due="scrimmage", try_for=None, changed_ns=call.t_ns)


ROLLS: Final[dict[str, RollHandler]] = {
    "injury": roll_injury,
    "injury_downs": roll_injury_downs,
    "injury_games": roll_injury_games,
    "penalty": roll_penalty,
}
"""The rolls after a down, by purpose; the choice about a penalty has its name too."""
