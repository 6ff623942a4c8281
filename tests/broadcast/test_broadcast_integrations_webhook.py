"""Receivers of a webhook that answer anything but yes: each is said in words, and nothing is sent elsewhere."""

from __future__ import annotations

import asyncio
import json
import re
import socketserver
import ssl
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from overlay_pages import a_call
from waiting import WAIT_S, wait_until_async

from downfield.broadcast.integrations import webhook
from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.broadcast.integrations.webhook import Answer, WebhookLimits, WebhookOutlet
from downfield.game.published.game_topics import ClockView, GameView, RulingView, TeamView
from downfield.officiating.state.game_state import Phase
from downfield.rig.service.certificate import own_certificate


class Receiver(socketserver.ThreadingTCPServer):
    """Answers every request with some bytes; none at all where there are none."""

    daemon_threads = True

    def __init__(self, answer: bytes, *, listens: bool = True) -> None:
        self.answer, self.requests = answer, list[bytes]()
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=listens)
        if not listens:
            self.server_bind()


class _Handler(socketserver.BaseRequestHandler):
    server: Receiver

    def handle(self) -> None:
        request = self.request.recv(65_536)
        head, _, body = request.partition(b"\r\n\r\n")
        found = re.search(rb"(?i)content-length: (\d+)", head)
        left = int(found[1]) - len(body) if found else 0
        while left > 0 and (more := self.request.recv(left)):
            request, left = request + more, left - len(more)
        self.server.requests.append(request)
        self.request.sendall(self.server.answer)
        if not self.server.answer:
            while self.request.recv(65_536):  # until the client gives up
                pass


