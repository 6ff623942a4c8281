"""A whole short game of each rulebook in a browser, by nothing but what the panel offers; the overlay follows it."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Final

import httpx
import pytest
from browsers import WAIT_MS, browser, page_in
from legal_moves import CARDS
from playwright.sync_api import Locator, Page, expect
from waiting import WAIT_S, wait_until

from downfield.core.field.model import load_field
from downfield.game.published.plays import Play
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.review.reports.statistics import team_lines
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper

PLAYS_IN_A_PERIOD: Final = 3
MOVES: Final = 150
"""More than so short a game takes."""
ENDS_A_PLAY: Final = ("Play ended", "Card", "Return", "Foul", "Kick ended")
"""What ends a play or a part of it, as the panel names it; it is declared whenever it may be."""
GOES_ON: Final = ("Kick", "Choice", "Board", "Dice")
"""What else goes on with a game."""
TOPICS: Final = ["game", "declared", "questions", "line_up", "ball"]
SHOWN: Final = """async (topics) => {
  const { feed } = await import(new URL("assets/panel.js", document.baseURI));
  const isCurrent = document.getElementById("more").ariaBusy === null;
  return isCurrent ? JSON.stringify(topics.map((topic) => feed.value(topic))) : "null";
}"""
SHORTS: Final = {"home": "RIV", "away": "OAK"}
SKILLS: Final = ("quarterback 1", "quarterback 2", "quarterback 3", "kicker", "punter")


class Operator:
    """Somebody with a phone who knows no rulebook."""

    def __init__(self, page: Page, keeper: Scorekeeper, seed: int) -> None:
        self._page, self._keeper = page, keeper
        self._chance = random.Random(seed)
        self.paper: Counter[tuple[str, int]] = Counter()
        """Scores as they appear on the panel, by team and points: what a box score must come to."""
        self._section = page.locator("details", has_text="Declare anything")
        wait_until(self._is_up_to_date, "the panel shows the game")
        self._section.locator("summary").press("Enter")

    @property
    def what(self) -> Locator:
        """The choice of what to declare."""
        return self._section.get_by_label("What to declare")

    def offers(self) -> list[str]:
        """Return what may be declared now."""
        return self.what.locator("option:not([disabled])").all_text_contents()

    def answer(self) -> bool:
        """Answer the first question; returns whether there was one."""
        card = self._page.locator("#questions > li").first
        if card.locator("button, input").count() == 0:  # no question, or one that something else answers
            return False
        if card.locator(".die").count():
            card.get_by_role("button", name="Roll them for me").press("Enter")
            self._send(card.get_by_role("button", name="Rolled"))
        elif card.locator("input").count():
            card.locator("input").fill(str(self._chance.randint(1, 100)))
            self._send(card.get_by_role("button", name="Rolled"))
        else:
            choices = card.get_by_role("button").all()
            self._send(self._chance.choice(choices))
        return True

    def declare(self, offer: str, **inputs: str) -> None:
        """Declare one thing with some inputs filled in, by their labels."""
        self.what.select_option(label=offer)
        form = self._section.locator("form")
        for label, value in inputs.items():
            box = form.get_by_label(label.replace("_", " "))
            if box.evaluate("one => one.tagName") == "SELECT":
                box.select_option(value)
            else:
                box.fill(value)
        self._send(form.get_by_role("button", name="Declare"))

    def go_on(self) -> None:
        """Declare something that goes on with the game, with numbers of a table."""
        offers = [offer.partition(": ") for offer in self.offers()]
        ends = [offer for offer in offers if offer[0] in ENDS_A_PLAY]
        chosen = self._chance.choice(ends or [offer for offer in offers if offer[0] in GOES_ON])
        kind, offer, word = chosen[0], "".join(chosen), chosen[2].replace(" ", "_")
        if kind == "Card":
            self.declare(offer, Text_on_the_card=self._chance.choice(CARDS.get(word, ("",))))
        elif kind == "Return":
            self.declare(offer, Text_on_the_return=str(self._chance.randint(0, 30)))
        elif kind == "Play ended" and word not in {"touchdown", "safety", "touchback", "incomplete"}:
            self.declare(offer, Yard_line=str(self._chance.randint(2, 49)))
        else:
            self.declare(offer)

    def _send(self, button: Locator) -> None:
        """Press a button, and wait until the panel offers what follows."""
        before, points = len(self._keeper.game_service.declarations()), self._points()
        button.press("Enter")  # a key is never too early after a change
        notice = self._page.locator("#notice")
        wait_until(lambda: len(self._keeper.game_service.declarations()) > before, notice.inner_text)
        wait_until(self._is_up_to_date, "the panel shows the game")
        for team, now in self._points().items():
            if now != points[team]:  # a penalty may take points away again
                self.paper[team, abs(now - points[team])] += 1 if now > points[team] else -1

    def _points(self) -> dict[str, int]:
        """Return the points of both teams as the panel shows them."""
        teams = {short: self._page.locator("#score .team", has_text=short) for short in SHORTS.values()}
        return {short: int(team.locator(".points").text_content() or "0") for short, team in teams.items()}

    def _is_up_to_date(self) -> bool:
        """Return whether the panel has everything that the service published, and offers what may be declared now."""
        state = httpx.get(f"{self._keeper.service.address}api/state", timeout=WAIT_S).text
        published = json.loads(state, parse_int=float)["data"]  # a script has no integers of 64 bits
        shown = json.loads(self._page.evaluate(SHOWN, TOPICS), parse_int=float)
        return bool(shown == [published.get(topic) for topic in TOPICS])


@pytest.mark.parametrize("book", ["tap", "efl", "lions-den", "nfl-strategy"])
def test_a_whole_game_is_kept_by_what_the_panel_offers(tmp_path: Path, book: str) -> None:
    given = {"game.rulebook": book, "service.port": 0, "data": str(tmp_path)}
    teams = NewGame(home=TeamSheet(name="River City", short="RIV"), away=TeamSheet(name="Oakdale", short="OAK"))
    keeper = Scorekeeper(load(None, command_line=given), load_field("ultimate"), teams)
    try:
        with browser() as chrome, page_in(chrome, phone=True) as phone, page_in(chrome) as overlay:
            overlay.goto(f"{keeper.service.address}overlay/scorebug")
            phone.goto(f"{keeper.service.address}panel")
            expect(phone.locator("html")).to_have_attribute("data-link", "live")
            operator = Operator(phone, keeper, seed=5)
            play_to_the_end(operator, phone, book)
            for short, points in operator._points().items():
                expect(overlay.locator("body")).to_contain_text(re.compile(rf"{short}\D*{points}"), timeout=WAIT_MS)
            expect(overlay.locator("body")).to_contain_text("Final")
            assert phone.locator("#notice").is_hidden()
            assert_box_score(f"{keeper.service.address}api/games/current", operator.paper)
    finally:
        keeper.close()


def assert_box_score(address: str, paper: Counter[tuple[str, int]]) -> None:
    """Check the game's plays and its box score against what was written down from the panel."""
    plays = [Play.model_validate(play) for play in httpx.get(f"{address}/plays", timeout=WAIT_S).json()]
    scored = Counter((SHORTS[side], points) for play in plays for side, points in play.points)
    assert scored == Counter({score: count for score, count in paper.items() if count})
    for line in team_lines(plays):
        assert line.touchdowns == paper[SHORTS[line.side], 6]
        assert line.field_goals == paper[SHORTS[line.side], 3]


def play_to_the_end(operator: Operator, phone: Page, book: str) -> None:
    """Play on until the game is over; every few plays the period's time is up."""
    if book == "lions-den":
        for skill in SKILLS:
            for side in ("home", "away"):
                operator.declare(f"Dice: {skill}", Dice_in_the_order_rolled="4 6", By=side)
    since = 0
    for _ in range(MOVES):
        if phone.locator("#down").text_content() == "Final":
            return
        if operator.answer():
            continue
        since += 1
        between = "between plays" in (phone.locator("#phase").text_content() or "").lower()
        if since > PLAYS_IN_A_PERIOD and between:
            operator.declare("Clock: stop", Seconds_left="0")
            since = 0
        else:
            operator.go_on()
    pytest.fail("the game does not end")
