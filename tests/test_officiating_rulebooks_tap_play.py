from __future__ import annotations

from dataclasses import replace

import pytest
from hand_plays import FIELD, HALF_YD, MIDDLE_YD, Film, Man, called, film, kinds, runs, stands, the

from downfield.core.footprint import Footprint
from downfield.core.scene import Scene
from downfield.officiating.declarations import ChoiceMade, Coin
from downfield.officiating.engine.facts import Facts
from downfield.officiating.engine.play_state import PlayState
from downfield.officiating.engine.replay import Judgment
from downfield.officiating.engine.state import Phase
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.rulebooks.tap.system import TAP

RUNNER = "dark-22"
HITTER = "light-50"
HALF_WIDTH_MM = 9.0


def meeting(runner_falls: float | None = None, hitter_falls: float | None = None, *others: Man) -> Film:
    """A runner from the 41 meets a standing man at the 50 after about 0.7 s and stops there."""
    stop = CONTACT_S
    return film(
        [
            Man(RUNNER, runs(41, stop_s=stop), "RB", runner_falls),
            Man(HITTER, stands(50), "LB", hitter_falls),
            *others,
        ]
    )


CONTACT_S = 0.5 + (9 - 2 * HALF_YD) / 10
SPOT = 50 - HALF_YD


def test_a_defenders_base_on_the_carriers_is_a_tackle_at_the_instant_of_contact() -> None:
    made = called(meeting(), RUNNER)
    tackle = the(made, "tackle")
    assert tackle.verdict == "called"
    assert tackle.players == (RUNNER, HITTER)
    assert tackle.t_ns / 1e9 == pytest.approx(CONTACT_S, abs=1 / 60)
    assert tackle.spot_yd == pytest.approx((SPOT, MIDDLE_YD), abs=0.02)
    assert {"TAP-022", "TAP-033"} <= set(tackle.clauses)
    assert made.state.situation == "2nd & 1.5 at H 48.5"


@pytest.mark.parametrize(
    ("runner_falls", "hitter_falls", "expected"),
    [
        (None, None, ["tackle"]),
        (None, 0.2, ["broken_tackle"]),
        (0.2, None, ["fumble"]),
        (0.2, 0.3, ["down_by_fall"]),
        (None, 0.6, ["tackle"]),
        (0.6, None, ["tackle"]),
    ],
)
def test_who_falls_in_the_window_decides_the_tackle(
    runner_falls: float | None, hitter_falls: float | None, expected: list[str]
) -> None:
    runner_s, hitter_s = (None if after is None else CONTACT_S + after for after in (runner_falls, hitter_falls))
    made = called(meeting(runner_s, hitter_s), RUNNER)
    assert [kind for kind in kinds(made) if kind != "line_of_scrimmage"] == expected


def test_a_longer_fall_window_is_a_leagues_to_set() -> None:
    league = Rulebook("league", "League", TAP, {"tackle.fall_window_s": 1.0})
    assert "broken_tackle" in kinds(called(meeting(None, CONTACT_S + 0.6), RUNNER, book=league))


def test_a_man_who_has_fallen_before_is_no_tackler_and_falling_over_him_is_no_fumble() -> None:
    made = called(meeting(None, 0.6), RUNNER)
    assert "tackle" not in kinds(made)
    assert "broken_tackle" not in kinds(made)
    made = called(meeting(CONTACT_S + 0.2, 0.6), RUNNER)
    assert "down_by_fall" in kinds(made)
    assert "fumble" not in kinds(made)


def test_the_second_tackler_who_stands_makes_the_tackle() -> None:
    second = Man("light-30", runs(60, speed=10, heading=180.0, stop_s=CONTACT_S + 0.1), "DB")
    made = called(meeting(None, CONTACT_S + 0.2, second), RUNNER)
    assert [kind for kind in kinds(made) if kind != "line_of_scrimmage"] == ["broken_tackle"]
    beside = Man("light-30", stands(50, MIDDLE_YD + 1.2), "DB")
    made = called(meeting(None, CONTACT_S + 0.2, beside), RUNNER)
    assert set(kinds(made)) == {"line_of_scrimmage", "broken_tackle", "tackle"}
    assert the(made, "tackle").players == (RUNNER, "light-30")


