"""The link that the rig prints makes a browser on its computer the admin's, whatever stands before the service."""

from __future__ import annotations

import asyncio
import datetime
import logging
import ssl
from pathlib import Path

import httpx
import pytest
from relayed_service import RelayedService
from waiting import WAIT_S, wait_until

from downfield.api.http.network_addresses import network_hosts
from downfield.api.security.forwarding import is_address
from downfield.rig.configuration.settings import ServiceSettings
from downfield.rig.service import web_service
from downfield.rig.service.certificate import own_certificate
from downfield.rig.service.web_service import _is_error


@pytest.mark.parametrize(
    ("settings", "has_key"),
    [
        ({}, False),
        ({"proxies": ["10.0.0.7"]}, False),
        ({"proxies": ["127.0.0.1"]}, True),
        ({"proxies": ["127.0.0.0/8"]}, True),
        ({"trust_local": False}, True),
        ({"host": "::"}, False),
        ({"host": next((host for host in network_hosts() if is_address(host)), "127.0.0.1")}, None),
    ],
)
def test_the_printed_link_makes_the_admin(tmp_path: Path, settings: dict[str, object], *, has_key: bool | None) -> None:
    served = RelayedService(tmp_path / "a.db", ServiceSettings.model_validate({"port": 0, **settings}))
    link = served.service.admin_link
    page, _, key = link.partition("pair#")
    with httpx.Client(base_url=page, timeout=WAIT_S) as browser:
        if key:
            assert browser.post("/api/session", json={"code": key}).status_code == 200
        role = browser.get("/api/session").json()["role"]
    served.end()
    assert has_key is None or bool(key) == has_key
    assert role == "admin", "whoever follows the link on the rig's own screen can do nothing"


def test_in_a_network_with_tls_what_a_page_connects_to_and_its_cookie_are_of_its_own_origin(tmp_path: Path) -> None:
    settings = {"port": 0, "tls_port": 0, "lan": True, "tls": True}
    served = RelayedService(tmp_path / "a.db", ServiceSettings.model_validate(settings))
    service, key = served.service, served.service._rig.admin_key.text
    try:
        assert service.tls_port is not None
        # Another address than the usual one: the service listens on all of this computer.
        for scheme, feed, port in (("http", "ws", service.port), ("https", "wss", service.tls_port)):
            place = f"127.0.0.2:{port}"
            with httpx.Client(base_url=f"{scheme}://{place}", verify=False, timeout=WAIT_S) as browser:
                page = browser.get("/")
                assert page.status_code == 200
                assert f"connect-src 'self' {feed}://{place};" in page.headers["content-security-policy"]
                cookie = browser.post("/api/session", json={"code": key}).headers["set-cookie"]
                assert ("; secure" in cookie.lower()) == (scheme == "https")
        # The certificate is of this computer's addresses, and a browser that is told to trust it connects.
        assert service.certificate is not None
        trusting = ssl.create_default_context(cafile=str(service.certificate.certificate))
        with httpx.Client(base_url=f"https://127.0.0.1:{service.tls_port}", verify=trusting, timeout=WAIT_S) as browser:
            assert browser.get("/healthz").status_code == 200
        with pytest.raises(httpx.ConnectError, match="certificate"):
            httpx.get(f"https://127.0.0.1:{service.tls_port}/healthz", timeout=WAIT_S)
    finally:
        served.end()


@pytest.mark.parametrize(
    ("text", "cause", "shown"),
    [
        ("Exception in ASGI application", asyncio.CancelledError("at the end"), False),
        ("Cancel 3 running task(s), timeout graceful shutdown exceeded", None, False),
        ("Exception in ASGI application", RuntimeError("a fault"), True),
    ],
)
def test_streams_that_the_end_breaks_off_are_no_errors(text: str, cause: BaseException | None, *, shown: bool) -> None:
    exception = None if cause is None else (type(cause), cause, None)
    assert _is_error(logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, text, (), exception)) is shown


def test_a_certificate_of_a_clock_that_was_wrong_at_the_start_is_exchanged_while_the_pages_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_service, "_DATES_S", 0.02)
    ahead = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=500)
    monkeypatch.setattr(web_service, "own_certificate", lambda folder, hosts: own_certificate(folder, hosts, ahead))
    settings = {"port": 0, "tls_port": 0, "lan": True, "tls": True}
    served = RelayedService(tmp_path / "a.db", ServiceSettings.model_validate(settings))
    try:
        service, first = served.service, served.service.certificate
        assert first is not None
        monkeypatch.setattr(web_service, "own_certificate", own_certificate)
        wait_until(lambda: service.certificate != first, "the clock is right now")

        def is_trusted() -> bool:
            trusting = ssl.create_default_context(cafile=str(first.certificate))
            try:
                return httpx.get(
                    f"https://127.0.0.1:{service.tls_port}/healthz", verify=trusting, timeout=WAIT_S
                ).is_success
            except httpx.ConnectError:
                return False

        wait_until(is_trusted, "what is served has today's dates")
    finally:
        served.end()
