"""Behind a reverse proxy's path every page loads all it needs, and makes links, from under that path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, expect

from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits

PREFIX = "/football"
MANY = RateLimits(RateLimit(1e6, 10**6), RateLimit(1e6, 10**6), RateLimit(1e6, 10**6))


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    running = PageServer(tmp_path_factory.mktemp("service"), AccessPolicy(prefix=PREFIX, limits=MANY))
    running.start()
    yield running
    running.stop()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/panel",
        "/camera",
        "/pair",
        "/games",
        "/game",
        "/evidence",
        "/overlay/scorebug",
        "/overlay/calls",
        "/overlay/field",
    ],
)
def test_a_page_loads_everything_from_under_the_prefix(chrome: Browser, service: PageServer, path: str) -> None:
    with page_in(chrome) as page:
        asked: list[tuple[str, int]] = []
        page.on("response", lambda answer: asked.append((urlsplit(answer.url).path, answer.status)))
        page.on("websocket", lambda socket: asked.append((urlsplit(socket.url).path, 101)))
        page.goto(f"{service.url}{PREFIX}{path}")
        if path.startswith("/overlay/") or path == "/panel":
            expect(page.locator("html")).to_have_attribute("data-link", "live")
        page.wait_for_load_state("load")
        assert len(asked) > 3
        # Nothing is shown before the first picture: the camera's picture is not there yet.
        missing = [(url, status) for url, status in asked if status >= 400 and "camera." not in url]
        assert missing == [], "a file or an endpoint was not found"
        assert [url for url, _ in asked if not url.startswith(f"{PREFIX}/")] == []


def test_the_start_page_shows_addresses_and_links_under_the_prefix(chrome: Browser, service: PageServer) -> None:
    with page_in(chrome) as page:
        page.goto(f"{service.url}{PREFIX}/")
        address = page.get_by_label("Address").first
        expect(address).to_have_value(f"{service.url}{PREFIX}/overlay/scene")
        targets = page.eval_on_selector_all("a[href]", "links => links.map((link) => link.href)")
        assert targets
        assert [target for target in targets if not target.startswith(f"{service.url}{PREFIX}/")] == []


def test_no_file_names_another_by_an_absolute_path() -> None:
    """Such a path would miss the prefix."""
    for file in (Path(__file__).parents[2] / "api" / "pages").rglob("*.[hjc][ts]*"):
        text = file.read_text()
        for start in ('"/', "`/", "'/", "(/"):
            found = [text[at : at + 30] for at in range(len(text)) if text.startswith(start, at)]
            assert [part for part in found if part[2].isalpha()] == [], file.name
