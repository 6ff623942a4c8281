"""NFL Strategy's game state: its clock in lines, and the card play under way with the input it still waits for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from downfield.core.records import record
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.enforcement import walk_off
from downfield.officiating.declarations import Choice, FoulDeclared, Side
from downfield.officiating.params import Params
from downfield.officiating.rulebooks.nfl_strategy.clock import LineClock, after_play
from downfield.officiating.rulebooks.nfl_strategy.tables import (
    CardResult,
    fumble_end,
    interception_end,
    read_card_result,
    review_refusal,
)
from downfield.officiating.state.game_state import GameState, PendingInput, SystemState, opponent
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed

KICKOFFS: Final = frozenset({"kickoff", "onside"})
PUNTS: Final = frozenset({"punt", "touch_punt"})
TRIES: Final = frozenset({"extra_point", "two_point"})
KICKOFF_PENALTY: Final = "kickoff_penalty_"
"""Prefix of the notes of yards against a side that are walked off at the next kickoff (NFLS-078)."""
KICKS_MADE: Final = "kicks_made"  # note of how many times this kickoff was kicked, when it has to be kicked again
NO_GAIN: Final = CardResult(0, "gain")


@record
class CardPlay:
    """A card play under way."""

    card: CardPlayed  # as declared, its windows read
    running: bool = False  # whether the clock ran before it
    hurry_up: bool = False  # whether the offense hurried
    flagged: bool = False  # whether its first roll, or its return's, brought a penalty
    back: ReturnPlayed | None = None  # the return of a kick
    recovered: Literal["offense", "defense"] | None = None  # who recovered a fumble, as seen by who had the ball
    onside: bool | None = None  # whether the kickers recovered an onside kick
    run_back: bool | None = None  # whether a fumble recovery or interception was returned for a touchdown
    # the state of reviewing an interception; empty while none was requested
    review: Literal["", "requested", "waived", "upheld", "overturned"] = ""
    foul: FoulDeclared | None = None  # its penalty, as the penalty card says; None until it is declared
    accepted: bool | None = None  # whether the offended side takes it
    again: bool = False  # whether it has the kickoff kicked again instead


@record
class CardGame(SystemState):
    """NFL Strategy's part of the game state."""

    lines: LineClock  # the game clock, counted in lines
    play: CardPlay | None = None  # the card play under way, None between plays


@dataclass(frozen=True, slots=True)
class PlayResult:
    """Result of a finished play."""

    kind: CallKind  # the call's kind
    text: str  # the call's text
    clauses: tuple[str, ...]
    spot_yd: float | None = None  # the ball's next place, in the offense's yards; None when the call has it
    side: Side | None = None  # the side that gets the ball, or the points
    detail: str = ""  # the outcome within the kind
    start_yd: float | None = None  # where a return began, in the frame of the side that ran it; None without one
    end_yd: float | None = None  # where it ended, same frame
    dead_kick: bool = False  # whether a kickoff went out of bounds or was a touchback
    yards: int | None = None  # the penalty's yards
    # where a penalty was walked off from and to, in the offense's own yards, where that is not from the line of
    # scrimmage to its spot
    enforced_yd: tuple[float, float] | None = None


def card_game(game: GameState) -> CardGame:
    """Return NFL Strategy's part of the state. Raises TypeError: the game is played under another rulebook."""
    if not isinstance(game.system, CardGame):
        raise TypeError(f"NFL Strategy's state expected, not {type(game.system).__name__}")
    return game.system


def with_play(game: GameState, play: CardPlay | None) -> GameState:
    """Return the game with this card play under way."""
    return replace(game, system=replace(card_game(game), play=play))


def with_lines(game: GameState, lines: LineClock) -> GameState:
    """Return the game with its clock set to these lines."""
    return replace(game, system=replace(card_game(game), lines=lines))


def touchdown(game: GameState, side: Side, clauses: tuple[str, ...]) -> PlayResult:
    """Return the result of a touchdown."""
    return PlayResult("touchdown", f"touchdown, {game.team(side).name}", clauses, side=side)


def card_result(play: CardPlay) -> CardResult:
    """Return the result of a play; no gain for a kneel or a spike, which have none."""
    return NO_GAIN if play.card.kind in {"kneel", "spike"} else read_card_result(play.card.shown)


def is_kickoff(game: GameState, play: CardPlay) -> bool:
    """Return whether the play is a kickoff or a free kick: the state's offense receives it."""
    return play.card.kind in KICKOFFS or game.due == "free_kick"


def kick_from_yd(game: GameState, params: Params) -> float:
    """Return where a kickoff or free kick is kicked from, in the kickers' own yards, carried penalties included.

    They are walked off one after another, each at most half the distance from where the one before left the ball
    (NFLS-078). A free kick after a safety is from the 20 (NFLS-042).
    """
    from_yd = downs.kick_from_yd(game, params)
    own_fouls = f"{KICKOFF_PENALTY}{game.kicking or game.defense}"
    for name, yards in game.notes:
        if name.startswith(KICKOFF_PENALTY):
            toward = -yards if name.startswith(own_fouls) else yards
            from_yd = walk_off(from_yd, toward, length_yd=game.length_yd, whole=True)
    return from_yd


def with_kickoff_penalty(game: GameState, by: Side, yards: float) -> GameState:
    """Return the game with one more penalty of a side on its next kickoff or free kick, whoever kicks it."""
    before = sum(name.startswith(KICKOFF_PENALTY) for name, _ in game.notes)
    return game.with_note(f"{KICKOFF_PENALTY}{by}_{before}", yards)


