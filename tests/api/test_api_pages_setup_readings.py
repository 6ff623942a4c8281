"""The set-up page where a picture can be read in several ways, and with places of the field that are dragged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, Page, expect
from setup_pages import SOLVED_MS, check_layout, drag_to
from setup_readings import RUNNING, mirrored_or_not, session_with, solution

from downfield.api.table_setup import SetupView, SolveRequest
from downfield.calibration.advice import AdviceLimits
from downfield.calibration.field.measured_height import StandingObject
from downfield.calibration.field.solution import FieldSolution
from downfield.core.errors import CalibrationError, InputError, Remedy
from downfield.rig.tables import setup_session as session_module
from downfield.rig.tables import setup_solving as solving
from downfield.rig.tables.setup_session import SetupSession

SHOTS = os.environ.get("SETUP_SCREENSHOTS")


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[SetupSession, str]]:
    made = session_with(tmp_path, [])
    server = PageServer(tmp_path, table_setup=made)
    server.start()
    try:
        yield made, server.url
    finally:
        made.close()
        server.stop()


def find_field(page: Page, url: str, setup: SetupSession) -> None:
    setup.open_camera(RUNNING)
    page.goto(f"{url}/setup")
    page.get_by_role("button", name="Find the field").click()
    expect(page.get_by_text("Do the lines lie on the print?")).to_be_visible(timeout=SOLVED_MS)


def test_mirrored_or_not_is_two_pictures_to_tap_and_nothing_is_saved_before(
    running: Browser, served: tuple[SetupSession, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    setup, url = served

    def several(*_: object, **__: object) -> FieldSolution:
        raise mirrored_or_not()

    monkeypatch.setattr(solving, "solve_field", several)
    with page_in(running) as page:
        find_field(page, url, setup)
        expect(page.get_by_text("In which picture do the numbers read the right way round?")).to_be_visible()
        ways = page.get_by_role("radio")
        expect(ways).to_have_count(2)
        for image in page.locator("#readings img").all():
            expect(image).to_have_js_property("naturalWidth", 640)
        expect(page.get_by_role("button", name="Save and play")).to_be_hidden()
        check_layout(page, "readings")
        ways.nth(0).click()
        expect(ways.nth(0)).to_have_attribute("aria-checked", "true")
        expect(page.get_by_role("button", name="Save and play")).to_be_visible()
        ways.nth(1).click()
        expect(page.get_by_role("alert")).to_contain_text("Switch off mirroring", ignore_case=True)
        expect(page.get_by_role("button", name="Find the field")).to_be_visible()


@pytest.mark.parametrize("remedy", ["measure", "place_corners", "another_picture"])
def test_every_refusal_has_the_control_for_what_it_says(
    running: Browser, served: tuple[SetupSession, str], monkeypatch: pytest.MonkeyPatch, remedy: Remedy
) -> None:
    setup, url = served
    searches: list[SolveRequest] = []

    def refuse(_: object, request: SolveRequest, *__: object) -> FieldSolution:
        searches.append(request)
        if len(searches) == 1:
            raise CalibrationError("the print can't be read", remedy)
        return solution()

    monkeypatch.setattr(session_module, "solve_as_requested", refuse)
    setup.open_camera(RUNNING)
    with page_in(running, phone=True) as page:
        page.goto(f"{url}/setup")
        expect(page.locator("#refusal")).to_be_hidden()
        page.get_by_role("button", name="Find the field").click()
        expect(page.get_by_role("alert")).to_have_text("The print can't be read")
        page.locator("#remedy").click()
        if remedy == "measure":
            goal = page.get_by_label("Goal line to goal line", exact=True)
            expect(goal).to_be_focused()
            page.keyboard.type("30")
            page.get_by_label("Unit").select_option("in")
            page.get_by_role("button", name="Find the field").click()
        elif remedy == "place_corners":
            expect(page.locator("#corners img")).to_be_visible()
            expect(page.locator("#marks button.numbered")).to_have_text(["1", "2", "3", "4"])
            expect(page.locator("#remedy")).to_be_hidden()
            page.get_by_label("Goal line to goal line on the print").select_option("yards-110")
            check_layout(page, "corners")
            page.get_by_role("button", name="Use these corners").click()
        expect(page.get_by_text("Do the lines lie on the print?")).to_be_visible()
        expect(page.locator("#refusal")).to_be_hidden()
    request = searches[1]
    assert (request.goal_to_goal_mm, request.side_to_side_mm) == (762.0 if remedy == "measure" else None, None)
    corners = [(0, 0), (110, 0), (110, 65), (0, 65)] if remedy == "place_corners" else []
    assert [(mark.x_yd, mark.y_yd) for mark in request.landmarks] == corners


def test_a_tape_or_something_standing_tells_how_high_the_camera_is(
    running: Browser, served: tuple[SetupSession, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    setup, url = served
    measured: list[object] = []

    def keep(found: FieldSolution, _: object, what: object) -> FieldSolution:
        measured.append(what)
        if len(measured) == 2:
            raise InputError("what stands on the board contradicts the print. Check where foot and top are marked.")
        return found

    monkeypatch.setattr(session_module, "ADVICE_LIMITS", AdviceLimits(wanted_yd=0.0))
    monkeypatch.setattr(solving, "solve_field", lambda *_, **__: solution())
    monkeypatch.setattr(solving, "with_camera_height", keep)
    monkeypatch.setattr(solving, "with_standing_object", keep)
    with page_in(running) as page:
        find_field(page, url, setup)
        expect(page.locator("#advice")).to_contain_text("ase tops are known to")
        page.get_by_label("Unit").select_option("mm")
        page.get_by_label("Lens over the board").fill("1100")
        lines = page.locator("#lines")
        before = lines.get_attribute("src") or ""
        page.get_by_role("button", name="Use what was measured").click()
        expect(lines).not_to_have_attribute("src", before)
        page.get_by_text("No tape?").click()
        page.get_by_role("button", name="Mark foot and top").click()
        foot, top = (page.get_by_role("button", name=f"{end} of what stands") for end in ("Foot", "Top"))
        drag_to(page, foot, (0.2, 0.3))
        drag_to(page, top, (0.15, 0.28))
        page.get_by_label("Its height, mm").fill("88")
        use = page.locator("#standing").get_by_role("button", name="Use this height")
        use.click()
        expect(page.get_by_role("alert")).to_contain_text("contradicts the print")
        expect(foot).to_be_visible()  # where it was put, to be corrected
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / "setup-standing.png", full_page=True)
        drag_to(page, top, (0.12, 0.27))
        use.click()
        expect(foot).to_be_hidden()
        expect(page.get_by_role("alert")).to_be_hidden()
    tape, wrong, right = measured
    assert tape == 1100
    assert isinstance(wrong, StandingObject)
    assert isinstance(right, StandingObject)
    assert right.height_mm == 88
    assert right.foot_px == pytest.approx((256, 216), abs=2)
    assert wrong.top_px == pytest.approx((192, 201.6), abs=2)
    assert right.top_px == pytest.approx((153.6, 194.4), abs=2)


def test_four_dragged_places_are_enough_and_any_other_can_be_added(
    running: Browser, served: tuple[SetupSession, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    setup, url = served
    sent: list[SolveRequest] = []
    monkeypatch.setattr(solving, "solve_field", lambda *_, **__: solution())
    monkeypatch.setattr(solving, "solve_landmarks", lambda *_, **__: solution())
    begin = setup.solve

    def solve(request: SolveRequest) -> SetupView:
        sent.append(request)
        return begin(request)

    monkeypatch.setattr(setup, "solve", solve)
    with page_in(running, phone=True) as page:
        find_field(page, url, setup)
        again = page.get_by_role("button", name="Solve with the moved places")
        expect(again).to_be_hidden()
        page.get_by_text("Move another place of the field").click()
        page.locator("#place").select_option("Left 35-yard line, upper hash marks")
        page.get_by_role("button", name="Show it in the picture").click()
        added = page.get_by_role("button", name="Left 35-yard line, upper hash marks")
        expect(added).to_be_focused()
        expect(page.locator("#magnifier")).to_be_visible()
        page.keyboard.press("ArrowRight")
        expect(again).to_be_visible()
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / "setup-place-phone.png", full_page=True)
        again.click()
        expect(again).to_be_hidden()
        for name in ("Lower left corner", "Midfield, upper sideline", "Right 25-yard line, lower sideline"):
            page.get_by_role("button", name=name).focus()
            page.keyboard.press("ArrowUp")
        page.get_by_role("button", name="Left 25-yard line, lower hash marks").focus()
        page.keyboard.press("Shift+ArrowDown")
        again.click()
        expect(again).to_be_hidden()
    by_hand = [request.landmarks for request in sent if request.landmarks]
    assert [len(marks) for marks in by_hand] == [5, 4], (
        "one moved place and the corners; then the four moved ones alone"
    )
    assert by_hand[0][0].x_yd == 35.0
    assert {mark.x_yd for mark in by_hand[1]} == {0.0, 50.0, 75.0, 25.0}
