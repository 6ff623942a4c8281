"""The live feed's hub: snapshot first, every change in order, and nobody slow delays anybody."""

from __future__ import annotations

import asyncio
import threading

from downfield.api.hub import QUEUE, Change, Hub
from downfield.api.picture import LatestPicture


async def _take(hub: Hub, count: int) -> list[Change]:
    taken: list[Change] = []
    async for change in hub.listen():
        taken.append(change)
        if len(taken) == count:
            break
    return taken


def test_a_listener_gets_what_is_true_then_what_changes() -> None:
    async def scenario() -> list[Change]:
        hub = Hub()
        hub.publish("state", "1st & 10")
        listening = asyncio.create_task(_take(hub, 2))
        await asyncio.sleep(0.01)
        threading.Thread(target=hub.publish, args=("state", "2nd & 7")).start()
        return await asyncio.wait_for(listening, 5)

    snapshot, change = asyncio.run(scenario())
    assert snapshot == Change(1, "snapshot", {"state": "1st & 10"})
    assert change == Change(2, "state", "2nd & 7")


def test_changes_are_numbered_without_gaps() -> None:
    async def scenario() -> list[Change]:
        hub = Hub()
        listening = asyncio.create_task(_take(hub, 101))
        await asyncio.sleep(0.01)
        for i in range(100):
            hub.publish("n", i)
        return await asyncio.wait_for(listening, 5)

    taken = asyncio.run(scenario())
    assert [change.seq for change in taken] == list(range(101))


def test_a_listener_that_falls_behind_is_given_the_whole_again() -> None:
    async def scenario() -> Change:
        hub = Hub()
        feed = hub.listen()
        await anext(feed)
        for i in range(QUEUE + 50):
            hub.publish("n", i)
        again = await asyncio.wait_for(anext(feed), 5)
        await feed.aclose()
        return again

    assert asyncio.run(scenario()) == Change(QUEUE + 50, "snapshot", {"n": QUEUE + 49})


def test_one_who_leaves_is_forgotten() -> None:
    async def scenario() -> Hub:
        hub = Hub()
        feed = hub.listen()
        await anext(feed)
        await feed.aclose()
        hub.publish("n", 1)
        return hub

    assert asyncio.run(scenario()).snapshot() == Change(1, "snapshot", {"n": 1})


def test_a_watcher_of_pictures_gets_the_newest_only() -> None:
    async def scenario() -> list[bytes]:
        picture = LatestPicture()
        watching = picture.watch()
        picture.put(b"1")
        seen = [await anext(watching)]
        for jpeg in (b"2", b"3", b"4"):
            picture.put(jpeg)
        seen.append(await asyncio.wait_for(anext(watching), 5))
        await watching.aclose()
        return seen

    assert asyncio.run(scenario()) == [b"1", b"4"]
