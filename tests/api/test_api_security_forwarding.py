"""Who sent a request: headers of trusted proxies are believed, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.api.security.forwarding import (
    KnownClients,
    Origin,
    is_address,
    is_loopback,
    own_path,
    plain_address,
    resolve,
)

PROXY = "10.1.0.1"


def asked(peer: str, path: str = "/panel", prefix: str = "", **headers: str) -> tuple[Origin, dict[str, Any]]:
    """Where a request comes from, and its scope afterwards."""
    named = {"host": "rig:8317", **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope: dict[str, Any] = {
        "type": "http",
        "scheme": "http",
        "path": path,
        "root_path": "",
        "client": (peer, 40_000),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "state": {},
    }
    return resolve(scope, KnownClients(["10.1.0.0/24"]), prefix), scope


def asked_raw(**headers: str) -> tuple[Origin, dict[str, Any]]:
    """Where a request of the proxy's comes from, with headers of any bytes."""
    scope = asked(PROXY)[1]
    scope["client"] = (PROXY, 40_000)
    scope["headers"] += [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return resolve(scope, KnownClients(["10.1.0.0/24"]), ""), scope


@given(st.ip_addresses().map(str))
def test_a_stranger_cannot_name_another_address(claimed: str) -> None:
    origin, scope = asked("203.0.113.9", x_forwarded_for=claimed, x_forwarded_proto="https", x_forwarded_host="evil")
    assert (origin.address, origin.local, origin.proxied) == ("203.0.113.9", False, False)
    assert scope["scheme"] == "http"
    assert dict(scope["headers"])[b"host"] == b"rig:8317"


@pytest.mark.parametrize("header", ["x_forwarded_for", "forwarded", "via", "x_real_ip", "x_forwarded_host"])
def test_a_proxy_on_this_computer_is_not_this_computers_own_program(header: str) -> None:
    assert not asked("127.0.0.1", **{header: "127.0.0.1"})[0].local
    assert asked("127.0.0.1")[0].local
    assert asked("::1")[0].local


def test_a_trusted_proxy_names_client_scheme_and_host() -> None:
    origin, scope = asked(
        PROXY, x_forwarded_for="198.51.100.7, 10.1.0.9", x_forwarded_proto="https", x_forwarded_host="games.example"
    )
    assert (origin.address, origin.peer, origin.local, origin.proxied) == ("198.51.100.7", PROXY, False, True)
    assert scope["scheme"] == "https"
    assert dict(scope["headers"])[b"host"] == b"games.example"


@pytest.mark.parametrize(
    "hop",
    ["198.51.100.7:51234", "198.51.100.7", '"198.51.100.7"', "[::ffff:198.51.100.7]:51234", "::ffff:198.51.100.7"],
)
def test_a_client_has_one_address_however_a_proxy_writes_it(hop: str) -> None:
    """A port in it would make another client of each connection, and every limit of an address none."""
    assert asked(PROXY, x_forwarded_for=f"10.9.9.9, {hop}")[0].address == "198.51.100.7"
    assert asked(PROXY, x_forwarded_for="[2001:db8::1]:443")[0].address == "2001:db8::1"


@pytest.mark.parametrize("hop", ["unknown", "_hidden", "", "1.2.3", "<script>", "1.2.3.4.5:6"])
def test_what_is_no_address_is_the_proxys_own(hop: str) -> None:
    assert asked(PROXY, x_forwarded_for=f"198.51.100.7, {hop or 'x'}")[0].address == PROXY


@pytest.mark.parametrize(
    ("header", "address", "scheme", "host"),
    [
        ('for=198.51.100.7;proto=https;host="games.example"', "198.51.100.7", "https", "games.example"),
        ('for="[2001:db8::1]:4711"; Proto=HTTPS, for=10.1.0.9', "2001:db8::1", "https", "rig:8317"),
        ("for=127.0.0.1, FOR=198.51.100.7;by=10.1.0.1", "198.51.100.7", "http", "rig:8317"),
        ("for=_hidden;proto=https", PROXY, "https", "rig:8317"),
        ('for="198.51.100.7;proto=http', PROXY, "http", "rig:8317"),
    ],
)
def test_a_trusted_proxy_that_writes_forwarded_is_understood(header: str, address: str, scheme: str, host: str) -> None:
    origin, scope = asked(PROXY, forwarded=header)
    assert (origin.address, scope["scheme"], dict(scope["headers"])[b"host"].decode()) == (address, scheme, host)
    assert not origin.local


def test_a_client_cannot_make_up_forwarded_beside_what_its_proxy_writes() -> None:
    origin, scope = asked(PROXY, x_forwarded_for="198.51.100.7", forwarded="for=192.0.2.1;proto=https;host=evil")
    assert (origin.address, scope["scheme"]) == ("198.51.100.7", "http")
    assert dict(scope["headers"])[b"host"] == b"rig:8317"


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_header_of_a_proxy_fails(chain: str, forwarded: str) -> None:
    for headers in ({"x_forwarded_for": chain}, {"forwarded": forwarded}):
        sent = {name: value.encode("latin-1", "replace").decode("latin-1") for name, value in headers.items()}
        origin, _ = asked_raw(**sent)
        assert origin.proxied
        assert is_address(origin.address)


def test_a_client_cannot_put_an_address_before_its_own() -> None:
    origin, _ = asked(PROXY, x_forwarded_for="127.0.0.1, 198.51.100.7")
    assert origin.address == "198.51.100.7"
    assert not origin.local


def test_what_a_trusted_proxy_passes_on_is_never_local() -> None:
    assert not asked(PROXY, x_forwarded_for="127.0.0.1")[0].local
    assert asked(PROXY)[0].address == PROXY


@pytest.mark.parametrize("host", ['"><script>', "a b", "[::1", "x" * 300, ""])
def test_a_host_that_is_none_is_not_taken_from_a_proxy(host: str) -> None:
    assert dict(asked(PROXY, x_forwarded_host=host)[1]["headers"])[b"host"] == b"rig:8317"


@pytest.mark.parametrize("path", ["/panel", "/football/panel"])
def test_the_prefix_is_there_once_whether_or_not_the_proxy_leaves_it(path: str) -> None:
    _, scope = asked(PROXY, path, "/football")
    assert (scope["path"], scope["root_path"], own_path(scope)) == ("/football/panel", "/football", "/panel")
    _, scope = asked(PROXY, path, x_forwarded_prefix="/football/")
    assert scope["path"] == "/football/panel"


def test_an_address_like_the_prefix_is_not_under_it() -> None:
    assert asked(PROXY, "/footballs", "/football")[1]["path"] == "/football/footballs"


@pytest.mark.parametrize("prefix", ["//evil.example", "/a/../b", "football", "/a?b", '/"x'])
def test_a_prefix_with_a_meaning_of_its_own_is_ignored(prefix: str) -> None:
    assert asked(PROXY, x_forwarded_prefix=prefix)[1]["root_path"] == ""


@pytest.mark.parametrize(
    ("address", "plain", "loopback"),
    [
        ("::ffff:127.0.0.1", "127.0.0.1", True),
        ("::ffff:192.168.1.5", "192.168.1.5", False),
        ("fe80::1%eth0", "fe80::1", False),
        ("::1", "::1", True),
        ("127.8.8.8", "127.8.8.8", True),
        ("testclient", "testclient", False),
    ],
)
def test_one_client_has_one_address(address: str, plain: str, loopback: bool) -> None:
    assert (plain_address(address), is_loopback(address)) == (plain, loopback)
