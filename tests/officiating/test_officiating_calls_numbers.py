"""The numbers that a call's text speaks of stand beside it as fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from declared_game import DeclaredGame

from downfield.core.field.model import load_field
from downfield.core.scene import Player
from downfield.officiating.calls import CallNumbers, CallsHeader, Finding, read_calls, write_calls
from downfield.officiating.declarations import (
    CardPlayed,
    Carrier,
    ChoiceMade,
    Claim,
    FoulDeclared,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    PassDeclared,
    PassEnded,
    PlayEnded,
    ReturnPlayed,
    Roll,
    Separated,
    SetUp,
    Switch,
)
from downfield.officiating.events import Tick
from downfield.officiating.rulebooks.tap.penalties import with_numbers
from downfield.officiating.state.interfaces import RuleContext


def test_a_kickoff_tells_its_length_and_where_it_comes_down() -> None:
    table = DeclaredGame("efl")
    call = table.declare(SetUp("home", 1, due="kickoff"), KickDeclared("kickoff"), Roll((5, 2)))[0]
    assert call.numbers is not None
    assert f"kickoff of {call.numbers.kick_yd:g} yards" in call.text
    assert call.numbers.landing_yd is not None
    assert call.numbers.landing_yd[0] == pytest.approx(65.0 - (call.numbers.kick_yd or 0.0))


def test_a_punt_tells_its_length_from_the_line() -> None:
    table = DeclaredGame("tap").at(40.0)
    table.declare(LineUpDeclared((Player("dark-80", "dark", role="WR"),), "dark"), KickDeclared("punt", ("dark-80",)))
    call = table.declare(Switch(True), Switch(False), KickEnded("touched", 75.0, 20.0))[-1]
    assert call.numbers == CallNumbers(kick_yd=35.0, landing_yd=(75.0, 20.0))


def test_a_catch_tells_where() -> None:
    table = DeclaredGame("tap").at(40.0)
    call = table.declare(Switch(True), Switch(False), PassDeclared(), PassEnded("complete", spot_yd=(52.0, 30.0)))[-1]
    assert call.numbers == CallNumbers(caught_yd=(52.0, 30.0))


def test_dice_tell_what_was_needed_and_rolled() -> None:
    table = DeclaredGame("lions-den")
    table.declare(Roll((5, 5), "quarterback_1", "home"), SetUp("home", 1, 40.0), Switch(True))
    asked = table.declare(PassDeclared(distance_yd=24.0))[0]
    assert asked.numbers == CallNumbers(pass_yd=24.0, needed=46)
    thrown = table.declare(Roll((46,)))[0]
    assert (thrown.kind, thrown.numbers) == ("reception", CallNumbers(pass_yd=24.0, needed=46, rolled=46))


def test_a_penalty_tells_its_yards_and_both_spots() -> None:
    table = DeclaredGame("nfl-strategy").at(40.0)
    calls = table.declare(
        CardPlayed("run", "3", 11, 50), FoulDeclared("home", 10, "holding"), ChoiceMade("accept", "away")
    )
    penalty = next(call for call in calls if call.kind == "penalty")
    assert penalty.numbers == CallNumbers(penalty_yd=10, enforced_from_yd=40.0, enforced_to_yd=30.0)


def test_numbers_are_kept_in_call_files(tmp_path: Path) -> None:
    table = DeclaredGame("efl")
    calls = table.declare(SetUp("home", 1, due="kickoff"), KickDeclared("kickoff"), Roll((5, 2)))
    write_calls(tmp_path / "game.calls.jsonl", CallsHeader("efl"), calls)
    assert read_calls(tmp_path / "game.calls.jsonl")[1] == tuple(calls)


def test_a_kick_at_goal_tells_its_distance_and_what_it_needs() -> None:
    tap = DeclaredGame("tap").at(80.0, 4, 5.0)
    assert tap.declare(KickDeclared("field_goal"), Roll((4, 5)))[0].numbers == CallNumbers(
        to_goal_yd=20.0, needed=10, rolled=9
    )
    extra = DeclaredGame("tap")
    extra.declare(SetUp("home", 1, due="extra_point", score=(6, 0)))
    assert extra.declare(Roll((1, 1)))[0].numbers == CallNumbers(at_least=3, rolled=2)
    efl = DeclaredGame("efl").at(75.0, 4, 8.0)
    call = next(call for call in efl.declare(KickDeclared("field_goal"), Roll((4, 1))) if call.kind == "field_goal")
    assert call.numbers == CallNumbers(to_goal_yd=25.0, at_least=41, rolled=41)
    assert call.detail == "good"


def test_an_onside_kick_tells_what_keeps_it_in_play() -> None:
    table = DeclaredGame("tap")
    table.declare(SetUp("away", -1, due="kickoff", score=(0, 7)))
    call = table.declare(KickDeclared("onside"), Roll((4, 5)))[0]
    assert call.numbers is not None
    assert (call.numbers.kick_yd, call.numbers.at_least, call.numbers.rolled) == (9.0, 10, 9)


@pytest.mark.parametrize(("spot_yd", "to_yd"), [((62.0, 20.0), 62.0), ((104.0, 20.0), 99.0)])
def test_a_spot_foul_tells_its_spot_and_where_the_ball_goes(spot_yd: tuple[float, float], to_yd: float) -> None:
    table = DeclaredGame("tap").at(40.0)
    found = Finding("x", "penalty", 0, "", (), side="home", detail="defensive_pass_interference", spot_yd=spot_yd)
    context = RuleContext(table.game.rulebook.params, load_field("ultimate"), 0, table.game.rulebook.system)
    assert with_numbers(table.state, found, context).numbers == CallNumbers(
        foul_yd=spot_yd, enforced_from_yd=spot_yd[0], enforced_to_yd=to_yd
    )


def test_a_late_line_up_tells_its_time_and_the_limit() -> None:
    table = DeclaredGame("tap").at(40.0)
    table.declare(PlayEnded("tackle", (40.0, 26.0)), Separated(), *[Tick()] * 50)
    call = table.declare(Claim("delay_of_game", "away"))[0]
    assert call.numbers is not None
    assert call.numbers.measured == pytest.approx(51.0)
    assert call.numbers.allowed == 40.0
    assert (call.numbers.penalty_yd, call.numbers.enforced_to_yd) == (5.0, 35.0)


def test_a_stoppage_tells_how_many_are_allowed_and_who_may_pivot() -> None:
    tap = DeclaredGame("tap").at(40.0)
    call = next(call for call in tap.declare(Switch(True), Switch(False), Tick()) if call.kind == "stoppage")
    assert call.numbers == CallNumbers(pivots_allowed=(None, None), measured=1.0, allowed=3.0)
    lion = DeclaredGame("lions-den").at(40.0)
    call = next(call for call in lion.declare(Switch(True), Switch(False), Tick()) if call.kind == "stoppage")
    assert call.numbers is not None
    assert call.numbers.pivots_allowed == (None, 1)


def test_an_interception_tells_the_die_and_what_it_needed() -> None:
    table = DeclaredGame("lions-den")
    table.declare(LineUpDeclared((Player("dark-7", "dark", role="QB"), Player("dark-80", "dark", role="WR"),
                                  Player("light-5", "light")), "dark"))  # fmt: skip
    table.declare(Roll((5, 5), "quarterback_1", "home"), SetUp("home", 1, 40.0), Carrier("dark-7"), Switch(True))
    table.declare(PassDeclared("dark-80", 24.0, ("light-5",), ("light-5",)), Roll((46,)))
    call = table.declare(Roll((8,)))[0]
    assert call.numbers == CallNumbers(pass_yd=24.0, at_least=7, rolled=8)


def test_a_skilled_player_tells_his_rating_and_his_career() -> None:
    table = DeclaredGame("lions-den")
    assert table.declare(Roll((5, 6), "kicker", "home"))[0].numbers == CallNumbers(rolled=11, rating=81)
    assert table.declare(Roll((3,), "career_kicker", "home"))[0].numbers == CallNumbers(seasons=3)


def test_an_attempt_at_a_pass_is_counted() -> None:
    table = DeclaredGame("efl").at(40.0)
    table.declare(LineUpDeclared((Player("dark-7", "dark", role="QB"),), "dark"), Carrier("dark-7"))
    call = table.declare(Switch(True), PassDeclared(), PassEnded("incomplete"))[-1]
    assert call.numbers == CallNumbers(attempt=1, attempts=3)


def test_a_card_tells_its_gain_and_a_returned_punt_its_lengths() -> None:
    table = DeclaredGame("nfl-strategy").at(40.0)
    assert table.declare(CardPlayed("run", "-3", 44))[0].numbers == CallNumbers(gain_yd=-3.0, rolled=44)
    call = table.declare(CardPlayed("punt", "41", 44), ReturnPlayed("12"))[0]
    middle_yd = table.state.width_yd / 2
    assert call.numbers == CallNumbers(kick_yd=41.0, landing_yd=(78.0, middle_yd), return_yd=12.0, rolled=44)


def test_a_foul_on_a_return_tells_where_it_was_walked_off_from() -> None:
    table = DeclaredGame("nfl-strategy").at(40.0)
    calls = table.declare(CardPlayed("punt", "41", 44), ReturnPlayed("12", 11, 50), FoulDeclared("away", 10, "clip"))
    calls += table.declare(ChoiceMade("accept", "home"))
    penalty = next(call for call in calls if call.kind == "penalty")
    assert penalty.numbers == CallNumbers(penalty_yd=10, enforced_from_yd=75.0, enforced_to_yd=85.0)


def test_a_first_down_after_a_return_tells_where() -> None:
    table = DeclaredGame("tap")
    table.declare(SetUp("home", 1, due="kickoff"), KickDeclared("kickoff"), Switch(True), Switch(False))
    calls = table.declare(ChoiceMade("return", "home"), PlayEnded("tackle", (31.0, 20.0)))
    first = next(call for call in calls if call.kind == "first_down")
    assert first.spot_yd == (31.0, 20.0)
