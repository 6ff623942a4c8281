"""`downfield contribute`: everything is shown before it is written, each frame can be left out, nothing is sent."""

from __future__ import annotations

import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import cv2
import pytest
from contributed_games import contributed_game

from downfield.cli.commands.contribute import contribute, without
from downfield.cli.main import run_command
from downfield.core.errors import InputError
from downfield.rig.games.contribution_file import read_contribution


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return contributed_game(tmp_path_factory.mktemp("rig")).data


@pytest.fixture(autouse=True)
def rig(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a rig with a recorded game, and an empty folder to work in."""
    for name in os.environ:
        if name.startswith("DOWNFIELD_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DOWNFIELD_DATA", str(made))
    monkeypatch.chdir(tmp_path)
    return made


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """A person at a terminal who gives answers in turn; returns the heights of the sheets that were opened."""
    opened: list[int] = []

    def open_page(address: str) -> bool:
        sheet = cv2.imread(unquote(urlsplit(address).path))
        assert sheet is not None, "the sheet is there when it is opened"
        opened.append(sheet.shape[1])
        return True

    def answers(*given: str) -> list[int]:
        waiting = list(given)
        monkeypatch.setattr("typer.prompt", lambda _: waiting.pop(0))
        return opened

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("webbrowser.open", open_page)
    return answers


def test_a_script_writes_all_frames_and_sends_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection was made"))
    contribute(Path("out.zip"), yes=True)
    assert len(list(read_contribution(tmp_path / "out.zip"))) == 2
    out, notes = capsys.readouterr()
    assert "2 frames of 2 games: 1 that people corrected." in notes
    assert "Nothing was sent." in out


def test_without_a_terminal_nothing_is_written_unseen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    assert run_command(["contribute"]) == 2
    assert "shown before they are written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_sheet_alone_can_be_had(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["contribute", "--sheet", "frames.jpg"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["frames.jpg"]
    assert cv2.imread("frames.jpg") is not None
    assert "No contribution was written." in capsys.readouterr().out


def test_a_person_sees_the_frames_and_says_yes(tmp_path: Path, terminal: Callable[..., list[int]]) -> None:
    opened = terminal("yes")
    contribute(Path("out.zip"))
    assert len(opened) == 1
    assert len(list(read_contribution(tmp_path / "out.zip"))) == 2


def test_a_person_leaves_a_frame_out_and_sees_the_rest(
    tmp_path: Path, terminal: Callable[..., list[int]], capsys: pytest.CaptureFixture[str]
) -> None:
    opened = terminal("9", "1", "y")
    contribute(Path("out.zip"))
    ((frame, _, _),) = read_contribution(tmp_path / "out.zip")
    assert frame.reasons == ("uncertain",)
    assert len(opened) == 3
    assert opened[2] < opened[0], "the sheet without it is smaller"
    assert "There is no frame 9" in capsys.readouterr().out


@pytest.mark.parametrize("answers", [("no",), ("1-2",), ("1", "2")])
def test_a_person_who_declines_has_no_file(
    tmp_path: Path, terminal: Callable[..., list[int]], answers: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    terminal(*answers)
    contribute(Path("out.zip"))
    assert list(tmp_path.iterdir()) == []
    assert "Nothing was written." in capsys.readouterr().out


def test_frames_are_left_out_by_number_in_a_script(tmp_path: Path) -> None:
    contribute(Path("out.zip"), leave_out="2", yes=True)
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.namelist() == ["contribution.json", "frames/0001.jpg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sheet", "a.jpg", "--yes"], "Give one of the two"),
        (["--yes", "--leave-out", "3"], "There is no frame 3"),
        (["--yes", "--leave-out", "x"], "not the number of a frame"),
        (["--yes", "--game", "nowhere"], "has no game"),
        (["--yes", "-o", "."], "is a folder"),
    ],
)
def test_bad_options_end_in_one_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["contribute", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_rig_without_games_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOWNFIELD_DATA", str(tmp_path / "nothing"))
    assert run_command(["contribute", "--yes"]) == 2
    assert capsys.readouterr().err.startswith("downfield: ")


def test_spans_of_numbers() -> None:
    assert without([1, 2, 3, 4, 5], " 2, 4-5") == [1, 3]
    assert without([1, 2], "") == [1, 2]
    for wrong in ("0", "2-1", "1-9", "1-", "-1", "a", "1.5"):
        with pytest.raises(InputError):
            without([1, 2, 3], wrong)
