"""Handlers of NFL Strategy's declarations: plays, returns, dice, penalties, choices, time-outs."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Finding
from downfield.officiating.consequences.declaration_handlers import AT_REST, body_of, refuse_unless
from downfield.officiating.consequences.rolls_and_choices import percentile
from downfield.officiating.declarations import ChoiceMade, Claim, Coin, FoulDeclared, Hash, Roll, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.nfl_strategy import tables
from downfield.officiating.rulebooks.nfl_strategy.clock import run_out_clock
from downfield.officiating.rulebooks.nfl_strategy.penalties import is_return
from downfield.officiating.rulebooks.nfl_strategy.play import (
    KICKOFFS,
    PUNTS,
    TRIES,
    CardPlay,
    card_game,
    card_result,
    review_denied,
    with_lines,
)
from downfield.officiating.rulebooks.nfl_strategy.results import CARDS, advance_play, move_clock, set_up_try
from downfield.officiating.rulebooks.nfl_strategy.tables import read_card_result
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import kind_by_card
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed, WindowResult

RUNS_OUT: Final = frozenset({"run", "pass", "two_point"})  # kinds of plays whose runner may go out of bounds

HIGHEST_ROLL: Final = 100
_COLORS: Final[dict[Hash, Literal["black", "red", "blue"]]] = {"left": "black", "center": "red", "right": "blue"}
"""The color of the results for each hash (NFLS-089)."""


def read_windows(card: CardPlayed, hash_: Hash) -> CardPlayed:
    """Return a card with the result and dot that its windows have for its roll; a card without windows as it is.

    Its second roll counts where it has one (NFLS-062), and the hash on which the ball lay before the play. Raises
    RefusedError: windows that no card can have, no roll to select one of them, or another result beside them.
    """
    if not card.windows:
        return card
    _check(card)
    number = card.roll if card.reroll is None else card.reroll
    if number is None:
        raise RefusedError("card: the windows need a roll")
    window = next((window for window in card.windows if number <= window.rolls_to), None)
    if window is None:
        raise RefusedError(f"card: no window is for a roll of {number}; the last ends at {card.windows[-1].rolls_to}")
    color = _COLORS[hash_]
    result: WindowResult = getattr(window, color)
    _require_same(card.shown, result.shown, f"for a roll of {number} the {color} result in the windows")
    _require_same(card.dot, result.dot, f"for a roll of {number} the {color} dot in the windows")
    return replace(card, shown=result.shown, dot=result.dot)


def _check(card: CardPlayed) -> None:
    if card.kind in {"kneel", "spike"}:
        raise RefusedError(f"{card.kind}: it is played without a card, so it has no windows")
    ends = [0, *(window.rolls_to for window in card.windows)]
    if any(low >= high for low, high in pairwise(ends)) or ends[-1] > HIGHEST_ROLL:
        shown = ", ".join(str(end) for end in ends[1:])
        raise RefusedError(f"card: each window must end at a higher roll than the one before, 1 to 100, not {shown}")
    for window in card.windows:
        for result in (window.black, window.red, window.blue):
            read_card_result(result.shown)


def _require_same(declared: str | None, read: str | None, what: str) -> None:
    if declared and declared.strip().casefold() != (read or "").strip().casefold():
        raise RefusedError(
            f"card: {what} is {read or 'none'}, not {declared}; leave it out to take it from the windows"
        )


def declare_card(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a play read off the cards, both revealed (NFLS-087) and the dice rolled (NFLS-062, NFLS-088)."""
    return _start_play(game, body_of(event, CardPlayed), event.t_ns, context)


def _start_play(game: GameState, card: CardPlayed, t_ns: int, context: RuleContext) -> Outcome:
    trying = game.wait is not None and game.wait.purpose == "try" and card.kind in TRIES
    refuse_unless(game.phase in AT_REST or trying, card.kind.replace("_", " "), game)
    game = _require_card_allowed(set_up_try(game, card.kind, context) if trying else game, card)
    flagged = brings_penalty(card.roll, card.reroll, can=card.kind not in {*KICKOFFS, *PUNTS})
    card = read_windows(card, game.hash)
    play = CardPlay(card, card_game(game).lines.running, game.note("hurry_up") is not None, flagged)
    result = card_result(play)  # refuses results that are on no card
    if card.ran_out:
        if result.mark != "gain" or card.kind not in RUNS_OUT:
            raise RefusedError("out of bounds: only a runner with the ball, after a run or a caught pass (NFLS-026)")
        tables.gain_out_of_bounds(0.0, card.dot or "red")  # refuses plays that end in the middle of the field
    kind = kind_by_card(card.kind, game.due)
    under_way = replace(game.play, kind=kind, pass_attempts=int(card.kind == "pass"))
    return advance_play(replace(game, play=under_way), play, t_ns, context)


