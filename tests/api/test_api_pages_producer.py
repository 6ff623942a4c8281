"""The producer's page in a real browser: seen before it is on air, taken, kept, and closed to who only watches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from browsers import PHONE, PageServer, browser, page_in
from call_pages import played_rig
from overlay_pages import link
from playwright.sync_api import Browser, FilePayload, FrameLocator, Locator, Page, Route, expect
from program_camera import NumberedCamera
from waiting import WAIT_S, wait_until

from downfield.api.security.access import AccessPolicy, Role
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.program.program_painter import ProgramMoment
from downfield.game.published.stream_topics import OnAirView

WIDTHS = (300, PHONE["width"], 1280)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def drawer() -> Iterator[ProgramDrawer]:
    made = ProgramDrawer(ProgramMoment)
    camera = NumberedCamera(made)
    yield made
    camera.close()
    made.close()


@pytest.fixture
def service(drawer: ProgramDrawer, tmp_path: Path) -> Iterator[PageServer]:
    running = PageServer(tmp_path, program=drawer)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def page(chrome: Browser, service: PageServer) -> Iterator[Page]:
    """The page as the operator of this computer has it."""
    with page_in(chrome) as opened:
        yield open_producer(opened, service)


def open_producer(page: Page, service: PageServer) -> Page:
    page.goto(f"{service.url}/producer", wait_until="domcontentloaded")
    link(page, "live")
    expect(page.locator("#desk")).not_to_have_attribute("disabled", "")
    return page


def shown_in(page: Page, monitor: str, overlay: str) -> FrameLocator:
    """An overlay in the preview, or in what is on air."""
    return page.frame_locator(f"#{monitor} iframe").frame_locator(f"iframe[title={overlay}]")


def on_air(service: PageServer) -> OnAirView:
    value = service.hub.value("on_air")
    assert isinstance(value, OnAirView)
    return value


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def switch(page: Page, element: str) -> Locator:
    return page.locator(f"[data-element={element}]")


def test_an_element_is_seen_off_before_it_is_off_air(page: Page, service: PageServer, chrome: Browser) -> None:
    with page_in(chrome) as stream:
        stream.goto(f"{service.url}/overlay/scorebug")
        bug = stream.locator(".bug")
        expect(bug).to_be_visible()
        switch(page, "bug").click()
        expect(switch(page, "bug")).to_have_attribute("aria-pressed", "false")
        expect(switch(page, "bug")).to_contain_text("on air")
        expect(shown_in(page, "preview", "scorebug").locator("html")).to_have_attribute("data-off", "true")
        expect(shown_in(page, "air", "scorebug").locator("html")).not_to_have_attribute("data-off", "true")
        expect(bug).to_be_visible()
        assert "bug" in on_air(service).elements
        press(page, "Take")
        expect(stream.locator("html")).to_have_attribute("data-off", "true")
        expect(shown_in(page, "air", "scorebug").locator("html")).to_have_attribute("data-off", "true")
        expect(page.get_by_role("button", name="Take")).to_be_disabled()
        press(page, "Score bug")
        press(page, "Discard")
        expect(switch(page, "bug")).to_have_attribute("aria-pressed", "false")
        assert "bug" not in on_air(service).elements


def test_a_card_is_seen_before_it_is_shown_and_what_is_wrong_is_one_sentence(page: Page, service: PageServer) -> None:
    press(page, "Preview")
    expect(page.locator("#notice")).to_have_text("A message needs a title.")
    page.get_by_label("Text").fill("Kühn & Söhne")
    page.get_by_role("combobox", name="For").select_option(
        "0"
    )  # one that passes may be over before a busy frame is there
    press(page, "Preview")
    expect(page.locator("#notice")).to_be_hidden()
    expect(shown_in(page, "preview", "graphics").locator(".card h1")).to_have_text("Kühn & Söhne")
    expect(shown_in(page, "air", "graphics").locator(".card")).to_have_count(0)
    assert service.hub.value("graphic") is None
    page.get_by_label("Second line").press("t")  # in a field it is a letter
    expect(page.get_by_label("Second line")).to_have_value("t")
    press(page, "Take")
    expect(shown_in(page, "air", "graphics").locator(".card h1")).to_have_text("Kühn & Söhne")
    press(page, "Card off")
    expect(shown_in(page, "air", "graphics").locator(".card")).to_have_count(0)
    page.locator("select[name=card]").select_option("drive")
    press(page, "Preview")
    expect(page.locator("#notice")).to_have_text("There was no drive in this game yet.")


def test_a_button_is_disabled_until_the_rig_has_answered(page: Page) -> None:
    """What is shown may come before the answer; a press in between would be in vain."""
    held: list[Route] = []
    page.route("**/api/on-air", lambda route: held.append(route))
    page.get_by_label("Text").fill("First")
    press(page, "Add to the queue")
    add = page.get_by_role("button", name="Add to the queue")
    expect(add).to_be_disabled()
    wait_until(lambda: page.evaluate("1") == 1 and bool(held))
    held[0].continue_()
    expect(add).to_be_enabled()
    expect(page.get_by_role("button", name="Remove: Message or sponsor: First")).to_be_visible()


def test_the_queue_is_kept_and_a_card_leaves_it_only_for_the_air(page: Page, service: PageServer) -> None:
    page.get_by_role("combobox", name="For").select_option("0")
    for text in ("First", "Second", "Third"):
        page.get_by_label("Text").fill(text)
        press(page, "Add to the queue")
        expect(page.get_by_role("button", name=f"Remove: Message or sponsor: {text}")).to_be_visible()
    press(page, "Move up: Message or sponsor: Second")
    wait_until(lambda: [card.title for card in on_air(service).prepared] == ["Second", "First", "Third"])
    expect(page.get_by_role("button", name="Move up: Message or sponsor: First")).to_be_visible()
    press(page, "Preview the next")
    expect(shown_in(page, "preview", "graphics").locator(".card h1")).to_have_text("Second")
    press(page, "Discard")
    assert len(on_air(service).prepared) == 3, "it was not shown"
    press(page, "Preview the next")
    press(page, "Take")
    wait_until(lambda: [card.title for card in on_air(service).prepared] == ["First", "Third"])
    press(page, "Remove: Message or sponsor: Third")
    wait_until(lambda: [card.title for card in on_air(service).prepared] == ["First"])
    service.stop()
    service.start()
    link(page, "live")
    assert [card.title for card in on_air(service).prepared] == ["First"]
    page.get_by_label("At once").check()
    press(page, "Show the next")
    expect(shown_in(page, "air", "graphics").locator(".card h1").last).to_have_text("First")
    wait_until(lambda: on_air(service).prepared == ())


def test_presets_bring_back_elements_and_the_program(page: Page, service: PageServer, drawer: ProgramDrawer) -> None:
    switch(page, "lines").click()
    page.get_by_text("The program", exact=True).click()
    page.locator("select[name=view]").select_option("field")
    page.get_by_label("The red zone").uncheck()
    page.locator("select[name=tags]").select_option("all")
    expect(page.locator("#pending")).to_have_text("Waits: elements, program.")
    assert drawer.options.view == "camera"
    page.get_by_label("Name of the preset").fill("From above")
    press(page, "Keep")
    expect(page.get_by_role("button", name="Use From above")).to_be_visible()
    press(page, "Discard")
    expect(page.locator("select[name=view]")).to_have_value("camera")
    expect(page.get_by_label("The red zone")).to_be_checked()
    press(page, "Use From above")
    expect(page.locator("select[name=view]")).to_have_value("field")
    expect(switch(page, "lines")).to_have_attribute("aria-pressed", "false")
    assert drawer.options.view == "camera", "it only waits"
    press(page, "Take")
    wait_until(lambda: drawer.options.view == "field")
    assert drawer.options.tags == "all"
    assert not {"scrimmage", "to_gain", "red_zone"} & set(drawer.options.elements), "the yellow lines are off"
    press(page, "Remove From above")
    wait_until(lambda: on_air(service).presets == ())


def test_at_once_all_is_on_air_without_being_taken_and_stays_so_on_this_device(
    page: Page, service: PageServer, drawer: ProgramDrawer
) -> None:
    page.get_by_label("At once").check()
    expect(page.get_by_role("button", name="Take")).to_be_hidden()
    expect(page.locator("#preview")).to_be_hidden()
    switch(page, "lines").press("Enter")
    wait_until(lambda: "lines" not in on_air(service).elements)
    expect(switch(page, "lines")).to_be_focused()
    page.get_by_text("The program", exact=True).click()
    page.locator("select[name=tags]").select_option("off")
    wait_until(lambda: drawer.options.tags == "off")
    page.reload(wait_until="domcontentloaded")
    expect(page.get_by_label("At once")).to_be_checked()
    expect(page.locator("#preview")).to_be_hidden()


def test_the_page_goes_on_after_the_rig_has_started_again(page: Page, service: PageServer) -> None:
    switch(page, "map").click()
    service.stop()
    expect(page.locator("#state")).to_have_text(re.compile("Reconnecting|No connection"))
    press(page, "Take")
    expect(page.locator("#notice")).to_have_text("The rig does not answer. Try again.")
    expect(page.locator("#pending")).to_have_text("Waits: elements.")
    service.start()
    link(page, "live")
    press(page, "Take")
    wait_until(lambda: "map" not in on_air(service).elements)
    expect(page.locator("#pending")).to_have_text("Nothing waits.")


def test_without_a_program_its_section_says_why(chrome: Browser, tmp_path: Path) -> None:
    service = PageServer(tmp_path)
    service.start()
    with page_in(chrome) as page:
        open_producer(page, service)
        fold = page.locator("details", has_text="The program")
        fold.locator("summary").click()
        expect(fold.locator(".body")).to_contain_text("There is no program here: no camera or video is connected.")
        expect(fold.locator("select[name=view]")).to_be_hidden()
        switch(page, "bug").click()  # all else works
        press(page, "Take")
        wait_until(lambda: "bug" not in on_air(service).elements)
    service.stop()


def picture(red: int) -> FilePayload:
    png = cv2.imencode(".png", np.full((40, 120, 3), (20, 20, red), np.uint8))[1].tobytes()
    return FilePayload(name="logo.png", mimeType="image/png", buffer=png)


def test_sponsors_are_chosen_and_put_on_and_off(page: Page, service: PageServer, chrome: Browser) -> None:
    with page_in(chrome) as stream:
        stream.goto(f"{service.url}/overlay/sponsors")
        fold = page.locator("details", has_text="Seconds each")
        fold.locator("summary").click()
        for number, red in ((1, 240), (2, 30)):
            fold.get_by_label(f"Logo of sponsor {number}").set_input_files(picture(red))
            expect(fold.locator(".logo-field .logo")).to_have_count(number)
        press(page, "Save the sponsors")
        expect(stream.locator(".sponsors .logo")).to_have_count(2)
        expect(switch(page, "sponsors")).to_contain_text("on air")
        fold.get_by_role("button", name="Remove logo").first.click()
        press(page, "Save the sponsors")
        expect(stream.locator(".sponsors .logo")).to_have_count(1)
        switch(page, "sponsors").click()
        expect(stream.locator(".sponsors")).to_be_visible()
        press(page, "Take")
        expect(stream.locator(".sponsors")).to_be_hidden()


def test_people_are_kept_for_lower_thirds(page: Page, service: PageServer) -> None:
    fold = page.locator("details", has_text="Keep this person")
    fold.locator("summary").click()
    fold.get_by_label("Name", exact=True).fill("Ana Ruiz")
    fold.get_by_label("Role").fill("Head coach")
    fold.get_by_label("Team").fill("River City")
    press(page, "Keep this person")
    expect(fold.locator("li")).to_have_text(re.compile("Ana Ruiz · Head coach · River City"))
    press(page, "Change Ana Ruiz")
    fold.get_by_label("Role").fill("Coach")
    press(page, "Keep this person")
    expect(fold.locator("li")).to_have_text(re.compile("Ana Ruiz · Coach · River City"))
    page.locator("select[name=card]").select_option("lower_third")
    page.get_by_label("Text").fill("Ana Ruiz")
    press(page, "Preview")
    expect(shown_in(page, "preview", "graphics").locator(".card")).to_contain_text("Coach")
    press(page, "Remove Ana Ruiz")
    wait_until(lambda: on_air(service).people == ())


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_page_and_every_control_has_a_name(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    page.get_by_label("Text").fill("A very long message that no dock of 300 pixels has a place for " + "W" * 15)
    press(page, "Add to the queue")
    expect(page.get_by_role("button", name="Preview the next")).to_be_enabled()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select")].filter((one) => one.checkVisibility()
            && !(one.ariaLabel || one.textContent.trim() || one.labels?.length)).map((one) => one.outerHTML)"""
    )
    assert nameless == []
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, summary, select")].filter((one) => one.checkVisibility())
            .filter((one) => one.getBoundingClientRect().height < 40).map((one) => one.textContent)"""
    )
    assert small == []


def test_by_keyboard_alone_an_element_is_taken(page: Page, service: PageServer) -> None:
    switch(page, "names").focus()
    page.keyboard.press("Space")
    expect(switch(page, "names")).to_have_attribute("aria-pressed", "false")
    expect(switch(page, "names")).to_be_focused()
    page.keyboard.press("t")
    wait_until(lambda: "names" not in on_air(service).elements)
    expect(page.locator("#pending")).to_have_text("Nothing waits.")  # the page knows it, too
    page.keyboard.press("Space")
    expect(page.locator("#pending")).to_have_text("Waits: elements.")
    page.keyboard.press("Escape")
    expect(page.locator("#pending")).to_have_text("Nothing waits.")


def test_who_only_watches_changes_nothing_and_a_producer_is_led_here_by_the_code(
    chrome: Browser, tmp_path: Path
) -> None:
    service = PageServer(tmp_path, AccessPolicy(lan=True, trust_local=False))
    service.start()
    with page_in(chrome) as viewer:
        viewer.goto(f"{service.url}/pair")
        viewer.get_by_label("Code").fill(service.token_store.make_code("viewer").code)
        viewer.get_by_role("button", name="Pair").click()
        viewer.locator(".addresses input").first.wait_for()
        viewer.goto(f"{service.url}/producer", wait_until="domcontentloaded")
        expect(viewer.locator("#access")).to_contain_text("This device can only watch.")
        expect(viewer.locator("#desk")).to_have_attribute("disabled", "")
        viewer.keyboard.press("t")
        answer = viewer.request.post(f"{service.url}/api/on-air", data={"elements": []})
        assert (answer.status, answer.json()["detail"]) == (
            403,
            "Only the producer and the operator can do this. Your role is viewer.",
        )
    roles: tuple[tuple[Role, str, bool], ...] = (("producer", "producer", False), ("operator", "panel", True))
    for role, first, is_on in roles:  # each switches the map to the other of both
        with page_in(chrome, phone=True) as device:
            device.goto(f"{service.url}/pair#{service.token_store.make_code(role).code}")
            device.wait_for_url(f"**/{first}")
            open_producer(device, service)
            switch(device, "map").tap()
            device.get_by_role("button", name="Take").tap()
            expect(switch(device, "map").locator(".tally")).to_have_text("on air" if is_on else "")
        assert ("map" in on_air(service).elements) == is_on
    service.stop()


def test_any_earlier_play_is_watched_and_replayed_slower_and_frozen(chrome: Browser, tmp_path: Path) -> None:
    with played_rig(tmp_path, until_s=6.0) as url, page_in(chrome) as page, page_in(chrome) as stream:
        stream.goto(f"{url}/overlay/replay")
        page.goto(f"{url}/producer", wait_until="domcontentloaded")
        link(page, "live")
        expect(page.locator("#desk")).not_to_have_attribute("disabled", "")
        expect(page.get_by_role("button", name="Freeze")).to_be_disabled()
        press(page, "Watch play 1")
        page.wait_for_function("() => document.querySelector('video')?.videoWidth > 0", timeout=1000 * WAIT_S)
        expect(stream.locator(".replay")).to_be_hidden()
        press(page, "Play 1 on air")
        expect(stream.locator(".replay")).to_be_visible()
        video = stream.locator(".replay video")
        press(page, "Freeze")
        wait_until(lambda: video.evaluate("video => video.paused"))
        held_s = video.evaluate("video => video.currentTime")
        expect(page.get_by_role("button", name="Go on")).to_be_enabled()
        press(page, "Half speed")
        wait_until(lambda: video.evaluate("video => video.playbackRate") == 0.5)
        wait_until(lambda: video.evaluate("video => video.currentTime") > held_s)
        press(page, "Replay off")
        expect(stream.locator(".replay")).to_be_hidden()
        expect(page.get_by_role("button", name="Freeze")).to_be_disabled()
        assert httpx.patch(f"{url}/api/replay", json={"frozen": True}, timeout=WAIT_S).status_code == 404
