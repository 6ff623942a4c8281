"""Thread priorities: older frames go first, and background work comes last."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from rig_fakes import FakeReferee, FakeSource, FakeVision

from downfield.api.feed.latest_picture import LatestPicture
from downfield.core.frame import Detection, Frame
from downfield.rig.configuration.settings import RecordingSettings
from downfield.rig.live.annotated_picture import AnnotatedPicture
from downfield.rig.live.loop import Loop
from downfield.rig.live.rig_health import ActiveProblems
from downfield.rig.recording.recorder import Recorder
from downfield.rig.sources.source import SourceFacts
from downfield.vision.detection_schedule import BACKGROUND
from downfield.vision.thread_priority import lower_priority, raise_priority

BACKGROUND_NICENESS = 8

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's threads apart")


def niceness(thread: int | None = None) -> int:
    """The niceness of a thread; of the calling one if none is given."""
    return os.getpriority(os.PRIO_PROCESS, thread or threading.get_native_id())


def background_niceness() -> int:
    """The niceness of a new background thread started by the calling one."""
    with ThreadPoolExecutor(1, initializer=lower_priority) as background:
        return background.submit(niceness).result()


def has_background_priority(name: str) -> bool:
    """Whether a thread of this process has background priority, or gets it within a second."""
    (native_id,) = (thread.native_id for thread in threading.enumerate() if thread.name == name)
    for _ in range(100):
        if niceness(native_id) == min(niceness() + BACKGROUND_NICENESS, 19):
            return True
        time.sleep(0.01)
    return False


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


def schedule() -> tuple[int, int]:
    """The policy of the calling thread, and its rank among those in real time."""
    return os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK, os.sched_getparam(0).sched_priority


def schedule_of_another_thread() -> tuple[int, int]:
    """The schedule of a thread that the calling one starts."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(schedule).result()


def loop_schedules(*, live: bool) -> dict[str, tuple[int, int]]:
    """The schedules of the loop's threads by their names."""
    found = {}

    def note(_: object) -> None:
        found[threading.current_thread().name] = schedule()

    class NotingVision(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            note(frame)
            return super().detect(frame, waiting)

    Loop(FakeSource(5, live=live), NotingVision(note), FakeReferee(note), ActiveProblems()).run()
    return found


def may_run_in_real_time() -> bool:
    """Whether this account may, by the operating system's own command."""
    return subprocess.run(["chrt", "--rr", "2", "true"], capture_output=True, check=False).returncode == 0


in_real_time = pytest.mark.skipif(
    sys.platform == "linux" and not may_run_in_real_time(), reason="needs the limit rtprio, or its administrator"
)


@in_real_time
def test_live_frames_are_tracked_in_real_time_and_the_oldest_goes_first() -> None:
    found = loop_schedules(live=True)
    assert {name: policy for name, (policy, _) in found.items()} == dict.fromkeys(
        ("track", "detect", "judge"), os.SCHED_RR
    )
    assert found["detect"][1] < found["track"][1] == found["judge"][1]


def test_frames_of_a_recording_may_wait() -> None:
    assert set(loop_schedules(live=False).values()) == {(os.SCHED_OTHER, 0)}


@in_real_time
def test_what_a_thread_in_real_time_starts_is_ordinary() -> None:
    with ThreadPoolExecutor(1, initializer=raise_priority, initargs=("track",)) as track:
        assert track.submit(schedule).result()[0] == os.SCHED_RR
        assert track.submit(schedule_of_another_thread).result() == (os.SCHED_OTHER, 0)
        assert track.submit(background_niceness).result() == background_niceness()


def test_where_real_time_is_not_permitted_threads_keep_their_priorities(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    assert not raise_priority("track")
    assert set(loop_schedules(live=True).values()) == {(os.SCHED_OTHER, 0)}


def test_a_single_core_is_left_to_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with ThreadPoolExecutor(1) as track:
        assert not track.submit(raise_priority, "track").result()
        assert track.submit(schedule).result() == (os.SCHED_OTHER, 0)


def test_full_frame_runs_have_background_priority() -> None:
    assert BACKGROUND.submit(niceness).result() == min(niceness() + BACKGROUND_NICENESS, 19)


def test_drawing_and_recording_have_background_priority(tmp_path: Path) -> None:
    facts = SourceFacts("camera", "a camera", (64, 48), 30.0, live=True, codec="mjpeg")
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: facts, ActiveProblems())
    pictures = AnnotatedPicture(LatestPicture())
    try:
        assert has_background_priority("recorder")
        assert has_background_priority("annotated picture")
    finally:
        pictures.close()
        recorder.close()
