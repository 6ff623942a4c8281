"""The schemas and the descriptions of service and feed: of what is really sent and written, and lists sent once.

A client generated from `/openapi.json` calls the same service, and gets typed results with every field set.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import jsonschema
import pytest
from served_games import served
from waiting import WAIT_S, wait_until
from websockets.sync.client import connect

from downfield.capture.sources.file_sources import bundled_demo
from downfield.game.published.hub import TOPICS

GENERATOR = Path(__file__).parents[2] / "build" / "openapi-client"
NAME = "downfield_client"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that has played the bundled recording."""
    with served(tmp_path_factory.mktemp("store") / "store.sqlite", "--unlimited") as service:
        wait_until(lambda: is_played(service.url))
        yield service.url


def is_played(url: str) -> bool:
    topics = httpx.get(f"{url}/api/state", timeout=WAIT_S).json()["data"]
    return bool(topics["notice"]["text"] == "played")


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=WAIT_S) as client:
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


@pytest.fixture(scope="module")
def described(client: httpx.Client) -> dict[str, Any]:
    schema: dict[str, Any] = client.get("/openapi.json").json()
    return schema


@pytest.fixture(scope="module")
def package(described: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the generated package, which can be imported."""
    if not (GENERATOR / "openapi_python_client").is_dir():
        pytest.skip("the generator is missing: make build/openapi-client/.done")
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(described))
    where = ["--path", str(folder / "openapi.json"), "--output-path", str(folder / NAME), "--meta", "none"]
    command = [sys.executable, "-m", "openapi_python_client", "generate", *where]
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # ruff formats what is generated
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR), "PATH": tools}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Unable to parse" not in done.stdout, done.stdout
    sys.path.insert(0, str(folder))
    yield NAME
    sys.path.remove(str(folder))
    for loaded in [name for name in sys.modules if name.split(".")[0] == NAME]:
        del sys.modules[loaded]


@pytest.fixture
def generated(url: str, package: str) -> Iterator[Any]:
    """A client of that package."""
    with importlib.import_module(package).Client(base_url=url) as client:
        yield client


def module_of(package: str, operation: dict[str, Any]) -> ModuleType:
    return importlib.import_module(f"{package}.api.{operation['tags'][0]}.{operation['operationId']}")


def unset_in(value: object, unset: type, where: str = "") -> Iterator[str]:
    """Yield where a result lacks a field."""
    if isinstance(value, unset):
        yield where
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from unset_in(item, unset, f"{where}[{place}]")
    else:
        for field in getattr(type(value), "__attrs_attrs__", ()):
            yield from unset_in(getattr(value, field.name), unset, f"{where}.{field.name}")


def test_every_answer_that_is_json_is_typed_and_has_every_field(
    url: str, described: dict[str, Any], package: str, generated: Any
) -> None:
    unset = importlib.import_module(f"{package}.types").Unset
    call = httpx.get(f"{url}/api/calls", timeout=WAIT_S).json()[-1]["id"]
    given = {"game": "current", "call": call, "name": "tap", "frame": 0, "event": "op-1"}
    answered = []
    for path, methods in described["paths"].items():
        operation = methods.get("get", {})
        if "application/json" not in operation.get("responses", {}).get("200", {}).get("content", {}):
            continue
        needed = [one["name"] for one in operation.get("parameters", []) if one.get("required")]
        if not set(needed) <= given.keys():
            continue
        answer = module_of(package, operation).sync_detailed(client=generated, **{name: given[name] for name in needed})
        if answer.status_code == 200:
            assert answer.parsed is not None, path
            assert not list(unset_in(answer.parsed, unset, path))
            answered.append(path)
    assert {"/api/game", "/api/calls", "/api/legal", "/api/games", "/api/games/{game}/plays", "/about"} <= set(answered)
    assert len(answered) > 25, answered


def test_what_is_sent_is_typed_and_so_is_the_receipt(url: str, package: str, generated: Any) -> None:
    models = importlib.import_module(f"{package}.models")
    make_call = importlib.import_module(f"{package}.api.calls.make_call")
    kind = models.ManualCallRequestKind.INFO
    body = models.ManualCallRequest(kind=kind, text="men straightened", note="by a program")
    receipt = make_call.sync(client=generated, body=body)
    assert isinstance(receipt, models.Accepted)
    assert receipt.calls[0].ruling.note == "by a program"
    assert receipt.calls[0].game == httpx.get(f"{url}/api/game", timeout=WAIT_S).json()["game"]
    declare = importlib.import_module(f"{package}.api.play.declare")
    unknown = declare.sync(
        client=generated, body=models.DeclarationRequest(declaration=models.Carrier(player="nobody-0"))
    )
    assert isinstance(unknown, models.Accepted | models.ProblemBody)


def test_every_operation_has_examples_that_its_schema_accepts(described: dict[str, Any]) -> None:
    shown = 0
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            answers = [answer for status, answer in operation["responses"].items() if status < "3"]
            for part in (operation.get("requestBody", {}), *answers):
                content = part.get("content", {}).get("application/json")
                if content is not None:
                    examples = [content["example"]] if "example" in content else content["schema"]["examples"]
                    schema = {**content["schema"], "components": described["components"]}
                    for example in examples:
                        jsonschema.Draft202012Validator(schema).validate(example)
                    shown += 1
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path":
                    example = parameter.get("example", (parameter["schema"].get("examples") or [None])[0])
                    jsonschema.Draft202012Validator(parameter["schema"]).validate(example)
            assert answers, (method, path)
    assert shown > 100
