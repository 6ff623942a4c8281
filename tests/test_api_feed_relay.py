"""Who is one of many that follow the feed is told by another process: the same messages, and nothing is lost."""

from __future__ import annotations

import http.client
import json
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from served_games import FakeRig

from downfield.api.feed import relay as relaying
from downfield.api.feed import send_timeout as patience
from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.api.services import AppContext
from downfield.core.field import preset
from downfield.game.service import GameService
from downfield.game.store import Store
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.settings import ServiceSettings
from downfield.rig.service import Service

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="connections are handed over on POSIX only")


class Rig:
    """A service beside which nothing runs."""

    def __init__(self, path: Path) -> None:
        self.store, self.hub = Store.at(path), Hub()
        self.game_service = GameService(self.store, self.hub, FakeRig(None), preset("tudor-620"), load_rulebook("tap"))
        self.service = Service(
            AppContext(self.game_service, self.hub, LatestPicture(), self.store), ServiceSettings(port=0)
        )
        self.relaying = self.service.relaying

    def end(self) -> None:
        self.service.end()
        self.game_service.close()
        self.store.close()


class Follower:
    """One who follows the feed."""

    def __init__(self, rig: Rig, query: str = "", headers: dict[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", rig.service.port, timeout=10)
        self._connection.request("GET", f"/api/feed{query}", headers=headers or {})
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        assert self._answer.headers["content-type"].startswith("text/event-stream")
        assert self._answer.headers["x-content-type-options"] == "nosniff"

    def message(self) -> dict[str, Any]:
        while line := self._answer.readline():
            if line.startswith(b"data: "):
                said: dict[str, Any] = json.loads(line[6:])
                return said
        raise EOFError

    def until(self, topic: str) -> list[dict[str, Any]]:
        """Messages up to the first of a topic."""
        said = [self.message()]
        while said[-1]["topic"] != topic:
            said.append(self.message())
        return said

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.setattr(relaying, "HERE", 1)
    made = Rig(tmp_path / "a.db")
    made.hub.publish("game", {"down": 1})
    made.hub.publish("calls", ["new"], full=["old", "new"])
    yield made
    made.end()


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_everybody_is_told_the_same_wherever_he_is_told(rig: Rig) -> None:
    with closing(Follower(rig)) as first, closing(Follower(rig)) as second, closing(Follower(rig)) as third:
        eventually(lambda: rig.hub.subscribers == 3)
        assert (rig.hub.here, rig.hub.elsewhere) == (1, 2)
        begun = [one.message() for one in (first, second, third)]
        rig.hub.publish("game", {"down": 2})
        rig.hub.publish("end", None)
        said = [one.until("end") for one in (first, second, third)]
    for one in begun:
        one.pop("at_ms")
    assert begun[0] == begun[1] == begun[2]
    assert begun[0]["data"] == {"game": {"down": 1}, "calls": ["old", "new"]}
    assert said[0] == said[1] == said[2]
    assert [one["data"] for one in said[0]] == [{"down": 2}, None]
    eventually(lambda: rig.hub.subscribers == 0)


def test_one_who_comes_back_goes_on_where_he_was_and_hears_of_his_topics_only(rig: Rig) -> None:
    with closing(Follower(rig)), closing(Follower(rig)) as second:
        second.message()
        for down in (2, 3):
            rig.hub.publish("plays", {"down": down})
        last = second.until("plays")[-1]
        with closing(Follower(rig, "?topics=plays", {"Last-Event-ID": f"{last['epoch']}-{last['seq']}"})) as third:
            rig.hub.publish("game", {"down": 4})
            rig.hub.publish("plays", {"down": 5})
            assert [third.message()["data"] for _ in range(2)] == [{"down": 3}, {"down": 5}]
            eventually(lambda: rig.hub.elsewhere == 2)


def test_one_who_is_told_elsewhere_from_the_start_gets_a_later_snapshot_whole(rig: Rig) -> None:
    with closing(Follower(rig)), closing(Follower(rig)) as second:
        second.message()
        rig.hub.publish("calls", ["newest"], full=["old", "new", "newest"])
        assert second.message()["data"] == ["newest"]
        with closing(Follower(rig)) as third:
            assert third.message()["data"]["calls"] == ["old", "new", "newest"]
        assert rig.hub.here == 1


def test_when_the_other_process_dies_its_listeners_come_back_and_are_told_here(rig: Rig) -> None:
    with closing(Follower(rig)), closing(Follower(rig)) as second:
        last = second.message()
        assert rig.relaying.process is not None
        os.kill(rig.relaying.process, signal.SIGKILL)
        with pytest.raises((EOFError, http.client.HTTPException, OSError)):
            second.message()
        eventually(lambda: rig.hub.elsewhere == 0)
        rig.hub.publish("game", {"down": 2})
        with closing(Follower(rig, headers={"Last-Event-ID": f"{last['epoch']}-{last['seq']}"})) as again:
            assert again.message()["data"] == {"down": 2}
            assert (rig.hub.here, rig.hub.elsewhere) == (2, 0)


def test_a_service_that_ends_ends_the_feeds_in_order_and_the_other_process(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "b.db")
    rig.hub.publish("game", {"down": 1})
    followers = [Follower(rig) for _ in range(relaying.HERE + 2)]
    eventually(lambda: rig.hub.elsewhere == 2)
    for one in followers:
        one.message()
    process = rig.relaying.process
    assert process is not None
    rig.end()
    for one in followers:
        with pytest.raises(EOFError):  # an answer that is cut in its middle raises another
            one.message()
        one.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_few_are_told_without_another_process(rig: Rig) -> None:
    with closing(Follower(rig)) as only:
        only.message()
        assert rig.relaying.process is None


def test_one_who_takes_nothing_is_let_go_and_that_is_no_error(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(patience, "STALLED_S", 0.2)
    with closing(Follower(rig)):
        eventually(lambda: rig.hub.here == 1)
        for number in range(200):  # more than sockets hold between the two
            rig.hub.publish("game", {"down": number, "long": "x" * 100_000})
            time.sleep(0.002)
        eventually(lambda: rig.hub.here == 0)
        time.sleep(0.2)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
