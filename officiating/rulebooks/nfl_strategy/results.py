"""Finishing a card play: its result, its penalty, the clock in lines, the hash.

Spots are worked out in the offense's own yards and reported along x of the board.
"""

from __future__ import annotations

from typing import Final, Literal

from downfield.core.records import replace
from downfield.officiating.calls import CallNumbers, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.declarations import Hash
from downfield.officiating.params import Params
from downfield.officiating.rulebooks.nfl_strategy import tables
from downfield.officiating.rulebooks.nfl_strategy.clock import ClockPlay, LineClock, after_play
from downfield.officiating.rulebooks.nfl_strategy.kicks import kick_at_goal, kick_off, punt_ball
from downfield.officiating.rulebooks.nfl_strategy.penalties import apply_penalty
from downfield.officiating.rulebooks.nfl_strategy.play import (
    KICKOFF_PENALTY,
    KICKOFFS,
    KICKS_MADE,
    PUNTS,
    TRIES,
    CardPlay,
    PlayResult,
    card_game,
    card_result,
    is_kickoff,
    landing_yd,
    next_wait,
    touchdown,
    with_lines,
    with_play,
)
from downfield.officiating.state.game_state import Clock, GameState, Phase
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import PlayState
from downfield.officiating.unseen_declarations import HASH_UNTOLD

CARDS: Final = "cards"  # rule id of findings that follow from cards and dice
HASH_YD: Final = 3.08  # distance from the middle of the field to a hash row on a professional field
WITH_DOT: Final = frozenset({"stopped", "kick", "interception", "fumble_recovery"})
"""Calls after which the ball is on the hash that a dot names."""


def advance_play(game: GameState, play: CardPlay, t_ns: int, context: RuleContext) -> Outcome:
    """Wait for the next missing input of a card play, or finish it."""
    game = with_play(game, play)
    wait = next_wait(game, play, context.params)
    if wait is not None:
        phase = Phase.PENDING_CHOICE if wait.kind == "choice" else Phase.PENDING_ROLL
        return Outcome(replace(game, phase=phase, wait=wait))
    return finish_play(game, play, play_result(game, play, context.params), t_ns, context)


def finish_play(game: GameState, play: CardPlay, result: PlayResult, t_ns: int, context: RuleContext) -> Outcome:
    """Return the game after a play with this result: its penalty, the clock in lines and the hash."""
    params = context.params
    results: tuple[PlayResult, ...] = (result,)
    if play.foul is not None:
        results = apply_penalty(game, play, play.foul, result, params.real("touchback.yd"))
    main = results[0]
    lines = card_game(game).lines
    if play.running != lines.running:
        lines = replace(lines, running=play.running)
    after = after_play(
        lines,
        _clock_play(play, result, game),
        stopped=stops_clock(game, play, main),
        hurry_up=play.hurry_up,
        onside_recovered=main.detail == "onside_recovered",
    )
    hash_after = _hash_after(game, play, main)
    findings = [_finding(replace(game, hash=hash_after), play, each, t_ns, params) for each in results]
    try_due = main.kind == "touchdown" and game.due not in TRIES
    kicked = downs.with_kicker(game) if is_kickoff(game, play) else game
    moved = move_clock(_without_play(kicked, play, main, hash_after), after, context, try_due=try_due)
    return Outcome(moved.state, (*findings, *moved.findings))


def play_result(game: GameState, play: CardPlay, params: Params) -> PlayResult:
    """Return the result of a play with all its rolls made, penalties left aside."""
    kind = play.card.kind
    if kind in {"field_goal", "fair_catch_kick", "extra_point"}:
        return kick_at_goal(game, play, params)
    if is_kickoff(game, play):
        return kick_off(game, play, params)
    if kind in PUNTS:
        return punt_ball(game, play, params)
    result = _scrimmage_result(game, play, params)
    return two_point_result(game, result) if kind == "two_point" else result


def _scrimmage_result(game: GameState, play: CardPlay, params: Params) -> PlayResult:
    start, result = game.line_yd, card_result(play)
    if play.card.kind == "spike":
        return PlayResult("incomplete", "the ball is spiked", ("NFLS-017", "NFLS-027"), start)
    if play.card.kind == "kneel":
        return PlayResult("stopped", "kneels with the ball", ("NFLS-014",), start - params.real("kneel.loss_yd"))
    if result.mark == "incomplete" or play.review == "overturned":
        text = "interception overturned, incomplete" if play.review else "incomplete"
        return PlayResult("incomplete", text, ("NFLS-060",) if play.review else ("NFLS-005",), start)
    gain = float(result.yards or 0)
    if result.mark == "fumble":
        return _fumble_result(game, play, start, gain)
    if result.mark == "interception":
        return _interception_result(game, play, start, gain)
    if play.card.ran_out and play.card.dot is not None and start + gain < game.length_yd:
        gain = tables.gain_out_of_bounds(gain, play.card.dot)
        text = f"gain of {gain:g}, out of bounds"
        return PlayResult("stopped", text, ("NFLS-026", "NFLS-090"), start + gain)
    if start + gain >= game.length_yd:
        return touchdown(game, game.offense, ("NFLS-086",))
    return PlayResult("stopped", f"gain of {gain:g}", ("NFLS-090",), start + gain)