def test_one_tackler_down_and_one_up_is_a_fumble_when_the_carrier_falls() -> None:
    beside = Man("light-30", stands(50, MIDDLE_YD + 1.2), "DB")
    made = called(meeting(CONTACT_S + 0.1, CONTACT_S + 0.2, beside), RUNNER)
    assert "fumble" in kinds(made)


def test_a_carrier_who_falls_alone_is_down_at_the_front_of_his_base() -> None:
    made = called(film([Man(RUNNER, runs(41), "RB", 1.0), Man(HITTER, stands(80), "LB")]), RUNNER)
    down = the(made, "down_by_fall")
    assert down.spot_yd == pytest.approx((46 + HALF_YD, MIDDLE_YD), abs=0.2)
    assert down.clauses == ("TAP-026",)


def test_a_fall_that_is_told_late_counts_from_when_it_was() -> None:
    made = called(film([Man(RUNNER, runs(41), "RB", 1.0, late_s=0.2), Man(HITTER, stands(80), "LB")]), RUNNER)
    assert the(made, "down_by_fall").t_ns == 1_000_000_000
    runner = Man(RUNNER, runs(41, stop_s=CONTACT_S), "RB")
    for falls_s, broken in ((CONTACT_S - 0.2, False), (CONTACT_S + 0.1, True)):
        made = called(film([runner, Man(HITTER, stands(50), "LB", falls_s, late_s=0.15)]), RUNNER)
        assert ("broken_tackle" in kinds(made)) == broken


@pytest.mark.parametrize(("after_s", "kind"), [(0.45, "broken_tackle"), (0.53, "tackle")])
def test_a_tackle_waits_for_a_fall_at_the_end_of_its_window_to_be_told(after_s: float, kind: str) -> None:
    runner = Man(RUNNER, runs(41, stop_s=CONTACT_S), "RB")
    made = called(film([runner, Man(HITTER, stands(50), "LB", CONTACT_S + after_s, late_s=0.1)]), RUNNER)
    assert kinds(made)[-1] == kind


@pytest.mark.parametrize(("frames", "down"), [(6, False), (14, True)])
def test_who_stands_again_at_once_had_not_fallen(frames: int, down: bool) -> None:
    play = film([Man(RUNNER, runs(41), "RB"), Man(HITTER, stands(80), "LB")])
    scenes = list(play.scenes)
    for n in range(60, 60 + frames):
        runner, hitter = scenes[n].figures
        scenes[n] = replace(scenes[n], figures=(replace(runner, posture="fallen"), hitter))
    made = called(replace(play, scenes=tuple(scenes)), RUNNER)
    assert ("down_by_fall" in kinds(made)) == down


def test_another_mans_fall_is_told_and_changes_nothing() -> None:
    made = called(film([Man(RUNNER, runs(41), "RB"), Man(HITTER, stands(80), "LB", 1.0)]), RUNNER)
    assert the(made, "figure_dead").verdict == "reported"
    assert made.state.phase is Phase.LIVE


@pytest.mark.parametrize("gap_mm", [0.05, 1.0])
def test_a_near_miss_is_no_tackle(gap_mm: float) -> None:
    clear = (18.0 + gap_mm) / FIELD.mm_per_yd_y
    made = called(film([Man(RUNNER, runs(41), "RB"), Man(HITTER, stands(50, MIDDLE_YD + clear), "LB")]), RUNNER)
    assert kinds(made) == ["line_of_scrimmage"]


def test_a_contact_within_its_error_is_too_close_to_call_and_shows_both_readings() -> None:
    clear = (18.0 + 0.1) / FIELD.mm_per_yd_y
    close = film([Man(RUNNER, runs(41), "RB"), Man(HITTER, stands(50, MIDDLE_YD + clear), "LB")], sigma_gap_mm=0.3)
    made = called(close, RUNNER)
    tackle = the(made, "tackle")
    assert tackle.verdict == "too_close"
    assert [reading.kind for reading in tackle.readings] == ["tackle", "info"]
    assert sum(reading.probability for reading in tackle.readings) == pytest.approx(1.0)
    assert made.state.phase is Phase.LIVE
    assert made.state.proposals == (tackle.id,)


