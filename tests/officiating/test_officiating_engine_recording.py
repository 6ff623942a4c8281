"""Judging and comparing recordings, and the command that does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scripted_plays import FIELD, HALF_YD, ScriptedFigure, film, judge_play, number_events, opening, runs, stands
from typer.testing import CliRunner

from downfield.cli.main import app
from downfield.core.errors import FormatError
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.officiating.calls import CallsHeader, RefusedEvent, read_calls, write_calls
from downfield.officiating.declarations import Coin
from downfield.officiating.engine.recording import compare_calls
from downfield.officiating.events import EventsHeader, write_events

RUNNER, HITTER = "dark-22", "light-50"
STOP_S = 0.5 + (9 - 2 * HALF_YD) / 10
PLAY = film(
    [ScriptedFigure(RUNNER, runs(41, stop_s=STOP_S), "RB"), ScriptedFigure(HITTER, stands(50), "LB", STOP_S + 0.2)], 2.5
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    tracks, events = tmp_path / "game.tracks.jsonl", tmp_path / "game.events.jsonl"
    write_tracks(tracks, TracksHeader(FIELD, PLAY.players, 60.0), PLAY.scenes)
    write_events(events, EventsHeader("game"), number_events(*opening(PLAY, RUNNER), (2.0, Coin(True))))
    return tracks, events


def test_judge_writes_and_prints_the_calls(files: tuple[Path, Path], tmp_path: Path) -> None:
    tracks, events = files
    out = tmp_path / "game.calls.jsonl"
    result = CliRunner().invoke(app, ["judge", str(tracks), "--events", str(events), "-o", str(out)])
    assert result.exit_code == 0, result.output
    header, calls = read_calls(out)
    assert header.rulebook == "tap"
    assert [refused.event for refused in header.refused] == ["e4"]
    assert "does not wait" in result.output
    broken = next(call for call in calls if call.kind == "broken_tackle")
    assert broken.clauses == ("TAP-023", "TAP-028")
    assert "broken tackle" in " ".join(result.output.split())
    assert calls == judge_play(PLAY, RUNNER).calls


def test_judge_under_another_rulebook_shows_the_difference(files: tuple[Path, Path]) -> None:
    tracks, events = files
    result = CliRunner().invoke(app, ["judge", str(tracks), "--events", str(events), "--against", "lions-den"])
    assert result.exit_code == 0, result.output
    assert "tap against lions-den" in result.output


def test_a_missing_track_file_is_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["judge", str(tmp_path / "none.tracks.jsonl")])
    assert result.exit_code != 0
    assert "no such file" in str(result.exception)


def test_a_call_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.calls.jsonl"
    header = CallsHeader("tap", "x.tracks.jsonl", "H 0, A 0", (0, 0), (RefusedEvent("e1", "not now"),))
    calls = judge_play(PLAY, RUNNER).calls
    write_calls(path, header, calls)
    assert read_calls(path) == (header, calls)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1].replace('"kind"', '"kinde"')]))
    with pytest.raises(FormatError, match="line 2"):
        read_calls(path)
    path.write_text("")
    with pytest.raises(FormatError, match="empty"):
        read_calls(path)


def test_two_rulebooks_differ_where_the_tackler_falls() -> None:
    tap, den = judge_play(PLAY, RUNNER), judge_play(PLAY, RUNNER, book="lions-den")
    found = [one for one in compare_calls(tap.calls, den.calls) if one.first and one.first.kind == "broken_tackle"]
    assert len(found) == 1
    assert found[0].second is not None
    assert found[0].second.kind == "tackle"
    assert "broken tackle" in found[0].text
    assert " | " in found[0].text


def test_equal_calls_do_not_differ_but_another_spot_does() -> None:
    calls = judge_play(PLAY, RUNNER).calls
    assert compare_calls(calls, calls) == ()
    moved = tuple(
        replace(call, spot_yd=(call.spot_yd[0] + 1, call.spot_yd[1])) if call.spot_yd else call for call in calls
    )
    parted = compare_calls(calls, moved)
    assert {one.first.kind for one in parted if one.first} == {call.kind for call in calls if call.spot_yd}
    assert all(one.second is not None for one in parted)


def test_a_call_that_only_one_rulebook_makes_is_a_difference() -> None:
    calls = judge_play(PLAY, RUNNER).calls
    last = calls[-1]
    assert [one.text for one in compare_calls(calls, calls[:-1])] == [compare_calls((last,), ())[0].text]
    assert "no call" in compare_calls((), (last,))[0].text
