"""The program's page in a real browser: it plays H.264, and goes on by itself after the service was away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, Page, expect
from program_camera import SIZE, NumberedCamera
from waiting import wait_until

from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.program.program_painter import ProgramMoment


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def drawer() -> Iterator[ProgramDrawer]:
    made = ProgramDrawer(ProgramMoment)
    camera = NumberedCamera(made)
    yield made
    camera.close()
    made.close()


@pytest.fixture
def service(drawer: ProgramDrawer, tmp_path: Path) -> Iterator[PageServer]:
    running = PageServer(tmp_path, program=drawer)
    running.start()
    yield running
    running.stop()


def until(page: Page, holds: str) -> None:
    """Wait until an expression holds in the page, whose policy forbids Playwright's own way of waiting."""
    wait_until(lambda: page.evaluate(f"() => {holds}"), lambda: f"{holds}; {page.locator('body').inner_html()}")


def wait_for_more(page: Page, seconds: float) -> None:
    """Wait until so much more was shown, and the picture is that of the camera."""
    shown_s = page.evaluate("document.querySelector('video').currentTime")
    until(page, f"document.querySelector('video').currentTime > {shown_s + seconds}")
    width, height = page.evaluate(
        "[document.querySelector('video').videoWidth, document.querySelector('video').videoHeight]"
    )
    assert (width, height) == SIZE


def plays_h264(page: Page) -> bool:
    return bool(page.evaluate("MediaSource.isTypeSupported('video/mp4; codecs=\"avc1.42c028\"')"))


def test_the_film_plays_and_goes_on_after_the_service_was_away(chrome: Browser, service: PageServer) -> None:
    with page_in(chrome) as page:
        page.goto(f"{service.url}/program")
        if not plays_h264(page):
            pytest.skip("this browser has no H.264")
        expect(page.locator("#message")).to_be_hidden()
        wait_for_more(page, 1.0)
        before = page.evaluate("document.querySelector('video').src")
        service.stop()
        service.start()
        until(page, f"document.querySelector('video').src !== '{before}'")
        until(page, "document.querySelector('video').currentTime > 0.5")
        wait_for_more(page, 1.0)


def test_a_browser_without_h264_gets_pictures(chrome: Browser, service: PageServer) -> None:
    with page_in(chrome) as page:
        page.add_init_script("delete window.MediaSource; delete window.ManagedMediaSource;")
        page.add_init_script("HTMLMediaElement.prototype.canPlayType = () => '';")
        page.goto(f"{service.url}/program", wait_until="commit")
        until(page, f"document.querySelector('img')?.naturalWidth === {SIZE[0]}")
        assert page.locator("video").count() == 0


def test_a_player_asks_only_for_parts_that_follow(chrome: Browser, service: PageServer) -> None:
    with page_in(chrome) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if request.url.endswith(".m4s") else None)
        page.goto(f"{service.url}/program")
        if not plays_h264(page):
            pytest.skip("this browser has no H.264")
        until(page, "document.querySelector('video').currentTime > 1")
        assert len(asked) == len(set(asked)) > 2
