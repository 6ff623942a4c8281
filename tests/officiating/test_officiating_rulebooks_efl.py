"""The Gunderson EFL from declarations alone: play calls, kicks, the clock, overtime."""

from __future__ import annotations

from typing import Any

import pytest
from declared_game import DeclaredGame
from declared_game import kinds as kinds_of

from downfield.core.errors import RefusedError
from downfield.core.scene import Player
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    Carrier,
    Claim,
    ClockSet,
    Declaration,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    PassDeclared,
    PassEnded,
    PlayEnded,
    Roll,
    SetUp,
    Switch,
)
from downfield.officiating.events import Ruling
from downfield.officiating.sides import SIDES
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.unseen_declarations import OvertimeSetUp

# Declared


def game() -> DeclaredGame:
    table = DeclaredGame("efl")
    roster = (
        Player("dark-7", "dark", role="QB"),
        Player("dark-22", "dark", role="RB"),
        Player("dark-80", "dark", role="WR"),
        Player("dark-60", "dark", role="G"),
        Player("light-50", "light", role="LB"),
        Player("light-61", "light", role="T"),
    )
    table.declare(LineUpDeclared(roster, "dark"))
    return table


def snapped(carrier: str = "dark-7", **at: Any) -> DeclaredGame:
    table = game()
    table.at(at.pop("spot", 40), at.pop("down", 1), at.pop("distance", 10.0), **at)
    table.declare(Carrier(carrier), Switch(True))
    return table


def test_a_run_when_ahead_and_a_pass_when_behind() -> None:
    for score, carrier, told in (
        ((0, 0), "dark-22", False),
        ((0, 0), "dark-7", True),
        ((0, 7), "dark-7", False),
        ((0, 7), "dark-22", True),
    ):
        table = game().at(40, score=score)
        calls = table.declare(Carrier(carrier))
        assert bool(calls) is told
        assert all(call.verdict == "reported" and call.detail == "duty" for call in calls)


def test_three_attempts_to_complete_a_pass() -> None:
    table = snapped(score=(0, 7))
    for _ in range(2):
        calls = table.declare(PassDeclared("dark-80"), PassEnded("incomplete"))
        assert [call.verdict for call in calls] == ["reported"]
        assert table.state.phase is Phase.LIVE
    assert kinds_of(table.declare(PassDeclared("dark-80"), PassEnded("incomplete"))) == ["incomplete"]
    assert table.state.situation == "2nd & 10 at H 40"


