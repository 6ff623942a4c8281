"""The overlays in a real browser: options, field map, replay, cards; when they hide; any order of starting works."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from overlay_pages import link, overlay_service
from playwright.sync_api import Browser, Page, expect
from waiting import wait_until

from downfield.api.routes.pages import assets
from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.field.model import preset
from downfield.core.scene import Scene
from downfield.game.published.stream_topics import (
    GraphicRow,
    GraphicView,
    OnAirElement,
    OnAirStyle,
    OnAirView,
    ReplayView,
)
from downfield.game.published.views import scene_view
from downfield.review.pictures.clips import encode_fragments

FIELD = preset("ultimate")
STALE_MS = 13_000


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def begin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], PageServer]]:
    with overlay_service(tmp_path_factory.mktemp("service")) as begin:
        yield begin


@pytest.fixture
def service(begin: Callable[[], PageServer]) -> PageServer:
    return begin()


@pytest.fixture
def page(chrome: Browser) -> Iterator[Page]:
    with page_in(chrome) as opened:
        yield opened


def test_an_overlay_hides_when_it_may_be_old_and_comes_back_with_the_service(tmp_path: Path, page: Page) -> None:
    service = PageServer(tmp_path)
    service.start()
    page.clock.install()
    page.goto(f"{service.url}/overlay/scorebug")
    link(page, "live")
    service.stop()
    link(page, "lost")
    expect(page.locator("#stage")).to_have_css("opacity", "1")  # a restart is not worth a flicker
    page.clock.run_for(STALE_MS)
    link(page, "stale")
    expect(page.locator("#stage")).to_have_css("opacity", "0")
    service.start()
    service.publish("game", down=4, distance_yd=10.0, due="scrimmage")
    page.clock.run_for(5_000)
    link(page, "live")
    expect(page.locator("#stage")).to_have_css("opacity", "1")
    expect(page.locator(".down")).to_have_text("4th & 10")
    service.stop()


def test_a_loader_file_waits_for_the_service(tmp_path: Path, page: Page) -> None:
    service = PageServer(tmp_path)
    loader = tmp_path / "loader.html"
    text = assets()["loader.html"].content.decode()
    loader.write_text(text.replace("OVERLAY_ADDRESS", f"{service.url}/overlay/scorebug?theme=light&amp;scale=1.2"))
    page.goto(loader.as_uri())
    service.start()
    try:
        page.wait_for_url(f"{service.url}/overlay/scorebug?theme=light&scale=1.2")
        link(page, "live")
    finally:
        page.goto("about:blank")
        service.stop()


def test_wrong_options_are_reported_on_the_page(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/scorebug?scael=2&scale=9&position=middle&theme=light&theme=dark")
    problems = page.locator(".url-errors li")
    expect(problems).to_have_count(4)
    expect(problems.nth(0)).to_contain_text("There is no option “scael”. The options are position, scale")
    expect(problems.nth(1)).to_contain_text("“scale” can’t be “9”. Use a number from 0.3 to 3")
    expect(problems.nth(3)).to_contain_text("“theme” is given twice")


def test_options_set_position_size_and_colors(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/scorebug?position=top-right&scale=1.5&teams=full&background=00b140&clock=hide")
    link(page, "live")
    expect(page.locator("body")).to_have_css("background-color", "rgb(0, 177, 64)")
    expect(page.locator(".name")).to_have_text(["Oakdale", "River City"])
    expect(page.locator(".time")).to_have_count(0)
    box = page.locator(".bug").bounding_box()
    assert box is not None
    assert box["y"] == pytest.approx(54, abs=1)
    assert box["x"] + box["width"] == pytest.approx(1920 - 72, abs=1)


def test_the_producers_look_is_on_every_overlay_and_the_address_goes_before(service: PageServer, page: Page) -> None:
    look = OnAirStyle(theme="light", plate="#fff4d0", accent="#a01030", corners="square", scale=1.5, font="serif")
    service.publish("on_air", OnAirView(style=look))
    page.goto(f"{service.url}/overlay/scene?theme=dark")
    bug = page.frame_locator("iframe[title=scorebug]")
    bar = bug.locator(".bar")
    expect(bug.locator("html")).to_have_attribute("data-theme", "dark")  # as the address says
    expect(bar).to_have_css("background-color", "rgb(255, 244, 208)")
    expect(bar).to_have_css("border-radius", "0px")
    expect(bar).to_have_css("font-family", 'Georgia, "Times New Roman", "DejaVu Serif", serif')
    expect(bug.locator(".down")).to_have_css("color", "rgb(0, 0, 0)")  # text can be read on any plate
    assert bar.evaluate("(one) => one.getBoundingClientRect().height") == pytest.approx(1.5 * 84, abs=0.5)
    service.publish("on_air", OnAirView())
    expect(bar).to_have_css("background-color", "rgb(16, 21, 28)")
    expect(bar).to_have_css("border-radius", "10px")
    expect(bug.locator(".down")).to_have_css("color", "rgb(244, 247, 250)")
    assert bar.evaluate("(one) => one.getBoundingClientRect().height") == pytest.approx(84, abs=0.5)
    service.publish("on_air", OnAirView(style=look))
    page.goto(f"{service.url}/overlay/scorebug")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    service.publish("on_air", OnAirView())


def test_each_overlay_leaves_the_air_with_its_element(service: PageServer, page: Page) -> None:
    elements: dict[str, OnAirElement] = {"scorebug": "bug", "sponsors": "sponsors", "field": "map", "replay": "replay"}
    for name, element in elements.items():
        service.publish("on_air", OnAirView())
        page.goto(f"{service.url}/overlay/{name}")
        link(page, "live")
        others = tuple(one for one in OnAirView().elements if one != element)
        service.publish("on_air", OnAirView(elements=others))
        expect(page.locator("#stage")).to_have_css("opacity", "0")
        service.publish("on_air", OnAirView(elements=(element,)))
        expect(page.locator("#stage")).to_have_css("opacity", "1")
    service.publish("on_air", OnAirView())


def test_the_field_map_moves_the_figures_and_draws_the_lines(service: PageServer, page: Page) -> None:
    first, later = itertools.islice(open_clip(bundled_demo()).tracks, 0, 241, 240)
    service.publish("game", due="scrimmage", spot_yd=34.0, to_gain_yd=44.0)
    page.goto(f"{service.url}/overlay/field")
    link(page, "live")
    for line, x_yd in ((".scrimmage", 34), (".to-gain", 44)):
        x_mm = float(page.locator(line).get_attribute("x1") or "nan")
        assert x_mm == pytest.approx(x_yd * FIELD.mm_per_yd_x)
    service.publish("scene", scene_view(first, FIELD))
    expect(page.locator("[data-figure]")).to_have_count(22)
    wait_for_position(page, first, "dark-28")
    service.publish("scene", scene_view(later, FIELD))
    wait_for_position(page, later, "dark-28")


def test_figures_without_a_recent_scene_are_hidden(service: PageServer, page: Page) -> None:
    page.clock.install()
    page.goto(f"{service.url}/overlay/field")
    link(page, "live")
    scene = next(iter(open_clip(bundled_demo()).tracks))
    service.publish("scene", scene_view(scene, FIELD))
    expect(page.locator(".figures")).to_have_css("opacity", "1")
    page.clock.run_for(4_000)
    expect(page.locator(".figures")).to_have_css("opacity", "0")


def wait_for_position(page: Page, scene: Scene, name: str) -> None:
    """Wait until a figure is drawn where the scene has it; y goes down in the drawing."""
    figure = next(figure for figure in scene.figures if figure.id == name)
    page.wait_for_function(
        """([name, x, y]) => {
            const transform = document.querySelector(`[data-figure='${name}']`).getAttribute("transform");
            const [atX, atY] = transform.match(/[-\\d.]+/g).map(Number);
            return Math.hypot(atX - x, atY - y) < 0.2;
        }""",
        arg=[name, figure.x_mm, FIELD.width_mm - figure.y_mm],
    )


def test_a_replay_is_shown_once_it_is_ready_and_never_over_a_play(service: PageServer, page: Page) -> None:
    frames = [(number * 100_000_000, np.full((720, 1280, 3), 10 * number, np.uint8)) for number in range(20)]
    clip = b"".join(encode_fragments(iter(frames)))
    page.route("**/replay.mp4*", lambda route: route.fulfill(body=clip, content_type="video/mp4"))
    service.publish("replay", ReplayView(take=1, state="ready", clip="api/replay.mp4"))
    page.goto(f"{service.url}/overlay/replay")
    link(page, "live")
    box = page.locator(".replay")
    expect(box).to_be_hidden()  # it ran before the page was opened
    shown = ReplayView(take=2, state="making", clip="api/replay.mp4", text="dark-28 tackled by light-24")
    service.publish("replay", shown)
    service.publish("replay", shown, state="ready")
    expect(box).to_be_visible()
    expect(box.locator(".title")).to_have_text("River City 28 tackled by Oakdale 24")
    service.publish("game", phase="live")
    expect(box).to_be_hidden()
    service.publish("game", phase="between_plays")
    service.publish("replay", shown, take=3, state="ready")
    expect(box).to_be_visible()
    service.publish("replay", ReplayView(take=4))
    expect(box).to_be_hidden()
    service.publish("replay", shown, take=5, state="ready")
    expect(box).to_be_visible()
    expect(box).to_be_hidden()  # it goes by itself at the end


def test_a_replay_is_slowed_down_and_frozen_as_the_producer_has_it(service: PageServer, page: Page) -> None:
    frames = [(number * 100_000_000, np.full((720, 1280, 3), 10 * number, np.uint8)) for number in range(20)]
    clip = b"".join(encode_fragments(iter(frames)))
    page.route("**/replay.mp4*", lambda route: route.fulfill(body=clip, content_type="video/mp4"))
    page.goto(f"{service.url}/overlay/replay")
    link(page, "live")
    shown = ReplayView(take=11, state="ready", clip="api/replay.mp4", speed=0.5, frozen=True)
    service.publish("replay", shown)
    video = page.locator(".replay video")
    expect(video).to_be_visible()
    wait_until(lambda: video.evaluate("video => video.paused"))
    service.publish("replay", shown, frozen=False)
    wait_until(lambda: not video.evaluate("video => video.paused"))
    assert video.evaluate("video => video.playbackRate") == 0.5
    service.publish("replay", shown, speed=1.0, frozen=True)
    wait_until(lambda: video.evaluate("video => video.paused"))
    held_s = video.evaluate("video => video.currentTime")
    assert video.evaluate("video => video.playbackRate") == 1.0
    service.publish("game", phase="live")
    expect(video).to_be_hidden()  # a frozen picture hides no play
    assert 0 < held_s < 2


def test_a_card_is_shown_in_the_scene_and_goes_when_a_play_begins(service: PageServer, page: Page) -> None:
    service.publish("game", due="scrimmage", down=2, distance_yd=7.3)
    page.goto(f"{service.url}/overlay/scene?calls=hide")
    cards, bug = page.frame_locator("iframe[title=graphics]"), page.frame_locator("iframe[title=scorebug]")
    expect(bug.locator(".down")).to_have_text("2nd & 7")
    expect(page.locator("iframe")).to_have_count(4)
    expect(cards.locator("html")).to_have_attribute("data-link", "live")
    name = "The Extraordinarily Long-Named Society of Tabletop Football, Llanfairpwllgwyngyll <i>branch</i>"
    card = GraphicView(take=1, kind="line_up", title=name, side="home", rows=(GraphicRow(label="RB", values=("28",)),))
    service.publish("graphic", card)
    expect(cards.locator("h1")).to_have_text(name)
    box, below = cards.locator(".card").bounding_box(), bug.locator(".bar").bounding_box()
    assert box is not None
    assert below is not None
    assert box["x"] >= 72
    assert box["y"] + box["height"] <= below["y"]
    service.publish("game", phase="live")
    expect(cards.locator(".card")).to_have_count(0)
    service.publish("game", phase="between_plays")


@pytest.mark.parametrize("scale", [1, 2])
def test_a_card_of_any_length_stays_in_the_safe_area(service: PageServer, page: Page, scale: int) -> None:
    page.goto(f"{service.url}/overlay/graphics?position=bottom-left&lift=140&scale={scale}")
    link(page, "live")
    names = ("Müller-Lüdenscheidt von und zu Hohenstein", "الصقور الذهبية للقاهرة", "W" * 60)
    rows = tuple(GraphicRow(label="RB", values=(names[number % 3],)) for number in range(36))
    service.publish(
        "graphic", GraphicView(take=1, kind="line_up", title=names[0] * 2, side="home", rows=rows, seconds=0)
    )
    card = page.locator(".card")
    expect(card).to_have_css("opacity", "1")
    page.wait_for_function(
        "() => document.querySelector('.card').getAnimations().every((one) => one.playState === 'finished')"
    )
    box = card.bounding_box()
    assert box is not None
    assert box["y"] >= 53
    assert box["y"] + box["height"] <= 1080 - 54 - 139
    assert box["x"] >= 71
    clipped = page.evaluate(
        "[...document.querySelectorAll('.row b')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert clipped == 0
    few = GraphicView(take=2, kind="line_up", title="Short", side="home", rows=rows[:3], seconds=0)
    service.publish("graphic", few)
    short = page.locator(".card", has_text="Short")
    expect(short).to_be_visible()
    assert float(short.evaluate("(one) => getComputedStyle(one).getPropertyValue('--scale')")) == scale  # as asked for
