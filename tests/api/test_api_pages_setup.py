"""A newcomer sets up a table in a real browser: from the bundled recording to a running game, without a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import httpx
import pytest
from browsers import browser, page_in
from calibration_scenes import TUDOR, photograph
from loopback_streams import MjpegServer
from playwright.sync_api import expect
from setup_pages import SOLVED_MS, check_layout, newcomers_rig
from waiting import WAIT_S, wait_until

from downfield.rig.tables.profile import TableFolder


@pytest.fixture
def stream() -> Iterator[MjpegServer]:
    image = photograph().image
    pictures = [cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 94 + i])[1].tobytes() for i in range(2)]
    server = MjpegServer(fps=6, encoded=lambda number: pictures[number % 2])
    yield server
    server.close()


@pytest.fixture
def rig_address(tmp_path: Path) -> Iterator[str]:
    with newcomers_rig(tmp_path) as address:
        yield address


def test_a_table_is_set_up_in_the_browser_and_the_game_begins(
    tmp_path: Path, stream: MjpegServer, rig_address: str
) -> None:
    with browser() as running, page_in(running) as page:
        page.goto(f"{rig_address}/setup")
        expect(page.get_by_text("Which camera looks at the board?")).to_be_visible()
        check_layout(page, "camera")
        page.get_by_label("Or a stream's address").fill(stream.url)
        page.get_by_role("button", name="Open").click()
        expect(page.get_by_text("Is the whole field in the picture?")).to_be_visible()
        expect(page.locator("#picture")).to_be_visible()
        check_layout(page, "aim")
        page.get_by_label("Printed field").select_option("tudor-620")
        page.get_by_role("button", name="Find the field").click()
        expect(page.get_by_text("Do the lines lie on the print?")).to_be_visible(timeout=SOLVED_MS)
        expect(page.locator("#summary")).to_contain_text(TUDOR.title)
        corner = page.get_by_role("button", name="Lower left corner")
        corner.focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#magnifier")).to_be_visible()
        expect(page.get_by_role("button", name="Solve with the moved places")).to_be_visible()
        check_layout(page, "confirm")
        page.get_by_role("button", name="Solve with the moved places").click()
        expect(page.get_by_role("button", name="Solve with the moved places")).to_be_hidden(timeout=SOLVED_MS)
        expect(page.get_by_label("Name of the table")).to_be_visible(timeout=SOLVED_MS)
        page.get_by_label("Name of the table").fill("Attic")
        page.get_by_role("button", name="Save and play").click()
        expect(page.get_by_text("The table is saved")).to_be_visible()
        expect(page.get_by_text("is open: the game can begin.")).to_be_visible(timeout=SOLVED_MS)
        expect(page.get_by_role("link", name="To the operator panel")).to_be_visible()
        check_layout(page, "saved")
    saved = TableFolder(tmp_path / "data" / "tables").in_use()
    assert saved is not None
    assert (saved.name, saved.camera) == ("Attic", stream.url)

    def health() -> dict[str, object]:
        state: dict[str, object] = httpx.get(f"{rig_address}/api/state", timeout=WAIT_S).json()["data"]["health"]
        return state

    wait_until(lambda: health()["level"] != "alarm", health)
    assert httpx.get(f"{rig_address}/api/calibration", timeout=WAIT_S).json()["field"]["name"] == "tudor-620"
