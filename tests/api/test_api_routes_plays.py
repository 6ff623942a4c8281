"""Games, plays and rulings after the game over HTTP: filters, and who may rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from asgi_client import AsgiClient
from played_table import Table
from reviewed_rig import ACCESS, Reviewed
from scripted_plays import FIELD

from downfield.api.app import create_app
from downfield.api.context.context import RigParts
from downfield.broadcast.latest_picture import LatestPicture


@pytest.fixture
def reviewed(tmp_path: Path) -> Iterator[Reviewed]:
    opened = Reviewed(tmp_path / "games.db")
    yield opened
    opened.close()


def test_games_and_plays_are_filtered(reviewed: Reviewed) -> None:
    get = reviewed.admin.get
    assert [game["standing"] for game in get("/api/games").json] == ["in_play", "ended"]
    assert [game["id"] for game in get("/api/games?text=river&standing=ended").json] == [reviewed.game]
    assert get("/api/games?text=nowhere").json == []
    (play,) = get(f"{reviewed.path}/plays?kind=tackle&player=50").json
    assert [call["kind"] for call in play["calls"]] == ["tackle"]
    assert get(f"{reviewed.path}/plays?verdict=overturned").json == []
    assert get(f"{reviewed.path}/plays?kind=kangaroo").status == 422
    assert [one["number"] for one in get(f"{reviewed.path}/plays?after=0&limit=1").json] == [1]
    assert get(f"{reviewed.path}/plays?after=1").json == []
    assert get(f"{reviewed.path}/plays?after=-1").status == 422
    choices = get(f"{reviewed.path}/play-choices").json
    assert (choices["plays"], choices["quarters"]) == (1, [1])
    assert choices["kinds"] == sorted({call["kind"] for call in get(f"{reviewed.path}/calls").json})
    assert get(reviewed.path).json["camera"] is True
    assert get("/api/games/current").json["camera"] is False
    assert get(f"{reviewed.path}/calls/{reviewed.tackle}/thumbnail.jpg").status == 404


def test_the_calls_around_one_are_found_wherever_it_is_in_its_game(reviewed: Reviewed) -> None:
    get = reviewed.admin.get
    ids = [call["id"] for call in get(f"{reviewed.path}/calls").json]
    assert len(ids) > 3
    for place, call in enumerate(ids):
        found = get(f"{reviewed.path}/calls?around={quote(call)}&limit=3").json
        first = max(0, place - 1)
        assert [one["id"] for one in found] == ids[first : first + 3]
    unknown = get(f"{reviewed.path}/calls?around=nothing&limit=3")
    assert (unknown.status, unknown.json["detail"]) == (404, "No call of this game that stands has that id.")


def rule(client: AsgiClient, reviewed: Reviewed, query: str = "") -> Any:
    return client.post(
        f"{reviewed.path}/calls/{reviewed.tackle}/rulings{query}",
        {"decision": "strike", "note": "lifted", "name": "Ann"},
    )


def test_a_finished_game_is_reopened_ruled_and_closed_with_its_trail(reviewed: Reviewed) -> None:
    admin = reviewed.admin
    assert (rule(admin, reviewed).status, rule(admin, reviewed, "?preview=true").status) == (409, 200)
    assert admin.post(f"{reviewed.path}/reopening", {"reason": "  "}).status == 422
    assert admin.post(f"{reviewed.path}/reopening", {"reason": "on film", "name": "Ann"}).status == 200
    assert admin.get(reviewed.path).json["standing"] == "reopened"
    assert admin.get("/api/games?standing=reopened").json[0]["id"] == reviewed.game
    changes = rule(admin, reviewed).json
    assert changes["lines"][0].startswith("No longer called:")
    trail = admin.post(f"{reviewed.path}/closing", {"name": "Ann"}).json
    assert [line["text"].split(":")[0] for line in trail] == ["Ended", "Reopened", "Ruling", "Closed"]
    assert trail[2]["by"] == "Ann (this computer)"
    (play,) = admin.get(f"{reviewed.path}/plays?verdict=struck").json
    assert play["struck"][0]["ruling"]["note"] == "lifted"
    assert admin.get(f"{reviewed.path}/verification").json["intact"]


def test_an_operator_may_rule_after_the_game_only_where_the_rig_lets_him(reviewed: Reviewed, tmp_path: Path) -> None:
    refused = reviewed.operator.post(f"{reviewed.path}/reopening", {"reason": "on film"})
    assert (refused.status, "operators_review" in refused.json["detail"]) == (403, True)
    assert rule(reviewed.operator, reviewed, "?preview=true").status == 403
    lenient = Reviewed(tmp_path / "lenient.db", operators_review=True)
    assert lenient.operator.post(f"{lenient.path}/reopening", {"reason": "on film"}).status == 200
    assert rule(lenient.operator, lenient).status == 200
    lenient.close()


REPLACEMENT = {"kind": "out_of_bounds", "text": "dark-22 out of bounds", "side": None, "spot_yd": [44.0, 3.0]}


def challenge(
    client: AsgiClient, game: str, call: str, replacement: dict[str, Any] | None = None, decision: str = "overturned"
) -> Any:
    path = f"/api/games/{game}/challenges"
    raised = client.post(path, {"side": "home", "call": call, "reason": "stepped out first"})
    assert raised.status == 200, raised.body
    known = raised.json["challenges"][-1]["id"]
    body = {"decision": decision, "reason": "on the film", "name": "Referee", "replacement": replacement}
    return client.post(f"{path}/{known}/ruling", body)


def test_what_is_called_instead_is_spotted_where_it_is_said_and_the_answer_says_what_changed(tmp_path: Path) -> None:
    table = Table(tmp_path / "games.db")
    game = table.begin()
    table.play()
    client = AsgiClient(create_app(RigParts(table.game_service, table.hub, LatestPicture(), table.store), ACCESS))
    before, tackle = table.game(), table.call("tackle")
    t_ns = next(call.t_ns for call in table.game_service.calls() if call.id == tackle)
    answer = challenge(client, game, tackle, REPLACEMENT)
    assert answer.status == 200, answer.body
    lines = answer.json["lines"]
    assert lines[0] == "dark 22 tackled by light 50 is now: dark 22 out of bounds."
    assert lines[-1] == f"Now: {table.game().text.replace(' | ', ', ')}"
    assert table.game().spot_yd == pytest.approx(44.0)
    assert abs(before.spot_yd - 44.0) > 0.5
    replaced = next(call for call in table.game_service.calls() if call.id == tackle)
    assert (replaced.kind, replaced.spot_yd, replaced.t_ns) == ("out_of_bounds", (44.0, 3.0), t_ns)
    table.close()


def test_after_the_game_as_well(reviewed: Reviewed) -> None:
    tackle = unquote(reviewed.tackle)
    reviewed.admin.post(f"{reviewed.path}/reopening", {"reason": "a challenge"})
    answer = challenge(reviewed.admin, reviewed.game, tackle, REPLACEMENT)
    assert answer.status == 200, answer.body
    assert any("is now: dark 22 out of bounds" in line for line in answer.json["lines"])
    call = next(one for one in reviewed.admin.get(f"{reviewed.path}/calls").json if one["id"] == tackle)
    assert (call["kind"], call["spot_yd"], call["standing"]) == ("out_of_bounds", [44.0, 3.0], "overturned")


@pytest.mark.parametrize("decision", ["upheld", "too_close"])
def test_a_decision_that_changes_nothing_says_so(tmp_path: Path, reviewed: Reviewed, decision: str) -> None:
    table = Table(tmp_path / "in play.db")
    game = table.begin()
    table.play()
    client = AsgiClient(create_app(RigParts(table.game_service, table.hub, LatestPicture(), table.store), ACCESS))
    assert challenge(client, game, table.call("tackle"), decision=decision).json["lines"][0] == "Nothing has changed."
    table.close()
    reviewed.admin.post(f"{reviewed.path}/reopening", {"reason": "a challenge"})
    answer = challenge(reviewed.admin, reviewed.game, unquote(reviewed.tackle), decision=decision)
    assert answer.json["lines"] == ["Nothing has changed."]


@pytest.mark.parametrize(("named", "x_yd"), [("RIV 44", 44.0), ("a 44", 56.0), ("50", 50.0), ("H -3", -3.0)])
def test_a_spot_is_named_as_people_say_it_wherever_one_is_entered(tmp_path: Path, named: str, x_yd: float) -> None:
    table = Table(tmp_path / "games.db")
    game = table.begin()
    table.play()
    client = AsgiClient(create_app(RigParts(table.game_service, table.hub, LatestPicture(), table.store), ACCESS))
    tackle = table.call("tackle")
    by_name = {**REPLACEMENT, "spot_yd": None, "spot": named}
    ruled = client.post(f"/api/calls/{tackle}/rulings", {"decision": "overturn", "replacement": by_name})
    assert ruled.status == 200, ruled.body
    assert next(call for call in table.game_service.calls() if call.id == tackle).spot_yd == (x_yd, FIELD.width_yd / 2)
    wrong = challenge(client, game, tackle, by_name | {"spot": "X 44"})
    assert (wrong.status, "write a team and its yard line, such as RIV 44" in wrong.json["detail"]) == (409, True)
    ended = {"declaration": {"type": "play_ended", "kind": "stopped"}, "spot": "RIV 47"}
    assert "at RIV 47" in client.post("/api/declarations", ended).json["text"]
    refused = client.post("/api/declarations", {"declaration": {"type": "set"}, "spot": "RIV 47"})
    assert (refused.status, "leave it out" in refused.json["detail"]) == (422, True)
    table.close()


@pytest.mark.parametrize("change", [{"spot_yd": [4000.0, 3.0]}, {"spot_yd": [4.0]}, {"kind": "hat"}, {"text": ""}])
def test_an_impossible_replacement_is_refused(reviewed: Reviewed, change: dict[str, Any]) -> None:
    reviewed.admin.post(f"{reviewed.path}/reopening", {"reason": "a challenge"})
    assert challenge(reviewed.admin, reviewed.game, unquote(reviewed.tackle), REPLACEMENT | change).status == 422
