"""The file for a bug report: what it holds, and what it never holds."""

from __future__ import annotations

import re
import socket
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from downfield.cli.main import app
from downfield.rig.configuration.display import Scrubber, scrubber_of
from downfield.rig.configuration.loading import load
from downfield.rig.upkeep.log_file import LogObserver, log_file
from downfield.store.writing.store import Store

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
    done = CliRunner().invoke(app, ["support", "-o", "reports/report.zip", "--no-checks"])
    assert done.exit_code == 0, done.output
    assert "Nothing was sent" in done.output
    assert (tmp_path / "reports" / "report.zip").stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(tmp_path / "reports" / "report.zip") as archive:
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


SECRET_PARTS = st.text("abcdefgh0123456789ABCDEFGH", min_size=4, max_size=9)


@given(
    root=st.sampled_from(["/", "//", "C:\\", "D:/", "\\\\nas\\", "file:///", "~pat/", "%2F"]),
    parts=st.lists(SECRET_PARTS, min_size=2, max_size=4),
    around=st.sampled_from(
        ["%s", "can't open:%s", "PATH=/bin:%s", "'%s'", "(%s)", "a,%s;", "<%s>", "[%s]: no", "x=%s."]
    ),
)
def test_no_folder_of_a_path_comes_through_whatever_stands_around_it(root: str, parts: list[str], around: str) -> None:
    between = "%2F" if root == "%2F" else "\\" if "\\" in root else "/"
    scrubbed = Scrubber().scrub(around.replace("%s", root + between.join([*parts, "x.mkv"])))
    assert not re.search(r"(?<![\w.>])[/\\]+\w|[A-Z]:[/\\]|%2F", scrubbed), scrubbed
    assert root == "~pat/" or not any(part in scrubbed for part in parts), scrubbed
    assert "~pat" not in scrubbed


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the passphrase is kettle", "kettle"),
        ("Authorization: Basic cGF0OnB3", "cGF0OnB3"),
        ("Bearer abc.def.ghi", "abc.def"),
        ("type the code 7KQ4-M2ZP", "7KQ4"),
        ("refused token=abc", "abc"),
        ("rig.local:8317 and attic.home.arpa", "attic"),
        ("from fe80::1%eth0 and 2001:db8::5", "::5"),
        ("aa:bb:cc:dd:ee:ff", "dd:ee"),
        ("12345678901234567890123456", "123456"),
        ("XkqvTTLprmNaZtwYbcQweRty", "TTLprm"),
    ],
)
def test_what_looks_like_a_secret_or_an_address_is_taken_out(text: str, secret: str) -> None:
    assert secret not in Scrubber().scrub(text)


def test_a_folder_that_begins_like_a_known_one_is_another() -> None:
    scrubbed = Scrubber([(Path("/home/pat"), "<home>")]).scrub("/home/pat/a.mkv and /home/patricia/b.mkv")
    assert scrubbed == "<home>/a.mkv and <path>/b.mkv"


def test_every_secret_and_host_of_the_configuration_is_known(tmp_path: Path) -> None:
    """Wherever they turn up, in whatever form: in an error of a library, in a query of an address."""
    given_ = {
        "data": str(tmp_path),
        "obs.address": "ws://mixer-of-pat:4455",
        "obs.password": "kettle song",
        "webhook.url": "https://hooks.club-of-pat.example/x?t=1",
        "webhook.signing_key": "teapot dance",
        "service.names": ["pats-rig.example"],
        "source.name": "http://cam-of-pat/video?pwd=lamp%20light",
    }
    scrubber = scrubber_of(load(environment={}, command_line=given_).settings)
    text = (
        "kettle song kettle%20song kettle+song teapot dance at pats-rig.example, MIXER-OF-PAT, cam-of-pat: lamp%20light"
    )
    scrubbed = scrubber.scrub(f"{text} hooks.club-of-pat.example {socket.gethostname()}!")
    for forbidden in ("kettle", "teapot", "pats-rig", "MIXER", "cam-of", "club-of", f"{socket.gethostname()}!"):
        assert forbidden not in scrubbed, scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "14:03:07.120 INFO rig: started",
        "IncompatibleCalibrationError in downfield.rig.live",
        "frames_per_second_of_the_camera",
        "exit status 2, code 404",
        "the key is foreign",
        "--------------------------------",
        "16:9 at 1920x1080, 60 frames/s",
        "board on",
        "H 7, A 0 | 2nd & 5.5 at H 38.5",
        "0.3 mm inside the limit, sure to 98 %",
        "TAP-022/TAP-033",
        "a/b",
    ],
)
def test_what_a_reader_needs_stays_as_it_is(text: str) -> None:
    assert Scrubber().scrub(text) == text
