"""TAP's tackles, falls and fumbles on hand-built plays."""

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

from downfield.core.scene import Scene
from downfield.officiating.engine.recording import Judgment
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.state.game_state import Phase

RUNNER = "dark-22"

HITTER = "light-50"


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

SPOT = 50 - HALF_YD


def test_a_defenders_base_on_the_carriers_is_a_tackle_at_the_instant_of_contact() -> None:
    made = judge_play(meeting(), RUNNER)
    tackle = only_call(made, "tackle")
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
def test_falls_within_the_window_decide_the_tackle(
    runner_falls: float | None, hitter_falls: float | None, expected: list[str]
) -> None:
    runner_s, hitter_s = (None if after is None else CONTACT_S + after for after in (runner_falls, hitter_falls))
    made = judge_play(meeting(runner_s, hitter_s), RUNNER)
    assert [kind for kind in kinds(made) if kind != "line_of_scrimmage"] == expected


def test_a_league_may_set_a_longer_fall_window() -> None:
    league = Rulebook("league", "League", TAP, {"tackle.fall_window_s": 1.0})
    assert "broken_tackle" in kinds(judge_play(meeting(None, CONTACT_S + 0.6), RUNNER, book=league))


def test_a_player_who_has_fallen_does_not_tackle_and_falling_over_him_is_no_fumble() -> None:
    made = judge_play(meeting(None, 0.6), RUNNER)
    assert "tackle" not in kinds(made)
    assert "broken_tackle" not in kinds(made)
    made = judge_play(meeting(CONTACT_S + 0.2, 0.6), RUNNER)
    assert "down_by_fall" in kinds(made)
    assert "fumble" not in kinds(made)


def test_the_second_tackler_who_stands_makes_the_tackle() -> None:
    second = ScriptedFigure("light-30", runs(60, speed=10, heading=180.0, stop_s=CONTACT_S + 0.1), "DB")
    made = judge_play(meeting(None, CONTACT_S + 0.2, second), RUNNER)
    assert [kind for kind in kinds(made) if kind != "line_of_scrimmage"] == ["broken_tackle"]
    beside = ScriptedFigure("light-30", stands(50, MIDDLE_YD + 1.2), "DB")
    made = judge_play(meeting(None, CONTACT_S + 0.2, beside), RUNNER)
    assert set(kinds(made)) == {"line_of_scrimmage", "broken_tackle", "tackle"}
    assert only_call(made, "tackle").players == (RUNNER, "light-30")


def test_one_tackler_down_and_one_up_is_a_fumble_when_the_carrier_falls() -> None:
    beside = ScriptedFigure("light-30", stands(50, MIDDLE_YD + 1.2), "DB")
    made = judge_play(meeting(CONTACT_S + 0.1, CONTACT_S + 0.2, beside), RUNNER)
    assert "fumble" in kinds(made)


def test_a_carrier_who_falls_alone_is_down_at_the_front_of_his_base() -> None:
    made = judge_play(
        film([ScriptedFigure(RUNNER, runs(41), "RB", 1.0), ScriptedFigure(HITTER, stands(80), "LB")]), RUNNER
    )
    down = only_call(made, "down_by_fall")
    assert down.spot_yd == pytest.approx((46 + HALF_YD, MIDDLE_YD), abs=0.2)
    assert down.clauses == ("TAP-026",)


def test_a_fall_reported_late_counts_from_when_it_happened() -> None:
    made = judge_play(
        film([ScriptedFigure(RUNNER, runs(41), "RB", 1.0, late_s=0.2), ScriptedFigure(HITTER, stands(80), "LB")]),
        RUNNER,
    )
    assert only_call(made, "down_by_fall").t_ns == 1_000_000_000
    runner = ScriptedFigure(RUNNER, runs(41, stop_s=CONTACT_S), "RB")
    for falls_s, broken in ((CONTACT_S - 0.2, False), (CONTACT_S + 0.1, True)):
        made = judge_play(film([runner, ScriptedFigure(HITTER, stands(50), "LB", falls_s, late_s=0.15)]), RUNNER)
        assert ("broken_tackle" in kinds(made)) == broken


@pytest.mark.parametrize(("after_s", "kind"), [(0.45, "broken_tackle"), (0.53, "tackle")])
def test_a_tackle_waits_for_a_late_report_of_a_fall_at_the_end_of_its_window(after_s: float, kind: str) -> None:
    runner = ScriptedFigure(RUNNER, runs(41, stop_s=CONTACT_S), "RB")
    made = judge_play(film([runner, ScriptedFigure(HITTER, stands(50), "LB", CONTACT_S + after_s, late_s=0.1)]), RUNNER)
    assert kinds(made)[-1] == kind


