"""The second process serves the streams of many subscribers: the same messages, and none is lost."""

from __future__ import annotations

import http.client
import json
import logging
import math
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from relayed_service import RelayedService
from waiting import WAIT_S, wait_until

from downfield.api.feed import event_stream, relay
from downfield.core.platform.processes import end_process

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="connections are handed over on POSIX only")


def pid_of(manager: relay.RelayManager) -> int | None:
    """Return the id of the second process; None while there is none."""
    return None if manager._worker is None else manager._worker.process.pid


class Follower:
    """A client of the feed."""

    def __init__(self, rig: RelayedService, query: str = "", headers: dict[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", rig.service.port, timeout=WAIT_S)
        self._connection.request("GET", f"/api/feed{query}", headers=headers or {})
        self._response = self._connection.getresponse()
        assert self._response.status == 200
        assert self._response.headers["content-type"].startswith("text/event-stream")
        assert self._response.headers["x-content-type-options"] == "nosniff"

    def message(self) -> dict[str, Any]:
        while line := self._response.readline():
            if line.startswith(b"data: "):
                message: dict[str, Any] = json.loads(line[6:])
                return message
        raise EOFError

    def until(self, topic: str) -> list[dict[str, Any]]:
        """Messages up to the first of a topic."""
        messages = [self.message()]
        while messages[-1]["topic"] != topic:
            messages.append(self.message())
        return messages

    def close(self) -> None:
        self._response.close()
        self._connection.close()


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayedService]:
    """One whose second process starts for the first test and ends in the last of those that share it."""
    # On a busy computer ten seconds pass in a test: a second process would start again, and serve who reconnects.
    limits = replace(relay.RELAY_LIMITS, local_subscribers=1, restart_after_s=math.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relay, "RELAY_LIMITS", limits)
        made = RelayedService(tmp_path_factory.mktemp("rig") / "a.db")
        made.hub.publish("game", {"down": 1})
        made.hub.publish("calls", ["new"], full=["old", "new"])
        yield made
        made.end()


@pytest.fixture
def rig(begun: RelayedService) -> RelayedService:
    """That one, whom nobody follows."""
    wait_until(lambda: begun.hub.subscribers == 0)
    return begun


def test_a_few_subscribers_need_no_second_process(rig: RelayedService) -> None:
    with closing(Follower(rig)) as only:
        only.message()
        assert pid_of(rig.relay) is None


def test_all_subscribers_get_the_same_messages_from_either_process(rig: RelayedService) -> None:
    with closing(Follower(rig)) as first, closing(Follower(rig)) as second, closing(Follower(rig)) as third:
        wait_until(lambda: rig.hub.subscribers == 3)
        assert rig.subscribers == (1, 2)
        snapshots = [follower.message() for follower in (first, second, third)]
        rig.hub.publish("game", {"down": 2})
        rig.hub.publish("end", None)
        messages = [follower.until("end") for follower in (first, second, third)]
    for snapshot in snapshots:
        snapshot.pop("at_ms")
    assert snapshots[0] == snapshots[1] == snapshots[2]
    assert snapshots[0]["data"].items() >= {"game": {"down": 1}, "calls": ["old", "new"]}.items()
    assert messages[0] == messages[1] == messages[2]
    assert [message["data"] for message in messages[0]] == [{"down": 2}, None]
    wait_until(lambda: rig.hub.subscribers == 0)


def test_the_second_process_resumes_a_feed_and_sends_its_topics_only(rig: RelayedService) -> None:
    with closing(Follower(rig)), closing(Follower(rig)) as second:
        second.message()
        for down in (2, 3):
            rig.hub.publish("notice", {"down": down})
        last = second.until("notice")[-1]
        with closing(Follower(rig, "?topics=notice", {"Last-Event-ID": f"{last['epoch']}-{last['seq']}"})) as third:
            rig.hub.publish("game", {"down": 4})
            rig.hub.publish("notice", {"down": 5})
            assert [third.message()["data"] for _ in range(2)] == [{"down": 3}, {"down": 5}]
            wait_until(lambda: rig.subscribers[1] == 2)


def test_the_second_process_sends_full_snapshots_later_too(rig: RelayedService) -> None:
    with closing(Follower(rig)), closing(Follower(rig)) as second:
        second.message()
        rig.hub.publish("calls", ["newest"], full=["old", "new", "newest"])
        assert second.message()["data"] == ["newest"]
        with closing(Follower(rig)) as third:
            assert third.message()["data"]["calls"] == ["old", "new", "newest"]
        assert rig.subscribers[0] == 1


def test_when_the_second_process_dies_its_subscribers_reconnect_to_the_first(rig: RelayedService) -> None:
    with closing(Follower(rig)), closing(Follower(rig)) as second:
        last = second.message()
        process_id = pid_of(rig.relay)
        assert process_id is not None
        os.kill(process_id, signal.SIGKILL)
        with pytest.raises((EOFError, http.client.HTTPException, OSError)):
            second.message()
        wait_until(lambda: rig.subscribers[1] == 0)
        rig.hub.publish("game", {"down": 2})
        with closing(Follower(rig, headers={"Last-Event-ID": f"{last['epoch']}-{last['seq']}"})) as again:
            assert again.message()["data"] == {"down": 2}
            assert rig.subscribers == (2, 0)


def test_a_service_that_stops_ends_the_feeds_in_order_and_the_second_process(tmp_path: Path) -> None:
    rig = RelayedService(tmp_path / "b.db")
    rig.hub.publish("game", {"down": 1})
    followers = [Follower(rig) for _ in range(relay.RELAY_LIMITS.local_subscribers + 2)]
    wait_until(lambda: rig.subscribers[1] == 2)
    for follower in followers:
        follower.message()
    process_id = pid_of(rig.relay)
    assert process_id is not None
    rig.end()
    for follower in followers:
        with pytest.raises(EOFError):  # a response cut in its middle raises another error
            follower.message()
        follower.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)


