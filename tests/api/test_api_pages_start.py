"""The start page, the camera page and pairing in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import cv2
import httpx
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, expect
from scripted_plays import FIELD
from waiting import WAIT_S, wait_until

from downfield.api.routes.pages import PAGES
from downfield.api.security.access import AccessPolicy
from downfield.game.published.board_topics import HealthStatus


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    """The service with an idle game."""
    running = PageServer(tmp_path_factory.mktemp("service"))
    running.start()
    yield running
    running.stop()


def test_the_camera_page_lays_the_field_over_the_picture(service: PageServer, chrome: Browser) -> None:
    with page_in(chrome) as page:
        service.game_service.publish_health(HealthStatus(fps=59.9, calibration_rms_px=0.13, frames=100))
        page.goto(f"{service.url}/camera", wait_until="domcontentloaded")
        expect(page.locator("#health")).to_contain_text("59.9")
        expect(page.locator("#calibration")).to_contain_text(FIELD.title)
        page.wait_for_function("() => document.getElementById('field').naturalWidth > 0")
        page.get_by_label("Show the calibrated field").uncheck()
        expect(page.locator("#field")).to_be_hidden()
        page.get_by_role("button", name="Recalibrate").click()
        expect(page.locator("#message")).to_contain_text("ecalibrate")


def test_the_start_page_has_one_page_for_each_thing_to_do(service: PageServer, chrome: Browser) -> None:
    with page_in(chrome, phone=True) as page:
        page.goto(service.url)
        shown = {"Play": "#map", "Stream": "#overlays", "Set up": 'a[href="camera"]'}
        for name, part in shown.items():
            page.get_by_role("navigation").get_by_role("link", name=name, exact=True).tap()
            expect(page.locator(part)).to_be_visible()
            for other in set(shown.values()) - {part}:
                expect(page.locator(other)).to_be_hidden()
        page.get_by_role("link", name="Look back").tap()
        page.wait_for_url("**/games")


UNDER_THE_NOTCH = """() => [...document.querySelectorAll("button, a, input, select, summary")]
    .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
    .filter(([, { width, left, right }]) => width > 0 && (left < 59 || right > innerWidth - 59))
    .map(([text]) => text)"""


@pytest.mark.parametrize("path", ["", "panel", "camera", "setup", "games", "evidence", "pair"])
def test_nothing_to_tap_lies_under_the_notch_and_text_follows_the_browser(
    service: PageServer, chrome: Browser, path: str
) -> None:
    with page_in(chrome) as page:
        page.set_viewport_size({"width": 844, "height": 390})  # a phone held across
        page.goto(f"{service.url}/{path}")
        expect(page.locator("h1, header #score").first).to_be_visible()
        page.evaluate("document.documentElement.style.cssText = '--notch-left: 59px; --notch-right: 59px'")
        wait_until(lambda: page.evaluate(UNDER_THE_NOTCH) == [], lambda: str(page.evaluate(UNDER_THE_NOTCH)))
        size = "parseFloat(getComputedStyle(document.querySelector('button, .button, h1')).fontSize)"
        larger = pytest.approx(1.5 * page.evaluate(size))
        page.evaluate("document.documentElement.style.fontSize = '24px'")  # as a browser set to large text has it
        wait_until(lambda: page.evaluate(size) == larger)


def test_the_camera_page_has_its_heading_on_one_line_on_a_phone(service: PageServer, chrome: Browser) -> None:
    with page_in(chrome, phone=True) as page:
        page.goto(f"{service.url}/camera")
        for measure in (
            "document.querySelector('#state .dot').getBoundingClientRect().width >= 10",
            "document.querySelector('h1').getBoundingClientRect().height < 40",
            "document.documentElement.scrollWidth <= 390",
        ):
            page.wait_for_function(measure)  # once the page's font is there


@pytest.mark.parametrize("path", ["", "camera"])
def test_of_several_problems_the_first_is_shown_and_the_others_on_demand(
    path: str, service: PageServer, chrome: Browser
) -> None:
    with page_in(chrome, phone=True) as page:
        page.goto(f"{service.url}/{path}")
        text = "The picture is dark; the camera was moved; 3 figures are missing"
        service.game_service.publish_health(HealthStatus(level="warning", text=text))
        state = page.locator("#state")
        state.get_by_text("The picture is dark (and 2 more)").click()
        expect(state.get_by_text("3 figures are missing")).to_be_visible()
        service.game_service.publish_health(HealthStatus(level="warning", text=text.replace("3", "4")))
        expect(state.get_by_text("4 figures are missing")).to_be_visible()
        service.game_service.publish_health(HealthStatus(level="ok", text="board on"))
        expect(state).to_have_text("Board on")


def test_the_screen_stays_on_while_a_game_is_in_play(service: PageServer, chrome: Browser) -> None:
    with page_in(chrome, phone=True) as page:
        page.add_init_script("""
            window.held = 0;
            const release = async () => { held -= 1; };
            const request = async () => { held += 1; return { addEventListener() {}, release }; };
            Object.defineProperty(navigator, "wakeLock", { value: { request } });
        """)
        page.goto(f"{service.url}/panel")
        wait_until(lambda: page.evaluate("held") == 1)
        phase = service.hub.value("game").phase
        service.publish("game", phase="over")
        wait_until(lambda: page.evaluate("held") == 0)
        service.publish("game", phase=phase)


def test_the_start_page_gives_addresses_to_copy(service: PageServer, chrome: Browser) -> None:
    with page_in(chrome) as page:
        page.goto(f"{service.url}/#stream", wait_until="domcontentloaded")
        card = page.locator("article", has=page.get_by_role("heading", name="Score bug"))
        address = card.get_by_label("Address")
        expect(address).to_have_value(f"{service.url}/overlay/scorebug")
        card.get_by_text("Options").click()
        card.locator("select[name=theme]").select_option("light")
        card.locator("input[name=scale]").fill("1.25")
        card.locator("input[name=scale]").blur()
        expect(address).to_have_value(f"{service.url}/overlay/scorebug?scale=1.25&theme=light")
        with page.expect_download() as loading:
            card.get_by_role("button", name="Loader file").click()
        loader = loading.value.path().read_text()
        assert f"{service.url}/overlay/scorebug?scale=1.25&amp;theme=light" in loader
        card.get_by_text("Preview").click()
        frame = page.frame_locator("article iframe")
        expect(frame.locator("html")).to_have_attribute("data-theme", "light")
        expect(frame.locator(".bug .score").first).to_be_visible()
        preview = cv2.imdecode(np.frombuffer(card.locator(".preview").screenshot(), np.uint8), cv2.IMREAD_GRAYSCALE)
        assert preview is not None
        empty = preview[preview.shape[0] // 4 : preview.shape[0] // 2, 40:-40]
        assert 40 < empty.min() < empty.max() < 100, "the overlay is transparent: the preview's checkers are seen"


def test_a_phone_is_paired_by_a_code_and_obs_by_the_address_it_gets(chrome: Browser, tmp_path: Path) -> None:
    service = PageServer(tmp_path, AccessPolicy(lan=True, trust_local=False))
    service.start()
    with page_in(chrome, phone=True) as phone:
        phone.goto(f"{service.url}/panel")
        expect(phone.locator("#pairing")).to_contain_text("not paired yet")
        phone.goto(f"{service.url}/pair#{service.token_store.make_code('operator').code}")
        phone.wait_for_url("**/panel")
        expect(phone.locator("html")).to_have_attribute("data-link", "live")
        expect(phone.locator("#pairing")).to_be_hidden()
    with page_in(chrome) as viewer:
        viewer.goto(f"{service.url}/pair")
        viewer.get_by_label("Code").fill(service.token_store.make_code("viewer").code)
        viewer.get_by_role("button", name="Pair").click()
        viewer.locator(".addresses input").first.wait_for()
        shown = viewer.locator(".addresses input").evaluate_all("inputs => inputs.map(({ value }) => value)")
    (address,) = (each for each in shown if "/overlay/scorebug?key=" in each)
    with page_in(chrome) as obs:  # without the viewer's cookie
        obs.goto(address)
        expect(obs.locator("html")).to_have_attribute("data-link", "live")
    service.stop()


def test_every_page_tells_a_device_that_is_not_paired_and_leads_to_where_it_is(chrome: Browser, tmp_path: Path) -> None:
    service = PageServer(tmp_path, AccessPolicy(lan=True, trust_local=False))
    service.start()
    with page_in(chrome, phone=True) as phone:
        for page in PAGES:
            if page.path in {"/pair", "/phone"}:  # which pair the device themselves
                continue
            phone.goto(f"{service.url}{page.path}?game=current&call=x", wait_until="domcontentloaded")
            pair = phone.get_by_role("link", name="Pair this device")
            expect(pair, page.path).to_have_count(1)
            expect(pair, page.path).to_be_in_viewport()
            expect(phone.get_by_text("not paired yet"), page.path).to_be_visible()
    with page_in(chrome) as on_air:
        on_air.goto(f"{service.url}/program?air", wait_until="domcontentloaded")
        with on_air.expect_response("**/api/session"):
            on_air.reload(wait_until="domcontentloaded")
        expect(on_air.get_by_role("link", name="Pair this device")).to_have_count(0)
    service.stop()


def test_the_first_admin_is_the_browser_that_opens_the_printed_link(chrome: Browser, tmp_path: Path) -> None:
    service = PageServer(tmp_path, AccessPolicy(lan=True, trust_local=False))
    service.start()
    with page_in(chrome) as page:
        page.goto(f"{service.url}/pair#{service.admin_key.text}")
        page.wait_for_url("**/panel", wait_until="commit")
        page.goto(f"{service.url}/#set-up", wait_until="domcontentloaded")
        page.get_by_role("button", name="As operator").click()
        code = page.locator("#code .code").inner_text()
    with page_in(chrome, phone=True) as phone:  # typed as people do
        phone.goto(f"{service.url}/pair")
        phone.get_by_label("Code").fill(f" {code.lower()} ")
        phone.get_by_role("button", name="Pair").click()
        phone.wait_for_url("**/panel")
        expect(phone.locator("html")).to_have_attribute("data-link", "live")
    service.stop()


@pytest.mark.parametrize("fragment", ["%E0%A4%A", "%", "ABC%ZZ"])
def test_an_address_that_was_cut_leaves_a_page_to_type_the_code_on(
    chrome: Browser, tmp_path: Path, fragment: str
) -> None:
    service = PageServer(tmp_path, AccessPolicy(lan=True, trust_local=False))
    service.start()
    with page_in(chrome, phone=True) as phone:
        phone.goto(f"{service.url}/pair#{fragment}")
        expect(phone.get_by_label("Code")).to_have_value(fragment)
        phone.get_by_label("Code").fill(service.token_store.make_code("operator").code)
        phone.get_by_role("button", name="Pair").click()
        phone.wait_for_url("**/panel")
    service.stop()


def test_obs_on_another_computer_needs_one_address_from_the_start_page(chrome: Browser, tmp_path: Path) -> None:
    service = PageServer(tmp_path, AccessPolicy(lan=True))
    service.start()
    with page_in(chrome) as page:
        page.goto(f"{service.url}/#stream", wait_until="domcontentloaded")
        card = page.locator("article", has=page.get_by_role("heading", name="Score bug"))
        card.get_by_text("Options").click()
        card.locator("select[name=theme]").select_option("light")
        page.get_by_role("button", name="OBS is on another computer").click()
        address = card.get_by_label("Address")
        expect(address).to_have_value(re.compile(r"/overlay/scorebug\?theme=light&key="))
        pasted = address.input_value()
        page.get_by_role("button", name="OBS is on this computer").click()
        expect(address).to_have_value(f"{service.url}/overlay/scorebug?theme=light")
        page.get_by_role("button", name="OBS is on another computer").click()
        expect(address).to_have_value(pasted)  # no second device
    assert [device.role for device in service.token_store.devices()] == ["viewer"]
    with page_in(chrome) as obs:
        own = urlsplit(service.url)
        obs.goto(urlsplit(pasted)._replace(netloc=own.netloc).geturl())  # this computer's network may answer to nobody
        expect(obs.locator("html")).to_have_attribute("data-link", "live")
        expect(obs.locator("html")).to_have_attribute("data-theme", "light")
    service.stop()


def test_an_address_that_was_seen_on_the_stream_is_removed_by_two_presses(chrome: Browser, tmp_path: Path) -> None:
    service = PageServer(tmp_path, AccessPolicy(lan=True))
    service.start()
    with page_in(chrome) as page:
        page.goto(f"{service.url}/#stream", wait_until="domcontentloaded")
        page.get_by_role("button", name="OBS is on another computer").click()
        address = page.locator("article", has=page.get_by_role("heading", name="Score bug")).get_by_label("Address")
        expect(address).to_have_value(re.compile("key="))
        seen = urlsplit(address.input_value())._replace(netloc=urlsplit(service.url).netloc).geturl()
        page.get_by_role("link", name="Set up", exact=True).click()
        remove = page.get_by_role("button", name="Remove OBS on another computer")
        remove.click()
        expect(remove).to_have_text("Really?")
        assert len(service.token_store.devices()) == 1
        remove.click()
        expect(page.locator("#devices li")).to_have_count(0)
        page.get_by_role("link", name="Stream", exact=True).click()
        expect(address).to_have_value(f"{service.url}/overlay/scorebug")
    assert service.token_store.devices() == []
    service.stop()
    strangers = PageServer(tmp_path, AccessPolicy(lan=True, trust_local=False))  # to whom this computer is as any other
    strangers.start()
    with page_in(chrome) as obs:
        obs.goto(f"{strangers.url}/overlay/scorebug?{urlsplit(seen).query}")
        expect(obs.get_by_role("alert")).to_contain_text("Its key is wrong, older than 90 days, or was removed")
        obs.goto(strangers.url, wait_until="domcontentloaded")
        expect(obs.locator("#access")).to_contain_text("not paired yet")
        expect(obs.locator("#elsewhere")).to_be_hidden()
    strangers.stop()


def test_the_code_can_lead_to_any_address_and_goes_when_it_is_used(chrome: Browser, tmp_path: Path) -> None:
    service = PageServer(tmp_path, AccessPolicy(lan=True))
    service.start()
    with page_in(chrome) as page, httpx.Client(base_url=service.url, timeout=WAIT_S) as phone:
        page.goto(f"{service.url}/#set-up", wait_until="domcontentloaded")
        shown = page.locator("#addresses a")
        expect(shown).to_have_count(len(phone.get("/api/addresses").json()["urls"]))
        page.get_by_role("button", name="As operator").click()
        last = shown.last.get_attribute("href")
        if shown.count() > 1:
            page.get_by_label("Address in the code").select_option(index=shown.count() - 1)
        code = page.locator("#code .code").inner_text()
        picture = page.locator("#code img")
        expect(picture).to_have_attribute("alt", f"QR code of {last}pair#{code.replace('-', '')}")
        page.wait_for_function("() => document.querySelector('#code img').naturalWidth > 0")
        drawn = cv2.imdecode(np.frombuffer(picture.screenshot(), np.uint8), cv2.IMREAD_COLOR)
        assert drawn is not None
        assert cv2.QRCodeDetector().detectAndDecode(drawn)[0] == f"{last}pair#{code.replace('-', '')}"
        phone.post("/api/session", json={"code": code, "name": "Ann’s phone"}).raise_for_status()
        expect(page.locator("#code")).to_have_text("Paired: Ann’s phone, operator.")
        expect(page.locator("#devices")).to_contain_text("Ann’s phone")
    service.stop()


def test_the_start_page_says_how_another_computer_is_let_in(service: PageServer, chrome: Browser) -> None:
    with page_in(chrome) as page:
        page.goto(f"{service.url}/#stream", wait_until="domcontentloaded")
        page.get_by_role("button", name="OBS is on another computer").click()
        expect(page.locator(".elsewhere")).to_contain_text("downfield run --lan")
