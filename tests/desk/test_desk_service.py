"""The desk's API: an event over HTTP, who may do what, lists as CSV, and tables that are watched."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from browsers import PageServer
from desk_server import DeskServer
from fastapi.routing import APIRoute
from played_table import Table
from waiting import WAIT_S, wait_until

from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits, required_role
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.service.app import ROUTERS
from downfield.desk.service.sheets import disputes_page
from downfield.game.disputes import Decision, Disputes
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.game.records.challenges import ChallengeAppealed, ChallengeOpinion

COACHES = """coach,team,short,color,club,seed
Ana Ruíz,Lions,LIO,#aa0000,River,1
Bo,Bisons,,,River,2
Cy,,,,,
Dee,Owls,,,,3
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[DeskServer]:
    running = DeskServer(tmp_path / "desk", AccessPolicy(trust_local=False))
    yield running
    running.close()


@pytest.fixture
def director(desk: DeskServer) -> Iterator[httpx.Client]:
    with client_of(desk, "admin") as client:
        yield client


def client_of(desk: DeskServer, role: str) -> httpx.Client:
    return httpx.Client(base_url=desk.url, headers={"Authorization": f"Bearer {desk.token(role)}"}, timeout=WAIT_S)


def post_csv(client: httpx.Client, name: str, text: str) -> httpx.Response:
    return client.post(f"/api/event/{name}.csv", content=text.encode(), headers={"Content-Type": "text/csv"})


def test_an_event_from_registration_to_its_winner(desk: DeskServer, director: httpx.Client, tmp_path: Path) -> None:
    assert director.post("/api/event", json={"name": "Open"}).status_code == 201
    assert len(post_csv(director, "entrants", COACHES).json()["entrants"]) == 4
    clock = {"clock": {"sessions": [{"begins": "2026-09-05T09:00", "ends": "2026-09-05T14:00"}]}, "tables": ["1", "2"]}
    assert director.put("/api/event/clock", json=clock).status_code == 200
    director.post("/api/event/draw")
    event = director.post("/api/event/schedule").json()
    assert [(match["id"], match["begins"], match["table"]) for match in event["matches"]] == [
        ("W1-1", "2026-09-05T09:00", "1"),
        ("W1-2", "2026-09-05T09:00", "2"),
        ("FINAL", "2026-09-05T10:10", event["matches"][2]["table"]),
    ]
    with client_of(desk, "operator") as operator:
        for match, home, away in (("W1-1", 14, 7), ("W1-2", 0, 3), ("FINAL", 20, 21)):
            result = {"home": home, "away": away, "signed_by": ["Ana", "Bo"]}
            event = operator.put(f"/api/event/matches/{match}/result", json=result).json()
    assert [rank["name"] for rank in event["ranking"][:2]] == ["Owls", "Lions"]
    assert event["changes"][0]["text"] == "entered FINAL: 20 to 21"
    assert event["changes"][0]["by"] == "a test operator"
    kept = tmp_path / "desk" / "event.json"  # in which the desk has just noted which games it has looked at
    wait_until(lambda: EventKeeper(kept).event == desk.parts.keeper.event, "the file is the event")


@pytest.mark.parametrize(
    ("role", "method", "path", "status"),
    [
        (None, "GET", "/api/event", 401),
        ("viewer", "GET", "/api/event", 200),
        ("viewer", "GET", "/api/tables", 200),
        ("viewer", "PUT", "/api/event/matches/W1-1/result", 403),
        ("operator", "PUT", "/api/event/matches/W1-1/result", 404),
        ("operator", "POST", "/api/event/draw", 403),
        ("operator", "DELETE", "/api/tables/00000000", 403),
        ("admin", "POST", "/api/event/draw", 422),
        ("admin", "DELETE", "/api/tables/00000000", 404),
    ],
)
def test_a_role_decides_what_is_allowed(
    desk: DeskServer, role: str | None, method: str, path: str, status: int
) -> None:
    body: Any = {"home": 7, "away": 0} if method == "PUT" else None
    with client_of(desk, role) if role else httpx.Client(base_url=desk.url, timeout=WAIT_S) as client:
        answer = client.request(method, path, json=body)
    assert answer.status_code == status, answer.text
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"


