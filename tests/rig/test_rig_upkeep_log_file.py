"""The rig's log: private, rotated, one line per record, and never in the way of a game."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from downfield.cli.main import app
from downfield.core.errors import InputError
from downfield.core.texts import plain_text
from downfield.rig.upkeep.log_file import LOG_FILE_NAME, LogLevel, last_lines, log_file

_log = logging.getLogger("downfield.test")


def write(folder: Path, *texts: str, level: LogLevel = "info", keep_mb: float = 1.0) -> None:
    with log_file(folder, level, keep_mb):
        for text in texts:
            _log.info("%s", text)


def test_a_line_says_when_how_grave_where_and_what(tmp_path: Path) -> None:
    write(tmp_path, "the camera is back")
    (line,) = last_lines(tmp_path, 10)
    at, level, name, text = line.split(" ", 3)
    assert at[10] == "T"
    assert at[-6] in "+-", f"{at} has no time zone"
    assert (level, name, text) == ("INFO", "test:", "the camera is back")


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    write(tmp_path / "logs", "secret")
    assert (tmp_path / "logs" / LOG_FILE_NAME).stat().st_mode & 0o077 == 0
    assert (tmp_path / "logs").stat().st_mode & 0o077 == 0


@given(st.text())
def test_whatever_people_write_stays_plain_text(text: str) -> None:
    assert len(plain_text(text).splitlines()) <= 1
    assert "\x1b" not in plain_text(text)


def test_a_fault_is_one_line_with_its_traceback(tmp_path: Path) -> None:
    with log_file(tmp_path, "info", 1.0):
        try:
            int("what\nhappened")
        except ValueError:
            _log.exception("it ends")
    (line,) = last_lines(tmp_path, 10)
    assert "it ends" in line
    assert "Traceback" in line
    assert "invalid literal" in line


def test_a_lone_surrogate_in_a_name_is_written_out(tmp_path: Path) -> None:
    write(tmp_path, "tackled by \ud83d", "next")
    assert [line.rsplit(": ", 1)[1] for line in last_lines(tmp_path, 10)] == ["tackled by \\ud83d", "next"]


def test_the_oldest_lines_go_first_when_it_is_full(tmp_path: Path) -> None:
    write(tmp_path, *(f"line {number:05d} {'.' * 100}" for number in range(1000)), keep_mb=0.05)
    lines = last_lines(tmp_path, 10_000)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 50_000
    assert "line 00999" in lines[-1]
    assert "line 00000" not in lines[0]
    numbers = [int(line.split("line ")[1][:5]) for line in lines]
    assert numbers == list(range(numbers[0], 1000)), "lines are lost or out of order over the rotated files"


def test_the_level_is_kept_and_what_was_set_before_comes_back(tmp_path: Path) -> None:
    before = logging.getLogger("downfield").level
    write(tmp_path, "too little", level="warning")
    assert last_lines(tmp_path, 10) == []
    assert logging.getLogger("downfield").level == before
    assert logging.getLogger("downfield").handlers == []


def test_a_folder_that_cannot_be_made_costs_the_log_and_not_the_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").write_text("a file")
    write(tmp_path / "logs", "lost")
    assert "no log is written" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_costs_lines_and_not_the_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / LOG_FILE_NAME).symlink_to("/dev/full")
    write(tmp_path, "lost", "lost too")
    assert capsys.readouterr().err == ""


def test_the_command_prints_the_last_lines_of_a_level(tmp_path: Path) -> None:
    with log_file(tmp_path, "info", 1.0):
        _log.info("one")
        _log.warning("two [/red]")
        _log.info("three")
    given = ["logs", "--set", f"log.folder={tmp_path}"]
    last = CliRunner().invoke(app, [*given, "-n", "2"]).output.splitlines()
    assert [line.split(": ")[-1] for line in last] == ["two [/red]", "three"]
    warnings = CliRunner().invoke(app, [*given, "--level", "warning"]).output.splitlines()
    assert len(warnings) == 1
    assert warnings[0].endswith("two [/red]")


def test_the_command_says_that_there_is_no_log_yet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no log there yet"):
        last_lines(tmp_path, 5)


def test_what_is_written_is_followed_into_the_next_file(tmp_path: Path) -> None:
    write(tmp_path, "from before")
    command = [sys.executable, "-m", "downfield", "logs", "--follow", "-n", "5", "--set", f"log.folder={tmp_path}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        try:
            assert following.stdout.readline().endswith("from before\n")
            write(tmp_path, "now")
            assert following.stdout.readline().endswith("now\n")
            (tmp_path / LOG_FILE_NAME).rename(tmp_path / f"{LOG_FILE_NAME}.1")
            write(tmp_path, "in the next file")
            assert following.stdout.readline().endswith("in the next file\n")
        finally:
            following.kill()
