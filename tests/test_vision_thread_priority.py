"""Who gives way to whom: later frames to older ones, and what works beside them to all."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from downfield.api.feed.latest_picture import LatestPicture
from downfield.rig.configuration.settings import RecordingSettings
from downfield.rig.live.annotated_picture import AnnotatedPicture
from downfield.rig.live.health import ActiveProblems
from downfield.rig.recording.recorder import Recorder
from downfield.rig.sources.source import SourceFacts
from downfield.vision.detection_schedule import BACKGROUND
from downfield.vision.thread_priority import lower_priority

BESIDE_STEPS = 8

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's threads apart")


def niceness(thread: int | None = None) -> int:
    """Of a thread, the calling one when none is given."""
    return os.getpriority(os.PRIO_PROCESS, thread or threading.get_native_id())


def beside_nice() -> int:
    """Of a new thread that works beside the frames, started by the calling one."""
    with ThreadPoolExecutor(1, initializer=lower_priority) as beside:
        return beside.submit(niceness).result()


def yields(name: str) -> bool:
    """Whether a thread of this process yields to all others, or comes to do so within a second."""
    (thread,) = (one.native_id for one in threading.enumerate() if one.name == name)
    for _ in range(100):
        if niceness(thread) == min(niceness() + BESIDE_STEPS, 19):
            return True
        time.sleep(0.01)
    return False


def test_a_thread_that_gives_way_is_the_only_one_that_does() -> None:
    before = niceness()
    with ThreadPoolExecutor(1, initializer=lower_priority) as yielding, ThreadPoolExecutor(1) as other:
        assert yielding.submit(niceness).result() == min(before + BESIDE_STEPS, 19)
        assert other.submit(niceness).result() == niceness() == before


def test_the_older_a_threads_frames_the_sooner_it_runs() -> None:
    with ThreadPoolExecutor(1, initializer=lower_priority, initargs=("detect",)) as look:
        unpack = ThreadPoolExecutor(1, initializer=lower_priority, initargs=("decode",))
        nice = [niceness(), look.submit(niceness).result(), unpack.submit(niceness).result(), beside_nice()]
        unpack.shutdown()
    assert nice == sorted(set(nice)), "who sees, looks, unpacks, works beside: in this order"


def test_a_thread_started_by_one_that_gave_way_gives_way_no_further() -> None:
    with ThreadPoolExecutor(1, initializer=lower_priority, initargs=("detect",)) as look:
        assert look.submit(beside_nice).result() == beside_nice()


def test_looks_at_whole_pictures_give_way_to_frames() -> None:
    assert BACKGROUND.submit(niceness).result() == min(niceness() + BESIDE_STEPS, 19)


def test_drawing_and_recording_give_way_to_frames(tmp_path: Path) -> None:
    facts = SourceFacts("camera", "a camera", (64, 48), 30.0, live=True, codec="mjpeg")
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: facts, ActiveProblems())
    pictures = AnnotatedPicture(LatestPicture())
    try:
        assert yields("recorder")
        assert yields("annotated picture")
    finally:
        pictures.close()
        recorder.close()
