"""The forms of the panel that correct the table, and cards by their windows, in a browser: what they declare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsers import browser, page_in
from playwright.sync_api import Locator, Page, expect

from downfield.core.field.model import load_field
from downfield.core.scene import Player
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.officiating.declarations import LineUpDeclared, SetUp
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper

PLAYERS = (Player("dark-7", "dark", "7", role="QB"), Player("light-50", "light", "50", role="LB"))

Open = Callable[[str], tuple[Scorekeeper, Page]]


@pytest.fixture
def panel(tmp_path: Path) -> Iterator[Open]:
    """A panel of a game under a rulebook, first down at the home team's 25."""
    running: list[Scorekeeper] = []
    with browser() as chrome, page_in(chrome, phone=True) as page:

        def start(book: str) -> tuple[Scorekeeper, Page]:
            settings = {"service.port": 0, "data": str(tmp_path), "game.rulebook": book}
            keeper = Scorekeeper(load(None, command_line=settings), load_field("ultimate"), NewGame())
            running.append(keeper)
            keeper.game_service.declare(SetUp("home", 1, 25.0), Submission())
            page.goto(f"{keeper.service.address}panel")
            expect(page.locator("html")).to_have_attribute("data-link", "live")
            expect(page.locator("#down")).to_contain_text("1st & 10")
            return keeper, page

        yield start
        for keeper in running:
            keeper.close()


def fold(page: Page, title: str) -> Locator:
    """Return one of the panel's sections, by its title."""
    return page.locator("details", has=page.locator("summary", has_text=title))


def form_for(page: Page, offer: str) -> Locator:
    """Return the form that declares one thing, opened and chosen."""
    expect(page.locator("#more")).not_to_have_attribute("aria-busy", "true")  # forms are built anew until then
    section = fold(page, "Declare anything")
    if section.get_attribute("open") is None:
        section.locator("summary").press("Enter")
    section.get_by_label("What to declare").select_option(label=offer)
    return section.locator("form")


def send(form: Locator, label: str = "Declare") -> None:
    form.get_by_role("button", name=label, exact=True).press("Enter")


def declared(page: Page) -> Locator:
    """Return the newest declaration in the panel's list."""
    return page.locator("#declared li").first


def test_figures_are_put_on_the_board_and_swapped_and_turned(panel: Open) -> None:
    keeper, page = panel("tap")
    form = form_for(page, "Figures on the board")
    form.get_by_label("Numbers and roles, dark jerseys").fill("7 qb, 22 RB")
    form.get_by_label("Numbers and roles, light jerseys").fill("50 LB")
    form.get_by_label("Jersey of the offense").select_option("dark")
    send(form)
    expect(page.locator("#declared li")).to_have_count(2)
    players = [(player.id, player.role) for player in keeper.game_service.line_up.players]
    assert players == [("dark-7", "QB"), ("dark-22", "RB"), ("light-50", "LB")]
    form = form_for(page, "Base swapped")
    form.get_by_role("combobox").first.select_option("light-50")
    send(form)
    expect(page.locator("#declared li")).to_have_count(3)
    expect(declared(page)).to_contain_text("Away 50")


def test_the_front_of_a_figure_is_declared(panel: Open) -> None:
    keeper, page = panel("tap")
    keeper.game_service.declare(LineUpDeclared(PLAYERS, "dark"), Submission())
    form = form_for(page, "Front of a figure")
    form.get_by_role("combobox").first.select_option("dark-7")
    form.get_by_role("spinbutton").first.fill("90")
    send(form)
    expect(declared(page)).to_contain_text("Home 7 faces up")
    assert [(front.player, front.heading_deg) for front in keeper.game_service.line_up.fronts.values()] == [
        ("dark-7", 90)
    ]


def test_a_card_is_declared_by_its_windows(panel: Open) -> None:
    _keeper, page = panel("nfl-strategy")
    section = fold(page, "Cards")
    section.locator("summary").press("Enter")
    form = section.locator("form").first
    form.get_by_role("combobox").first.select_option("run")
    windows = form.get_by_label("Windows")
    button = form.get_by_role("button", name="Declare card")
    windows.fill("20: -2 black, 3 red")
    expect(button).to_be_disabled()
    windows.fill("50: 1 black, 2 red, 3 blue\n100: 6 black, 7 black, 8 blue")
    form.get_by_label("Roll, 1 to 100").fill("60")
    expect(button).to_be_enabled()
    send(form, "Declare card")
    expect(page.locator("#down")).to_contain_text("2nd & 3")
