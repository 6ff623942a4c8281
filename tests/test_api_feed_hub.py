"""The live feed's hub: snapshot first, every change in order, and nobody slow delays anybody."""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, MutableMapping
from typing import Any

import pytest

from downfield.api.feed import hub as hub_module
from downfield.api.feed import responses as streaming
from downfield.api.feed import send_timeout as patience
from downfield.api.feed.hub import FeedMessage, Hub
from downfield.api.feed.latest_picture import LatestPicture


def run(scenario: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(scenario(), 5))


async def take(hub: Hub, count: int, **wanted: Any) -> list[FeedMessage]:
    """The first so many changes of a new listener."""
    taken: list[FeedMessage] = []
    async for changes in hub.subscribe(**wanted):
        taken += changes
        if len(taken) >= count:
            break
    return taken


async def listening(hub: Hub, count: int = 1) -> None:
    while hub.subscribers < count:
        await asyncio.sleep(0.001)


def publish(hub: Hub, count: int) -> None:
    for i in range(count):
        hub.publish("n", i)


def said(change: FeedMessage) -> tuple[int, str, Any]:
    return change.seq, change.topic, change.data


def test_a_listener_gets_what_is_true_then_what_changes() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        hub.publish("game", "1st & 10")
        taking = asyncio.create_task(take(hub, 2))
        await listening(hub)
        await asyncio.sleep(0)
        threading.Thread(target=hub.publish, args=("game", "2nd & 7")).start()
        return await taking

    snapshot, change = run(scenario)
    assert said(snapshot) == (1, "snapshot", {"game": "1st & 10"})
    assert said(change) == (2, "game", "2nd & 7")


def test_changes_are_numbered_without_gaps() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        taking = asyncio.create_task(take(hub, 101))
        await listening(hub)
        await asyncio.sleep(0)
        for i in range(100):
            hub.publish("n", i)
        return await taking

    assert [change.seq for change in run(scenario)] == list(range(101))


def test_a_listener_that_falls_behind_is_given_the_whole_again() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub(buffer=20)
        feed = hub.subscribe()
        await anext(feed)
        for i in range(50):
            hub.publish("n", i)
        again = await anext(feed)
        await feed.aclose()
        return again

    assert [said(change) for change in run(scenario)] == [(50, "snapshot", {"n": 49})]


def test_of_scenes_a_listener_that_lags_gets_the_newest_only_and_of_calls_every_one() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        feed = hub.subscribe()
        await anext(feed)
        for i in range(5):
            hub.publish("scene", i)
            hub.publish("calls", i)
        got = await anext(feed)
        await feed.aclose()
        return got

    got = run(scenario)
    assert [change.data for change in got if change.topic == "scene"] == [4]
    assert [change.data for change in got if change.topic == "calls"] == [0, 1, 2, 3, 4]
    assert [change.seq for change in got] == sorted(change.seq for change in got)


def test_of_what_is_told_whole_only_the_newest_value_is_held() -> None:
    """However many changes are kept for those who lag; what they are told is the same."""

    class Value:
        pass

    hub = Hub(buffer=20)
    held: weakref.WeakSet[Value] = weakref.WeakSet()
    for i in range(50):
        value = Value()
        held.add(value)
        hub.publish("scene", value)
        hub.publish("calls", i)
    assert list(held) == [hub.value("scene")]

    async def scenario() -> list[FeedMessage]:
        feed = hub.subscribe(after=(hub.epoch, 85))
        got = await anext(feed)
        await feed.aclose()
        return got

    got = run(scenario)
    assert [one.data for one in got if one.topic == "calls"] == [42, 43, 44, 45, 46, 47, 48, 49]
    assert [one.data for one in got if one.topic == "scene"] == [value]
    assert [one.seq for one in got] == [86, 88, 90, 92, 94, 96, 98, 99, 100]


def test_one_who_comes_back_goes_on_where_he_was() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        for i in range(10):
            hub.publish("n", i)
        return await take(hub, 3, after=(hub.epoch, 7))

    assert [said(change) for change in run(scenario)] == [(8, "n", 7), (9, "n", 8), (10, "n", 9)]


@pytest.mark.parametrize("after", [("other", 9), (None, 99), (None, 1)])
def test_one_who_comes_back_from_another_run_or_too_late_gets_the_whole(after: tuple[str | None, int]) -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub(buffer=5)
        for i in range(10):
            hub.publish("n", i)
        return await take(hub, 1, after=(after[0] or hub.epoch, after[1]))

    assert [said(change) for change in run(scenario)] == [(10, "snapshot", {"n": 9})]


def test_a_listener_to_some_topics_hears_of_no_others() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        hub.publish("scene", 0)
        hub.publish("game", "a")
        taking = asyncio.create_task(take(hub, 2, topics={"game"}))
        await listening(hub)
        await asyncio.sleep(0)
        hub.publish("scene", 1)
        hub.publish("game", "b")
        return await taking

    snapshot, change = run(scenario)
    assert snapshot.data == {"game": "a"}
    assert said(change) == (4, "game", "b")


