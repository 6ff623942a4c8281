"""Requests to an application in this process; the peer, the Host and all headers are up to the test."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from waiting import WAIT_S

"""A busy computer takes long for a response; a response that never comes fails the test all the same."""


@dataclass(frozen=True, slots=True)
class ClientResponse:
    """A response; the status of a WebSocket is 101 when it was accepted, 403 when not."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class AsgiClient:
    """Sends requests to an application.

    Attributes:
        app: the application.
        peer: address that requests come from.
        host: the Host header; None for none.
        token: bearer token of a device; empty for none.
    """

    app: Any
    peer: str = "127.0.0.1"
    host: str | None = "127.0.0.1:8317"
    token: str = ""

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> ClientResponse:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        scope = self._scope("http", path, {"content-length": str(len(data)), **headers})
        scope |= {"method": method, "http_version": "1.1", "scheme": "http"}
        return asyncio.run(asyncio.wait_for(_http(self.app, scope, data), WAIT_S))

    def get(self, path: str, **headers: str) -> ClientResponse:
        return self.request("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> ClientResponse:
        return self.request("POST", path, body, **{"content_type": "application/json"} | headers)

    def socket(self, path: str, **headers: str) -> ClientResponse:
        scope = self._scope("websocket", path, headers) | {"scheme": "ws", "subprotocols": []}
        return asyncio.run(asyncio.wait_for(_socket(self.app, scope), WAIT_S))

    def _scope(self, kind: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
        parts = urlsplit(path)
        all_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.host is not None:
            all_headers["host"] = self.host
        if self.token:
            all_headers["authorization"] = f"Bearer {self.token}"
        return {
            "type": kind,
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in all_headers.items()],
            "client": (self.peer, 50_000),
            "server": ("127.0.0.1", 8317),
            "state": {},
        }


async def _http(app: Any, scope: dict[str, Any], body: bytes) -> ClientResponse:
    started: dict[str, Any] = {}
    parts: list[bytes] = []
    done = asyncio.Event()
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await done.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            parts.append(message.get("body", b""))
            if not message.get("more_body") or b"snapshot" in parts[-1]:
                done.set()

    await app(scope, receive, send)
    headers = {name.decode().lower(): value.decode() for name, value in started["headers"]}
    return ClientResponse(started["status"], headers, b"".join(parts))


async def _socket(app: Any, scope: dict[str, Any]) -> ClientResponse:
    messages: list[dict[str, Any]] = []
    accepted = asyncio.Event()
    waiting = [{"type": "websocket.connect"}]

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await accepted.wait()
        return {"type": "websocket.disconnect", "code": 1000}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)
        accepted.set()

    await app(scope, receive, send)
    return ClientResponse(101 if messages[0]["type"] == "websocket.accept" else 403, {}, b"")
