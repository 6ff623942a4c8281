"""TAP's plays with the ball in hand: spots, lines, stoppages, touchdowns, fumbles."""

from dataclasses import replace

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
    only_call,
    runs,
    stands,
)

from downfield.core.footprint import Footprint
from downfield.officiating.declarations import ChoiceMade, Coin
from downfield.officiating.engine.recording import Judgment
from downfield.officiating.state.facts import Facts
from downfield.officiating.state.game_state import PendingInput, Phase
from downfield.officiating.state.play_state import PlayState

RUNNER = "dark-22"

HITTER = "light-50"

HALF_WIDTH_MM = 9.0


def meeting(runner_falls: float | None = None, hitter_falls: float | None = None, *others: ScriptedFigure) -> Film:
    """A runner from the 41 meets a standing man at the 50 after about 0.7 s and stops there."""
    stop = CONTACT_S
    return film(
        [
            ScriptedFigure(RUNNER, runs(41, stop_s=stop), "RB", runner_falls),
            ScriptedFigure(HITTER, stands(50), "LB", hitter_falls),
            *others,
        ]
    )


CONTACT_S = 0.5 + (9 - 2 * HALF_YD) / 10


def test_the_spot_is_the_foremost_corner_at_any_heading() -> None:
    turned = film(
        [
            ScriptedFigure(RUNNER, runs(41, speed=10, facing=150.0, stop_s=1.0), "RB"),
            ScriptedFigure(HITTER, runs(60, speed=0.0), "LB"),
        ],
        on=((0.5, 1.2),),
    )
    made = judge_play(turned, RUNNER, (1.3, ChoiceMade("stop_here")))
    figure = turned.scenes[-1].figures[0]
    reach = Footprint(figure.x_mm, figure.y_mm, figure.heading_deg, turned.players[0].base).reach_mm(0.0)
    assert only_call(made, "stopped").spot_yd == pytest.approx((reach / FIELD.mm_per_yd_x, MIDDLE_YD), abs=1e-6)


def test_reaching_the_line_gives_the_defense_the_switch_and_uses_no_stoppage() -> None:
    made = judge_play(
        film(
            [ScriptedFigure(RUNNER, runs(35), "RB"), ScriptedFigure(HITTER, stands(80), "LB")],
            on=((0.5, 1.2), (1.6, 9)),
        ),
        RUNNER,
    )
    line = only_call(made, "line_of_scrimmage")
    assert line.t_ns / 1e9 == pytest.approx(0.5 + (5 - HALF_YD) / 10, abs=0.002)
    assert made.state.play.switch == "away"
    assert made.state.play.stoppages_used == 0
    assert made.state.phase is Phase.LIVE


def test_stoppages_are_counted_and_the_fourth_is_reported_as_one_too_many() -> None:
    stops = tuple((0.5 + 0.4 * n, 0.7 + 0.4 * n) for n in range(5))
    made = judge_play(film([ScriptedFigure(RUNNER, stands(30), "QB")], on=stops), RUNNER)
    stoppages = [call for call in made.calls if call.kind == "stoppage"]
    assert [call.detail for call in stoppages] == ["legal"] * 3 + ["illegal"] * 2
    assert made.state.play.stoppages_used == 5


def test_a_stoppage_past_the_line_is_illegal() -> None:
    made = judge_play(
        film(
            [ScriptedFigure(RUNNER, runs(35), "RB"), ScriptedFigure(HITTER, stands(90), "LB")],
            on=((0.5, 1.2), (1.3, 1.6), (1.7, 9)),
        ),
        RUNNER,
    )
    assert only_call(made, "stoppage").detail == "illegal"


@pytest.mark.parametrize("heading", [45.0, -45.0])
def test_the_sidelines_paint_is_out(heading: float) -> None:
    start = FIELD.width_yd - 4 if heading > 0 else 4.0
    made = judge_play(film([ScriptedFigure(RUNNER, runs(41, start, heading=heading), "RB")]), RUNNER)
    out = only_call(made, "out_of_bounds")
    assert out.verdict == "called"
    assert "TAP-G3" in out.clauses
    assert made.state.down == 2


def test_a_runner_a_hair_inside_the_sideline_is_in() -> None:
    y_yd = (HALF_WIDTH_MM + 0.05) / FIELD.mm_per_yd_y
    assert "out_of_bounds" not in kinds(judge_play(film([ScriptedFigure(RUNNER, runs(41, y_yd), "RB")]), RUNNER))


