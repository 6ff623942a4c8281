"""The set-up page when it is interrupted: reloaded, left, opened on a second phone, refused, its camera unplugged."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from loopback_streams import MjpegServer
from playwright.sync_api import Browser, Locator, Page, Route, expect
from setup_pages import SOLVED_MS, check_layout
from setup_readings import RUNNING, picture, session_with, solution
from waiting import WAIT_S

from downfield.api.table_setup import SolveRequest
from downfield.calibration.field.solution import FieldSolution
from downfield.core.errors import CalibrationError
from downfield.review.reports.markup import isolate_names
from downfield.rig.tables import setup_session as session_module
from downfield.rig.tables.profile import TableProfile, new_profile
from downfield.rig.tables.setup_session import SetupSession

MOVED = "Midfield, upper sideline"


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture
def saved() -> list[TableProfile]:
    return []


@pytest.fixture
def served(tmp_path: Path, saved: list[TableProfile]) -> Iterator[tuple[SetupSession, str]]:
    made = session_with(tmp_path, saved)
    server = PageServer(tmp_path, table_setup=made)
    server.start()
    try:
        yield made, f"{server.url}/setup"
    finally:
        made.close()
        server.stop()


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts by which corrections are refused, one after the other; the field itself is always found."""
    texts: list[str] = []

    def solve(_: object, request: SolveRequest, *__: object) -> FieldSolution:
        if texts and (request.landmarks or request.length):
            raise CalibrationError(texts.pop(0))
        return solution()

    monkeypatch.setattr(session_module, "solve_as_requested", solve)
    return texts


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name)


def find_field(page: Page, address: str, setup: SetupSession) -> None:
    setup.open_camera(RUNNING)
    page.goto(address)
    button(page, "Find the field").click()
    expect(page.get_by_text("Do the lines lie on the print?")).to_be_visible(timeout=SOLVED_MS)


def ring_at(page: Page, name: str) -> tuple[str, ...]:
    """Where a ring is, once the picture that it lies over is there."""
    expect(button(page, name)).to_be_visible()
    page.wait_for_function("() => document.getElementById('live').naturalWidth > 0")
    style = button(page, name).evaluate("ring => [ring.style.left, ring.style.top]")
    return tuple(style)


def test_a_refused_length_loses_neither_marks_nor_name_and_a_reload_neither(
    running: Browser, served: tuple[SetupSession, str], refused: list[str], saved: list[TableProfile]
) -> None:
    setup, address = served
    refused.append("an end of the known length is not on the board")
    with page_in(running, phone=True) as page:
        find_field(page, address, setup)
        button(page, MOVED).focus()
        for _ in range(3):
            page.keyboard.press("Shift+ArrowDown")
        page.get_by_text("Use a ruler on the field").click()
        button(page, "End of the length").focus()
        page.keyboard.press("Shift+ArrowRight")
        page.get_by_label("Distance, mm").fill("300")
        page.get_by_label("Name of the table").fill("Attic")
        places = [ring_at(page, name) for name in (MOVED, "Start of the length", "End of the length")]

        def expect_all_kept() -> None:
            for name, place in zip((MOVED, "Start of the length", "End of the length"), places, strict=True):
                assert ring_at(page, name) == place
            expect(page.get_by_label("Distance, mm")).to_have_value("300")
            expect(page.get_by_label("Name of the table")).to_have_value("Attic")
            expect(button(page, "Solve with the moved places")).to_be_visible()

        button(page, "Use this length").click()
        expect(page.get_by_role("alert")).to_contain_text("not on the board")
        expect_all_kept()
        page.reload()
        expect_all_kept()
        page.goto("about:blank")
        page.go_back()
        expect_all_kept()
        button(page, "Use this length").click()
        expect(button(page, "End of the length")).to_be_hidden()
        expect(page.get_by_label("Name of the table")).to_have_value("Attic")
        button(page, "Save and play").dblclick()
        expect(page.get_by_text("The table is saved")).to_be_visible()
        expect(page.get_by_role("alert")).to_be_hidden()
    assert [table.name for table in saved] == ["Attic"], "a double tap saved it twice"