def test_a_catch_and_an_interception_are_live() -> None:
    table = snapped(score=(0, 7))
    table.declare(PassDeclared("dark-80"))
    assert kinds_of(table.declare(PassEnded("complete"))) == ["reception"]
    assert (table.state.play.carrier, table.state.play.ball_side) == ("dark-80", "home")
    with pytest.raises(RefusedError, match="EFL-028"):
        table.declare(PassDeclared("dark-80"))
    table = snapped(score=(0, 7))
    table.declare(PassDeclared("dark-80"), PassEnded("intercepted", "light-50"))
    assert (table.state.play.carrier, table.state.play.ball_side, table.state.phase) == ("light-50", "away", Phase.LIVE)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (PassDeclared("dark-60"), "EFL-030"),
        (PassDeclared("light-50"), "does not play for"),
        (PassEnded("complete"), "no pass"),
    ],
)
def test_impossible_passes_are_refused(body: Declaration, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        snapped(score=(0, 7)).declare(body)


def test_a_runner_may_not_pass() -> None:
    with pytest.raises(RefusedError, match="EFL-028"):
        snapped("dark-22").declare(PassDeclared("dark-80"))


@pytest.mark.parametrize(("period", "left_s", "stops"), [(2, 299.0, True), (2, 301.0, False), (3, 100.0, False)])
def test_late_incompletions_stop_the_clock(period: int, left_s: float, stops: bool) -> None:
    table = snapped(score=(0, 7), period=period)
    table.declare(ClockSet(True, left_s + 6))
    table.declare(*(body for _ in range(3) for body in (PassDeclared("dark-80"), PassEnded("incomplete"))))
    assert table.state.clock.running is not stops


def test_field_goals_by_dice_and_by_envelope() -> None:
    table = game().at(70, 4, 5)
    assert table.declare(KickDeclared("field_goal")) == []
    assert kinds_of(table.declare(Roll((5, 1)))) == ["field_goal"]
    assert (table.state.score, table.state.due, table.state.kicking) == ((3, 0), "kickoff", "home")
    for how in (Roll((3, 6)), Roll((1, 1)), KickEnded("no_good"), KickEnded("blocked")):
        table = game().at(70, 4, 5)
        table.declare(KickDeclared("field_goal"), how)
        assert (table.state.offense, table.state.los_yd, table.state.down) == ("away", 70, 1), how


def test_a_field_goal_from_beyond_the_fifty_is_refused_and_a_wrong_play_call_reported() -> None:
    with pytest.raises(RefusedError, match="EFL-059"):
        game().at(49, 4, 5).declare(KickDeclared("field_goal"))
    calls = game().at(70, 2, 5).declare(KickDeclared("field_goal"))
    assert [call.detail for call in calls] == ["duty"]


def test_punts() -> None:
    for how, side, spot in (
        (Roll((4, 1)), "away", 71),
        (Roll((1, 2)), "away", 42),
        (Roll((1, 6)), "away", 14),
        (KickEnded("touched", 77, 20, "light-50"), "away", 77),
        (KickEnded("out_of_bounds", 66, 0), "away", 66),
        (KickEnded("blocked"), "away", 30),
    ):
        table = game().at(30, 4, 5)
        table.declare(KickDeclared("punt"), how)
        assert (table.state.offense, table.state.los_yd) == (side, spot), how
    table = game().at(50, 4, 5)
    assert kinds_of(table.declare(KickDeclared("punt"), Roll((5, 6)))) == ["touchback"]
    assert table.state.situation == "1st & 10 at A 20"
    table = game().at(14, 4, 5)
    assert kinds_of(table.declare(KickDeclared("punt"), Roll((1, 4)))) == ["safety"]


def test_kickoffs() -> None:
    for how, spot in (
        (Roll((1, 3)), 25),
        (Roll((2, 1)), 25),
        (Roll((4, 1)), 25),
        (Roll((3, 6)), 25),
        (KickEnded("out_of_bounds"), 25),
        (KickEnded("touched", 5, 26, "dark-80"), 25),
        (KickEnded("touched", 30, 26, "dark-80"), 30),
    ):
        table = game()
        table.declare(KickDeclared("kickoff"), how)
        assert (table.state.offense, table.state.progress_yd(table.state.los_yd)) == ("home", spot), how


def test_a_kick_that_touches_a_lineman_is_live() -> None:
    table = game()
    table.declare(KickDeclared("kickoff"))
    table.declare(KickEnded("touched", 48, 26, "dark-60"))
    assert (table.state.play.carrier, table.state.phase) == ("dark-60", Phase.STOPPED)


def test_onside_kicks_only_late_and_trailing() -> None:
    table = game()
    with pytest.raises(RefusedError, match="EFL-068"):
        table.declare(KickDeclared("onside"))


def test_time_outs() -> None:
    table = game().at(40, period=4)
    table.declare(ClockSet(True, 250))
    table.declare(Claim("time_out", "home"))
    assert (table.state.time_outs, table.state.clock.running) == ((1, 2), False)
    table.declare(Claim("time_out", "home"))
    with pytest.raises(RefusedError, match="EFL-048"):
        table.declare(Claim("time_out", "home"))
    with pytest.raises(RefusedError, match="EFL-049"):
        game().at(40, period=3).declare(ClockSet(True, 250), Claim("time_out", "home"))


def test_the_two_minute_time_out_is_charged_to_neither_team() -> None:
    table = game().at(40, period=2)
    calls = table.declare(ClockSet(True, 119))
    assert [call.clauses for call in calls] == [("EFL-047",)]
    assert not table.state.clock.running
    assert table.state.time_outs == (2, 2)
    assert table.declare(ClockSet(True, 100)) == []


def test_the_try_is_prescribed() -> None:
    table = snapped("dark-22", score=(0, 8), period=4, spot=90)
    table.declare(ClockSet(True, 200))
    state = touchdown(table)
    assert (state.due, state.los_yd, state.phase) == ("two_point", 98, Phase.LINE_UP)
    state = touchdown(snapped("dark-22", score=(0, 0), spot=90))
    assert state.wait is not None
    assert state.wait.purpose == "extra_point"


@pytest.mark.parametrize(("roll", "points"), [((2, 1), 1), ((1, 1), 0), ((6, 6), 1)])
def test_extra_points(roll: tuple[int, int], points: int) -> None:
    table = snapped("dark-22", spot=90)
    touchdown(table)
    assert kinds_of(table.declare(Roll(roll))) == ["extra_point"]
    assert table.state.score == (6 + points, 0)
    assert table.state.due == "kickoff"


def touchdown(table: DeclaredGame) -> GameState:
    call = Call("by hand", "touchdown", 0, "efl", (), "called", "touchdown", side="home")
    table.declare(Ruling("", "manual", call))
    return table.state


def test_quarters_halves_and_overtime() -> None:
    table = game().at(40, period=1)
    table.declare(ClockSet(False, 0))
    assert (table.state.period, table.state.clock.left_s) == (2, 900)
    table.at(40, period=2).declare(ClockSet(False, 0))
    assert (table.state.period, table.state.due) == (3, "kickoff")
    table.at(40, period=4, score=(7, 3))
    assert kinds_of(table.declare(ClockSet(False, 0)), reported=False) == ["period", "game_over"]
    table = game().at(40, period=4, score=(7, 7))
    table.declare(ClockSet(False, 0))
    state = table.state
    assert (state.period, state.clock.left_s, state.due, state.kicking) == (5, 600, "kickoff", "away")


def overtime() -> DeclaredGame:
    table = game().at(40, period=4, score=(7, 7))
    table.declare(ClockSet(False, 0), KickDeclared("kickoff"), KickEnded("out_of_bounds"))
    assert table.state.offense == "home"
    return table


def test_overtime_ends_by_its_clauses() -> None:
    table = overtime()
    assert touchdown(table).phase is Phase.OVER
    table = overtime()
    far = table.state
    table.declare(KickDeclared("punt"), Roll((6, 6)))
    assert table.state.phase is not Phase.OVER
    assert table.state.offense != far.offense


@pytest.mark.parametrize(("book", "own"), [("efl", 20), ("lions-den", 20), ("tap", 20), ("nfl-strategy", 20)])
def test_a_touchback_without_a_spot_comes_out_to_the_rulebooks_line(book: str, own: float) -> None:
    table = DeclaredGame(book).at(40)
    call = Call("by hand", "touchback", 0, book, (), "called", "touchback", side="away")
    table.declare(Ruling("", "manual", call))
    assert (table.state.offense, table.state.los_yd, table.state.direction) == ("away", 100 - own, -1)


def kicked_first() -> DeclaredGame:
    """Home has opened overtime with a field goal, and the visitors have the ball to answer it."""
    table = overtime()
    table.at(70, 4, 5, period=5, score=(7, 7), clock_s=500.0)
    table.declare(KickDeclared("field_goal"), Roll((6, 1)))
    assert (table.state.score, table.state.due) == ((10, 7), "kickoff")
    table.declare(KickDeclared("kickoff"), KickEnded("out_of_bounds"))
    assert (table.state.offense, table.state.phase) == ("away", Phase.BETWEEN_PLAYS)
    return table


def ends(table: DeclaredGame, **call: Any) -> GameState:
    table.declare(Ruling("", "manual", Call("by hand", t_ns=0, rulebook="efl", clauses=(), verdict="called", **call)))
    return table.state


def test_overtime_continues_after_an_opening_field_goal_until_it_is_answered() -> None:
    won = ends(kicked_first(), kind="touchdown", text="touchdown", side="away")
    assert (won.phase, won.score) == (Phase.OVER, (10, 13))
    lost = ends(kicked_first(), kind="turnover_on_downs", text="on downs", side="home")
    assert (lost.phase, lost.score) == (Phase.OVER, (10, 7))
    level = ends(kicked_first(), kind="field_goal", text="good", side="away", detail="good")
    assert (level.phase, level.score, level.due) == (Phase.BETWEEN_PLAYS, (10, 10), "kickoff")


@pytest.mark.parametrize("kicked", [False, True])
def test_a_ball_lost_and_won_back_in_one_down_has_ended_the_possession_that_was_to_answer(kicked: bool) -> None:
    table = kicked_first()
    if kicked:
        opened = OvertimeSetUp("home", 1, (3.0,))
        table.declare(
            SetUp("away", 1, due="kickoff", period=5, score=(10, 7), clock_s=400.0, overtime=opened),
            KickDeclared("kickoff"),
        )
        table.declare(*caught_live())
    for side in SIDES[: 1 if kicked else 2]:
        table.declare(PlayEnded("fumble", (60.0, 20.0)), PlayEnded("recovered", (60.0, 20.0), by=side))
        assert table.state.phase is not Phase.OVER
    table.declare(PlayEnded("tackle", (60.0, 20.0)))
    assert (table.state.phase, table.state.score, table.state.winner) == (Phase.OVER, (10, 7), "home")


def caught_live() -> list[Ruling]:
    """A kickoff in a returner's hands."""
    call = Call("live", "kick", 0, "efl", (), "called", "kick", (), (70.0, 20.0), side="away", detail="live")
    return [Ruling("", "manual", call)]
