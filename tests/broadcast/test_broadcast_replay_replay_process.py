"""The processes of replays and highlights make the same films from the same frames, and nothing depends on them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest
from painted_scenes import play, tackle
from striped_pictures import clip
from waiting import WAIT_S, wait_until

from downfield.broadcast.replay import replay_process
from downfield.broadcast.replay.highlights import Highlight, HighlightsWork
from downfield.broadcast.replay.replay_maker import ReplayRenderer, ReplayWork
from downfield.broadcast.replay.replay_process import ReplayProcess, ReplayProcessLimits
from downfield.capture.footage import FootageCalibration, FootageFrame
from downfield.capture.recording.recorded_footage import decoded_pictures
from downfield.core.arrays import Image
from downfield.core.errors import BusyError, NotRecordedError
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS
from downfield.review.evidence.evidence import Evidence

pytestmark = pytest.mark.skipif(not CAN_PASS_DESCRIPTORS, reason="a process can't be handed a connection here")

FPS: Final = 30
NO_CALIBRATION: Final = FootageCalibration(None, "none")


class Frames:
    """Reads the frames in this process, and counts them."""

    def __init__(self) -> None:
        self.read = 0

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        for image in decoded_pictures(stills):
            self.read += 1
            yield image


def pid_of(process: ReplayProcess) -> int | None:
    """Return the id of the process that is ready; None while none is."""
    return None if process._worker is None else process._worker.process.pid


def runs(process: int) -> bool:
    """Whether a process does, or a parent has yet to learn that it does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def has_open(process: int, file: Path) -> bool:
    """Whether a process has a file open, as one that makes a replay of it has."""
    try:
        return any(one.exists() and one.samefile(file) for one in Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return False


def work_of(video: Path) -> ReplayWork:
    """Return a replay of the last of 40 frames."""
    times_ns = [round(number * 1e9 / FPS) for number in range(40)]
    stills = tuple(FootageFrame(number, t_ns, video, t_ns) for number, t_ns in enumerate(times_ns))
    call = tackle().model_copy(update={"t_ns": times_ns[-1]})
    return ReplayWork(Evidence(call, stills, {}, (), None), NO_CALIBRATION)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> ReplayWork:
    return work_of(clip(tmp_path_factory.mktemp("game") / "play.mp4"))


@pytest.fixture(scope="module")
def replay(work: ReplayWork) -> bytes:
    return b"".join(ReplayRenderer().film(work, Frames().pictures))


@pytest.fixture(scope="module")
def process() -> Iterator[ReplayProcess]:
    """One that has made nothing for the first test, and makes the replays of those after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay_process, "REPLAY_PROCESS_LIMITS", ReplayProcessLimits(timeout_s=WAIT_S))
        made = ReplayProcess()
        yield made
        made.close()


def test_the_first_replay_is_made_here_and_the_next_by_the_process_and_they_are_equal(
    process: ReplayProcess, work: ReplayWork, replay: bytes
) -> None:
    here, there = Frames(), Frames()
    assert b"".join(process.film(work, here.pictures)) == replay
    assert here.read > 20
    wait_until(lambda: pid_of(process))
    assert b"".join(process.film(work, there.pictures)) == replay
    assert there.read == 0


def test_a_replay_whose_frames_are_gone_says_so_and_the_process_goes_on(
    process: ReplayProcess, work: ReplayWork, tmp_path: Path
) -> None:
    process.prepare()
    wait_until(lambda: pid_of(process))
    pid = pid_of(process)
    with pytest.raises(NotRecordedError, match="can be read"):
        list(process.film(work_of(tmp_path / "deleted.mp4"), Frames().pictures))
    assert list(process.film(work, Frames().pictures))
    assert pid_of(process) == pid


def test_the_rest_of_an_abandoned_replay_is_in_no_other(
    process: ReplayProcess, work: ReplayWork, replay: bytes
) -> None:
    process.prepare()
    wait_until(lambda: pid_of(process))
    parts = process.film(work, Frames().pictures)
    next(parts)
    parts.close()  # type: ignore[attr-defined]
    assert b"".join(process.film(work, Frames().pictures)) == replay


def test_a_process_that_ends_breaks_one_replay_off_and_the_next_is_made(
    process: ReplayProcess, work: ReplayWork
) -> None:
    process.prepare()
    wait_until(lambda: pid_of(process))
    pid = pid_of(process)
    assert pid is not None
    parts = process.film(work, Frames().pictures)
    next(parts)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(BusyError, match="Ask for it again"):
        list(parts)
    here = Frames()
    assert list(process.film(work, here.pictures))  # nothing waits for another process
    assert here.read > 20
    wait_until(lambda: pid_of(process))
    # One that ended unnoticed costs nothing: the replay is made here.
    pid = pid_of(process)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert list(process.film(work, here.pictures))


def test_without_a_process_every_replay_is_made_here(monkeypatch: pytest.MonkeyPatch, work: ReplayWork) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    process = ReplayProcess()
    for _ in range(replay_process.REPLAY_PROCESS_LIMITS.starts + 1):
        here = Frames()
        assert list(process.film(work, here.pictures))
        assert here.read > 20
    process.close()
    process.prepare()
    assert pid_of(process) is None


def test_highlights_wait_for_a_process_of_their_own_which_ends_after_them(
    monkeypatch: pytest.MonkeyPatch, work: ReplayWork, tmp_path: Path
) -> None:
    monkeypatch.setattr(replay_process, "REPLAY_PROCESS_LIMITS", ReplayProcessLimits(timeout_s=WAIT_S))
    call, gone = work.evidence.call, work_of(tmp_path / "deleted.mp4")
    shown = tuple((Highlight(play(number, call), call, 1.0), made) for number, made in ((1, work), (2, gone)))
    highlights, process, here = HighlightsWork(shown), ReplayProcess(kept=False), Frames()
    parts = process.film(highlights, here.pictures)
    first = next(parts)
    assert pid_of(process) is not None
    assert b"".join((first, *parts)) == b"".join(ReplayRenderer().film(highlights, Frames().pictures))
    assert here.read == 0
    wait_until(lambda: pid_of(process) is None)
    with pytest.raises(NotRecordedError, match="No picture of this game"):
        list(process.film(HighlightsWork(shown[1:]), here.pictures))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert list(process.film(highlights, here.pictures))  # where none can be started, they are made here
    assert here.read > 20
    process.close()


RIG: Final = """
import sys, threading, time
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_broadcast_replay_replay_process import Frames, pid_of, work_of
from downfield.cli.console.process_end import ProcessEnd, ended_in_order
from downfield.broadcast.replay.replay_process import ReplayProcess

end, process = ProcessEnd(), ReplayProcess()


def make() -> None:
    while True:
        list(process.film(work_of(Path(sys.argv[1])), Frames().pictures))


with ended_in_order():
    try:
        process.prepare()
        while pid_of(process) is None:
            threading.Event().wait(0.05)
        print(pid_of(process), flush=True)
        threading.Thread(target=make, daemon=True).start()
        threading.Event().wait()
    except KeyboardInterrupt:
        process.close()
        end.status = 0
        print("closed", flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up as on Linux")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_while_a_replay_is_made_leaves_no_process(work: ReplayWork, number: signal.Signals) -> None:
    here = Path(__file__)
    command = [sys.executable, "-c", RIG, str(work.evidence.stills[0].video), str(here.parent), str(here.parents[1])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as rig:
        assert rig.stdout is not None
        process = int(rig.stdout.readline())
        wait_until(lambda: has_open(process, work.evidence.stills[0].video))
        rig.send_signal(number)
        output = rig.stdout.read()
        assert rig.wait(WAIT_S) == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    assert output == ("" if number == signal.SIGKILL else "closed\n")
    wait_until(lambda: not runs(process))