def test_corners_that_were_placed_by_hand_stay_where_they_do_not_fit(
    running: Browser, served: tuple[SetupSession, str], refused: list[str]
) -> None:
    setup, address = served
    refused.append("no camera fits these landmarks")
    setup.open_camera(RUNNING)
    setup._problem = "nothing was found"
    with page_in(running) as page:
        page.goto(address)
        page.get_by_label("Printed field").select_option("tudor-620")
        page.get_by_text("Measured with a tape?").click()
        page.get_by_label("Unit").select_option("mm")
        page.get_by_label("Lens over the board").fill("950")
        button(page, "Place the corners by hand").click()
        button(page, "Upper left corner").focus()
        page.keyboard.press("Shift+ArrowRight")
        moved = ring_at(page, "Upper left corner")
        button(page, "Use these corners").click()
        expect(page.get_by_role("alert")).to_contain_text("No camera fits")
        assert ring_at(page, "Upper left corner") == moved
        page.reload()
        assert ring_at(page, "Upper left corner") == moved
        expect(page.get_by_label("Printed field")).to_have_value("tudor-620")
        expect(page.get_by_label("Lens over the board")).to_have_value("950")
        button(page, "Use these corners").click()
        expect(page.get_by_text("Do the lines lie on the print?")).to_be_visible(timeout=SOLVED_MS)


@pytest.mark.usefixtures("refused")
def test_a_second_phone_watches_and_may_take_over(running: Browser, served: tuple[SetupSession, str]) -> None:
    setup, address = served
    with page_in(running) as first, page_in(running, phone=True) as second:
        second.goto(address)
        expect(button(second, "In use now")).to_be_enabled()
        find_field(first, address, setup)
        expect(second.get_by_text("Another phone or computer is setting up this table.")).to_be_visible()
        expect(second.get_by_text("Do the lines lie on the print?")).to_be_visible()
        expect(second.locator("#lines")).to_be_visible()
        expect(second.locator("section:has(#save)")).to_have_attribute("inert", "")
        expect(button(second, MOVED)).to_be_hidden()
        check_layout(second, "watching")
        other = {"Setup-Device": "somebody"}
        answer = httpx.post(address.replace("/setup", "/api/setup/aim"), headers=other, json={}, timeout=WAIT_S)
        assert (answer.status_code, "Another phone" in answer.json()["detail"]) == (409, True)
        button(first, MOVED).focus()
        first.keyboard.press("Shift+ArrowDown")
        moved = ring_at(first, MOVED)
        button(second, "Continue here").click()
        expect(second.get_by_text("Another phone or computer is setting up this table.")).to_be_hidden()
        expect(button(second, MOVED)).to_be_visible()
        expect(first.get_by_text("Another phone or computer is setting up this table.")).to_be_visible()
        button(first, "Continue here").click()
        assert ring_at(first, MOVED) == moved
        expect(second.get_by_text("Another phone or computer is setting up this table.")).to_be_visible()


@pytest.mark.usefixtures("refused")
def test_a_name_that_is_taken_is_replaced_only_after_a_second_press(
    running: Browser, served: tuple[SetupSession, str], saved: list[TableProfile]
) -> None:
    setup, address = served
    name = "<b>\u05d2\u05d2</b> \U0001f3c8"
    setup.open_camera(RUNNING)
    setup._folder.save(new_profile(name, RUNNING, solution().calibration()))
    with page_in(running) as page:
        page.goto(address)
        button(page, "Another camera").click()
        expect(page.locator("#tables")).to_contain_text(isolate_names(name))
        button(page, "Keep the present camera").click()
        button(page, "Find the field").click()
        page.get_by_label("Name of the table").fill(name)
        button(page, "Save and play").click()
        expect(page.get_by_text("A table of that name is saved already")).to_be_visible()
        page.get_by_label("Name of the table").fill("\u200b")
        button(page, "Save and play").click()
        expect(page.get_by_role("alert")).to_contain_text("Use letters or digits")
        page.get_by_label("Name of the table").fill(name)
        button(page, "Save and play").click()
        button(page, "Replace it and play").click()
        expect(page.get_by_text("The table is saved")).to_be_visible()
    assert [table.name for table in saved] == [name]


