"""The security middleware: every request passes it before anything else.

It finds out who sent a request (see `forwarding`), checks the Host header (a foreign website can point its own name at
this address: DNS rebinding), the website a request comes from, how often requests come, and how large they are. It
gives every response its security headers.

Starlette's TrustedHostMiddleware is not used: it compares names with a fixed list, while any bare IP address is fine
here (a foreign website can't have one as its origin), and it answers in plain text instead of a problem.
"""

from __future__ import annotations

import ipaddress
import math
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downfield.api.http.problems import problem_response
from downfield.api.security.access import AccessPolicy, RateLimiter, RateLimits
from downfield.api.security.forwarding import KnownClients, Origin, is_loopback, own_path, resolve

_SITE_BITS: Final = 48  # The network that a provider gives one customer at most (RFC 6177)

_LINK_BITS: Final = 64  # The network of one link, in which a device takes whatever addresses it likes (RFC 4291, 2.5.1)


class SignInLimiter:
    """Limits attempts at a pairing code. Used from one thread.

    An IPv4 address is limited by itself. One device can have 2^64 IPv6 addresses, and one customer 65,536 networks of
    that size, so those are limited, too. An attempt that its address's limit refuses costs the networks nothing: a
    single device can't use up what is left to the others beside it.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, limits: RateLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._addresses = RateLimiter(limits.sign_ins, clock)
        self._links = RateLimiter(limits.sign_ins_of_link, clock)
        self._sites = RateLimiter(limits.sign_ins_of_site, clock)

    def acquire(self, address: str) -> float:
        """Take a token for one attempt from an address and its networks; return the seconds to wait, 0 for none."""
        wait_s = self._addresses.acquire(address)
        for limiter, network in zip((self._links, self._sites), _networks(address), strict=False):
            wait_s = wait_s or limiter.acquire(network)
        return wait_s


def _networks(address: str) -> Iterator[str]:
    """Yield the link and the site of an IPv6 address; nothing for other text."""
    try:
        number = int(ipaddress.IPv6Address(address))
    except ValueError:
        return
    for bits in (_LINK_BITS, _SITE_BITS):
        yield f"{number >> (128 - bits):x}"


MAX_BODY_BYTES: Final = 64 << 10  # A line-up of 120 players is 20 kB

MAX_CALIBRATION_BYTES: Final = 1 << 20  # A calibration with its covariance and cells is about 30 kB


MAX_MESSAGE_BYTES: Final = 8 << 20  # What a broker carries: an entry with a second of scenes, or a batch of entries


class BodyLimit:
    """Refuses a body above a limit, whatever its Content-Length says."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then pass the request on."""
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
        body_given = False

        async def receive_body() -> Message:
            nonlocal body_given
            if body_given:
                return await receive()
            body_given = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, receive_body, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"The request is too large: {self._max_bytes >> 10} KiB at most."
        await problem_response(413, detail, headers={"Connection": "close"})(scope, receive, send)


_HOST: Final = re.compile(r"([^\s:\[\];,\"']{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{0,5})?")

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

_FOREIGN_HEADERS: Final = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Authorization, If-None-Match, Last-Event-ID",
    "Access-Control-Allow-Private-Network": "true",
    "Access-Control-Expose-Headers": "ETag",
    "Access-Control-Max-Age": "600",
}
"""For pages of the websites that may read; no credentials of the browser are taken."""

_LARGE_BODIES: Final = frozenset({"/api/calibration", "/api/card-photo", "/api/commands", "/api/logos", "/api/pushes"})
_RIGS_PATH: Final = "/api/tournament/"
"""Of a desk: what rigs on its own computer send, as much and as often as a broker would carry."""

_PLAIN_PATHS: Final = (
    "/overlay/",
    "/assets/",
    "/api/",
    "/camera.mjpeg",
    "/camera.jpg",
    "/program",
    "/healthz",
    "/readyz",
    "/metrics",
)
"""What other computers may read without TLS when there is TLS; OBS refuses certificates that nobody has signed."""


