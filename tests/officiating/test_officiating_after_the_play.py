"""What follows a play: the rolls after a Lion's Den down, and the end of a period whose time is up, once each."""

from __future__ import annotations

from typing import Any

import pytest
from declared_game import DeclaredGame, kinds
from ended_plays import NO_PENALTY, table, waits_for
from scripted_plays import ScriptedFigure, event, film, in_order, opening, runs, stands

from downfield.core.errors import RefusedError
from downfield.core.field.model import load_field
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Claim,
    ClockSet,
    KickDeclared,
    KickEnded,
    PassDeclared,
    PassEnded,
    PlayEnded,
    Roll,
    Switch,
)
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.events import Event, Ruling, Undo
from downfield.officiating.rulebooks.lions_den.skilled_players import quarterback_string
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.state.game_state import Phase

HOLDING_BY_OFFENSE = Roll((0, 7, 8))


def by_hand(kind: CallKind, **more: Any) -> Ruling:
    return Ruling("", "manual", Call("by hand", kind, 0, "", (), "called", kind, **more))


# The rolls after a down


@pytest.mark.parametrize(
    ("x_yd", "kind", "side", "then"), [(0.5, "safety", "away", ""), (99.5, "touchdown", "home", "extra_point")]
)
def test_points_ruled_after_the_rolls_of_their_down_roll_nothing_again(
    x_yd: float, kind: CallKind, side: str, then: str
) -> None:
    game = table("lions-den", spot_yd=50.0)
    game.declare(PlayEnded("tackle", (x_yd, 20.0)), NO_PENALTY, by_hand(kind, side=side))
    assert waits_for(game) == then
    assert sum(game.state.score) > 0


@pytest.mark.parametrize(("dice", "score"), [((NO_PENALTY,), (0, 2)), ((HOLDING_BY_OFFENSE, "accept"), (0, 0))])
def test_points_ruled_before_the_rolls_of_their_down_leave_them_to_be_rolled(
    dice: tuple[Any, ...], score: tuple[int, int]
) -> None:
    """A foul is enforced from before the down, whatever the down came to be worth."""
    game = table("lions-den", spot_yd=20.0)
    game.declare(PlayEnded("tackle", (0.5, 20.0)), by_hand("safety", side="away"))
    assert waits_for(game) == "penalty"
    game.declare(*(ChoiceMade(step) if step == "accept" else step for step in dice))
    assert (game.state.score, waits_for(game)) == (score, "")


def test_a_choice_about_the_last_down_outlasts_a_ruling_about_it() -> None:
    game = table("lions-den", spot_yd=20.0)
    game.declare(PlayEnded("tackle", (0.5, 20.0)), HOLDING_BY_OFFENSE, by_hand("safety", side="away"))
    assert game.state.phase is Phase.PENDING_CHOICE
    game.declare(ChoiceMade("decline"))
    assert (game.state.score, game.state.due) == ((0, 2), "free_kick")


def test_a_tackle_overturned_into_a_safety_keeps_the_dice_that_were_rolled() -> None:
    game = table("lions-den", spot_yd=5.0)
    tackle = next(call for call in game.declare(PlayEnded("tackle", (0.5, 20.0))) if call.kind == "tackle")
    game.declare(NO_PENALTY)
    safety = Call("x", "safety", tackle.t_ns, "", (), "called", "safety", side="away")
    game.declare(Ruling(tackle.id, "overturn", safety))
    assert (waits_for(game), game.state.due, game.game.refused) == ("", "free_kick", ())


def test_two_downs_ruled_without_their_time_are_two_downs() -> None:
    game = table("lions-den", spot_yd=40.0)
    tackles = [by_hand("tackle", players=("dark-22",), spot_yd=(x_yd, 26.0)) for x_yd in (42.0, 44.0)]
    game.declare(Carrier("dark-22"), tackles[0], NO_PENALTY, Carrier("dark-22"), tackles[1])
    assert waits_for(game) == "penalty"


def test_an_undone_penalty_roll_is_rolled_again() -> None:
    game = table("lions-den", spot_yd=40.0)
    game.declare(PlayEnded("tackle", (45.0, 20.0)))
    rolled = f"e{next(game._count)}"
    game.game.apply(event(rolled, 100.0, HOLDING_BY_OFFENSE))
    game.game.apply(Event("undo", 101_000_000_000, "operator", Undo(rolled)))
    assert waits_for(game) == "penalty"


# Quarterbacks


def sack(game: DeclaredGame, *rolls: tuple[int, ...]) -> int:
    """Sack the passer, roll for him and return the string of the quarterback who plays on."""
    game.declare(PlayEnded("sack", (game.state.los_yd - 0.5, 20.0)))
    assert waits_for(game) == "injury"  # though nobody named the carrier
    game.declare(*(Roll(dice) for dice in rolls), NO_PENALTY)
    return quarterback_string(game.state, "home")


