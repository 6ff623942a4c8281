"""No command writes over what it reads, or begins long work before it knows that it can write the result."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from downfield.cli.console.options import ARCHIVE, check_data_name, check_outputs
from downfield.cli.main import app
from downfield.core.errors import InputError, OutputError


def test_an_output_over_an_input_is_refused_under_any_of_its_names(tmp_path: Path) -> None:
    tracks = tmp_path / "game.tracks.jsonl"
    tracks.touch()
    (tmp_path / "folder").mkdir()
    hard, soft = tmp_path / "hard.jsonl", tmp_path / "soft.jsonl"
    os.link(tracks, hard)
    soft.symlink_to(tracks)
    for output in (tracks, tmp_path / "folder" / ".." / "game.tracks.jsonl", hard, soft):
        with pytest.raises(InputError, match=r"this file is read, so it can't be written too"):
            check_outputs(output, inputs=(None, tracks))


def test_a_picture_of_a_folder_that_is_read_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "0001.png").touch()
    with pytest.raises(InputError, match="in a folder that is read"):
        check_outputs(tmp_path / "0001.png", inputs=(tmp_path,))
    check_outputs(tmp_path / "new.png", inputs=(tmp_path,))


def test_what_is_no_file_is_refused_as_output(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        check_outputs(None, tmp_path, inputs=())
    with pytest.raises(InputError, match="is a device"):
        check_outputs(Path(os.devnull), inputs=())
    (tmp_path / "photo.png").touch()
    with pytest.raises(OutputError, match="is a file, not a folder"):
        check_outputs(tmp_path / "photo.png" / "new" / "a.json", inputs=())


def test_what_can_be_no_file_is_refused_as_output(tmp_path: Path) -> None:
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    for name in ("x" * 300, "a\0b", "nowhere/a.json"):
        with pytest.raises(OutputError, match="can't be written"):
            check_outputs(tmp_path / name, inputs=())


def test_data_is_not_written_in_place_of_a_photo_that_was_to_be_read(tmp_path: Path) -> None:
    for name in ("photo.JPG", "game.mp4", "phone.heic"):
        with pytest.raises(InputError, match=r"End its name in \.json"):
            check_data_name(tmp_path / name)
    check_data_name(tmp_path / "a.calibration.json")


def test_two_results_never_go_to_one_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two results can't be written to one file"):
        check_outputs(tmp_path / "a.png", inputs=(), picture=tmp_path / "." / "a.png")


def test_a_picture_of_an_unknown_format_is_refused_before_the_work(tmp_path: Path) -> None:
    for name in ("check.pdf", "check"):
        with pytest.raises(OutputError, match="unknown picture format"):
            check_outputs(inputs=(), picture=tmp_path / name)


def test_another_output_is_accepted(tmp_path: Path) -> None:
    check_outputs(tmp_path / "new" / "game.calls.jsonl", None, inputs=(tmp_path / "game.tracks.jsonl", None))


@pytest.mark.parametrize(
    "words",
    [
        ("calibrate", "field", "photo.png", "-o", "photo.png"),
        ("calibrate", "field", "photo.png", "-o", "new.json", "--picture", "photo.png"),
        ("calibrate", "field", "photo.png", "-o", "my.toml", "--field", "my.toml"),
        ("calibrate", "lens", "photo.png", "-o", "photo.png"),
        ("certify", "photo.png", "-c", "table.json", "--report", "table.json"),
        ("certify", "photo.png", "-c", "photo.png", "--report", "report.html"),
        ("track", "photo.png", "-c", "table.json", "-o", "table.json"),
        ("judge", "game.jsonl", "-o", "my.toml", "--rulebook", "my.toml"),
        ("judge", "game.jsonl", "-o", "my.toml", "--against", "my.toml"),
    ],
)
def test_every_command_refuses_to_write_over_its_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("photo.png", "table.json", "my.toml", "game.jsonl"):
        Path(name).write_text("kept", encoding="utf-8")
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, InputError)
    assert "is read, so it can't be written" in str(result.exception)
    assert all(Path(name).read_text(encoding="utf-8") == "kept" for name in ("photo.png", "table.json", "my.toml"))


@pytest.mark.parametrize("height", ["nan", "inf", "-1", "0", "99999", "tall"])
def test_an_impossible_camera_height_is_refused_as_an_option(height: str) -> None:
    result = CliRunner().invoke(app, ["calibrate", "field", "none.png", "-o", "x.json", "--camera-height", height])
    assert result.exit_code == 2
    assert "--camera-height" in result.output


KINDS = {
    "calls.jsonl": b'{"rulebook": "tap", "format": "downfield.calls", "version": 2}\n{"id": "c1"}\n',
    "table.calibration.json": b'{\n  "format": "downfield.calibration",\n  "version": 2\n}\n',
    "game.mp4": b"\0\0\0\x20ftypisom\0\0\2\0",
    "game.mkv": b"\x1a\x45\xdf\xa3\1\0",
    "photo.jpg": b"\xff\xd8\xff\xe0\0",
    "game.zip": b"PK\x03\x04\0",
    "games.db": b"SQLite format 3\0\x10",
}


def test_a_result_replaces_only_an_older_one_of_its_kind(tmp_path: Path) -> None:
    for name, content in KINDS.items():
        (tmp_path / name).write_bytes(content)
        for kind, own in (("downfield.calls", "calls.jsonl"), ("downfield.calibration", "table.calibration.json")):
            if name == own:
                check_outputs(tmp_path / name, inputs=(), kind=kind)
                continue
            with pytest.raises(InputError, match="which would be lost"):
                check_outputs(tmp_path / name, inputs=(), kind=kind)
    for name in ("game.mp4", "game.mkv", "game.zip"):
        check_outputs(tmp_path / name, inputs=())  # a clip or a bundle exported again
    check_outputs(tmp_path / "game.zip", inputs=(), kind=ARCHIVE)
    with pytest.raises(InputError, match="is a video, which would be lost"):
        check_outputs(tmp_path / "game.mp4", inputs=(), kind=ARCHIVE)
    (tmp_path / "again.mp4").write_bytes(KINDS["game.zip"])
    with pytest.raises(InputError, match="is a bundle or another zip file, which would be lost"):
        check_outputs(tmp_path / "again.mp4", inputs=())


@pytest.mark.parametrize("content", [b"", b"notes", b"[1]", b"{", b'{"format": 3}', b"[" * 9999, b"\xff" * 99])
def test_what_is_nothing_known_may_be_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "old.jsonl").write_bytes(content)
    check_outputs(tmp_path / "old.jsonl", tmp_path / "new.jsonl", inputs=(), kind="downfield.calls")
