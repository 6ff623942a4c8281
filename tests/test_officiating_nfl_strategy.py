"""NFL Strategy end to end: cards, dice and choices in, calls, downs, score and clock out."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from declared_game import DeclaredGame, kinds
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.calibration.errors import RefusedError
from downfield.officiating.card_declarations import CardKind, CardPlayed, ReturnPlayed
from downfield.officiating.declarations import (
    ChoiceMade,
    Claim,
    ClockSet,
    Coin,
    Declaration,
    Foul,
    Roll,
)
from downfield.officiating.state import Phase


class Table(DeclaredGame):
    """A game of cards."""

    def __init__(self) -> None:
        super().__init__("nfl-strategy")

    def at(self, spot: float, down: int = 1, distance: float = 10.0, **more: Any) -> Table:
        super().at(spot, down, distance, **more)
        return self

    def running(self, running: bool = True) -> Table:
        self.say(ClockSet(running))
        return self

    @property
    def lines(self) -> int:
        assert self.state.lines is not None
        return self.state.lines.left

    @property
    def runs(self) -> bool:
        assert self.state.lines is not None
        return self.state.lines.running


def run(shown: str, **more: Any) -> CardPlayed:
    return CardPlayed("run", shown, **{"roll": 60, **more})


# Downs, hash, clock


def test_a_gain_moves_ball_down_hash_and_clock() -> None:
    table = Table().at(25)
    calls = table.say(run("6", dot="black"))
    assert kinds(calls) == ["stopped"]
    assert table.state.situation == "2nd & 4 at H 31"
    assert table.state.hash == "left"
    assert table.state.lateral_yd is not None
    assert table.state.lateral_yd > table.state.width_yd / 2
    assert (table.lines, table.runs) == (89, True)


def test_the_next_play_takes_four_lines() -> None:
    table = Table().at(25)
    table.say(run("6"), run("2"))
    assert table.lines == 85
    assert table.state.down == 3


def test_a_hurried_play_takes_two() -> None:
    table = Table().at(25).running()
    table.say(ChoiceMade("hurry_up"), run("6"))
    assert table.lines == 88
    table.say(run("1"))
    assert table.lines == 84


def test_a_first_down_and_a_turnover_on_downs() -> None:
    table = Table().at(25)
    assert kinds(table.say(run("10"))) == ["stopped", "first_down"]
    assert table.state.situation == "1st & 10 at H 35"
    calls = Table().at(40, 4, 2).say(run("1"))
    assert kinds(calls) == ["stopped", "turnover_on_downs"]


def test_a_turnover_on_downs_stops_the_clock() -> None:
    table = Table().at(40, 4, 2).running()
    table.say(run("1"))
    assert not table.runs
    assert table.state.offence == "away"
    assert table.state.situation == "1st & 10 at H 41"


@pytest.mark.parametrize(("shown", "runs"), [("inc", False), ("5", True)])
def test_an_incompletion_stops_the_clock(shown: str, runs: bool) -> None:
    table = Table().at(25)
    table.say(CardPlayed("pass", shown, roll=60))
    assert table.runs is runs
    assert table.state.down == 2


def test_running_out_of_bounds_costs_five_and_stops_the_clock() -> None:
    table = Table().at(25).running()
    table.say(run("9", dot="blue", ran_out=True))
    assert table.state.los_yd == 29
    assert (table.state.hash, table.runs) == ("right", False)
    with pytest.raises(RefusedError, match="black or blue"):
        table.say(run("9", dot="red", ran_out=True))


def test_a_gain_past_the_goal_line_is_a_touchdown() -> None:
    table = Table().at(95)
    assert kinds(table.say(CardPlayed("pass", "30", roll=60))) == ["touchdown"]
    assert table.state.score == (6, 0)
    assert table.state.wait is not None
    assert table.state.wait.purpose == "try"


def test_a_loss_to_the_own_goal_line_is_a_safety() -> None:
    table = Table().at(3)
    assert "safety" in kinds(table.say(run("-3")))
    assert table.state.score == (0, 2)
    assert table.state.due == "free_kick"
    assert table.state.kicking == "home"


def test_kneeling() -> None:
    table = Table().at(50)
    table.say(ChoiceMade("kneel"))
    assert (table.lines, table.runs, table.state.down) == (90, True, 2)
    table.say(ChoiceMade("kneel"))
    assert table.lines == 86


def test_spiking_once_a_half() -> None:
    table = Table().at(50).running()
    table.say(ChoiceMade("spike"))
    assert (table.lines, table.runs, table.state.down) == (90, False, 2)
    with pytest.raises(RefusedError, match="not running"):
        table.say(ChoiceMade("spike"))
    table.running()
    with pytest.raises(RefusedError, match="NFLS-027"):
        table.say(ChoiceMade("spike"))


def test_time_outs_are_three_a_half() -> None:
    table = Table().at(50)
    for left in (2, 1, 0):
        table.running().say(Claim("time_out", "home"))
        assert not table.runs
        assert table.state.time_outs == (left, 3)
    with pytest.raises(RefusedError, match="none left"):
        table.say(Claim("time_out", "home"))


def test_the_two_minute_warning_and_the_half() -> None:
    table = Table().at(50, period=2, clock_s=130).running()
    calls = table.say(run("3"))
    assert kinds(calls) == ["stopped", "period"]
    assert (table.lines, table.runs) == (11, False)
    table.at(50, period=2, clock_s=20).running()
    calls = table.say(ChoiceMade("let_run"))
    assert kinds(calls) == ["period"]
    assert table.state.period == 3
    assert table.state.due == "kickoff"
    assert table.lines == 90


def test_the_first_quarter_runs_into_the_second() -> None:
    table = Table().at(50, clock_s=10)
    table.say(run("3"))
    assert (table.state.period, table.lines, table.runs) == (2, 90, False)
    assert table.state.due == "scrimmage"
    assert table.state.down == 2


def test_a_game_ends_and_a_tied_one_goes_on_until_somebody_scores() -> None:
    table = Table().at(50, period=4, clock_s=10, score=(7, 3))
    assert kinds(table.say(run("3"))) == ["stopped", "period", "game_over"]
    assert table.state.phase is Phase.OVER
    table = Table().at(50, period=4, clock_s=10, score=(7, 7))
    table.say(run("3"))
    assert table.state.period == 5
    table.say(CardPlayed("kickoff", "TB"))
    assert table.state.due == "scrimmage"
    calls = table.say(CardPlayed("field_goal", "good", roll=60))
    assert kinds(calls) == ["field_goal", "game_over"]
    assert table.state.phase is Phase.OVER


def test_a_touchdown_on_the_last_play_still_has_its_try() -> None:
    table = Table().at(95, period=4, clock_s=10, score=(0, 0))
    assert kinds(table.say(run("5"))) == ["touchdown"]
    calls = table.say(CardPlayed("extra_point", "good", roll=60))
    assert kinds(calls) == ["extra_point", "period", "game_over"]
    assert table.state.score == (7, 0)


# Fumbles and interceptions


@pytest.mark.parametrize(("roll", "side"), [(1, "away"), (40, "away"), (41, "home"), (100, "home")])
def test_a_fumble_is_recovered_by_the_roll(roll: int, side: str) -> None:
    table = Table().at(40).running()
    assert table.say(run("5F")) == []
    assert table.state.phase is Phase.PENDING_ROLL
    assert kinds(table.say(Roll((roll,), "fumble")))[0] == "fumble_recovery"
    assert table.state.offence == side
    assert table.state.los_yd == 45
    assert table.runs is (side == "home")


def test_a_highlighted_fumble_may_be_returned() -> None:
    table = Table().at(40)
    table.say(run("5F", highlighted=True, return_to=20), Roll((7,), "fumble"))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "fumble_return"
    assert kinds(table.say(Roll((20,)))) == ["touchdown"]
    assert table.state.score == (0, 6)


def test_fumbles_at_the_goal_lines() -> None:
    table = Table().at(90)
    assert kinds(table.say(run("10F"))) == ["touchdown"]
    table = Table().at(5)
    table.say(run("-5F"))
    assert kinds(table.say(Roll((80,)))) == ["safety"]
    table = Table().at(5)
    table.say(run("-5F"))
    assert kinds(table.say(Roll((8,)))) == ["touchdown"]
    assert table.state.score == (0, 6)


def picked(roll: int = 60, shown: str = "13i", spot: float = 40, **more: Any) -> Table:
    table = Table().at(spot, **more).running()
    table.say(CardPlayed("pass", shown, roll=roll, return_to=12))
    return table


def test_an_interception_ends_where_the_number_says() -> None:
    table = picked()
    assert kinds(table.say(Roll((13,), "interception_return"))) == ["interception"]
    assert (table.state.offence, table.state.los_yd, table.state.direction) == ("away", 53, -1)
    assert not table.runs
    table = picked(shown="-17i")
    table.say(Roll((13,)))
    assert table.state.los_yd == 23


def test_an_interception_may_be_returned_out_of_the_end_zone_or_thrown_away() -> None:
    table = picked()
    assert kinds(table.say(Roll((12,)))) == ["touchdown"]
    assert table.state.score == (0, 6)
    table = Table().at(90)
    assert kinds(table.say(CardPlayed("pass", "20i", roll=60))) == ["incomplete"]
    table = picked(shown="15i", spot=90)
    assert kinds(table.say(Roll((50,)))) == ["touchback"]
    assert table.state.situation == "1st & 10 at A 20"


def test_a_review_overturns_or_costs_a_time_out() -> None:
    table = picked(45)
    assert table.state.wait is not None
    assert table.state.wait.purpose == "review"
    table.say(Claim("review", "home"))
    assert kinds(table.say(Roll((41,), "review"))) == ["incomplete"]
    assert (table.state.down, table.state.time_outs, table.runs) == (2, (3, 3), False)
    table = picked(45)
    table.say(Claim("review", "home"), Roll((40,)), Roll((99,)))
    assert table.state.offence == "away"
    assert table.state.time_outs == (2, 3)


def test_a_review_may_be_waived_and_is_not_offered_for_other_rolls() -> None:
    table = picked(76)
    table.say(ChoiceMade("accept"))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "interception_return"
    table = picked(52)
    with pytest.raises(RefusedError, match="NFLS-055"):
        table.say(Claim("review", "home"))


def test_only_three_successful_reviews() -> None:
    table = Table()
    for _ in range(3):
        table.at(40).say(CardPlayed("pass", "13i", roll=45), Claim("review", "home"), Roll((90,)))
    table.at(40).say(CardPlayed("pass", "13i", roll=45))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "interception_return"


# Kicks


def test_a_kickoff_and_its_return() -> None:
    table = Table()
    assert table.state.offence == "home"
    table.say(CardPlayed("kickoff", "60", roll=60))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "return"
    assert kinds(table.say(ReturnPlayed("22", roll=60))) == ["kick"]
    assert table.state.situation == "1st & 10 at H 27"
    assert table.lines == 89


@pytest.mark.parametrize(("shown", "spot"), [("OB", 35), ("TB", 20), ("75", 20)])
def test_kickoffs_that_take_no_time(shown: str, spot: float) -> None:
    table = Table()
    table.say(CardPlayed("kickoff", shown, roll=60))
    assert table.state.los_yd == spot
    assert table.lines == 90


def test_a_kickoff_returned_all_the_way() -> None:
    table = Table()
    table.say(CardPlayed("kickoff", "60", roll=60))
    assert kinds(table.say(ReturnPlayed("95", roll=60))) == ["touchdown"]
    assert table.state.score == (6, 0)


@pytest.mark.parametrize(("heads", "side"), [(True, "away"), (False, "home")])
def test_an_onside_kick_fumbled_for_nothing_is_flipped_for(heads: bool, side: str) -> None:
    table = Table()
    table.say(CardPlayed("onside", "12", roll=60), ReturnPlayed("0F", roll=60))
    assert table.state.wait is not None
    assert table.state.wait.kind == "coin"
    table.say(Coin(heads, "onside"))
    assert table.state.offence == side
    assert table.state.los_yd == 53


def test_an_onside_kick_out_of_bounds_is_the_receivers_there() -> None:
    table = Table()
    table.say(CardPlayed("onside", "11OB", roll=60))
    assert (table.state.offence, table.state.los_yd) == ("home", 54)


def test_punts() -> None:
    table = Table().at(30, 4)
    table.say(CardPlayed("punt", "40", roll=60), ReturnPlayed("6", roll=60))
    assert table.state.situation == "1st & 10 at A 36"
    for shown, spot in (("40OB", 70), ("40FC", 70), ("40DN", 70), ("TB", 80), ("75OB", 80)):
        table.at(30, 4).say(CardPlayed("punt", shown, roll=60))
        assert (table.state.offence, table.state.los_yd) == ("away", spot)
    table.at(30, 4).say(CardPlayed("punt", "blocked", roll=60), ReturnPlayed("5", roll=60))
    assert (table.state.offence, table.state.los_yd) == ("away", 15)


def test_a_touch_punt_from_too_far_is_refused() -> None:
    with pytest.raises(RefusedError, match="NFLS-034"):
        Table().at(49, 4).say(CardPlayed("touch_punt", "30DN", roll=60))
    Table().at(50, 4).say(CardPlayed("touch_punt", "30DN", roll=60))


def test_field_goals() -> None:
    table = Table().at(70, 4)
    assert kinds(table.say(CardPlayed("field_goal", "good", roll=60))) == ["field_goal"]
    assert (table.state.score, table.state.due, table.state.kicking) == ((3, 0), "kickoff", "home")
    table.at(70, 4).say(CardPlayed("field_goal", "no good", roll=60))
    assert (table.state.offence, table.state.los_yd) == ("away", 63)
    table.at(70, 4).say(CardPlayed("field_goal", "blocked", roll=60), ReturnPlayed("10", roll=60))
    assert (table.state.offence, table.state.los_yd) == ("away", 55)
    table.at(70, 4).say(CardPlayed("field_goal", "blocked", roll=60))
    assert kinds(table.say(ReturnPlayed("65", roll=60))) == ["touchdown"]
    assert table.state.try_for == "away"


def test_a_free_kick_after_a_fair_catch() -> None:
    table = Table().at(30, 4)
    with pytest.raises(RefusedError, match="NFLS-043"):
        table.say(CardPlayed("fair_catch_kick", "good", roll=10))
    table.say(CardPlayed("punt", "25FC", roll=60), CardPlayed("fair_catch_kick", "no good", roll=60))
    assert (table.state.offence, table.state.los_yd) == ("home", 55)
    for roll, points in ((46, 3), (47, 0)):
        table = Table().at(30, 4)
        table.say(CardPlayed("punt", "25FC", roll=60), CardPlayed("fair_catch_kick", "60", roll=roll))
        assert table.state.points("away") == points


def test_tries() -> None:
    for card, score in (
        (CardPlayed("extra_point", "good", roll=60), (7, 0)),
        (CardPlayed("extra_point", "no good", roll=60), (6, 0)),
        (CardPlayed("two_point", "2", roll=60), (8, 0)),
        (CardPlayed("two_point", "1", roll=60), (6, 0)),
        (CardPlayed("two_point", "inc", roll=60), (6, 0)),
    ):
        table = Table().at(95)
        before = table.lines
        table.say(run("5"), card)
        assert table.state.score == score, card
        assert table.lines == before - 1
        assert table.state.due == "kickoff"


def test_tries_the_defence_scores_on() -> None:
    table = Table().at(95)
    table.say(run("5"), CardPlayed("extra_point", "blocked", roll=60), ReturnPlayed("93", roll=60))
    assert table.state.score == (6, 2)
    assert table.state.kicking == "home"
    table = Table().at(95)
    table.say(run("5"), ChoiceMade("two_point"), CardPlayed("two_point", "0i", roll=60, return_to=30), Roll((30,)))
    assert table.state.score == (6, 2)
    table = Table().at(95)
    table.say(run("5"), CardPlayed("two_point", "0i", roll=60, return_to=30), Roll((31,)))
    assert table.state.score == (6, 0)


def test_the_free_kick_after_a_safety() -> None:
    table = Table().at(3)
    table.say(run("-3"), CardPlayed("punt", "50", roll=60), ReturnPlayed("5", roll=60))
    assert (table.state.offence, table.state.los_yd) == ("away", 65)


# Penalties


def fouled(foul: Foul, spot: float = 40, shown: str = "6", **more: Any) -> Table:
    table = Table().at(spot, **more)
    table.say(run(shown, roll=31, reroll=60), foul)
    return table


def test_a_penalty_roll_wants_a_second_roll_once() -> None:
    table = Table().at(40)
    with pytest.raises(RefusedError, match="rolled again"):
        table.say(run("6", roll=31))
    with pytest.raises(RefusedError, match="no second roll"):
        table.say(run("6", roll=61, reroll=5))
    table.say(run("6", roll=31, reroll=31))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "penalty"


def test_the_offended_side_chooses() -> None:
    table = fouled(Foul("away", 5, "D5"))
    assert table.state.wait is not None
    assert table.state.wait.by == "home"
    with pytest.raises(RefusedError, match="Home"):
        table.say(ChoiceMade("accept", by="away"))
    table.say(ChoiceMade("accept"))
    assert table.state.situation == "1st & 5 at H 45"
    assert not table.runs
    table = fouled(Foul("away", 5, "D5"))
    table.say(ChoiceMade("decline"))
    assert table.state.situation == "2nd & 4 at H 46"
    assert not table.runs


def test_penalties_from_the_line() -> None:
    table = fouled(Foul("home", 10, "O10"))
    table.say(ChoiceMade("accept"))
    assert table.state.situation == "1st & 20 at H 30"
    table = fouled(Foul("home", 10, "O10 loss dwn", loss_of_down=True))
    table.say(ChoiceMade("accept"))
    assert table.state.situation == "2nd & 20 at H 30"
    table = fouled(Foul("away", 15, "D15", first_down=True))
    assert kinds(table.say(ChoiceMade("accept")))[-1] == "first_down"
    assert table.state.situation == "1st & 10 at A 45"
    table = fouled(Foul("home", 15, "O15"), spot=11)
    table.say(ChoiceMade("accept"))
    assert table.state.los_yd == 6


def test_an_auto_5_asks_nobody_and_moves_the_clock_a_line_less() -> None:
    table = Table().at(40).running()
    table.say(run("6", roll=31, reroll=60))
    table.say(Foul("home", 5, "auto-5", automatic=True))
    assert table.state.situation == "1st & 15 at H 35"
    assert (table.lines, table.runs) == (87, False)


def test_a_holding_penalty_on_a_pass_from_the_three_is_a_safety() -> None:
    table = Table().at(3)
    table.say(CardPlayed("pass", "20", roll=31, reroll=60), Foul("home", 10, "O10"))
    assert "safety" in kinds(table.say(ChoiceMade("accept")))
    assert table.state.score == (0, 2)
    table = Table().at(4)
    table.say(CardPlayed("pass", "20", roll=31, reroll=60), Foul("home", 10, "O10"), ChoiceMade("accept"))
    assert (table.state.score, table.state.los_yd) == ((0, 0), 2)


def test_a_personal_foul_on_a_touchdown_moves_the_kickoff() -> None:
    table = fouled(Foul("away", 15, "D15"), spot=95, shown="5")
    table.say(ChoiceMade("accept"))
    assert table.state.score == (6, 0)
    table.say(CardPlayed("extra_point", "good", roll=60), CardPlayed("kickoff", "OB", roll=60))
    assert (table.state.offence, table.state.los_yd) == ("away", 80)


def test_fouls_on_a_kickoff_return() -> None:
    table = Table()
    table.say(CardPlayed("kickoff", "55", roll=60), ReturnPlayed("22", roll=31, reroll=60))
    table.say(Foul("home", 10, "O10"), ChoiceMade("accept"))
    assert table.state.los_yd == 10 + 11 - 10
    table = Table()
    table.say(CardPlayed("kickoff", "55", roll=60), ReturnPlayed("22", roll=31, reroll=60))
    table.say(Foul("away", 15, "D15"), ChoiceMade("accept"))
    assert table.state.los_yd == 47


def test_fouls_on_a_punt_return() -> None:
    def punt(foul: Foul, choice: Literal["accept", "decline"], distance: float = 10) -> Table:
        table = Table().at(30, 4, distance)
        table.say(CardPlayed("punt", "40", roll=60), ReturnPlayed("6", roll=31, reroll=60), foul, ChoiceMade(choice))
        return table

    assert punt(Foul("away", 10, "O10"), "accept").state.los_yd == 100 - (30 + 3 - 10)
    assert punt(Foul("home", 15, "D15"), "accept").state.los_yd == 100 - (36 + 15)
    kicker = Foul("away", 5, "running into the kicker", on_kicker=True)
    replayed = punt(kicker, "accept").state
    assert (replayed.offence, replayed.situation) == ("home", "4th & 5 at H 35")
    assert punt(kicker, "accept", 5).state.situation == "1st & 10 at H 35"
    kept = punt(kicker, "decline").state
    assert (kept.offence, kept.los_yd) == ("away", 69)


def test_kicks_that_can_have_no_penalty() -> None:
    table = Table()
    table.say(CardPlayed("kickoff", "55", roll=31))
    table.say(ReturnPlayed("22", roll=60))
    assert table.state.situation == "1st & 10 at H 32"
    table = Table()
    table.say(CardPlayed("onside", "11", roll=31), ReturnPlayed("2", roll=31))
    assert table.state.due == "scrimmage"
    table = Table().at(30, 4)
    table.say(CardPlayed("punt", "40FC", roll=31))
    assert table.state.offence == "away"


# Play choice, order


def test_long_passes_and_short_yardage() -> None:
    with pytest.raises(RefusedError, match="NFLS-084"):
        Table().at(80).say(CardPlayed("pass", "5", roll=60, play="Z Post"))
    with pytest.raises(RefusedError, match="NFLS-085"):
        Table().at(40).say(run("1", defence="Short Yardage"))
    Table().at(40, 3, 2).say(run("1", defence="Short Yardage"))


@pytest.mark.parametrize(
    "body",
    [
        CardPlayed("kickoff", "60", roll=60),
        CardPlayed("extra_point", "good", roll=60),
        ReturnPlayed("5"),
        Roll((50,)),
        Coin(True),
        Foul("home", 10),
        ChoiceMade("accept"),
        Claim("review", "home"),
        Claim("delay_of_game", "home"),
        CardPlayed("run", "nonsense", roll=60),
        CardPlayed("run", "5", roll=101),
    ],
)
def test_what_the_state_does_not_allow_is_refused_and_changes_nothing(body: Declaration) -> None:
    table = Table().at(40)
    before = table.state
    with pytest.raises(RefusedError):
        table.say(body)
    assert table.state == before


CARDS: tuple[CardKind, ...] = ("run", "pass", "punt", "field_goal", "kickoff", "onside", "extra_point", "two_point")
RESULTS = ("7", "-4", "33", "4F", "9i", "inc", "good", "no good", "blocked", "40FC", "50 OB", "TB", "0F")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.builds(
                CardPlayed,
                kind=st.sampled_from(CARDS),
                shown=st.sampled_from(RESULTS),
                roll=st.sampled_from([31, 45, 60]),
                reroll=st.sampled_from([None, 60]),
                dot=st.sampled_from([None, "black", "red", "blue"]),
                return_to=st.integers(0, 30),
                highlighted=st.booleans(),
            ),
            st.builds(ReturnPlayed, shown=st.sampled_from(["12", "99", "-3", "5F", "0F"]), roll=st.just(60)),
            st.builds(Roll, dice=st.tuples(st.integers(1, 100))),
            st.builds(Coin, heads=st.booleans()),
            st.builds(
                ChoiceMade, choice=st.sampled_from(["accept", "decline", "extra_point", "two_point", "kneel", "spike"])
            ),
            st.builds(
                Foul,
                by=st.sampled_from(["home", "away"]),
                yards=st.sampled_from([5, 10, 15]),
                first_down=st.booleans(),
                loss_of_down=st.booleans(),
            ),
            st.builds(Claim, claim=st.sampled_from(["time_out", "review"]), by=st.sampled_from(["home", "away"])),
        ),
        max_size=80,
    )
)
def test_score_downs_and_clock_are_always_legal(bodies: list[Declaration]) -> None:
    table = Table()
    for body in bodies:
        before = table.state
        try:
            table.say(body)
        except RefusedError:
            assert table.state == before
            continue
        state = table.state
        assert all(now >= then for now, then in zip(state.score, before.score, strict=True))
        assert 1 <= state.down <= 4
        assert 0 <= state.los_yd <= 100
        if state.due == "scrimmage" and state.phase is Phase.BETWEEN_PLAYS:
            assert 0 < state.distance_yd <= 100
            assert 0 < state.los_yd < 100
        assert state.lines is not None
        assert state.lines.left >= 0
