"""Finishing a card play: its calls, its penalty, the clock in lines, the hash."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating.calls import Finding
from downfield.officiating.declarations import Hash
from downfield.officiating.engine.interfaces import Outcome, RuleContext
from downfield.officiating.engine.play_state import PlayState
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.nfl_strategy import tables
from downfield.officiating.rulebooks.nfl_strategy.card_play import CardPlay, card_game, with_lines, with_play
from downfield.officiating.rulebooks.nfl_strategy.clock import LineClock, after_play
from downfield.officiating.rulebooks.nfl_strategy.penalties import penalized
from downfield.officiating.rulebooks.nfl_strategy.results import Ended, clock_play, ended, stop_reasons
from downfield.officiating.rulebooks.nfl_strategy.steps import TRIES, by_kickoff, next_wait

CARDS: Final = "cards"
"""Rule id of what follows from cards and dice."""
HASH_YD: Final = 3.08
"""From the middle of the field to a hash row: a professional field's."""


def go_on(game: GameState, t_ns: int, context: RuleContext) -> Outcome:
    """Wait for what is missing, or finish the play."""
    play = card_game(game).play
    if play is None:
        return Outcome(game)
    wait = next_wait(game, play, context.params)
    if wait is not None:
        phase = Phase.PENDING_CHOICE if wait.kind == "choice" else Phase.PENDING_ROLL
        return Outcome(replace(game, phase=phase, wait=wait))
    return _finish(game, play, t_ns, context)


def _finish(game: GameState, play: CardPlay, t_ns: int, context: RuleContext) -> Outcome:
    params = context.params
    result = ended(game, play, params)
    outcomes: list[Ended] = [result]
    if play.foul is not None:
        both = penalized(game, play, play.foul, result, params.real("touchback.yd"))
        outcomes = [both.foul] if both.play is None else [both.play, both.foul]
    main = outcomes[0]
    play_kind = clock_play(play, result, game)
    reasons = stop_reasons(game, play, main)
    recovered = main.detail == "onside_recovered"
    lines = card_game(game).lines
    if play.running != lines.running:
        lines = replace(lines, running=play.running)
    after = after_play(lines, play_kind, reasons, hurry_up=play.hurry_up, onside_recovered=recovered)
    place = _hash_after(game, play, main)
    findings = [_finding(replace(game, hash=place), one, t_ns) for one in outcomes]
    tries = main.kind == "touchdown" and game.due not in TRIES
    game = _cleared(game, play, main, place)
    moved = clocked(game, after, context, try_to_come=tries)
    return Outcome(moved.state, (*findings, *moved.findings))


def _cleared(game: GameState, play: CardPlay, main: Ended, place: Hash) -> GameState:
    """The game without what lasted only for this play."""
    drop = {"hurry_up", "fair_catch"} | ({"kickoff_penalty_yd"} if by_kickoff(game, play) else set())
    notes = tuple(pair for pair in game.notes if pair[0] not in drop)
    if main.detail == "fair_catch":
        notes = (*notes, ("fair_catch", 1.0))
    return replace(
        with_play(game, None),
        phase=Phase.BETWEEN_PLAYS,
        wait=None,
        notes=notes,
        hash=place,
        play=PlayState(kind=game.due, ball_side=game.offense),
    )


def _hash_after(game: GameState, play: CardPlay, main: Ended) -> Hash:
    if play.card.dot is None or main.kind in {"touchdown", "safety", "touchback", "penalty"}:
        return game.hash if main.kind in {"incomplete", "penalty"} else "center"
    return tables.next_hash(play.card.dot)


def _finding(game: GameState, one: Ended, t_ns: int) -> Finding:
    spot = None
    if one.spot_yd is not None:
        spot = (game.board_x_yd(one.spot_yd), across_yd(game))
    reported = one.kind == "penalty" and one.detail in {"enforced", "declined"}
    return Finding(
        CARDS,
        one.kind,
        t_ns,
        one.text,
        one.clauses,
        key=f"{one.kind}@{t_ns}",
        spot_yd=spot,
        margin=None if one.yards is None else float(one.yards),
        unit="" if one.yards is None else "yd",
        side=one.side,
        detail=one.detail,
        reported=reported,
    )


def clocked(game: GameState, after: LineClock, context: RuleContext, *, try_to_come: bool = False) -> Outcome:
    """The game with its clock moved, and what that brings: the warning, the end of a period."""
    before = card_game(game).lines
    game = with_lines(game, after)
    found: list[Finding] = []
    if before.warning_at is not None and after.warning_at is None and not after.over:
        found.append(
            Finding(CARDS, "period", context.t_ns, "two-minute warning", ("NFLS-012",), "warning", detail="warning")
        )
    if after.over and not try_to_come:
        text = f"end of period {game.period}"
        found.append(Finding(CARDS, "period", context.t_ns, text, ("NFLS-011",), "end", detail="end"))
    return Outcome(game, tuple(found))


def across_yd(game: GameState) -> float:
    """Where the hash in force is, along y of the board; the left one is the upper, whoever has the ball."""
    offset = {"left": HASH_YD, "center": 0.0, "right": -HASH_YD}[game.hash]
    return game.width_yd / 2 + offset


def try_due(game: GameState, kind: str, context: RuleContext) -> GameState:
    """The game with a try chosen and ready to be played.

    One that a penalty has moved back is kicked by the card for its new spot (NFLS-036).
    """
    yards = context.params.real("two_point.from_yd" if kind == "two_point" else "extra_point.from_yd")
    spot = game.board_x_yd(game.length_yd - yards)
    goal = game.board_x_yd(game.length_yd)
    due = "two_point" if kind == "two_point" else "extra_point"
    return replace(
        game,
        phase=Phase.LINE_UP,
        wait=None,
        due=due,  # type: ignore[arg-type]
        los_yd=spot,
        to_gain_yd=goal,
        down=1,
        play=PlayState(kind=due, ball_side=game.offense),  # type: ignore[arg-type]
    )
