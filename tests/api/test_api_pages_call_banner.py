"""The call banner in a real browser: which calls it shows, in which words, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from browsers import PageServer, browser, page_in
from overlay_pages import a_call, figure, link, overlay_service, show_action
from playwright.sync_api import Browser, Page, expect
from waiting import wait_until

from downfield.game.published.game_topics import CallsUpdate, ReadingView
from downfield.game.published.stream_topics import GraphicView, ReplayView
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
    expect(banner.locator(".text")).to_have_text("River City 28 tackled by Oakdale 24")
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
    expect(banner.locator(".text")).to_have_text("River City 28 tackled by Oakdale 24")
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
    service.publish("calls", CallsUpdate(game="the next", calls=()))
    expect(page.locator(".banner")).to_have_count(0, timeout=40_000)  # long before its 60 seconds are over


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
    expect(page.locator(".banner .text")).to_have_text(["River City 28 tackled by Oakdale 24"])
    page.goto(f"{service.url}/overlay/calls?noted=show")
    link(page, "live")
    service.publish("calls", CallsUpdate(calls=(noted.model_copy(update={"id": "stop 2"}),)))
    expect(page.locator(".banner .text")).to_have_text(["Stoppage 1"])


EVERYWHERE = [(x, y) for x in range(50, 1920, 100) for y in range(40, 1080, 100)]
"""A crowd that leaves no room for a banner, mm."""


@pytest.mark.parametrize(
    ("runner", "tackler"),
    [((960, 950), (990, 940)), ((300, 950), (1400, 960)), ((960, 100), (960, 130)), ((400, 880), (420, 300))],
    ids=["top", "top left and right", "bottom", "left"],
)
def test_a_banner_hides_neither_the_carrier_nor_whom_he_touches(
    service: PageServer, page: Page, runner: tuple[float, float], tackler: tuple[float, float]
) -> None:
    page.goto(f"{service.url}/overlay/calls?seconds=60")
    link(page, "live")
    show_action(service, figure("a", *runner), figure("b", *tackler), figure("c", 960, 540), touching=(("b", "a"),))
    service.publish("calls", CallsUpdate(calls=(a_call(),)))
    banner = page.locator(".banner")
    expect(banner).to_have_css("opacity", "1")
    box = banner.bounding_box()
    assert box is not None
    for x, y in (runner, tackler):
        inside = box["x"] <= x <= box["x"] + box["width"] and box["y"] <= 1080 - y <= box["y"] + box["height"]
        assert not inside, f"{(x, y)} lies under {box}"


def test_a_banner_without_a_free_place_is_not_seen_until_there_is_one(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/calls?seconds=60")
    link(page, "live")
    crowd = [figure(f"f{index}", *place) for index, place in enumerate(EVERYWHERE)]
    show_action(service, *crowd, touching=tuple(("f0", other.id) for other in crowd[1:]))
    service.publish("calls", CallsUpdate(calls=(a_call(),)))
    banner = page.locator(".banner")
    expect(banner).to_have_css("opacity", "0")
    show_action(service, figure("f0", 960, 540))
    expect(banner).to_have_css("opacity", "1")


def test_an_everyday_call_is_a_strip_and_leaves_a_question_room(service: PageServer, page: Page) -> None:
    everyday = a_call(id="line", kind="line_of_scrimmage", text="dark-28 reaches the line")
    page.goto(f"{service.url}/overlay/calls?seconds=60")
    link(page, "live")
    service.publish("calls", CallsUpdate(calls=(everyday,)))
    banner = page.locator(".banner")
    expect(banner).to_have_text("River City 28 reaches the line")
    box = banner.bounding_box()
    assert box is not None
    assert box["height"] < 60, box
    service.publish("calls", CallsUpdate(calls=(everyday.model_copy(update={"verdict": "too_close"}),)))
    expect(banner.locator(".tab")).to_have_text("Too close to call")
    page.goto(f"{service.url}/overlay/calls?everyday=hide")
    link(page, "live")
    service.publish("calls", CallsUpdate(calls=(everyday.model_copy(update={"id": "other"}), a_call(text="a tackle"))))
    expect(banner).to_have_count(1)
    expect(banner.locator(".text")).to_have_text("A tackle")


def test_replays_and_cards_come_without_banners(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/calls?seconds=60")
    link(page, "live")
    banner = page.locator(".banner")
    service.publish("calls", CallsUpdate(calls=(a_call(),)))
    expect(banner).to_have_css("opacity", "1")
    service.publish("replay", ReplayView(take=1, state="ready", clip="clip.mp4"))
    expect(banner).to_have_css("opacity", "0")
    service.publish("replay", ReplayView(take=1, state="none"))
    expect(banner).to_have_css("opacity", "1")
    service.publish("graphic", GraphicView(take=1, kind="review", title="Under review", seconds=0))
    expect(banner).to_have_css("opacity", "0")
    service.publish("graphic", GraphicView(take=2))
    expect(banner).to_have_css("opacity", "1")


@pytest.mark.parametrize(("width", "height"), [(500, 281), (800, 600), (1280, 720), (2560, 1440)])
def test_an_overlay_has_the_size_of_its_source_and_nothing_is_cut(
    service: PageServer, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    for name, shown in (("scorebug", ".bug"), ("calls", ".banner")):
        page.goto(f"{service.url}/overlay/{name}?position=bottom-right")
        link(page, "live")
        service.publish("calls", CallsUpdate(calls=(a_call(id=f"{name} {width}"),)))
        expect(page.locator(shown)).to_be_visible()
        box = page.locator(shown).bounding_box()
        assert box is not None
        fit = min(width / 1920, height / 1080)
        assert box["x"] >= 0
        assert box["x"] + box["width"] == pytest.approx(width - 72 * fit, abs=1)
        assert 0.3 * 1920 * fit < box["width"] < 1920 * fit


def test_the_scene_fits_its_parts_to_the_source_once(service: PageServer, page: Page) -> None:
    page.set_viewport_size({"width": 960, "height": 540})
    page.goto(f"{service.url}/overlay/scene")
    bug = page.frame_locator("iframe[title=scorebug]").locator(".bug")
    expect(bug).to_be_visible()
    small = bug.bounding_box()
    assert small is not None
    page.set_viewport_size({"width": 1920, "height": 1080})
    twice = pytest.approx(2 * small["width"], rel=0.02)
    wait_until(lambda: (box := bug.bounding_box()) is not None and box["width"] == twice)
