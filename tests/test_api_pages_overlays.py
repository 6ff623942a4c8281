"""The overlays in a real browser: what they show, when they hide, and that any order of starting works."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, Page, expect

from downfield.api.routes.pages import assets
from downfield.core.field import preset
from downfield.core.scene import Scene
from downfield.game.challenges import ChallengesView, ChallengeView
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.game_topics import CallsUpdate, CallView, ClauseView, GameView, ReadingView
from downfield.game.published.publisher import scene_view
from downfield.game.published.stream_topics import GraphicRow, GraphicView, ReplayView
from downfield.review.replay.fragments import encode_fragments
from downfield.rig.recording.recorded_clip import bundled_demo, open_clip

FIELD = preset("ultimate")
STALE_MS = 13_000


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PageServer, GameView]]:
    running = PageServer(tmp_path_factory.mktemp("service"))
    running.start()
    yield running, running.hub.value("game")
    running.stop()


@pytest.fixture
def service(serving: tuple[PageServer, GameView]) -> PageServer:
    """The service with a game as it begins."""
    running, begun = serving
    running.publish("game", begun)
    running.publish("calls", CallsUpdate(calls=()))
    running.publish("challenges", ChallengesView())
    running.publish("health", HealthStatus())
    return running


@pytest.fixture
def page(chrome: Browser) -> Iterator[Page]:
    with page_in(chrome) as opened:
        yield opened


def link(page: Page, state: str) -> None:
    expect(page.locator("html")).to_have_attribute("data-link", state)


def a_call(**changes: Any) -> CallView:
    values: dict[str, Any] = {
        "id": "tackle:1",
        "kind": "tackle",
        "verdict": "called",
        "standing": "stands",
        "text": "dark-28 tackled by light-24",
        "t_ns": 1_000_000_000,
        "clauses": (ClauseView(id="TAP-022", text="Any contact tackles."),),
        "side": "away",
        "margin": 0.42,
        "sigma": 0.13,
        "unit": "mm",
        "measured": "+0.42 ± 0.13 mm",
        "probability": 0.9994,
    }
    return CallView(**values | changes)


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
    expect(page.locator(".time")).to_have_text(re.compile(r"4:0\d|3:5\d"))
    page.evaluate(f"window.jump_ms = {1000 * jump_s}")
    page.wait_for_timeout(1_500)
    expect(page.locator(".time")).to_have_text(re.compile(r"4:0\d|3:5\d"))
    link(page, "live")


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
    expect(box.locator(".title")).to_have_text("Dark 28 tackled by light 24")
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


def test_a_card_is_shown_in_the_scene_and_goes_when_a_play_begins(service: PageServer, page: Page) -> None:
    service.publish("game", due="scrimmage", down=2, distance_yd=7.3)
    page.goto(f"{service.url}/overlay/scene?calls=hide")
    cards, bug = page.frame_locator("iframe[title=graphics]"), page.frame_locator("iframe[title=scorebug]")
    expect(bug.locator(".down")).to_have_text("2nd & 7")
    expect(page.locator("iframe")).to_have_count(3)
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
