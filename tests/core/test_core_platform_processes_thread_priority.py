"""Thread priorities: older frames go first, and background work comes last."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from waiting import wait_until

from downfield.broadcast.latest_picture import LatestPicture
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.recorder import Recorder
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.source import SourceFacts
from downfield.core.platform.processes import lower_priority
from downfield.rig.live.annotated_picture import AnnotatedPicture
from downfield.vision.detection_schedule import BACKGROUND

BACKGROUND_NICENESS = 8

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's threads apart")


def niceness(thread: int | None = None) -> int:
    """The niceness of a thread; of the calling one if none is given."""
    return os.getpriority(os.PRIO_PROCESS, thread or threading.get_native_id())


def background_niceness() -> int:
    """The niceness of a new background thread started by the calling one."""
    with ThreadPoolExecutor(1, initializer=lower_priority) as background:
        return background.submit(niceness).result()


def wait_for_background_priority(name: str) -> None:
    """Wait until a thread of this process has background priority."""
    (native_id,) = (thread.native_id for thread in threading.enumerate() if thread.name == name)
    wait_until(lambda: niceness(native_id) == min(niceness() + BACKGROUND_NICENESS, 19), f"{name} is in the background")


def test_only_the_calling_thread_is_lowered() -> None:
    before = niceness()
    with ThreadPoolExecutor(1, initializer=lower_priority) as lowered, ThreadPoolExecutor(1) as other:
        assert lowered.submit(niceness).result() == min(before + BACKGROUND_NICENESS, 19)
        assert other.submit(niceness).result() == niceness() == before


def test_threads_with_older_frames_go_first() -> None:
    with ThreadPoolExecutor(1, initializer=lower_priority, initargs=("detect",)) as detect:
        decode = ThreadPoolExecutor(1, initializer=lower_priority, initargs=("decode",))
        nice = [niceness(), detect.submit(niceness).result(), decode.submit(niceness).result(), background_niceness()]
        decode.shutdown()
    assert nice == sorted(set(nice)), "the order is: track, detect, decode, background"


def test_a_thread_started_by_a_lowered_one_is_lowered_no_further() -> None:
    with ThreadPoolExecutor(1, initializer=lower_priority, initargs=("detect",)) as detect:
        assert detect.submit(background_niceness).result() == background_niceness()


def test_full_frame_runs_have_background_priority() -> None:
    assert BACKGROUND.submit(niceness).result() == min(niceness() + BACKGROUND_NICENESS, 19)


def test_drawing_and_recording_have_background_priority(tmp_path: Path) -> None:
    facts = SourceFacts("camera", "a camera", (64, 48), 30.0, live=True, codec="mjpeg")
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: facts, ActiveProblems())
    pictures = AnnotatedPicture(LatestPicture())
    try:
        wait_for_background_priority("recorder")
        wait_for_background_priority("annotated picture")
    finally:
        pictures.close()
        recorder.close()
