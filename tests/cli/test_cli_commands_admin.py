"""``downfield admin``: the link that makes a browser the admin's, again or anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from downfield.cli.main import app


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["admin", "--set", f"data={folder}", *arguments])


def key(result: Result) -> str:
    found = re.search(r"On this computer:  http://127\.0\.0\.1:\d+\S*/pair#(\S+)", result.output)
    assert found is not None, result.output
    return found[1]


def test_a_lost_link_is_shown_again(tmp_path: Path) -> None:
    first, again = run(tmp_path), run(tmp_path)
    assert first.exit_code == again.exit_code == 0
    assert key(first) == key(again) == (tmp_path / "admin.key").read_text().strip()


def test_a_new_link_replaces_the_old_one(tmp_path: Path) -> None:
    old = key(run(tmp_path))
    renewed = run(tmp_path, "--new")
    assert key(renewed) != old
    assert "no longer the admin's" in renewed.output


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        (["service.prefix=/football"], r"http://127\.0\.0\.1:8317/football/pair#"),
        (["service.port=9000"], r"http://127\.0\.0\.1:9000/pair#"),
    ],
)
def test_the_link_is_that_of_the_service_as_it_is_set(tmp_path: Path, settings: list[str], shown: str) -> None:
    result = run(tmp_path, *(part for setting in settings for part in ("--set", setting)))
    assert re.search(shown, result.output)


def test_a_key_that_cannot_be_kept_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run(tmp_path / "file")
    assert result.exit_code != 0
    assert "can't be created" in str(result.exception)
