from __future__ import annotations

from collections.abc import Callable

import pytest
from scripted_plays import (
    FIELD,
    HALF_YD,
    MIDDLE_YD,
    Film,
    ScriptedFigure,
    film,
    judge_play,
    kinds,
    number_events,
    only_call,
    opening,
    runs,
    stands,
)

from downfield.core.scene import Ball
from downfield.officiating.declarations import BallPlaced, ChoiceMade, Coin, PassDeclared, Pitch
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.state.game_state import Phase

QB, END, BACK, GUARD = "dark-10", "dark-80", "dark-30", "dark-60"
CORNER = "light-21"
SNAP, STOP, THROW = 0.5, 1.0, 2.0


def ball_at(x_yd: float, y_yd: float, from_s: float = 1.5) -> Callable[[float], Ball | None]:
    """The magnetic ball, once the stick has put it there."""
    place = Ball("magnetic", x_yd * FIELD.mm_per_yd_x, y_yd * FIELD.mm_per_yd_y)
    return lambda t_s: place if t_s >= from_s else None


def passing(
    *others: ScriptedFigure,
    end: ScriptedFigure | None = None,
    ball: tuple[float, float] = (55.0, 40.0),
    seconds: float = 4.0,
    qb_yd: float = 34.0,
) -> Film:
    """A stoppage half a second after the snap, then the board on again with the ball on the field."""
    receiver = end or ScriptedFigure(END, runs(48, 40.0, 5.0, start_s=THROW), "WR")
    men = [ScriptedFigure(QB, stands(qb_yd, heading=0.0), "QB"), receiver, *others]
    return film(men, seconds, on=((SNAP, STOP), (THROW, 99.0)), ball=ball_at(*ball))


THROWN = (1.2, PassDeclared(END))


def test_the_first_to_reach_the_ball_catches_it() -> None:
    made = judge_play(passing(), QB, THROWN)
    caught = only_call(made, "reception")
    assert made.refused == ()
    assert caught.players == (END,)
    reach_mm = 7 * FIELD.mm_per_yd_x - 15.0 - 5.0
    assert caught.t_ns / 1e9 == pytest.approx(THROW + reach_mm / (5 * FIELD.mm_per_yd_x), abs=0.002)
    assert made.state.play.carrier == END
    assert made.state.phase is Phase.LIVE
    assert caught.clauses == ("TAP-103",)


def test_a_defender_first_is_an_interception_and_may_return_it() -> None:
    corner = ScriptedFigure(CORNER, runs(58, 40.0, 6.0, 180.0, start_s=THROW), "DB")
    made = judge_play(passing(corner, end=ScriptedFigure(END, stands(45, 48.0), "WR"), seconds=14.0), QB, THROWN)
    assert only_call(made, "interception").players == (CORNER,)
    assert made.state.score == (0, 6)


def test_a_simultaneous_touch_is_the_offenses_ball() -> None:
    made = judge_play(
        passing(ScriptedFigure(CORNER, runs(62, 40.0, 5.0, 180.0, start_s=THROW), "DB"), seconds=3.5), QB, THROWN
    )
    caught = only_call(made, "reception")
    assert "TAP-108" in caught.clauses
    assert caught.unit == "s"


def test_a_fallen_defender_does_not_intercept() -> None:
    down = ScriptedFigure(CORNER, stands(55 + 19.0 / FIELD.mm_per_yd_x, 40.0), "DB", 0.8)
    made = judge_play(passing(down), QB, THROWN)
    assert "interception" not in kinds(made)
    assert only_call(made, "reception").players == (END,)


def test_an_engaged_receiver_does_not_catch_unless_the_league_allows_it() -> None:
    tied = ScriptedFigure(CORNER, runs(48, 40.0 + 17.9 / FIELD.mm_per_yd_y, 5.0, start_s=THROW), "DB")
    play = passing(tied, ball=(55.0, 39.6))
    assert "reception" not in kinds(judge_play(play, QB, (1.2, PassDeclared())))
    league = Rulebook("league", "", TAP, {"pass.engaged_may_catch": True})
    assert "reception" in kinds(judge_play(play, QB, (1.2, PassDeclared()), book=league))


def test_a_receiver_past_the_ball_lets_the_offense_stop_without_an_interception() -> None:
    wide = ScriptedFigure(END, runs(48, 42.5, 20.0, start_s=THROW, stop_s=THROW + 0.8), "WR")
    made = judge_play(passing(end=wide), QB, THROWN, (3.2, ChoiceMade("overrun_stop")))
    over = only_call(made, "overrun")
    past_mm = (64 - 55) * FIELD.mm_per_yd_x - 15.0
    assert over.margin == pytest.approx(past_mm - 30.0, abs=0.5)
    assert (made.state.down, made.state.los_yd) == (2, 40.0)


def test_an_overrun_by_less_than_a_base_is_refused() -> None:
    wide = ScriptedFigure(END, runs(48, 42.5, 20.0, start_s=THROW, stop_s=THROW + 0.45), "WR")
    made = judge_play(passing(end=wide), QB, THROWN, (3.2, ChoiceMade("overrun_stop")))
    assert "TAP-104" in made.refused[0].reason
    assert made.state.phase is Phase.IN_AIR


