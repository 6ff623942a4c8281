"""Setting a game up before any kind of play: it goes on from there, and what can't be is refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from declared_game import DeclaredGame, kinds

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import (
    ChoiceMade,
    Claim,
    ClockSet,
    KickDeclared,
    PlayEnded,
    Roll,
    Separated,
    SetUp,
    Side,
)
from downfield.officiating.state.game_state import Overtime, Phase
from downfield.officiating.unseen_declarations import CardPlayed, OvertimeSetUp

BOOKS = ["tap", "efl", "lions-den", "nfl-strategy"]


def set_up(book: str, **given: Any) -> DeclaredGame:
    table = DeclaredGame(book)
    table.declare(SetUp(**{"offense": "home", "direction": 1, **given}))
    return table


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("receivers", ["home", "away"])
@pytest.mark.parametrize("due", ["kickoff", "free_kick"])
def test_a_kick_is_due_from_the_rulebooks_spot_by_the_other_side(book: str, receivers: Side, due: str) -> None:
    state = set_up(book, offense=receivers, due=due, score=(20, 23), period=2).state
    assert (state.due, state.offense, state.kicking) == (due, receivers, "away" if receivers == "home" else "home")
    assert state.progress_yd(state.los_yd) in {65.0, 70.0, 80.0}
    assert state.phase is Phase.BETWEEN_PLAYS


@pytest.mark.parametrize("book", ["tap", "efl"])
def test_a_set_up_kickoff_can_be_kicked(book: str) -> None:
    table = set_up(book, offense="away", due="kickoff", score=(7, 0))
    table.declare(KickDeclared("kickoff"))
    assert table.state.kicking == "home"


@pytest.mark.parametrize(
    ("book", "phase"),
    [
        ("tap", "pending_choice"),
        ("efl", "pending_roll"),
        ("lions-den", "pending_roll"),
        ("nfl-strategy", "pending_choice"),
    ],
)
def test_a_set_up_try_begins_as_it_does_after_a_touchdown(book: str, phase: str) -> None:
    state = set_up(book, offense="away", direction=-1, due="try", score=(0, 6)).state
    assert (state.phase.value, state.try_for) == (phase, "away")
    assert " from " not in state.situation


@pytest.mark.parametrize(("book", "yards"), [("tap", 5.0), ("efl", 2.0), ("nfl-strategy", 2.0)])
def test_a_two_point_try_is_lined_up_where_the_rulebook_has_it(book: str, yards: float) -> None:
    state = set_up(book, due="two_point", score=(6, 0)).state
    assert (state.phase, state.due, state.length_yd - state.los_yd) == (Phase.LINE_UP, "two_point", yards)


def test_a_set_up_extra_point_scores_and_the_scorers_kick_off() -> None:
    table = set_up("tap", due="extra_point", score=(6, 0))
    table.declare(Roll((3, 4)))
    assert (table.state.score, table.state.due, table.state.kicking) == ((7, 0), "kickoff", "home")


def test_a_late_try_for_two_is_prescribed() -> None:
    late: dict[str, Any] = {"due": "try", "period": 4, "clock_s": 60.0}
    assert set_up("efl", score=(6, 8), **late).state.due == "two_point"
    assert set_up("efl", score=(6, 9), **late).state.due == "extra_point"


def test_time_outs_reviews_and_spikes_are_as_set_up() -> None:
    table = set_up("nfl-strategy", spot_yd=40.0, time_outs=(0, 2), reviews_used=(1, 0), spiked=(True, False))
    with pytest.raises(RefusedError, match="none left"):
        table.declare(Claim("time_out", "home"))
    table.declare(Claim("time_out", "away"), ClockSet(True))
    assert table.state.time_outs == (0, 1)
    with pytest.raises(RefusedError, match="already spiked"):
        table.declare(ChoiceMade("spike"))
    table.declare(SetUp("home", 1, 40.0, spiked=(False, False)), ClockSet(True), ChoiceMade("spike"))
    assert table.state.down == 2


def test_what_a_set_up_leaves_out_of_the_counts_stays() -> None:
    table = set_up("efl", spot_yd=40.0, time_outs=(1, 0))
    table.declare(SetUp("home", 1, 50.0))
    assert table.state.time_outs == (1, 0)


def test_an_overtime_play_is_set_up_and_the_answer_decides() -> None:
    table = set_up("tap", offense="away", direction=-1, score=(7, 7), overtime=OvertimeSetUp("home", 1, (4.0,)))
    assert (table.state.los_yd, table.state.overtime) == (50.0, Overtime(1, "home", (4.0,), for_yards=True))
    calls = table.declare(PlayEnded("tackle", (42.0, 26.0)))
    assert (table.state.phase, calls[-1].side) == (Phase.OVER, "away")


def test_an_overtime_on_the_clock_is_answered_after_a_field_goal() -> None:
    table = set_up("efl", offense="away", spot_yd=40.0, period=5, score=(10, 7), clock_s=300.0,
                   overtime=OvertimeSetUp("home", 1, (3.0,)))  # fmt: skip
    assert table.state.phase is Phase.LINE_UP
    assert "game_over" in kinds(table.declare(PlayEnded("touchdown")))


def test_the_opening_kicker_decides_the_second_half() -> None:
    for opener in ("home", "away"):
        table = set_up("efl", spot_yd=40.0, period=2, clock_s=1.0, opening_kicker=opener)
        table.declare(PlayEnded("tackle", (45.0, 26.0)), ClockSet(False, 0.0))
        assert (table.state.period, table.state.due, table.state.offense) == (3, "kickoff", opener)


def test_the_last_play_is_forgotten() -> None:
    table = DeclaredGame("lions-den")
    table.declare(*(Roll((4, 5), name, side) for name in ("quarterback_1", "kicker") for side in ("home", "away")))
    table.declare(SetUp("home", 1, 40.0), PlayEnded("tackle", (44.0, 26.0)))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "penalty"
    table.declare(SetUp("home", 1, 40.0), PlayEnded("touchdown"), Roll((5, 0, 3), "penalty", "away"))
    assert table.state.wait.purpose == "extra_point"
    assert table.state.note("rating_kicker_home") is not None


def test_a_two_minute_time_out_that_lies_behind_is_not_taken_again() -> None:
    table = set_up("efl", spot_yd=40.0, period=4, clock_s=90.0)
    assert "two-minute time-out" not in [call.text for call in table.declare(PlayEnded("incomplete"), Separated())]
    table = set_up("efl", spot_yd=40.0, period=4, clock_s=125.0)
    table.declare(PlayEnded("incomplete"), ClockSet(False, 110.0))
    assert table.state.note("two_minutes_4") is not None


@pytest.mark.parametrize(
    ("book", "given", "reason"),
    [
        ("tap", {}, "needs its line"),
        ("tap", {"spot_yd": 40.0, "score": (1, 0)}, "can't be 1"),
        ("tap", {"due": "kickoff", "spot_yd": 50.0}, "leave it out"),
        ("tap", {"due": "kickoff", "down": 3}, "no down 3"),
        ("tap", {"due": "try", "score": (0, 14)}, "follows a touchdown of Home"),
        ("tap", {"due": "free_kick", "score": (0, 2)}, "follows a safety for Home"),
        ("tap", {"spot_yd": 40.0, "time_outs": (1, 1)}, "no time-outs"),
        ("tap", {"spot_yd": 40.0, "reviews_used": (0, 0)}, "no reviews"),
        ("tap", {"spot_yd": 40.0, "spiked": (False, True)}, "no spikes"),
        ("tap", {"overtime": OvertimeSetUp("home"), "score": (7, 0)}, "tied"),
        ("tap", {"overtime": OvertimeSetUp("away")}, "Away's"),
        ("tap", {"overtime": OvertimeSetUp("home"), "spot_yd": 30.0}, "first down from the 50"),
        ("tap", {"overtime": OvertimeSetUp("home", 0)}, "counted from 1"),
        ("efl", {"spot_yd": 40.0, "clock_s": 901.0}, "has 900 s"),
        ("efl", {"spot_yd": 40.0, "period": 5, "clock_s": 700.0}, "has 600 s"),
        ("efl", {"spot_yd": 40.0, "period": 5, "score": (7, 0)}, "would be over"),
        ("efl", {"spot_yd": 40.0, "period": 5, "overtime": OvertimeSetUp("home", 1, (3.0,))}, "leads by 3"),
        ("efl", {"spot_yd": 40.0, "period": 5, "overtime": OvertimeSetUp("home", 1, (4.0,))}, "0, 2, 3 or 6"),
        ("efl", {"spot_yd": 40.0, "period": 2, "overtime": OvertimeSetUp("home")}, "no overtime"),
        ("efl", {"spot_yd": 40.0, "time_outs": (3, 0)}, "0 to 2"),
        ("lions-den", {"due": "two_point", "score": (6, 0)}, "no two-point"),
        ("lions-den", {"spot_yd": 40.0, "period": 3}, "1 to 2"),
        ("lions-den", {"spot_yd": 40.0, "overtime": OvertimeSetUp("home")}, "counts no possessions"),
        ("nfl-strategy", {"spot_yd": 40.0, "time_outs": (-1, 0)}, "0 to 3"),
        ("nfl-strategy", {"spot_yd": 40.0, "reviews_used": (9, 0)}, "reviews used"),
        ("nfl-strategy", {"spot_yd": 40.0, "period": 5, "score": (3, 0)}, "first score"),
        ("nfl-strategy", {"spot_yd": 40.0, "clock_s": 1000.0}, "has 900 s"),
    ],
)
def test_what_no_game_can_be_is_refused_in_a_sentence(book: str, given: dict[str, Any], reason: str) -> None:
    table = DeclaredGame(book)
    before = table.state
    with pytest.raises(RefusedError, match=reason):
        table.declare(SetUp(**{"offense": "home", "direction": 1, **given}))
    assert table.state == before


def test_a_card_game_goes_on_from_a_set_up_try() -> None:
    table = set_up("nfl-strategy", due="try", score=(6, 0))
    table.declare(ChoiceMade("extra_point"), CardPlayed("extra_point", "good", 50))
    assert (table.state.score, table.state.due) == ((7, 0), "kickoff")
