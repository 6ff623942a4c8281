"""The operator panel in a real browser, with a real game."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator

import pytest
from browsers import OAKDALE, RIVER_CITY, PageServer, browser, page_in
from playwright.sync_api import Browser, Locator, Page, Route, expect
from scripted_plays import BASE, FIELD, Film, ScriptedFigure, film, opening, runs, stands
from waiting import wait_until

from downfield.core.scene import Asked, Player, Scene
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame
from downfield.officiating.calls import Call
from downfield.officiating.declarations import LineUpDeclared, SetUp
from downfield.officiating.events import Ruling

RUNNER, HITTER = "dark-22", "light-50"
GRAZE_MM = 0.05
HAS_SETTLED = """async (button) => {
  const { changedAt } = await import(new URL("assets/dom.js", document.baseURI));
  return performance.now() - changedAt(button) > 350;
}"""


def grazed() -> Film:
    """A runner passes a standing man by less than the error of the measurement."""
    apart_yd = (BASE.width_mm + GRAZE_MM) / FIELD.mm_per_yd_y
    men = [
        ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"),
        ScriptedFigure(HITTER, stands(46, FIELD.width_yd / 2 + apart_yd), "LB"),
    ]
    return film(men, 3.0, on=((0.5, 1.65),), sigma_gap_mm=0.15)


def tackled() -> Film:
    """A runner meets a standing man."""
    return film(
        [ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"), ScriptedFigure(HITTER, stands(50), "LB")],
        3.0,
        on=((0.5, 1.65),),
    )


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    running = PageServer(tmp_path_factory.mktemp("service"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def service(serving: PageServer) -> PageServer:
    """The service with a new game."""
    serving.game_service.start_game(NewGame(home=RIVER_CITY, away=OAKDALE))
    serving.game_service.publish_health(HealthStatus())
    return serving


@pytest.fixture
def phone(chrome: Browser, service: PageServer) -> Iterator[Page]:
    with page_in(chrome, phone=True) as page:
        page.goto(f"{service.url}/panel")
        expect(page.locator("html")).to_have_attribute("data-link", "live")
        yield page


def set_up(service: PageServer) -> None:
    service.game_service.declare(SetUp("home", 1, 40.0), Submission())


def dock(phone: Page, label: str) -> None:
    """Tap a button under the thumb."""
    button = phone.locator("#dock").get_by_role("button", name=label, exact=True)
    button.wait_for()
    expect(phone.locator("#more[aria-busy='true']")).to_have_count(0)  # what may be declared now is known
    button.tap(force=True)  # a dimmed button takes no tap that means it, but says why


def tap(phone: Page, selector: str, label: str | re.Pattern[str] | None = None) -> None:
    found = phone.locator(selector)
    button = found if label is None else found.get_by_role("button", name=label)
    button.first.tap()


def hurry(phone: Page, button: Locator) -> None:
    """Let taps come when they do, as soon as a person could have reacted to the button's last change."""
    button.wait_for()
    wait_until(lambda: button.evaluate(HAS_SETTLED), "the panel stays as it is")
    phone.evaluate("window.hurried = true")


def play(service: PageServer, shot: Film) -> None:
    for _, declaration in opening(shot, RUNNER):
        service.game_service.declare(declaration, Submission())
    for scene in shot.scenes:
        service.game_service.take(scene)


def declared_types(service: PageServer) -> list[str]:
    return [declaration.type for declaration in service.game_service.declarations()]


def test_a_play_is_declared_with_a_thumb(service: PageServer, phone: Page) -> None:
    set_up(service)
    expect(phone.locator("#down")).to_have_text("1st & 10 at RIV 40")
    tap(phone, "[data-player='dark-28']")
    expect(phone.locator(".ball-text")).to_have_text("River City 28 has the ball")
    expect(phone.locator("[data-player='dark-28']")).to_have_class(re.compile("carrier"))
    dock(phone, "Set")
    expect(phone.locator("#phase")).to_contain_text("Set")  # before it, a dimmed button only says why
    dock(phone, "Board on")
    expect(phone.locator("#phase")).to_contain_text("Live · board on")
    expect(phone.locator("#declared li")).to_have_count(5)
    assert declared_types(service)[-3:] == ["carrier", "set", "switch"]


def test_a_double_tap_declares_once_and_never_what_comes_next(service: PageServer, phone: Page) -> None:
    set_up(service)
    button = phone.locator("#dock").get_by_role("button", name="Set", exact=True)
    hurry(phone, button)
    button.dblclick()
    expect(phone.locator("#dock").get_by_role("button", name="OAK ready")).to_be_visible()
    assert declared_types(service).count("set") == 1
    assert "switch" not in declared_types(service)


