"""Measuring, saving and ruling beside the frames of a call in a real browser, and what the page says of problems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import cv2
import httpx
import numpy as np
import pytest
from browsers import browser, page_in
from call_pages import open_call, played_rig, shown_frame, tackle_of, wait_for_picture
from playwright.sync_api import Browser, Page, Route, expect
from waiting import WAIT_S


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with played_rig(tmp_path_factory.mktemp("rig"), until_s=11.0) as address:  # with the tackle, its last call
        yield address


@pytest.fixture(scope="module")
def tackle(url: str) -> dict[str, Any]:
    return tackle_of(url)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def phone(chrome: Browser) -> Iterator[Page]:
    with page_in(chrome, phone=True) as page:
        yield page


def test_a_call_on_the_panel_links_to_its_frames_and_back(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    phone.goto(f"{url}/panel")
    call = phone.locator("#calls .call", has_text="tackled")
    call.locator("summary", has_text="Details").tap()
    call.get_by_role("link", name=re.compile("^Frames: .*tackled")).tap()
    phone.wait_for_url("**/evidence?**")
    expect(phone.locator("#call .text")).to_have_text("Home 28 tackled by Away 24")
    expect(phone.locator("#call .words")).to_have_text(tackle["words"], ignore_case=True)
    expect(phone.locator("#call .details")).to_contain_text(tackle["measured"])
    wait_for_picture(phone)
    phone.get_by_role("link", name="‹ Panel").tap()
    phone.wait_for_url("**/panel")


def test_a_base_is_measured_to_a_tenth_of_a_millimeter_from_above_and_as_the_camera_sees_it(
    chrome: Browser, url: str, tackle: dict[str, Any]
) -> None:
    with page_in(chrome) as page:
        decisive = open_call(page, url, tackle["id"])
        frames = httpx.get(f"{url}/api/games/current/calls/{tackle['id']}/frames/drawings", timeout=WAIT_S).json()[
            "frames"
        ]
        drawn = next(one for one in frames if one["frame"] == decisive)["figures"]
        front_left, front_right = (
            np.array(next(one for one in drawn if one["id"] == "dark-28")["mm"])[i] for i in (0, 1)
        )
        truth_mm = float(np.linalg.norm(front_left - front_right))
        outline = page.locator("#drawing polygon.first")
        wait_for_picture(page)
        expect(page.locator("#use-ruler")).to_be_enabled()  # from then on there is a view from above
        for key in ("v", "z"):  # from above, close up
            page.keyboard.press(key)
            expect(page.locator("#drawing .scale" if key == "v" else "#picture.zoomed")).to_have_count(1)
            expect(outline).to_have_count(1)
        page.keyboard.press("r")
        box = page.locator("#drawing").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.wheel(0, 320)  # so that the whole base is in view
        page.wait_for_function("() => document.getElementById('frame').style.transform.match(/scale\\((\\d)/)?.[1] < 4")
        corners = [pair.split(",") for pair in (outline.get_attribute("points") or "").split(" ")[:2]]
        for x, y in corners:
            page.mouse.click(box["x"] + float(x), box["y"] + float(y))
        expect(page.locator("#measured")).to_contain_text("mm ·")
        shown = re.match(r"([\d.]+) mm", page.locator("#measured").text_content() or "")
        assert shown is not None
        assert float(shown[1]) == pytest.approx(truth_mm, abs=0.1)
        page.get_by_role("button", name="Camera").click()  # the points stay on the board
        expect(page.locator("#drawing .scale")).to_have_count(0)
        expect(page.locator("#measured")).to_contain_text(f"{shown[1]} mm")
        page.get_by_label("Paint").check()  # nearer to the camera's foot, so what is seen there is larger
        expect(page.locator("#measured")).not_to_contain_text(f"{shown[1]} mm")


def test_a_clip_and_the_view_are_saved_under_names_that_say_what_they_are(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    open_call(phone, url, tackle["id"])
    expect(phone.locator("#drawing polygon.first")).to_have_count(1)
    with phone.expect_download(timeout=180_000) as saved:
        phone.get_by_role("button", name="GIF").tap()
    assert re.fullmatch(
        r"downfield_[0-9a-f-]+_play1_tackle-dark-28-light-24_1s_0\.25x\.gif", saved.value.suggested_filename
    )
    assert saved.value.path().read_bytes().startswith(b"GIF89a")
    expect(phone.locator("#export-state")).to_be_hidden()
    with phone.expect_download() as saved:
        phone.get_by_role("button", name="This picture").tap()
    assert saved.value.suggested_filename.endswith(".png")
    image = cv2.imdecode(np.frombuffer(saved.value.path().read_bytes(), np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape[1] >= 1900  # the picture's own resolution
    yellow = (image[..., 0] < 110) & (image[..., 1] > 190) & (image[..., 2] > 220)
    assert yellow.sum() > 50  # the outline is drawn
    phone.route("**/clip.mp4?*", lambda route: route.fulfill(status=503, json={"detail": "3 clips are being made"}))
    phone.get_by_role("button", name="Video").tap()
    expect(phone.locator("#export-state")).to_have_text("3 clips are being made")


def test_calls_are_gone_through_and_ruled_on_in_place(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    calls = [call["id"] for call in httpx.get(f"{url}/api/calls", timeout=WAIT_S).json()]
    first, before = calls[calls.index(tackle["id"]) - 2 : calls.index(tackle["id"])]
    open_call(phone, url, first)
    phone.get_by_role("link", name="Next call").tap()
    phone.wait_for_url(lambda address: first not in address)
    expect(phone.get_by_role("link", name="Previous call")).to_be_visible()
    assert parse_qs(urlsplit(phone.url).query)["call"] == [before]
    open_call(phone, url, tackle["id"])
    phone.get_by_role("button", name=re.compile("^Confirm")).tap()
    expect(phone.locator("#call .tag")).to_have_text("Confirmed")
    phone.get_by_role("button", name="Undo this ruling").tap()
    expect(phone.locator("#call .tag")).to_have_text("Call")


def test_a_refused_ruling_says_why(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    phone.route("**/rulings", lambda route: route.fulfill(status=409, json={"detail": "the game is over"}))
    phone.get_by_role("button", name=re.compile("^Confirm")).tap()
    expect(phone.locator("#notice")).to_have_text("The game is over")


def test_a_ruling_on_a_game_that_is_over_goes_to_that_game(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    phone.route(re.compile(r"/api/games/[^/]+$"), lambda route: route.fulfill(json={"standing": "reopened"}))
    open_call(phone, url, tackle["id"])
    expect(phone.locator("#back")).to_have_text("‹ Game")
    game = parse_qs(urlsplit(phone.url).query)["game"][0]
    with phone.expect_response("**/rulings") as answered:
        phone.get_by_role("button", name=re.compile("^Confirm")).tap()
    assert f"/api/games/{game}/calls/tackle" in answered.value.url
    expect(phone.locator("#notice")).to_have_text(answered.value.json()["detail"], ignore_case=True)


def test_a_call_without_frames_is_shown_and_ruled_on_all_the_same(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    gone = {"detail": "nothing was recorded then", "code": "not_recorded"}
    phone.route(re.compile(r"/frames$"), lambda route: route.fulfill(status=404, json=gone))
    phone.goto(f"{url}/evidence?call={tackle['id']}")
    expect(phone.locator("#message")).to_have_text("nothing was recorded then", ignore_case=True)
    expect(phone.locator("#call .text")).to_have_text("Home 28 tackled by Away 24")
    expect(phone.get_by_role("link", name="Previous call")).to_be_visible()
    expect(phone.get_by_role("button", name="Next frame")).to_be_hidden()
    phone.keyboard.press("b")  # before and after what is not there
    phone.get_by_role("button", name=re.compile("^Confirm")).tap()
    expect(phone.locator("#call .tag")).to_have_text("Confirmed")
    phone.get_by_role("button", name="Undo this ruling").tap()
    expect(phone.locator("#call .tag")).to_have_text("Call")
    expect(phone.locator("#notice")).to_be_hidden()


def test_a_fault_of_the_page_itself_is_not_blamed_on_the_rig(chrome: Browser, url: str, tackle: dict[str, Any]) -> None:
    page = chrome.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(error.message))
    pictures: list[Route] = []
    page.route("**/frames/drawings*", lambda route: route.fulfill(json={}))
    page.route("**/frames/*.jpg*", lambda route: pictures.append(route))
    page.goto(f"{url}/evidence?call={tackle['id']}")
    expect(page.locator("#message")).to_contain_text("This page has a fault: ")
    assert faults, "the browser was not informed of it"
    page.unroute("**/frames/*.jpg*")
    for picture in pictures:
        picture.continue_()
    wait_for_picture(page)
    expect(page.locator("#message")).to_contain_text("This page has a fault: ")  # the picture came later
    page.unroute("**/frames/drawings*")
    page.route("**/frames/drawings*", lambda route: route.abort())
    page.reload()
    expect(page.locator("#calibration")).to_have_text("The rig does not answer. Trying again…")
    expect(page.locator("#message")).to_be_hidden()
    page.close()


def test_a_missing_frame_is_reported_and_the_page_goes_on(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    phone.goto(f"{url}/evidence?call=none")
    expect(phone.locator("#message")).to_have_text("No call of this game has that id.")
    decisive = open_call(phone, url, tackle["id"])

    def lost(route: Route) -> None:
        problem = {"title": "There is no such thing", "detail": "that picture is broken"}
        route.fulfill(status=404, json=problem, content_type="application/problem+json")

    phone.route(f"**/{decisive + 4}.jpg?plain", lost)
    for _ in range(4):
        phone.get_by_role("button", name="Next frame").tap()
    expect(phone.locator("#message")).to_have_text("That picture is broken")
    phone.get_by_role("button", name="Next frame").tap()
    expect(phone.locator("#message")).to_be_hidden()
    assert shown_frame(phone) == decisive + 5


def test_a_busy_service_is_retried(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    tries: list[str] = []

    def busy_once(route: Route) -> None:
        tries.append(route.request.url)
        if len(tries) == 1:
            route.fulfill(status=503, headers={"Retry-After": "0"}, json={"detail": "busy"})
        else:
            route.continue_()

    phone.route("**/*.jpg?plain", busy_once)
    open_call(phone, url, tackle["id"])
    assert tries[0] == tries[1]


def test_every_control_has_a_name_and_room_for_a_thumb(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    found = phone.evaluate(
        """() => [...document.querySelectorAll("button, a, input")]
            .filter((control) => control.checkVisibility() && !["checkbox", "radio"].includes(control.type))
            .map((control) => {
                const { width, height } = control.getBoundingClientRect();
                const label = control.labels?.[0]?.textContent || control.textContent;
                const named = control.getAttribute("aria-label") ?? label;
                return { name: named.trim(), small: Math.min(width, height) < 44 };
            })"""
    )
    assert [control for control in found if not control["name"] or control["small"]] == []
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
