"""The frames of a call in a real browser, on a phone, from a real rig that has played the bundled recording."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from browsers import browser, page_in
from playwright.sync_api import Browser, Page, Route, expect

from downfield.rig.configuration.loading import load
from downfield.rig.recording.recorded_clip import bundled_demo
from downfield.rig.rig import Rig


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a rig that has played the bundled recording to its end."""
    folder = tmp_path_factory.mktemp("rig")
    given = {"source.name": str(bundled_demo()), "service.port": 0, "data": str(folder)}
    rig = Rig(load(environment={}, command_line=given), folder, paced=False)
    rig.play()
    yield rig.address.rstrip("/")
    rig.close()


@pytest.fixture(scope="module")
def tackle(url: str) -> dict[str, Any]:
    found: dict[str, Any] = next(call for call in httpx.get(f"{url}/api/calls").json() if call["kind"] == "tackle")
    return found


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def phone(chrome: Browser) -> Iterator[Page]:
    with page_in(chrome, phone=True) as page:
        yield page


def open_call(phone: Page, url: str, call: str) -> int:
    """Open a call's frames; return the frame that is shown first."""
    phone.goto(f"{url}/evidence?call={call}")
    expect(phone.locator("#position small")).to_contain_text("decisive")
    wait_for_picture(phone)
    return int(phone.locator("#frame").get_attribute("data-frame") or -1)


def wait_for_picture(phone: Page) -> None:
    """Wait until the picture of the named frame is loaded."""
    phone.wait_for_function(
        """() => {
            const picture = document.getElementById("frame");
            const named = document.querySelector("#position")?.textContent ?? "";
            return picture.naturalWidth === 1920 && named.startsWith(`Frame ${picture.dataset.frame}`)
                && document.getElementById("picture").ariaBusy === "false";
        }"""
    )


def shown_frame(phone: Page) -> int:
    wait_for_picture(phone)
    return int(phone.locator("#frame").get_attribute("data-frame") or -1)


def scale(phone: Page) -> float:
    return float(phone.evaluate("new DOMMatrix(getComputedStyle(document.getElementById('frame')).transform).a"))


def test_a_call_on_the_panel_links_to_its_frames_and_back(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    phone.goto(f"{url}/panel")
    call = phone.locator("#calls .call", has_text="tackled")
    call.locator("summary").tap()
    call.get_by_role("link", name=re.compile("^Frames: .*tackled")).tap()
    phone.wait_for_url("**/evidence?**")
    expect(phone.locator("#call .text")).to_have_text("Dark 28 tackled by light 24")
    expect(phone.locator("#call .words")).to_have_text(tackle["words"], ignore_case=True)
    expect(phone.locator("#call .details")).to_contain_text(tackle["measured"])
    wait_for_picture(phone)
    phone.get_by_role("link", name="‹ Panel").tap()
    phone.wait_for_url("**/panel")


def test_frames_are_stepped_through_and_one_tap_shows_the_decisive_frame(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    decisive = open_call(phone, url, tackle["id"])
    assert abs(decisive * 1_000_000_000 // 30 - tackle["t_ns"]) <= 1_000_000_000 // 60 + 1
    expect(phone.locator("#measurement")).to_have_text(re.compile(r"This frame: 1\.53 mm apart"))
    phone.get_by_role("button", name="Next frame").tap()
    assert shown_frame(phone) == decisive + 1
    expect(phone.locator("#position small")).to_have_text("+24 ms")
    expect(phone.locator("#measurement")).to_contain_text("touching by all frames so far: 100 %")
    for _ in range(3):
        phone.get_by_role("button", name="Previous frame").tap()
    assert shown_frame(phone) == decisive - 2
    phone.get_by_role("button", name="Decisive").tap()
    assert shown_frame(phone) == decisive
    phone.keyboard.press("ArrowRight")
    assert shown_frame(phone) == decisive + 1
    phone.locator("#timeline").fill("0")
    expect(phone.get_by_role("button", name="Previous frame")).to_be_disabled()
    assert shown_frame(phone) < decisive - 40


def test_the_measurement_can_be_hidden(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    with phone.expect_response(lambda response: response.url.endswith(".jpg?plain")) as received:
        phone.get_by_label("Show the measurement").uncheck()
    assert received.value.headers["content-type"] == "image/jpeg"
    wait_for_picture(phone)


def test_a_tap_zooms_and_the_view_stays_from_frame_to_frame(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    box = phone.locator("#picture").bounding_box()
    assert box is not None
    phone.touchscreen.tap(box["x"] + 0.4 * box["width"], box["y"] + 0.3 * box["height"])
    phone.wait_for_selector("#picture.zoomed")
    # The zoom is animated.
    phone.wait_for_function(
        "() => new DOMMatrix(getComputedStyle(document.getElementById('frame')).transform).a > 3"
        " && document.getAnimations().every((animation) => animation.playState !== 'running')"
    )
    near = scale(phone)
    phone.get_by_role("button", name="Next frame").tap()
    wait_for_picture(phone)
    assert scale(phone) == near
    phone.touchscreen.tap(box["x"] + 100, box["y"] + 100)
    expect(phone.locator("#picture.zoomed")).to_have_count(0)
    expect(phone.locator("#frame")).to_have_css("transform", "matrix(1, 0, 0, 1, 0, 0)")


def test_two_fingers_zoom(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    box = phone.locator("#picture").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    hand = phone.context.new_cdp_session(phone)
    for kind, apart in (("touchStart", 20), ("touchMove", 40), ("touchMove", 60), ("touchEnd", None)):
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    phone.wait_for_function(
        "() => Math.abs(new DOMMatrix(getComputedStyle(document.getElementById('frame')).transform).a - 3) < 0.2"
    )


def test_a_missing_frame_is_reported_and_the_page_goes_on(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    phone.goto(f"{url}/evidence?call=none")
    expect(phone.locator("#message")).to_have_text("No call of this game has that id.")
    decisive = open_call(phone, url, tackle["id"])

    def lost(route: Route) -> None:
        problem = {"title": "There is no such thing", "detail": "that picture is broken"}
        route.fulfill(status=404, json=problem, content_type="application/problem+json")

    phone.route(f"**/{decisive + 4}.jpg", lost)
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

    phone.route("**/*.jpg", busy_once)
    open_call(phone, url, tackle["id"])
    assert tries[0] == tries[1]


def test_every_control_has_a_name_and_room_for_a_thumb(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    found = phone.evaluate(
        """() => [...document.querySelectorAll("button, a, input")]
            .filter((control) => control.checkVisibility() && control.type !== "checkbox")
            .map((control) => {
                const { width, height } = control.getBoundingClientRect();
                const label = control.labels?.[0]?.textContent || control.textContent;
                const named = control.getAttribute("aria-label") ?? label;
                return { name: named.trim(), small: Math.min(width, height) < 44 };
            })"""
    )
    assert [control for control in found if not control["name"] or control["small"]] == []
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
