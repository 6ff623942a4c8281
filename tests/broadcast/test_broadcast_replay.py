"""Replays are directed: one at a time, the newest wins, a failure is said and ends nothing, clips are kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from evidence_service import PLAY, EvidenceService
from waiting import WAIT_S, wait_until

from downfield.broadcast.replay.director import DIRECTOR_LIMITS, ReplayDirector, ReplayOptions
from downfield.broadcast.replay.highlights import most_worth
from downfield.broadcast.replay.replay_maker import BegunReplay, ReplayMaker, ReplayRenderer
from downfield.core.errors import BusyError, NotFoundError, NotRecordedError
from downfield.game.published.game_topics import CallsUpdate, CallView
from downfield.game.published.stream_topics import ReplayView
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import GameRow

PARTS = [bytes([65 + number]) for number in range(20)]


class NotedRenderer(ReplayRenderer):
    """Notes what is asked of it."""

    def __init__(self, noted: list[str]) -> None:
        self._noted = noted

    def prepare(self) -> None:
        self._noted.append("prepared")

    def close(self) -> None:
        self._noted.append("closed")


class FakeMaker(ReplayMaker):
    """Makes clips of letters, each once the gate is open."""

    def __init__(self, calls: Callable[[], tuple[CallView, ...]]) -> None:
        self._calls = calls
        self.gate = threading.Event()
        self.gate.set()
        self.begun: list[str] = []
        self.renderer = NotedRenderer(self.begun)
        self.error: Exception | None = None

    def is_recorded(self, *_: object) -> bool:
        return True

    def begin(self, _: GameRow, call: str) -> BegunReplay:
        self.begun.append(call)
        if self.error is not None:
            raise self.error
        return BegunReplay(
            next(one for one in self._calls() if one.id == call), f"{call}_replay.mp4", 6.2, self._parts()
        )

    def _parts(self) -> Iterator[bytes]:
        for part in PARTS:
            assert self.gate.wait(WAIT_S)
            yield part


@pytest.fixture
def service(tmp_path: Path) -> Iterator[EvidenceService]:
    made = EvidenceService(tmp_path / "a.db")
    made.play()
    yield made
    made.close()


@pytest.fixture
def maker(service: EvidenceService) -> FakeMaker:
    return FakeMaker(lambda: tuple(service.game_service.calls()))


def directed(service: EvidenceService, maker: FakeMaker, options: ReplayOptions | None = None) -> ReplayDirector:
    return ReplayDirector(service.hub, service.game_service, service.store.game, maker, options or ReplayOptions())


def until(service: EvidenceService, holds: Callable[[ReplayView], bool]) -> ReplayView:
    """Wait until the topic holds something."""
    wait_until(lambda: holds(service.hub.value("replay")), lambda: service.hub.value("replay"))
    view = service.hub.value("replay")
    assert isinstance(view, ReplayView)
    return view


def tackle_of(service: EvidenceService) -> CallView:
    return next(one for one in service.game_service.calls() if one.kind == "tackle")


def test_a_replay_is_ready_before_it_is_complete_and_is_saved_when_it_is(
    service: EvidenceService, maker: FakeMaker, tmp_path: Path
) -> None:
    maker.gate.clear()
    ahead = tmp_path / "replays" / "c1_replay.mp4"
    ahead.parent.mkdir()
    ahead.write_bytes(b"")
    os.utime(ahead, ns=(2**62, 2**62))  # the computer's clock was ahead when it was made
    director = directed(service, maker, ReplayOptions(folder=tmp_path / "replays", keep=1))
    assert director.show().state == "making"
    maker.gate.set()
    view = until(service, lambda view: view.state == "ready")
    assert (view.call, view.seconds, view.automatic) == (tackle_of(service).id, 6.2, False)
    row = service.store.game(service.game)
    assert row is not None
    assert b"".join(director.clip(row, view.call).parts()) == b"".join(PARTS)
    assert maker.begun == [view.call]  # made once, and nothing was prepared
    saved = tmp_path / "replays" / f"{view.call}_replay.mp4"
    wait_until(saved.is_file)
    assert saved.read_bytes() == b"".join(PARTS)
    director.close()
    assert not ahead.exists()


def test_a_replay_that_was_taken_off_is_not_shown_when_it_is_ready(service: EvidenceService, maker: FakeMaker) -> None:
    maker.gate.clear()
    director = directed(service, maker)
    director.show()
    hidden = director.hide()
    maker.gate.set()
    row = service.store.game(service.game)
    assert row is not None
    assert b"".join(director.clip(row, tackle_of(service).id).parts()) == b"".join(PARTS)
    assert service.hub.value("replay") == hidden
    director.close()


def test_a_replay_that_is_still_being_made_keeps_the_pace_it_was_given(
    service: EvidenceService, maker: FakeMaker
) -> None:
    maker.gate.clear()
    director = directed(service, maker)
    with pytest.raises(NotFoundError, match="No replay is on"):
        director.pace(0.5, frozen=True)
    director.show()
    director.pace(0.5, frozen=True)
    maker.gate.set()
    view = until(service, lambda view: view.state == "ready")
    assert (view.speed, view.frozen) == (0.5, True)
    director.hide()
    with pytest.raises(NotFoundError, match="No replay is on"):
        director.pace(1.0, frozen=False)
    director.show()
    view = until(service, lambda view: view.state == "ready")
    assert (view.speed, view.frozen) == (1.0, False), "the next one begins at its own pace"
    director.close()


@pytest.mark.parametrize("error", [NotRecordedError("recording was off"), ZeroDivisionError("a fault")])
def test_a_failure_is_told_and_the_next_replay_is_made(
    service: EvidenceService, maker: FakeMaker, error: Exception
) -> None:
    director = directed(service, maker)
    maker.error = error
    director.show()
    assert str(error) in until(service, lambda view: view.state == "failed").text
    row = service.store.game(service.game)
    assert row is not None
    with pytest.raises(NotRecordedError):
        director.clip(row, tackle_of(service).id)
    maker.error = None
    director.show()
    assert until(service, lambda view: view.state == "ready").take == 2
    director.close()


def test_few_replays_wait(service: EvidenceService, maker: FakeMaker) -> None:
    maker.gate.clear()
    director = directed(service, maker)
    for _ in range(DIRECTOR_LIMITS.waiting + 1):
        director.show()

    def ask_for_more() -> None:
        for number in range(DIRECTOR_LIMITS.waiting + 2):
            director._clip(service.game, f"call {number}", None)

    with pytest.raises(BusyError, match="Try again"):
        ask_for_more()
    maker.gate.set()
    director.close()


def test_a_replay_of_an_unknown_call_is_refused(service: EvidenceService, maker: FakeMaker) -> None:
    with pytest.raises(NotFoundError):
        directed(service, maker).show("no such call")


def test_new_calls_are_replayed_by_themselves_and_old_ones_are_not(service: EvidenceService, maker: FakeMaker) -> None:
    call = tackle_of(service)
    director = directed(service, maker, ReplayOptions(automatic=True))
    wait_until(lambda: service.hub.subscribers, "it follows the calls")
    game = service.game
    service.hub.publish("calls", CallsUpdate(game=game, calls=(call,)))  # it was in the snapshot
    service.hub.publish("calls", CallsUpdate(game=game, calls=(), withdrawn=(call.id,)))
    assert service.hub.value("replay").state == "none"
    service.hub.publish("calls", CallsUpdate(game=game, calls=(call,)))  # a recording that is shown again
    view = until(service, lambda view: view.state == "ready")
    assert (view.call, view.automatic, view.take) == (call.id, True, 1)
    service.hub.close()
    director.close()


def test_of_several_calls_at_once_the_close_one_and_then_the_greatest_is_replayed(service: EvidenceService) -> None:
    call = tackle_of(service)
    touchdown = call.model_copy(update={"id": "td", "kind": "touchdown"})
    noted = call.model_copy(update={"id": "n", "kind": "touchdown", "verdict": "reported", "standing": "noted"})
    close = call.model_copy(update={"id": "c", "verdict": "too_close", "standing": "open"})
    assert most_worth([noted, call, touchdown], call.t_ns) == touchdown
    assert most_worth([call, touchdown, close], call.t_ns) == close
    assert most_worth([call], call.t_ns + 11 * 10**9) is None
    assert most_worth([call.model_copy(update={"frame": None})], call.t_ns) is None


def test_the_operator_puts_a_replay_on_and_takes_it_off(service: EvidenceService) -> None:
    answer = service.client.post("/api/replay", {})
    assert (answer.status, answer.json["state"]) == (202, "making")
    clip = service.client.get("/" + answer.json["clip"])
    assert clip.headers["content-type"] == "video/mp4"
    assert clip.body[4:8] == b"ftyp"
    paced = service.client.request("PATCH", "/api/replay", {"speed": 0.5, "frozen": True})
    assert (paced.status, paced.json["speed"], paced.json["frozen"]) == (200, 0.5, True)
    assert service.client.request("PATCH", "/api/replay", {"speed": 0}).status == 422
    assert service.client.request("DELETE", "/api/replay").json["state"] == "none"
    assert service.client.request("PATCH", "/api/replay", {}).status == 404
    assert service.client.post("/api/replay", {"call": "none such"}).status == 404
    assert service.client.post("/api/replay", {"cal": 1}).status == 422


def test_a_replay_that_is_being_made_ends_when_the_service_is_closed(
    service: EvidenceService, maker: FakeMaker
) -> None:
    director = directed(service, maker)
    maker.gate.clear()
    director.show()
    wait_until(lambda: maker.begun, "the replay is begun")
    closing = threading.Thread(target=director.close)
    closing.start()
    assert director._closed.wait(WAIT_S)
    maker.gate.set()
    closing.join(WAIT_S)
    assert not closing.is_alive()
    worker = director._worker
    assert worker is not None
    assert not worker.is_alive()
    view = service.hub.value("replay")
    assert isinstance(view, ReplayView)
    assert view.state == "failed"


def test_a_finished_game_is_not_waited_for(service: EvidenceService) -> None:
    calls = tuple(service.game_service.calls())
    maker = FakeMaker(lambda: calls)
    waited: list[int] = []
    maker.is_recorded = lambda *_: bool(waited.append(1))  # type: ignore[method-assign, func-returns-value]
    director = directed(service, maker)
    row = service.store.game(service.game)
    assert row is not None
    call = tackle_of(service).id
    service.game_service.start_game(NewGame(), PLAY.players)
    assert b"".join(director.clip(row, call).parts()) == b"".join(PARTS)
    assert not waited
    director.close()