def test_a_carrier_of_doubtful_identity_is_not_called() -> None:
    play = meeting()
    doubtful = replace(
        play,
        scenes=tuple(
            replace(scene, figures=tuple(replace(one, sure=one.id != RUNNER) for one in scene.figures))
            for scene in play.scenes
        ),
    )
    assert the(called(doubtful, RUNNER), "tackle").verdict == "too_close"


def test_the_spot_is_the_forwardmost_corner_whatever_the_heading() -> None:
    turned = film(
        [Man(RUNNER, runs(41, speed=10, facing=150.0, stop_s=1.0), "RB"), Man(HITTER, runs(60, speed=0.0), "LB")],
        on=((0.5, 1.2),),
    )
    made = called(turned, RUNNER, (1.3, ChoiceMade("stop_here")))
    figure = turned.scenes[-1].figures[0]
    reach = Footprint(figure.x_mm, figure.y_mm, figure.heading_deg, turned.players[0].base).reach_mm(0.0)
    assert the(made, "stopped").spot_yd == pytest.approx((reach / FIELD.mm_per_yd_x, MIDDLE_YD), abs=1e-6)


def test_crossing_the_line_hands_the_switch_to_the_defense_and_the_stop_is_not_counted() -> None:
    made = called(film([Man(RUNNER, runs(35), "RB"), Man(HITTER, stands(80), "LB")], on=((0.5, 1.2), (1.6, 9))), RUNNER)
    line = the(made, "line_of_scrimmage")
    assert line.t_ns / 1e9 == pytest.approx(0.5 + (5 - HALF_YD) / 10, abs=0.002)
    assert made.state.play.switch == "away"
    assert made.state.play.stoppages_used == 0
    assert made.state.phase is Phase.LIVE


def test_stoppages_are_counted_and_the_fourth_is_reported_as_one_too_many() -> None:
    stops = tuple((0.5 + 0.4 * n, 0.7 + 0.4 * n) for n in range(5))
    made = called(film([Man(RUNNER, stands(30), "QB")], on=stops), RUNNER)
    stoppages = [call for call in made.calls if call.kind == "stoppage"]
    assert [call.detail for call in stoppages] == ["legal"] * 3 + ["illegal"] * 2
    assert made.state.play.stoppages_used == 5


def test_a_stoppage_past_the_line_is_illegal() -> None:
    made = called(
        film([Man(RUNNER, runs(35), "RB"), Man(HITTER, stands(90), "LB")], on=((0.5, 1.2), (1.3, 1.6), (1.7, 9))),
        RUNNER,
    )
    assert the(made, "stoppage").detail == "illegal"


@pytest.mark.parametrize("heading", [45.0, -45.0])
def test_the_sidelines_paint_is_out(heading: float) -> None:
    start = FIELD.width_yd - 4 if heading > 0 else 4.0
    made = called(film([Man(RUNNER, runs(41, start, heading=heading), "RB")]), RUNNER)
    out = the(made, "out_of_bounds")
    assert out.verdict == "called"
    assert "TAP-G3" in out.clauses
    assert made.state.down == 2


def test_a_runner_a_hair_inside_the_sideline_is_in() -> None:
    y_yd = (HALF_WIDTH_MM + 0.05) / FIELD.mm_per_yd_y
    assert "out_of_bounds" not in kinds(called(film([Man(RUNNER, runs(41, y_yd), "RB")]), RUNNER))


@pytest.mark.parametrize("direction", [1, -1])
def test_reaching_the_goal_line_is_a_touchdown(direction: int) -> None:
    x_yd, heading = (95.0, 0.0) if direction > 0 else (5.0, 180.0)
    made = called(
        film([Man(RUNNER, runs(x_yd, heading=heading), "RB")]),
        RUNNER,
        line_yd=x_yd - 1 * direction,
        direction=direction,
        distance_yd=0,
    )
    score = the(made, "touchdown")
    assert score.t_ns / 1e9 == pytest.approx(0.5 + (5 - HALF_YD) / 10, abs=0.002)
    assert made.state.score == (6, 0)
    assert made.state.wait is not None
    assert made.state.wait.purpose == "try"


