"""A photo of play cards sent from a phone fills in the windows; what is no photo of cards is refused in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from browsers import WAIT_MS, browser, page_in
from card_photos import LINES, WINDOWS, CardLook, photograph
from playwright.sync_api import Locator, Page, expect
from waiting import WAIT_S

from downfield.core.field.model import load_field
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.officiating.declarations import SetUp
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper

ROLLED = [f"{20 * place}: {line}" for place, line in enumerate(LINES, start=1)]


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scorekeeper]:
    folder = tmp_path_factory.mktemp("cards")
    given = {"game.rulebook": "nfl-strategy", "service.port": 0, "data": str(folder)}
    running = Scorekeeper(load(None, command_line=given), load_field("ultimate"), NewGame())
    running.game_service.declare(SetUp("home", 1, 40.0, clock_s=900.0, hash="left"), Submission("operator"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("photo") / "cards.jpg"
    cv2.imwrite(str(path), photograph(WINDOWS, CardLook(0, size_px=(900, 1200), blur_px=0.8)))
    return path


def section(phone: Page, title: str) -> Locator:
    """Return one section of the panel, opened."""
    summary = phone.locator("summary").filter(has_text=re.compile(f"^{title}"))
    summary.press("Enter")
    return phone.locator("details").filter(has=summary)


def test_the_windows_of_a_photo_are_declared_from_a_phone_once_the_rolls_are_put_in(
    keeper: Scorekeeper, photo: Path
) -> None:
    with browser() as chrome, page_in(chrome, phone=True) as phone:
        phone.goto(f"{keeper.service.address}panel")
        expect(phone.locator("html")).to_have_attribute("data-link", "live")
        cards = section(phone, "Cards")
        cards.get_by_label("Photo of the cards").set_input_files(photo)
        box = cards.get_by_label("Windows: highest roll")
        expect(box).to_have_value("\n".join(f"?: {line}" for line in LINES), timeout=WAIT_MS)
        send = cards.get_by_role("button", name="Declare card")
        cards.get_by_label("Roll, 1 to 100").first.fill("34")
        expect(send).to_be_disabled()
        box.fill("\n".join(ROLLED))
        send.press("Enter")
        expect(phone.locator("#down")).to_contain_text("2nd & 3", timeout=WAIT_MS)
        anything = section(phone, "Declare anything")
        anything.get_by_label("What to declare").select_option(label="Card: run")
        anything.get_by_label("Windows: highest roll").fill("\n".join(ROLLED))
        anything.get_by_label("Roll, 1 to 100").fill("50")
        anything.get_by_role("button", name="Declare").press("Enter")
        expect(phone.locator("#down")).to_contain_text("1st & 10 at A 47", timeout=WAIT_MS)
    with keeper.game_service.in_play() as session:
        assert session.state.hash == "right"  # where the blue dot is


@pytest.mark.parametrize(("body", "status", "detail"), [
    (b"", 422, "no photo that can be read"), (b"\xff\xd8\xff nothing", 422, "no photo that can be read"),
    (bytes(1 << 21), 413, "too large"),
    (cv2.imencode(".png", np.full((300, 400, 3), 90, np.uint8))[1].tobytes(), 422, "No 5 result windows"),
], ids=["empty", "broken", "large", "a wall"])  # fmt: skip
def test_what_is_no_photo_of_cards_is_refused(keeper: Scorekeeper, body: bytes, status: int, detail: str) -> None:
    answer = httpx.post(f"{keeper.service.address}api/card-photo", content=body, timeout=WAIT_S)
    assert answer.status_code == status
    assert detail in answer.json()["detail"]