@pytest.mark.parametrize(("frames", "down"), [(6, False), (14, True)])
def test_a_figure_that_stands_again_at_once_had_not_fallen(frames: int, down: bool) -> None:
    play = film([ScriptedFigure(RUNNER, runs(41), "RB"), ScriptedFigure(HITTER, stands(80), "LB")])
    scenes = list(play.scenes)
    for n in range(60, 60 + frames):
        runner, hitter = scenes[n].figures
        scenes[n] = replace(scenes[n], figures=(replace(runner, posture="fallen"), hitter))
    made = judge_play(replace(play, scenes=tuple(scenes)), RUNNER)
    assert ("down_by_fall" in kinds(made)) == down


def test_the_fall_of_another_player_is_reported_and_changes_nothing() -> None:
    made = judge_play(
        film([ScriptedFigure(RUNNER, runs(41), "RB"), ScriptedFigure(HITTER, stands(80), "LB", 1.0)]), RUNNER
    )
    assert only_call(made, "figure_dead").verdict == "reported"
    assert made.state.phase is Phase.LIVE


@pytest.mark.parametrize("gap_mm", [0.05, 1.0])
def test_a_near_miss_is_not_a_tackle(gap_mm: float) -> None:
    clear = (18.0 + gap_mm) / FIELD.mm_per_yd_y
    made = judge_play(
        film([ScriptedFigure(RUNNER, runs(41), "RB"), ScriptedFigure(HITTER, stands(50, MIDDLE_YD + clear), "LB")]),
        RUNNER,
    )
    assert kinds(made) == ["line_of_scrimmage"]


def test_a_contact_within_its_error_is_too_close_to_call_and_shows_both_readings() -> None:
    clear = (18.0 + 0.1) / FIELD.mm_per_yd_y
    close = film(
        [ScriptedFigure(RUNNER, runs(41), "RB"), ScriptedFigure(HITTER, stands(50, MIDDLE_YD + clear), "LB")],
        sigma_gap_mm=0.3,
    )
    made = judge_play(close, RUNNER)
    tackle = only_call(made, "tackle")
    assert tackle.verdict == "too_close"
    assert [reading.kind for reading in tackle.readings] == ["tackle", "info"]
    assert sum(reading.probability for reading in tackle.readings) == pytest.approx(1.0)
    assert made.state.phase is Phase.LIVE
    assert made.state.proposals == (tackle.id,)


def test_a_carrier_of_uncertain_identity_gets_no_call() -> None:
    play = meeting()
    doubtful = replace(
        play,
        scenes=tuple(
            replace(scene, figures=tuple(replace(figure, sure=figure.id != RUNNER) for figure in scene.figures))
            for scene in play.scenes
        ),
    )
    assert only_call(judge_play(doubtful, RUNNER), "tackle").verdict == "too_close"


def test_a_touch_in_a_single_noisy_frame_is_not_called() -> None:
    clear = (18.0 + 2.0) / FIELD.mm_per_yd_y
    play = film(
        [ScriptedFigure(RUNNER, runs(41), "RB"), ScriptedFigure(HITTER, stands(50, MIDDLE_YD + clear), "LB")],
        sigma_gap_mm=0.3,
    )
    frame = next(n for n, scene in enumerate(play.scenes) if scene.contacts) + 3

    def jolted(frames: int) -> Film:
        scenes = list(play.scenes)
        for n in range(frame, frame + frames):
            contact = replace(scenes[n].contacts[0], gap_mm=-0.9, probability=0.998, since_ns=scenes[frame].t_ns)
            scenes[n] = replace(scenes[n], contacts=(contact,))
        return replace(play, scenes=tuple(scenes))

    assert only_call(judge_play(jolted(1), RUNNER), "tackle").verdict == "too_close"
    assert only_call(judge_play(jolted(2), RUNNER), "tackle").verdict == "called"


def test_a_slow_approach_is_not_called_before_it_is_settled() -> None:
    creeping = [
        ScriptedFigure(RUNNER, runs(48 - HALF_YD, speed=0.2, stop_s=9), "RB", sigma_mm=0.3),
        ScriptedFigure(HITTER, stands(80), "LB"),
    ]
    made = judge_play(film(creeping, 5.0), RUNNER, line_yd=48.2)
    line = only_call(made, "line_of_scrimmage")
    assert line.verdict == "called"
    assert line.t_ns / 1e9 == pytest.approx(1.5, abs=0.05)


