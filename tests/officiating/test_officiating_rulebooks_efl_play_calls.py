"""The play calls that the Gunderson EFL prescribes."""

from __future__ import annotations

import dataclasses

import pytest

from downfield.officiating.params import Params
from downfield.officiating.rulebooks.efl.play_calls import (
    Situation,
    in_late_minutes,
    is_onside_required,
    required_play,
    required_try,
    time_out_refusal,
)
from downfield.officiating.rulebooks.rulebook import load_rulebook

BOOK = load_rulebook("efl").params
EARLY = Situation(lead=0, period=1, left_s=800.0)


def required(**changes: object) -> str:
    return required_play(dataclasses.replace(EARLY, **changes), BOOK).call  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lead", "period", "left_s", "expected"),
    [
        (0, 1, 800.0, "run"),
        (7, 4, 100.0, "run"),
        (-1, 1, 800.0, "pass"),
        (0, 2, 300.0, "pass"),
        (0, 2, 300.1, "run"),
        (0, 4, 12.0, "pass"),
        (0, 3, 12.0, "run"),
    ],
)
def test_first_play_of_a_series(lead: int, period: int, left_s: float, expected: str) -> None:
    assert required(lead=lead, period=period, left_s=left_s) == expected


@pytest.mark.parametrize(("gain", "expected"), [(0.1, "run"), (-0.1, "pass"), (0.0, "either")])
def test_a_running_series_continues_while_it_gains(gain: float, expected: str) -> None:
    assert required(style="run", down=2, gain_yd=gain) == expected


@pytest.mark.parametrize("gain", [12.0, 0.0, -4.0])
def test_a_passing_series_stays_one(gain: float) -> None:
    assert required(style="pass", down=3, gain_yd=gain) == "pass"


@pytest.mark.parametrize(
    ("spot", "distance", "expected"),
    [
        (50.0, 4.0, "punt"),
        (20.0, 1.0, "punt"),
        (39.9, 1.0, "punt"),
        (40.0, 1.0, "pass"),
        (50.0, 1.0, "pass"),
        (50.0, 1.1, "punt"),
        (50.1, 4.0, "field_goal"),
        (50.1, 1.0, "pass"),
        (97.0, 2.0, "field_goal"),
    ],
)
def test_fourth_down(spot: float, distance: float, expected: str) -> None:
    assert required(down=4, spot_yd=spot, distance_yd=distance, style="run", gain_yd=3.0) == expected


@pytest.mark.parametrize(
    ("lead", "period", "left_s", "expected"),
    [
        (-4, 2, 299.0, "pass"),
        (-4, 4, 10.0, "pass"),
        (-3, 4, 10.0, "punt"),
        (-4, 4, 300.0, "punt"),
        (-4, 3, 10.0, "punt"),
    ],
)
def test_trailing_late_the_offense_goes_for_it_on_fourth_down(
    lead: int, period: int, left_s: float, expected: str
) -> None:
    got = required(down=4, spot_yd=30.0, style="pass", gain_yd=-2.0, lead=lead, period=period, left_s=left_s)
    assert got == expected


@pytest.mark.parametrize(
    ("period", "left_s", "lead", "expected"),
    [
        (4, 299.0, -2, "two_point"),
        (4, 300.0, -2, "extra_point"),
        (3, 10.0, -2, "extra_point"),
        (4, 10.0, -1, "extra_point"),
        (4, 10.0, -5, "extra_point"),
        (4, 10.0, 0, "extra_point"),
    ],
)
def test_the_try(period: int, left_s: float, lead: int, expected: str) -> None:
    assert required_try(period, left_s, lead, BOOK) == expected


def test_the_onside_kick() -> None:
    assert is_onside_required(4, 299.0, -1, BOOK)
    assert not is_onside_required(4, 300.0, -1, BOOK)
    assert not is_onside_required(4, 299.0, 0, BOOK)
    assert not is_onside_required(2, 299.0, -1, BOOK)


def test_time_outs_only_late_and_only_two() -> None:
    assert time_out_refusal(2, 299.9, 2, BOOK) is None
    assert "EFL-049" in str(time_out_refusal(2, 300.0, 2, BOOK))
    assert "EFL-049" in str(time_out_refusal(3, 10.0, 2, BOOK))
    assert "EFL-048" in str(time_out_refusal(4, 10.0, 0, BOOK))


def test_late_minutes_are_those_of_a_half() -> None:
    assert [period for period in range(1, 6) if in_late_minutes(period, 60.0, BOOK)] == [2, 4]


def test_a_league_may_change_the_numbers() -> None:
    ours = Params(BOOK.definitions.values(), {"play_call.late_s": 120.0, "play_call.go_distance_yd": 2.0})
    assert not is_onside_required(4, 121.0, -1, ours)
    now = dataclasses.replace(EARLY, down=4, spot_yd=45.0, distance_yd=2.0)
    assert required_play(now, ours).call == "pass"
