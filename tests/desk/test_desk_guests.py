"""The page for guests: with a code from paper, without pairing, for phones and the hall; and its static copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest
from browsers import browser, page_in
from desk_events import BY
from desk_server import DeskServer
from playwright.sync_api import expect
from waiting import WAIT_S

from downfield.api.security.access import AccessPolicy
from downfield.desk.event.keeper import Request
from downfield.desk.event.operations import draw, enter_result
from downfield.desk.event.placing import change_clock, find_match, make_schedule
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant, EventClock, Result, Rules
from downfield.desk.event.state import TableGame, TournamentEvent
from downfield.desk.event.tickets import ticket_for
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.service.event_views import event_view
from downfield.desk.service.guests import guest_page
from downfield.desk.tables.broker_tables import BrokerTables
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.rig.tournament.push_payloads import Announcement
from downfield.rig.tournament.table_feed import TableMessage
from downfield.store.sealing.signing import RigKey

TEAMS = (Entrant("e1", "Ann", team="<b>Lions</b>"), Entrant("e2", "Bo", team="Owls"), Entrant("e3", "Cy"))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[DeskServer]:
    pushes = PushKeeper()
    tables = BrokerTables()
    tournament = SimpleNamespace(statuses=tables.statuses, tables=tables, pushes=pushes)
    running = DeskServer(tmp_path, AccessPolicy(trust_local=False), cast("DeskTournament", tournament))
    event = draw(TournamentEvent("Open & free", Rules(pools=1, elimination="none"), entrants=TEAMS), BY)
    running.parts.keeper.change(
        Request("Dee"), "made the draw", lambda _, __: enter_result(event, "A1", Result(14, 7), BY)
    )
    pushes.send("Dee", "", Announcement("Lunch at 12:30"))
    yield running
    running.close()


def test_guests_need_a_code_and_nothing_else_and_see_names_as_they_are(desk: DeskServer) -> None:
    viewer = {"Authorization": f"Bearer {desk.token('viewer')}"}
    link = httpx.get(f"{desk.url}/api/event/guests", headers=viewer, timeout=WAIT_S).json()
    assert link["url"].endswith(f"/guest/{link['code']}")
    page = httpx.get(f"{desk.url}/guest/{link['code'].lower()}", timeout=WAIT_S)
    assert page.status_code == 200
    for text in ("Open &amp; free", "&lt;b&gt;Lions&lt;/b&gt;", "14–7", "Pool A", "Lunch at 12:30", "refresh"):
        assert text in page.text, text
    assert "<b>" not in page.text
    assert "script" not in page.text
    assert httpx.get(f"{desk.url}/guest/AAAAAAAA", timeout=WAIT_S).status_code == 404
    assert httpx.get(f"{desk.url}/api/event", timeout=WAIT_S).status_code == 401


def test_the_static_copy_stands_alone(desk: DeskServer) -> None:
    viewer = {"Authorization": f"Bearer {desk.token('viewer')}"}
    copy = httpx.get(f"{desk.url}/api/event/page.html", headers=viewer, timeout=WAIT_S)
    assert "attachment" in copy.headers["content-disposition"]
    assert "14–7" in copy.text
    assert not any(text in copy.text for text in ("refresh", "src=", "href=", "Lunch"))


def test_a_guests_phone_shows_it_and_the_hall_shows_announcements(desk: DeskServer) -> None:
    viewer = {"Authorization": f"Bearer {desk.token('viewer')}"}
    code = httpx.get(f"{desk.url}/api/event/guests", headers=viewer, timeout=WAIT_S).json()["code"]
    with browser() as chrome, page_in(chrome, phone=True) as phone, page_in(chrome) as hall:
        phone.goto(f"{desk.url}/guest/{code}")
        expect(phone.locator("h1")).to_have_text("Open & free")
        expect(phone.locator("body")).to_contain_text("<b>Lions</b>")
        width = phone.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], "the page is wider than the phone"
        hall.goto(f"{desk.url}/pair#{desk.token_store.make_code('admin').code}")
        hall.wait_for_url("**/event")
        hall.goto(f"{desk.url}/hall")
        expect(hall.locator("#announcements")).to_have_text("Lunch at 12:30")


def test_how_it_stands_in_games_in_play_is_shown_as_the_match_has_its_sides(desk: DeskServer) -> None:
    viewer = {"Authorization": f"Bearer {desk.token('viewer')}"}
    event = desk.parts.keeper.event
    match = find_match(event, "A2")
    home, away = (str(side) for side in Progress(event).sides(match))
    names = {entrant.id: entrant.name for entrant in TEAMS}
    ticket = ticket_for(event, match, "rig", (names[home], names[away]), RigKey.generate())
    turned = TableGame("g", 1, "in_play", "Table 1", names[away], names[home], ticket=ticket)
    desk.parts.keeper.report([turned])
    tables = desk.parts.tournament.tables
    data = {"home": {"name": names[away]}, "away": {"name": names[home]}, "score": [13, 6]}
    tables.note(TableMessage(RigKey.generate().public_text, "Table 1", "game", data))
    assert httpx.get(f"{desk.url}/api/event/live", headers=viewer, timeout=WAIT_S).json() == {"A2": [6, 13]}
    code = httpx.get(f"{desk.url}/api/event/guests", headers=viewer, timeout=WAIT_S).json()["code"]
    assert "6–13, in play" in httpx.get(f"{desk.url}/guest/{code}", timeout=WAIT_S).text
    with browser() as chrome, page_in(chrome) as hall:
        hall.goto(f"{desk.url}/pair#{desk.token_store.make_code('admin').code}")
        hall.wait_for_url("**/event")
        hall.goto(f"{desk.url}/hall")
        expect(hall.locator(".game.in_play b")).to_have_text(["6", "13"])
        hall.goto(f"{desk.url}/overlay/scores")
        expect(hall.locator(".strip article small")).to_have_text(["Table 1", "Final"])
        expect(hall.locator(".strip article").first.locator("b")).to_have_text(["13", "6"])  # away first, as on air
        hall.goto(f"{desk.url}/overlay/scores?without=table%201")
        expect(hall.locator(".strip article small")).to_have_text(["Final"])
        hall.goto(f"{desk.url}/overlay/next")
        expect(hall.locator("h3")).to_have_text("Now")
        expect(hall.locator(".game.in_play")).to_have_count(1)


def test_a_forgotten_result_is_said_and_is_not_what_is_next() -> None:
    drawn = draw(TournamentEvent("Open", Rules(pools=1, elimination="none"), entrants=TEAMS), BY)
    event = make_schedule(change_clock(drawn, EventClock(), ["1"], BY), BY)
    forgotten, played, following = sorted(event.matches, key=lambda match: match.slot or 0)
    page = guest_page(event_view(event, ""))
    assert "no result yet" not in page
    page = guest_page(event_view(enter_result(event, played.id, Result(7, 0), BY), ""))
    assert page.count("no result yet") == 1
    assert page.index(f">{following.id}<") < page.index(f">{forgotten.id}<") < page.index("no result yet")
