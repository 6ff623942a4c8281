"""The frames of a call in a real browser, on a phone: what is shown and drawn, and how it is looked at."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from browsers import browser, page_in
from call_pages import open_call, played_rig, scale, settled_scale, shown_frame, tackle_of, wait_for_picture
from playwright.sync_api import Browser, Page, Route, expect
from waiting import WAIT_S, wait_until


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with played_rig(tmp_path_factory.mktemp("rig"), until_s=11.0) as address:  # with the tackle
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


def test_frames_are_stepped_through_and_one_tap_shows_the_decisive_frame(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    decisive = open_call(phone, url, tackle["id"])
    assert 0 <= decisive * 1_000_000_000 // 30 - tackle["t_ns"] <= 1_000_000_000 // 30 + 1
    expect(phone.locator("#position small")).to_have_text("+24 ms, decisive")
    expect(phone.locator("#measurement")).to_contain_text("touching by all frames so far: more than 99 %")
    phone.get_by_role("button", name="Previous frame").tap()
    assert shown_frame(phone) == decisive - 1
    expect(phone.locator("#measurement")).to_have_text(
        re.compile(r"This frame, 9\.\d ms before the call: 1\.53 mm apart")
    )
    phone.get_by_role("button", name="Previous frame").tap()
    assert shown_frame(phone) == decisive - 2
    phone.get_by_role("button", name="Decisive").tap()
    assert shown_frame(phone) == decisive
    phone.keyboard.press("ArrowRight")
    assert shown_frame(phone) == decisive + 1
    phone.locator("#timeline").fill("0")
    expect(phone.get_by_role("button", name="Previous frame")).to_be_disabled()
    assert shown_frame(phone) < decisive - 40


def test_a_frame_that_the_comparison_has_requested_is_shown_when_it_comes(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    decisive = tackle["t_ns"] * 30 // 1_000_000_000 + 1
    compared, ahead = (f"**/frames/{frame}.jpg*" for frame in (decisive - 1, decisive + 2))
    held: dict[str, Route] = {}
    phone.route(compared, lambda route: held.update(compared=route))
    phone.route(ahead, lambda route: held.update(ahead=route))  # the last that is loaded ahead of a step
    assert open_call(phone, url, tackle["id"]) == decisive
    wait_until(lambda: phone.evaluate("0") == 0 and len(held) == 2, "both are requested")
    phone.get_by_role("button", name="Previous frame").tap()
    with phone.expect_response(compared):
        held["compared"].continue_()
    held["ahead"].continue_()
    assert shown_frame(phone) == decisive - 1


def test_a_recording_that_is_not_the_one_that_was_sealed_is_told(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    found = {"state": "altered", "text": "This is not what the rig recorded."}
    phone.route("**/frames/seal", lambda route: route.fulfill(json=found))
    open_call(phone, url, tackle["id"])
    expect(phone.locator("#altered")).to_have_text(found["text"])
    expect(phone.locator("#seal")).to_have_text("")


def polygons(page: Page) -> list[str]:
    """Return the ids of the outlines that are drawn."""
    found: list[str] = page.locator("#drawing polygon").evaluate_all("all => all.map((one) => one.dataset.id)")
    return found


def test_each_kind_of_drawing_can_be_hidden_and_all_at_once_by_a_key(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    open_call(phone, url, tackle["id"])
    expect(phone.locator("#drawing polygon.first")).to_have_attribute("data-id", "dark-28")
    assert {"dark-28", "light-24"} <= set(polygons(phone))
    phone.get_by_label("Outlines").uncheck()
    expect(phone.locator("#drawing polygon")).to_have_count(0)
    expect(phone.locator("#drawing circle.gap")).to_have_count(1)
    phone.keyboard.press("2")
    expect(phone.locator("#drawing circle.gap")).to_have_count(0)
    expect(phone.locator("#drawing .spot")).not_to_have_count(0)
    phone.keyboard.press("d")
    expect(phone.locator("#drawing > *")).to_have_count(0)
    phone.keyboard.press("d")
    expect(phone.locator("#drawing .spot")).not_to_have_count(0)
    expect(phone.get_by_label("Outlines")).not_to_be_checked()


def test_outlines_lie_on_the_figures_whatever_the_zoom(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    decisive = open_call(phone, url, tackle["id"])
    drawings = httpx.get(f"{url}/api/games/current/calls/{tackle['id']}/frames/drawings", timeout=WAIT_S).json()
    drawn = next(one for one in drawings["frames"] if one["frame"] == decisive)
    corner = next(one for one in drawn["figures"] if one["id"] == "dark-28")["px"][0]
    at = """([x, y]) => {
        const { left, top, width, height } = document.getElementById("frame").getBoundingClientRect();
        const scale = Math.min(width / 1920, height / 1080);
        const shown = [left + (width - 1920 * scale) / 2 + (x + 0.5) * scale,
                       top + (height - 1080 * scale) / 2 + (y + 0.5) * scale];
        const box = document.getElementById("drawing").getBoundingClientRect();
        const outline = document.querySelector("#drawing polygon.first").getAttribute("points");
        const [px, py] = outline.split(" ")[0].split(",");
        return Math.hypot(box.left + Number(px) - shown[0], box.top + Number(py) - shown[1]);
    }"""
    expect(phone.locator("#drawing polygon.first")).to_have_count(1)
    assert phone.evaluate(at, corner) < 0.2
    phone.get_by_role("button", name="Close-up").tap()
    expect(phone.locator("#picture.zoomed")).to_have_count(1)
    assert settled_scale(phone) == 5
    assert phone.evaluate(at, corner) < 0.2
    # The decisive gap is in the middle of the box.
    off = phone.evaluate("""() => {
        const ring = document.querySelector("#drawing circle.gap");
        const { width, height } = document.getElementById("drawing").getBoundingClientRect();
        return Math.hypot(ring.getAttribute("cx") - width / 2, ring.getAttribute("cy") - height / 2);
    }""")
    assert off < 1


def test_labels_cover_neither_figures_nor_one_another(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    expect(phone.locator("#drawing .label")).not_to_have_count(0)
    phone.get_by_role("button", name="Close-up").tap()
    for _ in range(4):
        covered = phone.evaluate("""() => {
            const box = (node) => node.getBoundingClientRect();
            const labels = [...document.querySelectorAll("#drawing .label rect")].map(box);
            const figures = [...document.querySelectorAll("#drawing polygon:not(.other)")].map(box);
            const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            const others = (i) => [...labels.slice(i + 1), ...figures];
            return labels.flatMap((label, i) => others(i).filter((other) => meet(label, other)));
        }""")
        assert covered == []
        phone.get_by_role("button", name="Next frame").tap()
        wait_for_picture(phone)


def test_slow_motion_shows_every_frame_around_the_decisive_one_and_begins_again(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    decisive = open_call(phone, url, tackle["id"])
    phone.evaluate("""() => {
        window.played = [];
        new MutationObserver(() => played.push(Number(document.getElementById("frame").dataset.frame)))
            .observe(document.getElementById("frame"), { attributeFilter: ["data-frame"] });
    }""")
    phone.get_by_role("button", name="Half speed").tap()
    expect(phone.get_by_role("button", name="Half speed")).to_have_attribute("aria-pressed", "true")
    phone.wait_for_function("() => played.length > 60")
    phone.keyboard.press("ArrowLeft")  # stops it
    expect(phone.get_by_role("button", name="Half speed")).to_have_attribute("aria-pressed", "false")
    played: list[int] = phone.evaluate("played.slice(0, 60)")
    steps = {after - before for before, after in itertools.pairwise(played)}
    assert steps <= {1, min(played) - max(played)}
    assert min(played) - max(played) in steps
    assert (decisive - min(played), max(played) - decisive) == (15, 15)  # half a second to each side


def test_the_loupe_shows_the_pixels_under_the_finger(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    phone.get_by_label("Outlines").uncheck()
    phone.get_by_role("button", name="Loupe", exact=True).tap()
    box = phone.locator("#picture").bounding_box()
    assert box is not None
    phone.touchscreen.tap(box["x"] + 0.45 * box["width"], box["y"] + 0.6 * box["height"])
    expect(phone.locator("#loupe")).to_be_visible()
    expect(phone.locator("#picture.zoomed")).to_have_count(0)  # the finger moves the loupe, and does not zoom
    phone.get_by_role("button", name="Strength of the loupe").tap()
    expect(phone.locator("#loupe")).to_have_attribute("aria-label", "Loupe, 8 times")
    off = phone.evaluate(
        """([x, y]) => {
            const picture = document.getElementById("frame"), loupe = document.getElementById("loupe");
            const { width, height } = picture.getBoundingClientRect();
            const scale = Math.min(width / 1920, height / 1080);
            const at = [(x - width / 2) / scale + 960, (y - height / 2) / scale + 540];
            const copy = Object.assign(document.createElement("canvas"), { width: 1920, height: 1080 });
            const pen = copy.getContext("2d");
            pen.drawImage(picture, 0, 0);
            const shown = loupe.getContext("2d").getImageData(loupe.width / 2, loupe.height / 2, 1, 1).data;
            // A finger's place is whole pixels of the screen, which may be a neighboring pixel of the picture.
            const truths = pen.getImageData(Math.floor(at[0]) - 1, Math.floor(at[1]) - 1, 3, 3).data;
            const off = (pixel) => Math.max(...[0, 1, 2].map((i) => Math.abs(truths[4 * pixel + i] - shown[i])));
            return Math.min(...Array.from({ length: 9 }, (_, pixel) => off(pixel)));
        }""",
        [0.45 * box["width"] - 1, 0.6 * box["height"] - 1],  # inside the border
    )
    assert off <= 2


def test_the_plots_show_what_was_measured_and_their_cursor_is_the_frame(
    chrome: Browser, url: str, tackle: dict[str, Any]
) -> None:
    with page_in(chrome) as page:
        decisive = open_call(page, url, tackle["id"])
        frames = httpx.get(f"{url}/api/games/current/calls/{tackle['id']}/frames/drawings", timeout=WAIT_S).json()[
            "frames"
        ]
        gaps = {one["frame"]: one["gap"]["gap_mm"] for one in frames if one["gap"]}
        gap, speed, _, board = (
            page.get_by_label(f"{title} over time") for title in ("Gap", "Speed", "Heading", "Board")
        )
        expect(gap.locator(".value")).to_have_text(f"{gaps[decisive]:.2f} mm")
        expect(board.locator(".value")).to_have_text("on")
        page.keyboard.press("ArrowLeft")
        expect(gap.locator(".value")).to_have_text(f"{gaps[decisive - 1]:.2f} mm")
        centers = {
            one["frame"]: np.mean(figure["mm"], axis=0)
            for one in frames
            for figure in one["figures"]
            if figure["id"] == "dark-28"
        }
        way_mm = np.linalg.norm(centers[decisive + 1] - centers[decisive - 3])
        expect(speed.locator(".value")).to_contain_text(f"Home 28 {way_mm / 4 * 30:.0f} mm/s")
        box = gap.bounding_box()
        assert box is not None
        gap.click(position={"x": 52, "y": 50})  # the first frame that is listed
        assert shown_frame(page) == frames[0]["frame"]
        assert gap.locator(".cursor").get_attribute("transform") == "translate(52.0,0)"


def test_the_last_frame_without_a_touch_stands_beside_the_first_with_it(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    decisive = open_call(phone, url, tackle["id"])
    captions = phone.locator("#comparison figcaption")
    expect(captions.first).to_have_text(re.compile(rf"Frame {decisive - 1}, −10 ms: 1\.53 mm apart"))
    expect(captions.last).to_have_text(re.compile(rf"Frame {decisive}, \+24 ms: 0\.01 mm into each other"))
    between = phone.locator("#comparison .between")
    expect(between).to_contain_text(f"between frame {decisive - 1} and frame {decisive}: 1.53 mm apart in the first")
    expect(between).to_contain_text("worked out to 10 ms after the first and 24 ms before the second.")
    phone.get_by_role("button", name="Further").tap()
    expect(captions.first).to_contain_text(f"Frame {decisive - 2}, −")
    expect(captions.last).to_contain_text(f"Frame {decisive + 1}, +")
    phone.keyboard.press("b")
    expect(phone.locator("#comparison")).to_be_hidden()
    phone.get_by_role("button", name="Before / after").tap()
    expect(phone.locator("#comparison")).to_be_visible()


def test_a_tap_zooms_and_the_view_stays_from_frame_to_frame(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    open_call(phone, url, tackle["id"])
    box = phone.locator("#picture").bounding_box()
    assert box is not None
    phone.touchscreen.tap(box["x"] + 0.4 * box["width"], box["y"] + 0.3 * box["height"])
    phone.wait_for_selector("#picture.zoomed")
    near = settled_scale(phone)
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


def test_the_ruling_sheet_is_one_page_with_pictures_measurement_rule_and_the_way_back(
    chrome: Browser, url: str, tackle: dict[str, Any]
) -> None:
    with page_in(chrome) as page:
        decisive = open_call(page, url, tackle["id"])
        page.get_by_role("link", name="Ruling sheet").click()
        page.wait_for_url("**/ruling?*")
        expect(page.locator("#question")).to_have_text("Home 28 tackled by Away 24")
        expect(page.locator("figcaption")).to_have_text(
            [re.compile(f"^Frame {decisive - 1}, 10 ms before the instant.*1.53 mm apart"), re.compile("touching")]
        )
        facts = page.locator("#facts")
        expect(facts).to_contain_text("Touched: gap closed at 9.21 s; at first touch.")
        expect(facts).to_contain_text("TAP-022: A defender")
        expect(facts).to_contain_text("Nobody has ruled on it")
        for picture in ("#pictures img >> nth=0", "#pictures img >> nth=1", "#code"):
            page.wait_for_function("(one) => one.naturalWidth > 0", arg=page.locator(picture).element_handle())
        with page.expect_response(lambda answer: answer.url.endswith("/signed.zip")) as signed:
            page.get_by_role("link", name="Signed file").evaluate("link => fetch(link.href)")
        assert signed.value.status in {200, 404}, "what signs nothing says so"
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 688, "height": 1000})  # A4 between its margins
        assert page.evaluate("document.documentElement.scrollWidth") <= 688
        assert page.evaluate("document.documentElement.scrollHeight") <= 1016, "more than one page"
