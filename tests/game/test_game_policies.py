"""A league's policies are kept with who set them, count from the next game on, and are for those who may set them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from asgi_client import AsgiClient, ClientResponse
from played_table import Table

from downfield.api.app import create_app
from downfield.api.context.access_control import access_control_of
from downfield.api.context.context import RigParts
from downfield.api.security.access import AccessPolicy, Role
from downfield.broadcast.latest_picture import LatestPicture
from downfield.core.errors import FormatError, OutputError
from downfield.game.policies import LeaguePolicies
from downfield.game.records.commands import NewGame
from downfield.officiating.rulebooks.rulebook import load_rulebook, parse_rulebook
from downfield.review.reports.shadow import CallOutcomes
from downfield.store.history import History


def test_the_last_change_counts_and_all_of_them_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "rig" / "policies.jsonl"
    policies = LeaguePolicies(path)
    assert policies.applied_to(load_rulebook("tap")).policy("tackle") == "auto"
    policies.set("tackle", "propose", "Maria")
    policies.set("tackle", "propose", "somebody else")  # as it is already
    policies.set("tackle", "log", "John")
    again = LeaguePolicies(path)
    assert [(one.policy, one.by) for one in again.changes()] == [("propose", "Maria"), ("log", "John")]
    assert again.applied_to(load_rulebook("tap")).policy("tackle") == "log"
    again.set("tackle", None, "Maria")
    assert policies.applied_to(load_rulebook("tap")).policy("tackle") == "auto"


def test_a_league_file_s_own_policies_stay_where_nothing_is_set() -> None:
    own = parse_rulebook('base = "tap"\n[policy]\ntackle = "propose"\nfumble = "log"\n', "league.toml")
    policies = LeaguePolicies()
    policies.set("tackle", "auto", "Maria")
    found = policies.applied_to(own)
    assert (found.policy("tackle"), found.policy("fumble"), found.name) == ("auto", "log", own.name)
    assert own.policy("tackle") == "propose"


def test_many_who_set_at_once_lose_no_change(tmp_path: Path) -> None:
    policies = LeaguePolicies(tmp_path / "policies.jsonl")
    kinds = ("tackle", "fumble", "sack", "touchdown")
    threads = [threading.Thread(target=policies.set, args=(kind, "log", "x")) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(policies.latest()) == set(kinds)


def test_a_damaged_file_names_its_line_and_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "policies.jsonl"
    LeaguePolicies(path).set("tackle", "log", "x")
    path.write_text(path.read_text() + '{"kind": "hats"}\n')
    with pytest.raises(FormatError, match=r"policies\.jsonl.*3"):
        LeaguePolicies(path).latest()
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="can't be written"):
        LeaguePolicies(tmp_path / "file" / "policies.jsonl").set("tackle", "log", "x")


def client_of(table: Table, role: Role = "admin", *, operators_review: bool = False) -> AsgiClient:
    context = RigParts(table.game_service, table.hub, LatestPicture(), table.store, operators_review=operators_review)
    if role == "admin":
        return AsgiClient(create_app(context))
    app = create_app(context, AccessPolicy(trust_local=False))
    token_store = access_control_of(app).token_store
    redeemed = token_store.redeem(token_store.make_code(role).code, "a phone")
    assert redeemed is not None
    return AsgiClient(app, token=redeemed[0])


def put(client: AsgiClient, kind: str, body: object) -> ClientResponse:
    return client.request("PUT", f"/api/policies/{kind}", body, content_type="application/json")


def test_a_policy_that_is_set_counts_from_the_next_game_on(tmp_path: Path) -> None:
    table = Table(tmp_path / "games.db")
    first = table.begin()
    client = client_of(table)
    known = {one["kind"]: one for one in client.get("/api/policies").json}
    assert (known["tackle"]["policy"], known["tackle"]["set_by"]) == ("auto", "")
    answer = put(client, "tackle", {"policy": "propose", "name": "Maria"})
    assert answer.status == 200
    told = {one["kind"]: one for one in answer.json}["tackle"]
    assert (told["policy"], told["rulebook_policy"], told["set_by"]) == ("propose", "auto", "Maria (this computer)")
    table.game_service.start_game(NewGame())
    second = table.game_service.game_id
    table.play()
    (tackle,) = (call for call in table.game_service.calls() if call.kind == "tackle")
    assert (tackle.verdict, tackle.standing) == ("proposed", "open")
    table.game_service.close()
    rows = {row.id: History(table.store, row) for row in table.store.games()}
    assert rows[first].rulebook.policy("tackle") == "auto"
    assert rows[second].rulebook.policy("tackle") == "propose"
    table.store.close()


def test_only_those_who_may_rule_after_a_game_set_policies(tmp_path: Path) -> None:
    table = Table(tmp_path / "games.db")
    body = {"policy": "log"}
    allowed: list[tuple[Role, bool, int]] = [("viewer", True, 403), ("operator", False, 403), ("operator", True, 200)]
    for role, may_review, status in allowed:
        client = client_of(table, role, operators_review=may_review)
        assert client.get("/api/policies").status == 200
        assert put(client, "sack", body).status == status, (role, may_review)
    client = client_of(table)
    assert put(client, "hats", body).status == 422
    assert put(client, "sack", {"policy": "guess"}).status == 422
    assert put(client, "sack", {}).status == 422
    table.close()


@pytest.mark.parametrize(
    ("outcomes", "policy"),
    [
        (CallOutcomes("tackle", called=40, confirmed=2), "auto"),
        (CallOutcomes("tackle", called=12, confirmed=2), None),
        (CallOutcomes("tackle", called=40, confirmed=4, overturned=1), "propose"),
        (CallOutcomes("tackle", called=40, confirmed=1, overturned=1), None),
        (CallOutcomes("tackle", confirmed=19, overturned=1), None),
    ],
)
def test_a_policy_is_suggested_only_where_the_numbers_carry_it(outcomes: CallOutcomes, policy: str | None) -> None:
    assert outcomes.suggestion.policy == policy
    assert outcomes.suggestion.why
