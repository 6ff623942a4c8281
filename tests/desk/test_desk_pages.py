"""The desk in a real browser: an event of 24 coaches over two days, from registration to the final; the tables."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest
from browsers import PageServer, browser, page_in
from desk_server import DeskServer
from playwright.sync_api import Browser, Page, expect
from waiting import WAIT_S

from downfield.desk.event.state import TableGame
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.tables.broker_tables import BrokerTables
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.game.published.board_topics import HealthStatus
from downfield.rig.tournament.table_feed import TableMessage
from downfield.store.sealing.signing import RigKey

TYPED = 3
"""Results that are typed in the browser in each part of the event; the others are entered through the API."""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[DeskServer]:
    running = DeskServer(tmp_path / "desk")
    yield running
    running.close()


def enter(page: Page, match: str, home: int, away: int) -> None:
    """Type a result as the director does."""
    page.locator(f'#games button.game[aria-label^="{match}:"]').click()
    dialog = page.locator("dialog")
    dialog.locator('[name="away"]').fill(str(away))
    dialog.locator('[name="home"]').fill(str(home))
    dialog.locator('[name="signed_home"]').fill("Coach Home")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()


def play(page: Page, desk: DeskServer, stage: str, chance: random.Random) -> None:
    """Play every game of a stage, some of them in the browser."""
    typed = 0
    while True:
        matches = httpx.get(f"{desk.url}/api/event", timeout=WAIT_S).json()["matches"]
        match = next((match for match in matches if match["state"] == "ready" and match["stage"] == stage), None)
        if match is None:
            return
        home, away = chance.randrange(0, 42, 7), chance.randrange(0, 42, 7)
        away += 3 * (home == away)
        if typed < TYPED:
            enter(page, match["id"], home, away)
            typed += 1
        else:
            answer = httpx.put(
                f"{desk.url}/api/event/matches/{match['id']}/result", json={"home": home, "away": away}, timeout=WAIT_S
            )
            assert answer.status_code == 200, answer.text
        if typed == TYPED:
            typed += 1
            page.reload()


def test_tables_of_a_broker_and_signed_games_that_fit_nothing_are_shown(chrome: Browser, tmp_path: Path) -> None:
    """A desk in a tournament, of which only what the pages read is there."""
    tables = BrokerTables()
    said = TableMessage(RigKey.generate().public_text, "Table 3", "game", {"home": {"name": "Lions"}, "score": [7, 3]})
    tables.note(said)
    keeper = PushKeeper()
    tournament = SimpleNamespace(statuses=tables.statuses, tables=tables, pushes=keeper)
    server = DeskServer(tmp_path, tournament=cast("DeskTournament", tournament))
    server.parts.keeper.report(
        [TableGame("g", 9, "signed", "Table 3", "Lions", "Wolves", (21, 14), (21, 14), ("Ada", "Bo"))]
    )
    with page_in(chrome) as page:
        page.goto(f"{server.url}/")
        expect(page.locator("#tables h3")).to_have_text("Table 3")
        expect(page.locator("#tables .score b")).to_have_text("3 – 7")
        expect(page.locator("#tables a")).to_have_count(0)
        page.locator("#send-table option", has_text="Table 3").wait_for(state="attached")
        page.locator("#send-text").fill("Lunch")
        page.locator("#send-table").select_option("Table 3")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator("#sent li li")).to_have_text("Table 3: waits, until its rig is connected")
        page.locator("#send-kind").select_option("rulebook")
        (tmp_path / "wrong.toml").write_text("base = 7")
        page.locator("#send-rulebook").set_input_files(str(tmp_path / "wrong.toml"))
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator("#send-message")).to_contain_text("base must be text")
        page.get_by_role("button", name="Send no longer").click()
        expect(page.locator("#sent-plate")).to_be_hidden()
        page.goto(f"{server.url}/event#games")
        waiting = page.locator("#waiting li")
        expect(waiting).to_contain_text("Table 3: Lions 21, Wolves 14")
        expect(waiting).to_contain_text("It was started at the table without a match of this event.")
        waiting.get_by_role("button", name="Put it aside").click()
        expect(page.locator("#waiting")).to_be_hidden()
    server.close()


def test_what_is_typed_survives_what_another_director_changes(desk: DeskServer, chrome: Browser) -> None:
    with page_in(chrome) as page:
        page.goto(f"{desk.url}/event#setup")
        page.locator('[name="tables"]').fill("1, 2")
        changed = httpx.put(f"{desk.url}/api/event/name", json={"name": "Harbor Bowl"}, timeout=WAIT_S)
        assert changed.status_code == 200
        expect(page.locator("#event-name")).to_have_text("Harbor Bowl")
        expect(page.locator('[name="tables"]')).to_have_value("1, 2")
        page.locator("form", has_text="Sessions").get_by_role("button", name="Save").click()
        expect(page.locator("#notice")).to_have_text("Saved.")
        assert httpx.get(f"{desk.url}/api/event", timeout=WAIT_S).json()["tables"] == ["1", "2"]


def test_a_form_that_was_refused_once_does_not_overwrite_what_is_changed_meanwhile(
    desk: DeskServer, chrome: Browser
) -> None:
    clock = {"sessions": [{"begins": "2026-09-05T09:00", "ends": "2026-09-05T14:00"}]}
    httpx.put(f"{desk.url}/api/event/clock", json={"clock": clock, "tables": ["1"]}, timeout=WAIT_S)
    with page_in(chrome) as page:
        page.goto(f"{desk.url}/event#setup")
        form, notice = page.locator("form", has_text="Sessions"), page.locator("#notice")
        page.locator('[name="sessions"]').fill("tomorrow")
        delayed = {"slot": 0, "minutes": 20}
        late = httpx.post(f"{desk.url}/api/event/delay", params={"confirmed": True}, json=delayed, timeout=WAIT_S)
        assert late.status_code == 200
        page.locator("#setup", has_text="had round 1 begin 20 min later").wait_for()
        form.get_by_role("button", name="Save").click()
        expect(notice).to_contain_text("session 1")
        page.locator('[name="sessions"]').fill("2026-09-05 9:00 to 15:00")
        form.get_by_role("button", name="Save").click()
        expect(notice).to_contain_text("has changed times and tables meanwhile")
        form.get_by_role("button", name="Save").click()
        expect(notice).to_have_text("Saved.")
        kept = httpx.get(f"{desk.url}/api/event", timeout=WAIT_S).json()["clock"]
        assert (kept["delays"], kept["sessions"][0]["ends"]) == ({"0": 20}, "2026-09-05T15:00")


def test_a_game_that_another_director_moved_is_not_moved_back_unseen(desk: DeskServer, chrome: Browser) -> None:
    with httpx.Client(base_url=desk.url, timeout=WAIT_S) as other, page_in(chrome) as page:
        for name in ("Ana", "Bo"):
            other.post("/api/event/entrants", json={"coach": name})
        other.put("/api/event/clock", json={"clock": {}, "tables": ["1", "2", "3"]})
        other.post("/api/event/draw")
        other.post("/api/event/schedule")
        for save, path, body, said in (
            ("Save", "place", {"table": "2", "slot": 0}, "has changed where FINAL is played meanwhile: it is table 2"),
            ("Leave it to the schedule", "place", {"table": "3", "slot": 0}, "where FINAL is played meanwhile"),
            ("Save", "officials", ["Rea"], "has changed the officials of FINAL meanwhile: it is Rea now"),
        ):
            page.goto(f"{desk.url}/event")
            page.locator("#games button.game").click()
            page.get_by_role("button", name="Officials" if path == "officials" else "Move", exact=True).click()
            button = page.locator("dialog").get_by_role("button", name=save)
            assert other.put(f"/api/event/matches/FINAL/{path}", json=body).status_code == 200
            if path == "officials":
                page.locator('[name="officials"]').fill("Sue")
            button.click()
            expect(page.locator("dialog .refusal")).to_contain_text(said)
        page.locator("dialog").get_by_role("button", name="Save").click()
        expect(page.locator("dialog")).to_be_hidden()
        (final,) = other.get("/api/event").json()["matches"]
        assert (final["table"], final["fixed"], final["officials"]) == ("3", True, ["Sue"])


def test_two_days_of_24_coaches_from_registration_to_the_final(
    desk: DeskServer, chrome: Browser, tmp_path: Path
) -> None:
    lines = [f"Coach {n},Team {n},Club {n % 5},{n if n <= 8 else ''}" for n in range(1, 25)]
    (tmp_path / "coaches.csv").write_text("\n".join(["coach,team,club,seed", *lines]))
    with page_in(chrome) as page:
        page.on("dialog", lambda dialog: dialog.accept("River City Open"))
        page.goto(f"{desk.url}/event#coaches")
        page.get_by_text("Coaches from CSV").locator("input").set_input_files(str(tmp_path / "coaches.csv"))
        expect(page.locator(".coach")).to_have_count(24)
        page.get_by_role("tab", name="Set-up").click()
        page.locator('[name="name"]').fill("River City Open")
        page.locator("form", has_text="Event").first.get_by_role("button", name="Save").click()
        expect(page.locator("#event-name")).to_have_text("River City Open")
        page.locator('[name="pools"]').fill("6")
        page.locator('[name="third_place"]').check()
        page.locator('[name="tie_breaks"]').fill("Point difference, games against each other, points_for")
        page.locator("form", has_text="Tie-breaks").get_by_role("button", name="Save").click()
        expect(page.locator("#notice")).to_have_text("Saved.")
        page.locator('[name="game_min"]').fill("50")
        page.locator('[name="tables"]').fill("1, 2, 3, 4, 5, 6, 7, 8")
        sessions = "2026-09-05 9:00 to 15:00\n2026-09-06T09:00 – 2026-09-06T15:00"
        page.locator('[name="sessions"]').fill(sessions)
        page.locator("form", has_text="Sessions").get_by_role("button", name="Save").click()
        expect(page.locator('[name="sessions"]')).to_have_value("2026-09-05 09:00 to 15:00\n2026-09-06 09:00 to 15:00")
        rules = httpx.get(f"{desk.url}/api/event", timeout=WAIT_S).json()["rules"]
        assert rules["tie_breaks"] == ["point_difference", "head_to_head", "points_for"]
        page.get_by_role("button", name="Make the draw").click()
        page.get_by_role("button", name="Make the schedule").click()
        page.get_by_role("tab", name="Games").click()
        expect(page.locator("#games h2").first).to_have_text("Now: Sat 9:00")
        chance = random.Random(24)
        for stage in ("pool", "winners", "third_place", "final"):
            play(page, desk, stage, chance)
        page.get_by_role("tab", name="Standings").click()
        expect(page.locator(".ranks li")).to_have_count(24)
        event = httpx.get(f"{desk.url}/api/event", timeout=WAIT_S).json()
        final = next(match for match in event["matches"] if match["id"] == "FINAL")
        winner = final["home" if final["result"]["home"] > final["result"]["away"] else "away"]["name"]
        expect(page.locator(".ranks li").first).to_contain_text(winner)
        assert {match["begins"][:10] for match in event["matches"]} == {"2026-09-05", "2026-09-06"}
        page.goto(f"{desk.url}/hall")
        expect(page.locator(".podium li").first).to_contain_text(winner)
        for overlay in ("standings", "bracket", "next"):
            page.goto(f"{desk.url}/overlay/{overlay}")
            expect(page.locator("section.plate h2")).to_have_text("River City Open")
        page.goto(f"{desk.url}/overlay/scores")
        expect(page.locator(".strip article")).to_have_count(4)
        expect(page.locator(".strip article small")).to_have_text(["Final"] * 4)


def test_a_refused_result_is_said_and_the_dialog_stays(desk: DeskServer, chrome: Browser) -> None:
    for name in ("Ana", "Bo"):
        httpx.post(f"{desk.url}/api/event/entrants", json={"coach": name}, timeout=WAIT_S)
    httpx.post(f"{desk.url}/api/event/draw", timeout=WAIT_S)
    with page_in(chrome, phone=True) as page:
        page.goto(f"{desk.url}/event")
        page.locator("#games button.game").tap()
        page.locator('[name="away"]').fill("7")
        page.locator('[name="home"]').fill("7")
        page.get_by_role("button", name="Save").tap()
        expect(page.locator("dialog .refusal")).to_contain_text("can't be a tie")
        expect(page.locator("dialog")).to_be_visible()


def test_a_roster_is_kept_as_it_was_typed_and_no_weight_is_lost(desk: DeskServer, chrome: Browser) -> None:
    with page_in(chrome) as page:
        page.goto(f"{desk.url}/event#coaches")
        page.get_by_role("button", name="Register a coach").click()
        dialog = page.locator("dialog")
        dialog.locator('[name="coach"]').fill("Ana")
        roster = dialog.locator("textarea")
        roster.fill("28, RB, heavy, base filed")
        dialog.get_by_role("button", name="Save").click()
        assert (
            roster.evaluate("area => area.validationMessage")
            == "“28, RB, heavy, base filed”: the weight, in grams, is no number."
        )
        roster.fill("28, RB, 3.9, base filed, and glued, refused\n7, QB")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        page.get_by_role("button", name="Edit").click()
        expect(roster).to_have_value("28, RB, 3.9, base filed, and glued, refused\n7, QB, , ")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        expect(page.locator(".fault")).to_have_count(0)
        page.get_by_role("tab", name="Set-up").click()
        page.locator('[name="heaviest_g"]').fill("4")
        page.locator('[name="most_figures"]').fill("2")
        page.locator("form", has_text="Tie-breaks").get_by_role("button", name="Save").click()
        page.get_by_role("tab", name="Coaches").click()
        page.get_by_role("button", name="Edit").click()
        roster.fill("28, RB, 4.2, refused\n7, QB, 4.05\n80, WR, 4\n81, WR")
        dialog.get_by_role("button", name="Save").click()
        expect(page.locator(".fault")).to_have_text("over 4 g: no. 7 · 3 figures, 2 allowed")
        page.get_by_role("button", name="Edit").click()
        roster.fill("28, RB, 3.9, base filed, and glued, refused\n7, QB")
        dialog.get_by_role("button", name="Save").click()
        expect(page.locator(".fault")).to_have_count(0)
    figures = httpx.get(f"{desk.url}/api/event", timeout=WAIT_S).json()["entrants"][0]["figures"]
    assert figures[0] == {
        "number": "28",
        "position": "RB",
        "grams": 3.9,
        "note": "base filed, and glued",
        "refused": True,
    }
    assert figures[1] == {"number": "7", "position": "QB", "grams": None, "note": "", "refused": False}


def test_a_table_is_watched_from_the_desk_by_a_code(desk: DeskServer, chrome: Browser, tmp_path: Path) -> None:
    rig = PageServer(tmp_path / "rig")
    rig.start()
    try:
        with page_in(chrome) as page:
            page.goto(desk.url)
            expect(page.locator("#no-tables")).to_be_visible()
            page.locator("#table-name").fill("Table 3")
            page.locator("#table-address").fill(rig.url)
            page.locator("#table-code").fill(rig.token_store.make_code("viewer").code)
            page.get_by_role("button", name="Watch it").click()
            rig.game_service.publish_health(HealthStatus())
            table = page.locator(".table")
            expect(table).to_contain_text("Playing")
            expect(table).to_contain_text("River City")
            rig.stop()
            expect(table).to_contain_text("Lost")
    finally:
        rig.stop()


def test_the_hall_turns_through_more_games_than_fit_on_it(desk: DeskServer, chrome: Browser) -> None:
    names = "\n".join(["coach", *(f"Coach {number}" for number in range(1, 25))])
    clock = {"game_min": 50, "change_min": 10, "rest_slots": 0, "sessions": []}
    with httpx.Client(base_url=desk.url, timeout=WAIT_S) as client:
        client.post("/api/event/entrants.csv", content=names, headers={"Content-Type": "text/csv"})
        rules = client.get("/api/event").json()["rules"]
        client.put("/api/event/rules", json={**rules, "pools": 6})
        client.put("/api/event/clock", json={"clock": clock, "tables": [str(number) for number in range(1, 13)]})
        client.post("/api/event/draw")
        client.post("/api/event/schedule")
    with page_in(chrome) as page:
        page.clock.install()
        page.goto(f"{desk.url}/hall")
        expect(page.locator("#now .game")).to_have_count(10)
        expect(page.locator("#now h3")).to_contain_text("(1 of 3)")
        shown = page.locator("#now .game").all_inner_texts()
        page.clock.run_for(13_000)
        expect(page.locator("#now h3").first).to_contain_text("(2 of 3)")
        assert not set(shown) & set(page.locator("#now .game").all_inner_texts())
        expect(page.locator("#now h3").last).to_contain_text("Next")


def test_what_another_director_saved_is_shown_before_it_can_be_overwritten(desk: DeskServer, chrome: Browser) -> None:
    for name in ("Ana", "Bo"):
        httpx.post(f"{desk.url}/api/event/entrants", json={"coach": name}, timeout=WAIT_S)
    httpx.post(f"{desk.url}/api/event/draw", timeout=WAIT_S)
    with page_in(chrome) as page:
        page.on("dialog", lambda question: question.accept())
        page.goto(f"{desk.url}/event")
        page.locator("#games button.game").click()
        page.locator('[name="home"]').fill("7")
        page.locator('[name="away"]').fill("0")
        assert (
            httpx.put(
                f"{desk.url}/api/event/matches/FINAL/result", json={"home": 0, "away": 14}, timeout=WAIT_S
            ).status_code
            == 200
        )
        page.get_by_role("button", name="Save").click()
        expect(page.locator("dialog .refusal")).to_contain_text("has changed FINAL meanwhile: it is 0 to 14 now")
        expect(page.locator('[name="home"]')).to_have_value("7")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("dialog")).to_be_hidden()
        expect(page.locator("#games .game.played")).to_contain_text("Ana7")
        page.locator("#undo button").click()
        expect(page.locator("#games .game.played")).to_contain_text("Ana0")
