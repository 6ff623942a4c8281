"""The program's own process draws the same pictures, and nothing depends on it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from program_camera import NumberedCamera
from program_scenes import FIELD, filmed, nominal_camera, players
from waiting import WAIT_S, wait_until

from downfield.broadcast.program import picture_process
from downfield.broadcast.program.live_stream import Part
from downfield.broadcast.program.picture_process import PictureProcess, PictureProcessLimits, program_jpeg
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.program.program_painter import DrawRequest, ProgramMoment, ProgramPainter
from downfield.calibration.calibration import Calibration
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS
from downfield.game.published.stream_topics import ProgramOptions

pytestmark = pytest.mark.skipif(not CAN_PASS_DESCRIPTORS, reason="processes share no memory here")

SMALL = (960, 540)


class Film:
    """What came of a film."""

    def __init__(self) -> None:
        self.data, self.jpegs, self.failures, self.ended = b"", list[bytes](), list[str](), 0

    def begin(self, header: bytes) -> None:
        self.data += header

    def add(self, part: Part) -> None:
        self.data += part.data

    def end(self) -> None:
        self.ended += 1


def pid_of(process: PictureProcess) -> int | None:
    """Return the id of the process that draws; None while none does."""
    return None if process._worker is None else process._worker.process.process.pid


@pytest.fixture
def film() -> Film:
    return Film()


@pytest.fixture
def process(film: Film, monkeypatch: pytest.MonkeyPatch) -> Iterator[PictureProcess]:
    monkeypatch.setattr(
        picture_process, "PICTURE_PROCESS_LIMITS", PictureProcessLimits(restart_s=0.05, timeout_s=WAIT_S)
    )
    made = PictureProcess(film, film.jpegs.append, film.failures.append)
    yield made
    made.close()


def test_the_process_draws_and_encodes_what_would_be_drawn_here(process: PictureProcess, film: Film) -> None:
    frame = next(filmed(3, [0.0], 0.0, SMALL))
    calibration = Calibration(FIELD, nominal_camera(3, SMALL), "truth")
    moment, options = ProgramMoment(None, "dark-1", players()), ProgramOptions(tags="all")

    def draw(t_ns: int, scene: object = frame.scene) -> bool:
        request = DrawRequest(t_ns, scene, frame.camera, moment, options, film=True, picture=True)  # type: ignore[arg-type]
        return process.draw(frame.image, request, calibration)

    wait_until(lambda: draw(0))
    painter = ProgramPainter()
    painter.calibrate(calibration)
    here = painter.draw(frame.image, frame.scene, frame.camera, moment, options)
    assert not np.array_equal(here, frame.image)
    assert film.jpegs[-1] == program_jpeg(here)
    times_ns = iter(range(100_000_000, 100_000_000_000, 100_000_000))
    wait_until(lambda: draw(next(times_ns)) and film.data.count(b"moof") >= 3)
    with av.open(io.BytesIO(film.data), "r") as container:
        shown = next(container.decode(video=0)).to_ndarray(format="bgr24", threads=1)
    assert np.abs(shown.astype(int) - here.astype(int)).mean() < 4
    # A picture that can't be drawn is told, and the next one is drawn.
    count = len(film.jpegs)
    assert draw(next(times_ns), scene=None)
    assert "AttributeError" in film.failures[0]
    assert len(film.jpegs) == count
    assert draw(next(times_ns))
    assert len(film.jpegs) == count + 1


def test_a_process_that_ends_is_started_again_and_meanwhile_nothing_waits(process: PictureProcess, film: Film) -> None:
    frame = next(filmed(3, [0.0], 0.0, SMALL))
    request = DrawRequest(0, frame.scene, None, ProgramMoment(), ProgramOptions(), film=False, picture=True)
    assert not process.draw(frame.image, request, None)  # it is being started
    wait_until(lambda: process.draw(frame.image, request, None))
    plain = cv2.imdecode(np.frombuffer(film.jpegs[-1], np.uint8), cv2.IMREAD_COLOR)
    assert np.abs(np.asarray(plain, int) - frame.image.astype(int)).mean() < 4  # drawn without a calibration
    first = pid_of(process)
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not process.draw(frame.image, request, None))
    wait_until(lambda: process.draw(frame.image, request, None))
    assert pid_of(process) not in {None, first}
    assert film.ended >= 1  # its film has ended
    process.close()
    assert not process.draw(frame.image, request, None)


def test_a_process_that_is_still_being_started_is_ended_with_the_rig(
    process: PictureProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Such as one begun anew because the first ended by the signal that ends the rig, as systemd sends to all."""
    started: list[subprocess.Popen[bytes]] = []

    class Started(subprocess.Popen[bytes]):
        def __init__(self, *given: object, **named: object) -> None:
            super().__init__(*given, **named)  # type: ignore[call-overload]
            started.append(self)

    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 6000\n", encoding="ascii")  # an interpreter on a busy computer
    slow.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(slow))
    monkeypatch.setattr("downfield.core.platform.processes.subprocess.Popen", Started)
    request = DrawRequest(0, None, None, ProgramMoment(), ProgramOptions(), film=False, picture=True)  # type: ignore[arg-type]
    assert not process.draw(np.zeros((90, 160, 3), np.uint8), request, None)
    wait_until(lambda: started)
    closing = threading.Thread(target=process.close, daemon=True)
    closing.start()
    closing.join(WAIT_S)
    assert not closing.is_alive(), "closing waits for a process that never answers"
    assert started[0].poll() is not None
    assert not process.draw(np.zeros((90, 160, 3), np.uint8), request, None)
    assert len(started) == 1, "a closed one was started again"


def test_a_process_that_hangs_keeps_no_end_waiting(process: PictureProcess) -> None:
    request = DrawRequest(0, None, None, ProgramMoment(), ProgramOptions(), film=False, picture=False)  # type: ignore[arg-type]
    image = np.zeros((90, 160, 3), np.uint8)
    wait_until(lambda: process.draw(image, request, None))
    pid = pid_of(process)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    drawing = threading.Thread(target=lambda: process.draw(image, request, None), daemon=True)
    began = time.monotonic()
    drawing.start()
    process.end()
    drawing.join(WAIT_S)
    assert time.monotonic() - began < WAIT_S / 2, "the picture was waited for until it was too late"
    process.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_that_can_not_be_started_leaves_everything_to_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_process, "PICTURE_PROCESS_LIMITS", PictureProcessLimits(restart_s=0.01))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    drawer = ProgramDrawer(ProgramMoment, own_process=True)
    camera = NumberedCamera(drawer)
    try:
        drawer.stream._asked()
        drawer.picture._watchers.add((None, None))  # type: ignore[arg-type]
        monkeypatch.setattr(drawer.picture, "_wake", lambda: None)

        def has_film() -> bool:
            drawer.stream._asked()
            return bool(drawer.stream._segments and drawer.stream._segments[-1].parts)

        wait_until(lambda: drawer.picture.latest)
        wait_until(has_film)
    finally:
        camera.close()
        drawer.picture._watchers.clear()
        drawer.close()
