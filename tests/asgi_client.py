"""Ask an application in this process, as anybody from anywhere: peer, Host and headers are as the test likes."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; a WebSocket's status is 101 when it was accepted, 403 when not."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class AsgiClient:
    """Asks an application.

    Attributes:
        app: the application.
        peer: where requests come from.
        host: as which host the application is called; None for no Host header.
        token: of a device, as a bearer token; empty for none.

    """

    app: Any
    peer: str = "127.0.0.1"
    host: str | None = "127.0.0.1:8317"
    token: str = ""

    def ask(self, method: str, path: str, sent: Any = None, **headers: str) -> Answer:
        body = sent if isinstance(sent, bytes) else b"" if sent is None else json.dumps(sent).encode()
        scope = self._scope("http", path, {"content-length": str(len(body)), **headers})
        scope |= {"method": method, "http_version": "1.1", "scheme": "http"}
        return asyncio.run(asyncio.wait_for(_http(self.app, scope, body), 10))

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, sent: Any = None, **headers: str) -> Answer:
        return self.ask("POST", path, sent, **{"content_type": "application/json"} | headers)

    def socket(self, path: str, **headers: str) -> Answer:
        scope = self._scope("websocket", path, headers) | {"scheme": "ws", "subprotocols": []}
        return asyncio.run(asyncio.wait_for(_socket(self.app, scope), 10))

    def _scope(self, kind: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
        parts = urlsplit(path)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.host is not None:
            sent["host"] = self.host
        if self.token:
            sent["authorization"] = f"Bearer {self.token}"
        return {
            "type": kind,
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()],
            "client": (self.peer, 50_000),
            "server": ("127.0.0.1", 8317),
            "state": {},
        }


async def _http(app: Any, scope: dict[str, Any], body: bytes) -> Answer:
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
    return Answer(started["status"], headers, b"".join(parts))


async def _socket(app: Any, scope: dict[str, Any]) -> Answer:
    told: list[dict[str, Any]] = []
    accepted = asyncio.Event()
    waiting = [{"type": "websocket.connect"}]

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await accepted.wait()
        return {"type": "websocket.disconnect", "code": 1000}

    async def send(message: dict[str, Any]) -> None:
        told.append(message)
        accepted.set()

    await app(scope, receive, send)
    return Answer(101 if told[0]["type"] == "websocket.accept" else 403, {}, b"")
