"""From the list of games to a ruling after the game, on a phone, on a recorded game: found, tried, ruled, compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest
from browsers import browser, page_in
from call_pages import played_rig
from playwright.sync_api import Browser, expect
from waiting import WAIT_S


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a rig on which the bundled recording was played up to its tackle, and the next game has begun."""
    with played_rig(tmp_path_factory.mktemp("rig"), until_s=11.0) as address:
        post(f"{address}/api/games", {"title": "the next one"})
        yield address


def post(address: str, body: dict[str, str]) -> None:
    headers = {"Content-Type": "application/json"}
    urlopen(Request(address, json.dumps(body).encode(), headers), timeout=WAIT_S).close()


def test_a_game_without_a_camera_has_its_calls_alone_and_requests_no_pictures(chrome: Browser, url: str) -> None:
    post(f"{url}/api/calls", {"kind": "touchback", "text": "touchback, seen by all"})
    with page_in(chrome, phone=True) as page:
        requested: list[str] = []
        page.on("request", lambda request: requested.append(request.url))
        page.goto(f"{url}/game")
        expect(page.locator("#message")).to_have_text(re.compile("^No camera was used in this game"))
        expect(page.locator("#plays .call")).to_have_count(1)
        expect(page.locator("#export-links")).not_to_contain_text("video")
        assert not [address for address in requested if address.endswith(".jpg")]
        page.locator("#plays .call a.text").tap()
        expect(page.locator("#call .text")).to_have_text("Touchback, seen by all")


def test_a_page_waits_for_a_rig_that_is_gone_or_busy_and_says_so(chrome: Browser, url: str) -> None:
    with page_in(chrome) as page:
        refusals = [lambda route: route.abort(), lambda route: route.fulfill(status=503, json={"detail": "Busy."})]
        page.route("**/plays?*", lambda route: refusals.pop(0)(route) if refusals else route.continue_())
        page.goto(f"{url}/games?standing=ended")
        page.locator("#games .game").click()
        expect(page.locator("#message")).to_have_text("The rig does not answer. Trying again…")
        expect(page.locator("#message")).to_have_text("Busy. Trying again…")
        expect(page.locator("#plays .play").first).to_be_visible()
        expect(page.locator("#message")).to_have_text("")


def test_a_call_is_found_ruled_on_after_the_game_and_compared(chrome: Browser, url: str) -> None:
    with page_in(chrome, phone=True) as page:
        page.goto(f"{url}/games?standing=ended")
        expect(page.locator("#games .game .facts")).to_contain_text("Tudor Advanced Play (Tudor-Con)")
        page.locator("#games .game").tap()
        expect(page.locator("#summary")).to_contain_text("Tudor Advanced Play (Tudor-Con)")
        expect(page.locator("#plays .result").first).to_have_text(re.compile("^Tackled by Away 24, gain of "))
        page.locator("#filters summary").tap()
        page.get_by_label("Player").fill("dark 28")
        page.locator("[name=kind]").select_option("tackle")
        expect(page.locator("#message")).to_have_text("1 play found.")
        tackle = page.locator("#plays .call")
        expect(tackle).to_have_count(1)
        expect(tackle.locator("img")).to_be_visible()
        assert "player=dark+28" in page.url
        page.locator("#desk summary").tap()
        page.locator("#desk [name=reason]").fill("on the film")
        page.get_by_role("button", name="Reopen").tap()
        tackle.get_by_role("button", name="Rule on this call").tap()
        page.locator("dialog label", has_text="Remove").tap()
        expect(page.locator("dialog .changes")).to_contain_text("No longer called: dark 28 tackled by light 24")
        page.locator("dialog textarea").fill("no contact")
        page.get_by_role("button", name="Make this ruling").tap()
        expect(page.locator("#plays .call.struck")).to_contain_text("no contact")
        page.get_by_role("button", name="Close this game").tap()
        expect(page.locator("#standing")).to_have_text("Final")
        expect(page.locator("#audit li")).to_contain_text(["Ended", "Reopened: on the film", "Ruling", "Closed"])
        page.locator("#what-if > summary").tap()
        page.locator("#what-if [name=rulebook]").select_option("efl")
        page.get_by_role("button", name="Compare").tap()
        expect(page.locator(".what-if .head")).to_contain_text("Gunderson")
