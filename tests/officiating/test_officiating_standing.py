"""What stands when several things are true of one play, and what may not be declared then."""

from __future__ import annotations

import pytest
from card_games import CardGameTable
from declared_game import DeclaredGame
from scripted_plays import FIELD, MIDDLE_YD, Film, ScriptedFigure, film, judge_play, only_call, runs, stands

from downfield.core.errors import RefusedError
from downfield.core.scene import Ball, Player
from downfield.officiating.calls import Call
from downfield.officiating.checks.movement import PoseChange
from downfield.officiating.checks.pivots import StoppageChanges, StoppageKind, fumble_turns_in_place
from downfield.officiating.declarations import ChoiceMade, Claim, ClockSet, PassDeclared, Pitch, SetUp
from downfield.officiating.events import Ruling
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.play_state import PlayState, Pose
from downfield.officiating.unseen_declarations import CardPlayed

QB, END, BACK, CORNER = "dark-10", "dark-80", "dark-30", "light-21"


def touched_receiver(turn_deg: float, *, until_s: float = 2.3, turns_at_s: float = 2.35) -> Film:
    """A corner who touches the receiver for a moment and is gone; the receiver turns only then."""

    def corner(t_s: float) -> tuple[float, float, float]:
        x_yd, y_yd, _ = runs(48, 40.0, 5.0, start_s=2.0)(t_s)
        gap_mm = 0.0 if 2.15 <= t_s < until_s else 8.0
        return x_yd, y_yd + (18.0 + gap_mm) / FIELD.mm_per_yd_y, 180.0

    def receiver(t_s: float) -> tuple[float, float, float]:
        x_yd, y_yd, _ = runs(48, 40.0, 5.0, start_s=2.0)(t_s)
        return x_yd, y_yd, turn_deg if t_s >= turns_at_s else 0.0

    ball = Ball("magnetic", 70.0 * FIELD.mm_per_yd_x, 40.0 * FIELD.mm_per_yd_y)
    men = [
        ScriptedFigure(QB, stands(34, heading=0.0), "QB"),
        ScriptedFigure(END, receiver, "WR"),
        ScriptedFigure(CORNER, corner, "DB"),
    ]
    return film(men, 4.0, on=((0.5, 1.0), (2.0, 99.0)), ball=lambda t_s: ball if t_s >= 1.5 else None)


def test_a_touch_that_is_over_before_the_turn_shows_is_interference_where_it_happened() -> None:
    foul = only_call(judge_play(touched_receiver(-40.0), QB, (1.2, PassDeclared())), "penalty")
    assert foul.verdict == "proposed"
    assert foul.detail == "defensive_pass_interference"
    touched_x = 48 + 5.0 * (foul.t_ns / 1e9 - 2.0) + 15.0 / FIELD.mm_per_yd_x
    assert foul.spot_yd == pytest.approx((touched_x, 40.0), abs=0.1)


@pytest.mark.parametrize("named", [END, CORNER])
def test_a_claim_made_later_spots_the_foul_where_the_touch_was(named: str) -> None:
    claimed = (3.5, Claim("defensive_pass_interference", "home", named))
    judged = judge_play(touched_receiver(0.0), QB, (1.2, PassDeclared()), claimed)
    foul = only_call(judged, "penalty")
    assert foul.spot_yd == pytest.approx((48.75 + 15.0 / FIELD.mm_per_yd_x, 40.0), abs=0.15)
    assert "no touch" not in foul.text


def test_a_claim_about_a_man_nobody_touched_says_so() -> None:
    claimed = (3.5, Claim("defensive_pass_interference", "home", QB))
    foul = only_call(judge_play(touched_receiver(0.0), QB, (1.2, PassDeclared()), claimed), "penalty")
    assert "no touch of his was seen" in foul.text


@pytest.mark.parametrize(("turn_deg", "turns_at_s"), [(0.0, 2.35), (-40.0, 2.8), (-10.0, 2.35)])
def test_a_touch_without_a_turn_soon_after_it_is_no_interference(turn_deg: float, turns_at_s: float) -> None:
    judged = judge_play(touched_receiver(turn_deg, turns_at_s=turns_at_s), QB, (1.2, PassDeclared()))
    assert "penalty" not in [call.kind for call in judged.calls]