def test_a_contact_that_became_sure_later_is_spotted_where_it_began() -> None:
    men = [
        ScriptedFigure(RUNNER, runs(41), "RB"),
        ScriptedFigure(HITTER, runs(50, start_s=CONTACT_S), "LB"),
    ]  # who is pushed along
    play = film(men, 2.0)
    first = next(n for n, scene in enumerate(play.scenes) if scene.contacts and scene.contacts[0].gap_mm <= 0.01)

    def doubted(n: int, scene: Scene) -> Scene:
        gap_mm, likely = (0.1, 0.3) if n < first + 8 else (-0.2, 0.999)
        met = replace(
            scene.contacts[0], gap_mm=gap_mm, sigma_mm=0.2, probability=likely, since_ns=round(CONTACT_S * 1e9)
        )
        return replace(scene, contacts=(met,))

    scenes = tuple(doubted(n, scene) if n >= first else scene for n, scene in enumerate(play.scenes))
    tackle = only_call(judge_play(replace(play, scenes=scenes), RUNNER), "tackle")
    assert tackle.verdict == "called"
    assert tackle.t_ns / 1e9 == pytest.approx(CONTACT_S, abs=1e-3)
    assert tackle.spot_yd == pytest.approx((SPOT, MIDDLE_YD), abs=0.02)


def test_a_carrier_who_may_have_been_tackled_is_not_called_down_by_his_own_fall() -> None:
    clear = (18.0 + 0.1) / FIELD.mm_per_yd_y
    close = film(
        [ScriptedFigure(RUNNER, runs(41), "RB", 1.9), ScriptedFigure(HITTER, stands(50, MIDDLE_YD + clear), "LB")],
        sigma_gap_mm=0.3,
    )
    made = judge_play(close, RUNNER)
    assert only_call(made, "tackle").verdict == "too_close"
    assert only_call(made, "down_by_fall").verdict == "too_close"
    assert made.state.phase is Phase.LIVE


def _after_a_close_touch(tackler_yd: float) -> Judgment:
    """A runner passes a man within the error of a touch, or stops there, and meets another one for sure."""
    clear = (18.0 + 0.1) / FIELD.mm_per_yd_y
    stop_s = 0.5 + (tackler_yd - 41 - 2 * HALF_YD) / 10
    men = [
        ScriptedFigure(RUNNER, runs(41, stop_s=stop_s), "RB"),
        ScriptedFigure(HITTER, stands(50, MIDDLE_YD + clear), "LB"),
    ]
    close = film(men, 4.0, sigma_gap_mm=0.3)
    sure = film([men[0], ScriptedFigure("light-51", stands(tackler_yd), "LB")], 4.0)
    scenes = tuple(
        replace(
            one,
            figures=(*one.figures, *two.figures[1:]),
            contacts=tuple(sorted((*one.contacts, *two.contacts), key=lambda contact: (contact.a, contact.b))),
        )
        for one, two in zip(close.scenes, sure.scenes, strict=True)
    )
    return judge_play(replace(close, scenes=scenes), RUNNER)


def test_a_tackle_after_a_touch_too_close_to_call_is_no_surer_than_that_the_play_went_on() -> None:
    made = _after_a_close_touch(58)
    first, second = (call for call in made.calls if call.kind == "tackle")
    assert [first.players[1], second.players[1]] == [HITTER, "light-51"]
    assert [first.verdict, second.verdict] == ["too_close", "too_close"]
    assert second.probability <= 1.0 - first.probability + 1e-9
    assert second.told_apart[-1].text == f"not over before: {RUNNER} tackled by {HITTER}"
    assert made.state.phase is Phase.LIVE


def test_a_tackle_at_the_spot_of_a_touch_too_close_to_call_stands_either_way() -> None:
    made = _after_a_close_touch(50)
    assert [call.verdict for call in made.calls if call.players[1:] == ("light-51",)] == ["called"]


def test_a_lost_carrier_gets_no_calls() -> None:
    """A quarter of the board is no place to cross a line from."""
    men = [ScriptedFigure(RUNNER, runs(36, speed=20), "RB", sigma_mm=300.0), ScriptedFigure(HITTER, stands(80), "LB")]
    made = judge_play(film(men, 4.0), RUNNER)
    assert kinds(made) == []
