"""Declarations of another game are told of before anyone believes the calls."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from calibration_scenes import camera_over
from scripted_plays import FIELD, MIDDLE_YD, ScriptedFigure, film, number_events, opening, stands

from downfield.calibration.calibration import Calibration, Certificate, write_calibration
from downfield.calibration.jacobians import PLACE_PARAMETERS, SCALE
from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.main import run_command
from downfield.core.track_files import TrackFile, TracksHeader, write_tracks
from downfield.officiating.declarations import Carrier, Pitch
from downfield.officiating.events import Event, EventsHeader, read_events, write_events

TRACKS = bundled_demo().with_name("demo.tracks.jsonl")
EVENTS = bundled_demo().with_name("demo.events.jsonl")


def test_events_that_belong_to_the_tracks_are_no_matter(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["judge", str(TRACKS), "--events", str(EVENTS)]) == 0
    assert "may belong" not in capsys.readouterr().err


def test_unknown_players_and_times_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.events.jsonl"
    last_ns = list(TrackFile(TRACKS))[-1].t_ns
    stranger = Event("x1", last_ns, "operator", Carrier("green-7"))
    late = Event("x2", last_ns + 60 * 10**9, "operator", Carrier("green-8"))
    declared = read_events(EVENTS)[1]
    write_events(path, EventsHeader(), (*declared, stranger, late))
    assert run_command(["judge", str(TRACKS), "--events", str(path)]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "They name players that are not in the tracks: green-7, green-8" in told
    assert f"They name times that the tracks do not have, in 1 of {len(declared) + 2} events: " in told
    write_events(path, EventsHeader(), (late,))
    assert run_command(["judge", str(TRACKS), "--events", str(path)]) == 0
    assert "in all events" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("scale_spread", "refused"), [(0.0, True), (0.32, False)])
def test_where_lengths_in_mm_are_not_known_nobody_is_refused_by_one(
    scale_spread: float, refused: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = [
        ScriptedFigure("dark-10", stands(34, heading=0.0), "QB"),
        ScriptedFigure("dark-30", stands(31.0, MIDDLE_YD + 12, 0.0), "RB"),
    ]
    play = film(figures, 3.0, on=((0.5, 1.0),))
    events = number_events(*opening(play, "dark-10"), (1.2, Pitch("dark-30")))
    tracks, declared, certified = (tmp_path / f"play.{kind}" for kind in ("tracks.jsonl", "events.jsonl", "json"))
    write_tracks(tracks, TracksHeader(FIELD, (), 30.0), play.scenes)
    write_events(declared, EventsHeader(), events)
    rows = [[0.0] * len(PLACE_PARAMETERS) for _ in PLACE_PARAMETERS]
    rows[SCALE][SCALE] = scale_spread**2
    bare = Calibration(FIELD, camera_over(FIELD), "field", covariance=tuple(tuple(row) for row in rows))
    certificate = Certificate("2026-01-01T00:00:00+00:00", "ruler", 4, 0.1, 0.2, 0.3, (0.01, 0.01))
    write_calibration(certified, dataclasses.replace(bare, certificate=certificate))
    options = ["--rulebook", "tap", "--events", str(declared), "--calibration", str(certified)]
    assert run_command(["judge", str(tracks), *options]) == 0
    assert ("short stick" in capsys.readouterr().out) == refused
