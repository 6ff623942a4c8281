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
from downfield.rig.recording.clip import bundled_demo
from downfield.rig.rig import Rig


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a rig serves the bundled recording's game, played to its end."""
    folder = tmp_path_factory.mktemp("rig")
    given = {"source.name": str(bundled_demo()), "service.port": 0, "data": str(folder)}
    rig = Rig(load(environment={}, command_line=given), folder, paced=False)
    rig.play()
    yield rig.address.rstrip("/")
    rig.end()


@pytest.fixture(scope="module")
def tackle(url: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in httpx.get(f"{url}/api/calls").json() if one["kind"] == "tackle")
    return found


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def phone(chrome: Browser) -> Iterator[Page]:
    with page_in(chrome, phone=True) as page:
        yield page


def opened(phone: Page, url: str, call: str) -> int:
    """Open a call's frames; the frame that is shown first."""
    phone.goto(f"{url}/evidence?call={call}")
    expect(phone.locator("#place small")).to_contain_text("decisive")
    shown(phone)
    return int(phone.locator("#frame").get_attribute("data-frame") or -1)


def shown(phone: Page) -> None:
    """Wait until the picture of the frame that is named is there."""
    phone.wait_for_function(
        """() => {
            const picture = document.getElementById("frame");
            const named = document.querySelector("#place")?.textContent ?? "";
            return picture.naturalWidth === 1920 && named.startsWith(`Frame ${picture.dataset.frame}`)
                && document.getElementById("picture").ariaBusy === "false";
        }"""
    )


def frame_shown(phone: Page) -> int:
    shown(phone)
    return int(phone.locator("#frame").get_attribute("data-frame") or -1)


def scale(phone: Page) -> float:
    return float(phone.evaluate("new DOMMatrix(getComputedStyle(document.getElementById('frame')).transform).a"))


def test_a_call_of_the_panel_leads_to_its_frames_and_back(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    phone.goto(f"{url}/panel")
    call = phone.locator("#calls .call", has_text="tackled")
    call.locator("summary").tap()
    call.get_by_role("link", name=re.compile("^Frames: .*tackled")).tap()
    phone.wait_for_url("**/evidence?**")
    expect(phone.locator("#call .text")).to_have_text("Dark 28 tackled by light 24")
    expect(phone.locator("#call .facts")).to_contain_text(tackle["measured"])
    shown(phone)
    phone.get_by_role("link", name="‹ Panel").tap()
    phone.wait_for_url("**/panel")


def test_frames_are_stepped_through_and_the_decisive_one_is_a_tap_away(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    decisive = opened(phone, url, tackle["id"])
    assert abs(decisive * 1_000_000_000 // 30 - tackle["t_ns"]) <= 1_000_000_000 // 60 + 1
    expect(phone.locator("#seen")).to_have_text(re.compile(r"Gap \+1\.53 ± 0\.00 mm"))
    phone.get_by_role("button", name="Next frame").tap()
    assert frame_shown(phone) == decisive + 1
    expect(phone.locator("#place small")).to_have_text("+24 ms")
    expect(phone.locator("#seen")).to_contain_text("touching by 100%")
    for _ in range(3):
        phone.get_by_role("button", name="Previous frame").tap()
    assert frame_shown(phone) == decisive - 2
    phone.get_by_role("button", name="Decisive").tap()
    assert frame_shown(phone) == decisive
    phone.keyboard.press("ArrowRight")
    assert frame_shown(phone) == decisive + 1
    phone.locator("#along").fill("0")
    expect(phone.get_by_role("button", name="Previous frame")).to_be_disabled()
    assert frame_shown(phone) < decisive - 40


def test_the_measurement_is_drawn_until_it_is_not_wanted(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    opened(phone, url, tackle["id"])
    with phone.expect_response(lambda answer: answer.url.endswith(".jpg?plain")) as answered:
        phone.get_by_label("Draw the measurement").uncheck()
    assert answered.value.headers["content-type"] == "image/jpeg"
    shown(phone)


def test_a_tap_looks_closer_and_the_view_stays_from_frame_to_frame(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    opened(phone, url, tackle["id"])
    box = phone.locator("#picture").bounding_box()
    assert box is not None
    phone.touchscreen.tap(box["x"] + 0.4 * box["width"], box["y"] + 0.3 * box["height"])
    phone.wait_for_selector("#picture.near")
    # It comes nearer in its own time.
    phone.wait_for_function(
        "() => new DOMMatrix(getComputedStyle(document.getElementById('frame')).transform).a > 3"
        " && document.getAnimations().every((one) => one.playState !== 'running')"
    )
    near = scale(phone)
    phone.get_by_role("button", name="Next frame").tap()
    shown(phone)
    assert scale(phone) == near
    phone.touchscreen.tap(box["x"] + 100, box["y"] + 100)
    expect(phone.locator("#picture.near")).to_have_count(0)
    expect(phone.locator("#frame")).to_have_css("transform", "matrix(1, 0, 0, 1, 0, 0)")


def test_two_fingers_look_closer(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    opened(phone, url, tackle["id"])
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


def test_what_is_missing_is_told_and_the_page_goes_on(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    phone.goto(f"{url}/evidence?call=none")
    expect(phone.locator("#told")).to_have_text("No call of this game has that id")
    decisive = opened(phone, url, tackle["id"])

    def lost(route: Route) -> None:
        problem = {"title": "There is no such thing", "detail": "that picture is broken"}
        route.fulfill(status=404, json=problem, content_type="application/problem+json")

    phone.route(f"**/{decisive + 4}.jpg", lost)
    for _ in range(4):
        phone.get_by_role("button", name="Next frame").tap()
    expect(phone.locator("#told")).to_have_text("That picture is broken")
    phone.get_by_role("button", name="Next frame").tap()
    expect(phone.locator("#told")).to_be_hidden()
    assert frame_shown(phone) == decisive + 5


def test_who_asks_too_fast_waits_and_gets_it(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    tries: list[str] = []

    def busy_once(route: Route) -> None:
        tries.append(route.request.url)
        if len(tries) == 1:
            route.fulfill(status=503, headers={"Retry-After": "0"}, json={"detail": "busy"})
        else:
            route.continue_()

    phone.route("**/*.jpg", busy_once)
    opened(phone, url, tackle["id"])
    assert tries[0] == tries[1]


def test_everything_that_is_tapped_has_a_name_and_room_for_a_thumb(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    opened(phone, url, tackle["id"])
    found = phone.evaluate(
        """() => [...document.querySelectorAll("button, a, input")]
            .filter((one) => one.checkVisibility() && one.type !== "checkbox")
            .map((one) => {
                const { width, height } = one.getBoundingClientRect();
                const named = one.getAttribute("aria-label") ?? (one.labels?.[0]?.textContent || one.textContent);
                return { name: named.trim(), small: Math.min(width, height) < 44 };
            })"""
    )
    assert [one for one in found if not one["name"] or one["small"]] == []
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