def test_a_touchdown_after_the_contact_does_not_count_but_one_after_a_broken_tackle_does() -> None:
    at_goal = [Man(RUNNER, runs(95, speed=10), "RB"), Man(HITTER, stands(99, heading=180), "LB")]
    assert "touchdown" not in kinds(called(film(at_goal), RUNNER, line_yd=94.0))
    at_goal[1] = Man(HITTER, stands(99, heading=180), "LB", 0.8)
    made = called(film(at_goal), RUNNER, line_yd=94.0)
    assert [kind for kind in kinds(made) if kind != "line_of_scrimmage"] == ["broken_tackle", "touchdown"]


def stopped_while_a_tackle_waits(off_s: float) -> Judgment:
    """A runner breaks a tackle at 1.34 s, known half a second later, and crosses the goal line at 1.82 s."""
    men = [
        Man(RUNNER, runs(75, speed=17.8), "RB"),
        Man(HITTER, stands(93, heading=180), "LB", 1.6),
        Man("light-30", stands(102, heading=180), "LB"),  # whom he meets past the line, at 1.85 s
    ]
    return called(film(men, 3.0, on=((0.5, off_s), (off_s + 0.2, 9.0))), RUNNER, line_yd=75.0, down=4)


def test_a_board_off_and_on_again_while_a_tackle_waits_runs_on_when_it_is_broken() -> None:
    made = stopped_while_a_tackle_waits(1.4)
    assert [kind for kind in kinds(made, "called") if kind != "line_of_scrimmage"] == ["broken_tackle", "touchdown"]


def test_a_touchdown_just_after_a_stop_comes_before_the_contact_that_follows_it() -> None:
    made = stopped_while_a_tackle_waits(1.6)
    assert the(made, "touchdown").t_ns / 1e9 == pytest.approx(0.5 + (25 - HALF_YD) / 17.8, abs=0.002)
    assert "tackle" not in kinds(made)
    assert made.state.score == (6, 0)


@pytest.mark.parametrize(("had_s", "crossed_s"), [(None, 1.0), (0.7, 1.0), (1.21, 1.21)])
def test_a_line_is_not_crossed_before_the_board_is_on_and_the_carrier_has_the_ball(
    had_s: float | None, crossed_s: float
) -> None:
    scenes = film([Man(RUNNER, runs(95), "RB")], 1.5).scenes
    possession_ns = None if had_s is None else round(had_s * 1e9)
    play = PlayState(carrier=RUNNER, board_on_ns=500_000_000, possession_ns=possession_ns)
    state = replace(called(film([]), RUNNER).state, play=play)
    scenes = tuple(scene for scene in scenes if scene.t_ns <= 1_250_000_000)
    line_mm = 100 * FIELD.mm_per_yd_x
    facts = Facts(scenes[-1], scenes[:-1], state, FIELD)
    crossed_ns = facts.crossing_time_ns(scenes[-1].figures[0].x_mm - line_mm, lambda then, _scene: then.x_mm - line_mm)
    assert crossed_ns / 1e9 == pytest.approx(crossed_s, abs=0.001)


@pytest.mark.parametrize("direction", [1, -1])
def test_a_tackle_past_a_goal_line_too_close_to_call_leaves_the_ball_short_of_it(direction: int) -> None:
    past = 100 - HALF_YD + 0.1 / FIELD.mm_per_yd_x
    stop = 0.5 + (past - 95) / 10
    begun, met, heading = (95.0, past + 2 * HALF_YD, 0.0) if direction > 0 else (5.0, 100 - past - 2 * HALF_YD, 180.0)
    men = [
        Man(RUNNER, runs(begun, heading=heading, stop_s=stop), "RB", sigma_mm=0.3),
        Man(HITTER, stands(met, heading=180 - heading), "LB"),
    ]
    made = called(film(men), RUNNER, line_yd=begun - direction, direction=direction, down=1, distance_yd=6)
    assert the(made, "touchdown").verdict == "too_close"
    assert the(made, "tackle").verdict == "called"
    assert made.state.progress_yd(made.state.los_yd) == pytest.approx(99.99)
    assert made.state.distance_yd == pytest.approx(0.01)