def _fumble_result(game: GameState, play: CardPlay, start: float, gain: float) -> PlayResult:
    end = tables.fumble_end(start, gain, play.recovered, game.length_yd)
    if end == "touchdown":
        return touchdown(game, game.offense, ("NFLS-048",))
    if end == "safety":
        return PlayResult("safety", f"safety, {game.team(game.defense).name}", ("NFLS-049",), side=game.defense)
    if end == "defense_touchdown":
        return touchdown(game, game.defense, ("NFLS-049",))
    if play.run_back:
        return touchdown(game, game.defense, ("NFLS-050",))
    side = game.offense if end == "offense" else game.defense
    text = f"fumble, {game.team(side).name} recovers"
    return PlayResult("fumble_recovery", text, ("NFLS-047", "NFLS-051"), start + gain, side)


def _interception_result(game: GameState, play: CardPlay, start: float, yards: float) -> PlayResult:
    end = tables.interception_end(start, yards, length_yd=game.length_yd, end_zone_yd=game.end_zone_yd)
    if end == "incomplete":
        return PlayResult("incomplete", "intercepted out of the end zone: incomplete", ("NFLS-053",), start)
    if end == "touchdown" or play.run_back:
        return touchdown(game, game.defense, ("NFLS-052",) if end == "touchdown" else ("NFLS-054",))
    name = game.team(game.defense).name
    if end == "touchback":
        text = f"intercepted in the end zone, touchback {name}"
        return PlayResult("touchback", text, ("NFLS-052",), side=game.defense)
    return PlayResult("interception", f"intercepted, {name} ball", ("NFLS-052",), start + yards, game.defense)


def two_point_result(game: GameState, result: PlayResult) -> PlayResult:
    """Return the result of a two-point try from that of its play (NFLS-038, NFLS-039)."""
    scored = result.kind == "touchdown" and result.side is not None
    side = result.side if scored and result.side else game.offense
    clauses = ("NFLS-039",) if side == game.defense else ("NFLS-038",)
    text = f"two points, {game.team(side).name}" if scored else "two-point try fails"
    return PlayResult("two_point", text, clauses, side=side, detail="good" if scored else "no_good")


def _clock_play(play: CardPlay, result: PlayResult, game: GameState) -> ClockPlay:
    if play.foul is not None and play.foul.automatic:
        return "auto_5"
    if play.card.kind in TRIES:
        return "try"
    if is_kickoff(game, play):
        # Two kicks take one line together, a third or fourth one more (NFLS-023).
        untimed = result.dead_kick or _kicks_made(game) % 2 == 1
        return "kickoff_dead" if untimed else "kickoff_returned"
    if play.card.kind in {"kneel", "spike"}:
        return "kneel" if play.card.kind == "kneel" else "spike"
    return "ordinary"


def _kicks_made(game: GameState) -> int:
    return round(game.note(KICKS_MADE) or 0.0)


def stops_clock(game: GameState, play: CardPlay, result: PlayResult) -> bool:
    """Return whether the clock stands at the next play (NFLS-005..013); after anything else it runs (NFLS-014)."""
    kicked = play.card.kind in {*KICKOFFS, *PUNTS, *TRIES, "field_goal", "fair_catch_kick"} or game.due == "free_kick"
    short = result.spot_yd is not None and result.spot_yd < game.progress_yd(game.to_gain_yd)
    lost_on_downs = game.down == 4 and short and result.side in {None, game.offense} and game.due == "scrimmage"
    behind_goal_line = result.kind == "stopped" and (result.spot_yd or 0) <= 0
    return (
        kicked
        or play.foul is not None
        or play.card.ran_out
        or result.kind in {"incomplete", "touchdown", "safety"}
        or lost_on_downs
        or result.side == game.defense
        or behind_goal_line
    )


def _without_play(game: GameState, play: CardPlay, main: PlayResult, hash_after: Hash) -> GameState:
    again = is_kickoff(game, play) and main.detail in {"replay", "kick_again"}
    dropped: tuple[str, ...] = ("hurry_up", "fair_catch", HASH_UNTOLD)
    if is_kickoff(game, play) and not again:
        dropped = (*dropped, KICKOFF_PENALTY, KICKS_MADE)
    notes = tuple(pair for pair in game.notes if not pair[0].startswith(dropped))
    if again:
        notes = (*(pair for pair in notes if pair[0] != KICKS_MADE), (KICKS_MADE, _kicks_made(game) + 1.0))
    if main.detail == "fair_catch":
        notes = (*notes, ("fair_catch", 1.0))
    if play.card.dot is None and main.kind in WITH_DOT:
        notes = (*notes, (HASH_UNTOLD, 1.0))
    return replace(
        with_play(game, None),
        phase=Phase.BETWEEN_PLAYS,
        wait=None,
        notes=notes,
        hash=hash_after,
        play=PlayState(kind=game.due, ball_side=game.offense),
    )


