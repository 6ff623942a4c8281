"""Whatever is in a file, and whatever it is: a command ends with a result, or with one line and status 2."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from hostile_files import MUTATIONS, mutate

from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.main import run_command
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK

DEMO = bundled_demo().parent
ROOT = Path(__file__).parents[1]

READERS = {
    "tracks": ("judge", "{}"),
    "events": ("judge", "intact.tracks.jsonl", "--events", "{}"),
    "rulebook": ("judge", "intact.tracks.jsonl", "--rulebook", "{}"),
    "house rules": ("rules", "--house", "{}"),
    "configuration": ("config", "--config", "{}"),
    "calibration": ("certify", "noise.png", "--calibration", "{}", "--report", "report.html"),
    "certified": ("judge", "intact.tracks.jsonl", "--calibration", "{}"),
    "roster": ("track", "gone.mp4", "--calibration", "intact.calibration.json", "-o", "out.jsonl", "--roster", "{}"),
    "field": ("calibrate", "field", "dark.png", "-o", "out.json", "--field", "{}"),
    "lens": ("calibrate", "field", "dark.png", "-o", "out.json", "--lens", "{}"),
    "bundle": ("verify", "{}"),
    "backup": ("restore", "{}", "--set", "data=data"),
}
"""Commands by what they read, with the place of the file."""

HARMLESS = {"mark", "carriage returns", "a newer version", "an older version"}

TEXTS = {"tracks", "events", "rulebook", "house rules", "configuration"}
"""Of these, those that end well with an intact file."""


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, bytes]]:
    """Return the name and content of an intact file of each kind; the others that the commands need lie beside."""
    folder = tmp_path_factory.mktemp("intact")
    tracks = b"".join((DEMO / "demo.tracks.jsonl").read_bytes().splitlines(keepends=True)[:25])
    calibration = (DEMO / "demo.calibration.json").read_bytes()
    (folder / "intact.tracks.jsonl").write_bytes(tracks)
    (folder / "intact.calibration.json").write_bytes(calibration)
    noise = np.random.default_rng(0).integers(0, 255, (300, 500, 3)).astype(np.uint8)
    cv2.imwrite(str(folder / "noise.png"), noise)
    cv2.imwrite(str(folder / "dark.png"), np.zeros((300, 500, 3), np.uint8))  # which is refused at once
    book = f'name = "House"\nbase = "{DEFAULT_RULEBOOK}"\n[policy]\nfumble = "propose"\n'.encode()
    configuration = b'[source]\nname = "0"\n[recording]\nkeep_gb = 5.0\non = true\n'
    lens = b'{"format": "downfield.lens", "version": 1, "size_px": [640, 480]}\n'
    return {
        "folder": (str(folder), b""),
        "tracks": ("file.tracks.jsonl", tracks),
        "events": ("file.events.jsonl", (DEMO / "demo.events.jsonl").read_bytes()),
        "rulebook": ("file.toml", book),
        "house rules": ("file.toml", book),
        "configuration": ("file.toml", configuration),
        "calibration": ("file.json", calibration),
        "certified": ("file.json", calibration),
        "roster": ("file.tracks.jsonl", tracks),
        "field": ("file.toml", next((ROOT / "core" / "fields").glob("*.toml")).read_bytes()),
        "lens": ("file.json", lens),
        "bundle": ("file.zip", b"PK\x03\x04" + bytes(100)),
        "backup": ("file.zip", b"PK\x03\x04" + bytes(100)),
    }


@pytest.fixture(autouse=True)
def beside_intact_files(intact: dict[str, tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in the folder of the intact files, and keep them away from this user's data."""
    monkeypatch.chdir(Path(intact["folder"][0]))


def status_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run a command; return its status, and what it says of an error."""
    capsys.readouterr()
    status = run_command(arguments)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("downfield: ")]
    assert len(lines) == (1 if status == 2 else 0), (arguments, lines)
    return status, "".join(lines)


@pytest.mark.parametrize(
    ("kind", "name"),
    # An intact field is solved for, which takes seconds.
    [(kind, name) for kind in READERS for name in MUTATIONS if kind != "field" or name not in HARMLESS],
)
def test_hostile_content_is_a_result_or_one_line(
    tmp_path: Path, intact: dict[str, tuple[str, bytes]], capsys: pytest.CaptureFixture[str], kind: str, name: str
) -> None:
    file_name, content = intact[kind]
    path = tmp_path / file_name
    path.write_bytes(mutate(content, name, zlib.crc32(f"{kind} {name}".encode())))
    status, line = status_of([part.format(path) for part in READERS[kind]], capsys)
    assert status in {0, 1, 2}
    assert status != 2 or len(line) < 400
    if name in {"mark", "carriage returns"} and kind in TEXTS:
        assert status == 0


def special(folder: Path, kind: str) -> str:
    """Make something that is no intact file; return its name."""
    path = folder / "special.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "dangling link":
        path.symlink_to(folder / "gone")
    elif kind == "link to itself":
        path.symlink_to(path)
    names = {"device": "/dev/zero", "dot": ".", "nothing": "", "long": "x" * 300 + ".toml", "deep": "x/" * 3000}
    return names.get(kind, str(path))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "kind", ["pipe", "folder", "dangling link", "link to itself", "device", "dot", "nothing", "long", "deep"]
)
def test_what_is_no_file_is_one_line(
    tmp_path: Path, intact: dict[str, tuple[str, bytes]], capsys: pytest.CaptureFixture[str], reader: str, kind: str
) -> None:
    assert intact
    arguments = [part.format(special(tmp_path, kind)) if part == "{}" else part for part in READERS[reader]]
    assert status_of(arguments, capsys)[0] == 2


@pytest.mark.parametrize("kind", ["pipe", "dangling link", "link to itself", "device", "long", "deep"])
@pytest.mark.parametrize("command", ["track", "calibrate", "certify"])
def test_what_is_no_source_is_one_line(
    tmp_path: Path, intact: dict[str, tuple[str, bytes]], capsys: pytest.CaptureFixture[str], command: str, kind: str
) -> None:
    assert intact
    name = special(tmp_path, kind)
    arguments = {
        "track": ["track", name, "--calibration", "intact.calibration.json", "-o", "out.jsonl"],
        "calibrate": ["calibrate", "field", name, "-o", "out.json"],
        "certify": ["certify", name, "--calibration", "intact.calibration.json", "--report", "report.html"],
    }
    assert status_of(arguments[command], capsys)[0] == 2


def test_a_torn_last_line_is_left_out_and_told_of(
    tmp_path: Path, intact: dict[str, tuple[str, bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    content = intact["tracks"][1]
    path = tmp_path / "torn.tracks.jsonl"
    path.write_bytes(content[:-40])
    assert run_command(["judge", str(path)]) == 0
    assert "line 25, the last one, was cut off and is left out" in capsys.readouterr().err
    path.write_bytes(content[:-1])  # only the line break is missing
    assert run_command(["judge", str(path)]) == 0
    assert "cut off" not in capsys.readouterr().err
    path.write_bytes(content[:-40] + b"\n")
    assert run_command(["judge", str(path)]) == 2
