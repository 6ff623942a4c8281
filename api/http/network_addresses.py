"""The addresses under which other devices reach this computer, and their QR codes."""

from __future__ import annotations

import io
import ipaddress
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import ifaddr
import segno

from downfield.core.platform.system import SYSTEM

_VIRTUAL: Final = ("docker", "br-", "veth", "virbr", "vboxnet", "vmnet", "lxc", "cni")
"""Beginnings of the names of interfaces that lead to containers and virtual machines on this computer only."""

_AVAHI: Final = Path("/run/avahi-daemon/pid")


def network_hosts() -> list[str]:
    """Return the hosts under which other devices can reach this computer, the most useful first.

    The address of the default route comes first, then other IPv4 addresses, then the name ``HOST.local`` where this
    computer announces it (mDNS), then IPv6 addresses. Link-local IPv6 addresses (``fe80::``) are left out, since they
    mean nothing without an interface's name, which browsers do not accept in an address; so are IPv4 addresses that a
    computer gives itself when no network answers (169.254.0.0/16), unless there is no other.
    """
    own = [(adapter.nice_name, address.ip) for adapter in ifaddr.get_adapters() for address in adapter.ips]
    addresses = usable((name, address if isinstance(address, str) else address[0]) for name, address in own)
    first = _default_route_address()
    four = sorted((address for address in addresses if address.version == 4), key=lambda found: str(found) != first)
    six = [address for address in addresses if address.version == 6]
    return [*map(str, four), *_announced_name(), *(f"[{address}]" for address in six)]


def own_host(bound: str) -> str:
    """Return the host, as in an address, by which this computer reaches a service that listens on an address."""
    if bound in {"0.0.0.0", "::"}:  # noqa: S104 - compared only
        return "127.0.0.1"
    return f"[{bound}]" if ":" in bound else bound


def outside_hosts(bound: str) -> list[str]:
    """Return the hosts by which other devices reach a service that listens on an address, the most useful first."""
    if bound == "::":
        return network_hosts()
    if bound == "0.0.0.0":  # noqa: S104 - compared only
        return [host for host in network_hosts() if not host.startswith("[")]
    return [own_host(bound)]


def usable(found: Iterable[tuple[str, str]]) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Return the addresses that another device can use, of names of interfaces with their addresses."""
    parsed = [
        ipaddress.ip_address(address.split("%", 1)[0])
        for interface, address in found
        if not interface.startswith(_VIRTUAL)
    ]
    reachable = [address for address in parsed if not (address.is_loopback or address.is_unspecified)]
    routed = [address for address in reachable if not address.is_link_local]
    own = routed or [address for address in reachable if address.version == 4]
    return list(dict.fromkeys(own))


def urls(hosts: Iterable[str], scheme: str, port: int, prefix: str = "") -> list[str]:
    """Return the address of the start page for each host, with a slash at the end."""
    usual = {"http": 80, "https": 443}[scheme]
    suffix = "" if port == usual else f":{port}"
    return [f"{scheme}://{host}{suffix}{prefix}/" for host in hosts]


def qr_svg(text: str) -> bytes:
    """Return a QR code as SVG, black on white so that it can be read in poor light and on any page."""
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(out, kind="svg", scale=8, border=4, light="#ffffff", xmldecl=False)
    return out.getvalue()


def qr_text(text: str) -> str:
    """Return a QR code for a terminal: two modules a character, to be printed white on black, 2 modules of margin."""
    out = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(out, border=2, compact=True)
    return out.getvalue()


def _default_route_address() -> str:
    """Return the IPv4 address this computer sends from; empty without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address: nothing is sent
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
        return address


def _announced_name() -> list[str]:
    """Return this computer's name in its network, if it is announced there."""
    if SYSTEM != "macos" and not _AVAHI.exists():
        return []
    name = socket.gethostname().split(".", 1)[0].lower()
    return [f"{name}.local"]