@pytest.mark.parametrize(("from_line_mm", "out"), [(2.0, True), (4.5, False)])
def test_the_balls_own_outline_over_the_sideline_is_out(from_line_mm: float, out: bool) -> None:
    man = ScriptedFigure("dark-28", runs(41, 3.0), "RB")

    def ball(t_s: float) -> Ball:
        x_yd, _, _ = man.path(t_s)
        y_mm = from_line_mm if t_s > 1.5 else 30.0
        return Ball("carried", x_yd * FIELD.mm_per_yd_x, y_mm, "dark-28")

    judged = judge_play(film([man], 2.5, ball=ball), "dark-28", book="lions-den")
    assert ("out_of_bounds" in [call.kind for call in judged.calls]) is out


@pytest.mark.parametrize(
    ("kind", "moved_mm", "broken"), [("fumble", 9.0, True), ("fumble", 2.0, False), ("coach", 9.0, False)]
)
def test_a_player_moved_away_from_a_fumble_was_moved_too(kind: StoppageKind, moved_mm: float, broken: bool) -> None:
    before, after = Pose("dark-1", 300.0, 100.0, 0.0), Pose("dark-1", 300.0 - moved_mm, 100.0, 20.0)
    change = PoseChange(Player("dark-1", "dark"), True, before, after, moved_mm, 0.5, 20.0, 1.0)
    results = fumble_turns_in_place(StoppageChanges(FIELD, kind, (change,), (400.0, 100.0)))
    assert [result.outcome for result in results if result.outcome == "broken"] == ["broken"] * broken
    if broken:
        assert f"{moved_mm:.0f} mm" in results[0].text


@pytest.mark.parametrize(("lines", "running", "reviewed"), [(16, True, True), (16, False, False), (17, True, False)])
def test_a_review_needs_two_minutes_after_the_play(lines: int, running: bool, reviewed: bool) -> None:
    """A play with the clock running takes four lines: from 2:40 it leaves 2:00."""
    table = CardGameTable().at(40, period=3)
    table.declare(SetUp("home", 1, 40.0, period=2, clock_s=10.0 * lines))
    state = table.state
    assert state.time_outs is not None
    for _ in range(state.time_outs[0]):
        table.declare(Claim("time_out", "home"))
    table.declare(ClockSet(running))
    table.declare(CardPlayed("pass", "13i", roll=45))
    assert table.state.wait is not None
    assert (table.state.wait.purpose == "review") is reviewed


def test_a_catch_past_the_line_keeps_its_free_stop() -> None:
    play = PlayState().forced_to_stop("catch").forced_to_stop("line")
    assert play.forced_stop == "catch"
    assert PlayState().forced_to_stop("line").forced_to_stop("interception").forced_stop == "interception"
    men = [
        ScriptedFigure(QB, stands(34, heading=0.0), "QB"),
        ScriptedFigure(END, runs(48, 40.0, 5.0, start_s=2.0), "WR"),
    ]
    ball = Ball("magnetic", 52.0 * FIELD.mm_per_yd_x, 40.0 * FIELD.mm_per_yd_y)
    on = ((0.5, 1.0), (2.0, 3.0))
    filmed = film(men, 4.0, on=on, ball=lambda t_s: ball if 1.5 <= t_s < 2.6 else None)
    stoppage = judge_play(filmed, QB, (1.2, PassDeclared(END))).state.play.stoppage
    assert stoppage is not None
    assert stoppage.reason == "catch"


