"""NFL Strategy end to end: kicks and tries, from cards and dice to calls and score."""

from __future__ import annotations

import pytest
from card_games import CardGameTable, run
from declared_game import kinds

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import ChoiceMade, Coin, Roll
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed

# Kicks


def test_a_kickoff_and_its_return() -> None:
    table = CardGameTable()
    assert table.state.offense == "home"
    table.declare(CardPlayed("kickoff", "60", roll=60))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "return"
    assert kinds(table.declare(ReturnPlayed("22", roll=60))) == ["kick"]
    assert table.state.situation == "1st & 10 at H 27"
    assert table.lines == 89


@pytest.mark.parametrize(("shown", "spot"), [("OB", 35), ("TB", 20), ("75", 20)])
def test_kickoffs_that_take_no_time(shown: str, spot: float) -> None:
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", shown, roll=60))
    assert table.state.los_yd == spot
    assert table.lines == 90


def test_a_kickoff_returned_all_the_way() -> None:
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", "60", roll=60))
    assert kinds(table.declare(ReturnPlayed("95", roll=60))) == ["touchdown"]
    assert table.state.score == (6, 0)


@pytest.mark.parametrize(("heads", "side"), [(True, "away"), (False, "home")])
def test_an_onside_kick_fumbled_at_once_is_decided_by_a_coin(heads: bool, side: str) -> None:
    table = CardGameTable()
    table.declare(CardPlayed("onside", "12", roll=60), ReturnPlayed("0F", roll=60))
    assert table.state.wait is not None
    assert table.state.wait.kind == "coin"
    table.declare(Coin(heads, "onside"))
    assert table.state.offense == side
    assert table.state.los_yd == 53


def test_an_onside_kick_out_of_bounds_is_the_receivers_ball_there() -> None:
    table = CardGameTable()
    table.declare(CardPlayed("onside", "11OB", roll=60))
    assert (table.state.offense, table.state.los_yd) == ("home", 54)


def test_punts() -> None:
    table = CardGameTable().at(30, 4)
    table.declare(CardPlayed("punt", "40", roll=60), ReturnPlayed("6", roll=60))
    assert table.state.situation == "1st & 10 at A 36"
    for shown, spot in (("40OB", 70), ("40FC", 70), ("40DN", 70), ("TB", 80), ("75OB", 80)):
        table.at(30, 4).declare(CardPlayed("punt", shown, roll=60))
        assert (table.state.offense, table.state.los_yd) == ("away", spot)
    table.at(30, 4).declare(CardPlayed("punt", "blocked", roll=60), ReturnPlayed("5", roll=60))
    assert (table.state.offense, table.state.los_yd) == ("away", 15)


def test_a_touch_punt_from_too_far_is_refused() -> None:
    with pytest.raises(RefusedError, match="NFLS-034"):
        CardGameTable().at(49, 4).declare(CardPlayed("touch_punt", "30DN", roll=60))
    CardGameTable().at(50, 4).declare(CardPlayed("touch_punt", "30DN", roll=60))


def test_field_goals() -> None:
    table = CardGameTable().at(70, 4)
    assert kinds(table.declare(CardPlayed("field_goal", "good", roll=60))) == ["field_goal"]
    assert (table.state.score, table.state.due, table.state.kicking) == ((3, 0), "kickoff", "home")
    table.at(70, 4).declare(CardPlayed("field_goal", "no good", roll=60))
    assert (table.state.offense, table.state.los_yd) == ("away", 63)
    table.at(70, 4).declare(CardPlayed("field_goal", "blocked", roll=60), ReturnPlayed("10", roll=60))
    assert (table.state.offense, table.state.los_yd) == ("away", 55)
    table.at(70, 4).declare(CardPlayed("field_goal", "blocked", roll=60))
    assert kinds(table.declare(ReturnPlayed("65", roll=60))) == ["touchdown"]
    assert table.state.try_for == "away"


def test_a_free_kick_after_a_fair_catch() -> None:
    table = CardGameTable().at(30, 4)
    with pytest.raises(RefusedError, match="NFLS-043"):
        table.declare(CardPlayed("fair_catch_kick", "good", roll=10))
    table.declare(CardPlayed("punt", "25FC", roll=60), CardPlayed("fair_catch_kick", "no good", roll=60))
    assert (table.state.offense, table.state.los_yd) == ("home", 55)
    for roll, points in ((46, 3), (47, 0)):
        table = CardGameTable().at(30, 4)
        table.declare(CardPlayed("punt", "25FC", roll=60), CardPlayed("fair_catch_kick", "60", roll=roll))
        assert table.state.points("away") == points


def test_tries() -> None:
    for card, score in (
        (CardPlayed("extra_point", "good", roll=60), (7, 0)),
        (CardPlayed("extra_point", "no good", roll=60), (6, 0)),
        (CardPlayed("two_point", "2", roll=60), (8, 0)),
        (CardPlayed("two_point", "1", roll=60), (6, 0)),
        (CardPlayed("two_point", "inc", roll=60), (6, 0)),
    ):
        table = CardGameTable().at(95)
        before = table.lines
        table.declare(run("5"), card)
        assert table.state.score == score, card
        assert table.lines == before - 1
        assert table.state.due == "kickoff"


def test_tries_the_defense_scores_on() -> None:
    table = CardGameTable().at(95)
    table.declare(run("5"), CardPlayed("extra_point", "blocked", roll=60), ReturnPlayed("93", roll=60))
    assert table.state.score == (6, 2)
    assert table.state.kicking == "home"
    table = CardGameTable().at(95)
    table.declare(run("5"), ChoiceMade("two_point"), CardPlayed("two_point", "0i", roll=60, return_to=30), Roll((30,)))
    assert table.state.score == (6, 2)
    table = CardGameTable().at(95)
    table.declare(run("5"), CardPlayed("two_point", "0i", roll=60, return_to=30), Roll((31,)))
    assert table.state.score == (6, 0)


def test_the_free_kick_after_a_safety() -> None:
    table = CardGameTable().at(3)
    table.declare(run("-3"), CardPlayed("punt", "50", roll=60), ReturnPlayed("5", roll=60))
    assert (table.state.offense, table.state.los_yd) == ("away", 65)
