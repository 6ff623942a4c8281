"""A client generated from `/openapi.json` calls a running service, and gets typed results with every field set."""

from __future__ import annotations

import importlib
import json
import os
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
def described(url: str) -> dict[str, Any]:
    schema: dict[str, Any] = httpx.get(f"{url}/openapi.json", timeout=WAIT_S).json()
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
def client(url: str, package: str) -> Iterator[Any]:
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
    url: str, described: dict[str, Any], package: str, client: Any
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
        answer = module_of(package, operation).sync_detailed(client=client, **{name: given[name] for name in needed})
        if answer.status_code == 200:
            assert answer.parsed is not None, path
            assert not list(unset_in(answer.parsed, unset, path))
            answered.append(path)
    assert {"/api/game", "/api/calls", "/api/legal", "/api/games", "/api/games/{game}/plays", "/about"} <= set(answered)
    assert len(answered) > 25, answered


def test_what_is_sent_is_typed_and_so_is_the_receipt(url: str, package: str, client: Any) -> None:
    models = importlib.import_module(f"{package}.models")
    make_call = importlib.import_module(f"{package}.api.calls.make_call")
    kind = models.ManualCallRequestKind.INFO
    body = models.ManualCallRequest(kind=kind, text="men straightened", note="by a program")
    receipt = make_call.sync(client=client, body=body)
    assert isinstance(receipt, models.Accepted)
    assert receipt.calls[0].ruling.note == "by a program"
    assert receipt.calls[0].game == httpx.get(f"{url}/api/game", timeout=WAIT_S).json()["game"]
    declare = importlib.import_module(f"{package}.api.play.declare")
    unknown = declare.sync(client=client, body=models.DeclarationRequest(declaration=models.Carrier(player="nobody-0")))
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