def test_the_catch_runs_on_to_a_tackle_and_a_first_down() -> None:
    made = judge_play(passing(ScriptedFigure(CORNER, stands(66, 40.0), "DB"), seconds=7.0), QB, THROWN)
    assert {"reception", "tackle", "first_down"} <= set(kinds(made))
    assert made.state.los_yd == pytest.approx(66 - HALF_YD, abs=0.05)


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ((PassDeclared("dark-99"),), "no figure"),
        ((PassDeclared(CORNER),), "does not play for"),
        ((PassDeclared(GUARD),), "lineman"),
        ((PassDeclared(QB),), "own receiver"),
        ((PassDeclared(END), PassDeclared(END)), "not now"),
    ],
)
def test_a_pass_to_an_ineligible_receiver_is_refused(declared: tuple[PassDeclared, ...], reason: str) -> None:
    play = passing(ScriptedFigure(GUARD, stands(38, 20), "G"), ScriptedFigure(CORNER, stands(80), "DB"))
    made = judge_play(play, QB, *((1.2 + n / 10, body) for n, body in enumerate(declared)))
    assert reason in made.refused[-1].reason


def test_a_pass_while_the_board_runs_is_refused() -> None:
    assert "not now" in judge_play(passing(), QB, (0.7, PassDeclared(END))).refused[0].reason


def test_a_passer_past_the_line_may_not_pass() -> None:
    made = judge_play(passing(qb_yd=45.0), QB, THROWN)
    assert "TAP-096" in made.refused[0].reason or "line of scrimmage" in made.refused[0].reason


def test_a_running_back_who_took_the_snap_may_neither_pass_nor_pitch() -> None:
    play = film([ScriptedFigure(BACK, stands(34), "RB"), ScriptedFigure(QB, stands(30), "QB")], 3.0, on=((SNAP, STOP),))
    made = judge_play(play, BACK, (1.2, PassDeclared()), (1.3, Pitch(QB)))
    assert [refused.reason for refused in made.refused if "TAP-084" in refused.reason]
    assert len(made.refused) == 2


def test_a_ball_behind_the_passers_base_is_reported() -> None:
    made = judge_play(passing(ball=(30.0, 40.0)), QB, THROWN)
    told = [call for call in made.calls if call.detail == "ball_behind_passer"]
    assert [call.clauses for call in told] == [("TAP-107",)]


def pitching(back_yd: float = 31.0, back_y: float = MIDDLE_YD + 3, *others: ScriptedFigure) -> Film:
    return film(
        [
            ScriptedFigure(QB, stands(34, heading=0.0), "QB"),
            ScriptedFigure(BACK, stands(back_yd, back_y, 0.0), "RB"),
            *others,
        ],
        3.0,
        on=((SNAP, STOP),),
    )


def test_where_lengths_in_mm_are_not_known_people_lay_the_stick_and_the_rest_is_judged() -> None:
    for play, refused in ((pitching(31.0, MIDDLE_YD + 12), 0), (pitching(36.0), 1)):
        events = number_events(*opening(play, QB), (1.2, Pitch(BACK)))
        judged = judge_recording(play.scenes, events, load_rulebook("tap"), FIELD, lengths_known=False)
        assert len(judged.refused) == refused


def test_a_pitch_back_within_the_short_stick_gives_him_the_ball() -> None:
    made = judge_play(pitching(), QB, (1.2, Pitch(BACK)))
    assert made.refused == ()
    assert made.state.play.carrier == BACK


@pytest.mark.parametrize(
    ("back_yd", "back_y", "between", "reason"),
    [
        (36.0, MIDDLE_YD + 3, False, "behind"),
        (31.0, MIDDLE_YD + 12, False, "short stick"),
        (31.0, MIDDLE_YD + 5, True, "in between"),
    ],
)
def test_an_illegal_pitch_is_refused_with_the_measurement(
    back_yd: float, back_y: float, between: bool, reason: str
) -> None:
    others = [ScriptedFigure(CORNER, stands(32.5, MIDDLE_YD + 2.5), "LB")] if between else []
    made = judge_play(pitching(back_yd, back_y, *others), QB, (1.2, Pitch(BACK)))
    assert reason in made.refused[0].reason
    assert made.state.play.carrier == QB


def test_pass_interference_is_proposed_with_the_headings_only_when_the_victim_turns_away() -> None:
    def spun(t_s: float) -> tuple[float, float, float]:
        x_yd, y_yd, _ = runs(48, 40.0, 5.0, start_s=THROW)(t_s)
        return x_yd, y_yd, min(max(t_s - 2.25, 0.0) * 400, 60.0)

    bump_y = 40.0 + 18.0 / FIELD.mm_per_yd_y
    bump = ScriptedFigure(CORNER, runs(52, bump_y, 0.0, start_s=THROW), "DB")
    made = judge_play(passing(bump, end=ScriptedFigure(END, spun, "WR"), ball=(70.0, 40.0)), QB, (1.2, PassDeclared()))
    foul = only_call(made, "penalty")
    assert (foul.verdict, foul.detail, foul.side) == ("proposed", "defensive_pass_interference", "home")
    assert foul.players == (CORNER, END)
    assert "degrees" in foul.text
    straight = judge_play(passing(bump, ball=(70.0, 40.0)), QB, (1.2, PassDeclared()))
    assert "penalty" not in kinds(straight)


def test_the_ball_can_be_declared_where_no_camera_sees_it() -> None:
    play = film(
        [
            ScriptedFigure(QB, stands(34, heading=0.0), "QB"),
            ScriptedFigure(END, runs(48, 40.0, 5.0, start_s=THROW), "WR"),
        ],
        4.0,
        on=((SNAP, STOP), (THROW, 9)),
    )
    made = judge_play(play, QB, THROWN, (1.5, BallPlaced(55.0, 40.0)))
    assert only_call(made, "reception").players == (END,)


def test_an_unexpected_coin_is_refused() -> None:
    assert "does not wait" in judge_play(passing(), QB, (1.2, Coin(True))).refused[0].reason
