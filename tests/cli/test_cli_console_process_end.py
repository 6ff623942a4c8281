"""A rig that is told to end does so in order, whatever it is doing, and its process never crashes."""

from __future__ import annotations

import gc
import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import av
import pytest
from loopback_streams import MjpegServer
from waiting import WAIT_S, wait_until

from downfield.cli.console.process_end import ended_in_order

SANE = {0, 130, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT}
"""Exit statuses: ended in order, or before anything was opened."""

LEFT_IN_A_LIBRARY = """
import ctypes, sys, threading
from downfield.cli.console.process_end import ProcessEnd
end = ProcessEnd()
library = ctypes.CDLL(None)
# What a library destroys at the end of the process crashes under a thread that still uses it.
getattr(library, "__cxa_atexit")(library.abort, None, None)
if "thread" in sys.argv:
    threading.Thread(target=library.pause, daemon=True).start()
print("kept", end="")
end.status = 7
sys.exit(end.status)
"""

LEAVES_A_THREAD = """
import threading, cv2, numpy

def blur():
    while True:
        cv2.GaussianBlur(numpy.zeros((200, 200, 3), numpy.uint8), (31, 31), 5)

def test_left():
    for _ in range(4):
        threading.Thread(target=blur, daemon=True).start()
    assert {passes}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[MjpegServer]:
    """A camera that does not see the board."""
    server = MjpegServer(fps=20)
    yield server
    server.close()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="registers its destructor with glibc")
@pytest.mark.parametrize(("left", "status"), [("thread", 7), ("nothing", -signal.SIGABRT)])
def test_a_thread_left_in_a_library_crashes_no_process(left: str, status: int) -> None:
    command = [sys.executable, "-c", LEFT_IN_A_LIBRARY, left]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (status, "kept"), done.stderr


@pytest.mark.parametrize(("passes", "status"), [(True, 0), (False, 1)])
def test_a_thread_left_in_opencv_does_not_abort_a_process_of_tests(
    tmp_path: Path, status: int, *, passes: bool
) -> None:
    path = tmp_path / "test_left.py"
    path.write_text(LEAVES_A_THREAD.format(passes=passes), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=environment, cwd=tmp_path
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert ("1 passed" if passes else "1 failed") in done.stdout


@pytest.mark.parametrize(
    ("number", "pictures"),
    [(signal.SIGTERM, 0), (signal.SIGHUP, 1), (signal.SIGINT, 40)],
    ids=["at once", "while it opens", "while it runs"],
)
def test_a_rig_that_looks_for_the_board_ends_in_order(
    server: MjpegServer, tmp_path: Path, number: int, pictures: int
) -> None:
    command = [sys.executable, "-m", "downfield", "run", "--source", server.url, "--port", "0"]
    environment = {**os.environ, "DOWNFIELD_DATA": str(tmp_path)}
    sent = server.sent
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=tmp_path
    )
    assert process.stdout is not None
    process.stdout.readline()  # it is about to open its source
    wait_until(lambda: server.sent >= sent + pictures)
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)
    assert process.returncode in SANE, output
    assert "Traceback" not in output
    for video in tmp_path.rglob("*.mkv"):
        with av.open(str(video)) as container:
            assert container.duration is not None, "the recording was not finished"


def test_the_first_signal_interrupts_and_further_ones_do_not() -> None:
    previous = signal.getsignal(signal.SIGTERM)
    closed = []
    with pytest.raises(KeyboardInterrupt), ended_in_order():  # noqa: PT012
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            closed.append("the recording")
    assert closed
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, previous if number == signal.SIGTERM else signal.default_int_handler)


class Signaling:
    """Garbage at whose end a signal arrives."""

    def __init__(self) -> None:
        self.self = self

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))


def test_a_signal_that_comes_while_an_object_is_finalized_is_not_lost() -> None:
    previous = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), ended_in_order():  # noqa: PT012
        Signaling()
        gc.collect()
        threading.Event().wait(WAIT_S)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, previous if number == signal.SIGTERM else signal.default_int_handler)


def test_a_rig_under_nohup_outlives_its_terminal() -> None:
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_in_order():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, previous)
