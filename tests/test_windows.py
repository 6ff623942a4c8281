"""Downfield without anything that only POSIX systems have, in processes of its own (`posix_free`)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from waiting import WAIT_S

POSIX_FREE = Path(__file__).with_name("posix_free.py")


def command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"DOWNFIELD_DATA": str(folder)}
    return subprocess.Popen(
        [sys.executable, str(POSIX_FREE), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def output_of(folder: Path, *arguments: str) -> tuple[int, str]:
    with command(folder, *arguments) as process:
        output, _ = process.communicate(timeout=WAIT_S)
        return process.returncode, output


def test_a_game_is_kept_served_and_verified_and_its_folder_is_one_programs(tmp_path: Path) -> None:
    with command(tmp_path, "score", "--port", "0") as keeper:
        assert keeper.stdout is not None
        address = keeper.stdout.readline().split()[1]
        with urlopen(f"{address}healthz", timeout=WAIT_S) as answer:
            assert answer.read() == b'{"status":"ok"}'
        status, output = output_of(tmp_path, "score", "--port", "0")
        assert (status, "is in use by table 'by hand'" in output) == (2, True), output
        keeper.send_signal(signal.SIGINT)
        rest, _ = keeper.communicate(timeout=WAIT_S)
        assert keeper.returncode == 0, rest
    status, output = output_of(tmp_path, "run", "--source", "0")
    assert (status, "Settings > Privacy & security > Camera" in output) == (2, True), output
    status, output = output_of(tmp_path, "verify", str(tmp_path / "downfield.db"))
    assert (status, "unaltered" in output) == (0, True), output