@pytest.mark.parametrize("direction", [1, -1])
def test_reaching_the_goal_line_is_a_touchdown(direction: int) -> None:
    x_yd, heading = (95.0, 0.0) if direction > 0 else (5.0, 180.0)
    made = judge_play(
        film([ScriptedFigure(RUNNER, runs(x_yd, heading=heading), "RB")]),
        RUNNER,
        line_yd=x_yd - 1 * direction,
        direction=direction,
        distance_yd=0,
    )
    score = only_call(made, "touchdown")
    assert score.t_ns / 1e9 == pytest.approx(0.5 + (5 - HALF_YD) / 10, abs=0.002)
    assert made.state.score == (6, 0)
    assert made.state.wait is not None
    assert made.state.wait.purpose == "try"


def test_a_touchdown_after_the_contact_does_not_count_but_one_after_a_broken_tackle_does() -> None:
    at_goal = [ScriptedFigure(RUNNER, runs(95, speed=10), "RB"), ScriptedFigure(HITTER, stands(99, heading=180), "LB")]
    assert "touchdown" not in kinds(judge_play(film(at_goal), RUNNER, line_yd=94.0))
    at_goal[1] = ScriptedFigure(HITTER, stands(99, heading=180), "LB", 0.8)
    made = judge_play(film(at_goal), RUNNER, line_yd=94.0)
    assert [kind for kind in kinds(made) if kind != "line_of_scrimmage"] == ["broken_tackle", "touchdown"]


def stopped_while_a_tackle_waits(off_s: float) -> Judgment:
    """A runner breaks a tackle at 1.34 s, known half a second later, and crosses the goal line at 1.82 s."""
    men = [
        ScriptedFigure(RUNNER, runs(75, speed=17.8), "RB"),
        ScriptedFigure(HITTER, stands(93, heading=180), "LB", 1.6),
        ScriptedFigure("light-30", stands(102, heading=180), "LB"),  # whom he meets past the line, at 1.85 s
    ]
    return judge_play(film(men, 3.0, on=((0.5, off_s), (off_s + 0.2, 9.0))), RUNNER, line_yd=75.0, down=4)


def test_a_board_off_and_on_again_while_a_tackle_waits_runs_on_when_the_tackle_is_broken() -> None:
    made = stopped_while_a_tackle_waits(1.4)
    assert [kind for kind in kinds(made, "called") if kind != "line_of_scrimmage"] == ["broken_tackle", "touchdown"]


def test_a_touchdown_just_after_a_stop_comes_before_the_contact_that_follows_it() -> None:
    made = stopped_while_a_tackle_waits(1.6)
    assert only_call(made, "touchdown").t_ns / 1e9 == pytest.approx(0.5 + (25 - HALF_YD) / 17.8, abs=0.002)
    assert "tackle" not in kinds(made)
    assert made.state.score == (6, 0)


@pytest.mark.parametrize(("had_s", "crossed_s"), [(None, 1.0), (0.7, 1.0), (1.21, 1.21)])
def test_a_line_is_not_crossed_before_the_board_is_on_and_the_carrier_has_the_ball(
    had_s: float | None, crossed_s: float
) -> None:
    scenes = film([ScriptedFigure(RUNNER, runs(95), "RB")], 1.5).scenes
    play = PlayState(carrier=RUNNER, board_on_ns=500_000_000)
    if had_s is not None:
        play = play.gained("home", RUNNER, "reception", round(had_s * 1e9))
    state = replace(judge_play(film([]), RUNNER).state, play=play)
    scenes = tuple(scene for scene in scenes if scene.t_ns <= 1_250_000_000)
    line_mm = 100 * FIELD.mm_per_yd_x
    facts = Facts(scenes[-1], scenes[:-1], state, FIELD)
    crossed_ns = facts.crossing(scenes[-1].figures[0].x_mm - line_mm, lambda then, _scene: then.x_mm - line_mm)[0]
    assert crossed_ns / 1e9 == pytest.approx(crossed_s, abs=0.001)


@pytest.mark.parametrize("direction", [1, -1])
def test_a_tackle_past_a_goal_line_too_close_to_call_waits_for_a_measurement(direction: int) -> None:
    past = 100 - HALF_YD + 0.1 / FIELD.mm_per_yd_x
    stop = 0.5 + (past - 95) / 10
    begun, met, heading = (95.0, past + 2 * HALF_YD, 0.0) if direction > 0 else (5.0, 100 - past - 2 * HALF_YD, 180.0)
    men = [
        ScriptedFigure(RUNNER, runs(begun, heading=heading, stop_s=stop), "RB", sigma_mm=0.3),
        ScriptedFigure(HITTER, stands(met, heading=180 - heading), "LB"),
    ]
    made = judge_play(film(men), RUNNER, line_yd=begun - direction, direction=direction, down=1, distance_yd=6)
    assert only_call(made, "touchdown").verdict == "too_close"
    assert only_call(made, "tackle").verdict == "called"
    assert made.state.wait == PendingInput("ruling", "measurement")
    assert made.state.down == 1