def _hash_after(game: GameState, play: CardPlay, main: PlayResult) -> Hash:
    if play.card.dot is None or main.kind in {"touchdown", "safety", "touchback", "penalty"}:
        return game.hash if main.kind in {"incomplete", "penalty"} else "center"
    return tables.HASHES[play.card.dot]  # NFLS-091


def _finding(game: GameState, play: CardPlay, result: PlayResult, t_ns: int, params: Params) -> Finding:
    spot = None
    if result.spot_yd is not None:
        spot = (game.board_x_yd(result.spot_yd), _across_yd(game))
    return Finding(
        CARDS,
        result.kind,
        t_ns,
        result.text,
        result.clauses,
        key=f"{result.kind}@{t_ns}",
        spot_yd=spot,
        side=result.side,
        detail=result.detail,
        reported=result.kind == "penalty" and result.detail in {"enforced", "declined"},
        numbers=_numbers(game, play, result, params),
    )


def _across_yd(game: GameState) -> float:
    """Return the y of the hash in force on the board; left is the upper hash, whichever side has the ball."""
    offset = {"left": HASH_YD, "center": 0.0, "right": -HASH_YD}[game.hash]
    return game.width_yd / 2 + offset


def move_clock(game: GameState, after: LineClock, context: RuleContext, *, try_due: bool = False) -> Outcome:
    """Return the game with its clock moved, and the findings: the two-minute warning, the end of a period."""
    before = card_game(game).lines
    left_s = after.left * context.params.real("clock.line_s")
    game = replace(with_lines(game, after), clock=Clock(left_s, False, context.t_ns))
    found: list[Finding] = []
    if before.warning_at is not None and after.warning_at is None and not after.is_over:
        found.append(
            Finding(CARDS, "period", context.t_ns, "two-minute warning", ("NFLS-012",), "warning", detail="warning")
        )
    if after.is_over and not try_due:
        text = f"end of period {game.period}"
        found.append(Finding(CARDS, "period", context.t_ns, text, ("NFLS-011",), "end", detail="end"))
    return Outcome(game, tuple(found))


def set_up_try(game: GameState, kind: str, context: RuleContext) -> GameState:
    """Return the game with the chosen try ready (NFLS-038), after a penalty by its new spot's card (NFLS-036)."""
    due: Literal["two_point", "extra_point"] = "two_point" if kind == "two_point" else "extra_point"
    return downs.line_up_try(game, due, context.params.real(f"{due}.from_yd"))


def _numbers(game: GameState, play: CardPlay, result: PlayResult, params: Params) -> CallNumbers | None:
    if result.kind == "penalty":
        return _penalty_numbers(game, result)
    card = play.card
    gain_yd = None
    if result.spot_yd is not None and result.side in {None, game.offense}:
        gain_yd = result.spot_yd - game.line_yd
    if not card.shown:  # told by its end, or a kneel or spike
        has_gain = result.kind == "stopped" and gain_yd is not None
        return CallNumbers(gain_yd=gain_yd) if has_gain else None
    if is_kickoff(game, play) or card.kind in PUNTS:
        return _kick_numbers(game, play, result, params)
    if card.kind in {"field_goal", "fair_catch_kick", "extra_point"}:
        shown = card_result(play).yards
        free = card.kind == "fair_catch_kick"
        return CallNumbers(
            to_goal_yd=game.to_goal_yd,
            needed=shown - params.count("free_kick.margin") if free and shown is not None else None,
            rolled=card.roll,
            return_yd=_return_yd(result),
        )
    if result.kind in {"stopped", "fumble_recovery"}:
        return CallNumbers(gain_yd=gain_yd, rolled=card.roll)
    return None if card.roll is None else CallNumbers(rolled=card.roll)


def _kick_numbers(game: GameState, play: CardPlay, result: PlayResult, params: Params) -> CallNumbers:
    """Return a kick's length and landing; a blocked one has none, and one that is out of bounds or dead may not."""
    shown = card_result(play)
    landing = None
    if shown.yards is not None:
        own = landing_yd(game, play, params)
        x_yd = game.board_x_yd(game.length_yd - own if is_kickoff(game, play) else own)
        landing = (x_yd, game.width_yd / 2)
    length = None if shown.yards is None else float(shown.yards)
    return CallNumbers(kick_yd=length, landing_yd=landing, return_yd=_return_yd(result), rolled=play.card.roll)


def _return_yd(result: PlayResult) -> float | None:
    return None if result.start_yd is None or result.end_yd is None else result.end_yd - result.start_yd


def _penalty_numbers(game: GameState, result: PlayResult) -> CallNumbers | None:
    if result.yards is None:
        return None
    spots_yd = result.enforced_yd
    if spots_yd is None and result.spot_yd is not None:
        spots_yd = (game.line_yd, result.spot_yd)
    if spots_yd is None:
        return CallNumbers(penalty_yd=result.yards)
    from_yd, to_yd = (game.board_x_yd(own) for own in spots_yd)
    return CallNumbers(penalty_yd=result.yards, enforced_from_yd=from_yd, enforced_to_yd=to_yd)
