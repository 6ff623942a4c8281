"""The hub of the live feed: a snapshot first, every change in order, and no slow subscriber delays another."""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from waiting import WAIT_S, let_run_async, wait_until_async

from downfield.game.published import hub as hub_module
from downfield.game.published.hub import FeedMessage, Hub


def run(scenario: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(scenario(), WAIT_S))


async def receive(hub: Hub, count: int, **options: Any) -> list[FeedMessage]:
    """The first so many messages of a new subscriber."""
    received: list[FeedMessage] = []
    async for messages in hub.subscribe(**options):
        received += messages
        if len(received) >= count:
            break
    return received


async def wait_for_subscribers(hub: Hub, count: int = 1) -> None:
    await wait_until_async(lambda: hub.subscribers >= count)


def publish(hub: Hub, count: int) -> None:
    for i in range(count):
        hub.publish("n", i)


def content(message: FeedMessage) -> tuple[int, str, Any]:
    return message.seq, message.topic, message.data


def test_a_subscriber_gets_a_snapshot_and_then_changes() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        hub.publish("game", "1st & 10")
        receiving = asyncio.create_task(receive(hub, 2))
        await wait_for_subscribers(hub)
        await asyncio.sleep(0)
        threading.Thread(target=hub.publish, args=("game", "2nd & 7")).start()
        return await receiving

    snapshot, change = run(scenario)
    assert content(snapshot) == (1, "snapshot", {"game": "1st & 10"})
    assert content(change) == (2, "game", "2nd & 7")


def test_messages_are_numbered_without_gaps() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        receiving = asyncio.create_task(receive(hub, 101))
        await wait_for_subscribers(hub)
        await asyncio.sleep(0)
        publish(hub, 100)
        return await receiving

    assert [message.seq for message in run(scenario)] == list(range(101))


def test_a_subscriber_that_falls_behind_gets_a_new_snapshot() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub(buffer=20)
        feed = hub.subscribe()
        await anext(feed)
        publish(hub, 50)
        again = await anext(feed)
        await feed.aclose()
        return again

    assert [content(message) for message in run(scenario)] == [(50, "snapshot", {"n": 49})]


def test_a_subscriber_that_lags_gets_the_newest_scene_and_every_call() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        feed = hub.subscribe()
        await anext(feed)
        for i in range(5):
            hub.publish("scene", i)
            hub.publish("calls", i)
        received = await anext(feed)
        await feed.aclose()
        return received

    received = run(scenario)
    assert [message.data for message in received if message.topic == "scene"] == [4]
    assert [message.data for message in received if message.topic == "calls"] == [0, 1, 2, 3, 4]
    assert [message.seq for message in received] == sorted(message.seq for message in received)


def test_only_the_newest_value_of_a_conflated_topic_is_kept_in_memory() -> None:
    """However many messages the buffer holds; subscribers get the same."""

    class Value:
        pass

    hub = Hub(buffer=20)
    alive: weakref.WeakSet[Value] = weakref.WeakSet()
    for i in range(50):
        value = Value()
        alive.add(value)
        hub.publish("scene", value)
        hub.publish("calls", i)
    assert list(alive) == [hub.value("scene")]

    async def scenario() -> list[FeedMessage]:
        feed = hub.subscribe(after=(hub.epoch, 85))
        received = await anext(feed)
        await feed.aclose()
        return received

    received = run(scenario)
    assert [message.data for message in received if message.topic == "calls"] == [42, 43, 44, 45, 46, 47, 48, 49]
    assert [message.data for message in received if message.topic == "scene"] == [value]
    assert [message.seq for message in received] == [86, 88, 90, 92, 94, 96, 98, 99, 100]


def test_a_subscriber_that_comes_back_resumes_where_it_was() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        publish(hub, 10)
        return await receive(hub, 3, after=(hub.epoch, 7))

    assert [content(message) for message in run(scenario)] == [(8, "n", 7), (9, "n", 8), (10, "n", 9)]


@pytest.mark.parametrize("after", [("other", 9), (None, 99), (None, 1)])
def test_a_subscriber_of_another_run_or_too_late_gets_a_snapshot(after: tuple[str | None, int]) -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub(buffer=5)
        publish(hub, 10)
        return await receive(hub, 1, after=(after[0] or hub.epoch, after[1]))

    assert [content(message) for message in run(scenario)] == [(10, "snapshot", {"n": 9})]


def test_a_subscriber_gets_no_topics_but_its_own() -> None:
    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        hub.publish("scene", 0)
        hub.publish("game", "a")
        receiving = asyncio.create_task(receive(hub, 2, topics={"game"}))
        await wait_for_subscribers(hub)
        await asyncio.sleep(0)
        hub.publish("scene", 1)
        hub.publish("game", "b")
        return await receiving

    snapshot, change = run(scenario)
    assert snapshot.data == {"game": "a"}
    assert content(change) == (4, "game", "b")


def test_a_snapshot_holds_the_full_value_where_a_change_is_a_part() -> None:
    hub = Hub()
    hub.publish("calls", ["new"], full=["old", "new"])
    assert hub.snapshot().data == {"calls": ["old", "new"]}
    assert hub.value("calls") == ["old", "new"]


def test_a_heartbeat_is_sent_even_while_other_topics_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "FEED_LIMITS", replace(hub_module.FEED_LIMITS, heartbeat_s=0.02))

    async def scenario() -> list[FeedMessage]:
        hub = Hub()
        feed = hub.subscribe(topics={"game"})
        await anext(feed)
        heartbeat = asyncio.create_task(anext(feed))
        while not heartbeat.done():
            hub.publish("scene", 0)
            await let_run_async(0.005)
        received = heartbeat.result()
        await feed.aclose()
        return received

    assert run(scenario) == []


def test_a_message_is_one_object_with_protocol_epoch_number_and_topic() -> None:
    hub = Hub()
    hub.publish("game", {"down": 1})
    message = json.loads(hub.snapshot().text)
    assert message.pop("at_ms") > 0
    assert message == {"v": 2, "epoch": hub.epoch, "seq": 1, "topic": "snapshot", "data": {"game": {"down": 1}}}


def test_a_subscriber_that_leaves_is_forgotten_and_a_closed_hub_ends_every_feed() -> None:
    async def scenario() -> int:
        hub = Hub()
        feed = hub.subscribe()
        await anext(feed)
        await feed.aclose()
        after_leaving = hub.subscribers
        staying = asyncio.create_task(receive(hub, 99))
        await wait_for_subscribers(hub)
        hub.close()
        await staying
        return after_leaving + hub.subscribers

    assert run(scenario) == 0


def test_publishing_costs_the_same_however_many_subscribers_have_stalled() -> None:
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


@pytest.mark.parametrize(("topic", "at_once"), [("scene", hub_module.FEED_LIMITS.paced_batch), ("calls", 20)])
def test_many_subscribers_get_a_scene_a_few_at_a_time_and_a_call_at_once(
    topic: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "FEED_LIMITS", replace(hub_module.FEED_LIMITS, paced_interval_s=0.05))

    async def scenario() -> tuple[int, int]:
        hub = Hub()
        received = 0

        async def follow() -> None:
            nonlocal received
            feed = hub.subscribe()
            await anext(feed)
            await anext(feed)
            received += 1

        followers = [asyncio.create_task(follow()) for _ in range(20)]
        await wait_for_subscribers(hub, 20)
        await asyncio.sleep(0)
        hub.publish(topic, "changed")
        await let_run_async(0.02)
        received_at_once = received
        await asyncio.gather(*followers)
        return received_at_once, received

    assert run(scenario) == (at_once, 20)