def test_pages_are_served_and_nothing_else(desk: DeskServer) -> None:
    with httpx.Client(base_url=desk.url, timeout=WAIT_S) as client:
        for path in ("/", "/event", "/hall", "/pair", "/overlay/standings", "/assets/event.js", "/assets/dom.js"):
            assert client.get(path).status_code == 200, path
        assert client.get("/overlay/scorebug").status_code == 404
        assert client.get("/assets/../command.py").status_code == 404


def test_a_page_that_has_the_event_is_told_so(director: httpx.Client) -> None:
    first = director.get("/api/event")
    again = director.get("/api/event", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    director.put("/api/event/name", json={"name": "Other"})
    assert director.get("/api/event", headers={"If-None-Match": first.headers["etag"]}).json()["name"] == "Other"


def test_a_request_that_is_repeated_counts_once(director: httpx.Client) -> None:
    for _ in range(3):
        answer = director.post("/api/event/entrants", json={"coach": "Ana"}, headers={"Idempotency-Key": "one"})
        assert answer.status_code == 201, answer.text
    assert len(director.get("/api/event").json()["entrants"]) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\n", "The first line needs the column 'coach'"),
        ("name,team\nAna,Lions\n", "The first line needs the column 'coach'"),
        ("coach,shoe\nAna,42\n", "There is no column 'shoe'"),
        ("coach,seed\nAna,first\n", "Line 2: the seed 'first' is not a number"),
        ("coach,team\nAna,Lions\n,Owls\n", "Line 3: the coach is missing"),
        ("coach\nAna\nBo,7,8\n", "Line 3: 3 values in 1 columns"),
        ("coach,seed\nAna,1\nBo,1\n", "Ana has seed 1 already"),
        ("coach\nAna\nana\n", "Line 3: the coach 'ana' is in line 2 already"),
        ("coach,color\nAna,#2f6fb0\nBo,red\n", "Line 3: the color 'red' is not written like #2f6fb0"),
        ("", "The first line needs the column 'coach'"),
    ],
)
def test_a_list_is_refused_whole_with_its_line(director: httpx.Client, text: str, told: str) -> None:
    answer = post_csv(director, "entrants", text)
    assert answer.status_code == 422
    assert told in answer.json()["detail"]
    assert director.get("/api/event").json()["entrants"] == []


def test_lists_come_back_as_they_went_out_whatever_the_names(director: httpx.Client) -> None:
    names = 'coach;team;seed\n=SUM(A1);@home;\n"O\'Neil; Bo";-Owls-;2\n'
    post_csv(director, "entrants", names)
    written = director.get("/api/event/entrants.csv").text
    assert "'=SUM(A1)" in written, "a spreadsheet would run it"
    before = director.get("/api/event").json()["entrants"]
    assert post_csv(director, "entrants", written).json()["entrants"] == before
    assert {entrant["coach"] for entrant in before} == {"=SUM(A1)", "O'Neil; Bo"}
    roster = "coach,number,position,grams,note,refused\n=SUM(A1),28,RB,3.9,base filed,yes\n"
    figures = post_csv(director, "figures", roster).json()["entrants"][0]["figures"]
    assert figures == [{"number": "28", "position": "RB", "grams": 3.9, "note": "base filed", "refused": True}]
    assert post_csv(director, "figures", director.get("/api/event/figures.csv").text).status_code == 200
    for name in ("games", "standings"):
        assert director.get(f"/api/event/{name}.csv").headers["content-type"].startswith("text/csv")


