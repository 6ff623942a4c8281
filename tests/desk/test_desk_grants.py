"""Phones paired once for a tournament: grants that the desk signs, what tables take, refuse, journal and revoke."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
import pytest
from broker_server import BrokerServer
from browsers import browser, page_in
from desk_server import DeskServer
from playwright.sync_api import expect
from tournament_tables import desk_over, table
from waiting import WAIT_S, wait_until

from downfield.api.security.access import AccessPolicy
from downfield.api.security.grants import GRANT_PREFIX, GrantedAccess, TableGrant, read_grant, write_grant
from downfield.core.errors import InputError, NotFoundError, RefusedError
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.game.records.commands import NewGame
from downfield.game.records.entries import unpack_entry
from downfield.game.records.table_records import DeviceChanged
from downfield.rig.scorekeeper import Scorekeeper
from downfield.rig.tournament.push_payloads import PushedAccess
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.signing import RigKey
from downfield.store.signed_lists import listing_differences

pytestmark = pytest.mark.usefixtures("short_pauses")

get, post, delete = (
    partial(httpx.get, timeout=WAIT_S),
    partial(httpx.post, timeout=WAIT_S),
    partial(httpx.delete, timeout=WAIT_S),
)
NOW_NS = 1_800_000_000_000_000_000
KEY = RigKey.generate()
GRANT = TableGrant(
    "0123456789ab", "Ann’s phone, Зал", "operator", ("Table 3", "Стол 4"), NOW_NS + 10**9, KEY.public_text
)


def access(table_name: str = "table 3 ", now_ns: int = NOW_NS, path: Path | None = None) -> GrantedAccess:
    taking = GrantedAccess(path, table_name, lambda: now_ns)
    taking.take(KEY.public_text, ())
    return taking


def altered(change: Callable[[dict[str, object]], object]) -> str:
    """Return the grant with other content under the old signature."""
    content, signature = write_grant(KEY, GRANT).removeprefix(GRANT_PREFIX).split(".")
    fields = json.loads(base64.urlsafe_b64decode(content + "=="))
    change(fields)
    other = base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")
    return f"{GRANT_PREFIX}{other}.{signature}"


def test_a_grant_is_read_as_it_was_written_and_taken_at_the_tables_it_names() -> None:
    text = write_grant(KEY, GRANT)
    assert read_grant(f" {text}\n") == GRANT
    assert access().check(text) == GRANT
    assert access("СТОЛ 4").check(text) == GRANT
    everywhere = write_grant(KEY, replace(GRANT, tables=()))
    assert access("anything").check(everywhere).tables == ()


@pytest.mark.parametrize(
    ("taking", "text", "reason"),
    [
        (access(), altered(lambda fields: fields.update(role="admin")), "not whole, or was altered"),
        (access(), altered(lambda fields: fields.update(id="; DROP")), "not whole, or was altered"),
        (access(), write_grant(KEY, GRANT)[:-5], "not whole, or was altered"),
        (access(), f"{GRANT_PREFIX}é.é", "not whole, or was altered"),
        (access(), GRANT_PREFIX + "a" * 5000, "not whole, or was altered"),
        (access(), write_grant(RigKey.generate(), GRANT), "not whole, or was altered"),
        (access("Table 30"), write_grant(KEY, GRANT), "is for Table 3, Стол 4; this table is called Table 30"),
        (access(now_ns=NOW_NS + 2 * 10**9), write_grant(KEY, GRANT), "expired on"),
        (GrantedAccess(None, "Table 3"), write_grant(KEY, GRANT), "has not heard of its tournament's desk"),
    ],
)
def test_a_grant_that_is_altered_foreign_expired_or_of_another_table_is_refused_in_one_sentence(
    taking: GrantedAccess, text: str, reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason) as refused:
        taking.check(text)
    assert len(str(refused.value)) < 200


def test_a_grant_of_a_desk_that_is_not_known_is_refused_and_what_was_revoked_stays_so(tmp_path: Path) -> None:
    taking = access(path=tmp_path / "desks.json")
    foreign = RigKey.generate()
    with pytest.raises(RefusedError, match="a desk that this table does not know"):
        taking.check(write_grant(foreign, replace(GRANT, key=foreign.public_text)))
    revoked: list[str] = []
    taking.follow(revoked.append)
    taking.take(KEY.public_text, (GRANT.id,))
    taking.take(KEY.public_text, ())  # an older copy of the desk's folder was put back
    assert revoked == [GRANT.id]
    again = GrantedAccess(tmp_path / "desks.json", "Table 3", lambda: NOW_NS)
    with pytest.raises(RefusedError, match="has revoked this grant"):
        again.check(write_grant(KEY, GRANT))
    again.follow(revoked.append)
    assert revoked == [GRANT.id, GRANT.id], "a service that starts later does not learn what was revoked"


def test_the_desk_keeps_its_grants_and_takes_only_those_in_force(tmp_path: Path) -> None:
    keeper = GrantKeeper(tmp_path, lambda: NOW_NS)
    grant = keeper.issue("Dee", "Ann", "referee", (" Table  3", "Table 3"), 2)
    assert grant.tables == ("Table 3",)
    again = GrantKeeper(tmp_path, lambda: NOW_NS)
    text = again.text_of(grant.id)
    assert text == keeper.text_of(grant.id)
    assert again.role_here(again.check(text)) == "operator"
    with pytest.raises(RefusedError, match="expired"):
        GrantKeeper(tmp_path, lambda: NOW_NS + 3 * 86_400 * 10**9).check(text)
    before = again.standing()[0]
    again.revoke("Dee", grant.id)
    after = again.standing()[0]
    assert (after.id != before.id, after.payload) == (True, PushedAccess(grant.key, (grant.id,)))
    with pytest.raises(RefusedError, match="revoked"):
        again.check(text)
    with pytest.raises(NotFoundError):
        again.revoke("Dee", grant.id)
    with pytest.raises(InputError, match="1 to 60 letters"):
        again.issue("Dee", " ", "viewer", (), 1)
    with pytest.raises(RefusedError, match="another desk"):
        GrantKeeper(None, lambda: NOW_NS).check(text)


def redeem(rig: Scorekeeper, text: str) -> httpx.Response:
    return post(f"{rig.service.address}api/session", json={"code": text})


def changes(folder: Path) -> list[tuple[str, str, str, str, str]]:
    """Return what the journals of a table say of devices."""
    with open_for_reading(str(folder / "downfield.db")) as opened:
        assert list(listing_differences(opened.store)) == []
        rows = [row for game in reversed(opened.store.games()) for row in opened.store.entries(game.id)]
    found = [unpack_entry(row.kind, row.content, where="") for row in rows if row.kind == "device_changed"]
    return [(one.change, one.name, one.role, one.by, one.text) for one in found if isinstance(one, DeviceChanged)]


def test_a_phone_works_at_its_tables_while_the_desk_is_away_and_is_revoked_at_once_when_it_is_back(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    one = tmp_path / "Table 1"
    with table(one, brokering, NewGame()) as rig, table(tmp_path / "Table 2", brokering, NewGame()) as other:
        with desk_over(tmp_path / "desk", brokering) as desk:
            wait_until(lambda: len(desk.parts.statuses()) == 2, "the tables do not appear")
            granted = post(f"{desk.url}/api/grants", json={"name": "Ann", "role": "operator", "tables": ["table 1"]})
            assert granted.status_code == 201, granted.text
            text = granted.json()["url"].split("#")[1]
            wait_until(lambda: told(desk) == {"Table 1": "applied", "Table 2": "applied"}, "the tables are not told")
        paired = redeem(rig, text)  # the desk is away
        assert (paired.status_code, paired.json()["role"], paired.json()["name"]) == (200, "operator", "Ann")
        headers = {"Authorization": f"Bearer {paired.json()['token']}"}
        declared = {"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 30}}
        sent = post(f"{rig.service.address}api/declarations", json=declared, headers=headers)
        assert sent.status_code == 200, sent.text
        refused = redeem(other, text)
        assert refused.status_code == 403
        assert refused.json()["detail"] == "This grant is for table 1; this table is called Table 2."
        assert redeem(other, text[:-9]).status_code == 403
        with httpx.stream("GET", f"{rig.service.address}api/events", headers=headers, timeout=WAIT_S) as stream:
            lines = stream.iter_lines()
            next(lines)
            with desk_over(tmp_path / "desk", brokering) as desk:
                identity = granted.json()["id"]
                assert delete(f"{desk.url}/api/grants/{identity}").status_code == 204
                for _ in lines:  # ends when the stream is ended
                    pass
                wait_until(lambda: told(desk).get("Table 1") == "applied", "the desk is not told that it is revoked")
        assert get(f"{rig.service.address}api/devices", headers=headers).status_code == 401
        assert redeem(rig, text).json()["detail"].startswith("The desk has revoked this grant")
    assert changes(one) == [
        ("paired", "Ann", "operator", "the desk's grant", ""),
        ("revoked", "Ann", "operator", "the desk", ""),
        ("refused", "Ann", "operator", "", "The desk has revoked this grant. Ask the director for a new one."),
    ]
    assert [change[:3] for change in changes(tmp_path / "Table 2")] == [
        ("refused", "Ann", "operator"),
        ("refused", "an unknown device", ""),
    ]


def told(desk: DeskServer) -> dict[str, str]:
    return {row["table"]: row["status"] for row in get(f"{desk.url}/api/grants").json()["tables"]}


def test_the_same_grant_redeemed_again_is_one_phone(tmp_path: Path, brokering: BrokerServer) -> None:
    with desk_over(tmp_path / "desk", brokering) as desk, table(tmp_path / "Table 1", brokering, NewGame()) as rig:
        wait_until(lambda: told(desk) == {"Table 1": "applied"}, "the table is not told")
        made = post(f"{desk.url}/api/grants", json={"name": "Ann", "role": "referee"}).json()
        text = made["url"].split("#")[1]
        first, second = (redeem(rig, text).json() for _ in range(2))
        devices = f"{rig.service.address}api/session"
        roles = [
            get(devices, headers={"Authorization": f"Bearer {session['token']}"}).json()["role"]
            for session in (first, second)
        ]
        assert roles == [None, "referee"]
        unknown = post(f"{desk.url}/api/grants", json={"name": "B", "role": "viewer", "tables": ["Table 9"]})
        assert (unknown.status_code, "No table is called 'Table 9'" in unknown.json()["detail"]) == (409, True)


def test_a_phone_scans_once_and_taps_from_table_to_table(tmp_path: Path, brokering: BrokerServer) -> None:
    strict = {"service.trust_local": False}
    with (
        desk_over(tmp_path / "desk", brokering, AccessPolicy(trust_local=False)) as desk,
        table(tmp_path / "Table 1", brokering, NewGame(), **strict) as one,
        table(tmp_path / "Table 2", brokering, NewGame(), **strict) as two,
        browser() as chrome,
        page_in(chrome) as director,
        page_in(chrome, phone=True) as phone,
    ):
        director.goto(f"{desk.url}/pair#{desk.token_store.make_code('admin').code}")
        director.wait_for_url("**/event")  # paired: leaving the page before would give the request up
        director.goto(desk.url)
        expect(director.locator("#tables h3")).to_have_text(["Table 1", "Table 2"])
        director.locator("#grant-name").fill("Ann")
        director.get_by_role("button", name="Make its code").click()
        expect(director.locator("#grant-code img")).to_be_visible()
        expect(director.locator("#granted-state")).to_have_text("Every table knows who may do what.")
        (issued,) = desk.parts.grants.issued
        phone.goto(f"{desk.url}/pair#{desk.parts.grants.text_of(issued.grant.id)}")
        expect(phone.locator("#who")).to_have_text("Ann operates at all tables.")
        for name, rig in (("Table 1", one), ("Table 2", two), ("Table 1", one)):
            phone.get_by_role("link", name=f"Open {name}").tap()
            phone.wait_for_url(f"{rig.service.address}panel")
            expect(phone.locator("html")).to_have_attribute("data-link", "live")
            expect(phone.locator("#pairing")).to_be_hidden()
            phone.goto(f"{desk.url}/mine")
        phone.goto(f"{one.service.address}panel")
        expect(phone.locator("html")).to_have_attribute("data-link", "live")
        director.once("dialog", lambda dialog: dialog.accept())
        director.get_by_role("button", name="Revoke").click()
        expect(director.locator("#granted li")).to_have_count(0)
        expect(phone.locator("html")).not_to_have_attribute("data-link", "live")
        phone.reload()
        expect(phone.locator("#pairing")).to_contain_text("This device is not paired yet.")