def test_a_snapshot_holds_the_whole_where_a_change_is_a_part() -> None:
    hub = Hub()
    hub.publish("calls", ["new"], full=["old", "new"])
    assert hub.snapshot().data == {"calls": ["old", "new"]}
    assert hub.value("calls") == ["old", "new"]


def test_with_nothing_to_say_the_feed_beats_even_while_other_topics_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "HEARTBEAT_S", 0.02)

    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        feed = hub.subscribe(topics={"game"})
        await anext(feed)
        beating = asyncio.create_task(anext(feed))
        while not beating.done():
            hub.publish("scene", 0)
            await asyncio.sleep(0.005)
        got = beating.result()
        await feed.aclose()
        return got

    assert run(scenario) == []


def test_a_message_is_one_object_with_protocol_epoch_number_and_topic() -> None:
    hub = Hub()
    hub.publish("game", {"down": 1})
    message = json.loads(hub.snapshot().text)
    assert message.pop("at_ms") > 0
    assert message == {"v": 1, "epoch": hub.epoch, "seq": 1, "topic": "snapshot", "data": {"game": {"down": 1}}}


def test_one_who_leaves_is_forgotten_and_a_closed_hub_ends_every_feed() -> None:
    async def scenario() -> int:
        hub = Hub()
        feed = hub.subscribe()
        await anext(feed)
        await feed.aclose()
        left = hub.subscribers
        staying = asyncio.create_task(take(hub, 99))
        await listening(hub)
        hub.close()
        await staying
        return left + hub.subscribers

    assert run(scenario) == 0


def test_publishing_costs_the_same_however_many_have_stalled() -> None:
    async def scenario() -> int:
        hub = Hub(buffer=10)
        feeds = [hub.subscribe() for _ in range(50)]
        for feed in feeds:
            await anext(feed)
        publisher = threading.Thread(target=publish, args=(hub, 10_000))
        publisher.start()
        publisher.join()
        for feed in feeds:
            await feed.aclose()
        return hub.seq

    assert run(scenario) == 10_000


@pytest.mark.parametrize(("topic", "at_once"), [("scene", hub_module.AT_ONCE), ("calls", 20)])
def test_of_many_who_listen_a_few_are_told_of_a_scene_at_a_time_and_all_of_a_call(
    topic: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "APART_S", 0.05)

    async def scenario() -> tuple[int, int]:
        hub = Hub()
        told = 0

        async def listens() -> None:
            nonlocal told
            feed = hub.subscribe()
            await anext(feed)
            await anext(feed)
            told += 1

        everybody = [asyncio.create_task(listens()) for _ in range(20)]
        await listening(hub, 20)
        await asyncio.sleep(0)
        hub.publish(topic, "news")
        await asyncio.sleep(0.02)
        at_first = told
        await asyncio.gather(*everybody)
        return at_first, told

    assert run(scenario) == (at_once, 20)


@pytest.mark.parametrize("stalls", ["while it is sent to", "before its first part"])
def test_a_client_that_takes_nothing_is_let_go(stalls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "STALLED_S", 0.05)
    ended = threading.Event()

    async def parts() -> AsyncGenerator[bytes]:
        try:
            yield b"1"
            await asyncio.sleep(0.2)  # nothing to say is no fault of the client's
            yield b"2"
        finally:
            ended.set()

    async def scenario() -> list[bytes]:
        taken: list[bytes] = []

        async def send(message: MutableMapping[str, Any]) -> None:
            body = message.get("body", b"")
            if (b"1" if stalls == "before its first part" else b"2") == body:
                await asyncio.sleep(60)
            taken.append(body)

        async def receive() -> MutableMapping[str, Any]:
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        await streaming.Stream(parts())({"type": "http", "http_version": "1.1"}, receive, send)
        return taken

    assert run(scenario) == ([b""] if stalls == "before its first part" else [b"", b"1"])
    assert ended.is_set()


def test_a_watcher_of_pictures_gets_the_newest_only() -> None:
    async def scenario() -> list[bytes]:
        picture = LatestPicture()
        watching = picture.watch()
        picture.put(b"1")
        seen = [await anext(watching)]
        for jpeg in (b"2", b"3", b"4"):
            picture.put(jpeg)
        seen.append(await anext(watching))
        await watching.aclose()
        return seen

    assert run(scenario) == [b"1", b"4"]


def test_a_still_is_of_now_or_the_latest_if_none_comes() -> None:
    async def scenario() -> list[bytes | None]:
        picture = LatestPicture()
        seen = [await picture.now(within_s=0.01)]
        picture.put(b"old")
        asked = asyncio.create_task(picture.now(within_s=5))
        await asyncio.sleep(0)
        assert picture.watchers == 1  # so that one is drawn
        picture.put(b"new")
        seen.append(await asked)
        assert picture.watchers == 0
        return [*seen, await picture.now(within_s=0.01)]

    assert run(scenario) == [None, b"new", b"new"]
