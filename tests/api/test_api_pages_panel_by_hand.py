"""A short game kept on the panel alone: no camera, no line-up, what may not be declared is dimmed with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import browser, page_in
from playwright.sync_api import Page, expect

from downfield.core.field.model import load_field
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.officiating.declarations import SetUp
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Scorekeeper]:
    configuration = load(None, command_line={"service.port": 0, "data": str(tmp_path)})
    running = Scorekeeper(configuration, load_field("ultimate"), NewGame())
    yield running
    running.close()


@pytest.fixture
def phone(keeper: Scorekeeper) -> Iterator[Page]:
    with browser() as chrome, page_in(chrome, phone=True) as page:
        page.goto(f"{keeper.service.address}panel")
        expect(page.locator("html")).to_have_attribute("data-link", "live")
        yield page


def tell(phone: Page, kind: str, yards: str | None = None, by: str = "Home") -> None:
    form = phone.locator("details", has_text="How the play ended").locator("form")
    expect(form).to_be_visible()
    expect(phone.locator("#more")).not_to_have_attribute(
        "aria-busy", "true"
    )  # it is built anew from what may be declared
    form.get_by_label("How it ended").select_option(label=kind)
    form.get_by_label("Who had the ball").select_option(label=by)
    if yards is not None:
        form.get_by_label("Yard line").fill(yards)
    form.get_by_role("button", name="Declare the end").click()


def test_what_a_league_adds_to_tackles_is_told_on_the_panel(tmp_path: Path) -> None:
    rules = tmp_path / "league.toml"
    rules.write_text('base = "tap"\n[tackle]\nside_bonus_yd = 2\nfumble_sums = [2]\n', encoding="utf-8")
    given = {"service.port": 0, "data": str(tmp_path), "game.rulebook": str(rules)}
    keeper = Scorekeeper(load(None, command_line=given), load_field("ultimate"), NewGame())
    try:
        keeper.game_service.declare(SetUp("home", 1, 40.0), Submission())
        with browser() as chrome, page_in(chrome, phone=True) as phone:
            phone.goto(f"{keeper.service.address}panel")
            form = phone.locator("details", has_text="How the play ended").locator("form")
            hit = form.get_by_label("How he was hit")
            expect(hit).to_be_visible()
            assert hit.locator("option").all_text_contents() == ["From the front", "From the side"]
            form.get_by_label("How it ended").select_option(label="Stopped")
            expect(hit).to_be_hidden()
            form.get_by_label("How it ended").select_option(label="Tackle")
            hit.select_option(label="From the side")
            tell(phone, "Tackle", "45")
            for die in (1, 2):
                phone.locator("#questions").get_by_role("button", name=f"Die {die}: 4").click()
            phone.locator("#questions").get_by_role("button", name="Rolled").click()
            expect(phone.locator("#down")).to_contain_text("2nd & 3")
            expect(phone.locator("#calls")).to_contain_text("2 yards for a hit from the side")
    finally:
        keeper.close()


def test_a_short_game_is_kept_on_the_panel_alone(keeper: Scorekeeper, phone: Page) -> None:
    down = phone.locator("#down")
    dock = phone.locator("#dock")
    expect(phone.locator("details", has_text="How the play ended").first).to_contain_text("How it ended")
    expect(dock.get_by_role("button", name="Onside kick")).to_have_class("dimmed")
    dock.get_by_role("button", name="Onside kick").click(force=True)
    expect(phone.locator("#notice")).to_contain_text("is not trailing")
    dock.get_by_role("button", name="Touchback").click()
    expect(down).to_contain_text("1st & 10")
    tell(phone, "Tackle", "32")
    expect(down).to_contain_text("2nd & 3")
    tell(phone, "Incomplete")
    expect(down).to_contain_text("3rd & 3")
    tell(phone, "Touchdown")
    expect(phone.locator("#score")).to_contain_text("6")
    expect(phone.locator("#questions")).to_contain_text("Extra point")
    phone.locator("#questions").get_by_role("button", name="Extra point").click()
    expect(phone.get_by_role("group", name="Die 2 of 2")).to_be_visible()
    for die in (1, 2):
        phone.locator("#questions").get_by_role("button", name=f"Die {die}: 4").click()
    phone.locator("#questions").get_by_role("button", name="Rolled").click()
    expect(phone.locator("#score")).to_contain_text("7")
    keeper.game_service.declare(SetUp("away", -1, 75.0, score=(7, 0)), Submission())
    expect(down).to_contain_text("1st & 10")
    tell(phone, "Tackle", "40", by="Home")  # their own 40, a gain of 15 yards
    expect(phone.locator("#calls")).to_contain_text("first down")
    phone.goto(f"{keeper.service.address}game")
    expect(phone.locator("#message")).to_contain_text("No camera was used in this game")
    tackle = phone.locator("#plays .call", has_text="Tackle at H 32")
    expect(tackle.get_by_role("button", name=re.compile("^Challenge"))).to_be_visible()
    tackle.locator("a.text").click()
    expect(phone.locator("#call .text")).to_have_text("Tackle at H 32")
    expect(phone.locator("#message")).not_to_be_empty()


def test_the_game_is_set_up_before_a_kick_on_the_panel(phone: Page) -> None:
    phone.locator("summary", has_text="Correct the game").click()
    form = phone.locator("details", has_text="Correct the game").locator("form")
    form.get_by_label("Next play").select_option(label="Free kick")
    expect(form.get_by_label("Yard line")).to_be_hidden()
    form.get_by_label("Points H").fill("2")
    form.get_by_role("button", name="Correct the game").click()
    expect(phone.locator("#down")).to_contain_text("Free kick")
