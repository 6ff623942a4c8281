"""Hostile input to a real process: the answer is a 4xx or none, and the process goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from served_games import Served, served
from waiting import WAIT_S, wait_until
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

DEEP = b"[" * 30_000 + b"]" * 30_000
PLAYER = b'{"id": "a", "jersey": "dark"}'

BODIES: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"carrier=dark-28",
    "half": b'{"declaration": {"type": "carr',
    "deep": DEEP,
    "deep inside": b'{"declaration": ' + DEEP + b"}",
    "not a number": b'{"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": NaN}}',
    "infinite": b'{"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 1e999}}',
    "huge number": b'{"declaration": {"type": "roll", "dice": [' + b"9" * 20_000 + b"]}}",
    "half a character": b'{"declaration": {"type": "carrier", "player": "\\ud800"}}',
    "no UTF-8": b'{"declaration": {"type": "carrier", "player": "\xff\xfe"}}',
    "nought byte": b'{"declaration": {"type": "carrier", "player": "a\\u0000b"}}',
    "twice": b'{"declaration": {"type": "set"}, "declaration": {"type": "fly"}}',
    "a list": b"[]",
    "text": b'"set"',
    "null": b"null",
    "wrong types": b'{"declaration": {"type": ["set"], "player": {}}}',
    "prototype": b'{"__proto__": {"role": "admin"}, "declaration": {"type": "set"}}',
    "many players": b'{"declaration": {"type": "line_up", "players": [' + b",".join([PLAYER] * 1500) + b"]}}",
    "absurd set-up": b'{"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": -1e300}}',
    "absurd down": b'{"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 9, "down": 99}}',
    "absurd score": b'{"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 9, '
    b'"score": [-99999999999999999999, 0]}}',
    "absurd clock": b'{"declaration": {"type": "clock", "running": true, "left_s": -1e308}}',
    "absurd ago": b'{"declaration": {"type": "set"}, "ago_ms": -1}',
    "absurd foul": b'{"declaration": {"type": "foul", "by": "home", "yards": 999999999999999999999999}}',
    "absurd ball": b'{"declaration": {"type": "ball_placed", "x_yd": 1e308, "y_yd": -1e308}}',
    "absurd player": b'{"declaration": {"type": "line_up", "players": [{"id": "a", "jersey": "dark", "base": '
    b'{"length_mm": 1e308, "width_mm": 1e-308, "corner_mm": 0}}]}}',
}
POSTED = (
    "/api/declarations",
    "/api/calls",
    "/api/calls/none/rulings",
    "/api/events/none/undo",
    "/api/commands",
    "/api/games",
    "/api/session",
    "/api/pairings",
)
PATHS = (
    "/api/games/..%2f..%2fetc%2fpasswd",
    "/api/games/%00",
    "/api/games/current'%20OR%201=1--",
    "/api/calls/" + "x" * 5_000,
    "/api/calls/%ff%fe",
    "/api/calls/%ED%A0%80",
    "/api/teams/..",
    "/api/teams/%2e%2e%2fx",
    "/api/rulebooks/..%2f..%2fpyproject.toml",
    "/api/rulebooks/%2fetc%2fpasswd",
    "/overlay/..%2fapp",
    "/assets/..%2f..%2fapp.py",
    "/api/games?limit=99999999999999999999999999",
    "/api/games?limit=-1&before=%00",
    "/api/calls?verdict=%00",
    "/api/feed?after=zz-1",
    "/api/feed?topics=" + "a," * 500,
    "/api/games/current/verification?head=" + "g" * 64,
    "/api/pairings/0000000000000000/qr.svg",
    "//evil.example/api/game",
    "/api/game?" + "a=1&" * 5_000,
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("hostile") / "games.db", "--hold", "--unlimited", "--lan") as running:
        yield running


@pytest.fixture
def client(service: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, timeout=WAIT_S) as made:
        yield made
        assert made.get("/healthz").json() == {"status": "ok"}, "the process must go on"
        assert service.process.poll() is None


@pytest.mark.parametrize("name", BODIES)
def test_no_body_causes_a_server_error(client: httpx.Client, name: str) -> None:
    headers = {"Content-Type": "application/json"}
    for method, path in (*(("POST", path) for path in POSTED), ("PUT", "/api/calibration"), ("PUT", "/api/teams/t")):
        answer = client.request(method, path, content=BODIES[name], headers=headers)
        assert answer.status_code < 500, (path, answer.text)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json", path
            assert answer.json()["detail"], path
    assert client.get("/api/game").status_code == 200, "the game can still be read"
    assert client.get("/api/games/current/plays").status_code == 200
    assert client.get("/api/state").status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_no_path_or_parameter_causes_a_server_error(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert 400 <= answer.status_code < 500 or path.startswith(("/api/game?", "//")), answer.text
    assert "root:" not in answer.text
    assert "[build-system]" not in answer.text


@pytest.mark.parametrize("key", [b"", b"a" * 65, b"a b", "ключ".encode(), b"../x", b"a;b"])
def test_a_bad_key_is_refused(client: httpx.Client, key: bytes) -> None:
    headers = {b"Idempotency-Key": key}
    answer = client.post("/api/declarations", json={"declaration": {"type": "set"}}, headers=headers)
    assert answer.status_code == 422


@pytest.mark.parametrize("token", [b"Bearer", b"Bearer " + b"x" * 5_000, b"Basic YTpi", "bearer ünï".encode()])
def test_a_malformed_token_is_refused_without_a_server_error(client: httpx.Client, token: bytes) -> None:
    answer = client.get("/api/devices", headers={b"Authorization": token})
    assert answer.status_code in {200, 401}


POST = b"POST /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\n"
GET = b"GET /api/feed/ws HTTP/1.1\r\nHost: 127.0.0.1\r\n"
RAW = {
    "nothing at all": b"\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "no Host": b"GET /api/game HTTP/1.1\r\n\r\n",
    "two Hosts": GET + b"Host: evil\r\n\r\n",
    "huge header": GET + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "smuggled": POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bad chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n",
    "odd method": b"BREW /api/game HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "connect": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    "absolute": b"GET http://evil.example/api/game HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "half a body": POST + b"Content-Length: 9000\r\n\r\n{",
    "socket without a key": GET + b"Upgrade: websocket\r\nConnection: upgrade\r\n\r\n",
}


@pytest.mark.parametrize("name", RAW)
def test_no_raw_bytes_end_the_process(service: Served, client: httpx.Client, name: str) -> None:
    parts = urlsplit(service.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=WAIT_S) as wire:
        with suppress(OSError):
            wire.sendall(RAW[name])
            wire.shutdown(socket.SHUT_WR)
        received = b""
        with suppress(OSError):
            while more := wire.recv(65536):
                received += more
    status = received.split(b"\r\n", 1)[0]
    assert not received or b" 4" in status or b"200" in status, received[:200]
    assert b'"game":' not in received
    assert client.get("/healthz").status_code == 200


def test_a_websocket_that_sends_rubbish_is_served_or_closed(service: Served, client: httpx.Client) -> None:
    address = service.url.replace("http", "ws") + "/api/feed/ws?topics=game"
    for rubbish in ("x" * 10, b"\x00\xff" * 100, "x" * 300_000):
        with suppress(WebSocketException, OSError), connect(address) as wire:
            assert json.loads(wire.recv(WAIT_S))["topic"] == "snapshot"
            wire.send(rubbish)
    assert client.get("/healthz").status_code == 200


def test_clients_that_vanish_leave_no_open_feeds(service: Served, client: httpx.Client) -> None:
    parts = urlsplit(service.url)
    for _ in range(40):
        with socket.create_connection((parts.hostname, parts.port), timeout=WAIT_S) as wire:
            wire.sendall(b"GET /api/feed HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            wire.recv(10)
    wait_until(lambda: "downfield_feed_subscribers 0.0" in client.get("/metrics").text, "the feeds are closed")


def test_a_store_full_of_hostile_text_still_verifies(service: Served, client: httpx.Client, tmp_path: Path) -> None:
    assert tmp_path.exists()
    assert service.process.poll() is None
    verification = client.get("/api/games/current/verification").json()
    assert verification["intact"], verification
