"""The program's page in a real browser: it plays H.264, and goes on by itself after the service was away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, Page, expect
from program_camera import SIZE, NumberedCamera
from waiting import wait_until

from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.program.program_painter import ProgramMoment
from downfield.game.published.board_topics import HealthReason, HealthStatus

HAVE_CURRENT_DATA: Final = 2
"""`readyState` of a video that has a picture to show (HTML standard)."""


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
        service.stop()
        service.start()
        wait_for_more(page, 2.0)


def test_on_air_the_last_picture_stays_while_the_rig_starts_again_and_its_new_film_follows(
    chrome: Browser, service: PageServer
) -> None:
    with page_in(chrome) as page:
        page.add_init_script("window.obsstudio = {};")
        page.goto(f"{service.url}/program")
        if not plays_h264(page):
            pytest.skip("this browser has no H.264")
        wait_for_more(page, 1.0)
        film = page.evaluate("document.querySelector('video').src")
        service.stop()
        wait_until(lambda: page.evaluate("fetch('healthz').then(() => false, () => true)"))
        assert page.evaluate("document.querySelector('video').readyState") >= HAVE_CURRENT_DATA, "the picture went away"
        service.program = ProgramDrawer(ProgramMoment)  # another rig: its segments have the numbers of the first
        camera = NumberedCamera(service.program)
        try:
            service.start()
            wait_for_more(page, 2.0)
            assert page.evaluate("document.querySelector('video').src") == film, "the picture was replaced by none"
        finally:
            camera.close()
            service.program.close()


def test_a_lost_camera_s_last_picture_is_not_shown_as_live(chrome: Browser, service: PageServer) -> None:
    lost = HealthStatus(reasons=(HealthReason(code="camera_lost", level="alarm", text="The camera is lost"),))
    with page_in(chrome) as page:
        page.goto(f"{service.url}/program?air")
        if not plays_h264(page):
            pytest.skip("this browser has no H.264")
        expect(page.locator("html")).to_have_attribute("data-link", "live")
        service.publish("health", lost)
        expect(page.locator("#screen")).to_be_hidden()
        service.publish("health", HealthStatus())
        expect(page.locator("#screen")).to_be_visible()
        page.goto(f"{service.url}/program")
        service.publish("health", lost)
        expect(page.locator("#message")).to_have_text("The camera is lost: no picture is live.")


@pytest.mark.parametrize("path", ["", "camera", "panel"])
def test_pages_say_of_a_picture_that_it_is_past(chrome: Browser, service: PageServer, path: str) -> None:
    service.picture.put(cv2.imencode(".jpg", np.full((90, 160, 3), 80, np.uint8))[1].tobytes())
    with page_in(chrome) as page:
        page.goto(f"{service.url}/{path}")
        note = page.locator(".past-picture")
        expect(page.locator("img[src^=blob]")).to_be_visible()
        expect(note).to_be_hidden()
        service.publish("health", HealthStatus(reasons=(HealthReason(code="camera_lost", level="alarm", text="-"),)))
        expect(note).to_have_text("Not live: the camera is lost.")
        service.publish("health", HealthStatus())
        expect(note).to_be_hidden()
        expect(note).to_contain_text("no new picture since")  # the camera only seems to be there


def test_on_air_nothing_but_the_program_is_ever_seen(chrome: Browser, tmp_path: Path) -> None:
    drawer = ProgramDrawer(ProgramMoment)  # without a camera
    service = PageServer(tmp_path, program=drawer)
    service.start()
    try:
        with page_in(chrome) as page:
            page.goto(f"{service.url}/program?air")
            expect(page.locator("#message")).to_be_hidden()
            expect(page.locator("#screen")).to_be_hidden()
            for element in ("html", "body"):
                expect(page.locator(element)).to_have_css("background-color", "rgba(0, 0, 0, 0)")
            page.goto(f"{service.url}/program")
            expect(page.locator("#message")).to_have_text("Waiting for a picture…")
            expect(page.locator("body")).to_have_css("background-color", "rgb(0, 0, 0)")
    finally:
        service.stop()
        drawer.close()


def test_a_player_takes_what_follows_and_begins_another_take_at_its_first_key_picture(
    chrome: Browser, service: PageServer
) -> None:
    with page_in(chrome) as page:
        page.goto(f"{service.url}/program")

        def following(playlist: str, played: str, wanted: tuple[int, int] | None) -> list[str]:
            parts = [
                {"uri": uri, "map": uri[0], "number": int(uri[1]), "part": int(uri[2]), "independent": uri[2] == "0"}
                for uri in playlist.split()
            ]
            wants = None if wanted is None else {"number": wanted[0], "part": wanted[1]}
            taken = page.evaluate(
                "async ([parts, played, wants]) =>"
                " (await import('./assets/part_player.js')).following(parts, played, wants)",
                [parts, played, wants],
            )
            return [part["uri"] for part in taken]

        assert following("a40 a41 a50 a51", "", None) == ["a50", "a51"]
        assert following("a40 a41 a50 a51", "a", (4, 1)) == ["a41", "a50", "a51"]
        assert following("a40 a41", "a", (4, 2)) == []
        assert following("a41 b51 b60 b61", "a", (4, 2)) == ["b60", "b61"], "a take begins with a key picture"
        assert following("a40 b50 b51 b60", "b", (5, 1)) == ["b51", "b60"], "not the take before again"
        assert following("c40 c41 c50", "b", (4, 1)) == ["c50"], "another service's segments have the same numbers"
        assert following("c41", "b", (4, 1)) == []


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
