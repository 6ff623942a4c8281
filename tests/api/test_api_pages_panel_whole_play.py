"""A whole play called from the phone, by taps alone: how many it takes, and that none is left over at its end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import OAKDALE, RIVER_CITY, PageServer, browser, page_in
from playwright.sync_api import Browser, Locator, Page, expect
from scripted_plays import Film, ScriptedFigure, film, opening, runs, stands

from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame

RUNNER, HITTER = "dark-22", "light-50"
BEFORE_SNAP_S = 0.4


class Thumb:
    """Taps what it is shown, and counts."""

    def __init__(self) -> None:
        self.taps: list[str] = []

    def tap(self, button: Locator, x_share: float = 0.5, y_share: float = 0.5) -> None:
        """Tap once, somewhere on it."""
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box is not None
        label = button.get_attribute("aria-label") or button.inner_text()
        button.tap(position={"x": box["width"] * x_share, "y": box["height"] * y_share})
        self.taps.append(label)

    def choose(self, menu: Locator, value: str) -> None:
        """Choose from a menu: a tap that opens it, and one on the choice."""
        menu.select_option(value)
        self.taps += ["menu", value]


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    running = PageServer(tmp_path_factory.mktemp("service"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def service(serving: PageServer) -> PageServer:
    serving.game_service.start_game(NewGame(home=RIVER_CITY, away=OAKDALE))
    return serving


@pytest.fixture
def phone(chrome: Browser, service: PageServer) -> Iterator[Page]:
    with page_in(chrome, phone=True) as page:
        page.goto(f"{service.url}/panel")
        expect(page.locator("html")).to_have_attribute("data-link", "live")
        yield page


def tackled() -> Film:
    figures = [ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"), ScriptedFigure(HITTER, stands(50), "LB")]
    return film(figures, 3.0, on=((0.5, 1.65),))


def line_up(service: PageServer, shot: Film) -> None:
    """What the play before and the line-up leave behind."""
    for _, declaration in opening(shot, RUNNER)[:2]:
        service.game_service.declare(declaration, Submission())


def test_two_taps_before_the_snap_are_all_that_a_play_with_a_camera_takes(service: PageServer, phone: Page) -> None:
    shot, thumb = tackled(), Thumb()
    line_up(service, shot)
    start_ns = shot.scenes[0].t_ns
    before = [scene for scene in shot.scenes if scene.t_ns - start_ns < BEFORE_SNAP_S * 1e9]
    for scene in before:
        service.game_service.take(scene)
    thumb.tap(phone.locator(f"[data-player='{RUNNER}']"))
    thumb.tap(phone.locator("#dock").get_by_role("button", name="Set", exact=True))
    expect(phone.locator("#phase")).to_contain_text("Set")
    rest = shot.scenes[len(before) :]
    for scene in rest:
        service.game_service.take(scene)
    expect(phone.locator("#calls li").first).to_contain_text("ackle")
    expect(phone.locator("#questions li")).to_have_count(0)
    expect(phone.locator("#down")).to_contain_text("2nd")
    assert len(thumb.taps) == 2


def test_without_a_camera_a_play_is_told_in_five_taps(service: PageServer, phone: Page) -> None:
    shot, thumb = tackled(), Thumb()
    line_up(service, shot)
    told = phone.locator("details", has_text="How the play ended")
    thumb.tap(told.locator("summary"))
    thumb.choose(told.get_by_label("How it ended"), "tackle")
    field = told.locator(".spot-picker")
    thumb.tap(field, (10 + 46) / 120)  # where the figure stands, between the end zones
    expect(told.get_by_label("Yard line")).to_have_value("46")
    thumb.tap(told.get_by_role("button", name="Declare the end of the play"))
    expect(phone.locator("#down")).to_have_text("2nd & 4 at RIV 46")
    assert len(thumb.taps) == 5
