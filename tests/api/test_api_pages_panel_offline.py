"""The panel without a network: taps are kept, also by a page that is closed, sent once and in order; the page opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, Page, expect
from waiting import WAIT_S, wait_until

from downfield.game.records.commands import NewGame


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def service(tmp_path: Path) -> Iterator[PageServer]:
    running = PageServer(tmp_path)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def phone(chrome: Browser, service: PageServer) -> Iterator[Page]:
    with page_in(chrome, phone=True) as page:
        page.goto(f"{service.url}/panel")
        expect(page.locator("html")).to_have_attribute("data-link", "live")
        expect(page.locator("#dock button").first).to_be_visible()
        yield page


def tap(phone: Page, label: str) -> None:
    button = phone.locator("#dock").get_by_role("button", name=label, exact=True)
    button.wait_for()
    button.tap(force=True)


def declared(service: PageServer) -> list[str]:
    return [one.type for one in service.game_service.declarations()]


def test_taps_without_a_server_are_sent_in_order_and_once_when_it_is_back(service: PageServer, phone: Page) -> None:
    before = declared(service)
    service.stop()
    expect(phone.locator("html")).not_to_have_attribute("data-link", "live")
    tap(phone, "Kick off")
    waiting = phone.locator("#outbox li")
    expect(waiting).to_have_count(1)
    tap(phone, "Kick off")  # once more, out of impatience
    tap(phone, "Touchback")
    expect(waiting).to_have_count(2)
    expect(phone.locator("#outbox")).to_contain_text("Not sent yet: 2")
    expect(waiting.nth(0)).to_contain_text("Kick off")
    expect(waiting.nth(1)).to_contain_text("Touchback")
    service.start()
    expect(phone.locator("#outbox")).to_be_hidden()
    assert declared(service) == [*before, "kick", "choice"]


def test_what_was_tapped_without_a_network_outlives_the_page_and_can_be_taken_back(
    service: PageServer, phone: Page
) -> None:
    before = declared(service)
    phone.evaluate("navigator.serviceWorker.ready.then(() => true)")
    wait_until(
        lambda: "RIV" in phone.evaluate("localStorage.getItem('downfield.panel.last') ?? ''"), "the game is kept"
    )
    phone.context.set_offline(True)
    tap(phone, "Touchback")
    tap(phone, "Kick off")
    expect(phone.locator("#outbox li")).to_have_count(2)
    phone.get_by_role("button", name="Do not send: Touchback").tap()
    expect(phone.locator("#outbox li")).to_have_count(1)
    service.stop()
    phone.reload()  # from the files on the phone
    expect(phone.locator("#outbox li")).to_have_count(1)
    expect(phone.locator("#outbox li")).to_contain_text("Kick off")
    expect(phone.locator("#score")).to_contain_text("RIV")  # as it was last known
    service.start()
    phone.context.set_offline(False)
    expect(phone.locator("#outbox")).to_be_hidden()
    assert declared(service) == [*before, "kick"]
    expect(phone.locator("#declared")).to_contain_text("Kickoff")


def test_what_was_tapped_for_another_game_is_not_sent(service: PageServer, phone: Page) -> None:
    service.stop()
    expect(phone.locator("html")).not_to_have_attribute("data-link", "live")
    tap(phone, "Kick off")
    expect(phone.locator("#outbox li")).to_have_count(1)
    service.start(before=lambda: service.game_service.start_game(NewGame(), service.game_service.line_up.players))
    expect(phone.locator("#notice")).to_contain_text("Kick off: Not sent: another game has begun meanwhile.")
    expect(phone.locator("#outbox")).to_be_hidden()
    assert "kick" not in declared(service)


def test_what_is_refused_when_it_arrives_is_named_and_what_follows_is_sent(phone: Page) -> None:
    phone.route("**/api/declarations", lambda route: route.abort())
    tap(phone, "Kick off")
    expect(phone.locator("#outbox li")).to_have_count(1)
    tap(phone, "Touchback")
    expect(phone.locator("#outbox li")).to_have_count(2)
    phone.unroute("**/api/declarations")
    phone.route(
        "**/api/declarations",
        lambda route: (
            route.fulfill(status=409, json={"title": "No", "detail": "The ball is on the other side."})
            if "kickoff" in (route.request.post_data or "")
            else route.continue_()
        ),
    )
    expect(phone.locator("#notice")).to_contain_text("Kick off: The ball is on the other side.")
    expect(phone.locator("#outbox")).to_be_hidden()


def test_a_tap_that_arrives_late_says_so_in_the_record(service: PageServer) -> None:
    body = {"declaration": {"type": "kick", "kick": "kickoff"}, "ago_ms": 34_000}
    assert httpx.post(f"{service.url}/api/declarations", json=body, timeout=WAIT_S).status_code == 200
    assert service.game_service.declarations()[-1].by == "this computer (tapped 34 s before it arrived)"
    body["ago_ms"] = 86_400_001
    assert httpx.post(f"{service.url}/api/declarations", json=body, timeout=WAIT_S).status_code == 422
