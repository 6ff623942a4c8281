"""The splash in a real browser: which calls have one, in whose colors, for how long, and when it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsers import PageServer, browser, page_in
from overlay_pages import a_call, figure, link, overlay_service, show_action
from playwright.sync_api import Browser, Locator, Page, expect

from downfield.game.published.game_topics import CallsUpdate, GameView
from downfield.game.published.stream_topics import OnAirView, ReplayView


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


def opened(page: Page, service: PageServer, options: str = "") -> Locator:
    """Open the overlay with a clock of the test's own and return its splash."""
    page.clock.install()
    page.goto(f"{service.url}/overlay/calls?seconds=6{options}")
    link(page, "live")
    return page.locator(".splash")


def call(service: PageServer, kind: str, **changes: Any) -> None:
    service.publish("calls", CallsUpdate(calls=(a_call(**{"id": f"{kind}:1", "kind": kind, "text": kind} | changes),)))


def game_of(service: PageServer) -> GameView:
    game = service.hub.value("game")
    assert isinstance(game, GameView)
    return game


@pytest.mark.parametrize(
    ("kind", "side", "title"),
    [
        ("touchdown", "home", "Touchdown"),
        ("interception", "away", "Interception"),
        ("fumble_recovery", "away", "Fumble recovery"),
        ("turnover_on_downs", "away", "Turnover on downs"),
        ("first_down", "home", "First down"),
        ("field_goal", "home", "Field goal"),
        ("safety", "away", "Safety"),
    ],
)
def test_a_great_call_has_a_splash_with_its_team_and_then_its_banner(
    service: PageServer, page: Page, kind: str, side: str, title: str
) -> None:
    splash = opened(page, service)
    service.publish("game", game_of(service).model_copy(update={"offense": "home", "possession": "home"}))
    call(service, kind, side=side)
    expect(splash.locator("h1")).to_have_text(title)
    team = getattr(game_of(service), side)
    expect(splash.locator("p")).to_have_text(team.name)
    assert splash.evaluate("(element) => element.style.getPropertyValue('--team')") == team.color
    page.clock.run_for(2_500)
    expect(splash).to_have_count(1)
    page.clock.run_for(1_500)
    expect(splash).to_have_count(0)
    expect(page.locator(".banner .tab")).to_have_text("Call")


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("touchdown", {"verdict": "too_close", "standing": "open"}),
        ("touchdown", {"verdict": "proposed", "standing": "open"}),
        ("touchdown", {"verdict": "reported", "standing": "noted"}),
        ("touchdown", {"standing": "overturned"}),
        ("field_goal", {"detail": "short"}),
        ("fumble_recovery", {"side": "home"}),  # its own ball
        ("tackle", {}),
    ],
)
def test_what_is_not_in_force_or_changes_nothing_has_none(
    service: PageServer, page: Page, kind: str, changes: dict[str, Any]
) -> None:
    splash = opened(page, service, "&noted=show")
    service.publish("game", game_of(service).model_copy(update={"offense": "home", "possession": "home"}))
    call(service, kind, **changes)
    expect(page.locator(".banner")).to_have_count(1)
    page.clock.run_for(1_000)
    expect(splash).to_have_count(0)


@pytest.mark.parametrize("how", ["struck", "overturned", "withdrawn", "under_review", "new_game"])
def test_a_splash_goes_at_once_when_its_call_does(service: PageServer, page: Page, how: str) -> None:
    splash = opened(page, service)
    call(service, "touchdown", side="home")
    expect(splash).to_have_count(1)
    game = game_of(service)
    if how == "withdrawn":
        service.publish("calls", CallsUpdate(game=game.game, calls=(), withdrawn=("touchdown:1",)))
    elif how == "under_review":
        service.publish("game", game.model_copy(update={"under_review": True}))
    elif how == "new_game":
        service.publish("game", game.model_copy(update={"game": "another"}))
    else:
        call(service, "touchdown", side="home", standing=how)
    page.clock.run_for(800)
    expect(splash).to_have_count(0)
    call(service, "touchdown", side="home", standing="confirmed")  # it had its splash
    page.clock.run_for(1_000)
    expect(splash).to_have_count(0 if how != "new_game" else 1)


def test_a_close_one_has_its_splash_once_it_is_confirmed_and_only_while_it_is_news(
    service: PageServer, page: Page
) -> None:
    splash = opened(page, service)
    call(service, "touchdown", verdict="too_close", standing="open", side="home")
    call(service, "first_down", verdict="too_close", standing="open", side="home")
    page.clock.run_for(10_000)
    expect(splash).to_have_count(0)
    call(service, "touchdown", verdict="too_close", standing="confirmed", side="home")
    page.clock.run_for(4_000)
    expect(splash.locator("h1")).to_have_text("Touchdown")
    page.clock.run_for(60_000)
    call(service, "first_down", verdict="too_close", standing="confirmed", side="home")
    page.clock.run_for(4_000)
    expect(splash).to_have_count(0)


