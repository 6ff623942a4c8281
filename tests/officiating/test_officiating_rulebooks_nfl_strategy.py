"""NFL Strategy end to end: downs, clock, fumbles and interceptions, from cards and dice to calls and score."""

from __future__ import annotations

from typing import Any

import pytest
from card_games import CardGameTable, run
from declared_game import kinds

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import ChoiceMade, Claim, Roll
from downfield.officiating.events import Ruling
from downfield.officiating.state.game_state import Phase
from downfield.officiating.unseen_declarations import CardPlayed

# Downs, hash, clock


def test_a_gain_moves_the_ball_the_down_the_hash_and_the_clock() -> None:
    table = CardGameTable().at(25)
    calls = table.declare(run("6", dot="black"))
    assert kinds(calls) == ["stopped"]
    assert table.state.situation == "2nd & 4 at H 31"
    assert table.state.hash == "left"
    assert table.state.lateral_yd is not None
    assert table.state.lateral_yd > table.state.width_yd / 2
    assert (table.lines, table.clock_runs) == (89, True)


def test_the_next_play_takes_four_lines() -> None:
    table = CardGameTable().at(25)
    table.declare(run("6"), run("2"))
    assert table.lines == 85
    assert table.state.down == 3


def test_the_clock_that_is_shown_moves_with_the_lines() -> None:
    table = CardGameTable().at(25)
    table.declare(run("6"))
    assert table.state.clock.left_s == 890.0
    table.declare(run("2"))
    assert table.state.clock.left_s == 850.0


def test_a_hurried_play_takes_two() -> None:
    table = CardGameTable().at(25).running()
    table.declare(ChoiceMade("hurry_up"), run("6"))
    assert table.lines == 88
    table.declare(run("1"))
    assert table.lines == 84


def test_a_first_down_and_a_turnover_on_downs() -> None:
    table = CardGameTable().at(25)
    assert kinds(table.declare(run("10"))) == ["stopped", "first_down"]
    assert table.state.situation == "1st & 10 at H 35"
    calls = CardGameTable().at(40, 4, 2).declare(run("1"))
    assert kinds(calls) == ["stopped", "turnover_on_downs"]


def test_a_first_down_that_is_struck_on_fourth_down_is_a_turnover_on_downs() -> None:
    table = CardGameTable().at(25, 4)
    table.declare(Ruling(table.declare(run("12"))[-1].id, "strike"))
    assert (table.state.offense, table.state.down) == ("away", 1)


@pytest.mark.parametrize(("down", "then"), [(1, 2), (3, 4)])
def test_a_first_down_that_is_struck_leaves_the_next_down_just_short_of_the_line(down: int, then: int) -> None:
    table = CardGameTable().at(25, down)
    first = table.declare(run("12"))[-1]
    table.declare(Ruling(first.id, "strike"))
    assert table.state.down == then
    assert table.state.distance_yd == pytest.approx(0.01)
    assert table.state.los_yd == pytest.approx(34.99)


def test_a_turnover_on_downs_stops_the_clock() -> None:
    table = CardGameTable().at(40, 4, 2).running()
    table.declare(run("1"))
    assert not table.clock_runs
    assert table.state.offense == "away"
    assert table.state.situation == "1st & 10 at H 41"


@pytest.mark.parametrize(("shown", "runs"), [("inc", False), ("5", True)])
def test_an_incompletion_stops_the_clock(shown: str, runs: bool) -> None:
    table = CardGameTable().at(25)
    table.declare(CardPlayed("pass", shown, roll=60))
    assert table.clock_runs is runs
    assert table.state.down == 2


def test_running_out_of_bounds_costs_five_and_stops_the_clock() -> None:
    table = CardGameTable().at(25).running()
    table.declare(run("9", dot="blue", ran_out=True))
    assert table.state.los_yd == 29
    assert (table.state.hash, table.clock_runs) == ("right", False)
    with pytest.raises(RefusedError, match="black or blue"):
        table.declare(run("9", dot="red", ran_out=True))


