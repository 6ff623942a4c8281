"""`downfield run` in its own process, as a user runs it: its output, its pages and its feed."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest
from setup_pages import newcomers_environment
from tackle_clip import write_tackle_clip
from waiting import WAIT_S

from downfield.calibration.calibration import read_calibration
from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.main import run_command
from downfield.rig.tables.profile import TableFolder, new_profile


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tackle_clip(tmp_path_factory.mktemp("recording"))


def test_the_tackle_and_its_clause_are_printed(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "--source", str(clip), "--once", "--fast", "--no-page"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"1\.00 s +dark-1 tackled by light-9 .*TAP-022", printed)
    assert "2nd & " in printed.splitlines()[-1]


def test_the_recorded_tracks_of_the_bundled_recording_end_in_a_tackle_and_a_fumble(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command(["run", "--source", str(bundled_demo()), "--once", "--fast", "--no-page"]) == 0
    printed = capsys.readouterr().out
    assert "tackled by" in printed
    assert "fumbles" in printed
    assert "refused" not in printed
    assert bundled_demo().stat().st_size < 8_000_000


@pytest.mark.parametrize("output", ["pipe", "terminal"])
def test_a_rig_whose_output_is_gone_plays_to_the_end_in_an_8_bit_locale(clip: Path, output: str) -> None:
    reading, writing = os.pipe() if output == "pipe" else pty.openpty()
    os.close(reading)
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "LC_ALL": "C", "PYTHONUTF8": "0"}
    cyrillic = clip.with_name("Динамо.mp4")
    for suffix in (".mp4", ".calibration.json", ".tracks.jsonl", ".events.jsonl"):
        cyrillic.with_suffix(suffix).write_bytes(clip.with_suffix(suffix).read_bytes())
    command = [sys.executable, "-m", "downfield", "run", "--source", str(cyrillic), "--once", "--fast", "--no-page"]
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, env=environment, timeout=300, check=False, text=True
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_table_whose_camera_does_not_answer_leaves_the_pages_with_the_reason_until_a_service_manager_stops_it(
    clip: Path, tmp_path: Path
) -> None:
    folder = TableFolder(tmp_path / "data" / "tables")
    calibration = read_calibration(clip.with_suffix(".calibration.json"))
    folder.save(new_profile("Attic", "http://127.0.0.1:1/video", calibration))
    command = [sys.executable, "-m", "downfield", "run", "--port", "0"]
    environment = newcomers_environment(tmp_path)
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d{4,5}/", line):  # the camera's port is 1
                break
        assert found is not None, lines
        with urllib.request.urlopen(f"{found.group()}api/setup", timeout=WAIT_S) as answer:
            view = json.load(answer)
        still_runs = process.poll() is None
        process.terminate()
        output, _ = process.communicate(timeout=WAIT_S)
    assert lines[0].startswith("Starting"), "nothing is said for seconds"
    assert any("'Attic' can't be opened yet" in line for line in lines)
    assert view["step"] == "camera"
    assert "start the camera's app or server" in view["problem"]
    assert "tried again every few seconds" in view["problem"]
    assert still_runs
    assert_stopped_quietly(process.returncode, output)


def test_pages_feed_and_camera_are_served_until_ctrl_c_stops_it_quietly_even_while_someone_watches(clip: Path) -> None:
    command = [sys.executable, "-m", "downfield", "run", "--source", str(clip), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        found = next(found for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/", line)))
        address = found.group()
        with urllib.request.urlopen(address, timeout=WAIT_S) as page:
            assert b"Downfield" in page.read()
        with urllib.request.urlopen(address + "healthz", timeout=WAIT_S) as answer:
            assert json.load(answer) == {"status": "ok"}
        with urllib.request.urlopen(address + "camera.mjpeg", timeout=WAIT_S) as pictures:
            start = pictures.read(200)
        assert b"Content-Type: image/jpeg" in start
        assert b"\xff\xd8" in start
        with urllib.request.urlopen(address + "api/feed", timeout=WAIT_S) as feed:
            lines = (line for line in feed if line.startswith(b"data: "))
            snapshot = json.loads(next(lines).removeprefix(b"data: "))
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=WAIT_S)
    finally:
        process.kill()  # which has ended, unless something is wrong
    assert snapshot["topic"] == "snapshot"
    assert "tackle.mp4" in snapshot["data"]["source"]["text"]
    assert_stopped_quietly(process.returncode, output)


def assert_stopped_quietly(status: int, output: str) -> None:
    assert status == 0
    assert output.splitlines()[-1] == "stopped"
    assert "Traceback" not in output


def test_invalid_input_is_one_clear_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "--once", "--source", "gone.mp4"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "gone.mp4: no such file" in line


def test_an_unknown_rulebook_and_a_clip_without_calibration_are_refused_with_what_to_do(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["run", "--once", "--rulebook", "chess"]) == 2
    assert "No rulebook is named 'chess'" in capsys.readouterr().err
    alone = tmp_path / "alone.mp4"
    alone.write_bytes(clip.read_bytes())
    assert run_command(["run", "--source", str(alone), "--once"]) == 2
    refused = "alone.mp4: can't be calibrated from the printed field: the picture is only 320x180"
    assert refused in capsys.readouterr().err


def test_a_game_of_a_recording_is_kept_and_exported_as_any_other(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWNFIELD_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    assert run_command(["run", "--source", str(clip), "--once", "--fast", "--no-page", "--keep"]) == 0
    files = ["-o", "game.zip", "--clip", "play.mp4", "--play", "1", "--highlights", "best.mp4", "--report", "game.html"]
    assert run_command(["export", "last", "--video", str(clip), *files]) == 0
    assert "no video" not in capsys.readouterr().out
    assert all(Path(name).stat().st_size for name in files if "." in name)
    with zipfile.ZipFile("game.zip") as bundle:
        names = bundle.namelist()
    assert {"recording/clip.mp4", "game.calibration.json"} <= set(names)

    assert run_command(["export", "last", "--clip", "other.mp4", "--play", "1"]) == 2
    assert "played from a video. Name it: downfield export GAME --video VIDEO." in capsys.readouterr().err
    assert run_command(["export", "last", "-o", "other.zip"]) == 0
    assert "no video: the game was played from one. Name it with --video" in capsys.readouterr().out


def test_a_game_of_a_recording_is_not_kept_unless_it_is_asked_for(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWNFIELD_DATA", str(tmp_path / "data"))
    assert run_command(["run", "--source", str(clip), "--once", "--fast", "--no-page"]) == 0
    assert run_command(["export", "last"]) == 2
