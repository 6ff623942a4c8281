"""Who may use what, from where and how often: five roles, each including the one before it; addresses; rate limits.

A route without a role is for the admin only. The phone that is the camera has a role of its own, which opens what it
needs to send and nothing else.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

MAX_BUCKETS: Final = 4096  # The buckets of the clients longest silent are dropped first; they are full again by then


Role = Literal["viewer", "producer", "operator", "referee", "admin"]
DeviceRole = Role | Literal["camera"]
RequiredRole = Literal["anyone", "viewer", "producer", "operator", "admin", "camera"]

RANK: Final[dict[DeviceRole | RequiredRole, int]] = {
    "anyone": 0,
    "camera": 0,
    "viewer": 1,
    "producer": 2,
    "operator": 3,
    "referee": 4,
    "admin": 5,
}
"""A producer may change what is on air and nothing of the game; a referee may do what an operator may, and rule on
finished games; the camera what anyone may, see `is_allowed`."""

_AT_A_TABLE: Final = "required_role"
_IN_REVIEW: Final = "required_in_review"
"""Names under which a route has the lowest role it is open to: at a table or desk, and with games to look at alone."""

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Principal:
    """The sender of a request."""

    role: DeviceRole | None = None  # decides what is allowed; None for an unpaired device
    name: str = "an unpaired device"  # of the person or device, as the record shows it
    device: str = ""  # id of a paired device; empty for this computer
    local: bool = False  # whether the request comes from this computer


def allow(role: RequiredRole, *, in_review: RequiredRole | None = None) -> Callable[[Endpoint], Endpoint]:
    """Open a route to a role and those above it; to those from `in_review` where there are only games to look at."""

    def mark(endpoint: Endpoint) -> Endpoint:
        endpoint.__dict__[_AT_A_TABLE] = role
        endpoint.__dict__[_IN_REVIEW] = in_review or role
        return endpoint

    return mark


def required_role(endpoint: Callable[..., Any], *, in_review: bool = False) -> RequiredRole:
    """Return the lowest role a route is open to; `in_review`: where there is no table, only games to look at."""
    role: RequiredRole = getattr(endpoint, _IN_REVIEW if in_review else _AT_A_TABLE, "admin")
    return role


def is_allowed(role: DeviceRole | None, required: RequiredRole) -> bool:
    """Return whether a role may use what requires one; what the camera needs is for no other role."""
    if required == "camera":
        return role == "camera"
    return RANK[role or "anyone"] >= RANK[required]


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How often a client may send requests."""

    per_s: float  # requests per second in the long run
    burst: int  # requests at once


@dataclass(frozen=True, slots=True)
class RateLimits:
    """How often one address may send requests.

    Nothing is limited for all addresses together: what one address does costs no other its turn. Guessing a pairing
    code needs no such limit. A code is one of 30^10 and lives for minutes; a service that did nothing but answer 1,000
    guesses a second would meet one of twenty open codes once in 900 years. Only networks that one device or one
    household may hold alone are limited as such (see `sign_in_limits`), far above what pairing phones needs.
    """

    reads: RateLimit = field(default=RateLimit(100, 400))  # Requests that change nothing
    changes: RateLimit = field(default=RateLimit(20, 60))  # Requests that may change something
    sign_ins: RateLimit = field(default=RateLimit(1 / 5, 5))  # Attempts at a pairing code
    # Pictures of a call, which are decoded for each request, and what belongs to them: enough for slow motion
    pictures: RateLimit = field(default=RateLimit(40, 200))
    # Attempts from all addresses of an IPv6 network of 64 bits: a hall whose phones are paired at once
    sign_ins_of_link: RateLimit = field(default=RateLimit(4, 100))
    # Attempts from all addresses of an IPv6 network of 48 bits
    sign_ins_of_site: RateLimit = field(default=RateLimit(16, 400))


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The clients that may reach the service, and the host names it accepts."""

    lan: bool = False  # whether other computers may; otherwise only this one
    names: tuple[str, ...] = ()  # host names of the service, besides this computer's own and its addresses
    open_viewing: bool = False  # whether unpaired devices on the network may watch
    trust_local: bool = True  # whether every request from this computer is the admin's without proof
    limits: RateLimits = field(default_factory=RateLimits)  # how often one address may send requests
    origins: tuple[str, ...] = ()  # of other websites, whose pages may read with a key
    proxies: tuple[str, ...] = ()  # addresses and networks of reverse proxies whose headers are believed
    prefix: str = ""  # the path under which the service appears, such as ``/football``; empty for none
    # the port that other computers use with TLS; None without TLS. Without TLS they may then only watch.
    tls_port: int | None = None
    plain_port: int | None = None  # the port without TLS; None where it is not known

    @property
    def reachable(self) -> bool:
        """Whether other devices can reach it, directly or through a proxy."""
        return self.lan or bool(self.proxies)


class RateLimiter:
    """One token bucket for each client. Used from one thread.

    The `limits` package was tried: its memory storage keeps every address it has seen until its window ends (100,050
    after 100,000 addresses; here 4,096 at most), its exact strategy takes 4.5 us a request instead of 0.7 us, and it
    has no token bucket, so "five attempts, then one every five seconds" can't be expressed.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, limit: RateLimit, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def acquire(self, client: str) -> float:
        """Take a token from a client's bucket; return the seconds until the next where there is none, else 0."""
        now = self._clock()
        tokens, at = self._buckets.pop(client, (float(self._limit.burst), now))
        tokens = min(float(self._limit.burst), tokens + (now - at) * self._limit.per_s)
        wait_s = 0.0 if tokens >= 1 else (1 - tokens) / self._limit.per_s
        self._buckets[client] = (tokens if wait_s else tokens - 1, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return wait_s
