"""Declarations of another game are told of before anyone believes the calls."""

from __future__ import annotations

import dataclasses
import json
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
    assert run_command(["judge", str(TRACKS), "--events", str(path)]) == 3, "nobody named is there"
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


def test_names_that_the_tracks_lack_are_told_though_a_line_up_lists_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tracks = TrackFile(TRACKS)
    numbered = {player.id: f"{player.jersey}-{place}00" for place, player in enumerate(tracks.header.players, 1)}
    players = tuple(dataclasses.replace(player, id=numbered[player.id]) for player in tracks.header.players)
    scenes = (
        dataclasses.replace(
            scene,
            figures=tuple(dataclasses.replace(figure, id=numbered[figure.id]) for figure in scene.figures),
            contacts=(),
            ball=None,
        )
        for scene in tracks
        if scene.frame % 10 == 0
    )
    path = tmp_path / "renamed.tracks.jsonl"
    write_tracks(path, dataclasses.replace(tracks.header, players=players), scenes)
    assert run_command(["judge", str(path), "--events", str(EVENTS)]) == 3, "a status of its own"
    told = " ".join(capsys.readouterr().err.split())
    assert "players that are not in the tracks: dark-28, dark-7" in told
    assert "The tracks have dark-100, dark-1000, " in told
    assert "track again with --events" in told


def test_calls_go_to_programs_as_json_and_through_pipes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["judge", str(TRACKS), "--json", "-q"]) == 0, "with the events beside them"
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert printed.err == ""
    assert told["rulebook"] == "tap"
    assert told["reported"] > 0
    assert len(told["calls"]) == 5
    assert told["calls"][1]["text"].startswith("dark-28 tackled")
    with TRACKS.open() as piped:
        monkeypatch.setattr("sys.stdin", piped)
        assert run_command(["judge", "-", "--events", str(EVENTS), "-o", "-"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out.splitlines()[0])["format"] == "downfield.calls"
    assert "5 calls, and " in printed.err
    assert "only reported (--reported shows them)" in printed.err


def test_several_tracks_are_judged_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.tracks.jsonl").write_bytes(TRACKS.read_bytes())
        (tmp_path / f"{name}.events.jsonl").write_bytes(EVENTS.read_bytes())
    words = ["judge", *(str(tmp_path / f"{name}.tracks.jsonl") for name in ("one", "two")), "-o", str(tmp_path / "out")]
    assert run_command(words) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"one.calls.jsonl", "two.calls.jsonl"}
    assert run_command(words) == 2
    assert "exists already. Add --overwrite" in capsys.readouterr().err
    assert run_command([*words, "--overwrite"]) == 0