def test_down_behind_the_own_goal_line_is_a_safety() -> None:
    made = called(
        film([Man(RUNNER, runs(-3.0, speed=-1.0, facing=0.0), "QB"), Man(HITTER, stands(-7), "LB")], 4.0),
        RUNNER,
        line_yd=3.0,
    )
    assert {"tackle", "safety"} <= set(kinds(made))
    assert made.state.score == (0, 2)
    assert made.state.due == "free_kick"
    assert made.state.kicking == "home"


def test_a_runner_turned_toward_his_own_goal_is_told_and_may_be_stopped_or_let_run() -> None:
    back = film([Man(RUNNER, runs(38, speed=5, heading=180.0), "RB"), Man(HITTER, stands(90), "LB")])
    made = called(back, RUNNER)
    told = the(made, "turned_back")
    assert (told.verdict, told.detail, told.clauses) == ("reported", "turned", ("TAP-031",))
    assert made.state.phase is Phase.LIVE
    stopped = called(back, RUNNER, (2.0, ChoiceMade("stop_here")))
    assert "stopped" in kinds(stopped)
    assert stopped.state.down == 2


def test_a_runner_pushed_back_while_facing_right_is_told_as_pushed() -> None:
    back = film([Man(RUNNER, runs(38, speed=-5, facing=0.0), "RB"), Man(HITTER, stands(90), "LB")])
    assert the(called(back, RUNNER), "turned_back").detail == "pushed"


@pytest.mark.parametrize(("heads", "owner"), [(True, "home"), (False, "away")])
def test_the_coin_gives_a_fumble(heads: bool, owner: str) -> None:
    made = called(meeting(CONTACT_S + 0.2), RUNNER, (2.5, Coin(heads)))
    assert made.refused == ()
    assert the(made, "fumble_recovery").detail == ("kept" if heads else "lost")
    assert made.state.play.ball_side == owner
    if heads:
        assert made.state.down == 2
    else:
        assert made.state.play.carrier == HITTER


def test_a_fumble_taken_by_the_defense_is_live_and_runs_the_other_way() -> None:
    stop = 0.5 + (9 - 2 * HALF_YD) / 10
    men = [
        Man(RUNNER, runs(41, stop_s=stop), "RB", stop + 0.2),
        Man(HITTER, runs(50, speed=-20.0, facing=180.0, start_s=3.0), "LB"),
    ]
    made = called(film(men, 7.0, on=((0.5, 2.0), (3.0, 9.0))), RUNNER, (2.5, Coin(False)))
    score = the(made, "touchdown")
    assert score.side == "away"
    assert made.state.score == (0, 6)


def test_a_touch_in_a_single_noisy_frame_is_not_called() -> None:
    clear = (18.0 + 2.0) / FIELD.mm_per_yd_y
    play = film([Man(RUNNER, runs(41), "RB"), Man(HITTER, stands(50, MIDDLE_YD + clear), "LB")], sigma_gap_mm=0.3)
    frame = next(n for n, scene in enumerate(play.scenes) if scene.contacts) + 3

    def jolted(frames: int) -> Film:
        scenes = list(play.scenes)
        for n in range(frame, frame + frames):
            contact = replace(scenes[n].contacts[0], gap_mm=-0.9, probability=0.998, since_ns=scenes[frame].t_ns)
            scenes[n] = replace(scenes[n], contacts=(contact,))
        return replace(play, scenes=tuple(scenes))

    assert the(called(jolted(1), RUNNER), "tackle").verdict == "too_close"
    assert the(called(jolted(2), RUNNER), "tackle").verdict == "called"


