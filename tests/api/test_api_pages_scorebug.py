"""The score bug in a real browser: the game as it goes, the clock, and what it says when calls are suspended."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsers import PageServer, browser, page_in
from overlay_pages import a_call, link, overlay_service
from playwright.sync_api import Browser, Page, expect
from waiting import wait_until

from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.game_topics import CallsUpdate, WaitView


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


def test_the_score_bug_shows_the_game_and_follows_it(service: PageServer, page: Page) -> None:
    score = (14, 7)
    home = service.hub.value("game").home.model_copy(update={"points": 14})
    away = service.hub.value("game").away.model_copy(update={"points": 7})
    shown: dict[str, Any] = {"due": "scrimmage", "down": 2, "distance_yd": 7.3, "spot_text": "RIV 34.2", "score": score}
    service.publish("game", home=home, away=away, possession="away", **shown)
    page.goto(f"{service.url}/overlay/scorebug")
    expect(page.locator(".down")).to_have_text("2nd & 7")
    expect(page.locator(".spot")).to_have_text("RIV 34")
    expect(page.locator(".score")).to_have_text(["7", "14"])
    expect(page.locator(".team.possession .name")).to_have_text("OAK")
    service.publish("game", down=3, home=home.model_copy(update={"points": 20}))
    expect(page.locator(".down")).to_have_text("3rd & 7")
    expect(page.locator(".score")).to_have_text(["7", "20"])


@pytest.mark.parametrize("color", ["#ffffff", "#000000"])
def test_teams_of_one_color_stay_apart_on_the_score_bug(service: PageServer, page: Page, color: str) -> None:
    game = service.hub.value("game")
    teams = (one.model_copy(update={"color": color, "ink": color}) for one in (game.home, game.away))
    service.publish("game", **dict(zip(("home", "away"), teams, strict=True)))
    page.goto(f"{service.url}/overlay/scorebug")
    expect(page.locator(".score")).to_have_text(["0", "0"])
    left, right = (box for team in page.locator(".team").all() if (box := team.bounding_box()) is not None)
    assert right["x"] - left["x"] - left["width"] >= 2


def test_during_a_review_the_score_stays_as_it_was(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/scorebug")
    expect(page.locator(".score")).to_have_text(["0", "0"])
    six = service.hub.value("game").home.model_copy(update={"points": 6})
    service.publish("game", home=six, under_review=True)
    expect(page.locator(".status")).to_have_text("Under review")
    expect(page.locator(".score")).to_have_text(["0", "0"])
    service.publish("game", under_review=False)
    expect(page.locator(".score")).to_have_text(["0", "6"])


def test_the_clock_counts_down_from_the_published_instant(service: PageServer, page: Page) -> None:
    clock = service.hub.value("game").clock
    now_ms = service.hub.snapshot().at_ms
    ran = clock.model_copy(update={"left_s": 247.0, "running": True, "at_ms": now_ms - 60_000, "text": "4:07"})
    service.publish("game", clock=ran)
    page.goto(f"{service.url}/overlay/scorebug")
    page.wait_for_function(
        """(at_ms) => {
            const left_s = 247 - (Date.now() - at_ms) / 1000;
            const [minutes, seconds] = document.querySelector(".time").textContent.split(":").map(Number);
            return Math.abs(60 * minutes + seconds - left_s) < 2;
        }""",
        arg=now_ms - 60_000,
    )


SOON_AFTER = re.compile(r"^(?!0:00)[0-4]:\d\d$")
"""The time left, as long after 4:07 as even a busy computer takes."""


@pytest.mark.parametrize("jump_s", [-3600, 3600])
def test_setting_the_viewers_clock_moves_neither_the_clock_on_air_nor_the_connection(
    service: PageServer, page: Page, jump_s: int
) -> None:
    page.add_init_script("const real = Date.now; Date.now = () => real() + (window.jump_ms ?? 0);")
    clock, now_ms = service.hub.value("game").clock, service.hub.snapshot().at_ms
    ran = clock.model_copy(update={"left_s": 247.0, "running": True, "at_ms": now_ms, "text": "4:07"})
    service.publish("game", clock=ran)
    page.goto(f"{service.url}/overlay/scorebug")
    link(page, "live")
    clock_on_air = page.locator(".time")
    expect(clock_on_air).to_have_text(SOON_AFTER)
    page.evaluate(f"window.jump_ms = {1000 * jump_s}")
    for _ in range(2):  # it runs on
        expect(clock_on_air).not_to_have_text(clock_on_air.inner_text())
    expect(clock_on_air).to_have_text(SOON_AFTER)
    link(page, "live")


@pytest.mark.parametrize(("name", "notice"), [("scorebug", ".status"), ("field", ".suspended")])
def test_hands_between_plays_are_no_trouble_and_in_a_play_they_are(
    service: PageServer, page: Page, name: str, notice: str
) -> None:
    hands = HealthStatus(level="warning", calls="suspended", setting_up=True, text="A hand covers figures")
    service.publish("health", hands)
    page.goto(f"{service.url}/overlay/{name}")
    expect(page.locator("html")).to_have_attribute("data-link", "live")
    expect(page.locator(notice)).not_to_have_text("Camera calls suspended")
    service.publish("game", board="on")
    expect(page.locator(notice)).to_have_text("Camera calls suspended")


def test_suspended_calls_are_shown(service: PageServer, page: Page) -> None:
    service.publish("health", HealthStatus(level="alarm", calls="suspended"))
    for name, notice in (("scorebug", ".status"), ("field", ".suspended")):
        page.goto(f"{service.url}/overlay/{name}")
        expect(page.locator(notice)).to_have_text("Camera calls suspended")


def test_the_status_on_air_never_flashes(service: PageServer, page: Page) -> None:
    received: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(str(data))))

    def until_received(health: HealthStatus) -> None:
        before = len(received)
        service.publish("health", health)
        heard = f'"calls":"{health.calls}"'
        wait_until(lambda: page.evaluate("true") and any(heard in data for data in received[before:]))

    page.clock.install()
    service.publish("game", phase="live", board="on")
    page.goto(f"{service.url}/overlay/scorebug")
    link(page, "live")
    status = page.locator(".status")
    expect(status).to_have_text("Live")
    suspended, fine = HealthStatus(level="alarm", calls="suspended"), HealthStatus()
    for _ in range(4):  # what comes and goes within half a second is no news
        until_received(suspended)
        page.clock.run_for(500)
        expect(status).to_have_text("Live")
        until_received(fine)
        page.clock.run_for(500)
    until_received(suspended)
    page.clock.run_for(3_500)
    expect(status).to_have_text("Camera calls suspended")
    until_received(fine)
    page.clock.run_for(500)
    expect(status).to_have_text("Camera calls suspended")
    page.clock.run_for(2_000)
    expect(status).to_have_text("Live")


def a_play(page: Page, result: str, t_ns: int = 1, ending: str | None = "tackle") -> None:
    """Let the service say what came of the last play."""
    play = {"result": result, "ending": ending, "t_ns": t_ns}
    page.unroute_all()
    page.route("**/api/games/*/plays?limit=1", lambda route: route.fulfill(json=[play]))


def test_the_last_play_is_told_in_words_between_plays(service: PageServer, page: Page) -> None:
    a_play(page, "Tackled by light 24, gain of 4.5 yards")
    page.clock.install()
    page.goto(f"{service.url}/overlay/scorebug")
    link(page, "live")
    status = page.locator(".status")
    page.clock.run_for(3_000)
    expect(status).to_have_text("Tackled by Oakdale 24, gain of 4.5 yards")
    service.publish("game", phase="live", board="on")
    page.clock.run_for(3_000)
    expect(status).to_have_text("Live")
    a_play(page, "Touchdown, first down", t_ns=9)
    service.publish("game", phase="between_plays", board="off")
    page.clock.run_for(3_000)
    expect(status).to_have_text("Touchdown, first down")
    a_play(page, "1 call to be ruled on", t_ns=9, ending=None)  # a ruling takes it back
    service.publish("calls", CallsUpdate(calls=(a_call(standing="struck"),)))
    page.clock.run_for(3_000)
    expect(status).to_be_hidden()
    page.goto(f"{service.url}/overlay/scorebug?play=hide")
    link(page, "live")
    a_play(page, "Touchdown", t_ns=9)
    page.clock.run_for(3_000)
    expect(status).to_be_hidden()


def test_a_flag_lies_from_the_foul_until_the_next_play_and_goes_with_its_call(service: PageServer, page: Page) -> None:
    a_play(page, "", t_ns=50)
    page.clock.install()
    page.goto(f"{service.url}/overlay/scorebug")
    link(page, "live")
    flag = page.locator(".flag")
    foul = a_call(id="penalty:1", kind="penalty", text="holding", t_ns=60)
    service.publish("calls", CallsUpdate(calls=(foul.model_copy(update={"t_ns": 40}),)))  # of the play before
    page.clock.run_for(3_000)
    expect(flag).to_be_hidden()
    service.publish("calls", CallsUpdate(calls=(foul,)))
    expect(flag).to_have_text("Flag")
    page.clock.run_for(60_000)
    expect(flag).to_be_visible()
    service.publish("calls", CallsUpdate(calls=(foul.model_copy(update={"standing": "struck"}),)))
    page.clock.run_for(3_000)
    expect(flag).to_be_hidden()
    wait = WaitView(kind="choice", purpose="penalty", text="accept or decline the penalty")
    service.publish("game", wait=wait)
    expect(flag).to_be_visible()
    service.publish("game", wait=None)
    page.clock.run_for(1_000)
    expect(flag).to_be_visible()  # long enough to be read
    page.clock.run_for(2_000)
    expect(flag).to_be_hidden()
    service.publish("calls", CallsUpdate(calls=(foul,)))
    expect(flag).to_be_visible()
    service.publish("game", phase="live", board="on", t_ns=100)
    page.clock.run_for(3_000)
    expect(flag).to_be_hidden()
    service.publish("game", phase="between_plays", board="off")


def test_text_on_any_team_color_can_be_read(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/scorebug")
    worst = page.evaluate(
        """async () => {
            const { contrast, readable } = await import("/assets/color.js");
            const parts = ["00", "33", "66", "77", "99", "cc", "ff"];
            const all = parts.flatMap((r) => parts.flatMap((g) => parts.map((b) => `#${r}${g}${b}`)));
            return Math.min(...all.map((team) => contrast(readable("#808080", team), team)));
        }"""
    )
    assert worst >= 4.5