def test_a_table_is_paired_watched_lost_and_found_again(director: httpx.Client, tmp_path: Path) -> None:
    rig = PageServer(tmp_path / "rig", AccessPolicy(trust_local=False))
    rig.start()
    address = rig.url.removeprefix("http://")
    wrong = {"name": "Table 1", "address": address, "code": "AAAAA-AAAAA"}
    assert "wrong" in director.post("/api/tables", json=wrong).json()["detail"]
    right = {**wrong, "code": rig.token_store.make_code("viewer").code}
    assert director.post("/api/tables", json=right).status_code == 201

    def table() -> dict[str, Any]:
        (found,) = director.get("/api/tables").json()
        return dict(found)

    rig.game_service.publish_health(HealthStatus())
    wait_until(lambda: table()["need"] == "playing", "the table is not seen to play")
    assert (table()["home"], table()["score"]) == ("River City", [0, 0])
    reason = HealthReason(code="camera_lost", level="alarm", text="The camera is gone")
    rig.game_service.publish_health(HealthStatus(level="alarm", reasons=(reason,)))
    wait_until(lambda: table()["need"] == "alarm", "an alarm is not seen")
    assert table()["text"] == "The camera is gone"
    rig.stop()
    began = time.monotonic()
    wait_until(lambda: table()["need"] == "lost", "a lost table is not seen")
    assert time.monotonic() - began < 5.5, "a lost table is seen too late"
    rig.start()
    wait_until(lambda: table()["need"] != "lost", "a table that is back is not seen")
    (device,) = rig.token_store.devices()
    rig.token_store.revoke(device.id)
    wait_until(lambda: table()["need"] == "refused", "a revoked desk is not told to pair again")
    assert director.delete(f"/api/tables/{table()['id']}").status_code == 204
    assert director.get("/api/tables").json() == []
    rig.stop()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("127.0.0.1:1", "no rig answers there"),
        ("ftp://127.0.0.1", "by http or https"),
        ("http://", "is no address such as"),
        ("host:port:more", "is no address such as"),
    ],
)
def test_an_address_where_no_rig_answers_is_said(director: httpx.Client, address: str, told: str) -> None:
    answer = director.post("/api/tables", json={"name": "Table 1", "address": address, "code": "x"})
    assert answer.status_code in {422, 503}
    assert told in answer.json()["detail"]


def test_another_event_begins_once_and_the_one_before_is_kept(director: httpx.Client, tmp_path: Path) -> None:
    director.post("/api/event/entrants", json={"coach": "Ana"})
    for _ in range(2):
        answer = director.post("/api/event", json={"name": "Winter"}, headers={"Idempotency-Key": "winter"})
        assert (answer.status_code, answer.json()["entrants"]) == (201, [])
    kept = sorted(path.name for path in (tmp_path / "desk").glob("event*.json"))
    assert kept == ["event.1.json", "event.json"]
    assert EventKeeper(tmp_path / "desk" / "event.1.json").event.entrants[0].coach == "Ana"


def test_every_disputed_call_of_the_tables_is_in_one_list_with_opinions_and_appeals(tmp_path: Path) -> None:
    table = Table(tmp_path / "games.db")
    table.begin()
    table.play()
    disputes, tackle = Disputes(table.game_service), table.call("tackle")
    disputes.raise_challenge("home", tackle, "never <touched>", "Ann")
    disputes.note(ChallengeOpinion("challenge-1", "upheld", "I saw it", "Bob"))
    disputes.rule("challenge-1", Decision("upheld", "seen", "Referee"))
    tournament = SimpleNamespace(statuses=list, games=lambda: table.store)
    desk = DeskServer(tmp_path / "desk", AccessPolicy(), cast("DeskTournament", tournament))
    page = httpx.get(f"{desk.url}/event/disputes", timeout=WAIT_S)
    desk.close()
    assert page.status_code == 200
    for shown in ("never &lt;touched&gt;", "Bob: upheld, I saw it", "upheld by Referee: seen"):
        assert shown in page.text
    disputes.note(ChallengeAppealed("challenge-1", "look again", "Ann"))
    page_text = disputes_page(table.store)
    assert "under review" in page_text
    assert "Referee had decided: upheld. look again" in page_text
    table.close()


def test_an_earlier_event_is_read_counted_in_its_season_and_opened_again(director: httpx.Client) -> None:
    for coach in ("Ana", "Bo"):
        director.post("/api/event/entrants", json={"coach": coach})
    director.put("/api/event/name", json={"name": "Autumn"})
    director.post("/api/event/draw")
    assert director.put("/api/event/matches/FINAL/result", json={"home": 14, "away": 7}).status_code == 200
    before = director.get("/api/event").json()
    winner = before["ranking"][0]["name"]
    key = {"Idempotency-Key": "back"}
    director.post("/api/event?confirmed=true", json={"name": "Winter"})
    (earlier,) = director.get("/api/event/earlier").json()
    assert (earlier["number"], earlier["name"]) == (1, "Autumn")
    assert "14–7" in director.get("/event/earlier/1").text
    assert director.get("/event/earlier/7").status_code == 404
    season = director.get("/event/season").text
    assert f"<td>1</td><td>{winner}</td><td>1</td><td>0</td><td>0</td><td>7</td><td>1st Autumn</td>" in season
    for _ in range(2):  # and its answer was lost
        opened = director.post("/api/event/earlier/1", headers=key)
        assert opened.status_code == 200, opened.text
    event = opened.json()
    assert (event["name"], event["ranking"]) == ("Autumn", before["ranking"])
    (earlier,) = director.get("/api/event/earlier").json()
    assert earlier["name"] == "Winter"
    assert director.post(f"/api/event/earlier/{earlier['number']}").json()["name"] == "Winter"
    assert director.post("/api/event/earlier/9").status_code == 404


