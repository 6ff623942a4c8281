"""The frames of a call in a real browser, on a phone, from a real rig that has played the bundled recording."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import cv2
import httpx
import numpy as np
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


def settled_scale(phone: Page) -> float:
    """Return the scale of a zoomed picture, when it no longer moves."""
    phone.wait_for_function(
        "() => new DOMMatrix(getComputedStyle(document.getElementById('frame')).transform).a > 3"
        " && document.getAnimations().every((animation) => animation.playState !== 'running')"
    )
    return scale(phone)


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
    drawings = httpx.get(f"{url}/api/games/current/calls/{tackle['id']}/frames/drawings").json()
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


def test_a_base_is_measured_to_a_tenth_of_a_millimeter_from_above_and_as_the_camera_sees_it(
    chrome: Browser, url: str, tackle: dict[str, Any]
) -> None:
    with page_in(chrome) as page:
        decisive = open_call(page, url, tackle["id"])
        frames = httpx.get(f"{url}/api/games/current/calls/{tackle['id']}/frames/drawings").json()["frames"]
        drawn = next(one for one in frames if one["frame"] == decisive)["figures"]
        front_left, front_right = (
            np.array(next(one for one in drawn if one["id"] == "dark-28")["mm"])[i] for i in (0, 1)
        )
        truth_mm = float(np.linalg.norm(front_left - front_right))
        outline = page.locator("#drawing polygon.first")
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
    with phone.expect_download(timeout=60_000) as saved:
        phone.get_by_role("button", name="GIF").tap()
    assert re.fullmatch(r"downfield_[0-9a-f-]+_play1_tackle-dark-28-light-24\.gif", saved.value.suggested_filename)
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


def test_the_plots_show_what_was_measured_and_their_cursor_is_the_frame(
    chrome: Browser, url: str, tackle: dict[str, Any]
) -> None:
    with page_in(chrome) as page:
        decisive = open_call(page, url, tackle["id"])
        frames = httpx.get(f"{url}/api/games/current/calls/{tackle['id']}/frames/drawings").json()["frames"]
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
        expect(speed.locator(".value")).to_contain_text(f"dark 28 {way_mm / 4 * 30:.0f} mm/s")
        box = gap.bounding_box()
        assert box is not None
        gap.click(position={"x": 52, "y": 50})  # the first frame that is listed
        assert shown_frame(page) == frames[0]["frame"]
        assert gap.locator(".cursor").get_attribute("transform") == "translate(52.0,0)"


def test_before_and_after_stand_side_by_side_as_far_from_the_decisive_frame(
    phone: Page, url: str, tackle: dict[str, Any]
) -> None:
    decisive = open_call(phone, url, tackle["id"])
    phone.get_by_role("button", name="Before / after").tap()
    captions = phone.locator("#comparison figcaption")
    expect(captions.first).to_contain_text(f"Frame {decisive - 3}, −")
    expect(captions.last).to_contain_text(f"Frame {decisive + 3}, +")
    phone.get_by_role("button", name="Nearer").tap()
    expect(captions.first).to_contain_text(f"Frame {decisive - 2}, −")
    expect(captions.last).to_contain_text(f"Frame {decisive + 2}, +")
    phone.keyboard.press("b")
    expect(phone.locator("#comparison")).to_be_hidden()


def test_calls_are_gone_through_and_ruled_on_in_place(phone: Page, url: str, tackle: dict[str, Any]) -> None:
    calls = [call["id"] for call in httpx.get(f"{url}/api/calls").json()]
    open_call(phone, url, tackle["id"])
    phone.get_by_role("link", name="Next call").tap()
    phone.wait_for_url(lambda address: tackle["id"] not in address)
    after = calls[calls.index(tackle["id"]) + 1]
    expect(phone.get_by_role("link", name="Previous call")).to_be_visible()
    assert parse_qs(urlsplit(phone.url).query)["call"] == [after]
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
    phone.route("**/api/games/current", lambda route: route.fulfill(json={"id": "20200101-000000-0000"}))
    open_call(phone, url, tackle["id"])
    game = parse_qs(urlsplit(phone.url).query)["game"][0]
    with phone.expect_response("**/rulings") as answered:
        phone.get_by_role("button", name=re.compile("^Confirm")).tap()
    assert f"/api/games/{game}/calls/tackle" in answered.value.url
    expect(phone.locator("#notice")).to_have_text(answered.value.json()["detail"], ignore_case=True)


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
