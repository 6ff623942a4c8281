"""Threads beside the frames: they yield, and no other does."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from downfield.api.hub import Hub
from downfield.api.picture import LatestPicture
from downfield.rig.configuration.settings import RecordingTable
from downfield.rig.live.pictures import Pictures
from downfield.rig.record.recorder import Recorder
from downfield.rig.sources.source import SourceFacts
from downfield.rig.troubles import Troubles
from downfield.vision.giving_way import give_way
from downfield.vision.looking import BESIDE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's threads apart")


def niceness(thread: int | None = None) -> int:
    """Of a thread, the calling one when none is given."""
    return os.getpriority(os.PRIO_PROCESS, thread or threading.get_native_id())


def yields(name: str) -> bool:
    """Whether a thread of this process yields, or comes to do so within a second."""
    (thread,) = (one.native_id for one in threading.enumerate() if one.name == name)
    for _ in range(100):
        if niceness(thread) == min(niceness() + 5, 19):
            return True
        time.sleep(0.01)
    return False


def test_a_thread_that_gives_way_is_the_only_one_that_does() -> None:
    before = niceness()
    with ThreadPoolExecutor(1, initializer=give_way) as yielding, ThreadPoolExecutor(1) as other:
        assert yielding.submit(niceness).result() == min(before + 5, 19)
        assert other.submit(niceness).result() == niceness() == before


def test_looks_at_whole_pictures_give_way_to_frames() -> None:
    assert BESIDE.submit(niceness).result() == min(niceness() + 5, 19)


def test_drawing_and_recording_give_way_to_frames(tmp_path: Path) -> None:
    facts = SourceFacts("camera", "a camera", (64, 48), 30.0, live=True, codec="mjpeg")
    recorder = Recorder(tmp_path, RecordingTable(), lambda: facts, Troubles())
    pictures = Pictures(None, Hub(), LatestPicture())
    try:
        assert yields("recorder")
        assert yields("pictures")
    finally:
        pictures.close()
        recorder.close()