@pytest.mark.parametrize(("kind", "shown"), [("run", "10F"), ("pass", "inc"), ("pass", "9i"), ("punt", "40OB")])
def test_only_a_runner_with_the_ball_goes_out_of_bounds(kind: Any, shown: str) -> None:
    table = CardGameTable().at(40, 4)
    with pytest.raises(RefusedError, match="only a runner"):
        table.declare(CardPlayed(kind, shown, roll=60, dot="black", ran_out=True))


def test_a_gain_past_the_goal_line_is_a_touchdown() -> None:
    table = CardGameTable().at(95)
    assert kinds(table.declare(CardPlayed("pass", "30", roll=60))) == ["touchdown"]
    assert table.state.score == (6, 0)
    assert table.state.wait is not None
    assert table.state.wait.purpose == "try"


def test_a_loss_to_ones_own_goal_line_is_a_safety() -> None:
    table = CardGameTable().at(3)
    assert "safety" in kinds(table.declare(run("-3")))
    assert table.state.score == (0, 2)
    assert table.state.due == "free_kick"
    assert table.state.kicking == "home"


def test_kneeling() -> None:
    table = CardGameTable().at(50)
    table.declare(ChoiceMade("kneel"))
    assert (table.lines, table.clock_runs, table.state.down) == (90, True, 2)
    table.declare(ChoiceMade("kneel"))
    assert table.lines == 86


def test_spiking_once_a_half() -> None:
    table = CardGameTable().at(50).running()
    table.declare(ChoiceMade("spike"))
    assert (table.lines, table.clock_runs, table.state.down) == (90, False, 2)
    with pytest.raises(RefusedError, match="not running"):
        table.declare(ChoiceMade("spike"))
    table.running()
    with pytest.raises(RefusedError, match="NFLS-027"):
        table.declare(ChoiceMade("spike"))


def test_time_outs_are_three_a_half() -> None:
    table = CardGameTable().at(50)
    for left in (2, 1, 0):
        table.running().declare(Claim("time_out", "home"))
        assert not table.clock_runs
        assert table.state.time_outs == (left, 3)
    with pytest.raises(RefusedError, match="none left"):
        table.declare(Claim("time_out", "home"))


def test_the_two_minute_warning_and_the_half() -> None:
    table = CardGameTable().at(50, period=2, clock_s=130).running()
    calls = table.declare(run("3"))
    assert kinds(calls) == ["stopped", "period"]
    assert (table.lines, table.clock_runs) == (11, False)
    table.at(50, period=2, clock_s=20).running()
    calls = table.declare(ChoiceMade("let_run"))
    assert kinds(calls) == ["period"]
    assert table.state.period == 3
    assert table.state.due == "kickoff"
    assert table.lines == 90


def test_the_first_quarter_runs_into_the_second() -> None:
    table = CardGameTable().at(50, clock_s=10)
    table.declare(run("3"))
    assert (table.state.period, table.lines, table.clock_runs) == (2, 90, False)
    assert table.state.due == "scrimmage"
    assert table.state.down == 2


def test_a_game_ends_and_a_tied_one_continues_until_a_score() -> None:
    table = CardGameTable().at(50, period=4, clock_s=10, score=(7, 3))
    assert kinds(table.declare(run("3"))) == ["stopped", "period", "game_over"]
    assert table.state.phase is Phase.OVER
    table = CardGameTable().at(50, period=4, clock_s=10, score=(7, 7))
    table.declare(run("3"))
    assert table.state.period == 5
    table.declare(CardPlayed("kickoff", "TB"))
    assert table.state.due == "scrimmage"
    calls = table.declare(CardPlayed("field_goal", "good", roll=60))
    assert kinds(calls) == ["field_goal", "game_over"]
    assert table.state.phase is Phase.OVER


def test_a_touchdown_on_the_last_play_still_has_its_try() -> None:
    table = CardGameTable().at(95, period=4, clock_s=10, score=(0, 0))
    assert kinds(table.declare(run("5"))) == ["touchdown"]
    calls = table.declare(CardPlayed("extra_point", "good", roll=60))
    assert kinds(calls) == ["extra_point", "period", "game_over"]
    assert table.state.score == (7, 0)


