"""The guided tour, in a real browser: offered beside a recording, not beside a table in play."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import PHONE, PageServer, browser, page_in
from playwright.sync_api import Browser, expect
from waiting import wait_until

from downfield.game.published.board_topics import SourceStatus

TOP_PX = "element => element.getBoundingClientRect().top"


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    running = PageServer(tmp_path_factory.mktemp("service"))
    running.start()
    yield running
    running.stop()


def publish_source(service: PageServer, *, live: bool) -> None:
    service.game_service.publish_source(SourceStatus(kind="clip", name="demo", text="demo.mp4", live=live))


def test_every_part_of_the_start_page_is_explained_and_it_goes_on_at_the_panel(
    service: PageServer, chrome: Browser
) -> None:
    publish_source(service, live=False)
    with page_in(chrome, phone=True) as page:
        page.goto(f"{service.url}/")
        tour = page.get_by_role("dialog", name="Tour of this page")

        def is_whole() -> bool:
            page.get_by_role("button", name="Take the tour").dispatch_event("click")
            return "1 of 8" in tour.inner_text()

        wait_until(is_whole, "not every part of the page has come")
        for step in range(1, 8):
            expect(tour).to_contain_text(f"{step} of 8")
            expect(page.locator(".tour-target")).to_have_count(1)
            assert 0 <= page.locator(".tour-target").evaluate(TOP_PX) < PHONE["height"] / 2, step
            tour.get_by_role("button", name="Next").tap()
        tour.get_by_role("link", name="Go on at the panel").tap()
        expect(tour).to_contain_text("1 of")
        page.keyboard.press("ArrowRight")
        expect(tour).to_contain_text("2 of")
        page.keyboard.press("Escape")
        expect(tour).to_have_count(0)
        expect(page.locator(".tour-target")).to_have_count(0)


def test_nothing_is_offered_beside_a_table_in_play(service: PageServer, chrome: Browser) -> None:
    publish_source(service, live=True)
    with page_in(chrome) as page:
        page.goto(f"{service.url}/")
        expect(page.locator("#source")).to_have_text("demo.mp4")
        expect(page.get_by_role("button", name="Take the tour")).to_be_hidden()
