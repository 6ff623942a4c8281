"""Guessing pairing codes is limited for whoever holds an address or a network, and costs nobody else his turn."""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from pathlib import Path

import pytest
from asgi_client import AsgiClient
from hypothesis import assume, given
from hypothesis import strategies as st
from secured_service import MANY, RIG, SecuredService

from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits
from downfield.api.security.middleware import SignInLimiter

LIMITS = RateLimits(sign_ins=RateLimit(0.2, 5), sign_ins_of_link=RateLimit(1, 20), sign_ins_of_site=RateLimit(2, 50))


def limiter(now: list[float] | None = None) -> SignInLimiter:
    clock = now or [0.0]
    return SignInLimiter(LIMITS, lambda: clock[0])


def accepted(limited: SignInLimiter, addresses: list[str]) -> int:
    return sum(limited.acquire(address) == 0 for address in addresses)


def in_one_link(count: int) -> list[str]:
    return [f"2001:db8:5:7::{number:x}" for number in range(1, count + 1)]


def in_one_site(count: int) -> list[str]:
    return [f"2001:db8:5:{number:x}::1" for number in range(count)]


def test_addresses_of_one_network_share_its_attempts() -> None:
    now = [0.0]
    assert accepted(limiter(), in_one_link(500)) == 20, "a device that changes its address guesses on"
    assert accepted(limiter(), in_one_site(500)) == 50, "a customer who changes his network guesses on"
    limited = limiter(now)
    accepted(limited, in_one_link(20))
    now[0] = 3.0
    assert accepted(limited, in_one_link(500)[20:]) == 3, "a network's attempts come back by the second"
    assert limited.acquire("2001:db8:5:7::ffff") == pytest.approx(1.0)


def test_a_network_costs_no_other_its_turn() -> None:
    limited = limiter()
    accepted(limited, in_one_site(500))
    assert limited.acquire("2001:db8:6::1") == 0
    assert limited.acquire("192.168.1.9") == 0
    assert accepted(limiter(), [f"192.168.1.{number}" for number in range(1, 255)]) == 254


def test_one_guessing_device_leaves_its_network_to_the_others() -> None:
    limited = limiter()
    assert accepted(limited, ["2001:db8:5:7::1"] * 1000) == 5
    assert accepted(limited, in_one_link(100)[1:]) == 15


@given(st.one_of(st.ip_addresses().map(str), st.text()), st.integers(0, 2**64 - 1))
def test_any_client_has_its_own_attempts_and_no_more(client: str, host: int) -> None:
    limited, beside = limiter(), str(ipaddress.IPv6Address((0x20010DB8 << 96) | host))
    assume(beside != client)
    assert accepted(limited, [client] * 9) == 5
    assert accepted(limited, [beside] * 9) == 5


def test_a_service_counts_the_clients_that_a_proxy_names_by_their_networks(tmp_path: Path) -> None:
    limits = replace(MANY, sign_ins=RateLimit(0.001, 5), sign_ins_of_link=RateLimit(0.001, 8))
    service = SecuredService(tmp_path / "a.db", AccessPolicy(lan=True, limits=limits, proxies=("10.9.9.9",)))
    proxy = AsgiClient(service.app, "10.9.9.9", RIG)

    def attempt(address: str, code: str = "AAAAAAAAAA") -> int:
        return proxy.request("POST", "/api/session", {"code": code}, x_forwarded_for=address).status

    statuses = [attempt(address) for address in in_one_link(12)]
    assert statuses == [401] * 8 + [429] * 4
    code = service.token_store.make_code("operator").code
    assert attempt("2001:db8:9::1", code) == 200, "a guest of another network could not be paired"
    service.game_service.close()
    service.store.close()
