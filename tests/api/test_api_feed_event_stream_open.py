"""Streams: how many a device may have, and that they end when the device is revoked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from relayed_service import RelayedService
from starlette.responses import StreamingResponse
from waiting import WAIT_S, let_run_async, wait_until

from downfield.api.context.access_control import access_control_of
from downfield.api.feed import relay
from downfield.api.feed.event_stream import OpenStreams, StreamBudget
from downfield.api.http.problems import ProblemError
from downfield.api.security.access import Principal, Role, allow
from downfield.api.security.tokens import TokenStore

SMALL = StreamBudget(total=10, reserved=4, per_viewer=3, per_operator=5)


def someone(number: int, role: Role = "viewer") -> Principal:
    return Principal(role, f"phone {number}", f"{role}-{number}")


def test_viewers_together_leave_places_for_operators() -> None:
    async def flood() -> None:
        streams = OpenStreams({"feed": SMALL, "picture": SMALL})
        for number in range(6):
            streams.open("feed", someone(number), "10.0.0.1")
        with pytest.raises(ProblemError) as refused:
            streams.open("feed", someone(7), "10.0.0.1")
        assert refused.value.status == 503
        streams.open("picture", someone(7), "10.0.0.1")  # other places
        for number in range(4):
            streams.open("feed", someone(number, "operator"), "10.0.0.2")
        with pytest.raises(ProblemError):
            streams.open("feed", someone(9, "operator"), "10.0.0.2")

    asyncio.run(flood())


@pytest.mark.parametrize(("role", "allowed"), [("viewer", 3), ("operator", 5)])
def test_one_device_has_a_budget_and_gets_places_back(role: Role, allowed: int) -> None:
    async def open_many() -> None:
        streams = OpenStreams({"feed": SMALL, "picture": SMALL})
        opened = [streams.open("feed", someone(1, role), "10.0.0.1") for _ in range(allowed)]
        with pytest.raises(ProblemError) as refused:
            streams.open("feed", someone(1, role), "10.0.0.1")
        assert refused.value.status == 429
        with opened[0]:
            pass
        streams.open("feed", someone(1, role), "10.0.0.1")

    asyncio.run(open_many())


def test_one_link_serves_as_many_as_there_are_places_and_says_when_there_is_none() -> None:
    async def share() -> None:
        streams = OpenStreams({"feed": SMALL, "picture": SMALL})
        for number in range(SMALL.total - SMALL.reserved):
            streams.open("feed", someone(1), f"10.0.0.{number}")
        with pytest.raises(ProblemError) as refused:
            streams.open("feed", someone(1), "10.0.0.99")
        assert (refused.value.status, "As many watch as this computer can serve" in refused.value.detail) == (503, True)

    asyncio.run(share())


def test_visitors_without_a_device_count_by_address() -> None:
    async def open_many() -> None:
        streams = OpenStreams({"feed": SMALL, "picture": SMALL})
        visitor = Principal("viewer", "a visitor")
        for _ in range(3):
            streams.open("feed", visitor, "10.0.0.1")
        with pytest.raises(ProblemError):
            streams.open("feed", visitor, "10.0.0.1")
        streams.open("feed", visitor, "10.0.0.2")

    asyncio.run(open_many())


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RelayedService]:
    monkeypatch.setattr(relay, "RELAY_LIMITS", replace(relay.RELAY_LIMITS, local_subscribers=1))
    made = RelayedService(tmp_path / "a.db")
    made.hub.publish("game", {"down": 1})
    yield made
    made.end()


_CLOSING = b"This device was revoked."  # the reason in the close frame of a WebSocket


class Watcher:
    """A raw connection on which a device has opened a stream."""

    def __init__(self, rig: RelayedService, token: str, path: str, *upgrade: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", rig.service.port), timeout=WAIT_S)
        head = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}", *upgrade, "", "")
        self._socket.sendall("\r\n".join(head).encode())
        self.begins = self._socket.recv(4096)

    def ended(self, *, broken_off: bool = False) -> bool:
        """Whether the service ends it within the timeout: by a last chunk, a close frame, or the connection's end.

        Args:
            broken_off: whether only the connection's end counts.
        """
        try:
            while (data := self.received()) and not data.endswith((b"0\r\n\r\n", _CLOSING)):
                pass
            if broken_off:
                return not data
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
        finally:
            self.close()
        return True

    def received(self, timeout_s: float = WAIT_S) -> bytes:
        """What has come since; empty at the end."""
        self._socket.settimeout(timeout_s)
        return self._socket.recv(4096)

    def close(self) -> None:
        """Leave."""
        self._socket.close()


UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: " + "A" * 22 + "==",
)


@allow("viewer")
async def long_download(pauses: bool) -> StreamingResponse:
    """A file that is sent in parts: as fast as they are taken, or with a next one that is never made."""

    async def parts() -> AsyncIterator[bytes]:
        yield b"begins"
        if pauses:
            await asyncio.Event().wait()
        for _ in range(3000):
            yield b"." * 1000
            await let_run_async(0.01)

    return StreamingResponse(parts(), media_type="video/mp4")


@pytest.mark.parametrize("pauses", [False, True])
def test_a_download_of_a_revoked_device_is_broken_off_and_no_other(rig: RelayedService, pauses: bool) -> None:
    rig.service._app.add_api_route("/api/long", long_download)
    tokens: TokenStore = access_control_of(rig.service._app).token_store
    paired = [tokens.redeem(tokens.make_code("viewer").code, name) for name in ("gone", "stays")]
    (gone, device), (stays, _) = [found for found in paired if found]
    leaving, staying = (Watcher(rig, token, f"/api/long?pauses={pauses}") for token in (gone, stays))
    assert [watcher.begins[9:12] for watcher in (leaving, staying)] == [b"200", b"200"]
    for watcher in (leaving, staying):
        while b"begins" not in watcher.begins:
            watcher.begins += watcher.received()
    tokens.revoke(device.id)
    assert leaving.ended(broken_off=True), "it goes on, or ends as if it was whole"
    if pauses:
        with pytest.raises(TimeoutError):
            staying.received(0.2)
    else:
        assert staying.received()
    staying.close()
    wait_until(lambda: not access_control_of(rig.service._app).streams)


def test_every_stream_of_a_revoked_device_ends_and_no_other(rig: RelayedService) -> None:
    tokens: TokenStore = access_control_of(rig.service._app).token_store
    paired = [tokens.redeem(tokens.make_code("viewer").code, name) for name in ("gone", "stays")]
    assert all(paired)
    (gone, device), (stays, _) = [found for found in paired if found]
    opened = {
        "events": Watcher(rig, gone, "/api/feed"),
        "events of the second process": Watcher(rig, gone, "/api/feed"),
        "WebSocket": Watcher(rig, gone, "/api/feed/ws", *UPGRADE),
        "camera": Watcher(rig, gone, "/camera.mjpeg"),
    }
    other = Watcher(rig, stays, "/api/feed")
    assert {name: watcher.begins[9:12] for name, watcher in opened.items()} == {
        name: b"101" if name == "WebSocket" else b"200" for name in opened
    }
    wait_until(lambda: rig.subscribers[1] > 0)
    tokens.revoke(device.id)
    assert {name: watcher.ended() for name, watcher in opened.items()} == dict.fromkeys(opened, True)
    rig.hub.publish("game", {"down": 2})
    assert b"down" in other.received()
    other.close()