def test_a_lost_response_is_retried_and_counts_once(service: PageServer, phone: Page) -> None:
    set_up(service)
    keys: list[str | None] = []
    ago_ms: list[int] = []

    def lose_first(route: Route) -> None:
        keys.append(route.request.headers.get("idempotency-key"))
        ago_ms.append(json.loads(route.request.post_data or "")["ago_ms"])
        if len(keys) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    phone.route("**/api/declarations", lose_first)
    hurry(phone, phone.locator("#dock").get_by_role("button", name="Set", exact=True))
    with phone.expect_request_finished(lambda request: request.url.endswith("/declarations") and len(keys) == 2):
        dock(phone, "Set")
    assert keys[0] == keys[1]
    assert declared_types(service).count("set") == 1
    assert ago_ms[1] - ago_ms[0] >= 250  # it is as old as the wait before it was sent again


def test_a_refusal_is_shown_with_its_reason(service: PageServer, phone: Page) -> None:
    set_up(service)
    tap(phone, "[data-player='dark-28']")
    dock(phone, "Set")
    expect(phone.locator("#phase")).to_contain_text("Set")
    dock(phone, "Board on")
    phone.locator("#dock").get_by_role("button", name="Board off").wait_for()
    dock(phone, "Stop here")
    expect(phone.locator("#notice")).to_contain_text("the ball carrier is not in view")
    assert "choice" not in declared_types(service)


def test_one_declaration_is_undone(service: PageServer, phone: Page) -> None:
    set_up(service)
    tap(phone, "[data-player='dark-28']")
    expect(phone.locator(".ball-text")).to_have_text("River City 28 has the ball")
    tap(phone, "#declared", re.compile("^Undo: River City 28"))
    expect(phone.locator("#declared li.undone")).to_have_count(1)
    expect(phone.locator(".ball-text")).not_to_have_text("River City 28 has the ball")


def test_undo_beside_an_old_line_first_shows_what_goes_with_it_and_is_undone(service: PageServer, phone: Page) -> None:
    play(service, grazed())
    tap(phone, "#questions .card", re.compile("^Confirm"))
    expect(phone.locator("#down")).to_contain_text("2nd &")
    tap(phone, "#declared", re.compile("^Undo: .* has the ball"))
    expect(phone.locator("#notice")).to_contain_text(re.compile("With it: .*No longer called: .* tackled by"))
    expect(phone.locator("#declared li.undone")).to_have_count(0)
    tap(phone, "#notice", "Undo all of this")
    expect(phone.locator("#down")).to_contain_text("1st &")
    tap(phone, "#declared", re.compile("^Undo: undone: .* has the ball", re.IGNORECASE))
    expect(phone.locator("#down")).to_contain_text("2nd &")


def test_a_close_call_waits_with_its_measurement_for_a_ruling(service: PageServer, phone: Page) -> None:
    play(service, grazed())
    card = phone.locator("#questions .card.ruling")
    expect(card.locator(".tag")).to_contain_text("Too close to call")
    expect(card.locator(".words")).to_contain_text(re.compile(r"(sure to \d+ %|\d+ % likely)"))
    expect(card.locator(".details")).to_contain_text(re.compile(r"±.*mm"))
    expect(card.locator(".gauge")).to_be_visible()
    expect(card.locator(".readings li")).to_have_count(2)
    tap(phone, "#questions .card", re.compile("^Confirm"))
    expect(phone.locator("#questions li")).to_have_count(0)
    confirmed = phone.locator("#calls .call.confirmed")
    expect(confirmed).to_have_count(1)
    expect(phone.locator("#down")).to_contain_text("2nd &")
    tap(phone, "#calls", "Undo this ruling")
    expect(card).to_have_count(1)
    tap(phone, "#questions .card", re.compile("^Overturn"))
    expect(phone.locator("#questions li")).to_have_count(0)
    expect(phone.locator("#down")).to_contain_text("1st &")


def test_a_call_that_stands_is_overturned(service: PageServer, phone: Page) -> None:
    play(service, tackled())
    tackle = phone.locator("#calls .call", has_text="tackled")
    expect(tackle).to_have_count(1)
    tackle.locator(".overturn summary").tap()
    expect(tackle.get_by_role("button", name="It ended there")).to_be_disabled()  # nothing is said yet
    tap(phone, "#calls", re.compile("^The play went on: .*tackled"))
    expect(tackle).to_have_count(0)


