from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from scripted_plays import (
    FIELD,
    HALF_YD,
    Film,
    ScriptedFigure,
    film,
    judge_play,
    number_events,
    only_call,
    opening,
    runs,
    stands,
)
from typer.testing import CliRunner

from downfield.calibration.calibration import Calibration, Certificate, write_calibration
from downfield.calibration.camera import Camera, Lens
from downfield.cli.main import app
from downfield.core.errors import InputError
from downfield.core.scene import Ball, Scene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.officiating.calls import Call
from downfield.officiating.engine.certified_error import ErrorFloor
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.events import Event, EventsHeader, write_events
from downfield.officiating.rulebooks.rulebook import load_rulebook

RUNNER, HITTER = "dark-22", "light-50"
OVER_YD = 0.1
CAMERA = Camera(Lens((1920, 1080), (1500.0, 1500.0), (960.0, 540.0)), (3.14, 0.0, 0.0), (-400.0, 250.0, 900.0))


def over_the_goal_line(yards: float = OVER_YD) -> Film:
    """A carrier who stops with his front so far over the goal line."""
    stop_s = 0.5 + (5 - HALF_YD + yards) / 10
    return film([ScriptedFigure(RUNNER, runs(95, stop_s=stop_s), "RB"), ScriptedFigure(HITTER, stands(60), "LB")])


def judged(play: Film, certified_yd: tuple[float, float] | None) -> tuple[Call, ...]:
    events = number_events(*opening(play, RUNNER, line_yd=94.0))
    return judge_recording(play.scenes, events, load_rulebook("tap"), FIELD, certified_yd=certified_yd).calls


def touchdown(calls: tuple[Call, ...]) -> Call:
    found = [call for call in calls if call.kind == "touchdown"]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("certified_yd", "verdict"),
    [
        (None, "called"),
        ((0.05, 0.05), "called"),
        ((OVER_YD - 0.005, 9.0), "called"),
        ((OVER_YD + 0.005, 0.0), "too_close"),
        ((0.5, 0.5), "too_close"),
    ],
)
def test_a_call_finer_than_the_certified_error_is_too_close(
    certified_yd: tuple[float, float] | None, verdict: str
) -> None:
    assert touchdown(judged(over_the_goal_line(), certified_yd)).verdict == verdict


def test_a_clear_call_stands_on_a_coarse_table() -> None:
    assert touchdown(judged(over_the_goal_line(3.0), (0.5, 0.5))).verdict == "called"


def test_a_live_game_uses_the_certified_error_too() -> None:
    play = over_the_goal_line()
    for certified_yd, verdict in ((None, "called"), ((0.2, 0.2), "too_close")):
        game = JudgedGame(load_rulebook("tap"), FIELD, certified_yd=certified_yd)
        entries: list[Scene | Event] = [*number_events(*opening(play, RUNNER, line_yd=94.0)), *play.scenes]
        for entry in sorted(entries, key=lambda entry: entry.t_ns):
            game.apply(entry)
        assert touchdown(game.calls).verdict == verdict


def test_gaps_between_bases_keep_their_own_error() -> None:
    play = film([ScriptedFigure(RUNNER, runs(41), "RB"), ScriptedFigure(HITTER, stands(50), "LB")])
    exact = only_call(judge_play(play, RUNNER), "tackle")
    events = number_events(*opening(play, RUNNER))
    coarse = judge_recording(play.scenes, events, load_rulebook("tap"), FIELD, certified_yd=(0.3, 0.3))
    assert only_call(coarse, "tackle").verdict == exact.verdict == "called"


def test_the_floor_raises_small_errors_and_leaves_larger_ones() -> None:
    floor = ErrorFloor.of((0.1, 0.2), FIELD, 0.95)
    assert floor.sigma_mm == pytest.approx((0.1 * FIELD.mm_per_yd_x / 1.645, 0.2 * FIELD.mm_per_yd_y / 1.645), rel=1e-3)
    scene = over_the_goal_line().scenes[0]
    rough = dataclasses.replace(scene.figures[0], sigma_mm=(50.0, 0.0))
    raised = floor.apply(Scene(0, 0, "on", (rough, scene.figures[1]), (), Ball("loose", 0.0, 0.0)))
    assert raised.figures[0].sigma_mm == (50.0, floor.sigma_mm[1])
    assert raised.figures[1].sigma_mm == floor.sigma_mm
    assert raised.ball is not None
    assert raised.ball.sigma_mm == max(floor.sigma_mm)
    with pytest.raises(InputError, match="negative"):
        ErrorFloor.of((-0.1, 0.1), FIELD, 0.95)


@pytest.mark.parametrize(("p95_yd", "too_close"), [((0.02, 0.02), False), ((0.3, 0.3), True)])
def test_judge_takes_the_certificate_from_the_calibration(
    tmp_path: Path, p95_yd: tuple[float, float], too_close: bool
) -> None:
    play = over_the_goal_line()
    tracks, events, table = (tmp_path / name for name in ("a.tracks.jsonl", "a.events.jsonl", "a.calibration.json"))
    write_tracks(tracks, TracksHeader(FIELD, play.players, 60.0), play.scenes)
    write_events(events, EventsHeader("game"), number_events(*opening(play, RUNNER, line_yd=94.0)))
    certificate = Certificate("now", "hash marks", 200, 0.1, 0.3, 0.5, p95_yd)
    write_calibration(table, Calibration(FIELD, CAMERA, "field", certificate=certificate))
    args = ["judge", str(tracks), "--events", str(events), "--calibration", str(table)]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    assert ("too close to call: " in result.output) == too_close
    write_calibration(table, Calibration(FIELD, CAMERA, "field"))
    result = CliRunner().invoke(app, args)
    assert "not certified" in str(result.exception)
