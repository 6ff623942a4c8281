"""Interference under TAP: touches that last, turns that come late, claims of every kind, fouls on tries."""

from __future__ import annotations

import pytest
from declared_game import DeclaredGame, kinds
from scripted_plays import FIELD, Film, Path, ScriptedFigure, film, judge_play, only_call, runs, stands

from downfield.core.errors import RefusedError
from downfield.core.scene import Ball, Player
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    Carrier,
    Claim,
    LineUpDeclared,
    PassDeclared,
    PassEnded,
    PlayEnded,
    SetUp,
    Switch,
)
from downfield.officiating.events import Ruling

QB, END, CORNER = "dark-10", "dark-80", "light-21"
LANE_YD = 40.0


def covered_receiver(
    touch_s: tuple[float, float],
    turn_s: float,
    turn_deg: float = -40.0,
    ball_y_yd: float = LANE_YD,
    ball_x_yd: float = 70.0,
) -> Film:
    """A receiver who runs straight; a corner beside him touches him for a time, and he turns at an instant."""
    straight = runs(48, LANE_YD, 5.0, start_s=2.0)

    def corner(t_s: float) -> tuple[float, float, float]:
        x_yd, y_yd, _ = straight(t_s)
        gap_mm = 0.0 if touch_s[0] <= t_s < touch_s[1] else 8.0
        # A turned base is wider: the corner gives way, so that they only touch.
        wider_mm = 6.0 if t_s >= turn_s and touch_s[1] > turn_s else 0.0
        return x_yd, y_yd + (18.0 + gap_mm + wider_mm) / FIELD.mm_per_yd_y, 180.0

    def receiver(t_s: float) -> tuple[float, float, float]:
        x_yd, y_yd, _ = straight(t_s)
        return x_yd, y_yd, turn_deg if t_s >= turn_s else 0.0

    ball = Ball("magnetic", ball_x_yd * FIELD.mm_per_yd_x, ball_y_yd * FIELD.mm_per_yd_y)
    men: list[tuple[str, Path, str]] = [
        (QB, stands(34, heading=0.0), "QB"),
        (END, receiver, "WR"),
        (CORNER, corner, "DB"),
    ]
    figures = [ScriptedFigure(*man) for man in men]
    return film(figures, 3.6, on=((0.5, 1.0), (2.0, 99.0)), ball=lambda t_s: ball if t_s >= 1.5 else None)


def fouls(judged_film: Film) -> list[Call]:
    return [call for call in judge_play(judged_film, QB, (1.2, PassDeclared())).calls if call.kind == "penalty"]


def test_a_turn_long_after_a_touch_began_but_while_it_lasts_is_interference_where_he_turned() -> None:
    (foul,) = fouls(covered_receiver((2.15, 3.2), 2.8))
    assert foul.verdict == "proposed"
    assert foul.t_ns / 1e9 == pytest.approx(2.5, abs=0.05)  # within the window before the turn, not when he was touched
    assert foul.spot_yd is not None
    assert foul.spot_yd[0] == pytest.approx(48 + 5.0 * 0.5 + 15.0 / FIELD.mm_per_yd_x, abs=0.3)


@pytest.mark.parametrize(("ends_s", "turns_s", "fouled"), [(2.4, 2.6, True), (2.4, 2.65, True), (2.4, 2.8, False)])
def test_the_window_counts_from_the_end_of_the_touch(ends_s: float, turns_s: float, fouled: bool) -> None:
    assert bool(fouls(covered_receiver((2.15, ends_s), turns_s))) is fouled


@pytest.mark.parametrize(("turn_deg", "ball_y_yd"), [(-40.0, 28.0), (15.0, LANE_YD)])
def test_a_turn_toward_the_ball_or_a_small_one_is_no_interference(turn_deg: float, ball_y_yd: float) -> None:
    assert not fouls(covered_receiver((2.15, 2.3), 2.35, turn_deg, ball_y_yd))


@pytest.mark.parametrize(("turn_deg", "fouled"), [(0.0, False), (40.0, True)])
def test_a_receiver_who_runs_past_the_ball_is_interfered_with_only_if_he_turns(turn_deg: float, fouled: bool) -> None:
    """The ball beside him is behind him a moment later, but it was he who ran past it."""
    passed = covered_receiver((2.15, 2.6), 2.35, turn_deg, LANE_YD - 2.5, ball_x_yd=50.0)
    assert bool(fouls(passed)) is fouled


