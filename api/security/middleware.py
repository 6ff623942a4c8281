"""The security middleware: every request passes it before anything else.

It checks the Host header (a foreign website can point its own name at this address: DNS rebinding), the website a
request comes from, how often requests come, and how large they are. It gives every response its security headers.

Starlette's TrustedHostMiddleware is not used: it compares names with a fixed list, while any bare IP address is fine
here (a foreign website can't have one as its origin), and it answers in plain text instead of a problem.

Requests are limited by token buckets of our own. The `limits` package was tried: its memory storage keeps every address
it has seen until its window ends (100,050 after 100,000 addresses; here 4,096 at most), its exact strategy takes 4.5 us
a request instead of 0.7 us, and it has no token bucket, so "five attempts, then one every five seconds" can't be
expressed.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downfield.api.problems import problem_response

MAX_BODY_BYTES: Final = 64 << 10
"""A line-up of 120 players is 20 kB."""

MAX_CALIBRATION_BYTES: Final = 1 << 20
"""A calibration with its covariance and cells is about 30 kB."""

MAX_BUCKETS: Final = 4096
"""The buckets of the clients longest silent are dropped first; they are full again by then."""

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

_KNOWN_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"})

_SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "SAMEORIGIN",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'",
}
"""Of every response without its own; pages bring a policy that lets them load their own files."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How often a client may send requests.

    Attributes:
        per_s: requests per second in the long run.
        burst: requests at once.

    """

    per_s: float
    burst: int


@dataclass(frozen=True, slots=True)
class RateLimits:
    """How often one address may send requests."""

    reads: RateLimit = field(default=RateLimit(100, 400))
    """Requests that change nothing."""

    changes: RateLimit = field(default=RateLimit(20, 60))
    """Requests that may change something."""

    sign_ins: RateLimit = field(default=RateLimit(1 / 5, 5))
    """Attempts at a pairing code, for one address; five times that for all addresses together."""

    pictures: RateLimit = field(default=RateLimit(10, 40))
    """Pictures of a call, which are decoded and drawn for each request, and lists of them."""


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The clients that may reach the service, and the host names it accepts.

    Attributes:
        lan: whether other computers may; otherwise only this one.
        names: host names of the service, besides this computer's own and its addresses.
        open_viewing: whether unpaired devices on the network may watch.
        trust_local: whether a request from this computer is the admin's without pairing; not behind a proxy.
        limits: how often one address may send requests.

    """

    lan: bool = False
    names: tuple[str, ...] = ()
    open_viewing: bool = False
    trust_local: bool = True
    limits: RateLimits = field(default_factory=RateLimits)


class SecurityMiddleware:
    """ASGI middleware that refuses or passes on each request.

    Args:
        app: the application behind it.
        access: decides which clients may reach it.
        responses: counts responses by method and status.

    """

    def __init__(self, app: ASGIApp, access: AccessPolicy, responses: Counter[tuple[str, int]]) -> None:
        self._app = app
        self._access = access
        self._responses = responses
        own = (socket.gethostname(), f"{socket.gethostname()}.local") if access.lan else ()
        self._names = frozenset(name.lower() for name in ("localhost", *access.names, *own))
        limits = access.limits
        self._reads, self._changes = RateLimiter(limits.reads), RateLimiter(limits.changes)
        self._pictures, self._sign_ins = RateLimiter(limits.pictures), RateLimiter(limits.sign_ins)
        self._all_sign_ins = RateLimiter(RateLimit(limits.sign_ins.per_s * 5, limits.sign_ins.burst * 5))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        refusal = self._refuse(scope)
        if scope["type"] == "websocket":
            if refusal is not None:
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": "Request refused."})
                return
            await self._app(scope, receive, send)
            return
        send_checked = self._with_headers(scope, send)
        if refusal is not None:
            await refusal(scope, receive, send_checked)
            return
        large = scope["path"] in {"/api/calibration", "/api/commands"}
        limited = _BodyLimit(self._app, MAX_CALIBRATION_BYTES if large else MAX_BODY_BYTES)
        await limited(scope, receive, send_checked)

    def _refuse(self, scope: Scope) -> Response | None:
        """Return the response to a request that is refused; None for one that may pass."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own_host(host):
            return problem_response(
                400,
                "Request refused: this service does not go by that host name (Host header). "
                "Use its IP address, or add the name to service.names.",
            )
        peer = scope["client"][0] if scope.get("client") else ""
        if not self._access.lan and not is_loopback(peer):
            return problem_response(
                403, 'Only this computer may use the service. Set service.host to "0.0.0.0" to allow the network.'
            )
        method = scope.get("method", "GET")
        if not _is_same_origin(headers, host) and (scope["type"] == "websocket" or method not in SAFE_METHODS):
            return problem_response(403, "Request refused: it comes from another website (Origin header).")
        wait_s = math.ceil(self._acquire(peer, method, scope["path"]))
        if wait_s:
            detail = f"Too many requests from this device. Try again in {wait_s} s."
            return problem_response(429, detail, headers={"Retry-After": str(wait_s)})
        return None

    def _acquire(self, peer: str, method: str, path: str) -> float:
        """Take a token from the right bucket; the seconds to wait if there is none."""
        if path == "/api/session" and method == "POST":
            return self._sign_ins.acquire(peer) or self._all_sign_ins.acquire("all")
        if path.startswith("/api/games/") and "/frames" in path:
            return self._pictures.acquire(peer)
        return (self._reads if method in SAFE_METHODS else self._changes).acquire(peer)

    def _is_own_host(self, host: str) -> bool:
        """Return whether a Host header is one of the service's names, or a bare address."""
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        name = name.strip("[]").lower()
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._access.lan or address.is_loopback

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        """Return a `send` that adds the security headers and counts the response."""

        async def send_checked(message: Message) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in _KNOWN_METHODS else "other"
                self._responses[method, message["status"]] += 1
                headers = MutableHeaders(scope=message)
                for name, value in _SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        return send_checked


class RateLimiter:
    """One token bucket for each client. Used from one thread.

    Args:
        limit: of each client.
        clock: seconds, monotonic.

    """

    def __init__(self, limit: RateLimit, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def acquire(self, client: str) -> float:
        """Take a token from a client's bucket.

        Returns:
            0 if there was one; otherwise the seconds until the next.

        """
        now = self._clock()
        tokens, at = self._buckets.pop(client, (float(self._limit.burst), now))
        tokens = min(float(self._limit.burst), tokens + (now - at) * self._limit.per_s)
        wait_s = 0.0 if tokens >= 1 else (1 - tokens) / self._limit.per_s
        self._buckets[client] = (tokens if wait_s else tokens - 1, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return wait_s


class _BodyLimit:
    """Refuses a body above a limit, whatever its Content-Length says."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or int(announced[:20]) > self._max_bytes:
            await self._refuse(scope, receive, send)
            return
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._max_bytes:
                await self._refuse(scope, receive, send)
                return
        replayed = False

        async def receive_body() -> Message:
            nonlocal replayed
            if replayed:
                return await receive()
            replayed = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, receive_body, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"The request is too large: {self._max_bytes >> 10} KiB at most."
        await problem_response(413, detail, headers={"Connection": "close"})(scope, receive, send)


def is_loopback(address: str) -> bool:
    """Return whether an address is this computer's loopback."""
    try:
        parsed = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return bool((mapped or parsed).is_loopback)


def _is_same_origin(headers: Headers, host: str) -> bool:
    """Return whether a request comes from a page of this service, or from no page."""
    if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        return False
    origin = headers.get("origin")
    return origin is None or origin.lower() in {f"http://{host.lower()}", f"https://{host.lower()}"}
