"""The latest camera picture: watchers get the newest, and a single picture is of now."""

from __future__ import annotations

import asyncio

from waiting import WAIT_S

from downfield.broadcast.latest_picture import LatestPicture


def test_a_watcher_gets_only_the_newest_picture() -> None:
    async def scenario() -> list[bytes]:
        picture = LatestPicture()
        watching = picture.watch()
        picture.put(b"1")
        received = [await anext(watching)]
        for jpeg in (b"2", b"3", b"4"):
            picture.put(jpeg)
        received.append(await anext(watching))
        await watching.aclose()
        return received

    assert asyncio.run(asyncio.wait_for(scenario(), WAIT_S)) == [b"1", b"4"]


def test_a_single_picture_is_the_next_or_the_latest_if_none_comes() -> None:
    async def scenario() -> list[bytes | None]:
        picture = LatestPicture()
        received = [await picture.next(timeout_s=0.01)]
        picture.put(b"old")
        waiting = asyncio.create_task(picture.next(timeout_s=5))
        await asyncio.sleep(0)
        assert picture.watchers == 1  # so that a picture is drawn
        picture.put(b"new")
        received.append(await waiting)
        assert picture.watchers == 0
        return [*received, await picture.next(timeout_s=0.01)]

    assert asyncio.run(asyncio.wait_for(scenario(), WAIT_S)) == [None, b"new", b"new"]
