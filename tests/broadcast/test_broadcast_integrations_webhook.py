"""Receivers of a webhook that answer anything but yes: each is said in words, and nothing is sent elsewhere."""

from __future__ import annotations

import asyncio
import json
import socketserver
import ssl
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from overlay_pages import a_call

from downfield.broadcast.integrations import webhook
from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.broadcast.integrations.webhook import Answer, WebhookError, WebhookLimits, WebhookOutlet
from downfield.game.published.game_topics import RulingView
from downfield.rig.service.certificate import own_certificate


class Receiver(socketserver.ThreadingTCPServer):
    """Answers every request with some bytes; none at all where there are none."""

    daemon_threads = True

    def __init__(self, answer: bytes) -> None:
        self.answer, self.requests = answer, list[bytes]()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(socketserver.BaseRequestHandler):
    server: Receiver

    def handle(self) -> None:
        self.server.requests.append(self.request.recv(65_536))
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

    async def updates() -> AsyncIterator[StreamUpdate]:
        yield StreamUpdate(None, call=a_call())

    with pytest.raises(WebhookError) as refused:
        asyncio.run(WebhookOutlet(url, "hush", pauses_s=(0.0,)).run(updates()))
    return str(refused.value)


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
        assert len(receiver.requests) == 2


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

    async def some() -> AsyncIterator[StreamUpdate]:
        for update in updates:
            yield update

    asyncio.run(WebhookOutlet(url, post=post).run(some()))
    return bodies


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
