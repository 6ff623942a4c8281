"""What systemd is told: ready, alive, stuck, stopping; in the process itself and in `downfield run`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from waiting import WAIT_S

from downfield.capture.source import CapturedFrame
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.rig.upkeep.systemd import Watchdog, status_text

CAPTURED = CapturedFrame(0, 0, 0, image=np.zeros((2, 2, 3), np.uint8))
FRAME = Frame(0, 0, np.zeros((2, 2, 3), np.uint8))
SCENE = Scene(0, 0, "off", ())


class Systemd:
    """The socket that systemd listens on."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._socket.settimeout(WAIT_S)

    def next(self) -> str:
        return self._socket.recv(4096).decode()

    def until(self, text: str) -> str:
        end = time.monotonic() + 120
        while text not in (told := self.next()):
            assert time.monotonic() < end, f"{text} was never told"
        return told

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    with closing(Systemd(tmp_path / "notify")) as listening:
        yield listening


def test_the_status_is_the_game_and_the_worst_problem() -> None:
    slow = HealthReason(code="slow", level="warning", text="Slow")
    lost = HealthReason(code="camera_lost", level="alarm", text="No picture")
    assert status_text("H 7, A 0", HealthStatus(text="board off")) == "H 7, A 0 | board off"
    assert status_text("H 7, A 0", HealthStatus(text="Slow", reasons=(slow,))) == "H 7, A 0 | Slow"
    worst = status_text("H 7, A 0", HealthStatus(text="Slow; No picture; Slow", reasons=(slow, lost, slow)))
    assert worst == "H 7, A 0 | No picture; 2 more: see `downfield logs`"


def test_it_is_ready_then_alive_then_stopping(systemd: Systemd) -> None:
    watchdog = Watchdog(lambda: "H 7, A 0\n| ok", {"NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "60000000"})
    watchdog.start()
    assert systemd.next() == "READY=1"
    assert systemd.next() == "WATCHDOG=1\nSTATUS=H 7, A 0 | ok"
    watchdog.close()
    assert systemd.next() == "STOPPING=1"


def test_frames_that_come_in_and_never_out_end_the_signs_of_life(systemd: Systemd) -> None:
    now_ns = 10**12
    environment = {"NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "30000"}
    watchdog = Watchdog(lambda: "ok", environment, lambda: now_ns)
    assert not watchdog.is_stuck(), "a camera that delivers nothing is waited for"
    watchdog.frame_captured(CAPTURED)
    watchdog.scene_ready(FRAME, SCENE)
    now_ns += 10**12
    assert not watchdog.is_stuck(), "an unplugged camera is waited for"
    watchdog.frame_captured(CAPTURED)
    now_ns += 21 * 10**9
    watchdog.frame_captured(CAPTURED)
    assert watchdog.is_stuck()
    watchdog.start()
    systemd.until("STATUS=frames come in")
    assert "WATCHDOG=1" not in systemd.next()
    watchdog.scene_ready(FRAME, SCENE)
    assert systemd.until("WATCHDOG=1")
    watchdog.close()


def test_a_status_that_can_not_be_had_is_no_reason_to_restart_the_rig(systemd: Systemd) -> None:
    def fail() -> str:
        raise RuntimeError("no game")

    watchdog = Watchdog(fail, {"NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "30000"})
    watchdog.start()
    assert "WATCHDOG=1" in systemd.until("STATUS=not known: RuntimeError: no game")
    watchdog.close()


def test_nothing_is_told_without_systemd_nor_when_it_is_gone(tmp_path: Path) -> None:
    for environment in ({}, {"NOTIFY_SOCKET": str(tmp_path / "gone")}):
        watchdog = Watchdog(lambda: "ok", environment)
        watchdog.start()
        watchdog.close()


def test_a_rig_under_systemd_says_that_it_is_ready_and_ends_in_order(systemd: Systemd, tmp_path: Path) -> None:
    environment = {**os.environ, "NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "3000000"}
    command = [sys.executable, "-m", "downfield", "demo", "--port", "0"]
    process = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        assert systemd.next() == "READY=1"
        assert "STATUS=H 0, A 0" in systemd.until("WATCHDOG=1")
        process.send_signal(signal.SIGTERM)
        systemd.until("STOPPING=1")
        _, error = process.communicate(timeout=WAIT_S)
    finally:
        process.kill()
    assert process.returncode in {0, -signal.SIGTERM}, error
    assert error == ""
