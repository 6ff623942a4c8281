"""The service as its clients see it: a real process, HTTP, Server-Sent Events and WebSocket."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served_games import Served, served
from waiting import WAIT_S, wait_until
from websockets.sync.client import connect

from downfield.store.sealing.signing import is_public_key


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("service") / "games.db") as running:
        with httpx.Client(base_url=running.url, timeout=WAIT_S) as client:

            def notice() -> object:
                return client.get("/api/state").json()["data"].get("notice", {}).get("text")

            wait_until(lambda: notice() == "played", "the recording is played")
        yield running


@pytest.fixture
def client(service: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, timeout=WAIT_S) as made:
        yield made


def declare(client: httpx.Client, declaration: dict[str, Any], **headers: str) -> httpx.Response:
    return client.post("/api/declarations", json={"declaration": declaration}, headers=headers)


SET_UP = {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 25.0}


def test_the_game_its_calls_and_its_journal_can_be_read(client: httpx.Client) -> None:
    game = client.get("/api/game").json()
    assert game["rulebook"] == "tap"
    calls = client.get("/api/calls").json()
    tackle = next(call for call in calls if call["kind"] == "tackle" and call["standing"] == "stands")
    assert tackle["clauses"][0]["text"]
    assert client.get(f"/api/calls/{tackle['id']}").json() == tackle
    assert client.get("/api/games").json()[0]["id"] == game["game"]
    current = client.get("/api/games/current").json()
    assert current == client.get(f"/api/games/{game['game']}").json()
    assert [call["id"] for call in client.get("/api/games/current/calls").json()] == [call["id"] for call in calls]
    plays = client.get("/api/games/current/plays").json()
    assert tackle["id"] in {call["id"] for play in plays for call in play["calls"]}
    verification = client.get("/api/games/current/verification", params={"head": current["head"]}).json()
    assert verification["intact"]
    lines = client.get("/api/games/current/events.jsonl").text.splitlines()
    assert json.loads(lines[0])["format"] == "downfield.events"
    assert len(lines) == 1 + len(client.get("/api/games/current/events").json())


def test_what_may_be_declared_is_asked_before_it_is_declared(client: httpx.Client) -> None:
    legal = client.get("/api/legal").json()
    entries = {(entry["type"], entry["word"]): entry for entry in legal["declarations"]}
    coin = entries["coin", ""]
    assert not coin["allowed"]
    assert declare(client, {"type": "coin", "heads": True}).json()["detail"].casefold() == coin["reason"].casefold()
    assert entries["set_up", ""]["allowed"]
    assert declare(client, entries["clock", "stop"]["example"]).status_code == 200


def test_a_declaration_and_a_ruling_are_made_and_undone(client: httpx.Client) -> None:
    receipt = declare(client, SET_UP, **{"Idempotency-Key": "tap-1"}).json()
    assert receipt["saved"]
    assert client.get("/api/game").json()["spot_yd"] == 25.0
    again = declare(client, SET_UP, **{"Idempotency-Key": "tap-1"}).json()
    assert again == {**receipt, "repeated": True}
    other = declare(client, {**SET_UP, "spot_yd": 26.0}, **{"Idempotency-Key": "tap-1"})
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    preview = client.get(f"/api/events/{receipt['event']}/undo").json()
    assert not preview["more"], "nothing came after it"
    assert client.get("/api/game").json()["spot_yd"] == 25.0
    undone = client.post(f"/api/events/{receipt['event']}/undo")
    assert undone.status_code == 200
    assert preview["lines"][-1] == f"Now: {undone.json()['text'].replace(' | ', ', ')}"
    assert client.get("/api/game").json()["spot_yd"] != 25.0
    assert client.post(f"/api/events/{undone.json()['event']}/undo").status_code == 200
    assert client.get("/api/game").json()["spot_yd"] == 25.0
    carrier = next(event for event in client.get("/api/declarations").json() if event["type"] == "carrier")
    old = client.get(f"/api/events/{carrier['id']}/undo").json()
    assert old["more"]
    assert any(line.startswith("No longer called: ") for line in old["lines"])
    assert client.get("/api/events/none/undo").status_code == 404
    tackle = next(call for call in client.get("/api/calls").json() if call["kind"] == "tackle")
    struck = client.post(f"/api/calls/{tackle['id']}/rulings", json={"decision": "strike", "note": "lifted"}).json()
    assert tackle["id"] in struck["withdrawn"]
    assert client.get(f"/api/calls/{tackle['id']}").json()["standing"] == "struck"
    assert tackle["id"] not in {call["id"] for call in client.get("/api/calls").json()}
    assert client.post(f"/api/events/{struck['event']}/undo").status_code == 200
    assert client.get(f"/api/calls/{tackle['id']}").json()["id"] == tackle["id"]
    made = client.post("/api/calls", json={"kind": "info", "text": "men straightened"}).json()
    assert [call["standing"] for call in made["calls"]] == ["manual"]


def test_the_request_that_the_page_of_the_service_shows_is_accepted(client: httpx.Client) -> None:
    """As `curl` sends it: method, headers and body; the figure may also be one that this game does not have."""
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text()
    (shown,) = re.findall(r"^curl (?:.*\\\n)*.*$", page, re.MULTILINE)
    words = shlex.split(shown)
    given = [words[at + 1].partition(": ") for at, word in enumerate(words) if word == "-H"]
    url = next(word for word in words if word.startswith("http://127.0.0.1:8317/"))
    declare(client, SET_UP)
    answer = client.request(
        words[words.index("-X") + 1],
        url.removeprefix("http://127.0.0.1:8317"),
        content=words[words.index("-d") + 1],
        headers={name: value for name, _, value in given},
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["saved"]


def test_a_refusal_of_the_game_is_a_problem_with_its_reason(client: httpx.Client) -> None:
    declare(client, SET_UP)
    refused = declare(client, {"type": "coin", "heads": True})
    assert refused.status_code == 409
    assert refused.headers["content-type"] == "application/problem+json"
    problem = refused.json()
    assert problem["title"] == "The game does not allow this now"
    assert problem["code"] == "not_now"
    assert "coin" in problem["detail"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind"),
    [
        ("GET", "/api/none", None, 404, "not-found"),
        ("GET", "/api/games/20200101-000000-0000", None, 404, "not-found"),
        ("PATCH", "/api/game", None, 405, "method-not-allowed"),
        ("POST", "/api/declarations", b"{", 400, "bad-request"),
        ("POST", "/api/declarations", b'{"declaration": {"type": "fly"}}', 422, "invalid"),
        ("POST", "/api/declarations", b'{"declaration": {"type": "set"}, "extra": 1}', 422, "invalid"),
        ("POST", "/api/declarations", b"x" * 70_000, 413, "too-large"),
        ("POST", "/api/commands", b'{"command": "find_figures"}', 409, "refused"),
        ("POST", "/api/pairings", b"{}", 409, "refused"),
        ("POST", "/api/session", b'{"code": "AAAAA-AAAAA"}', 401, "not-signed-in"),
    ],
)
def test_every_error_is_a_problem(
    client: httpx.Client, method: str, path: str, body: bytes | None, status: int, kind: str
) -> None:
    answer = client.request(method, path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["type"].endswith(kind)
    assert problem["detail"]


def test_an_unknown_key_is_named(client: httpx.Client) -> None:
    problem = declare(client, {**SET_UP, "spott_yd": 3}).json()
    assert {"field": "body.declaration.set_up.spott_yd", "problem": "unknown key"} in problem["errors"]


def test_teams_are_saved_with_their_rosters(client: httpx.Client) -> None:
    player = {"id": "d1", "jersey": "dark", "number": "12"}
    team = {"name": "River City", "short": "RIV", "players": [player]}
    assert client.put("/api/teams/river", json=team).json()["players"][0]["number"] == "12"
    assert [listed["id"] for listed in client.get("/api/teams").json()] == ["river"]
    twice = {**team, "players": [player, player]}
    assert client.put("/api/teams/river", json=twice).status_code == 422
    assert client.delete("/api/teams/river").status_code == 204
    assert client.get("/api/teams/river").status_code == 404


def test_rulebooks_calibration_configuration_and_metrics_can_be_read(client: httpx.Client) -> None:
    assert {"tap", "efl"} <= {book["name"] for book in client.get("/api/rulebooks").json()}
    assert client.get("/api/rulebooks/efl").json()["params"]
    calibration = client.get("/api/calibration").json()
    assert client.put("/api/calibration", json=calibration).json()["text"] == "use_calibration done"
    assert client.get("/api/calibration/residuals.svg").text.startswith("<svg")
    assert client.get("/api/configuration").json()["version"] == "test"
    metrics = client.get("/metrics").text
    assert 'downfield_calls_total{kind="tackle",verdict="called"}' in metrics
    assert 'downfield_http_responses_total{method="GET",status="200"}' in metrics


def test_health_readiness_and_the_camera_picture_are_served(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").status_code == 200
    assert is_public_key(client.get("/about").json()["public_key"])
    assert client.get("/camera.jpg").content.startswith(b"\xff\xd8")
    with client.stream("GET", "/camera.mjpeg") as feed:
        assert feed.headers["content-type"].startswith("multipart/x-mixed-replace")
        assert b"\xff\xd8" in next(feed.iter_bytes())


def test_pages_may_load_only_files_of_this_service(client: httpx.Client) -> None:
    page = client.get("/pair")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    answer = client.get("/api/game")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


def test_the_openapi_description_has_roles_problems_and_examples(client: httpx.Client) -> None:
    schema = client.get("/openapi.json").json()
    operation_ = schema["paths"]["/api/declarations"]["post"]
    assert operation_["summary"] == "Declare something"
    assert "Role: operator" in operation_["description"]
    assert "application/problem+json" in operation_["responses"]["409"]["content"]
    assert "HTTPValidationError" not in schema["components"]["schemas"]
    views = schema["components"]["schemas"]
    assert set(views["CallView"]["required"]) == set(views["CallView"]["properties"]), "what is always sent is required"
    names = [operation["operationId"] for methods in schema["paths"].values() for operation in methods.values()]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    assert operation_["operationId"] == "declare"
    assert all(name.isidentifier() for name in names)
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert operation["tags"], (method, path)


def events(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    """The messages of an event stream; each id line must agree with its message."""
    last_id = ""
    for line in answer.iter_lines():
        if line.startswith("id: "):
            last_id = line.removeprefix("id: ")
        if line.startswith("data: "):
            message = json.loads(line.removeprefix("data: "))
            assert last_id == f"{message['epoch']}-{message['seq']}"
            yield message


def test_the_feed_sends_a_snapshot_and_then_changes(client: httpx.Client) -> None:
    with client.stream("GET", "/api/feed", params={"topics": "game,declared"}) as feed:
        messages = events(feed)
        snapshot = next(messages)
        assert (snapshot["v"], snapshot["topic"]) == (2, "snapshot")
        assert set(snapshot["data"]) == {"game", "declared"}
        declare(client, {**SET_UP, "spot_yd": 31.0})
        changes = [next(messages), next(messages)]
    assert {message["topic"] for message in changes} == {"game", "declared"}
    assert changes[1]["seq"] > changes[0]["seq"] > snapshot["seq"]


def test_a_feed_resumes_where_it_broke_off(client: httpx.Client) -> None:
    with client.stream("GET", "/api/feed", params={"topics": "game"}) as feed:
        first = next(events(feed))
    declare(client, {**SET_UP, "spot_yd": 41.0})
    declare(client, {**SET_UP, "spot_yd": 42.0})
    last = {"Last-Event-ID": f"{first['epoch']}-{first['seq']}"}
    with client.stream("GET", "/api/feed", params={"topics": "game"}, headers=last) as feed:
        messages = events(feed)
        assert next(messages)["data"]["spot_yd"] == 42.0, "only the newest value of a conflated topic"
    with client.stream("GET", "/api/feed", headers={"Last-Event-ID": "00ff-1"}) as feed:
        assert next(events(feed))["topic"] == "snapshot"


def test_the_websocket_sends_the_same_messages(service: Served, client: httpx.Client) -> None:
    address = service.url.replace("http", "ws") + "/api/feed/ws?topics=game"
    with connect(address) as socket:
        snapshot = json.loads(socket.recv(WAIT_S))
        socket.send("anything")
        declare(client, {**SET_UP, "spot_yd": 44.0})
        change = json.loads(socket.recv(WAIT_S))
    assert snapshot["topic"] == "snapshot"
    assert (change["topic"], change["data"]["spot_yd"]) == ("game", 44.0)
    with connect(f"{address}&after={snapshot['epoch']}-{snapshot['seq']}") as socket:
        assert json.loads(socket.recv(WAIT_S)) == change


def test_a_new_game_replaces_the_current_one(client: httpx.Client) -> None:
    before = client.get("/api/game").json()["game"]
    home = {"name": "Lake Town", "short": "LAK", "color": "#aa2200", "ink": "#ffffff"}
    body, key = {"home": home, "title": "second"}, {"Idempotency-Key": "g2"}
    assert client.post("/api/games", json=body, headers=key).status_code == 200
    assert client.post("/api/games", json=body, headers=key).json()["repeated"]
    now = client.get("/api/game").json()
    assert now["game"] != before
    assert now["home"]["color"] == "#aa2200"
    assert client.get(f"/api/games/{before}").json()["ended"]
    assert client.get("/api/calls").json() == []


def test_a_service_without_bundles_says_where_they_are_made(client: httpx.Client) -> None:
    problem = client.get("/api/games/current/bundle.zip")
    assert problem.status_code == 404
    assert "The rig that played the game does" in problem.json()["detail"]
