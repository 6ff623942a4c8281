"""A call that rests on several things measured, in a real browser: each has its bell, its number and its percentage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import PHONE, PageServer, browser, page_in
from playwright.sync_api import Browser, Page, expect

from downfield.core.field.model import load_field
from downfield.game.published.game_topics import CallsUpdate, CallView, Question, Questions
from downfield.game.published.views import CallContext, call_view
from downfield.game.records.entries import GameStarted, record_of
from downfield.officiating.calls import Finding
from downfield.officiating.conditions import Condition, share_accepted
from downfield.officiating.engine.calling import make_call
from downfield.officiating.params import Params
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.rules.square_tackles import SQUARE_TACKLE_PARAMS, square_limit

LIMIT = square_limit(Params(SQUARE_TACKLE_PARAMS))
SQUARE = share_accepted(LIMIT, 2.0, 3.0)
TOUCH = 0.97


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    running = PageServer(tmp_path_factory.mktemp("service"))
    running.start()
    yield running
    running.stop()


def tackle(confidence: float) -> CallView:
    touch = Condition("touch", TOUCH, -0.4, 0.2, "mm")  # surer by its history than this frame shows
    square = Condition("square", SQUARE, 2.0, 3.0, "deg", LIMIT, "13.0° off square")
    found = Finding(
        "tackle", "tackle", 10**9, "dark-28 tackled by light-24", (), players=("dark-28", "light-24"), margin=-0.4,
        sigma=0.2, unit="mm", probability=TOUCH * SQUARE, conditions=(touch, square),
    )  # fmt: skip
    call = make_call(found, rulebook="efl", policy="auto", confidence=confidence)
    started = GameStarted(record_of(load_rulebook("efl")), load_field("ultimate"))
    return call_view(call, CallContext(started, lambda _: "", frozenset({call.id})))


def assert_bells(page: Page, selector: str) -> None:
    """Fail unless each bell is drawn, and its colored share is its own percentage."""
    bells = page.locator(f"{selector} .condition .gauge")
    expect(bells).to_have_count(2)
    shares = [float(bell.get_attribute("data-share") or "nan") for bell in bells.all()]
    assert shares == pytest.approx([TOUCH, SQUARE], abs=0.006)


def test_the_panel_tells_them_apart_on_the_card_that_asks_for_a_ruling(service: PageServer, chrome: Browser) -> None:
    call = tackle(0.95)
    assert call.verdict == "too_close"
    service.publish("questions", Questions(questions=(Question(id="c", kind="ruling", text="", call=call),)))
    with page_in(chrome, phone=True) as page:
        page.goto(f"{service.url}/panel")
        card = page.locator("#questions > li")
        words = card.locator(".words")
        expect(words).to_have_count(3)
        expect(words.nth(0)).to_have_text("Gap may have closed at 1.00 s (0.4 mm past first touch, sure to 97 %)")
        expect(words.nth(1)).to_have_text(f"May have met squarely (13.0° off square, sure to {SQUARE * 100:.0f} %)")
        expect(words.nth(2)).to_have_text(f"Both together: sure to {TOUCH * SQUARE * 100:.0f} %")
        assert_bells(page, "#questions")
        expect(card.locator(".condition").nth(0)).to_contain_text("the frame that showed it, alone: -0.40 ± 0.20 mm")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_banner_on_air_tells_them_apart_in_few_words(service: PageServer, chrome: Browser) -> None:
    with page_in(chrome) as page:
        page.goto(f"{service.url}/overlay/calls?seconds=60")
        expect(page.locator("html")).to_have_attribute("data-link", "live")
        service.publish("calls", CallsUpdate(calls=(tackle(0.5),)))
        banner = page.locator(".banner")
        expect(banner.locator(".margin")).to_contain_text("Touch97%")
        expect(banner.locator(".margin")).to_contain_text(f"Both together: sure to {TOUCH * SQUARE * 100:.0f} %")
        assert_bells(page, ".banner")
