"""Cards over the whole picture and lower thirds in a real browser: what they say, that they fit, when they go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cv2
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from overlay_pages import figure, link, overlay_service, show_action
from playwright.sync_api import Browser, Page, Route, expect
from waiting import wait_until

from downfield.core.platform.clock import RUN_CLOCK
from downfield.game.published.game_topics import TeamView
from downfield.game.published.stream_topics import GraphicRow, GraphicView, OnAirView

NAMES = ("Y", "Łódź Lightning-Strikers of the Northern Harbor Town, 1st XI.", "大阪雷神" * 15, "W" * 60)
SIZES = [(500, 281), (800, 600), (1280, 720), (1920, 1080)]

CUT = """(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"""


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


def opened(page: Page, service: PageServer, size: tuple[int, int] = (1920, 1080)) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{service.url}/overlay/graphics?lift=140")
    link(page, "live")


def teams(service: PageServer, *names: str, **changes: Any) -> tuple[TeamView, ...]:
    """Return away and home under other names."""
    game = service.hub.value("game")
    return tuple(
        team.model_copy(update={"name": name, **changes})
        for team, name in zip((game.away, game.home), names, strict=True)
    )


def card(service: PageServer, kind: str, **values: Any) -> None:
    service.publish("graphic", GraphicView.model_validate({"kind": kind, "seconds": 0} | values))


def inside(page: Page, selector: str, size: tuple[int, int]) -> None:
    """Wait until all of an element lies in the picture: letters and logos may come after the card."""

    def lies_inside() -> bool:
        box = page.locator(selector).bounding_box()
        assert box is not None
        return (
            box["x"] >= -0.5
            and box["y"] >= -0.5
            and box["x"] + box["width"] <= size[0] + 0.5
            and box["y"] + box["height"] <= size[1] + 0.5
        )

    wait_until(lies_inside)


def test_a_card_fits_again_once_its_logo_has_come(service: PageServer, page: Page) -> None:
    size, held = SIZES[0], list[Route]()
    opened(page, service, size)
    picture = cv2.imencode(".png", np.full((90, 900, 3), 80, np.uint8))[1].tobytes()
    logo = page.request.post(f"{service.url}/api/logos", data=picture).json()["logo"]
    page.route(lambda url: logo in url, lambda route: held.append(route))
    rows = tuple(GraphicRow(label=f"Row {number}", values=("112.4", "7")) for number in range(5))
    name = "A name that takes two lines beside a logo"
    sides = teams(service, name, name, points=188)
    until_ms = RUN_CLOCK.now_ms() + 600_000
    card(service, "halftime", title=name, subtitle=name, teams=sides, rows=rows, until_ms=until_ms, logo=logo)
    inside(page, ".full .rows", size)
    wait_until(lambda: page.evaluate("1") == 1 and bool(held))
    page.locator(".full .logo").evaluate("logo => { logo.style.minHeight = '300px'; }")  # the card certainly grows
    held[0].continue_()
    expect(page.locator(".full .logo")).to_have_js_property("complete", True)
    inside(page, ".full .rows", size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_any_name_fits_a_card_over_all_of_any_source(
    service: PageServer, page: Page, size: tuple[int, int], name: str
) -> None:
    opened(page, service, size)
    logo = page.request.post(
        f"{service.url}/api/logos", data=cv2.imencode(".png", np.full((90, 90, 3), 80, np.uint8))[1].tobytes()
    ).json()["logo"]
    labels = ("Yards", "Plays", "First downs", "Turnovers", "Sacks")
    rows = tuple(GraphicRow(label=label, values=("112.4", "7")) for label in labels)
    sides = teams(service, name, name, points=188, logo=logo)
    until_ms = RUN_CLOCK.now_ms() + 600_000
    card(service, "halftime", title=name, subtitle=name, teams=sides, rows=rows, until_ms=until_ms, logo=logo)
    full = page.locator(".full")
    expect(full.locator("h2")).to_have_text([name, name])
    expect(full.locator("section b")).to_have_text(["188", "188"])
    assert full.locator("h1, h2, p, b, time").evaluate_all(CUT) == []
    for part in ("header", ".sides", "time", ".rows"):
        inside(page, f".full {part}", size)
    covers = full.bounding_box()
    assert covers is not None
    assert covers["x"] <= 0.5
    assert covers["y"] <= 0.5
    assert covers["x"] + covers["width"] >= size[0] - 0.5
    assert covers["y"] + covers["height"] >= size[1] - 0.5


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_a_lower_third_fits_any_name_and_stays_off_the_score_bug(
    service: PageServer, page: Page, size: tuple[int, int], name: str
) -> None:
    opened(page, service, size)
    card(service, "lower_third", title=name, subtitle="Commentator, " + name, side="home")
    expect(page.locator(".lower_third h1")).to_have_text(name)
    assert page.locator(".lower_third").locator("h1, p").evaluate_all(CUT) == []
    inside(page, ".lower_third", size)


def test_a_countdown_runs_by_the_feeds_clock_to_its_end(service: PageServer, page: Page) -> None:
    page.clock.install()
    opened(page, service)
    card(
        service,
        "starting_soon",
        title="Starting soon",
        teams=teams(service, "A", "B"),
        until_ms=RUN_CLOCK.now_ms() + 61_500,
    )
    time = page.locator(".full time")
    expect(time).to_have_text("1:02")
    page.clock.run_for(2_000)
    expect(time).to_have_text("1:00")
    expect(page.locator(".full section b")).to_have_count(0)  # nobody has a score yet
    page.clock.run_for(61_000)
    expect(time).to_have_text("Any moment now")


def test_a_card_without_figures_and_countdown_says_nothing_of_them(service: PageServer, page: Page) -> None:
    opened(page, service)
    card(service, "final", title="Final", teams=teams(service, "A", "B", points=3))
    expect(page.locator(".full section b")).to_have_text(["3", "3"])
    expect(page.locator(".full .rows, .full time, .full header .logo")).to_have_count(0)


@pytest.mark.parametrize("kind", ["starting_soon", "halftime", "final", "lower_third"])
def test_these_cards_go_when_a_play_begins_and_are_over_the_score_bug(
    service: PageServer, page: Page, kind: str
) -> None:
    page.goto(f"{service.url}/overlay/scene")
    titles = page.locator("iframe").evaluate_all("(frames) => frames.map((one) => one.title)")
    assert titles.index("graphics") > titles.index("scorebug")
    cards = page.frame_locator("iframe[title=graphics]")
    expect(cards.locator("html")).to_have_attribute("data-link", "live")
    card(service, kind, title="Somebody", teams=teams(service, "A", "B"))
    shown = cards.locator(".full, .lower_third")
    expect(shown).to_have_count(1)
    service.publish("game", phase="live")
    expect(shown).to_have_count(0)


def test_a_lower_third_is_seen_through_while_the_carrier_is_under_it(service: PageServer, page: Page) -> None:
    opened(page, service)
    card(service, "lower_third", title="28 Marcus Bell", subtitle="Running back", side="home")
    shown = page.locator(".lower_third")
    expect(shown).to_have_css("opacity", "1")
    show_action(service, figure("a", 200, 200))
    expect(shown).to_have_class("card scaled lower_third with-team aside")


def test_the_producer_takes_cards_off_the_air_and_puts_them_back(service: PageServer, page: Page) -> None:
    opened(page, service)
    card(service, "final", title="Final", teams=teams(service, "A", "B"))
    stage = page.locator("#stage")
    expect(stage).to_have_css("opacity", "1")
    service.publish("on_air", OnAirView(elements=("bug",)))
    expect(stage).to_have_css("opacity", "0")
    service.publish("on_air", OnAirView())
    expect(stage).to_have_css("opacity", "1")