def test_sheets_for_print_have_each_table_team_and_game(director: httpx.Client) -> None:
    for coach in ("Ana", "Bo", "<Cy>"):
        director.post("/api/event/entrants", json={"coach": coach})
    director.put("/api/event/rules", json={"pools": 1, "elimination": "none"})
    sessions = [{"begins": "2026-09-05T09:00", "ends": "2026-09-05T18:00"}]
    director.put("/api/event/clock", json={"clock": {"sessions": sessions}, "tables": ["1"]})
    director.post("/api/event/draw")
    director.post("/api/event/schedule")
    assert director.put("/api/event/matches/A1/officials", json=["Rita", ""]).status_code == 200
    refused = director.put("/api/event/matches/A2/officials", json=["Rita", "rita"])
    assert (refused.status_code, refused.json()["detail"]) == (422, "Somebody is named twice.")
    tables, teams, scores = (director.get(f"/event/sheets/{name}").text for name in ("tables", "teams", "scores"))
    assert "<h2>Table 1</h2>" in tables
    assert "Sat 09:00" in tables
    assert "Rita" in tables
    assert teams.count("<h2>") == 3
    assert "&lt;Cy&gt;" in teams
    assert "<Cy>" not in tables + teams + scores
    assert scores.count("Signed for Ana") == 2
    director.put("/api/event/matches/A1/result", json={"home": 14, "away": 7})
    assert director.get("/event/sheets/scores").text.count("<h2>") == 2
    assert director.get("/event/sheets/other").status_code == 422


def test_swiss_rounds_are_paired_and_places_exchanged_over_the_api(director: httpx.Client) -> None:
    for coach in ("Ana", "Bo", "Cy", "Di"):
        event = director.post("/api/event/entrants", json={"coach": coach}).json()
    director.put("/api/event/rules", json={"swiss": 2, "elimination": "none"})
    ids = [entrant["id"] for entrant in event["entrants"]]
    event = director.post("/api/event/draw").json()
    assert (event["next_round"], event["pools"][0]["title"]) == (2, "Swiss rounds")
    assert director.post("/api/event/draw/swap", json=[ids[0], ids[1]]).status_code == 200
    refused = director.post("/api/event/rounds")
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "S1-1, S1-2 of the round before must be decided first.",
    )
    for match in event["matches"]:
        director.put(f"/api/event/matches/{match['id']}/result", json={"home": 7, "away": 0})
    event = director.post("/api/event/rounds").json()
    assert (event["next_round"], len(event["matches"]), event["pools"][0]["complete"]) == (0, 4, False)


def test_a_page_from_before_a_restart_gets_the_event_anew(tmp_path: Path) -> None:
    revisions = {EventKeeper(tmp_path / "event.json").revision for _ in range(3)}
    assert len(revisions) == 3


def test_the_desk_asks_for_the_role_before_it_reads_what_is_sent(tmp_path: Path) -> None:
    often = RateLimit(1e6, 10**6)
    desk = DeskServer(tmp_path / "desk", AccessPolicy(trust_local=False, limits=RateLimits(often, often, often)))
    viewer = {"Authorization": f"Bearer {desk.token('viewer')}"}
    guarded = [
        (method, re.sub(r"\{\w+\}", "0" * 12, route.path), required_role(route.endpoint))
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and required_role(route.endpoint) != "anyone"
        for method in route.methods or ()
    ]
    try:
        with httpx.Client(base_url=desk.url, timeout=WAIT_S) as client:
            for method, path, role in guarded:
                for body in (b"{", b"\xff"):
                    sent = partial(client.request, method, path, content=body)
                    assert sent().status_code == 401, (method, path)
                    if role != "viewer":
                        assert sent(headers=viewer).status_code == 403, (method, path)
    finally:
        desk.close()