def declare_return(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the return of a kick."""
    body = body_of(event, ReturnPlayed)
    play = _play_waiting_for(game, "return")
    if tables.read_card_result(body.shown).mark not in {"gain", "fumble"}:
        raise RefusedError(f"return: enter yards, followed by F for a fumble, not {body.shown!r}")
    can = card_result(play).mark != "blocked" and play.card.kind != "onside"
    flagged = brings_penalty(body.roll, body.reroll, can=can)
    return advance_play(game, replace(play, back=body, flagged=flagged), event.t_ns, context)


def roll_fumble(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the roll for the side that recovers a fumble (NFLS-047)."""
    by_defense = percentile(roll.dice, "fumble") <= tables.FUMBLE_DEFENSE_TO
    play = replace(_play_under_way(game), recovered="defense" if by_defense else "offense")
    return advance_play(game, play, context.t_ns, context)


def roll_run_back(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the roll for returning a fumble recovery or interception for a touchdown (NFLS-050, NFLS-054)."""
    play = _play_under_way(game)
    run_back = percentile(roll.dice, "return") <= play.card.return_to
    return advance_play(game, replace(play, run_back=run_back), context.t_ns, context)


def roll_review(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the roll for whether the interception stands (NFLS-059, NFLS-060)."""
    play, side = _play_under_way(game), game.offense
    if percentile(roll.dice, "review") <= tables.REVIEW_UPHELD_TO:
        return advance_play(_spend_time_out(game, side), replace(play, review="upheld"), context.t_ns, context)
    name = f"reviews_{'overtime' if game.period > context.params.count('clock.periods') else 'game'}_{side}"
    game = game.with_note(name, (game.note(name) or 0.0) + 1)
    return advance_play(game, replace(play, review="overturned"), context.t_ns, context)


def refuse_bare_dice(game: GameState, _roll: Roll, _context: RuleContext) -> Outcome:
    """Refuse bare dice where the game waits for the return or foul that they select on a card."""
    play = card_game(game).play
    name = play.card.kind.replace("_", " ") if play else "play"
    raise RefusedError(f"roll: look the number up on the {name}'s card, then declare the return or the foul")


def flip_onside(game: GameState, coin: Coin, context: RuleContext) -> Outcome:
    """Handle the coin for an onside kick returned "0F" (NFLS-032)."""
    play = replace(_play_under_way(game), onside=coin.heads)
    return advance_play(game, play, context.t_ns, context)


def declare_foul(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a foul from the penalty card."""
    foul = body_of(event, FoulDeclared)
    play = _play_waiting_for(game, "penalty")
    if foul.offsetting and (foul.yards or foul.automatic or foul.on_kicker or foul.first_down or foul.loss_of_down):
        raise RefusedError("foul: offsetting fouls have no yards and nothing else; leave them out")
    if foul.yards <= 0 and not foul.offsetting:
        raise RefusedError(f"foul: the yards must be positive, not {foul.yards}")
    if foul.on_kicker and (play.card.kind not in PUNTS or foul.by != game.defense):
        raise RefusedError("foul: only the receivers of a punt can run into the kicker (NFLS-073)")
    if not foul.on_kicker and foul.automatic and is_return(game, play):
        raise RefusedError("foul: an auto-5 stops a play before it starts, and this one has a return")
    return advance_play(game, replace(play, foul=foul), event.t_ns, context)


def choose_try(game: GameState, choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the choice of try after a touchdown."""
    return Outcome(set_up_try(game, choice.choice, context))


def waive_review(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Accept the interception without a review."""
    return advance_play(game, replace(_play_under_way(game), review="waived"), context.t_ns, context)


def choose_penalty(game: GameState, choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the offended side's choice of the penalty or the play (NFLS-064: after any review)."""
    taken = choice.choice in {"accept", "kick_again"}
    play = replace(_play_under_way(game), accepted=taken, again=choice.choice == "kick_again")
    return advance_play(game, play, context.t_ns, context)


def hurry_up(game: GameState, _choice: ChoiceMade, _context: RuleContext) -> Outcome:
    """Handle a hurry-up call for the next play (NFLS-015)."""
    refuse_unless(game.phase in AT_REST and game.due == "scrimmage", "hurry-up", game)
    return Outcome(game.with_note("hurry_up", 1.0))


def let_clock_run(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the offense's letting the last lines run out (NFLS-024)."""
    refuse_unless(game.phase in AT_REST, "let the clock run", game)
    return move_clock(game, run_out_clock(card_game(game).lines), context)


def kneel(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle a kneel-down."""
    return _start_play(game, CardPlayed("kneel"), context.t_ns, context)


def spike_ball(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle a spike."""
    return _start_play(game, CardPlayed("spike"), context.t_ns, context)


def handle_claim(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a time-out, or a request to review an interception."""
    claim = body_of(event, Claim)
    if claim.claim == "time_out":
        return _take_time_out(game, claim.by)
    if claim.claim != "review":
        raise RefusedError(f"{claim.claim.replace('_', ' ')}: this rulebook has no such claim")
    play = card_game(game).play
    if game.wait is None or game.wait.purpose != "review" or play is None:
        reason = review_denied(game, play, context.params) if play else None
        raise RefusedError(f"review: {reason or 'there is no interception to review now'}")
    if claim.by != game.offense:
        raise RefusedError("review: only the offense may request one (NFLS-055)")
    return advance_play(game, replace(play, review="requested"), event.t_ns, context)


def _take_time_out(game: GameState, by: Side) -> Outcome:
    between_plays = game.phase in AT_REST or (game.wait is not None and card_game(game).play is None)
    refuse_unless(between_plays, "time-out", game)
    left = (game.time_outs or (0, 0))[0 if by == "home" else 1]
    if left < 1:
        raise RefusedError(f"time-out: {game.team(by).name} has none left")
    game = _spend_time_out(game, by)
    game = with_lines(game, replace(card_game(game).lines, running=False))
    text = f"time-out, {game.team(by).name}"
    found = Finding(CARDS, "timing", game.now_ns, text, ("NFLS-010",), side=by, detail="time_out", reported=True)
    return Outcome(game, (found,))


def _spend_time_out(game: GameState, by: Side) -> GameState:
    home, away = game.time_outs or (0, 0)
    left = (max(0, home - 1), away) if by == "home" else (home, max(0, away - 1))
    return replace(game, time_outs=left)


def _require_card_allowed(game: GameState, card: CardPlayed) -> GameState:
    """Return the game before this play; refuses a card that does not fit the play that is due (NFLS-034, 084, 085)."""
    kind = card.kind
    fits = {
        "kickoff": kind in KICKOFFS,
        "free_kick": kind in {*KICKOFFS, "punt"},
        "extra_point": kind == "extra_point",
        "two_point": kind == "two_point",
    }.get(game.due, kind not in {*KICKOFFS, *TRIES})
    if not fits:
        raise RefusedError(f"{kind.replace('_', ' ')}: a {game.due.replace('_', ' ')} is due")
    if kind == "fair_catch_kick" and game.note("fair_catch") is None:
        raise RefusedError("free kick: only right after a fair catch (NFLS-043)")
    refusal = tables.play_refusal("Touch Punt" if kind == "touch_punt" else card.play, game.line_yd, game.length_yd)
    if refusal and kind not in KICKOFFS:
        raise RefusedError(refusal)
    if tables.card_name(card.defense) == "short yardage" and not tables.is_short_yardage_allowed(
        game.down, game.distance_yd, game.line_yd, game.length_yd
    ):
        raise RefusedError("short yardage: only on 3rd or 4th and 2 or less, or on the 3 or closer (NFLS-085)")
    if kind in {"kneel", "spike"} and card.shown:
        raise RefusedError(f"{kind}: it is played without a card, so it has no result {card.shown!r} (NFLS-014)")
    if kind != "spike":
        return game
    if not card_game(game).lines.running:
        raise RefusedError("spike: the clock is not running (NFLS-017)")
    name = f"spiked_{game.offense}"
    if game.note(name) is not None:
        raise RefusedError(f"spike: {game.team(game.offense).name} has already spiked the ball in this half (NFLS-027)")
    return game.with_note(name, 1.0)


def brings_penalty(roll: int | None, reroll: int | None, *, can: bool) -> bool:
    """Return whether a roll brings a penalty, if its play can have one (NFLS-061, 065..069).

    Refuses a missing or superfluous second roll (NFLS-062).
    """
    for number in (roll, reroll):
        if number is not None:
            percentile((number,), "roll")
    flagged = can and roll in tables.PENALTY_ROLLS
    if flagged and reroll is None:
        raise RefusedError(f"roll: {roll} brings a penalty; roll again for the play's result (NFLS-061)")
    if reroll is not None and not flagged:
        raise RefusedError(f"roll: {roll} brings no penalty here, so there is no second roll (NFLS-061)")
    return flagged


def _play_under_way(game: GameState) -> CardPlay:
    play = card_game(game).play
    if play is None:
        raise RefusedError("no play is under way")
    return play


def _play_waiting_for(game: GameState, purpose: str) -> CardPlay:
    """Return the play under way, if it waits for this. Raises RefusedError: it does not."""
    play = card_game(game).play
    if play is None or game.wait is None or game.wait.purpose != purpose:
        reason = f"waiting for {game.wait.purpose.replace('_', ' ')}" if game.wait else "no play is under way"
        raise RefusedError(f"{purpose.replace('_', ' ')}: {reason}")
    return play