@pytest.mark.usefixtures("refused")
def test_saving_another_table_while_a_game_is_on_asks_before_the_game_may_end(
    running: Browser, served: tuple[SetupSession, str], saved: list[TableProfile]
) -> None:
    setup, address = served
    with page_in(running) as page:
        find_field(page, address, setup)

        def in_play(route: Route) -> None:
            state = route.fetch().json()
            state["data"]["source"] = {"kind": "camera", "name": "cam", "text": "the camera", "live": True}
            state["data"]["game"]["home"]["points"] = 14
            route.fulfill(json=state)

        page.route("**/api/state", in_play)
        page.get_by_label("Name of the table").fill("Attic")
        button(page, "Save and play").click()
        asked = page.get_by_text("A game is in play:")
        expect(asked).to_contain_text("14")
        expect(asked).to_contain_text("Press again to go on with this table")
        assert saved == [], "the game is gone before anybody was asked"
        page.get_by_label("Name of the table").fill("Attic 2")
        expect(asked).to_be_hidden()
        button(page, "Save and play").click()
        button(page, "Go on with this table").click()
        expect(page.get_by_text("The table is saved")).to_be_visible()
    assert [table.name for table in saved] == ["Attic 2"]


def alternate(pictures: list[bytes], number: int) -> bytes:
    return pictures[number % 2]


@pytest.fixture
def streams() -> Iterator[list[MjpegServer]]:
    def encode(shade: int) -> bytes:
        return cv2.imencode(".jpg", picture() + np.uint8(shade))[1].tobytes()

    pairs = [[encode(10 * number), encode(10 * number + 1)] for number in (1, 4)]
    servers = [MjpegServer(fps=10, encoded=partial(alternate, pair)) for pair in pairs]
    yield servers
    for server in servers:
        server.close()


@pytest.mark.usefixtures("refused")
def test_cameras_are_changed_kept_unplugged_and_come_back(
    running: Browser, served: tuple[SetupSession, str], streams: list[MjpegServer]
) -> None:
    setup, address = served
    first, second = streams
    with page_in(running) as page:
        page.goto(address)
        page.get_by_label("Or a stream's address").fill(first.url)
        button(page, "Open").dblclick()
        expect(button(page, "Find the field")).to_be_visible()
        button(page, "Another camera").click()
        page.get_by_label("Or a stream's address").fill(second.url)
        page.get_by_role("button", name="Open", exact=True).click()
        expect(button(page, "Find the field")).to_be_visible()
        assert setup.view().camera == second.url
        expect(page.locator("#live")).to_be_visible()
        second.cut()
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("camera", ignore_case=True)
        button(page, "Find the field").click()
        expect(page.get_by_text("Do the lines lie on the print?")).to_be_hidden()
        expect(alert).to_contain_text("camera", ignore_case=True)
        second.restore()
        expect(alert).to_be_hidden()
        button(page, "Find the field").click()
        expect(page.get_by_text("Do the lines lie on the print?")).to_be_visible(timeout=SOLVED_MS)


@pytest.mark.usefixtures("refused")
def test_a_camera_that_goes_once_the_field_is_found_costs_nothing_that_was_done(
    running: Browser, served: tuple[SetupSession, str], streams: list[MjpegServer], saved: list[TableProfile]
) -> None:
    setup, address = served
    (stream, _) = streams
    with page_in(running) as page:
        page.goto(address)
        page.get_by_label("Or a stream's address").fill(stream.url)
        button(page, "Open").click()
        button(page, "Find the field").click()
        lines = page.get_by_text("Do the lines lie on the print?")
        expect(lines).to_be_visible(timeout=SOLVED_MS)
        page.get_by_label("Name of the table").fill("Attic")
        stream.cut()
        expect(lines).to_be_visible()
        button(page, "Save and play").click()
        expect(page.get_by_text("The table is saved")).to_be_visible()
    assert [(table.name, table.source) for table in saved] == [("Attic", stream.url)], "what was found is lost"
    assert setup.view().step in {"saved", "camera"}
