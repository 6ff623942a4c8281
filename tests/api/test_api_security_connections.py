"""Connections of strangers keep nobody out, and none is kept open for nothing."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import pytest
import uvicorn
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from waiting import WAIT_S, let_run, wait_until

from downfield.api.security.connections import (
    CONNECTION_LIMITS,
    ConnectionGuard,
    ConnectionLimits,
    CountedSocket,
    GuardedListener,
    TimedHttpProtocol,
    affordable,
    guarded_protocol,
)
from downfield.api.security.forwarding import KnownClients

SMALL = ConnectionLimits(total=12, reserved=4, per_stranger=4, per_known=8)
QUICK = replace(CONNECTION_LIMITS, header_s=0.4, body_s=0.4, sweep_s=0.05)


@dataclass
class State:
    """What the HTTP protocol would tell of a connection."""

    idle: bool = True
    slow: bool = False
    late: bool = False
    aborted: bool = False

    def is_idle(self) -> bool:
        return self.idle

    def waits_for_client(self) -> bool:
        return self.slow

    def is_late(self, now: float, limits: ConnectionLimits) -> bool:
        del now, limits
        return self.late

    def abort(self) -> None:
        self.aborted = True


class Guarded:
    """A guard on a running event loop, with connections that a test makes up."""

    def __init__(self, limits: ConnectionLimits = SMALL, proxies: tuple[str, ...] = ()) -> None:
        self.known, self.now = KnownClients(proxies), 0.0
        self.guard = ConnectionGuard(self.known, limits, lambda: self.now)
        self._port = 1000

    def connect(self, address: str, *, idle: bool = True, slow: bool = False) -> State | None:
        """A new connection; None if it was refused."""
        self._port += 1
        peer, accepted = (address, self._port), CountedSocket()
        if not self.guard.admit(accepted, peer):
            accepted.close()
            return None
        state = State(idle, slow)
        self.guard.begin(peer, cast("TimedHttpProtocol", state))
        accepted.close()
        return state


@pytest.fixture
def guarded() -> Iterator[Guarded]:
    async def made() -> Guarded:
        return Guarded()

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(made())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "get_running_loop", lambda: loop)
        yield Guarded()
    asyncio.set_event_loop(None)
    loop.close()


def test_an_idle_flood_gives_way_to_a_newcomer(guarded: Guarded) -> None:
    flood = [guarded.connect(f"10.0.0.{n}") for n in range(8) for _ in range(1)]
    assert all(flood)
    assert guarded.connect("10.9.9.9") is not None
    assert [state is not None and state.aborted for state in flood] == [True] + [False] * 7, "the one idle for longest"


def test_busy_connections_are_not_closed_for_others(guarded: Guarded) -> None:
    busy = [guarded.connect(f"10.0.0.{n}", idle=False) for n in range(8)]
    assert guarded.connect("10.9.9.9") is None
    assert not any(state is None or state.aborted for state in busy)


def test_a_slow_flood_from_many_addresses_gives_way_to_a_newcomer(guarded: Guarded) -> None:
    """One computer has as many addresses of IPv6 as it likes, so that a budget for each of them is none."""
    busy = guarded.connect("fd00::99", idle=False)
    flood = [guarded.connect(f"fd00::{n:x}", idle=False, slow=True) for n in range(7)]
    assert guarded.connect("fd00::aaaa") is not None
    assert busy is not None
    assert not busy.aborted, "a response that is made and accepted is closed"
    assert [state is not None and state.aborted for state in flood] == [True] + [False] * 6


def test_idle_connections_give_way_before_slow_ones(guarded: Guarded) -> None:
    slow, idle = guarded.connect("10.0.0.1", idle=False, slow=True), guarded.connect("10.0.0.2")
    for n in range(6):
        guarded.connect(f"10.0.1.{n}", idle=False)
    assert guarded.connect("10.9.9.9") is not None
    assert (slow and slow.aborted, idle and idle.aborted) == (False, True)


def test_strangers_leave_places_for_this_computer_proxies_and_operators(guarded: Guarded) -> None:
    for n in range(8):
        guarded.connect(f"10.0.0.{n}", idle=False)
    guarded.known.add("192.168.1.20")
    assert guarded.connect("127.0.0.1", idle=False) is not None
    assert guarded.connect("192.168.1.20", idle=False) is not None
    assert guarded.connect("192.168.1.21") is None, "an unknown phone"


def test_one_address_can_hold_only_its_budget(guarded: Guarded) -> None:
    states = [guarded.connect("10.0.0.1", idle=False) for _ in range(6)]
    assert [state is not None for state in states] == [True] * 4 + [False] * 2
    assert guarded.connect("10.0.0.2") is not None


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=60))
def test_the_budgets_hold_whatever_comes(comers: list[tuple[int, bool]]) -> None:
    async def flood() -> None:
        guarded = Guarded()
        for host, idle in comers:
            guarded.connect("127.0.0.1" if host == 5 else f"10.0.0.{host}", idle=idle)
            assert len(guarded.guard) <= SMALL.total
        newcomers = [guarded.connect(f"10.8.0.{n}", idle=False) for n in range(20)]
        assert sum(state is not None for state in newcomers) <= SMALL.total - SMALL.reserved

    asyncio.run(flood())


@given(st.integers(0, 1 << 20))
def test_the_limits_fit_the_open_files_of_the_process(files: int) -> None:
    found = affordable(files)
    assert found.total <= max(32, files - CONNECTION_LIMITS.other_files)
    assert 0 < found.per_stranger <= found.total - found.reserved <= found.total
    assert found.per_known <= found.total


class QuickService:
    """A service whose clients have 0.4 s for everything."""

    def __init__(self) -> None:
        app = FastAPI()

        @app.post("/")
        def post(body: dict[str, int]) -> dict[str, int]:
            return body

        listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = listener.getsockname()[1]
        self.guard = ConnectionGuard(KnownClients(), QUICK)
        config = uvicorn.Config(
            app, http=guarded_protocol(self.guard), loop="asyncio", log_level="warning", lifespan="off"
        )
        self._server = uvicorn.Server(config)
        guarded = GuardedListener.over(listener, self.guard)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._server.serve(sockets=[guarded])), daemon=True)
        self._thread.start()

    def send(self, data: bytes) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
        client.sendall(data)
        return client

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(WAIT_S)


@pytest.fixture(scope="module")
def service() -> Iterator[QuickService]:
    made = QuickService()
    yield made
    made.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_client_that_never_goes_on_is_disconnected(service: QuickService, sent: bytes) -> None:
    began = time.monotonic()
    with service.send(sent) as client:
        while client.recv(4096):
            pass
    assert time.monotonic() - began < 5
    wait_until(lambda: not len(service.guard), "its place is free again")


def test_a_request_that_comes_in_time_is_answered(service: QuickService) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n"
    with service.send(head) as client:
        let_run(0.2)
        client.sendall(b'{"a": 1}')
        answer = b""
        while b'{"a":1}' not in answer and (more := client.recv(4096)):
            answer += more
    assert b'{"a":1}' in answer, "the body may come in a packet after the head's"
