"""The file for a bug report: what it holds, and what it never holds."""

from __future__ import annotations

import re
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from downfield.game.store import Store
from downfield.rig.cli.main import app
from downfield.rig.upkeep.log_file import log_file
from downfield.rig.upkeep.log_observer import LogObserver
from downfield.rig.upkeep.scrubbing import Scrubber

PASSWORD = "geheim-pa55 wort"
KEY = "Xk3_v9QpLr72mNa0Zt8wYb4c"


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files of a bug report of a rig with a camera of the network, a store on a server, a key and a log."""
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "home of Ana" / "data"
    Store.at(data / "downfield.db").close()
    (data / "admin.key").write_text(KEY)
    (tmp_path / "downfield.toml").write_text(
        f'data = "{data}"\n[source]\nname = "rtsp://ana:{PASSWORD}@192.168.7.20/stream1"\n'
        f'[store]\nurl = "postgresql://ana:{PASSWORD}@db.club.example/downfield"\n'
    )
    with log_file(data / "logs", "info", 1.0):
        observer = LogObserver()
        observer.notice_given("warning", f"rtsp://ana:{PASSWORD}@192.168.7.20/stream1: stopped. See {data}/recordings.")
        observer.notice_given("info", f"A browser opened http://10.0.0.5:8317/pair#{KEY} from fe80:0:0:0:1:2:3:4.")
        observer.notice_given("alarm", "/mnt/usb stick/x.mkv and C:\\Users\\Ana\\x.mkv can't be written.")
    done = CliRunner().invoke(app, ["support", "-o", "report.zip", "--no-checks"])
    assert done.exit_code == 0, done.output
    assert "Nothing was sent" in done.output
    assert (tmp_path / "report.zip").stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_it_holds_versions_configuration_log_and_amounts(unpacked: dict[str, str]) -> None:
    assert f"downfield {version('downfield')}" in unpacked["versions.txt"]
    assert re.search(r"^openvino \d", unpacked["versions.txt"], re.MULTILINE)
    assert "[recording]" in unpacked["configuration.toml"]
    assert "stopped" in unpacked["log.txt"]
    assert '"games": 0' in unpacked["data.txt"]
    assert re.search(r"^1 files, 0.0 MB, .key$", unpacked["data.txt"], re.MULTILINE), unpacked["data.txt"]


def test_it_holds_no_secret_no_path_and_no_address(unpacked: dict[str, str], tmp_path: Path) -> None:
    for name, text in unpacked.items():
        for forbidden in (
            PASSWORD,
            PASSWORD.split()[0],
            KEY,
            "192.168.7.20",
            "10.0.0.5",
            "club.example",
            "fe80",
            "ana:",
        ):
            assert forbidden not in text, f"{name} holds {forbidden}"
        assert str(tmp_path) not in text, name
        assert str(Path.home()) not in text, name
        assert "Ana" not in text, name
        assert not re.search(r"(?<![\w.<>])/(?:home|mnt|tmp|root|Users)\b", text), f"{name} holds a path"


@given(st.lists(st.sampled_from("abcXYZ 019-_./:@%\"'\\ü\n"), max_size=30).map("".join))
@example(" ")
@example("/")
def test_a_known_secret_never_comes_through(secret: str) -> None:
    if len(secret.strip()) < 6:
        return
    scrubbed = Scrubber(secrets=[secret]).scrub(f'before {secret} "{secret}" x{secret}y')
    assert secret not in scrubbed


@pytest.mark.parametrize(
    "text",
    ["board on", "H 7, A 0 | 2nd & 5.5 at H 38.5", "0.3 mm inside the limit, sure to 98 %", "TAP-022/TAP-033", "a/b"],
)
def test_what_a_reader_needs_stays_as_it_is(text: str) -> None:
    assert Scrubber().scrub(text) == text
