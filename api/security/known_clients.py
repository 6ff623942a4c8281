"""The addresses of devices that are known: floods from elsewhere must not keep them out."""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

MAX_KNOWN: Final = 1024
"""Addresses remembered; those longest unused are forgotten first. At most 200 devices are paired."""


class KnownClients:
    """Remembers from which addresses operators and admins have proved who they are. Callable from any thread.

    This computer and the trusted proxies are always known.

    Args:
        proxies: addresses and networks of trusted proxies.
    """

    def __init__(self, proxies: Iterable[str] = ()) -> None:
        self._proxies = tuple(ipaddress.ip_network(proxy, strict=False) for proxy in proxies)
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, None] = OrderedDict()

    def add(self, address: str) -> None:
        """Remember the address of a device that has proved to be an operator's or an admin's."""
        with self._lock:
            self._seen[address] = None
            self._seen.move_to_end(address)
            if len(self._seen) > MAX_KNOWN:
                self._seen.popitem(last=False)

    def __contains__(self, address: str) -> bool:
        """Return whether an address is this computer's, a trusted proxy's, or that of a known device."""
        return is_loopback(address) or address in self._seen or self.is_proxy(address)

    def is_proxy(self, address: str) -> bool:
        """Return whether an address is that of a trusted proxy."""
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._proxies)


def plain_address(address: str) -> str:
    """Return an address without its scope, and an IPv4 address that came over IPv6 as IPv4; other text as it is.

    On a socket that listens for both, the address 192.168.1.5 is ``::ffff:192.168.1.5``.
    """
    try:
        parsed = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return address
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)


def is_address(text: str) -> bool:
    """Return whether a text is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_loopback(address: str) -> bool:
    """Return whether an address is this computer's loopback."""
    try:
        return ipaddress.ip_address(plain_address(address)).is_loopback
    except ValueError:
        return False