@pytest.mark.parametrize(
    "declared",
    [ChoiceMade("stop_here"), ChoiceMade("let_run"), PassDeclared(), Pitch(BACK), ChoiceMade("punt")],
    ids=lambda body: getattr(body, "choice", body.type),
)
def test_nobody_has_the_ball_while_a_pass_is_in_the_air(declared: ChoiceMade | PassDeclared | Pitch) -> None:
    men = [
        ScriptedFigure(QB, stands(34, heading=0.0), "QB"),
        ScriptedFigure(BACK, stands(31, MIDDLE_YD + 3, 0.0), "RB"),
    ]
    ball = Ball("magnetic", 70.0 * FIELD.mm_per_yd_x, 40.0 * FIELD.mm_per_yd_y)
    filmed = film(men, 4.0, on=((0.5, 1.0), (2.0, 2.5)), ball=lambda t_s: ball if t_s >= 1.5 else None)
    judged = judge_play(filmed, QB, (1.2, PassDeclared()), (3.0, declared))
    assert [refused.event for refused in judged.refused] == ["e5"]
    assert judged.state.play.stoppage is not None


def test_a_safety_by_hand_after_an_interception_is_the_passing_teams() -> None:
    men = [
        ScriptedFigure(QB, stands(34, heading=0.0), "QB"),
        ScriptedFigure(CORNER, runs(48, 40.0, 5.0, start_s=2.0), "DB"),
    ]
    ball = Ball("magnetic", 52.0 * FIELD.mm_per_yd_x, 40.0 * FIELD.mm_per_yd_y)
    filmed = film(men, 4.0, on=((0.5, 1.0), (2.0, 3.0)), ball=lambda t_s: ball if 1.5 <= t_s < 2.6 else None)
    safety = Call("hand", "safety", 0, "tap", (), "called", "safety")
    judged = judge_play(filmed, QB, (1.2, PassDeclared()), (3.5, Ruling("", "manual", safety)))
    assert judged.state.score == (2, 0)
    assert judged.state.kicking == "away"


@pytest.mark.parametrize(
    ("book", "kickoff_yd"), [("tap", 30.0), ("efl", 35.0), ("lions-den", 35.0), ("nfl-strategy", 35.0)]
)
def test_a_kick_is_shown_from_the_rulebooks_spot(book: str, kickoff_yd: float) -> None:
    table = DeclaredGame(book)

    def kickers_yd(state: GameState) -> float:
        return state.length_yd - state.progress_yd(state.los_yd)

    assert kickers_yd(table.state) == kickoff_yd
    table.at(63.0)
    table.declare(Ruling("", "manual", Call("hand", "safety", 0, book, (), "called", "safety", side="away")))
    assert table.state.due == "free_kick"
    assert kickers_yd(table.state) == 20.0
    assert table.state.situation == "free kick from H 20"


def test_a_tackle_another_defender_makes_is_not_told_as_a_run() -> None:
    def beside(x_yd: float) -> ScriptedFigure:
        return ScriptedFigure("light-30", stands(x_yd, MIDDLE_YD + 1.2), "DB")

    runner = ScriptedFigure("dark-28", runs(41, stop_s=1.4), "RB")
    faller = ScriptedFigure("light-54", stands(50 + 30.0 / FIELD.mm_per_yd_x), "LB", falls_s=1.5)
    both = judge_play(film([runner, faller, beside(50)], 3.0), "dark-28", line_yd=41)
    alone = judge_play(film([runner, faller], 3.0), "dark-28", line_yd=41)
    assert not [call.text for call in both.calls if "runs on" in call.text]
    assert "tackle" in [call.kind for call in both.calls]
    assert "runs on" in only_call(alone, "broken_tackle").text


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"clock_s": -30.0}, "negative"),
        ({"clock_s": 1e6}, "clock"),
        ({"score": (0, 100_000)}, "score"),
        ({"score": (-3, 0)}, "score"),
        ({"period": 0}, "period"),
        ({"period": 40}, "period"),
        ({"distance_yd": -1.0}, "distance"),
        ({"distance_yd": 101.0}, "distance"),
        ({"clock_s": float("nan")}, "clock"),
    ],
)
@pytest.mark.parametrize("book", ["tap", "efl", "lions-den", "nfl-strategy"])
def test_a_set_up_that_no_game_can_have_is_refused(book: str, wrong: dict[str, object], reason: str) -> None:
    table = DeclaredGame(book)
    before = table.state.score
    with pytest.raises(RefusedError, match=reason):
        table.declare(SetUp("home", 1, 40.0, **wrong))  # type: ignore[arg-type]
    assert table.state.score == before