def test_a_runner_stopped_within_the_error_of_the_goal_line_is_too_close_and_the_tackle_stands_meanwhile() -> None:
    short = 100 - HALF_YD - 0.1 / FIELD.mm_per_yd_x
    stop = 0.5 + (short - 95) / 10
    men = [
        Man(RUNNER, runs(95, stop_s=stop), "RB", sigma_mm=0.3),
        Man(HITTER, stands(short + 2 * HALF_YD, heading=180), "LB"),
    ]
    made = called(film(men), RUNNER, line_yd=94.0)
    score = the(made, "touchdown")
    assert score.verdict == "too_close"
    assert score.unit == "mm"
    assert score.margin == pytest.approx(-0.1, abs=0.02)
    assert the(made, "tackle").verdict == "called"
    assert made.state.situation.endswith("at A 0")
    assert score.id in made.state.proposals


def test_a_slow_approach_is_not_told_before_it_is_settled() -> None:
    creeping = [Man(RUNNER, runs(48 - HALF_YD, speed=0.2, stop_s=9), "RB", sigma_mm=0.3), Man(HITTER, stands(80), "LB")]
    made = called(film(creeping, 5.0), RUNNER, line_yd=48.2)
    line = the(made, "line_of_scrimmage")
    assert line.verdict == "called"
    assert line.t_ns / 1e9 == pytest.approx(1.5, abs=0.05)


def test_a_carrier_in_a_hand_crosses_no_line_and_is_touched_by_nobody() -> None:
    play = film([Man(RUNNER, runs(95, stop_s=2.5), "RB"), Man(HITTER, stands(99, heading=180), "LB")])
    lifted = tuple(
        replace(
            scene, figures=tuple(replace(one, posture="lifted") if one.id == RUNNER else one for one in scene.figures)
        )
        for scene in play.scenes
    )
    assert kinds(called(replace(play, scenes=lifted), RUNNER, line_yd=97.0)) == []
    unseen = tuple(
        replace(
            scene, figures=tuple(replace(one, posture="unseen") if one.id == RUNNER else one for one in scene.figures)
        )
        for scene in play.scenes
    )
    assert kinds(called(replace(play, scenes=unseen), RUNNER, line_yd=97.0), "called") == []


def test_a_contact_that_became_sure_later_is_spotted_where_it_began() -> None:
    men = [Man(RUNNER, runs(41), "RB"), Man(HITTER, runs(50, start_s=CONTACT_S), "LB")]  # who is pushed along
    play = film(men, 2.0)
    first = next(n for n, scene in enumerate(play.scenes) if scene.contacts and scene.contacts[0].gap_mm <= 0.01)

    def doubted(n: int, scene: Scene) -> Scene:
        gap_mm, likely = (0.1, 0.3) if n < first + 8 else (-0.2, 0.999)
        met = replace(
            scene.contacts[0], gap_mm=gap_mm, sigma_mm=0.2, probability=likely, since_ns=round(CONTACT_S * 1e9)
        )
        return replace(scene, contacts=(met,))

    scenes = tuple(doubted(n, scene) if n >= first else scene for n, scene in enumerate(play.scenes))
    tackle = the(called(replace(play, scenes=scenes), RUNNER), "tackle")
    assert tackle.verdict == "called"
    assert tackle.t_ns / 1e9 == pytest.approx(CONTACT_S, abs=1e-3)
    assert tackle.spot_yd == pytest.approx((SPOT, MIDDLE_YD), abs=0.02)


def test_who_may_have_been_tackled_is_not_said_to_have_fallen_by_himself() -> None:
    clear = (18.0 + 0.1) / FIELD.mm_per_yd_y
    close = film([Man(RUNNER, runs(41), "RB", 1.9), Man(HITTER, stands(50, MIDDLE_YD + clear), "LB")], sigma_gap_mm=0.3)
    made = called(close, RUNNER)
    assert the(made, "tackle").verdict == "too_close"
    assert the(made, "down_by_fall").verdict == "too_close"
    assert made.state.phase is Phase.LIVE


def test_of_a_carrier_who_may_be_anywhere_nothing_is_called() -> None:
    """A quarter of the board is no place to cross a line from."""
    men = [Man(RUNNER, runs(36, speed=20), "RB", sigma_mm=300.0), Man(HITTER, stands(80), "LB")]
    made = called(film(men, 4.0), RUNNER)
    assert kinds(made) == []
