"""Pages and their files: nothing from other servers, nothing stale, nothing outside the folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from browsers import PageServer
from bundled import bundled_overlays
from waiting import WAIT_S

from downfield.api.routes.pages import PAGES, assets, overlay_pages, pages

PATHS = (*(page.path for page in PAGES), *(f"/overlay/{name}" for name in bundled_overlays()))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    running = PageServer(tmp_path_factory.mktemp("pages"))
    running.start()
    with httpx.Client(base_url=running.url, timeout=WAIT_S) as client:
        yield client
    running.stop()


@pytest.mark.parametrize("path", PATHS)
def test_every_page_has_a_policy_that_allows_only_this_server(service: httpx.Client, path: str) -> None:
    answer = service.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-cache"


def test_an_unchanged_file_is_not_sent_again(service: httpx.Client) -> None:
    first = service.get("/assets/feed.js")
    again = service.get("/assets/feed.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_other_websites_may_load_only_the_icon(service: httpx.Client) -> None:
    policy = "cross-origin-resource-policy"
    assert service.get("/assets/icon.svg").headers[policy] == "cross-origin"
    assert service.get("/assets/feed.js").headers[policy] == "same-origin"


def test_an_unknown_overlay_is_answered_with_a_list(service: httpx.Client) -> None:
    answer = service.get("/overlay/scoreboard")
    assert answer.status_code == 404
    detail = answer.json()["detail"]
    assert "The overlays are " in detail
    assert set(bundled_overlays()) <= set(re.findall(r"[\w-]+", detail)), detail


@pytest.mark.parametrize("name", ["none.js", "..%2fpanel.html", "%2e%2e/app.py"])
def test_no_file_outside_the_folder_is_served(service: httpx.Client, name: str) -> None:
    assert service.get(f"/assets/{name}").status_code == 404


def test_pages_load_only_existing_files_of_this_server() -> None:
    ours = {name: file for name, file in overlay_pages().items() if Path(name).stem in bundled_overlays()}
    for name, file in {**pages(), **ours, **assets()}.items():
        if Path(name).suffix not in {".html", ".css", ".js"} or name == "overlay.html":  # what overlays are made from
            continue
        text = file.content.decode()
        for part in re.findall(r"""(?:assets/|from "\./|(?:src:|import) url\(")([\w.-]+)""", text):
            assert part in assets(), f"{name} loads {part}"
        loading = re.sub(r"<code>[^<]*</code>", "", text)  # an address that people are shown is not loaded
        external = set(re.findall(r"https?://\w[^\s\"'`)]+", loading)) - {"http://www.w3.org/2000/svg"}
        assert external == set(), name
