"""The panel in a hand: what is asked stays in sight, the phone rolls the dice, and it is used as its owner likes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, Page, Route, expect
from waiting import wait_until

from downfield.capture.sources.phone_link import PHONE_LINK
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.game.published.game_topics import CallView, ClauseView, Question, Questions, ReadingView
from downfield.game.records.commands import NewGame, TeamSheet


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


@pytest.fixture
def phone(chrome: Browser, service: PageServer) -> Iterator[Page]:
    service.publish("questions", Questions())
    with page_in(chrome, phone=True) as page:
        page.add_init_script(
            "navigator.vibrate = (pattern) => (window.vibrated = [...(window.vibrated ?? []), pattern]);"
        )
        page.goto(f"{service.url}/panel")
        expect(page.locator("html")).to_have_attribute("data-link", "live")
        yield page


COIN = Question(id="coin:fumble", kind="coin", text="coin: fumble", purpose="fumble")


def test_a_question_stays_in_sight_and_calls_for_attention(service: PageServer, phone: Page) -> None:
    expect(phone.locator("#dock button").first).to_be_visible()
    assert phone.evaluate("window.vibrated") is None
    service.publish("questions", Questions(questions=(COIN,)))
    question = phone.locator("#questions").get_by_role("button", name="Heads")
    expect(question).to_be_visible()
    assert phone.evaluate("window.vibrated") == [[60, 60, 60]]
    phone.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    expect(question).to_be_in_viewport()
    header, card = phone.locator("header").bounding_box(), phone.locator("#questions").bounding_box()
    assert header is not None
    assert card is not None
    assert card["y"] >= header["y"] + header["height"] - 1  # pinned below the score, not under it


def test_how_a_phone_is_used_is_kept_on_it(service: PageServer, phone: Page) -> None:
    fold = phone.locator("details", has_text="This phone")
    fold.locator("summary").click()
    fold.get_by_label("Left-handed").check()
    fold.get_by_label("High contrast").check()
    fold.get_by_label("Vibration").uncheck()
    expect(phone.locator("body")).to_have_css("background-color", "rgb(0, 0, 0)")
    phone.reload()
    expect(phone.locator("html")).to_have_attribute("data-link", "live")
    expect(phone.locator("html[data-left][data-sun]")).to_have_count(1)
    buttons = [one.bounding_box() for one in phone.locator("#dock button").all()[:2]]
    assert buttons[0] is not None
    assert buttons[1] is not None
    assert buttons[0]["x"] > buttons[1]["x"]
    before = phone.evaluate("(window.vibrated ?? []).length")
    service.publish("questions", Questions(questions=(COIN,)))
    expect(phone.locator("#questions").get_by_role("button", name="Heads")).to_be_visible()
    assert phone.evaluate("(window.vibrated ?? []).length") == before


def test_a_spot_is_entered_as_people_say_it(service: PageServer, phone: Page) -> None:
    game = service.hub.value("game")
    made = phone.evaluate(
        """async (game) => {
            const { yardLine } = await import("./assets/panel_fields.js");
            const shown = (x_yd, direction) => {
                const spot = yardLine({ ...game, possession: "home", direction }, x_yd);
                return [spot.inputs[0].value, spot.inputs[1].valueAsNumber, spot.x_yd()];
            };
            return [shown(34.5, 1), shown(81, 1), shown(34.5, -1), shown(50, -1), shown(-3, 1)];
        }""",
        game.model_dump(mode="json"),
    )
    assert made == [
        ["own", 34.5, 34.5],
        ["opponent", 19, 81],
        ["opponent", 34.5, 34.5],
        ["own", 50, 50],
        ["own", -3, -3],
    ]


def a_picture(gray: int) -> bytes:
    return cv2.imencode(".jpg", np.full((90, 160, 3), gray, np.uint8))[1].tobytes()


def test_a_wide_screen_has_the_picture_beside_the_panel_and_a_phone_does_not_load_it(
    service: PageServer, chrome: Browser, phone: Page
) -> None:
    service.picture.put(a_picture(40))
    assert phone.locator("#picture").get_attribute("src") is None
    with page_in(chrome) as desk:
        desk.goto(f"{service.url}/panel")
        picture = desk.locator("#picture")
        expect(picture).to_have_attribute("src", re.compile("^blob:"))
        expect(desk.locator("#picture-box")).to_be_visible()
        service.stop()
        expect(picture).not_to_have_attribute("src", re.compile(".*"))  # or it would stand as if live
        service.start()
        service.picture.put(a_picture(90))
        expect(picture).to_have_attribute("src", re.compile("^blob:"))


def test_pictures_take_no_connection_from_taps_and_end_while_their_page_is_hidden(
    service: PageServer, chrome: Browser
) -> None:
    service.picture.put(a_picture(40))
    with page_in(chrome) as panel:
        pages = [panel, *(panel.context.new_page() for _ in range(7))]  # of one browser: they share its connections
        for page in pages:
            page.goto(f"{service.url}/camera")
            expect(page.locator("#live")).to_have_attribute("src", re.compile("^blob:"))
        wait_until(lambda: service.picture.watchers == len(pages))
        assert panel.evaluate("fetch('api/legal').then((answer) => answer.status)") == 200
        shown = panel.locator("#live").get_attribute("src")
        service.picture.put(a_picture(90))
        expect(panel.locator("#live")).not_to_have_attribute("src", shown or "")
        hide = "Object.defineProperty(document, 'hidden', { value: true, configurable: true })"
        for page in pages[1:]:
            page.evaluate(f"() => {{ {hide}; document.dispatchEvent(new Event('visibilitychange')); }}")
        wait_until(lambda: service.picture.watchers == 1)


def test_the_phone_rolls_dice_where_none_are_at_hand(phone: Page) -> None:
    rolled = phone.evaluate(
        """async () => {
            const { rollInput } = await import("./assets/panel_questions.js");
            const seen = new Set();
            for (let time = 0; time < 40; time++) {
                const card = document.createElement("div");
                card.append(...rollInput({ purpose: "fumble", by: null }, { count: 2, sides: 6 }).flat());
                document.body.append(card);
                card.querySelector(".roll-dice").click();
                const { declaration } = JSON.parse(card.querySelector(".main").dataset.body);
                declaration.dice.forEach((value) => seen.add(value));
                card.remove();
            }
            return [...seen].sort();
        }"""
    )
    assert rolled == [1, 2, 3, 4, 5, 6]


def test_a_tap_on_the_small_field_is_a_spot(service: PageServer, phone: Page) -> None:
    fold = phone.locator("details", has_text="Call by hand")
    fold.locator("summary").click()
    field = fold.locator(".spot-picker")
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    assert box is not None
    yard = box["width"] / 120  # with both end zones
    field.tap(position={"x": (10 + 70) * yard, "y": box["height"] / 4})
    expect(fold.get_by_label("Yard line")).to_have_value("30")
    expect(fold.get_by_label("Whose side of the field")).to_have_value("opponent")
    across = fold.get_by_label("Yards across the field")
    width_yd = service.hub.value("line_up").field.width_yd
    assert float(across.input_value()) == pytest.approx(0.75 * width_yd, abs=1)
    fold.get_by_label("Yard line").fill("20")  # the mark follows the numbers
    expect(fold.locator(".spot-picker .mark")).to_have_attribute("transform", re.compile(r"translate\(80 "))
    body = fold.get_by_role("button", name="Make this call").get_attribute("data-body")
    assert body is not None
    assert json.loads(body)["spot_yd"][0] == 80


def test_open_calls_of_one_play_are_one_card_and_one_tap(service: PageServer, phone: Page) -> None:
    def question(name: str, t_s: float) -> Question:
        call = CallView(
            id=name, kind="tackle", verdict="too_close", standing="open", text=f"tackle {name}", t_ns=int(t_s * 1e9),
            clauses=(), probability=0.6,
        )  # fmt: skip
        return Question(id=name, kind="ruling", text=call.text, call=call)

    service.publish("questions", Questions(questions=(question("a", 1), question("b", 3), question("c", 90))))
    expect(phone.locator("#questions > li")).to_have_count(2)
    card = phone.locator("#questions > li").first
    expect(card).to_contain_text("2 calls of this play need your ruling")
    expect(card.get_by_role("button", name="Confirm: tackle b")).to_be_visible()
    sent: list[str] = []

    def accept(route: Route) -> None:
        sent.append(
            f"{route.request.url.rpartition('/api/')[2]} {json.loads(route.request.post_data or '')['decision']}"
        )
        route.fulfill(json={})

    phone.route("**/rulings", accept)
    with phone.expect_response("**/calls/b/rulings"):
        card.get_by_role("button", name="Confirm all 2 as called").tap()
    assert sent == ["calls/a/rulings confirm", "calls/b/rulings confirm"]


def test_the_answers_to_a_close_call_are_in_sight_on_any_phone(service: PageServer, phone: Page) -> None:
    readings = (
        ReadingView(kind="tackle", probability=0.6, text="tackled"),
        ReadingView(kind="info", probability=0.4, text="no contact"),
    )
    call = CallView(
        id="close", kind="tackle", verdict="too_close", standing="open", text="dark-28 tackled by light-24", t_ns=1,
        clauses=(ClauseView(id="TAP-022", text="Any contact tackles."),), probability=0.6, margin=0.06, sigma=0.13,
        unit="mm", measured="+0.06 \N{PLUS-MINUS SIGN} 0.13 mm", readings=readings,
    )  # fmt: skip
    service.publish("questions", Questions(questions=(Question(id="q", kind="ruling", text=call.text, call=call),)))
    for width, height in ((844, 390), (667, 375), (390, 844), (320, 568)):
        phone.set_viewport_size({"width": width, "height": height})
        confirm = phone.get_by_role("button", name="Confirm: Tackled")
        expect(confirm).to_be_visible()
        box, dock = confirm.bounding_box(), phone.locator("#dock").bounding_box()
        assert box is not None
        assert dock is not None
        beside = box["x"] + box["width"] <= dock["x"] or dock["x"] + dock["width"] <= box["x"]
        assert box["y"] + box["height"] <= (height if beside else dock["y"]), (
            f"{width}x{height}: the answer is below the page's edge"
        )
        assert "undefined" not in phone.locator("#questions").inner_text()
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_on_air_is_one_tap_from_the_panel(phone: Page) -> None:
    fold = phone.locator("details", has_text="On the stream")
    fold.locator("summary").click()
    fold.get_by_role("link", name="Producer’s page").tap()
    phone.wait_for_url("**/producer")
    expect(phone.locator("#desk")).not_to_have_attribute("disabled", "")


GUARDED_SOUND = """
window.tones = 0;
let touching = false;
addEventListener("touchend", () => { touching = true; setTimeout(() => (touching = false)); }, true);
window.AudioContext = class {  // as an iPhone's: it plays once it was resumed by a touch
  state = "suspended"; currentTime = 0; destination = {};
  resume() {
    if (!touching) return new Promise(() => {});
    this.state = "running";
    return Promise.resolve();
  }
  createGain() {
    const gain = { setValueAtTime() {}, linearRampToValueAtTime() {}, exponentialRampToValueAtTime() {} };
    return { gain, connect() {} };
  }
  createOscillator() { return { frequency: {}, connect: (next) => next, start: () => (window.tones += 1), stop() {} }; }
};
"""


def test_a_question_sounds_once_the_phone_was_touched_and_is_not_made_up_for(service: PageServer, phone: Page) -> None:
    phone.add_init_script(GUARDED_SOUND)
    phone.reload()
    expect(phone.locator("#dock button").first).to_be_visible()
    service.publish("questions", Questions(questions=(COIN,)))
    expect(phone.locator("#questions")).to_contain_text("Heads")
    assert phone.evaluate("window.tones") == 0
    phone.locator("#down").tap()
    service.publish("questions", Questions())
    expect(phone.locator("#questions")).to_be_empty()
    assert phone.evaluate("window.tones") == 0, "the tone of a question long past was played"
    service.publish("questions", Questions(questions=(COIN,)))
    phone.wait_for_function("() => window.tones === 3")


def test_on_small_phones_and_with_text_of_twice_the_size_nothing_is_cut_off(service: PageServer, phone: Page) -> None:
    service.game_service.start_game(
        NewGame(home=TeamSheet(name="W", short="WWWW"), away=TeamSheet(name="M", short="MMMM"))
    )
    for width, height in ((195, 422), (320, 568), (640, 360)):
        phone.set_viewport_size({"width": width, "height": height})
        phone.reload()  # as a phone of this size opens it
        expect(phone.locator("#score")).to_contain_text("WWWW")
        expect(phone.locator("#dock button").first).to_be_visible()
        assert phone.evaluate("document.documentElement.scrollWidth") == width
        parts = phone.locator("#dock button, #score .team, #link").all()
        boxes = [box for part in parts if (box := part.bounding_box()) is not None]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes), boxes
        assert all(box["y"] + box["height"] <= height for box in boxes)
        phone.evaluate("window.scrollTo(0, 400)")
        header, buttons = phone.locator("header").bounding_box(), phone.locator("#dock").bounding_box()
        assert header is not None
        assert buttons is not None
        below = height if buttons["x"] > 0 else buttons["y"]  # held sideways, they stand beside
        assert below - max(0.0, header["y"] + header["height"]) > 0.4 * height, "no room between score and buttons"


def test_the_admin_sees_the_phone_that_is_the_camera_and_answers_another_one_that_asks(
    service: PageServer, phone: Page
) -> None:
    store = service.token_store
    section = phone.locator("details", has_text="The phone that is the camera")
    expect(section).to_be_hidden()
    devices = []
    for name in ("Ann's phone", "Bo's phone"):
        redeemed = store.redeem(store.make_code("camera").code, name)
        assert redeemed is not None
        devices.append(redeemed[1])
    (first, second) = devices
    PHONE_LINK.ask(second.id, second.name)
    asks = HealthReason(code="phone_asks", level="warning", text="Another phone, 'Bo's phone', wants to be the camera")
    service.publish("health", HealthStatus(level="warning", text=asks.text, reasons=(asks,)))
    expect(phone.locator("#health-alert")).to_contain_text("Another phone, 'Bo's phone', wants to be the camera")
    expect(section).to_have_attribute("open", "")
    expect(section).to_contain_text("Ann's phone is it now, and would be removed.")
    section.get_by_role("button", name="Use the other phone").click()
    expect(section).to_contain_text("Paired: Bo's phone.")
    assert [one.id for one in store.devices()] == [second.id]
    assert first.id != second.id
    section.get_by_role("button", name="Remove it").click()
    expect(section).to_be_hidden()
    assert store.devices() == []
