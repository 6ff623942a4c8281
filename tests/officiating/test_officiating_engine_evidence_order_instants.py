"""A call whose instant no picture tells waits with the reason; its spot's error holds that of the instant."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted_plays import Film, ScriptedFigure, film, judge_play, only_call, runs, stands

from downfield.core.scene import Scene

RUNNER, DEFENDER = "dark-22", "light-50"


def tackled() -> Film:
    """A runner meets a standing defender."""
    players = [ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"), ScriptedFigure(DEFENDER, stands(50), "LB")]
    return film(players, 3.0, on=((0.5, 2.2),))


def with_error(scenes: tuple[Scene, ...], error_s: float) -> tuple[Scene, ...]:
    """Scenes in which the instants of contacts are so little known."""
    return tuple(
        replace(scene, contacts=tuple(replace(one, since_sigma_s=error_s) for one in scene.contacts))
        for scene in scenes
    )


@pytest.mark.parametrize(("error_s", "verdict"), [(0.0, "called"), (0.05, "called"), (0.2, "too_close")])
def test_the_error_of_the_instant_is_in_the_spot_and_keeps_a_call_waiting(error_s: float, verdict: str) -> None:
    play = tackled()
    call = only_call(judge_play(replace(play, scenes=with_error(play.scenes, error_s)), RUNNER), "tackle")
    assert call.verdict == verdict
    assert (call.spot_sigma_yd[0] > 0.0) == (error_s > 0.0)
    reasons = [one.words() for one in call.conditions if one.measure == "instant"]
    assert bool(reasons) == (verdict == "too_close")
    assert not reasons or "no pictures tell when" in reasons[0]


@pytest.mark.parametrize(("blind_s", "verdict"), [(0.1, "called"), (0.6, "too_close")])
def test_a_goal_line_crossed_while_calls_were_suspended_is_dated_only_as_well_as_that(
    blind_s: float, verdict: str
) -> None:
    """The runner crosses it, unseen or seen, and goes on."""
    players = [ScriptedFigure(RUNNER, runs(90, stop_s=2.4), "RB"), ScriptedFigure(DEFENDER, stands(60), "LB")]
    play = film(players, 3.5, on=((0.5, 2.6),))
    crossed_ns = only_call(judge_play(play, RUNNER, line_yd=88.0), "touchdown").t_ns
    half_ns = round(blind_s * 0.5e9)
    scenes = tuple(
        replace(one, unfit=("moved",)) if abs(one.t_ns - crossed_ns) < half_ns else one for one in play.scenes
    )
    call = only_call(judge_play(replace(play, scenes=scenes), RUNNER, line_yd=88.0), "touchdown")
    assert call.verdict == verdict
