"""A slow reader never gets what is long past, and one that stalls is dropped: with real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import PageServer
from waiting import WAIT_S, wait_until

from downfield.api.feed import event_stream
from downfield.rig.service.web_service import open_listener

LARGE = {"figures": "x" * 4096}


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    monkeypatch.setattr(socket, "create_server", lambda address: open_listener(*address))
    running = PageServer(tmp_path)
    running.start()
    yield running
    running.stop()


def reader(service: PageServer) -> socket.socket:
    """Return a connection to the feed whose own buffer is small, and of which nothing was read."""
    host, port = service.url.removeprefix("http://").split(":")
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    made.settimeout(WAIT_S)
    made.connect((host, int(port)))
    made.sendall(f"GET /api/feed?topics=scene HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    wait_until(lambda: service.hub.subscribers == 1)
    return made


def test_little_of_the_past_waits_for_a_reader_that_comes_back(service: PageServer) -> None:
    with reader(service) as slow:
        for number in range(3000):  # 12 MB: more than three minutes of scenes
            service.hub.publish("scene", {**LARGE, "number": number})
        received = b""
        while b'"number":2999' not in received:
            more = slow.recv(65536)
            assert more, "it was dropped"
            received += more
    assert len(received) < 600_000, "of 12 MB"


def test_a_reader_that_stalls_is_dropped(service: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "STALLED_S", 0.3)
    with reader(service):

        def dropped() -> bool:
            service.hub.publish("scene", LARGE)
            return service.hub.subscribers == 0

        wait_until(dropped)