def test_a_claim_that_names_nobody_is_spotted_at_the_last_touch() -> None:
    filmed = covered_receiver((2.15, 2.3), 9.0)
    claimed = (3.4, Claim("defensive_pass_interference", "home"))
    foul = only_call(judge_play(filmed, QB, (1.2, PassDeclared()), claimed), "penalty")
    assert foul.spot_yd is not None
    assert foul.spot_yd == pytest.approx((48.75 + 15.0 / FIELD.mm_per_yd_x, LANE_YD), abs=0.15)
    assert foul.numbers is not None
    assert foul.numbers.enforced_to_yd == pytest.approx(foul.spot_yd[0])


def with_pass(*, due: str = "scrimmage", **more: object) -> DeclaredGame:
    table = DeclaredGame("tap")
    men = (Player(QB, "dark", role="QB"), Player(END, "dark", role="WR"), Player(CORNER, "light", role="DB"))
    table.declare(LineUpDeclared(men, "dark"))
    table.declare(SetUp("home", 1, due=due, **more))  # type: ignore[arg-type]
    table.declare(Carrier(QB), Switch(True), Switch(False), PassDeclared(END))
    return table


def awarded(table: DeclaredGame, claim: str, by: str) -> list[Call]:
    """Claim interference, and rule the proposal that follows to stand."""
    (call,) = table.declare(Claim(claim, by, END))  # type: ignore[arg-type]
    return table.declare(Ruling(call.id, "confirm"))


def test_defensive_interference_on_a_try_is_tried_again_from_the_foul() -> None:
    table = with_pass(due="two_point", score=(6, 0))
    awarded(table, "defensive_pass_interference", "home")
    assert table.state.due == "two_point"
    assert table.state.try_for == "home"
    table.declare(Carrier(QB), Switch(True))
    assert table.state.play.kind == "two_point"


def test_offensive_interference_on_a_try_fails_it() -> None:
    table = with_pass(due="two_point", score=(6, 0))
    awarded(table, "offensive_pass_interference", "away")
    assert table.state.score == (6, 0)
    assert (table.state.due, table.state.try_for) == ("kickoff", None)


def test_offensive_interference_on_fourth_down_turns_the_ball_over() -> None:
    table = with_pass(spot_yd=40.0, down=4)
    awarded(table, "offensive_pass_interference", "away")
    assert table.state.offense == "away"
    assert "turnover_on_downs" in kinds(list(table.game.calls))


def test_interference_claimed_after_the_whistle_is_enforced_from_the_play() -> None:
    table = with_pass(spot_yd=40.0, down=3)
    table.declare(PassEnded("incomplete"))
    assert table.state.down == 4
    (call,) = table.declare(Claim("offensive_pass_interference", "away", END))
    assert (call.verdict, table.state.down) == ("proposed", 4)
    table.declare(Ruling(call.id, "confirm"))
    assert (table.state.los_yd, table.state.down) == (25.0, 4)


def test_a_touchdown_is_taken_back_by_interference_claimed_after_it() -> None:
    table = with_pass(spot_yd=40.0)
    table.declare(PassEnded("complete", END, (60.0, 20.0)), PlayEnded("touchdown"))
    assert table.state.score == (6, 0)
    awarded(table, "offensive_pass_interference", "away")
    assert (table.state.score, table.state.due, table.state.try_for) == ((0, 0), "scrimmage", None)
    assert (table.state.los_yd, table.state.down) == (25.0, 2)


def test_the_next_snap_ends_the_time_for_a_claim() -> None:
    table = with_pass(spot_yd=40.0)
    table.declare(PassEnded("incomplete"), Carrier(QB), Switch(True))
    with pytest.raises(RefusedError, match="no pass has been attempted"):
        table.declare(Claim("defensive_pass_interference", "home", END))
    table = with_pass(spot_yd=40.0)
    table.declare(PassEnded("incomplete"), SetUp("home", 1, 50.0))
    with pytest.raises(RefusedError, match="no play is on"):
        table.declare(Claim("defensive_pass_interference", "home", END))


def test_a_claim_of_delay_after_a_play_is_about_the_line_up() -> None:
    """Only fouls in a play go back to it."""
    table = with_pass(spot_yd=40.0)
    table.declare(PassEnded("complete", END, (60.0, 20.0)), PlayEnded("tackle", (65.0, 20.0)))
    delay = Call("hand", "penalty", 0, "tap", (), "called", "delay", side="away", detail="delay_of_game")
    table.declare(Ruling("", "manual", delay))
    assert table.state.los_yd == 60.0
