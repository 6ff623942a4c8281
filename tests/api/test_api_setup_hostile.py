"""Whatever is sent to the set-up is answered with what is wrong; nothing breaks, and what was shown stays."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from browsers import PageServer
from setup_readings import RUNNING, session_with, settled, solution
from waiting import WAIT_S

from downfield.api.table_setup import SolveRequest
from downfield.rig.tables import setup_session as session_module
from downfield.rig.tables.profile import TableProfile
from downfield.rig.tables.setup_session import SetupSession

BODIES: Final[dict[str, dict[str, Any]]] = {
    "camera": {"source": RUNNING},
    "solve": {
        "field": "tudor-620",
        "landmarks": [{"x_yd": 0.0, "y_yd": 0.0, "px": [10.0, 10.0]}],
        "length": {"ends_px": [[400.0, 300.0], [700.0, 300.0]], "length_mm": 300.0},
        "camera_height_mm": 900.0,
    },
    "height": {"camera_height_mm": 900.0, "standing": {"foot_px": [1.0, 1.0], "top_px": [9.0, 9.0], "height_mm": 88.0}},
    "reading": {"reading": 0},
    "save": {"name": "Attic"},
}
"""A good body of each request, to be spoiled."""

HOSTILE: Final = (
    *(
        "null",
        "true",
        "-1",
        "0",
        "1e400",
        "-1e400",
        "NaN",
        "Infinity",
        "9" * 400,
        "1e-400",
        '""',
        '"\\ud800"',
        "[]",
        "{}",
    ),
    *(
        '"../../etc/passwd"',
        '"<script>alert(1)</script>"',
        '"' + "x" * 5000 + '"',
        "[" * 200 + "]" * 200,
        '"NaN"',
        "[[[]]]",
    ),
)
"""JSON values, and what some take for JSON."""

RAW: Final = (
    b"",
    b"{",
    b"\xff\xfe{}",
    b"[]",
    b"null",
    b'"text"',
    b"{" + b'"a":' * 3000,
    b'{"source":"0","source":"1"}',
)


@pytest.fixture
def saved() -> list[TableProfile]:
    return []


@pytest.fixture
def served(
    tmp_path: Path, saved: list[TableProfile], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[SetupSession, httpx.Client]]:
    """A session that shows a solution, and a client of its service."""
    monkeypatch.setattr(session_module, "solve_as_requested", lambda *_: solution())
    made = session_with(tmp_path, saved)
    server = PageServer(tmp_path, table_setup=made)
    server.start()
    try:
        made.open_camera(RUNNING)
        made.solve(SolveRequest())
        assert settled(made).step == "confirm"
        with httpx.Client(base_url=f"{server.url}/api/setup/", timeout=WAIT_S) as client:
            yield made, client
    finally:
        made.close()
        server.stop()


def spoiled(body: dict[str, Any], chance: random.Random) -> str:
    """Return a body as JSON with one value replaced by a hostile one, or with a key too many."""
    text, places = json.dumps(body), []

    def walk(value: Any, path: tuple[str | int, ...]) -> None:
        places.append(path)
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, part in inner:
            walk(part, (*path, key))

    walk(body, ())
    path = chance.choice(places[1:])
    changed = json.loads(text)
    place = changed
    for key in path[:-1]:
        place = place[key]
    if chance.random() < 0.15:
        changed["more"] = "HOSTILE"
    else:
        place[path[-1]] = "HOSTILE"
    return json.dumps(changed).replace('"HOSTILE"', chance.choice(HOSTILE))


def check_refusal(answer: httpx.Response, sent: object) -> None:
    assert 400 <= answer.status_code < 500, (sent, answer.status_code, answer.text[:300])
    detail = answer.json()["detail"]
    assert isinstance(detail, str), sent
    assert detail, sent
    assert "Traceback" not in answer.text, sent
    assert len(answer.text) < 20_000, "an answer repeats what was sent"


@pytest.mark.parametrize("request_name", sorted(BODIES))
def test_a_spoiled_request_is_refused_in_words_and_changes_nothing(
    served: tuple[SetupSession, httpx.Client], saved: list[TableProfile], request_name: str
) -> None:
    setup, client = served
    chance = random.Random(request_name)
    before = setup.view()
    refused = 0
    for _ in range(30):
        body = spoiled(BODIES[request_name], chance)
        answer = client.post(request_name, content=body, headers={"Content-Type": "application/json"})
        if answer.status_code == 200:  # some are merely unusual, such as a name
            settled(setup)
            if setup.view().step != "confirm":
                return
            before = setup.view()
            continue
        check_refusal(answer, body)
        refused += 1
        assert setup.view() == before, body
    assert refused > 10
    assert request_name == "save" or saved == []


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded"])
def test_what_is_no_request_is_refused_in_words(served: tuple[SetupSession, httpx.Client], content_type: str) -> None:
    setup, client = served
    before = setup.view()
    for request_name in BODIES:
        for body in RAW:
            answer = client.post(request_name, content=body, headers={"Content-Type": content_type})
            check_refusal(answer, body[:40])
    assert setup.view() == before


@pytest.mark.parametrize("device", [b"a b", b"x" * 65, b"<b>", b"\xc3\xa9", b""])
def test_a_device_with_an_impossible_name_is_refused(served: tuple[SetupSession, httpx.Client], device: bytes) -> None:
    _, client = served
    check_refusal(client.post("aim", json={}, headers={b"Setup-Device": device}), device)
    check_refusal(client.post("control", json={}, headers={b"Setup-Device": device}), device)


@pytest.mark.parametrize("number", ["-1", "21", "nan", "1e3", "99999999999999999999", "../../picture", "0x1"])
def test_a_reading_that_does_not_exist_has_no_picture(served: tuple[SetupSession, httpx.Client], number: str) -> None:
    _, client = served
    answer = client.get(f"readings/{number}.jpg")
    assert answer.status_code in {404, 422}, answer.text
