"""How often codes may be tried: by each address, and by each network that one household or one attacker may hold."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterator
from typing import Final

from downfield.api.security.access import RateLimiter, RateLimits

_SITE_BITS: Final = 48
"""The network that a provider gives one customer at most (RFC 6177)."""

_LINK_BITS: Final = 64
"""The network of one link, in which a device takes whatever addresses it likes (RFC 4291, 2.5.1)."""


class SignInLimiter:
    """Limits attempts at a pairing code. Used from one thread.

    An IPv4 address is limited by itself. One device can have 2^64 IPv6 addresses, and one customer 65,536 networks of
    that size, so those are limited, too. An attempt that its address's limit refuses costs the networks nothing: a
    single device can't use up what is left to the others beside it.

    Args:
        limits: of addresses and networks.
        clock: seconds, monotonic.

    """

    def __init__(self, limits: RateLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._addresses = RateLimiter(limits.sign_ins, clock)
        self._links = RateLimiter(limits.sign_ins_of_link, clock)
        self._sites = RateLimiter(limits.sign_ins_of_site, clock)

    def acquire(self, address: str) -> float:
        """Take a token for one attempt from an address and its networks.

        Returns:
            0 if there was one; otherwise the seconds until the next.

        """
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
