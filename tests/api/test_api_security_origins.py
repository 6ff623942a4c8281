"""Pages of other websites: those that are allowed read with a key, and nothing else."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, expect

from downfield.api.security.access import AccessPolicy
from downfield.core.platform.clock import RUN_CLOCK

PAGE = (Path(__file__).parents[2] / "docs" / "own-overlay.md").read_text()


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def website(tmp_path: Path) -> Iterator[str]:
    """Return the address of a website on another port, with the overlay of the documents."""
    found = re.search(r"```html\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "overlay.html").write_text(found[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(tmp_path / "site")))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def service(tmp_path: Path, website: str) -> Iterator[PageServer]:
    running = PageServer(tmp_path, AccessPolicy(origins=(website,)))
    running.start()
    yield running
    running.stop()


def test_an_overlay_on_another_port_shows_the_game(chrome: Browser, service: PageServer, website: str) -> None:
    token, _ = service.token_store.issue("my overlay", "viewer", 30)
    with page_in(chrome) as page:
        page.goto(f"{website}/overlay.html?rig={service.url}&key={token}")
        expect(page.locator("#line")).to_contain_text("OAK 0, RIV 0: ")
        expect(page.locator("#line")).not_to_have_class("old")
        service.publish("game", situation="3rd & 2 at H 44")
        expect(page.locator("#line")).to_contain_text("3rd & 2 at H 44")
        script = "async ([rig, key]) => (await (await fetch(`${rig}/api/game?key=${key}`)).json()).situation"
        assert page.evaluate(script, [service.url, token])
        refused = "async (rig) => { try { return (await fetch(`${rig}/api/game`)).status } catch { return 'failed' } }"
        assert page.evaluate(refused, service.url) == 401, "without a key even this computer is nobody"


def test_who_is_allowed_reads_with_a_key_and_changes_nothing(service: PageServer, website: str) -> None:
    token, _ = service.token_store.issue("my overlay", "operator", 30)
    bearer, here = {"Authorization": f"Bearer {token}"}, {"Origin": website, "Sec-Fetch-Site": "same-site"}
    answer = httpx.get(f"{service.url}/api/game", headers={**here, **bearer})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, website)
    asked = httpx.options(f"{service.url}/api/game", headers={**here, "Access-Control-Request-Method": "GET"})
    assert (asked.status_code, asked.headers["access-control-allow-methods"]) == (204, "GET, HEAD")
    change = httpx.post(f"{service.url}/api/games", headers={**here, **bearer}, json={})
    assert change.status_code == 403
    assert "another website" in change.json()["detail"]
    stranger = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert "access-control-allow-origin" not in httpx.get(f"{service.url}/api/game", headers=stranger).headers


def test_a_token_of_a_program_has_a_role_an_end_and_a_successor(service: PageServer) -> None:
    made = httpx.post(f"{service.url}/api/devices", json={"name": "score bot", "role": "operator", "days": 2}).json()
    (device,) = httpx.get(f"{service.url}/api/devices").json()
    assert (device["name"], device["role"]) == ("score bot", "operator")
    assert 1.9 < (device["expires_ms"] - RUN_CLOCK.now_ms()) / 86_400_000 < 2.1
    renewed = httpx.post(f"{service.url}/api/devices/{made['id']}/token").json()
    assert renewed["token"] != made["token"]
    tokens = (made["token"], renewed["token"])
    statuses = [
        httpx.get(f"{service.url}/api/game", headers={"Authorization": f"Bearer {token}"}).status_code
        for token in tokens
    ]
    assert statuses == [401, 200], "the token before is nobody's now"
    assert httpx.post(f"{service.url}/api/devices/0123456789ab/token").status_code == 404
    assert httpx.post(f"{service.url}/api/devices", json={"role": "admin"}).status_code == 422