# Fumbles and interceptions


@pytest.mark.parametrize(("roll", "side"), [(1, "away"), (40, "away"), (41, "home"), (100, "home")])
def test_a_fumble_is_recovered_by_the_roll(roll: int, side: str) -> None:
    table = CardGameTable().at(40).running()
    assert table.declare(run("5F")) == []
    assert table.state.phase is Phase.PENDING_ROLL
    assert kinds(table.declare(Roll((roll,), "fumble")))[0] == "fumble_recovery"
    assert table.state.offense == side
    assert table.state.los_yd == 45
    assert table.clock_runs is (side == "home")


def test_a_highlighted_fumble_may_be_returned() -> None:
    table = CardGameTable().at(40)
    table.declare(run("5F", highlighted=True, return_to=20), Roll((7,), "fumble"))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "fumble_return"
    assert kinds(table.declare(Roll((20,)))) == ["touchdown"]
    assert table.state.score == (0, 6)


def test_fumbles_at_the_goal_lines() -> None:
    table = CardGameTable().at(90)
    assert kinds(table.declare(run("10F"))) == ["touchdown"]
    table = CardGameTable().at(5)
    table.declare(run("-5F"))
    assert kinds(table.declare(Roll((80,)))) == ["safety"]
    table = CardGameTable().at(5)
    table.declare(run("-5F"))
    assert kinds(table.declare(Roll((8,)))) == ["touchdown"]
    assert table.state.score == (0, 6)


def intercepted(roll: int = 60, shown: str = "13i", spot: float = 40, **more: Any) -> CardGameTable:
    table = CardGameTable().at(spot, **more).running()
    table.declare(CardPlayed("pass", shown, roll=roll, return_to=12))
    return table


def test_an_interception_ends_where_the_number_says() -> None:
    table = intercepted()
    assert kinds(table.declare(Roll((13,), "interception_return"))) == ["interception"]
    assert (table.state.offense, table.state.los_yd, table.state.direction) == ("away", 53, -1)
    assert not table.clock_runs
    table = intercepted(shown="-17i")
    table.declare(Roll((13,)))
    assert table.state.los_yd == 23


def test_an_interception_in_or_past_the_end_zone() -> None:
    table = intercepted()
    assert kinds(table.declare(Roll((12,)))) == ["touchdown"]
    assert table.state.score == (0, 6)
    table = CardGameTable().at(90)
    assert kinds(table.declare(CardPlayed("pass", "20i", roll=60))) == ["incomplete"]
    table = intercepted(shown="15i", spot=90)
    assert kinds(table.declare(Roll((50,)))) == ["touchback"]
    assert table.state.situation == "1st & 10 at A 20"


def test_a_review_overturns_or_costs_a_time_out() -> None:
    table = intercepted(45)
    assert table.state.wait is not None
    assert table.state.wait.purpose == "review"
    table.declare(Claim("review", "home"))
    assert kinds(table.declare(Roll((41,), "review"))) == ["incomplete"]
    assert (table.state.down, table.state.time_outs, table.clock_runs) == (2, (3, 3), False)
    table = intercepted(45)
    table.declare(Claim("review", "home"), Roll((40,)), Roll((99,)))
    assert table.state.offense == "away"
    assert table.state.time_outs == (2, 3)


def test_a_review_may_be_waived_and_is_not_offered_for_other_rolls() -> None:
    table = intercepted(76)
    table.declare(ChoiceMade("accept"))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "interception_return"
    table = intercepted(52)
    with pytest.raises(RefusedError, match="NFLS-055"):
        table.declare(Claim("review", "home"))


def test_only_three_successful_reviews() -> None:
    table = CardGameTable()
    for _ in range(3):
        table.at(40).declare(CardPlayed("pass", "13i", roll=45), Claim("review", "home"), Roll((90,)))
    table.at(40).declare(CardPlayed("pass", "13i", roll=45))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "interception_return"
