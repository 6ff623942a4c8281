"""How pages and their parts are served: nothing from elsewhere, nothing stale, nothing outside the folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from browsers import Service

from downfield.api.routes.pages import OVERLAYS, PAGES, assets, pages

PATHS = (*PAGES, *(f"/overlay/{name}" for name in OVERLAYS))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    one = Service(tmp_path_factory.mktemp("pages"))
    one.start()
    with httpx.Client(base_url=one.url) as client:
        yield client
    one.stop()


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_served_with_a_policy_that_keeps_it_at_home(service: httpx.Client, path: str) -> None:
    answer = service.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-cache"


def test_what_has_not_changed_is_not_sent_again(service: httpx.Client) -> None:
    first = service.get("/assets/feed.js")
    again = service.get("/assets/feed.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_only_the_icon_may_be_loaded_by_a_page_from_elsewhere(service: httpx.Client) -> None:
    policy = "cross-origin-resource-policy"
    assert service.get("/assets/icon.svg").headers[policy] == "cross-origin"
    assert service.get("/assets/feed.js").headers[policy] == "same-origin"


def test_an_unknown_overlay_is_told_which_there_are(service: httpx.Client) -> None:
    answer = service.get("/overlay/scoreboard")
    assert answer.status_code == 404
    assert "there are calls, field, scorebug" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["none.js", "..%2fpanel.html", "%2e%2e/app.py"])
def test_nothing_outside_the_folder_is_served(service: httpx.Client, name: str) -> None:
    assert service.get(f"/assets/{name}").status_code == 404


def test_pages_load_only_what_is_there_and_nothing_from_elsewhere() -> None:
    for name, one in {**pages(), **assets()}.items():
        if Path(name).suffix not in {".html", ".css", ".js"}:
            continue
        text = one.content.decode()
        for part in re.findall(r"/assets/([\w.-]+)", text):
            assert part in assets(), f"{name} loads {part}"
        elsewhere = set(re.findall(r"https?://[^\s\"'`)]+", text)) - {"http://www.w3.org/2000/svg"}
        assert elsewhere == set(), name