def test_what_a_ruling_makes_again_and_what_is_known_at_the_start_has_none(service: PageServer, page: Page) -> None:
    service.publish("calls", CallsUpdate(calls=(a_call(id="touchdown:0", kind="touchdown", t_ns=60_000_000_000),)))
    splash = opened(page, service)
    call(service, "touchdown", id="touchdown:again", t_ns=20_000_000_000, side="home")
    call(service, "touchdown", id="touchdown:0", t_ns=60_000_000_000, side="home")
    page.clock.run_for(3_000)
    expect(page.locator(".banner")).to_have_count(1)
    expect(splash).to_have_count(0)
    call(service, "touchdown", id="touchdown:2", t_ns=80_000_000_000, side="home")
    page.clock.run_for(3_000)
    expect(splash).to_have_count(1)


def test_a_touchdown_on_a_try_and_a_hidden_splash_are_none(service: PageServer, page: Page) -> None:
    splash = opened(page, service)
    service.publish("game", game_of(service).model_copy(update={"due": "two_point"}))
    call(service, "touchdown", side="home")
    expect(page.locator(".banner")).to_have_count(1)
    expect(splash).to_have_count(0)
    service.publish("game", game_of(service).model_copy(update={"due": "scrimmage"}))
    page.goto(f"{service.url}/overlay/calls?splash=hide")
    link(page, "live")
    call(service, "touchdown", id="touchdown:2", side="home")
    expect(page.locator(".banner")).to_have_count(1)
    expect(splash).to_have_count(0)


def test_the_producer_takes_banner_or_splash_off_the_air(service: PageServer, page: Page) -> None:
    splash = opened(page, service)
    service.publish("on_air", OnAirView(elements=("splash",)))
    call(service, "first_down", side="home")
    expect(splash).to_be_visible()
    page.clock.run_for(4_000)
    expect(page.locator(".banner")).to_have_count(1)
    expect(page.locator(".banner")).to_be_hidden()
    service.publish("on_air", OnAirView(elements=("banner",)))
    expect(page.locator(".banner")).to_be_visible()
    call(service, "touchdown", side="home")
    page.clock.run_for(3_000)
    expect(splash).to_be_hidden()
    service.publish("on_air", OnAirView())


def test_a_splash_is_never_over_the_carrier(service: PageServer, page: Page) -> None:
    splash = opened(page, service)
    show_action(service, figure("dark-28", 960, 980))  # where a splash would be
    call(service, "first_down", side="home")
    expect(splash).to_be_visible()
    box = splash.bounding_box()
    assert box is not None
    assert not (box["x"] < 960 < box["x"] + box["width"] and box["y"] < 100 < box["y"] + box["height"]), box


@pytest.mark.parametrize("size", [(500, 281), (800, 600), (1280, 720), (1920, 1080)])
@pytest.mark.parametrize("name", ["Y", "Łódź Lightning-Strikers of the Northern Harbor Town, 1st XI.", "大阪雷神" * 15])
def test_a_splash_fits_any_name_in_any_source(
    service: PageServer, page: Page, size: tuple[int, int], name: str
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    game = game_of(service)
    service.publish("game", game.model_copy(update={"home": game.home.model_copy(update={"name": name})}))
    splash = opened(page, service)
    call(service, "turnover_on_downs", side="home")
    expect(splash.locator("p")).to_have_text(name)
    page.clock.run_for(600)
    box = splash.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= size[0]
    assert box["y"] + box["height"] <= size[1]
    cut = "(all) => all.some((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)"
    assert not splash.locator("h1, p").evaluate_all(cut), "text is cut"
    service.publish("game", game)


def test_a_replay_waits_for_the_splash(service: PageServer, page: Page) -> None:
    page.clock.install()
    page.goto(f"{service.url}/overlay/replay")
    link(page, "live")
    service.publish("replay", ReplayView(take=0))
    call(service, "touchdown", side="home")
    service.publish("replay", ReplayView(take=7, state="ready", clip="nothing.mp4", text="touchdown", seconds=3))
    page.clock.run_for(2_000)
    video = page.locator("video")
    assert video.get_attribute("src") is None
    page.clock.run_for(2_000)
    expect(video).to_have_attribute("src", f"{service.url}/nothing.mp4?take=7")
