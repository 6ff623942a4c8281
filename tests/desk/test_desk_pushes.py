"""What the desk sends reaches each table once, waits for tables that are away and games that are under way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest
from broker_server import BrokerServer
from desk_server import DeskServer
from tournament_tables import table
from waiting import WAIT_S, wait_until, wait_until_async

from downfield.core.errors import FormatError, NotFoundError, RulebookError
from downfield.core.field.model import preset
from downfield.core.records import from_json, to_json
from downfield.desk.event.state import TableGame
from downfield.desk.event.tickets import ticket_for
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.tables import push_keeper
from downfield.desk.tables.broker_tables import BrokerTables
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import MatchTicket, NewGame, TeamSheet
from downfield.officiating.declarations import SetUp
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper
from downfield.rig.tournament import push_receiver
from downfield.rig.tournament.broker import BrokerConnection, BrokerError
from downfield.rig.tournament.broker_thread import BrokerThread
from downfield.rig.tournament.push_payloads import (
    Announcement,
    PushedGame,
    PushedRulebook,
    PushList,
    PushReport,
    PushState,
    signed_report,
)
from downfield.rig.tournament.push_receiver import PushedMaterial, PushReceiver
from downfield.rig.tournament.table_feed import TableMessage
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.signing import RigKey

pytestmark = pytest.mark.usefixtures("short_pauses")

HOUSE = 'name = "house"\ntitle = "House rules"\nbase = "tap"\n[calls]\nconfidence = 0.9\n'
NEXT = NewGame(home=TeamSheet(name="Owls", short="OWL"), away=TeamSheet(name="Lions", short="LIO"), title="Open, A3")
KEY = RigKey.generate()


@contextmanager
def sending(keeper: PushKeeper, brokering: BrokerServer) -> Iterator[None]:
    """A desk that sends."""
    thread = BrokerThread(brokering.access("desk"), (keeper.run,), "desk")
    thread.start()
    try:
        yield
    finally:
        thread.close()


def states(keeper: PushKeeper, place: int = -1) -> dict[str, str]:
    return {table: state.status for table, state in keeper.answers(keeper.pushes[place], {})}


def journal_of(folder: Path) -> list[str]:
    """Return what the journals of a table say of the desk, in order."""
    with open_for_reading(str(folder / "downfield.db")) as opened:
        games = opened.store.games()
        return [
            row.content for game in reversed(games) for row in opened.store.entries(game.id) if "desk" in row.content
        ]


def test_announcements_rulebooks_and_games_reach_a_table_once_and_those_that_are_away_later(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    keeper = PushKeeper(tmp_path / "pushes.json")
    keeper.send("Dee", "Lunch", Announcement("Lunch at noon"))
    one, two = tmp_path / "Table 1", tmp_path / "Table 2"
    with table(one, brokering, NewGame()) as rig, sending(keeper, brokering):  # the desk comes after the table
        wait_until(lambda: states(keeper) == {"Table 1": "applied"}, "the announcement does not arrive")
        keeper.send("Dee", "", PushedRulebook(HOUSE))
        wait_until(lambda: states(keeper) == {"Table 1": "applied"}, "the rulebook does not arrive")
        assert rig.game_service.rulebook.title == "House rules"
        assert "house" not in rig.game_service.text
        keeper.send("Dee", "A3", PushedGame(NEXT))
        wait_until(lambda: states(keeper) == {"Table 1": "applied"}, "the game is not started")
        first = rig.game_service.game_id
    with sending(PushKeeper(tmp_path / "pushes.json"), brokering), table(one, brokering) as rig:
        assert rig.game_service.game_id == first
        assert rig.game_service.rulebook.title == "House rules", "a restart forgets the rulebook"
        with table(two, brokering, NewGame()) as other:
            wait_until(
                lambda: other.game_service.started is not None and other.game_service.started[1].name == "house",
                "a table that was away does not get what was sent",
            )
        assert rig.game_service.game_id == first, "a restart starts the game again"
    told = journal_of(one)
    assert len(told) == 3, told
    assert all('"by":"Dee (desk)"' in line for line in told)
    assert "Lunch at noon" in told[0]


def test_a_game_that_is_under_way_is_not_touched_and_the_next_one_waits_for_its_end(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    keeper = PushKeeper()
    with table(tmp_path / "Table 1", brokering, NewGame()) as rig, sending(keeper, brokering):
        rig.game_service.declare(SetUp("home", 1, spot_yd=30.0), Submission())
        playing = rig.game_service.game_id
        keeper.send("Dee", "A3", PushedGame(NEXT))
        wait_until(lambda: states(keeper) == {"Table 1": "waiting"} and "signed" in text(keeper), "it does not wait")
        assert rig.game_service.game_id == playing
        with rig.game_service.in_play() as session:
            session.end()
        wait_until(lambda: states(keeper) == {"Table 1": "applied"}, "it does not follow the game that has ended")
        assert rig.game_service.game_id not in {"", playing}


def text(keeper: PushKeeper) -> str:
    ((_, state),) = keeper.answers(keeper.pushes[-1], {})
    return state.text


def test_what_is_not_for_a_rig_or_was_withdrawn_is_not_given_to_it() -> None:
    keeper = PushKeeper()
    report = signed_report(KEY, "Table 1", {})
    keeper.send("Dee", "", Announcement("for others"), ("a" * 16,))
    keeper.send("Dee", "", Announcement("for all"), key="same")
    keeper.send("Dee", "", Announcement("for all"), key="same")
    assert [push.payload for push in keeper.list_for(report).pushes] == [Announcement("for all")]
    keeper.withdraw(keeper.pushes[-1].id)
    assert keeper.list_for(report).pushes == ()
    with pytest.raises(NotFoundError):
        keeper.withdraw("0" * 12)


def test_a_round_of_more_tables_than_announcements_are_kept_reaches_them_all() -> None:
    decided: set[str] = set()
    keeper = PushKeeper(is_open=lambda ticket: ticket.match not in decided)
    count = push_keeper.MAX_PUSHES + 10
    for number in range(count):
        match = MatchTicket(draw="c0ffee", match=f"A{number}", sides=("e1", "e2"), names=("a", "b"), rig="rig")
        keeper.send("Dee", "", PushedGame(NEXT.model_copy(update={"match": match})), (f"rig{number}",))
        keeper.send("Dee", "", Announcement(f"Round {number}"))
    games = [push for push in keeper.pushes if isinstance(push.payload, PushedGame)]
    assert len(games) == count
    assert len(keeper.pushes) == count + push_keeper.MAX_PUSHES
    decided |= {f"A{number}" for number in range(count)}
    keeper.send("Dee", "", Announcement("The end"))
    assert len(keeper.pushes) == push_keeper.MAX_PUSHES


def test_a_rig_asks_again_soon_where_the_desk_did_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_receiver, "LOOK_S", 0.01)
    keeper = PushKeeper(key=RigKey.generate())
    keeper.send("Dee", "", Announcement("Lunch"))
    asked: list[int] = []

    class BusyDesk:
        """Does not answer the first time, and says nothing of its own accord."""

        async def follow(self, _: str) -> asyncio.Event:
            followed = asyncio.Event()
            followed.set()
            return followed

        async def request(self, _: str, content: bytes) -> bytes:
            asked.append(1)
            if len(asked) == 1:
                raise BrokerError("the desk is busy")
            return to_json(PushList, keeper.list_for(from_json(PushReport, content, path="a report"))).encode()

    receiver = PushReceiver(tmp_path / "pushes.json", Hub(), KEY, "Table 1", cast("PushedMaterial", SimpleNamespace()))

    async def ask() -> None:
        running = asyncio.create_task(receiver.run(cast("BrokerConnection", BusyDesk())))
        await wait_until_async(lambda: len(asked) >= 2)
        running.cancel()

    asyncio.run(asyncio.wait_for(ask(), push_receiver.REPORT_S / 2))


def test_a_report_in_another_rigs_name_is_not_believed() -> None:
    keeper = PushKeeper()
    report = signed_report(KEY, "Table 1", {})
    for forged in (
        replace(report, key=RigKey.generate().public_text),
        replace(report, table="Table 2"),
        replace(report, states={"a": PushState("applied", "")}),
        replace(report, signature="no base64"),
    ):
        with pytest.raises(FormatError, match="not signed"):
            keeper.list_for(forged)


@pytest.mark.parametrize("toml", ["name = 7", "[", 'base = "tap"\n[tackle]\nnothing = 1\n'])
def test_a_rulebook_that_is_none_is_refused_before_it_is_sent(toml: str, tmp_path: Path) -> None:
    keeper = PushKeeper(tmp_path / "pushes.json")
    with pytest.raises(RulebookError, match="the rulebook"):
        keeper.send("Dee", "", PushedRulebook(toml))
    assert PushKeeper(tmp_path / "pushes.json").pushes == ()


def test_a_rulebook_that_this_rigs_version_does_not_know_is_refused_there_with_the_reason(tmp_path: Path) -> None:
    given = {"data": str(tmp_path), "service.on": False, "service.port": 0}
    rig = Scorekeeper(load(environment={}, command_line=given), preset("ultimate"), NewGame())
    receiver = push_receiver.PushReceiver(tmp_path / "pushes.json", Hub(), KEY, "Table 1", cast("PushedMaterial", None))
    receiver.attach(rig.game_service)
    keeper = PushKeeper()
    keeper.send("Dee", "", PushedRulebook(HOUSE))
    (sent,) = keeper.pushes
    newer = replace(sent, payload=PushedRulebook(HOUSE + "future = 1\n"))
    state = receiver.apply(newer)
    rig.close()
    assert state.status == "refused"
    assert "calls.future" in state.text
    assert rig.game_service.rulebook.name == "tap"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[DeskServer]:
    """A desk in a tournament, of which only what the pages read is there."""
    tables = BrokerTables()
    tables.note(TableMessage(KEY.public_text, "Table 1", "health", {"level": "ok"}))
    tournament = SimpleNamespace(statuses=tables.statuses, tables=tables, pushes=PushKeeper())
    server = DeskServer(tmp_path / "desk", tournament=cast("DeskTournament", tournament))
    yield server
    server.close()


def test_the_director_sends_a_game_of_the_event_to_its_table(desk: DeskServer) -> None:
    with httpx.Client(base_url=desk.url, timeout=WAIT_S) as director:
        for coach, color in (("Ana", "#aa0000"), ("Bo", "")):
            director.post("/api/event/entrants", json={"coach": coach, "team": f"{coach}s", "color": color})
        sessions = [{"begins": "2026-09-05T09:00", "ends": "2026-09-05T14:00"}]
        director.put("/api/event/clock", json={"clock": {"sessions": sessions}, "tables": ["Table 1"]})
        director.post("/api/event/draw")
        (match,) = director.post("/api/event/schedule").json()["matches"]
        answer = director.post("/api/pushes", json={"match": match["id"]})
        assert answer.status_code == 201, answer.text
        (push,) = answer.json()
        assert push["title"] == f"{match['id']}: {match['home']['name']} against {match['away']['name']}"
        waiting = {"table": "Table 1", "status": "waiting", "text": "until its rig is connected"}
        assert push["tables"] == [waiting]
        assert director.delete(f"/api/pushes/{push['id']}").status_code == 204
        assert director.get("/api/pushes").json() == []


def test_a_called_round_does_not_start_a_game_again_whose_result_is_missing(desk: DeskServer) -> None:
    with httpx.Client(base_url=desk.url, timeout=WAIT_S) as director:
        for coach in ("Ana", "Bo"):
            director.post("/api/event/entrants", json={"coach": coach})
        director.put("/api/event/clock", json={"clock": {}, "tables": ["Table 1"]})
        director.post("/api/event/draw")
        director.post("/api/event/schedule")
        keeper = desk.parts.keeper
        (match,) = keeper.event.matches
        ticket = ticket_for(keeper.event, match, "rig", ("Ana", "Bo"), KEY)
        keeper.report([TableGame("g", 9, "ended", "Table 1", "Ana", "Bo", (7, 0), ticket=ticket)])
        (call,) = director.post("/api/pushes/round").json()
        assert call["state"] == "late"
        assert f"{match.id} was played, and its result is missing: Table 1: Ana 7, Bo 0." in call["text"]
        assert director.get("/api/pushes").json() == []
        assert director.put("/api/event/games/g/match", json={"match": ""}).status_code == 200
        assert [call["state"] for call in director.post("/api/pushes/round").json()] == ["sent"]


def test_a_message_to_a_team_reaches_the_table_where_it_plays_next_and_the_hall(desk: DeskServer) -> None:
    with httpx.Client(base_url=desk.url, timeout=WAIT_S) as director:
        for coach in ("Ana", "Bo", "Cy"):
            event = director.post("/api/event/entrants", json={"coach": coach}).json()
        ids = {entrant["coach"]: entrant["id"] for entrant in event["entrants"]}
        assert director.post("/api/pushes", json={"text": "Weigh in", "team": "nobody"}).status_code == 404
        (to_all,) = director.post("/api/pushes", json={"text": "Weigh in", "team": ids["Cy"]}).json()
        director.put("/api/event/rules", json={"pools": 1, "elimination": "none"})
        director.put("/api/event/clock", json={"clock": {}, "tables": ["Table 1", "Table 9"]})
        director.post("/api/event/draw")
        first = director.post("/api/event/schedule").json()["matches"][0]
        sent = director.post("/api/pushes", json={"text": "You are next", "team": first["home"]["entrant"]}).json()[0]
        assert sent["title"] == f"To {first['home']['name']}"
        assert [table["table"] for table in sent["tables"]] == ["Table 1"]
        assert len(to_all["tables"]) == 1
        director.post("/api/pushes", json={"text": "for one table", "tables": ["Table 1"]})
        said = director.get("/api/event/announcements").json()
        assert said == [f"{first['home']['name']}: You are next", "Cy: Weigh in"]


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({}, 422, "one thing at a time"),
        ({"text": "a", "match": "A1"}, 422, "one thing at a time"),
        ({"text": "a", "tables": ["Table 9"]}, 409, "No rig was heard of whose table is called 'Table 9'"),
        ({"match": "A9"}, 404, "The event has no game 'A9'"),
        ({"rulebook": "["}, 422, "the rulebook"),
    ],
)
def test_what_can_not_be_sent_is_refused_by_a_clear_text(
    desk: DeskServer, body: dict[str, object], status: int, told: str
) -> None:
    answer = httpx.post(f"{desk.url}/api/pushes", json=body, timeout=WAIT_S)
    assert answer.status_code == status, answer.text
    assert told in answer.json()["detail"]
    assert httpx.get(f"{desk.url}/api/pushes", timeout=WAIT_S).json() == []


def test_only_a_director_sends(desk: DeskServer) -> None:
    headers = {"Authorization": f"Bearer {desk.token('operator')}"}
    assert httpx.post(f"{desk.url}/api/pushes", json={"text": "a"}, headers=headers, timeout=WAIT_S).status_code == 403
    assert httpx.get(f"{desk.url}/api/pushes", headers=headers, timeout=WAIT_S).status_code == 200
