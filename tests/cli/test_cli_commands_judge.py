"""Declarations of another game are told of before anyone believes the calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.main import run_command
from downfield.core.track_files import TrackFile
from downfield.officiating.declarations import Carrier
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