class SecurityMiddleware:
    """ASGI middleware that refuses or passes on each request.

    Args:
        revocable: wraps what answers requests that change nothing, so that their responses end with their device.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: AccessPolicy,
        known: KnownClients,
        responses: Counter[tuple[str, int]],
        revocable: Callable[[ASGIApp], ASGIApp] = lambda inside: inside,
    ) -> None:
        self._app = app
        self._known = known
        self._access = access
        self._responses = responses
        own = (socket.gethostname(), f"{socket.gethostname()}.local") if access.lan else ()
        self._names = frozenset(name.lower() for name in ("localhost", *access.names, *own))
        self._reachable = access.reachable
        self._origins = frozenset(origin.lower() for origin in access.origins)
        self._large = BodyLimit(app, MAX_CALIBRATION_BYTES)
        self._usual = BodyLimit(app, MAX_BODY_BYTES)
        self._of_rigs = BodyLimit(app, MAX_MESSAGE_BYTES)
        self._reading = BodyLimit(revocable(app), MAX_BODY_BYTES)
        limits = access.limits
        self._reads, self._changes = RateLimiter(limits.reads), RateLimiter(limits.changes)
        self._pictures, self._sign_ins = RateLimiter(limits.pictures), SignInLimiter(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        origin = resolve(scope, self._known, self._access.prefix)
        scope["state"]["origin"] = origin
        scope["state"]["foreign"] = self._foreign(scope)
        refusal = self._refuse(scope, origin)
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
        if scope["state"]["foreign"] and scope["method"] == "OPTIONS":
            await Response(status_code=204)(scope, receive, send_checked)
            return
        inside = self._reading if scope["method"] in SAFE_METHODS else self._usual
        if own_path(scope) in _LARGE_BODIES:
            inside = self._large
        if origin.local and own_path(scope).startswith(_RIGS_PATH):
            inside = self._of_rigs
        await inside(scope, receive, send_checked)

    def _refuse(self, scope: Scope, origin: Origin) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own_host(host):
            return problem_response(
                400,
                "Request refused: this service does not go by that host name (Host header). "
                "Use its IP address, or add the name to service.names.",
            )
        if not (self._access.lan or origin.proxied or is_loopback(origin.peer)):
            return problem_response(
                403, "Only this computer may use the service. Start it with 'downfield run --lan' to allow the network."
            )
        method, path = scope.get("method", "GET"), own_path(scope)
        if self._is_in_the_clear(scope, origin):
            if method not in SAFE_METHODS:
                return problem_response(
                    403, f"Use https, port {self._access.tls_port}: this port is for watching only."
                )
            if not path.startswith(_PLAIN_PATHS):
                secure = URL(scope=scope).replace(scheme="https", port=self._access.tls_port)
                return RedirectResponse(str(secure), 307, {"Cache-Control": "no-store"})
        unsafe = method not in SAFE_METHODS or (scope["type"] == "websocket" and not scope["state"]["foreign"])
        if not _is_same_origin(headers, host) and unsafe:
            hint = (
                " Your own proxy has to pass on the Host with its port (nginx: $http_host)." if origin.proxied else ""
            )
            return problem_response(403, f"Request refused: it comes from another website (Origin header).{hint}")
        wait_s = math.ceil(self._acquire(origin.address, method, path, local=origin.local))
        if wait_s:
            detail = f"Too many requests from this device. Try again in {wait_s} s."
            return problem_response(429, detail, headers={"Retry-After": str(wait_s)})
        return None

    def _foreign(self, scope: Scope) -> str:
        """Return the website that a request comes from, if it is one of those whose pages may read; else nothing.

        A picture's element names no origin: with a key it is taken for one of them.
        """
        headers = Headers(scope=scope)
        origin = headers.get("origin", "").lower()
        if not self._origins or _is_same_origin(headers, headers.get("host", "")):
            return ""
        shown = not origin and b"key=" in scope.get("query_string", b"")
        return origin if origin in self._origins else "*" if shown else ""

    def _is_in_the_clear(self, scope: Scope, origin: Origin) -> bool:
        """Return whether a request crosses the network without TLS although there is TLS."""
        plain = scope.get("scheme") in {"http", "ws"} and self._access.tls_port is not None
        clear = plain and not origin.proxied and not is_loopback(origin.peer)
        scope["state"]["watching_only"] = clear
        return clear

    def _acquire(self, peer: str, method: str, path: str, *, local: bool) -> float:
        """Take a token from the right bucket; the seconds to wait if there is none."""
        if local and path.startswith(_RIGS_PATH):
            return 0.0
        if path == "/api/session" and method == "POST":
            return (self._changes if local else self._sign_ins).acquire(peer)
        if path.startswith("/api/games/") and "/frames" in path:
            return self._pictures.acquire(peer)
        return (self._reads if method in SAFE_METHODS else self._changes).acquire(peer)

    def _is_own_host(self, host: str) -> bool:
        """Return whether a Host header is one of the service's names, or a bare address."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1].strip("[]").lower()
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._reachable or address.is_loopback

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        """Return a `send` that adds the security headers and counts the response."""

        async def send_checked(message: Message) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in _KNOWN_METHODS else "other"
                self._responses[method, message["status"]] += 1
                headers = MutableHeaders(scope=message)
                if foreign := scope["state"]["foreign"]:
                    headers["Cross-Origin-Resource-Policy"] = "cross-origin"
                    headers.update({**_FOREIGN_HEADERS, "Access-Control-Allow-Origin": foreign})
                    headers.add_vary_header("Origin")
                for name, value in _SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if own_path(scope).startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        return send_checked


def _is_same_origin(headers: Headers, host: str) -> bool:
    """Return whether a request comes from a page of this service, or from no page."""
    if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        return False
    origin = headers.get("origin")
    return origin is None or origin.lower() in {f"http://{host.lower()}", f"https://{host.lower()}"}
