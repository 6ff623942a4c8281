"""The schemas and the description of the feed: of what is really sent and written, and lists that are sent once."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from served_games import served
from waiting import WAIT_S, wait_until
from websockets.sync.client import connect

from downfield.capture.sources.file_sources import bundled_demo
from downfield.game.published.hub import TOPICS


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a service that has played the bundled recording."""
    with (
        served(tmp_path_factory.mktemp("store") / "store.sqlite", "--unlimited") as service,
        httpx.Client(base_url=service.url, timeout=WAIT_S) as client,
    ):
        wait_until(lambda: client.get("/api/state").json()["data"]["notice"]["text"] == "played")
        yield client


def references(part: object) -> set[str]:
    return set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(part)))


def found(document: dict[str, Any], path: str) -> Any:
    for name in path.split("/"):
        document = document[name]
    return document


def test_every_message_of_the_feed_is_as_its_description_says(client: httpx.Client) -> None:
    document = client.get("/asyncapi.json").json()
    assert document["asyncapi"] == "3.0.0"
    assert set(document) >= {"info", "servers", "channels", "operations", "components"}
    for path in references(document):
        assert found(document, path), path
    assert {channel["address"] for channel in document["channels"].values()} == {"/api/feed", "/api/feed/ws"}
    assert {operation["action"] for operation in document["operations"].values()} == {"send"}
    assert document["servers"]["socket"]["host"] == client.base_url.netloc.decode()
    messages = document["components"]["messages"]
    assert set(messages) == {*TOPICS, "snapshot", "alive"}
    assert all(message["summary"] for message in messages.values())
    host = document["servers"]["socket"]["host"]
    with connect(f"ws://{host}{document['channels']['socket']['address']}") as socket:
        snapshot = json.loads(socket.recv(WAIT_S))
        client.post("/api/calls", json={"kind": "info", "text": "men straightened", "note": "by hand"})
        sent = [snapshot]
        while {"calls", "declared"} - {message["topic"] for message in sent}:
            sent.append(json.loads(socket.recv(WAIT_S)))
    assert {"game", "calls", "declared", "health", "source"} <= set(snapshot["data"])
    for message in sent:
        if message["topic"] == "notice" or "notice" in message["data"]:
            message["data"].pop("notice", None)
        payload = {**messages[message["topic"]]["payload"], "components": document["components"]}
        jsonschema.Draft202012Validator(payload).validate(message)


def test_values_and_files_are_as_their_schemas_say(client: httpx.Client) -> None:
    names = client.get("/schemas").json()
    schemas = {name: client.get(f"/schemas/{name}").json() for name in names}
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert {f"feed/{topic}.json" for topic in TOPICS} <= set(names)
    jsonschema.validate(client.get("/api/game").json(), schemas["feed/game.json"])
    folder = bundled_demo().parent
    for suffix, head, line in (("tracks", "tracks-header", "scene"), ("events", "events-header", "event")):
        (path,) = folder.glob(f"{bundled_demo().stem.split('.')[0]}*.{suffix}.jsonl")
        lines = path.read_text().splitlines()
        jsonschema.validate(json.loads(lines[0]), schemas[f"files/{head}.json"])
        jsonschema.validate(json.loads(lines[1]), schemas[f"files/{line}.json"])
    jsonschema.validate(client.get("/api/calibration").json(), schemas["files/calibration.json"])
    unknown = client.get("/schemas/feed/none.json")
    assert (unknown.status_code, unknown.json()["detail"]) == (
        404,
        "There is no schema 'feed/none.json'. GET /schemas lists them.",
    )


def test_a_list_is_packed_and_sent_only_when_it_has_changed(client: httpx.Client) -> None:
    path = "/api/games/current/events"
    whole = client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in whole.headers
    assert whole.headers["cache-control"] == "private, no-cache"
    with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as packed:
        raw = b"".join(packed.iter_raw())
    assert packed.headers["content-encoding"] == "gzip"
    assert len(raw) < len(whole.content) / 3
    assert gzip.decompress(raw) == whole.content
    again = client.get(path, headers={"If-None-Match": whole.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    client.post("/api/calls", json={"kind": "info", "text": "men straightened"})
    changed = client.get(path, headers={"If-None-Match": whole.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["etag"] != whole.headers["etag"]
    assert len(changed.json()) == len(whole.json()) + 1
    assert client.get("/api/game").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("topics", "named"), [("game,gmae", "gmae"), ("Game", "Game"), ("game, calls", " calls")])
def test_a_topic_that_does_not_exist_is_refused_with_one_sentence(
    client: httpx.Client, topics: str, named: str
) -> None:
    refused = client.get("/api/feed", params={"topics": topics})
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(f"There is no topic {named!r}. There are ball, calls, ")


def test_the_schemas_that_the_page_names_exist(client: httpx.Client) -> None:
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    named = re.findall(r"`(?:GET )?/schemas/([a-z/_-]+\.json)`", page)
    assert named
    assert set(named) <= set(client.get("/schemas").json())
