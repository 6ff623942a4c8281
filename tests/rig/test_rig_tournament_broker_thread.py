"""The thread of a tournament's broker connects again, whatever its works do when a connection ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from waiting import wait_until

from downfield.rig.tournament import broker_thread
from downfield.rig.tournament.broker import BrokerAccess, BrokerConnection
from downfield.rig.tournament.broker_thread import BrokerThread


def test_a_work_that_swallows_its_cancellation_does_not_keep_the_thread_from_connecting_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[BrokerConnection] = []

    @asynccontextmanager
    async def open_broker(access: BrokerAccess) -> AsyncIterator[BrokerConnection]:
        connection = BrokerConnection(None, access.where, asyncio.Event(), "")  # type: ignore[arg-type]
        opened.append(connection)
        asyncio.get_running_loop().call_soon(connection.ended.set)
        yield connection

    async def work(_: BrokerConnection) -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    monkeypatch.setattr(broker_thread, "open_broker", open_broker)
    thread = BrokerThread(BrokerAccess(["nats://nowhere"]), [work], "broker")
    thread.start()
    try:
        wait_until(lambda: len(opened) > 1, "it does not connect again")
    finally:
        thread.close()