def landing_yd(game: GameState, play: CardPlay, params: Params) -> float:
    """Return where a kick comes down, in the kickers' own yards; for a blocked one, where its return begins.

    Punts count from the line of scrimmage (NFLS-033). A blocked field goal is returned from five yards behind the line
    (NFLS-045), a blocked punt from ten (NFLS-046).
    """
    result = card_result(play)
    if is_kickoff(game, play):
        return kick_from_yd(game, params) + (result.yards or 0)
    if result.mark == "blocked":
        return game.line_yd - params.real("blocked.punt_yd" if play.card.kind in PUNTS else "blocked.kick_yd")
    return game.line_yd + (result.yards or 0)


def next_wait(game: GameState, play: CardPlay, params: Params) -> PendingInput | None:
    """Return the input that a play waits for next; None when everything is known.

    The play is settled first, then its penalty (NFLS-063). Kickoffs (NFLS-028) and touch punts still in play (NFLS-035)
    wait for a return; a penalty waits for any review (NFLS-064).
    """
    return _wait_for_ball(game, play, params) or _wait_for_penalty(game, play, params)


def _wait_for_ball(game: GameState, play: CardPlay, params: Params) -> PendingInput | None:
    result = card_result(play)
    if play.back is None and _is_returned(game, play, result, params):
        return PendingInput("roll", "return", by=game.offense if is_kickoff(game, play) else game.defense)
    back = None if play.back is None else read_card_result(play.back.shown)
    if play.card.kind == "onside" and back == CardResult(0, "fumble"):
        return PendingInput("coin", "onside", by=game.offense) if play.onside is None else None
    last = result if back is None else back
    if last.mark == "fumble":
        return _wait_for_recovery(game, play, last, params)
    return _wait_for_interception(game, play, result, params) if result.mark == "interception" else None


def _is_returned(game: GameState, play: CardPlay, result: CardResult, params: Params) -> bool:
    if result.mark == "blocked":
        return play.card.kind in {*PUNTS, "field_goal", "extra_point", "fair_catch_kick"}
    if result.mark != "gain":
        return False
    if is_kickoff(game, play) or play.card.kind in PUNTS:
        return landing_yd(game, play, params) < game.length_yd + game.end_zone_yd
    return False


def _wait_for_recovery(game: GameState, play: CardPlay, result: CardResult, params: Params) -> PendingInput | None:
    start = game.line_yd if play.back is None else game.length_yd - landing_yd(game, play, params)
    gain = float(result.yards or 0)
    if start + gain >= game.length_yd:
        return None
    # Who had it last: on a returned kick the returning side.
    holder = game.offense if is_kickoff(game, play) or play.back is None else game.defense
    if play.recovered is None:
        return PendingInput("roll", "fumble", by=holder)
    end = fumble_end(start, gain, play.recovered, game.length_yd)
    if end == "defense" and play.card.highlighted and play.run_back is None:
        return PendingInput("roll", "fumble_return", by=opponent(holder))
    return None


def _wait_for_interception(game: GameState, play: CardPlay, result: CardResult, params: Params) -> PendingInput | None:
    end = interception_end(game.line_yd, result.yards or 0, length_yd=game.length_yd, end_zone_yd=game.end_zone_yd)
    if end == "incomplete" or play.review == "overturned":
        return None
    if play.review == "requested":
        return PendingInput("roll", "review", by=game.offense)
    if play.review == "" and review_denied(game, play, params) is None:
        return PendingInput("choice", "review", ("accept",), by=game.offense)
    if end != "touchdown" and play.run_back is None:
        return PendingInput("roll", "interception_return", by=game.defense)
    return None


def review_denied(game: GameState, play: CardPlay, params: Params) -> str | None:
    """Return why the offense may not have an interception reviewed, None when it may."""
    overtime = game.period > params.count("clock.periods")
    allowed = params.count("review.per_overtime" if overtime else "review.per_game")
    used = game.note(f"reviews_{'overtime' if overtime else 'game'}_{game.offense}") or 0.0
    roll = play.card.roll if play.card.reroll is None else play.card.reroll
    time_outs = game.time_outs or (0, 0)
    # A review is asked for after the play, so the time that the play took is gone (NFLS-057).
    clock = replace(card_game(game).lines, running=play.running)
    left = after_play(clock, "try" if play.card.kind in TRIES else "ordinary", hurry_up=play.hurry_up).left
    # The half ends with the second and fourth period; in the first and third a whole period is still to come.
    to_come = 0 if overtime or game.period % 2 == 0 else params.count("clock.lines")
    seconds = (left + to_come) * params.real("clock.line_s")
    return review_refusal(roll or 0, int(allowed - used), time_outs[0 if game.offense == "home" else 1], seconds)


def _wait_for_penalty(game: GameState, play: CardPlay, params: Params) -> PendingInput | None:
    if not play.flagged:
        return None
    foul = play.foul
    if foul is None:
        return PendingInput("roll", "penalty", by=game.offense)
    if foul.automatic or foul.offsetting or play.accepted is not None:
        return None
    options: tuple[Choice, ...] = ("accept", "decline")
    if params.flag("kickoff.kick_again") and is_kickoff(game, play) and foul.by == game.defense:
        options = (*options, "kick_again")
    return PendingInput("choice", "penalty", options, by=opponent(foul.by))
