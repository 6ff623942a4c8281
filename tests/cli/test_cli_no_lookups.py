"""No command looks up a host by itself or leaves anything in the home folder: each is run with the resolver refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.main import COMMANDS

RUN = """
import json, socket, sys, threading

looked_up = []

def refuse(host, *_rest, **_named):
    looked_up.append(str(host))
    raise OSError("no network in this test")

socket.getaddrinfo = socket.gethostbyname = socket.gethostbyname_ex = refuse
connect = socket.socket.connect
def only_here(self, address):
    if isinstance(address, tuple) and not str(address[0]).startswith("127.") and self.type == socket.SOCK_STREAM:
        looked_up.append(str(address))
        raise OSError("no network in this test")
    return connect(self, address)
socket.socket.connect = only_here
from downfield.cli.main import run_command

ended = {}
for arguments in json.loads(sys.argv[1]):
    ended[" ".join(arguments)] = run_command(arguments)
for thread in threading.enumerate():
    if thread is not threading.current_thread() and not thread.daemon:
        thread.join(1)
print(json.dumps([ended, looked_up]))
"""

TRACKS = str(bundled_demo().with_suffix(".tracks.jsonl"))
EVENTS = str(bundled_demo().with_suffix(".events.jsonl"))
NEEDS_NOTHING = (["config"], ["rules", "tap"], ["tables", "list"], ["judge", TRACKS, "--events", EVENTS], ["admin"])


@pytest.mark.parametrize(
    "commands", [[[name, "--help"] for name in COMMANDS], NEEDS_NOTHING], ids=["imported by its help", "run"]
)
def test_no_command_looks_up_a_host_or_leaves_anything_at_home(commands: list[list[str]], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_", "YOLO_"))}
    environment = {**kept, "HOME": str(home), "CI": "", "DOWNFIELD_DATA": str(tmp_path / "data")}
    ran = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(commands)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    ended, looked_up = json.loads(ran.stdout.splitlines()[-1])
    assert looked_up == []
    assert not list(home.rglob("*"))
    assert set(ended.values()) == {0}, ended
