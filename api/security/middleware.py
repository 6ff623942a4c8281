"""The door: what every request must pass before anything else looks at it.

By which name the service is called (a page elsewhere can point its own name here: DNS rebinding), from which page the
request comes, how often, and how much is sent. Every answer leaves with the headers that browsers need to be careful.
"""

from __future__ import annotations

import ipaddress
import math
import socket
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downfield.api.problems import problem
from downfield.api.security.rate_limits import RateLimit, RateLimiter

MOST_BODY: Final = 64 << 10
"""Bytes of a body; a line-up of 120 is 20 kB."""

MOST_CALIBRATION: Final = 1 << 20
"""Bytes of a calibration; with its covariance and cells one is about 30 kB."""

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})

_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "SAMEORIGIN",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'",
}
"""Of every answer that has not its own; pages bring a policy that lets them load their own parts."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """How often one address may ask.

    Attributes:
        reading: requests that change nothing.
        changing: requests that may.
        signing_in: tries of a pairing code, for one address and, five times that, for all.
        pictures: pictures of a call, which are unpacked and drawn for whoever asks, and lists of them.

    """

    reading: RateLimit = field(default=RateLimit(100, 400))
    changing: RateLimit = field(default=RateLimit(20, 60))
    signing_in: RateLimit = field(default=RateLimit(1 / 5, 5))
    pictures: RateLimit = field(default=RateLimit(10, 40))


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Who may reach the service, and under which names.

    Attributes:
        lan: whether other computers may; otherwise this one alone.
        names: host names it is called by, beside this computer's own and its addresses.
        open_viewing: whether anybody on the network may look without being paired.
        trust_local: whether whoever sits at this computer is an admin without being paired; not behind a proxy.
        limits: how often one address may ask.

    """

    lan: bool = False
    names: tuple[str, ...] = ()
    open_viewing: bool = False
    trust_local: bool = True
    limits: RateLimits = RateLimits()


class SecurityMiddleware:
    """ASGI middleware.

    Args:
        app: what is behind it.
        access: who may reach it.
        answered: counts answers by method and status.

    """

    def __init__(self, app: ASGIApp, access: AccessPolicy, answered: Counter[tuple[str, int]]) -> None:
        self._app = app
        self._access = access
        self._answered = answered
        own = (socket.gethostname(), f"{socket.gethostname()}.local") if access.lan else ()
        self._names = frozenset(name.lower() for name in ("localhost", *access.names, *own))
        limits = access.limits
        self._reading, self._changing = RateLimiter(limits.reading), RateLimiter(limits.changing)
        self._pictures, self._signing_in = RateLimiter(limits.pictures), RateLimiter(limits.signing_in)
        everybody = RateLimit(limits.signing_in.per_s * 5, limits.signing_in.burst * 5)
        self._everybody_signing_in = RateLimiter(everybody)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if scope["type"] == "websocket":
            if refused is not None:
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": "refused at the door"})
                return
            await self._app(scope, receive, send)
            return
        counted = self._counted(scope, send)
        if refused is not None:
            await refused(scope, receive, counted)
            return
        most = MOST_CALIBRATION if scope["path"] in {"/api/calibration", "/api/commands"} else MOST_BODY
        await _Measured(self._app, most)(scope, receive, counted)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return problem(400, "this service is not called by that name: use its address, or add the name to its list")
        peer = scope["client"][0] if scope.get("client") else ""
        if not self._access.lan and not is_loopback(peer):
            return problem(403, "this service is for this computer alone")
        method = scope.get("method", "GET")
        if not _same_origin(headers, host) and (scope["type"] == "websocket" or method not in SAFE):
            return problem(403, "a page of another origin asked")
        wait_s = self._wait_s(peer, method, scope["path"])
        if wait_s:
            return problem(429, "more requests than one may make", headers={"Retry-After": str(math.ceil(wait_s))})
        return None

    def _wait_s(self, peer: str, method: str, path: str) -> float:
        if path == "/api/session" and method == "POST":
            return self._signing_in.wait_s(peer) or self._everybody_signing_in.wait_s("everybody")
        if path.startswith("/api/games/") and "/frames" in path:
            return self._pictures.wait_s(peer)
        return (self._reading if method in SAFE else self._changing).wait_s(peer)

    def _is_ours(self, host: str) -> bool:
        """Whether a Host is a name of ours or an address: no foreign page can have a bare address as its origin."""
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        name = name.strip("[]").lower()
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._access.lan or address.is_loopback

    def _counted(self, scope: Scope, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._answered[_method(scope), message["status"]] += 1
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        return sent


class _Measured:
    """Refuses a body above its limit, announced or not."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or int(announced[:20]) > self._most:
            await self._refuse(scope, receive, send)
            return
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._most:
                await self._refuse(scope, receive, send)
                return
        given = False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, again, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = problem(413, f"at most {self._most} bytes are taken here", headers={"Connection": "close"})
        await answer(scope, receive, send)


def is_loopback(address: str) -> bool:
    """Whether an address is this computer's own loopback."""
    try:
        found = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether a request comes from a page of ours, or from no page."""
    if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        return False
    origin = headers.get("origin")
    return origin is None or origin.lower() in {f"http://{host.lower()}", f"https://{host.lower()}"}


def _method(scope: Scope) -> str:
    """The method, for counting: an unknown one is not let grow the count."""
    known = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"}
    return scope["method"] if scope["method"] in known else "other"
