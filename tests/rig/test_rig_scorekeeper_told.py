"""What becomes of calls and games reaches everybody: the feed, a webhook and the lists, of a running service."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from browsers import browser, page_in
from playwright.sync_api import expect
from waiting import WAIT_S, wait_until

from downfield.core.field.model import load_field
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper

TACKLE = {"kind": "tackle", "text": "dark-28 tackled", "side": "home", "spot": "H 44", "note": "seen"}
TOUCHDOWN = {"kind": "touchdown", "text": "touchdown", "side": "home", "spot": "A -3"}


class Hook(ThreadingHTTPServer):
    """Takes deliveries, and keeps their bodies."""

    daemon_threads = True

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.status = 204
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@dataclass
class Table:
    """A service, and what its feed and its webhook have told."""

    client: httpx.Client
    hook: Hook
    messages: list[dict[str, Any]] = field(default_factory=list)

    @property
    def posted(self) -> list[dict[str, Any]]:
        return self.hook.bodies

    def follow(self) -> None:
        with self.client.stream("GET", "/api/feed", params={"topics": "game,calls,declared,reviewed"}) as feed:
            for line in feed.iter_lines():
                if line.startswith("data: "):
                    self.messages.append(json.loads(line.removeprefix("data: ")))

    def do(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.client.post(path, json=body)
        assert answer.status_code in {200, 204}, answer.text
        answered = answer.json() if answer.content else {}
        return answered if isinstance(answered, dict) else {}

    def get(self, path: str, **params: Any) -> Any:
        answer = self.client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def posted_about(self, event: str, matches: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        return wait_until(
            lambda: next((body for body in self.posted if body["event"] == event and matches(body)), None),
            lambda: [(body["event"], body.get("call")) for body in self.posted],
        )

    def told_of_standing(self, key: str, standing: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the feed's message and the webhook's body about a call that now stands so."""
        message = self.told("calls", lambda data: any(one["standing"] == standing for one in data[key]))
        return message, self.posted_about("call_changed", lambda body: bool(body["call"]["standing"] == standing))

    def told(self, topic: str, matches: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        return wait_until(
            lambda: next((m for m in self.messages if m["topic"] == topic and matches(m["data"])), None),
            lambda: self.messages,
        )


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with serving(tmp_path) as table:
        yield table


@contextmanager
def serving(folder: Path) -> Iterator[Table]:
    hook = Hook()
    address = f"http://127.0.0.1:{hook.server_address[1]}/x"
    given = {"game.rulebook": "tap", "service.port": 0, "data": str(folder), "webhook.url": address}
    home = TeamSheet(name="River City", short="RIV")
    keeper = Scorekeeper(load(None, command_line=given), load_field("ultimate"), NewGame(home=home))
    try:
        with httpx.Client(base_url=keeper.service.address, timeout=WAIT_S) as client:
            table = Table(client, hook)
            following = threading.Thread(target=table.follow, daemon=True)
            following.start()
            wait_until(lambda: table.messages)
            wait_until(lambda: hook.bodies)
            yield table
            keeper.close()
            following.join(WAIT_S)
    finally:
        keeper.close()
        hook.shutdown()
        hook.server_close()


def calls_of(message: dict[str, Any], key: str = "calls") -> dict[str, dict[str, Any]]:
    return {call["id"]: call for call in message["data"][key]}


def test_what_becomes_of_a_call_is_told_with_ruling_reason_and_game(table: Table) -> None:
    game = table.get("/api/game")["game"]
    made = table.do("/api/calls", TACKLE)
    call = made["calls"][0]["id"]
    for decision, note in (("confirm", "clear"), ("overturn", "later"), ("strike", "the whistle came first")):
        body: dict[str, Any] = {"decision": decision, "note": note}
        if decision == "overturn":
            body["replacement"] = {"kind": "tackle", "text": "dark-28 tackled", "side": "home", "spot": "A 44"}
        ruled = table.do(f"/api/calls/{call}/rulings", body)
        standing = {"confirm": "confirmed", "overturn": "overturned", "strike": "struck"}[decision]
        key = "struck" if decision == "strike" else "calls"
        message, posted = table.told_of_standing(key, standing)
        listed = {one["id"]: one for one in table.get("/api/calls", struck=True)}
        for shown in (calls_of(message, key)[call], posted["call"], listed[call], table.get(f"/api/calls/{call}")):
            assert (shown["game"], shown["standing"]) == (game, standing)
            assert (shown["ruling"]["decision"], shown["ruling"]["note"]) == (decision, note)
            assert shown["ruling"]["event"] == ruled["event"]
            assert shown["spot_text"]
        assert (message["data"]["game"], posted["game"]["game"]) == (game, game)
        for cause in (message["data"]["cause"], posted["cause"]):
            assert (cause["id"], cause["note"], cause["by"]) == (ruled["event"], note, "this computer")
    assert call not in {one["id"] for one in table.get("/api/calls")}
    assert table.get("/api/games/current/calls", struck=True)[0]["ruling"]["note"] == "the whistle came first"
    assert [one["note"] for one in table.get("/api/declarations")] == ["seen", "clear", "later", body["note"]]


def test_what_follows_from_a_ruling_is_told_with_its_cause(table: Table) -> None:
    made = table.do("/api/calls", TACKLE)
    undone = table.do(f"/api/events/{made['event']}/undo", {"note": "wrong button"})
    gone = undone["withdrawn"]
    message = table.told("calls", lambda data: data["withdrawn"] == gone)
    posted = table.posted_about("call_withdrawn", lambda told: told["call"]["id"] == gone[0])
    for cause in (message["data"]["cause"], posted["cause"]):
        assert (cause["id"], cause["type"], cause["note"]) == (undone["event"], "undo", "wrong button")


def test_a_score_is_told_before_the_call_that_made_it(table: Table) -> None:
    table.do("/api/calls", TOUCHDOWN)
    posted = table.posted_about("call", lambda told: told["call"]["kind"] == "touchdown")
    assert posted["game"]["home_score"] == 6


def test_a_new_game_is_named_and_the_one_before_over_before_anything_of_it_goes(table: Table) -> None:
    made = table.do("/api/calls", TACKLE)
    before = made["calls"][0]["game"]
    table.do("/api/games", {})
    now = table.get("/api/game")["game"]
    message = table.told("calls", lambda data: data["game"] == now)
    assert (message["data"]["calls"], message["data"]["withdrawn"]) == ([], []), "nothing was struck"
    named = table.told("game", lambda data: data["game"] == now)
    assert named["seq"] < message["seq"]
    table.posted_about("game_started", lambda told: told["game"]["game"] == now)
    turns = [(told["event"], told["game"]["game"]) for told in table.posted if told["event"].startswith("game_")]
    assert turns[-2:] == [("game_ended", before), ("game_started", now)]
    assert not [told for told in table.posted if told["event"] == "call_withdrawn"]
    assert [one["id"] for one in table.get(f"/api/games/{before}/calls")] == [call["id"] for call in made["calls"]]


def test_another_rulebook_withdraws_nothing(table: Table) -> None:
    made = table.do("/api/calls", TACKLE)
    table.do("/api/commands", {"command": "set_rulebook", "rulebook": "efl"})
    table.told("game", lambda data: data["rulebook"] == "efl")
    ids = [call["id"] for call in made["calls"]]
    assert [call["id"] for call in table.get("/api/calls")][: len(ids)] == ids
    assert not [m for m in table.messages if m["topic"] == "calls" and m["data"]["withdrawn"]]


def sign(table: Table) -> str:
    game = table.get("/api/game")
    for side in ("home", "away"):
        body = {"side": side, "name": f"Coach {side}", "score": game["score"]}
        table.do(f"/api/games/{game['game']}/signatures", body)
    return str(game["game"])


def test_the_calls_of_a_game_that_has_ended_are_still_there(table: Table) -> None:
    made = table.do("/api/calls", TACKLE)
    game, ids = sign(table), [call["id"] for call in made["calls"]]
    table.posted_about("game_ended", lambda told: told["game"]["game"] == game)
    assert [call["id"] for call in table.get("/api/calls")] == ids
    assert [call["id"] for call in table.get("/api/games/current/calls")] == ids
    assert table.get("/api/games/current")["id"] == game
    assert table.get("/api/declarations")


@pytest.mark.parametrize("another", [False, True])
def test_a_ruling_after_the_game_is_told(table: Table, another: bool) -> None:
    call = table.do("/api/calls", TOUCHDOWN)["calls"][0]["id"]
    game = sign(table)
    if another:
        table.do("/api/games", {})
    table.do(f"/api/games/{game}/reopening", {"reason": "film"})
    table.do(f"/api/games/{game}/calls/{call}/rulings", {"decision": "strike", "note": "out", "name": "Ann"})
    posted = table.posted_about("call_changed", lambda told: told["call"]["standing"] == "struck")
    assert (posted["game"]["game"], posted["game"]["home_score"], posted["call"]["game"]) == (game, 0, game)
    assert posted["call"]["ruling"]["note"] == "out"
    if another:
        reviewed = table.told("reviewed", lambda data: data["game"]["game"] == game)["data"]
        assert (reviewed["game"]["score"], reviewed["calls"]["struck"][0]["id"]) == ([0, 0], call)
        assert table.get("/api/game")["game"] != game, "the game in play is not touched"
    else:
        assert table.told("calls", lambda data: data["struck"])["data"]["struck"][0]["id"] == call
        assert table.get("/api/game")["score"] == [0, 0]


def deliveries(table: Table, event: str, status: str) -> list[dict[str, Any]]:
    (webhook,) = table.get("/api/webhooks")
    assert webhook["to"].startswith("http://127.0.0.1"), webhook
    assert not webhook["to"].endswith("/x"), "the path may be secret"
    found = [*webhook["waiting"], *webhook["log"]]
    return [one for one in found if (one["event"], one["status"]) == (event, status)]


def test_a_delivery_is_seen_and_sent_again_with_one_tap(table: Table) -> None:
    table.hook.status = 404
    table.do("/api/calls", TOUCHDOWN)
    wait_until(lambda: deliveries(table, "call", "refused"))
    table.hook.status = 204
    with browser() as chrome, page_in(chrome) as page:
        page.goto(f"{table.client.base_url}webhooks")
        refused = page.locator("li").filter(has_text="status 404").filter(has=page.locator("b", has_text="Call")).first
        refused.get_by_role("button", name="Send again").click()
        wait_until(lambda: deliveries(table, "call", "delivered"))
        expect(page.locator("li").filter(has_text="delivered").filter(has_text="Call").first).to_be_visible()
    (delivered,) = deliveries(table, "call", "delivered")
    assert (delivered["attempts"], delivered["answer"]) == (1, "status 204")
    assert json.loads(delivered["body"]) == table.posted[-1]
    counted = table.client.get("/metrics").text
    assert re.search(r'downfield_webhook_deliveries_total{status="delivered",to="http://127[^"]*"} [1-9]', counted)


def test_the_health_says_that_a_webhook_takes_nothing(table: Table) -> None:
    table.hook.status = 503
    table.do("/api/calls", TACKLE)
    wait_until(lambda: "webhook_waits" in {one["code"] for one in table.get("/api/state")["data"]["health"]["reasons"]})
    (waiting, *_) = deliveries(table, "call", "waiting")
    table.hook.status = 204
    table.do(f"/api/webhooks/{waiting['id']}/again", {})
    wait_until(lambda: not table.get("/api/state")["data"]["health"]["reasons"])
    assert table.client.post(f"/api/webhooks/{'0' * 16}/again").status_code == 404
