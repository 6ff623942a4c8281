"""The numbers that a call's text speaks of stand beside it as fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from declared_game import DeclaredGame

from downfield.core.scene import Player
from downfield.officiating.call_numbers import CallNumbers
from downfield.officiating.calls import CallsHeader, read_calls, write_calls
from downfield.officiating.declarations import (
    CardPlayed,
    ChoiceMade,
    FoulDeclared,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    PassDeclared,
    PassEnded,
    Roll,
    SetUp,
    Switch,
)


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
