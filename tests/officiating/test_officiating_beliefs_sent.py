"""Calls are sent with what is believed of them, never with a certainty that nothing measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import pytest
from scripted_plays import FIELD, Film, ScriptedFigure, film, judge_play, only_call, runs, stands

from downfield.core.errors import FormatError
from downfield.core.frame import Detection
from downfield.core.records import from_json, to_json
from downfield.core.scene import Ball, Contact, Figure, Scene
from downfield.officiating.calls import Call
from downfield.officiating.declarations import PassDeclared

RUNNER, QB, END, CORNER = "dark-22", "dark-10", "dark-80", "light-21"
CLOSE_DEG = 5.0
THROW_S = 2.0


def with_figures(play: Film, change: Callable[[Figure], Figure]) -> Film:
    scenes = (replace(scene, figures=tuple(change(figure) for figure in scene.figures)) for scene in play.scenes)
    return replace(play, scenes=tuple(scenes))


@pytest.mark.parametrize(("facing", "detail"), [(90.0 + CLOSE_DEG, "turned"), (90.0 - CLOSE_DEG, "pushed")])
def test_a_runner_hardly_turned_back_is_no_surer_than_his_heading(facing: float, detail: str) -> None:
    back = film([ScriptedFigure(RUNNER, runs(38, speed=-5, facing=facing), "RB")])
    call = only_call(
        judge_play(with_figures(back, lambda figure: replace(figure, sigma_deg=5.0)), RUNNER), "turned_back"
    )
    assert call.detail == detail
    assert call.probability == pytest.approx(NormalDist().cdf(1.0), abs=0.01)


def pass_to(corner_yd: float | None = None, *, ball_sigma_mm: float = 0.0, stops_s: float = 99.0) -> Film:
    men = [
        ScriptedFigure(QB, stands(34.0, heading=0.0), "QB"),
        ScriptedFigure(END, runs(48, 40.0, 5.0, start_s=THROW_S, stop_s=stops_s), "WR"),
    ]
    if corner_yd is not None:
        men.append(ScriptedFigure(CORNER, runs(corner_yd, 40.0, 5.0, 180.0, start_s=THROW_S), "DB"))
    place = Ball("magnetic", 55.0 * FIELD.mm_per_yd_x, 40.0 * FIELD.mm_per_yd_y, sigma_mm=ball_sigma_mm)
    return film(men, 4.0, on=((0.5, 1.0), (THROW_S, 99.0)), ball=lambda t_s: place if t_s >= 1.5 else None)


def caught(play: Film) -> Call:
    return only_call(judge_play(play, QB, (1.2, PassDeclared(END))), "reception")


def test_a_receiver_that_stops_at_the_balls_edge_has_caught_it_no_surer_than_the_gap() -> None:
    edge_mm = 7 * FIELD.mm_per_yd_x - 15.0 - 5.0
    stops_s = THROW_S + (edge_mm + 0.5) / (5 * FIELD.mm_per_yd_x)
    call = caught(pass_to(ball_sigma_mm=0.5, stops_s=stops_s))
    assert call.verdict == "too_close"
    assert call.probability == pytest.approx(NormalDist().cdf(1.0), abs=0.05)
    assert [reading.text for reading in call.readings][1] == "the ball is still free"


def test_a_receiver_that_runs_on_over_the_ball_has_caught_it_when_he_reached_it() -> None:
    exact, measured = caught(pass_to()), caught(pass_to(ball_sigma_mm=0.5))
    assert measured.verdict == "called"
    assert measured.t_ns == pytest.approx(exact.t_ns, abs=20_000_000)
    assert exact.probability == 1.0


def test_a_simultaneous_touch_is_as_sure_as_the_times_are() -> None:
    exact = caught(pass_to(62.0))
    assert exact.probability == 1.0
    assert exact.sigma == pytest.approx(0.001, abs=0.001)  # of an instant between two frames
    assert exact.margin == pytest.approx(0.017, abs=0.002)
    doubtful = caught(pass_to(62.0, ball_sigma_mm=1.0))
    assert exact.sigma is not None
    assert doubtful.sigma is not None
    assert doubtful.sigma > exact.sigma
    assert doubtful.probability < 1.0


FIGURE = Figure("dark-1", "dark", 0.0, 0.0, 0.0, 30.0, 20.0)
CONTACT = Contact("dark-1", "light-1", 1.0, 0.1, 0.0, "front", "rear", 0.0)


@pytest.mark.parametrize("wrong", [-0.01, 1.01, 7.0])
@pytest.mark.parametrize(
    ("good", "field"),
    [
        (FIGURE, "front"),
        (FIGURE, "visible"),
        (CONTACT, "probability"),
        (Call("a", "tackle", 0, "tap", (), "called", ""), "probability"),
        (Call("a", "tackle", 0, "tap", (), "called", ""), "front"),
        (Detection("upright", 0.5, (0.0, 0.0, 1.0, 1.0)), "score"),
        (Detection("upright", 0.5, (0.0, 0.0, 1.0, 1.0)), "front_score"),
    ],
)
def test_a_probability_outside_0_to_1_is_refused_by_its_name(good: Any, field: str, wrong: float) -> None:
    text = to_json(type(good), replace(good, **{field: wrong}))
    with pytest.raises(FormatError, match=rf"line 3: {field}: must be at (least 0|most 1)"):
        from_json(type(good), text, path="x.jsonl", line=3)
    assert from_json(type(good), to_json(type(good), good), path="x.jsonl") == good


def test_the_contacts_of_a_scene_are_held_to_it_too() -> None:
    scene = Scene(0, 0, "on", (FIGURE,), (replace(CONTACT, probability=1.5),))
    with pytest.raises(FormatError, match=r"contacts\.0\.probability"):
        from_json(Scene, to_json(Scene, scene), path="x.jsonl")
