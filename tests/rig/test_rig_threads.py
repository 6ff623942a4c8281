"""Each thread of the rig that fails is begun again or says so, and the health claims nothing that is not so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import httpx
import numpy as np
import pytest
import uvicorn
from rig_fakes import FakeSource
from waiting import WAIT_S, wait_until

from downfield.api.label_review import LabelReview
from downfield.api.table_setup import SolveRequest
from downfield.broadcast.integrations.outlets import OutletRunner
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording import recorder as recorder_module
from downfield.capture.recording.recorder import RECORDING_FAILED, Recorder
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.source import SourceFacts
from downfield.capture.sources.reconnecting import ReconnectingSource, ReconnectLimits
from downfield.capture.sources.source_types import SourceChoice
from downfield.cli.commands.track import live_scenes
from downfield.core.errors import OutputError
from downfield.core.field.model import load_field
from downfield.desk.tables.address_book import TableEntry
from downfield.desk.tables.rig_client import TableWatcher
from downfield.game.published.hub import Hub
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.scorekeeper import Scorekeeper
from downfield.rig.service.web_service import serve_label_review
from downfield.rig.tables.setup_session import SetupSession
from downfield.store.writing import journal
from downfield.vision.pipeline import Vision

FACTS = SourceFacts("camera", "Table Cam", (160, 90), 50.0, live=True, codec="mjpeg")


@pytest.fixture(autouse=True)
def _restarts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("downfield.core.threads.RESTART_S", 0.05)


def failing(times: int, work: Callable[..., Any], error: BaseException) -> Callable[..., Any]:
    """Return work that fails a number of times, and then is done."""
    left = [times]

    def run(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return work(*args, **kwargs)

    return run


@pytest.fixture
def keeper(tmp_path: Path) -> Any:
    given = {"game.rulebook": "tap", "service.port": 0, "data": str(tmp_path)}
    made = Scorekeeper(load(None, command_line=given), load_field("ultimate"))
    yield made
    made.close()


@pytest.mark.parametrize("error", [RuntimeError("no more files"), SystemExit(1)])
def test_the_pages_are_served_again_after_their_thread_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr(uvicorn.Server, "serve", failing(2, uvicorn.Server.serve, error))
    given = {"game.rulebook": "tap", "service.port": 0, "data": str(tmp_path)}
    keeper = Scorekeeper(load(None, command_line=given), load_field("ultimate"))
    try:
        assert httpx.get(f"{keeper.service.address}", timeout=WAIT_S).status_code == 200
    finally:
        keeper.close()


def test_pages_that_end_by_themselves_are_served_again(keeper: Scorekeeper) -> None:
    assert httpx.get(f"{keeper.service.address}", timeout=WAIT_S).status_code == 200
    ended = keeper.service._servers  # once it serves: its thread makes them
    ended[0].should_exit = True
    wait_until(lambda: keeper.service._servers is not ended)
    assert httpx.get(f"{keeper.service.address}", timeout=WAIT_S).status_code == 200


def test_a_game_by_hand_goes_on_after_its_clock_failed_and_says_so(
    keeper: Scorekeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported = list[str]()
    publish = keeper.game_service.publish_health

    def note(status: Any) -> None:
        reported.append(status.text)
        publish(status)

    monkeypatch.setattr(keeper.game_service, "publish_health", note)
    monkeypatch.setattr(keeper.game_service, "tick", failing(1, keeper.game_service.tick, ZeroDivisionError("a fault")))
    wait_until(lambda: any("ZeroDivisionError: a fault" in text for text in reported))
    wait_until(lambda: reported[-1].startswith("Kept by hand"))


def test_a_recorder_that_never_began_does_not_claim_to_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "lower_priority", failing(1, lambda: None, OSError("not permitted")))
    problems = ActiveProblems()
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: FACTS, problems)
    try:
        wait_until(lambda: [problem.code for problem in problems.active()] == [RECORDING_FAILED])
        assert not recorder.status().on
        wait_until(lambda: recorder._thread.is_alive())
        recorder.record(True)
        assert recorder.status().on, "it records again when it is told to"
    finally:
        recorder.close()


@pytest.mark.parametrize("error", [MemoryError("driver"), SystemExit("driver"), UnicodeError("driver")])
def test_a_driver_that_fails_in_any_way_is_opened_again(error: BaseException) -> None:
    limits = ReconnectLimits(stalled_s=30.0, first_frame_s=30.0, open_timeout_s=30.0, first_wait_s=0.01)
    problems, opened = list[str](), list[int]()

    class Camera(FakeSource):
        def frames(self) -> Any:
            opened.append(1)
            if len(opened) == 1:
                raise error
            return super().frames()

    reported = ActiveProblems(notify=lambda _, text: problems.append(text))
    source = ReconnectingSource(lambda: Camera(3), reported, limits)
    assert [frame.index for frame in source.frames()][-1] >= 2
    assert len(opened) == 2
    assert any(type(error).__name__ in text for text in problems), problems


def test_tracking_live_says_what_ended_the_capture() -> None:
    class Broken(FakeSource):
        def frames(self) -> Any:
            raise ZeroDivisionError("a fault")

    reported = list[str]()
    assert list(live_scenes(cast("Vision", None), Broken(3), reported.append)) == []
    wait_until(lambda: reported == ["Downfield made an error: ZeroDivisionError: a fault"])


def test_labels_whose_page_can_not_be_served_end_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SystemExit(1)

    monkeypatch.setattr(uvicorn.Server, "run", fail)
    review = LabelReview([np.zeros((8, 8, 3), dtype=np.uint8)], [[]])
    with pytest.raises(OutputError, match="no longer served"):
        serve_label_review(review, lambda _: None)


def test_outlets_are_begun_again_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[str]()
    ran = threading.Event()

    class Following:
        name = "outlet"

        async def run(self, updates: Any) -> None:
            ran.set()
            async for _ in updates:
                pass

    monkeypatch.setattr(OutletRunner, "_run_all", failing(1, OutletRunner._run_all, OSError("too many open files")))
    runner = OutletRunner(Hub(), [Following()], told.append)
    assert ran.wait(WAIT_S)
    runner.close()
    assert any("too many open files" in text for text in told)


def test_a_table_that_fails_in_any_way_is_watched_again() -> None:
    entry = TableEntry(id="a", name="Table A", address="http://127.0.0.1:9")
    tried = list[int]()
    ended = threading.Event()

    def follow(_: TableEntry) -> Any:
        tried.append(1)
        if len(tried) < 3:
            raise RecursionError("a fault")
        yield {}
        ended.wait(WAIT_S)

    watcher = TableWatcher(follow)
    watcher.watch(entry)
    wait_until(lambda: tried)
    wait_until(lambda: len(tried) == 3)
    wait_until(lambda: not watcher._tables["a"].problem)
    ended.set()
    watcher.close()


def test_a_set_up_that_fails_in_any_way_leads_back_to_aiming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("downfield.rig.tables.setup_session.solve_as_requested", fail)
    running = "http://127.0.0.1:9/video"
    picture = np.zeros((720, 1280, 3), dtype=np.uint8)
    session = SetupSession(RigSettings(data=str(tmp_path)), running, lambda: [picture], SourceChoice, lambda _: None)
    session.open_camera(running)
    session.solve(SolveRequest())
    wait_until(lambda: session.view().step == "aim")
    assert "ZeroDivisionError: a fault" in session.view().problem
    session.solve(SolveRequest())
    wait_until(lambda: session.view().step == "aim")
    session.close()


def test_a_writer_without_a_thread_says_so_and_begins_with_the_next_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    done = list[journal.QueuedEntry]()

    def work(queued: list[journal.QueuedEntry]) -> str:
        done.extend(queued)
        return ""

    queue = journal.EntryQueue("journal-writer", work, lambda pending: pending in done)
    first, second = (cast("journal.QueuedEntry", entry) for entry in (object(), object()))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", failing(1, lambda: None, RuntimeError("can't start new thread")))
        queue.submit(first)
    assert "can't start new thread" in queue.failure
    assert queue.waiting == (first,)
    queue.submit(second)
    wait_until(lambda: not queue.waiting)
    assert done == [first, second]
    queue.close(WAIT_S)