def test_a_second_process_that_gets_no_processor_to_end_keeps_no_end_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of low priority on a busy computer, where even a killed one takes its time; here, one that is stopped."""
    monkeypatch.setattr(relay, "RELAY_LIMITS", replace(relay.RELAY_LIMITS, local_subscribers=0, stop_s=0.1))
    processes: list[subprocess.Popen[bytes]] = []

    def end(process: subprocess.Popen[bytes]) -> None:
        processes.append(process)
        end_process(process)

    monkeypatch.setattr(relay, "end_process", end)
    rig = RelayedService(tmp_path / "c.db")
    with closing(Follower(rig)):
        wait_until(lambda: rig.subscribers == (0, 1))
        process_id = pid_of(rig.relay)
        assert process_id is not None
        os.kill(process_id, signal.SIGSTOP)
        with monkeypatch.context() as patched:
            patched.setattr(subprocess.Popen, "kill", lambda _: None)
            ending = threading.Thread(target=rig.end)
            ending.start()
            ending.join(WAIT_S)
            assert not ending.is_alive()
    (process,) = processes
    assert process.poll() is None
    process.kill()
    assert process.wait(WAIT_S) == -signal.SIGKILL


def is_gone_after_one_more(rig: RelayedService) -> bool:
    """Publish once more, and return whether nobody follows: of what waits for a client only the newest is sent."""
    rig.hub.publish("game", {"down": 2, "long": "x" * 1_000_000})
    return rig.subscribers[0] == 0


def test_a_stalled_client_is_disconnected_without_an_error_in_the_log(
    rig: RelayedService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_stream, "STALLED_S", 0.2)
    with closing(Follower(rig)):
        wait_until(lambda: rig.subscribers[0] == 1)
        wait_until(lambda: is_gone_after_one_more(rig))
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