WINDED, OUT, UNHURT = ((9,), (10, 10)), ((10,), (3,)), ((1,),)


@pytest.mark.parametrize(
    ("injuries", "strings"),
    [
        ((UNHURT, WINDED), [1, 2]),
        ((OUT, OUT), [2, 3]),
        ((WINDED, OUT), [2, 3]),
        ((WINDED, WINDED), [2, 3]),
        ((WINDED, OUT, OUT), [2, 3, 1]),
    ],
)
def test_an_injury_to_one_quarterback_does_not_heal_another(
    injuries: tuple[tuple[tuple[int, ...], ...], ...], strings: list[int]
) -> None:
    game = table("lions-den", spot_yd=40.0)
    assert [sack(game, *rolls) for rolls in injuries] == strings


def test_a_winded_quarterback_returns_after_his_downs_and_an_injured_one_does_not() -> None:
    game = table("lions-den", spot_yd=40.0, distance_yd=0)
    sack(game, (9,), (1, 1))
    assert sack(game, *OUT) == 3
    game.declare(PlayEnded("incomplete"), NO_PENALTY)
    assert quarterback_string(game.state, "home") == 1


# Time is up


@pytest.mark.parametrize("book", ["efl", "lions-den"])
def test_a_period_ends_with_the_play_during_which_its_time_ran_out(book: str) -> None:
    game = table(book, spot_yd=40.0, clock_s=5.0, opening_kicker="away")
    game.declare(Carrier("dark-22"), Switch(True), ClockSet(False, 0.0))
    assert game.state.period == 1  # the play goes on
    calls = game.declare(PlayEnded("tackle", (45.0, 20.0)), *((NO_PENALTY,) if book == "lions-den" else ()))
    assert (game.state.period, "period" in kinds(calls)) == (2, True)


def test_a_try_follows_a_touchdown_in_the_last_second_and_no_kickoff_does() -> None:
    game = table("efl", spot_yd=95.0, distance_yd=0, period=4, clock_s=5.0)
    game.declare(Carrier("dark-22"), Switch(True), ClockSet(False, 0.0), PlayEnded("touchdown"))
    assert waits_for(game) == "extra_point"
    game.declare(Roll((6, 1)))
    assert game.state.phase is Phase.OVER


@pytest.mark.parametrize("book", ["efl", "lions-den"])
def test_time_that_runs_out_between_plays_ends_the_period_in_place_of_the_next_play(book: str) -> None:
    for going_on in (Carrier("dark-22"), KickDeclared("punt")):
        game = table(book, spot_yd=40.0, down=4, clock_s=0.5)
        game.declare(ClockSet(True), going_on)
        assert (game.state.period, game.state.wait) == (2, None)


def test_a_foul_in_the_last_play_of_a_tap_game_may_still_be_claimed() -> None:
    """Only who goes on to the next play ends it."""
    game = table("tap", spot_yd=40.0, clock_s=5.0, score=(3, 0))
    game.declare(Carrier("dark-7"), Switch(True), Switch(False), PassDeclared("dark-80"), ClockSet(False, 0.0))
    game.declare(PassEnded("incomplete"))
    (claimed,) = game.declare(Claim("offensive_pass_interference", "away"))
    assert (claimed.verdict, game.state.phase) == ("proposed", Phase.BETWEEN_PLAYS)
    assert "game_over" in kinds(game.declare(Carrier("dark-22")))


def test_a_tap_run_in_the_last_second_ends_the_game() -> None:
    game = table("tap", spot_yd=40.0, clock_s=5.0, score=(3, 0))
    game.declare(Carrier("dark-22"), Switch(True), ClockSet(False, 0.0), PlayEnded("tackle", (45.0, 20.0)))
    assert game.state.phase is Phase.OVER


def test_a_tackle_that_the_camera_sees_after_time_ran_out_ends_the_quarter() -> None:
    men = [ScriptedFigure("dark-22", runs(41), "RB"), ScriptedFigure("light-50", stands(50), "LB")]
    play = film(men, 3.0)
    declared = [event(f"e{n}", t_s, body) for n, (t_s, body) in enumerate(opening(play, "dark-22"))]
    game = JudgedGame(load_rulebook("efl"), load_field("ultimate"))
    for entry in in_order(play, [*declared, event("clock", 0.8, ClockSet(False, 0.0))]):
        game.apply(entry)
    assert [call.kind for call in game.calls if call.kind in {"tackle", "period"}] == ["tackle", "period"]
    assert game.state.period == 2


# Kicks and runners that can't be


def test_a_kickoff_is_not_blocked() -> None:
    game = table("efl", due="kickoff")
    game.declare(KickDeclared("kickoff"))
    with pytest.raises(RefusedError, match="touched or out of bounds"):
        game.declare(KickEnded("blocked", 40.0, 20.0))