@contextmanager
def serving(answer: bytes) -> Iterator[tuple[Receiver, str]]:
    with Receiver(answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server, f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def refusal(url: str) -> str:
    """Return why a call could not be delivered."""

    told: list[str] = []

    async def updates() -> AsyncIterator[StreamUpdate]:
        yield StreamUpdate(None, call=a_call())

    async def until_told() -> None:
        outlet = WebhookOutlet(url, "hush", report=told.append, pause=no_pause)
        running = asyncio.create_task(outlet.run(updates()))
        await wait_until_async(lambda: outlet.is_failing or running.done())
        running.cancel()

    asyncio.run(until_told())
    return told[0]


async def no_pause(_: float) -> None:
    await asyncio.sleep(0)


def test_a_redirect_is_not_followed() -> None:
    with serving(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as (other, elsewhere):
        for status in (301, 302, 303, 307, 308):
            answer = f"HTTP/1.1 {status} Moved\r\nLocation: http://{elsewhere}/\r\nContent-Length: 0\r\n\r\n"
            with serving(answer.encode()) as (_, address):
                assert f"status {status}: it redirects; set webhook.url to where" in refusal(f"http://{address}/x")
    assert other.requests == []


@pytest.mark.parametrize(
    ("answer", "why"), [(b"SSH-2.0-OpenSSH_9.2\r\n", "what it answers is no HTTP"), (b"", "no answer within 0.3 s")]
)
def test_what_is_no_answer_is_tried_again_and_said(monkeypatch: pytest.MonkeyPatch, answer: bytes, why: str) -> None:
    monkeypatch.setattr(webhook, "WEBHOOK_LIMITS", WebhookLimits(timeout_s=0.3))
    with serving(answer) as (receiver, address):
        assert why in refusal(f"http://{address}/x")
        assert len(receiver.requests) >= 2


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    files = own_certificate(tmp_path, ["localhost"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    with Receiver(b"") as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        assert "its certificate is not trusted: self" in refusal(f"https://localhost:{server.server_address[1]}/x")
        server.shutdown()


def sent(url: str, *updates: StreamUpdate) -> list[dict[str, object]]:
    """Return the bodies that an address is sent."""
    bodies: list[dict[str, object]] = []

    def post(_: str, body: bytes, __: Mapping[str, str]) -> Answer:
        bodies.append(json.loads(body))
        return Answer(204)

    asyncio.run(WebhookOutlet(url, post=post).run(some(*updates)))
    return bodies


async def some(*updates: StreamUpdate) -> AsyncIterator[StreamUpdate]:
    for update in updates:
        yield update


def test_an_address_gets_the_events_that_are_named_behind_it() -> None:
    updates = (
        StreamUpdate(None, call=a_call()),
        StreamUpdate(None, withdrawn=a_call()),
        StreamUpdate(None, turn="ended"),
    )
    assert [body["event"] for body in sent("https://e.org/x", *updates)] == ["call", "call_withdrawn", "game_ended"]
    assert [body["event"] for body in sent("https://e.org/x#call,game_ended", *updates)] == ["call", "game_ended"]


@pytest.mark.parametrize(
    ("url", "key"),
    [("https://discord.com/api/webhooks/1/s", "content"), ("https://hooks.slack.com/services/T/s", "text")],
)
def test_a_chat_gets_sentences(url: str, key: str) -> None:
    call = a_call()
    ruling = RulingView(decision="strike", by="referee", note="the whistle came first", event="e9", replaced=False)
    struck = call.model_copy(update={"standing": "struck", "ruling": ruling})
    told = sent(url, StreamUpdate(None), StreamUpdate(None, call=call), StreamUpdate(None, changed=struck))
    assert [set(body) for body in told] == [{key}, {key}], "a state is no news to people"
    assert str(told[1][key]).startswith("Struck: ")
    assert "(the whistle came first)" in str(told[1][key])


OK = b"HTTP/1.1 204 No Content\r\n\r\n"
OUTAGE_S = 300.0


def state(down: int) -> GameView:
    """Return a game at some down."""
    team = TeamView(name="River City", short="RIV", color="#000", ink="#fff", jersey="dark", points=0, time_outs=None)
    clock = ClockView(left_s=None, running=False, at_ms=0, text="")
    return GameView.model_construct(
        game="g1", home=team, away=team, clock=clock, down=down, phase=Phase.LIVE, due="scrimmage", distance_yd=10.0,
        goal_to_go=False, possession="home", period=1, spot_text="50", phase_text="live", under_review=False,
    )  # fmt: skip


class Outage:
    """A receiver that is away until a clock, which every pause sets on, has reached five minutes."""

    def __init__(self) -> None:
        self.now_s, self.receiver = 0.0, Receiver(OK, listens=False)
        self.url = f"http://127.0.0.1:{self.receiver.server_address[1]}/x"

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(0)
        was_away, self.now_s = self.now_s < OUTAGE_S, self.now_s + seconds
        if was_away and self.now_s >= OUTAGE_S:
            self.receiver.server_activate()
            threading.Thread(target=self.receiver.serve_forever, args=(0.02,), daemon=True).start()

    def has_reached(self, due_s: float) -> bool:
        return self.now_s >= due_s

    def now_ms(self) -> int:
        return int(self.now_s * 1000)

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in self.receiver.requests]

    def close(self) -> None:
        if self.now_s >= OUTAGE_S:
            self.receiver.shutdown()  # else its thread would go round as soon as another file has its socket's number
        self.receiver.server_close()


@pytest.fixture
def outage() -> Iterator[Outage]:
    outage = Outage()
    yield outage
    outage.close()


def test_an_outage_of_five_minutes_loses_no_call_and_then_sends_all_in_order_at_once(
    outage: Outage, tmp_path: Path
) -> None:
    told: list[str] = []
    outlet = WebhookOutlet(outage.url, report=told.append, folder=tmp_path, pause=outage.pause, now_ms=outage.now_ms)

    async def play() -> AsyncIterator[StreamUpdate]:
        for number in range(40):  # a call and two states about every seven seconds
            due_s = OUTAGE_S * number / 41
            await wait_until_async(partial(outage.has_reached, due_s))
            yield StreamUpdate(state(number), at_ms=int(due_s * 1000) + 1)
            yield StreamUpdate(state(number), call=a_call(id=f"call {number}"), at_ms=int(due_s * 1000) + 1)
            yield StreamUpdate(state(number + 1), at_ms=int(due_s * 1000) + 1)

    asyncio.run(outlet.run(play()))
    bodies = outage.bodies()
    calls = [body["call"]["id"] for body in bodies if body["event"] == "call"]
    assert calls == [f"call {number}" for number in range(40)]
    assert [body["game"]["down"] for body in bodies if body["event"] == "state"] == [40], "the newest state only"
    assert bodies[-1]["event"] == "state", "in order"
    assert outage.now_s <= OUTAGE_S + 30, "all at once, within a pause of the receiver's return"
    assert (outlet.counts["delivered"], outlet.counts["dropped"], outlet.counts["given_up"]) == (41, 0, 0)
    assert len(told) == 1
    assert not list(tmp_path.iterdir()), "nothing is kept once all is delivered"
    log = outlet.deliveries()[1]
    assert max(delivery.attempts for delivery in log) > 10
    assert log[0].event == "state"


def test_what_waits_is_sent_after_a_restart(outage: Outage, tmp_path: Path) -> None:
    calls = [StreamUpdate(None, call=a_call(id=f"call {number}")) for number in range(3)]

    async def until_it_ends() -> None:
        outlet = WebhookOutlet(outage.url, folder=tmp_path, pause=no_pause)
        running = asyncio.create_task(outlet.run(some(*calls)))
        await wait_until_async(lambda: outlet.is_failing)
        running.cancel()

    asyncio.run(until_it_ends())
    again = WebhookOutlet(outage.url, folder=tmp_path, pause=outage.pause)
    asyncio.run(again.run(some(StreamUpdate(None, call=a_call(id="call 3")))))
    assert [body["call"]["id"] for body in outage.bodies()] == [f"call {number}" for number in range(4)]
    assert WebhookOutlet(outage.url, folder=tmp_path).deliveries() == ([], [])


def test_a_delivery_is_sent_again_under_its_name() -> None:
    with serving(OK) as (receiver, address):
        outlet = WebhookOutlet(f"http://{address}/x")
        ended = asyncio.Event()

        async def updates() -> AsyncIterator[StreamUpdate]:
            yield StreamUpdate(None, call=a_call())
            await ended.wait()

        async def work() -> None:
            running = asyncio.create_task(outlet.run(updates()))
            await wait_until_async(lambda: outlet.counts["delivered"] == 1)
            assert not outlet.send_again("0" * 16)
            assert outlet.send_again(outlet.deliveries()[1][0].id)
            await wait_until_async(lambda: outlet.counts["delivered"] == 2)
            ended.set()
            await asyncio.wait_for(running, WAIT_S)

        asyncio.run(work())
        first, second = receiver.requests
        assert first.partition(b"\r\n\r\n")[2] == second.partition(b"\r\n\r\n")[2]
        assert len({re.search(rb"(?i)x-downfield-delivery: (\w+)", request)[1] for request in (first, second)}) == 1  # type: ignore[index]
        assert len(outlet.deliveries()[1]) == 2
