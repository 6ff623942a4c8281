"""No command looks up a host by itself or leaves anything in the home folder: each is run with the resolver refused."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import av
import httpx
import pytest
from ports import reserve_port
from waiting import WAIT_S, wait_until

from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.main import COMMANDS

REFUSED = """
import os, socket

look_up, connect = socket.getaddrinfo, socket.socket.connect

def refuse(host):
    with open(os.environ["LOOKED_UP"], "a") as kept:
        kept.write(f"{host}\\n")
    raise OSError("no network in this test")

def only_here(host, *rest, **named):
    return look_up(host, *rest, **named) if host in (None, "127.0.0.1", "::1") else refuse(host)

def connect_here(self, address):
    is_away = isinstance(address, tuple) and not str(address[0]).startswith("127.") and self.type == socket.SOCK_STREAM
    return refuse(address) if is_away else connect(self, address)

socket.getaddrinfo = socket.gethostbyname = socket.gethostbyname_ex = only_here
socket.socket.connect = connect_here
"""
"""Of every Python process of a command: the interpreter runs a `sitecustomize.py` before anything else."""

RUN = """
import json, sys, threading
from downfield.cli.main import run_command

ended = {}
for arguments in json.loads(sys.argv[1]):
    ended[" ".join(arguments)] = run_command(arguments)
for thread in threading.enumerate():
    if thread is not threading.current_thread() and not thread.daemon:
        thread.join(1)
print(json.dumps([name for name in ("ray", "fsspec", "s3fs", "pyarrow", "botocore") if name in sys.modules]))
print(json.dumps(ended))
"""
"""Prints which libraries were imported that only the work in an archive needs, and how each command ended."""

TRACKS = str(bundled_demo().with_suffix(".tracks.jsonl"))
EVENTS = str(bundled_demo().with_suffix(".events.jsonl"))
NEEDS_NOTHING = (["config"], ["rules", "tap"], ["tables", "list"], ["judge", TRACKS, "--events", EVENTS], ["admin"])


@dataclass(frozen=True)
class Alone:
    """A computer without a network.

    Attributes:
        folder: where the commands run; nothing is written beside it.
    """

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_", "YOLO_"))}
        own = {"HOME": "home", "DOWNFIELD_DATA": "data", "PYTHONPATH": "site", "LOOKED_UP": "looked-up"}
        return {**kept, "CI": "", **{name: str(self.folder / place) for name, place in own.items()}}

    def check(self) -> None:
        """Nothing was looked up, and nothing is left at home."""
        assert (self.folder / "looked-up").read_text() == ""
        assert not list((self.folder / "home").rglob("*"))


@pytest.fixture
def alone(tmp_path: Path) -> Alone:
    for name in ("home", "site"):
        (tmp_path / name).mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(REFUSED)
    (tmp_path / "looked-up").touch()
    return Alone(tmp_path)


def test_a_look_up_in_any_process_of_a_command_is_noticed(alone: Alone) -> None:
    asked = "import socket, subprocess, sys; socket.gethostbyname('example.org')"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {asked!r}])"
    subprocess.run([sys.executable, "-c", nested], env=alone.environment, stderr=subprocess.DEVNULL, check=True)
    assert (alone.folder / "looked-up").read_text() == "example.org\n"


@pytest.mark.parametrize(
    "commands", [[[name, "--help"] for name in COMMANDS], NEEDS_NOTHING], ids=["imported by its help", "run"]
)
def test_no_command_looks_up_a_host_or_leaves_anything_at_home(commands: list[list[str]], alone: Alone) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(commands)],
        env=alone.environment,
        cwd=alone.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    imported, ended = map(json.loads, ran.stdout.splitlines()[-2:])
    assert imported == [], "what only the archive needs slows the start of what does not"
    assert set(ended.values()) == {0}, ran.stdout
    alone.check()


def test_tracking_looks_up_no_host(alone: Alone) -> None:
    with av.open(str(bundled_demo())) as demo, av.open(str(alone.folder / "short.mp4"), "w") as short:
        stream = short.add_stream_from_template(demo.streams.video[0])
        for packet in itertools.islice(demo.demux(video=0), 12):
            packet.stream = stream
            short.mux(packet)
    calibration = str(bundled_demo().with_suffix(".calibration.json"))
    command = [sys.executable, "-m", "downfield", "track", "short.mp4", "-c", calibration, "-o", "t.tracks.jsonl"]
    ran = subprocess.run(command, env=alone.environment, cwd=alone.folder, capture_output=True, check=False)
    assert ran.returncode == 3, f"figures are found in some of so few pictures: {ran.stderr!r}"
    alone.check()


def test_the_demo_is_the_same_whatever_is_configured_and_looks_up_no_host(alone: Alone) -> None:
    (alone.folder / "downfield.toml").write_text(
        '[source]\nname = "0"\n[calibration]\nfile = "gone.json"\n[game]\nrulebook = "efl"\n'
        f'[store]\nurl = "sqlite:///{alone.folder / "games.db"}"\n'
    )
    there = {file.name for file in alone.folder.iterdir()}
    port = reserve_port()
    command = [sys.executable, "-m", "downfield", "demo", "--once", "--fast", "--port", str(port)]
    with subprocess.Popen(
        command, env=alone.environment, cwd=alone.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as demo:
        assert demo.stdout is not None
        lines: list[str] = []
        for line in demo.stdout:  # up to the tackle it takes longer, and test_walks sees that
            lines.append(line)
            if "TAP-086" in line:
                state = httpx.get(f"http://127.0.0.1:{port}/api/state", timeout=WAIT_S).json()["data"]
                demo.send_signal(signal.SIGINT)
                break
        rest, _ = demo.communicate(timeout=WAIT_S)
    assert re.search(r"2\.\d\d s +stoppage.*TAP-086", lines[-1]), (lines, rest)
    assert any(re.search(r"1\.\d\d s .*1st & 10 at H 34 . live", line) for line in lines), lines
    assert demo.returncode == 0, rest
    assert len(state["scene"]["figures"]) > 10, "the figures of its pictures are found"
    assert {file.name for file in alone.folder.iterdir()} == {*there, "data"}, "the demo wrote something"
    assert {file.name for file in (alone.folder / "data").iterdir()} == {"admin.key", "rig.key"}, "and more than keys"
    alone.check()


@pytest.mark.parametrize("arguments", [["score"], ["desk", "--tables", "1"]], ids=lambda arguments: arguments[0])
def test_what_runs_until_it_is_stopped_looks_up_no_host(arguments: list[str], alone: Alone) -> None:
    port = reserve_port()
    command = [sys.executable, "-m", "downfield", *arguments, "--port", str(port)]
    with subprocess.Popen(command, env=alone.environment, cwd=alone.folder, stdout=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: process.poll() is not None or _answers(port), "the pages are served")
            assert process.poll() is None, "it has ended by itself"
        finally:
            process.send_signal(signal.SIGINT)
    alone.check()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/", timeout=WAIT_S).is_success
    except httpx.HTTPError:
        return False