def test_a_tackle_that_is_overturned_asks_where_the_play_ended_and_who_made_it(
    service: PageServer, phone: Page
) -> None:
    play(service, tackled())
    tackle = phone.locator("#calls .call", has_text="tackled")
    tackle.locator(".overturn summary").tap()
    tackle.locator("[name=ended-at]").fill("Z 99")
    tackle.get_by_role("button", name="It ended there").tap()
    expect(phone.locator("#notice")).to_contain_text("is no place on this field; write a team and its yard line")
    tackle.locator("[name=ended-at]").fill("H 44")
    tackle.locator("[name=made-by]").fill("light 50")
    tackle.get_by_role("button", name="It ended there").tap()
    made = phone.locator("#calls .call.overturned")
    expect(made).to_contain_text("Tackle at H 44, by Oakdale 50")
    (call,) = [call for call in service.game_service.calls() if call.kind == "tackle"]
    assert (call.spot_yd, call.players) == ((44.0, FIELD.width_yd / 2), (RUNNER, HITTER))


def test_a_restored_call_is_not_shown_as_the_latest(service: PageServer, phone: Page) -> None:
    play(
        service,
        film(
            [ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"), ScriptedFigure(HITTER, stands(50), "LB")],
            3.0,
            on=((0.5, 1.65),),
        ),
    )
    made = Call("manual:1", "first_down", 0, "tap", (), "called", "first down, by hand")
    service.game_service.rule(Ruling("", "manual", made), Submission())
    shown = phone.locator("#calls .call")
    expect(shown.first).to_contain_text("by hand")
    tackle = next(call.id for call in service.game_service.calls() if call.kind == "tackle")
    struck = service.game_service.rule(Ruling(tackle, "strike"), Submission())
    assert isinstance(struck, Accepted)
    expect(phone.locator("#calls .call", has_text="tackled")).to_have_count(0)
    service.game_service.undo(struck.event, Submission())
    expect(phone.locator("#calls .call", has_text="tackled")).to_have_count(1)
    expect(shown.first).to_contain_text("by hand")


def test_dice_are_entered_by_taps(service: PageServer, phone: Page) -> None:
    service.game_service.declare(SetUp("home", 1, 66.0, 4, 3.0), Submission())
    dock(phone, "Field goal")
    card = phone.locator(".card.roll")
    tap(phone, ".card.roll", "Die 1: 4")
    tap(phone, ".card.roll", "Die 2: 6")
    tap(phone, ".card.roll", "Rolled 4 and 6 = 10")
    expect(card).to_have_count(0)
    expect(phone.locator("#calls .call").first).to_contain_text("ield goal")


def test_a_call_is_made_by_hand_and_the_game_corrected(service: PageServer, phone: Page) -> None:
    set_up(service)
    fold = phone.locator("details", has_text="Correct the game")
    fold.locator("summary").tap()
    fold.get_by_label("Points RIV").fill("7")
    fold.get_by_label("Down", exact=True).fill("3")
    expect(fold.get_by_label("Whose side of the field")).to_have_value("own")
    expect(fold.get_by_label("Yard line")).to_have_value("40")
    fold.get_by_label("Direction").select_option("-1")
    expect(fold.get_by_label("Yard line")).to_have_value("40")  # of one's own stays one's own
    fold.get_by_label("Yard line").fill("35")
    tap(phone, "details", "Correct the game")
    expect(phone.locator("#down")).to_have_text("3rd & 10 at RIV 35")
    assert service.hub.value("game").spot_yd == pytest.approx(65)
    expect(phone.locator("#declared li").first).to_contain_text("Set up: RIV ball, 3rd & 10, score RIV 7, OAK 0")
    expect(phone.locator("#score .points")).to_have_text(["0", "7"])
    fold = phone.locator("details", has_text="Call by hand")
    fold.locator("summary").tap()
    fold.locator("select").nth(0).select_option("first_down")
    fold.locator("select").nth(1).select_option("home")
    tap(phone, "details", "Make this call")
    expect(phone.locator("#calls .call.manual")).to_have_count(1)


def test_a_camera_problem_is_shown_with_its_remedy(service: PageServer, phone: Page) -> None:
    lost = HealthReason(code="camera_lost", level="alarm", text="No pictures come", remedy="Check the cable")
    service.game_service.publish_health(HealthStatus(level="alarm", calls="suspended", reasons=(lost,)))
    expect(phone.locator("#link")).to_contain_text("Camera lost")
    alert = phone.locator("#health-alert")
    expect(alert).to_contain_text("No pictures come")
    assert alert.bounding_box()["height"] < 60, "a problem takes more than a line of the phone"  # type: ignore[index]
    alert.get_by_role("button", name="No pictures come").tap()
    expect(phone.locator("#health .reason")).to_have_text("No pictures comeCheck the cable")
    expect(phone.locator("#health .suspended")).to_be_visible()


def test_two_figures_of_a_team_with_one_number_have_buttons_that_can_be_told_apart(
    service: PageServer, phone: Page
) -> None:
    players = tuple(Player(id_, "dark", number="28") for id_ in ("dark-28", "dark-28b", "dark-3"))
    light = (Player("light-28", "light", number="28"),)
    assert isinstance(service.game_service.declare(LineUpDeclared((*players, *light), "dark"), Submission()), Accepted)
    shown = phone.locator(".numbers button b")
    expect(shown).to_have_count(3)
    texts = shown.all_inner_texts()
    assert len(set(texts)) == 3, texts
    assert "28" in texts, "the one that is called so keeps it"


def test_figures_beside_the_line_up_are_reported_and_found_with_one_tap(service: PageServer, phone: Page) -> None:
    set_up(service)
    more = HealthReason(code="more_figures", level="warning", text="8 figures on the board are not in the line-up")
    service.game_service.publish_health(HealthStatus(level="warning", reasons=(more,)))
    alert = phone.locator("#health-alert")
    expect(alert).to_contain_text("8 figures on the board are not in the line-up")
    with phone.expect_request("**/api/commands") as sent:
        alert.get_by_role("button", name="Find all figures again").tap()
    assert sent.value.post_data_json == {"command": "find_figures"}


def test_the_game_goes_on_without_the_camera_and_returns_to_it(service: PageServer, phone: Page) -> None:
    set_up(service)
    lost = HealthReason(code="camera_lost", level="alarm", text="No pictures come", remedy="Check the cable")
    by_hand = HealthReason(code="calls_suspended", level="warning", text="Calls from the camera are suspended")
    sent: list[object] = []
    phone.on("request", lambda request: sent.append(request.post_data_json) if "commands" in request.url else None)

    def see(*reasons: HealthReason) -> None:
        level = "alarm" if lost in reasons else "warning" if reasons else "ok"
        service.game_service.publish_health(HealthStatus(level=level, calls="suspended", reasons=reasons))  # type: ignore[arg-type]

    alert, told = phone.locator("#health-alert"), phone.locator("details", has_text="How the play ended").first
    assert told.get_attribute("open") is None
    see(lost)
    expect(told).to_have_attribute("open", "")
    expect(told.get_by_label("How it ended")).to_be_visible()
    expect(alert).to_contain_text("No pictures come")
    with phone.expect_response("**/api/commands"):
        alert.get_by_role("button", name="Go on by hand").tap()
    see(lost, by_hand)
    expect(alert.locator("button[data-post]")).to_have_count(0)
    see(by_hand)  # the camera is back
    with phone.expect_response("**/api/commands"):
        alert.get_by_role("button", name="Use the camera again").tap()
    see()
    expect(alert).to_be_hidden()
    assert sent == [{"command": "suspend", "on": True}, {"command": "suspend", "on": False}]


def test_a_closed_problem_stays_away_until_another_one_comes(service: PageServer, phone: Page) -> None:
    dim, soft = (HealthReason(code=text, level="warning", text=text) for text in ("It is dim", "It is soft"))
    service.game_service.publish_health(HealthStatus(level="warning", reasons=(dim,)))
    alert = phone.locator("#health-alert")
    expect(alert).to_contain_text("It is dim")
    alert.get_by_role("button", name="Close").tap()
    expect(alert).to_be_hidden()
    service.game_service.publish_health(HealthStatus(level="warning", reasons=(dim,), fps=59.0))
    expect(alert).to_be_hidden()
    service.game_service.publish_health(HealthStatus(level="warning", reasons=(soft, dim)))
    expect(alert).to_contain_text("It is soft (and 1 more)")


def test_a_ruling_and_an_undo_are_listed_in_words(service: PageServer, phone: Page) -> None:
    set_up(service)
    hand_made = Call("x", "out_of_bounds", 0, "tap", (), "called", "dark-28 is out of bounds")
    service.game_service.rule(Ruling("", "manual", hand_made), Submission())
    (call,) = service.game_service.calls()
    service.game_service.rule(Ruling(call.id, "strike"), Submission())
    declared = phone.locator("#declared")
    expect(declared).to_contain_text("Removed: River City 28 is out of bounds")
    assert call.id not in declared.inner_text()


def test_a_broken_connection_is_shown_and_restored(service: PageServer, phone: Page) -> None:
    set_up(service)
    expect(phone.locator("#down")).to_have_text("1st & 10 at RIV 40")
    service.stop()
    expect(phone.locator("#link")).to_have_text("Reconnecting…")
    service.start()
    expect(phone.locator("#link")).to_have_text("Live")
    expect(phone.locator("#down")).to_have_text("1st & 10 at RIV 40")
    dock(phone, "Set")
    expect(phone.locator("#phase")).to_contain_text("Set")


def test_every_control_has_a_name_and_room_for_a_thumb(service: PageServer, phone: Page) -> None:
    play(service, grazed())
    expect(phone.locator(".card.ruling")).to_have_count(1)
    for summary in phone.locator("#more summary").all():
        if summary.is_visible():
            summary.tap()
    found = phone.evaluate(
        """() => [...document.querySelectorAll("button, a, input, select, summary")]
            .filter((control) => control.checkVisibility() && control.type !== "checkbox")
            .map((control) => {
                const { width, height } = control.getBoundingClientRect();
                const label = control.labels?.[0]?.textContent || control.textContent;
                const named = control.getAttribute("aria-label") ?? label;
                return { name: named.trim(), small: Math.min(width, height) < 44 };
            })"""
    )
    assert [control for control in found if not control["name"]] == []
    assert [control["name"] for control in found if control["small"]] == []
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_tap_on_a_figure_drawn_turned_around_declares_where_it_faces_and_a_double_tap_no_more(
    service: PageServer, phone: Page
) -> None:
    shot = tackled()
    play(service, shot)
    last = shot.scenes[-1]
    uncertain = dataclasses.replace(
        last,
        figures=tuple(dataclasses.replace(one, heading_deg=170.0, front=0.6) for one in last.figures),
        frame=last.frame + 1,
        t_ns=last.t_ns + 1,
    )
    wait_until(lambda: service.hub.age_s("scene") > 0.1, "another scene may be published")
    service.game_service.take(uncertain)
    phone.locator("summary", has_text="Line-up check").tap()
    phone.locator("summary", has_text="A figure faces the wrong way?").tap()
    expect(phone.locator(".unsure-fronts")).to_contain_text("Not sure which end is the front")
    turned = phone.get_by_role("button", name="Turned around: River City 22")
    hurry(phone, turned)
    turned.dblclick()
    expect(phone.locator("#declared li").first).to_contain_text("River City 22 faces right")
    fronts = {one.text for one in service.game_service.declarations() if one.type == "front"}
    assert fronts == {"dark-22 faces right"}
    tap(phone, ".fronts", "Right as drawn: Oakdale 50")
    expect(phone.locator("#declared li").first).to_contain_text("Oakdale 50 faces left")


def asked(service: PageServer, asks: Asked, figures_of: Scene) -> None:
    """Publish a scene that asks who is who."""
    scene = dataclasses.replace(figures_of, frame=figures_of.frame + 1, t_ns=figures_of.t_ns + 1, asks=asks)
    wait_until(lambda: service.hub.age_s("scene") > 0.1, "another scene may be published")
    service.game_service.take(scene)


@pytest.mark.parametrize(
    ("asks", "answer", "said"),
    [
        ("sides", "Light on the left", "the light team is on the left"),
        ("names", "Right as drawn", "all figures are right as drawn"),
    ],
)
def test_a_question_about_who_is_who_is_answered_with_one_tap(
    service: PageServer, phone: Page, asks: Asked, answer: str, said: str
) -> None:
    shot = tackled()
    play(service, shot)
    asked(service, asks, shot.scenes[-1])
    card = phone.locator(".card.identity")
    expect(card).to_be_visible()
    tap(phone, ".card.identity", answer)
    expect(phone.locator("#declared li").first).to_contain_text(re.compile(said, re.IGNORECASE))
    asked(
        service,
        "",
        dataclasses.replace(shot.scenes[-1], frame=shot.scenes[-1].frame + 1, t_ns=shot.scenes[-1].t_ns + 2),
    )
    expect(card).to_have_count(0)


def test_names_of_two_figures_are_exchanged_where_they_are_drawn(service: PageServer, phone: Page) -> None:
    shot = tackled()
    play(service, shot)
    phone.locator("summary", has_text="Line-up check").tap()
    phone.locator("summary", has_text="each other's name?").tap()
    expect(phone.get_by_role("button", name="Exchange their names")).to_be_enabled()
    tap(phone, ".exchange", "Exchange their names")
    expect(phone.locator("#declared li").first).to_contain_text("stands at")
    (declared,) = [one for one in service.game_service.declarations() if one.type == "identities"]
    first, last = shot.players[0].id, shot.players[-1].id
    assert first in declared.text
    assert last in declared.text
