"""The call banner in a real browser: which calls it shows, in which words, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from browsers import PageServer, browser, page_in
from overlay_pages import a_call, link, overlay_service
from playwright.sync_api import Browser, Page, expect

from downfield.game.published.game_topics import CallsUpdate, ReadingView
from downfield.game.records.challenges import ChallengesView, ChallengeView


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


def test_the_call_banner_shows_new_calls_with_their_margin(service: PageServer, page: Page) -> None:
    service.publish("calls", CallsUpdate(calls=(a_call(id="old", text="an old call"),)))
    page.goto(f"{service.url}/overlay/calls?seconds=60")
    link(page, "live")
    service.publish("calls", CallsUpdate(calls=(a_call(),)))
    banner = page.locator(".banner")
    expect(banner).to_have_count(1)
    expect(banner.locator(".text")).to_have_text("Dark 28 tackled by light 24")
    expect(banner.locator(".margin")).to_contain_text("+0.42 ± 0.13 mm>99% sure")
    expect(banner.locator(".clause")).to_have_text("TAP-022 Any contact tackles.")
    service.publish("calls", CallsUpdate(calls=(), withdrawn=("tackle:1",)))
    expect(banner.locator(".tab")).to_have_text("Withdrawn")


def test_a_call_under_review_stays_on_air_until_it_is_decided(service: PageServer, page: Page) -> None:
    game = service.hub.value("game").game
    raised = ChallengeView(
        id="challenge-1", side="home", call="tackle:1", text="dark-28 tackled by light-24", reason="no touch", by="Ann"
    )
    page.clock.install()
    page.goto(f"{service.url}/overlay/calls?seconds=3")
    link(page, "live")
    service.publish("challenges", ChallengesView(game=game, challenges=(raised,)))
    banner = page.locator(".banner")
    expect(banner.locator(".tab")).to_have_text("Under review")
    expect(banner.locator(".text")).to_have_text("Dark 28 tackled by light 24")
    expect(banner.locator(".clause")).to_have_text("River City challenges: no touch")
    service.publish("calls", CallsUpdate(calls=(a_call(id="tackle:2", text="another"),)))
    page.clock.run_for(60_000)
    expect(banner.locator(".tab")).to_have_text("Under review")
    decided = raised.model_copy(update={"decision": "overturned", "ruling_reason": "daylight between them"})
    service.publish("challenges", ChallengesView(game=game, challenges=(decided,)))
    expect(banner.locator(".tab")).to_have_text("Call overturned")
    expect(banner.locator(".clause")).to_have_text("daylight between them")
    page.clock.run_for(6_000)
    expect(banner).to_have_count(0)


def test_the_call_banner_disappears_when_a_new_game_begins(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/calls?seconds=60")
    link(page, "live")
    service.publish("calls", CallsUpdate(calls=(a_call(),)))
    expect(page.locator(".banner .tab")).to_have_text("Call")
    service.publish("calls", CallsUpdate(calls=(), withdrawn=("tackle:1",)))
    expect(page.locator(".banner")).to_have_count(0)


def test_a_close_call_is_shown_with_both_readings_and_then_with_the_ruling(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/calls?seconds=60")
    link(page, "live")
    readings = (
        ReadingView(kind="tackle", probability=0.67, text="tackled"),
        ReadingView(kind="info", probability=0.33, text="no contact"),
    )
    close = a_call(
        verdict="too_close", standing="open", margin=0.06, measured="+0.06 ± 0.13 mm", probability=0.67,
        readings=readings,
    )  # fmt: skip
    service.publish("calls", CallsUpdate(calls=(close,)))
    banner = page.locator(".banner")
    expect(banner.locator(".tab")).to_have_text("Too close to call")
    expect(banner.locator(".reading")).to_have_text(["67%tackled", "33%no contact"])
    expect(banner.locator(".gauge .against")).to_have_count(1)
    service.publish("calls", CallsUpdate(calls=(a_call(standing="confirmed"),)))
    expect(banner.locator(".tab")).to_have_text("Confirmed")


def test_noted_events_are_shown_on_request(service: PageServer, page: Page) -> None:
    noted = a_call(id="stop", verdict="reported", standing="noted", text="stoppage 1")
    page.goto(f"{service.url}/overlay/calls")
    link(page, "live")
    service.publish("calls", CallsUpdate(calls=(noted, a_call())))
    expect(page.locator(".banner .text")).to_have_text(["Dark 28 tackled by light 24"])
    page.goto(f"{service.url}/overlay/calls?noted=show")
    link(page, "live")
    service.publish("calls", CallsUpdate(calls=(noted.model_copy(update={"id": "stop 2"}),)))
    expect(page.locator(".banner .text")).to_have_text(["Stoppage 1"])
