"""Where requests come from: known devices, whose places floods from elsewhere do not take, and reverse proxies.

A proxy that is trusted says who really sent a request, under which address, scheme and path, in the headers
X-Forwarded-For, -Proto, -Host and -Prefix. The same headers from anybody else are not believed; they only show that a
request did not begin on the computer it comes from.
"""

from __future__ import annotations

import ipaddress
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Scope

PREFIX: Final = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*){1,8}")  # A path under which a service appears

_FORWARDED: Final = re.compile(r"(?:^|[;,])\s*(for|proto|host)\s*=\s*(\"[^\"]*\"|[^\s;,\"]+)", re.IGNORECASE)
"""The parts of a Forwarded header that matter here, RFC 7239."""

_PROXY_HEADERS: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_HOST: Final = re.compile(r"[A-Za-z0-9.-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")


MAX_KNOWN: Final = 1024
"""Addresses remembered; those longest unused are forgotten first. At most 200 devices are paired."""


class KnownClients:
    """Remembers from which addresses operators and admins have proved who they are. Callable from any thread.

    This computer and the trusted proxies, by their addresses and networks, are always known.
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


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from."""

    address: str  # of the client; behind a trusted proxy the one the proxy names
    peer: str  # the address the connection comes from
    local: bool  # whether it comes from a program on this computer, as far as its headers can tell
    proxied: bool  # whether a trusted proxy passed it on


def resolve(scope: Scope, known: KnownClients, prefix: str) -> Origin:
    """Return where a request comes from, and give its scope the client, scheme, host and path that the client used.

    Args:
        scope: of the request; changed.
        prefix: the path under which the service appears, if the proxy does not name one; empty for none.
    """
    client = scope.get("client") or ("", 0)
    scope["state"]["peer"] = tuple(client)
    peer = plain_address(client[0])
    headers = Headers(scope=scope)
    marked = any(name in headers for name in _PROXY_HEADERS)
    if not known.is_proxy(peer):
        _set_path(scope, prefix)
        scope["client"] = (peer, client[1])
        return Origin(peer, peer, is_loopback(peer) and not marked, proxied=False)
    hops, proto, host = _forwarded(headers)
    # The last hop that is not a trusted proxy: those before it can be made up.
    addresses = (_address_of(hop) for hop in reversed(hops) if hop.strip())
    address = next((address for address in addresses if not known.is_proxy(address)), "") or peer
    scope["client"] = (address, client[1])
    if proto in {"http", "https"}:
        secure = proto == "https"
        web_socket = scope["type"] == "websocket"
        scope["scheme"] = ("wss" if secure else "ws") if web_socket else proto
    if _HOST.fullmatch(host):
        MutableHeaders(scope=scope)["host"] = host
    given = headers.get("x-forwarded-prefix", "").strip().rstrip("/")
    _set_path(scope, given if PREFIX.fullmatch(given) else prefix)
    return Origin(address, peer, local=False, proxied=True)


def own_path(scope: Scope) -> str:
    """Return the path of a request without the prefix under which the service appears."""
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path


def _forwarded(headers: Headers) -> tuple[list[str], str, str]:
    """Return what a trusted proxy says of a request: the hops that it came by, the client's scheme, and its host.

    The header Forwarded counts only where there is no X-Forwarded-For: a proxy that writes the one passes the other on
    as a client has made it up.
    """
    if "x-forwarded-for" in headers or "forwarded" not in headers:
        hops = [hop for line in headers.getlist("x-forwarded-for") for hop in line.split(",")]
        proto, host = (headers.get(f"x-forwarded-{name}", "").split(",")[0] for name in ("proto", "host"))
        return hops, proto.strip().lower(), host.strip()
    found: dict[str, list[str]] = {"for": [], "proto": [], "host": []}
    for name, value in _FORWARDED.findall(",".join(headers.getlist("forwarded"))):
        found[name.lower()].append(value.strip('"'))
    return found["for"], "".join(found["proto"][-1:]).lower(), "".join(found["host"][-1:])


def _address_of(hop: str) -> str:
    """Return the address of a hop, which may be in brackets and have a port; empty where it is none."""
    bare = hop.strip().strip('"')
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    address = plain_address(bare)
    return address if is_address(address) else ""


def _set_path(scope: Scope, prefix: str) -> None:
    """Put the prefix at the beginning of the path, once, whether or not the proxy has left it there."""
    if not prefix:
        return
    path: str = scope["path"]
    inside = path == prefix or path.startswith(f"{prefix}/")
    scope["root_path"] = prefix
    scope["path"] = path if inside else prefix + path
    if path == prefix:
        scope["path"] = f"{prefix}/"
