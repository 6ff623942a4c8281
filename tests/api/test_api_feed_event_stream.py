"""Responses without an end: a client that stalls is disconnected."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

import pytest
from waiting import WAIT_S, let_run_async

from downfield.api.feed import event_stream
from downfield.api.feed.event_stream import EndlessResponse, OpenStreams
from downfield.api.security.access import Principal


@pytest.mark.parametrize("stalls", ["during a part", "before the first part"])
def test_a_client_that_accepts_no_data_is_disconnected(stalls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "STALLED_S", 0.05)
    ended = threading.Event()

    async def parts() -> AsyncGenerator[bytes]:
        try:
            yield b"1"
            await let_run_async(0.2)  # having nothing to send is not the client's fault
            yield b"2"
        finally:
            ended.set()

    async def scenario() -> list[bytes]:
        taken: list[bytes] = []
        stream = OpenStreams().open("feed", Principal("viewer"), "192.168.1.20")

        async def send(message: MutableMapping[str, Any]) -> None:
            body = message.get("body", b"")
            if (b"1" if stalls == "before the first part" else b"2") == body:
                await asyncio.Event().wait()
            taken.append(body)

        async def receive() -> MutableMapping[str, Any]:
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        await EndlessResponse(parts(), stream)({"type": "http", "http_version": "1.1"}, receive, send)
        return taken

    taken = asyncio.run(asyncio.wait_for(scenario(), WAIT_S))
    assert taken == ([b""] if stalls == "before the first part" else [b"", b"1"])
    assert ended.is_set()
