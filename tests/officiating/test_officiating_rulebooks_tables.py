"""Every dice and coin table against the numbers its source prints, typed out again here."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest

from downfield.core.errors import RefusedError
from downfield.officiating.consequences import rolls_and_choices as dice
from downfield.officiating.rulebooks.efl import kicks as tables_efl
from downfield.officiating.rulebooks.lions_den import tables as tables_lions_den
from downfield.officiating.rulebooks.nfl_strategy import tables as tables_nfl_strategy
from downfield.officiating.rulebooks.nfl_strategy.handlers import brings_penalty
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.rulebooks.tap.kicks import highest_good

D6 = range(1, 7)
D10 = range(1, 11)
D100 = range(1, 101)
TAP = load_rulebook("tap").params


# Reading dice


def test_two_dice_and_d66_read_every_roll() -> None:
    for first, second in itertools.product(D6, D6):
        assert dice.two_dice((first, second), "kick") == first + second
        assert dice.d66((first, second), "kick") == int(f"{first}{second}")


def test_percentile_dice_make_every_number_once() -> None:
    thrown = [dice.percentile((tens, units), "pass") for tens, units in itertools.product(range(10), range(10))]
    assert sorted(thrown) == list(D100)
    assert dice.percentile((0, 0), "pass") == 100
    assert dice.percentile((10, 7), "pass") == 7
    assert [dice.percentile((number,), "pass") for number in D100] == list(D100)


def test_a_zero_on_a_ten_sided_die_is_ten() -> None:
    assert dice.d10((0, 10, 3), 3, "kick") == (10, 10, 3)


@pytest.mark.parametrize(
    "read",
    [
        lambda: dice.two_dice((3,), "extra point"),
        lambda: dice.two_dice((0, 3), "extra point"),
        lambda: dice.two_dice((3, 7), "extra point"),
        lambda: dice.d66((6, 0), "extra point"),
        lambda: dice.d10((11,), 1, "extra point"),
        lambda: dice.percentile((0,), "extra point"),
        lambda: dice.percentile((101,), "extra point"),
        lambda: dice.percentile((1, 2, 3), "extra point"),
    ],
)
def test_impossible_dice_are_refused_by_name(read: Callable[[], object]) -> None:
    with pytest.raises(RefusedError, match="extra point"):
        read()


# TAP

TAP_FIELD_GOAL = {range(16): 11, range(16, 26): 10, range(26, 31): 9, range(31, 36): 8, range(36, 41): 7}


def test_tap_field_goals_from_every_yard() -> None:
    for yards, best in TAP_FIELD_GOAL.items():
        for yard in yards:
            assert highest_good(yard, TAP) == best


@pytest.mark.parametrize(("yard", "made"), [(15, 35), (25, 33), (30, 30), (35, 26), (40, 21)])
def test_tap_field_goal_odds(yard: float, made: int) -> None:
    good = sum(a + b <= highest_good(yard, TAP) for a, b in itertools.product(D6, D6))
    assert Fraction(good, 36) == Fraction(made, 36)


def test_tap_field_goal_between_two_rows_uses_the_farther_one() -> None:
    assert (highest_good(15.0, TAP), highest_good(15.4, TAP)) == (11, 10)


def test_tap_field_goal_beyond_the_forty_is_refused() -> None:
    with pytest.raises(RefusedError, match="40"):
        highest_good(40.1, TAP)


# EFL

EFL_GOOD_TO = {2: 9, 3: 19, 4: 29, 5: 39, 6: 49}


def test_efl_place_kicks_with_every_roll_from_every_yard() -> None:
    for tens, units, yard in itertools.product(D6, D6, range(1, 51)):
        got = tables_efl.place_kick(10 * tens + units, yard)
        if tens == 1:
            assert got == ("blocked", "blocked", "wide_left", "wide_left", "wide_right", "wide_right")[units - 1]
        else:
            assert got == ("good" if yard <= EFL_GOOD_TO[tens] else "short")


def test_efl_punts_with_every_roll() -> None:
    for tens, units in itertools.product(D6, D6):
        roll = 10 * tens + units
        got = tables_efl.punt(roll)
        if roll in {11, 12}:
            assert got == (True, roll)
        elif roll in {13, 14, 15, 16}:
            assert got == (True, -roll)
        else:
            assert got == (False, roll)


def test_efl_kickoffs_with_every_roll() -> None:
    for tens, units in itertools.product(D6, D6):
        roll = 10 * tens + units
        expected = {1: None, 2: roll + 30, 3: roll + 30, 4: roll, 5: roll, 6: roll}[tens]
        assert tables_efl.kickoff(roll) == expected


# Lion's Den


def test_lions_den_kick_direction() -> None:
    rows = ["middle"] * 4 + ["left_mark"] * 2 + ["right_mark"] * 2 + ["out_of_bounds"] * 2
    assert [tables_lions_den.kick_direction(die) for die in D10] == rows
    assert tables_lions_den.kick_direction(4, first_row="left_mark") == "left_mark"


def test_lions_den_chance_loses_one_per_whole_yard_past_twenty() -> None:
    for yards in range(80):
        expected = 55 if yards <= 20 else 55 - (yards - 20)
        assert tables_lions_den.success_percent(55, yards, 20) == expected
        assert tables_lions_den.success_percent(55, yards + 0.99, 20) == expected


def test_lions_den_penalties_with_every_roll() -> None:
    for roll, die, passed in itertools.product(D100, D10, (False, True)):
        foul = tables_lions_den.penalty_roll(roll, die, passed)
        defense = die <= 5
        if 11 <= roll <= 90:
            assert foul is None
            continue
        assert foul is not None
        assert foul.by == ("defense" if defense else "offense")
        if roll <= 5:
            expected: tuple[str, int | None, bool] = ("penalty", None, False)
        elif roll <= 10:
            expected = ("holding", 5 if defense else 10, False)
        elif roll <= 95:
            interference = ("pass interference", 15 if defense else 5, defense)
            expected = interference if passed else ("illegal block", 10, False)
        else:
            expected = ("personal foul", 10, False)
        assert (foul.name, foul.yards, foul.first_down) == expected


def test_lions_den_lost_penalty_row_may_be_the_leagues() -> None:
    ours = tables_lions_den.penalty_roll(3, 6, False, first_row=(5, 4))
    theirs = tables_lions_den.penalty_roll(3, 5, False, first_row=(5, 4))
    assert ours is not None
    assert theirs is not None
    assert (ours.yards, theirs.yards) == (5, 4)


def test_lions_den_injuries() -> None:
    first = [tables_lions_den.injury(die) for die in D10]
    assert first == ["no"] * 8 + ["downs", "game"]
    assert [tables_lions_den.injury_games(die) for die in D10] == [0] * 6 + [1, 1, 2, tables_lions_den.SEASON]
    assert tables_lions_den.injury(8, first_row_to=7) == "downs"
    assert tables_lions_den.injury_games(6, first_row_to=5) == 1


# NFL Strategy


def test_nfl_strategy_fumbles_at_the_goal_lines() -> None:
    end = tables_nfl_strategy.fumble_end
    assert end(90, 10, None) == "touchdown"
    assert end(90, 9, "offense") == "offense"
    assert end(90, 9, "defense") == "defense"
    assert end(5, -5, "offense") == "safety"
    assert end(5, -6, "defense") == "defense_touchdown"
    assert end(5, -4, "defense") == "defense"
    with pytest.raises(RefusedError, match="roll for the recovery"):
        end(50, 3, None)


@pytest.mark.parametrize(
    ("text", "yards", "mark"),
    [
        ("7", 7, "gain"),
        ("-3", -3, "gain"),
        ("10F", 10, "fumble"),
        ("13i", 13, "interception"),
        ("-17i", -17, "interception"),
        (" 0F ", 0, "fumble"),
        ("+4", 4, "gain"),
        ("inc", None, "incomplete"),
        ("Good", None, "good"),
        ("no good", None, "no_good"),
        ("blocked", None, "blocked"),
        ("45 OB", 45, "out_of_bounds"),
        ("OB", None, "out_of_bounds"),
        ("38FC", 38, "fair_catch"),
        ("40 DN", 40, "downed"),
        ("TB", None, "touchback"),
    ],
)
def test_nfl_strategy_card_numbers(text: str, yards: int | None, mark: str) -> None:
    result = tables_nfl_strategy.read_card_result(text)
    assert (result.yards, result.mark) == (yards, mark)


@pytest.mark.parametrize("text", ["", "F", "i", "i3", "7x", "7.5", "--3", "7 inc", "3 good", "blocked 4"])
def test_nfl_strategy_refuses_results_that_no_card_shows(text: str) -> None:
    with pytest.raises(RefusedError, match="13i"):
        tables_nfl_strategy.read_card_result(text)


def test_nfl_strategy_interceptions_end_where_the_number_says() -> None:
    end = tables_nfl_strategy.interception_end
    assert end(50, 13) == "ball"
    assert end(50, -17) == "ball"
    assert end(90, 20) == "incomplete"
    assert end(90, 19) == "touchback"
    assert end(90, 10) == "touchback"
    assert end(90, 9) == "ball"
    assert end(17, -17) == "touchdown"


def test_nfl_strategy_review_conditions() -> None:
    refusal = tables_nfl_strategy.review_refusal
    assert [roll for roll in D100 if refusal(roll, 1, 1, 900) is None] == [*range(42, 51), *range(76, 81)]
    assert refusal(45, 1, 1, 900) is None
    assert refusal(45, 1, 0, 120) is None
    assert "NFLS-055" in str(refusal(51, 1, 1, 900))
    assert "NFLS-058" in str(refusal(45, 0, 1, 900))
    assert "NFLS-057" in str(refusal(45, 1, 0, 121))


def test_nfl_strategy_penalty_rolls_and_exceptions() -> None:
    trigger = [11, 21, 31, 41, 51, 81]
    for roll in D100:
        assert brings_penalty(roll, 5 if roll in trigger else None, can=True) is (roll in trigger)
        assert not brings_penalty(roll, None, can=False)


def test_nfl_strategy_dots_send_the_ball_to_their_hash() -> None:
    assert tables_nfl_strategy.HASHES == {"black": "left", "red": "center", "blue": "right"}


def test_nfl_strategy_running_out_of_bounds_costs_five_yards() -> None:
    assert tables_nfl_strategy.gain_out_of_bounds(3, "black") == -2
    assert tables_nfl_strategy.gain_out_of_bounds(12, "blue") == 7
    with pytest.raises(RefusedError, match="black or blue"):
        tables_nfl_strategy.gain_out_of_bounds(12, "red")


def test_nfl_strategy_long_passes_stop_at_the_twenty() -> None:
    for play in ("X Fly", "Z Fly", "Z Post", "U Fly", "54 Y Go"):
        assert tables_nfl_strategy.play_refusal(play, 79) is None
        assert "NFLS-084" in str(tables_nfl_strategy.play_refusal(play, 80))
    assert tables_nfl_strategy.play_refusal("Screen", 99) is None


def test_nfl_strategy_touch_punt_starts_at_the_fifty() -> None:
    assert tables_nfl_strategy.play_refusal("Touch Punt", 50) is None
    assert "NFLS-034" in str(tables_nfl_strategy.play_refusal("Touch Punt", 49))


def test_nfl_strategy_short_yardage_defense() -> None:
    allowed = tables_nfl_strategy.is_short_yardage_allowed
    for down, distance, spot in itertools.product(range(1, 5), range(1, 11), range(1, 100)):
        expected = (down in {3, 4} and distance in {1, 2}) or spot >= 97
        assert allowed(down, distance, spot) is expected


def test_nfl_strategy_penalties_that_are_safeties() -> None:
    safety = tables_nfl_strategy.is_safety_foul
    for spot in (1, 2, 3):
        assert safety(spot, 10, on_pass=True, incomplete=False, loss_of_down=False)
        assert safety(spot, 10, on_pass=True, incomplete=True, loss_of_down=True)
        assert not safety(spot, 10, on_pass=True, incomplete=False, loss_of_down=True)
        assert not safety(spot, 10, on_pass=False, incomplete=False, loss_of_down=False)
        assert not safety(spot, 5, on_pass=True, incomplete=True, loss_of_down=False)
    assert not safety(4, 10, on_pass=True, incomplete=True, loss_of_down=False)


def test_nfl_strategy_penalties_carried_to_the_kickoff() -> None:
    carried = tables_nfl_strategy.goes_to_kickoff
    assert carried(15, "touchdown")
    assert carried(15, "field_goal")
    assert not carried(5, "touchdown")
    assert not carried(5, "field_goal")
    assert carried(5, "extra_point")
    assert carried(5, "two_point")