def test_down_behind_the_own_goal_line_is_a_safety() -> None:
    made = judge_play(
        film(
            [
                ScriptedFigure(RUNNER, runs(-3.0, speed=-1.0, facing=0.0), "QB"),
                ScriptedFigure(HITTER, stands(-7), "LB"),
            ],
            4.0,
        ),
        RUNNER,
        line_yd=3.0,
    )
    assert {"tackle", "safety"} <= set(kinds(made))
    assert made.state.score == (0, 2)
    assert made.state.due == "free_kick"
    assert made.state.kicking == "home"


def test_a_runner_turned_toward_his_own_goal_is_reported_and_may_be_stopped_or_let_run() -> None:
    back = film(
        [ScriptedFigure(RUNNER, runs(38, speed=5, heading=180.0), "RB"), ScriptedFigure(HITTER, stands(90), "LB")]
    )
    made = judge_play(back, RUNNER)
    told = only_call(made, "turned_back")
    assert (told.verdict, told.detail, told.clauses) == ("reported", "turned", ("TAP-031",))
    assert made.state.phase is Phase.LIVE
    stopped = judge_play(back, RUNNER, (2.0, ChoiceMade("stop_here")))
    assert "stopped" in kinds(stopped)
    assert stopped.state.down == 2


def test_a_runner_pushed_back_while_facing_forward_is_reported_as_pushed() -> None:
    back = film(
        [ScriptedFigure(RUNNER, runs(38, speed=-5, facing=0.0), "RB"), ScriptedFigure(HITTER, stands(90), "LB")]
    )
    assert only_call(judge_play(back, RUNNER), "turned_back").detail == "pushed"


@pytest.mark.parametrize(("heads", "owner"), [(True, "home"), (False, "away")])
def test_the_coin_decides_a_fumble(heads: bool, owner: str) -> None:
    made = judge_play(meeting(CONTACT_S + 0.2), RUNNER, (2.5, Coin(heads)))
    assert made.refused == ()
    assert only_call(made, "fumble_recovery").detail == ("kept" if heads else "lost")
    assert made.state.play.ball_side == owner
    if heads:
        assert made.state.down == 2
    else:
        assert made.state.play.carrier == HITTER


def test_a_fumble_recovered_by_the_defense_is_live_and_runs_the_other_way() -> None:
    stop = 0.5 + (9 - 2 * HALF_YD) / 10
    men = [
        ScriptedFigure(RUNNER, runs(41, stop_s=stop), "RB", stop + 0.2),
        ScriptedFigure(HITTER, runs(50, speed=-20.0, facing=180.0, start_s=3.0), "LB"),
    ]
    made = judge_play(film(men, 7.0, on=((0.5, 2.0), (3.0, 9.0))), RUNNER, (2.5, Coin(False)))
    score = only_call(made, "touchdown")
    assert score.side == "away"
    assert made.state.score == (0, 6)


def test_a_runner_stopped_within_the_error_of_the_goal_line_is_too_close_and_the_game_waits() -> None:
    short = 100 - HALF_YD - 0.1 / FIELD.mm_per_yd_x
    stop = 0.5 + (short - 95) / 10
    men = [
        ScriptedFigure(RUNNER, runs(95, stop_s=stop), "RB", sigma_mm=0.3),
        ScriptedFigure(HITTER, stands(short + 2 * HALF_YD, heading=180), "LB"),
    ]
    made = judge_play(film(men), RUNNER, line_yd=94.0)
    score = only_call(made, "touchdown")
    assert score.verdict == "too_close"
    assert score.unit == "mm"
    assert score.margin == pytest.approx(-0.1, abs=0.02)
    assert only_call(made, "tackle").verdict == "called"
    assert made.state.wait == PendingInput("ruling", "measurement")
    assert score.id in made.state.proposals


def test_a_carrier_held_in_a_hand_crosses_no_line_and_is_not_touched() -> None:
    play = film(
        [ScriptedFigure(RUNNER, runs(95, stop_s=2.5), "RB"), ScriptedFigure(HITTER, stands(99, heading=180), "LB")]
    )
    lifted = tuple(
        replace(
            scene,
            figures=tuple(
                replace(figure, posture="lifted") if figure.id == RUNNER else figure for figure in scene.figures
            ),
        )
        for scene in play.scenes
    )
    assert kinds(judge_play(replace(play, scenes=lifted), RUNNER, line_yd=97.0)) == []
    unseen = tuple(
        replace(
            scene,
            figures=tuple(
                replace(figure, posture="unseen") if figure.id == RUNNER else figure for figure in scene.figures
            ),
        )
        for scene in play.scenes
    )
    assert kinds(judge_play(replace(play, scenes=unseen), RUNNER, line_yd=97.0), "called") == []
