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
from phones import Phone, encoded
from playwright.sync_api import expect
from tournament_tables import desk_over, table
from waiting import WAIT_S, wait_until

from downfield.api.security.access import AccessPolicy
from downfield.api.security.grants import PASS_PREFIX, GrantedAccess, TablePass, read_pass, write_pass
from downfield.core.errors import InputError, NotFoundError, RefusedError
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.game.records.commands import NewGame
from downfield.game.records.entries import DeviceChanged, unpack_entry
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
ANN = Phone()
PASS = TablePass(
    "0123456789ab", "Ann’s phone, Зал", "operator", "rig-3", "Table 3", ANN.holder, NOW_NS + 10**9, KEY.public_text
)


def access(rig: str = "rig-3", now_ns: int = NOW_NS, path: Path | None = None) -> GrantedAccess:
    taking = GrantedAccess(path, rig, "Table 9" if rig != "rig-3" else "Table 3", lambda: now_ns)
    taking.take(KEY.public_text, ())
    return taking


def proved(given: TablePass = PASS, key: RigKey = KEY, rig: str = "rig-3", phone: Phone = ANN) -> str:
    return phone.proved(write_pass(key, given), rig)


def altered(change: Callable[[dict[str, object]], object]) -> str:
    """Return the pass with other content under the old signature, and a proof for that."""
    content, signature = write_pass(KEY, PASS).removeprefix(PASS_PREFIX).split(".")
    fields = json.loads(base64.urlsafe_b64decode(content + "=="))
    change(fields)
    return ANN.proved(f"{PASS_PREFIX}{encoded(json.dumps(fields).encode())}.{signature}", "rig-3")


def test_a_pass_is_taken_at_its_rig_with_the_proof_of_its_phone() -> None:
    text = proved()
    assert read_pass(f" {text}\n")[0] == PASS
    admission = access().admit(text, "")
    assert (admission.id, admission.name, admission.role) == (PASS.id, PASS.name, "operator")


@pytest.mark.parametrize(
    ("taking", "text", "reason"),
    [
        (access(), altered(lambda fields: fields.update(role="admin")), "not whole, or was altered"),
        (access(), altered(lambda fields: fields.update(rig="rig-9")), "not whole, or was altered"),
        (access(), altered(lambda fields: fields.update(id="; DROP")), "not whole, or was altered"),
        (access(), f"{PASS_PREFIX}é.é.é.é", "not whole, or was altered"),
        (access(), PASS_PREFIX + "a" * 5000, "not whole, or was altered"),
        (access(), proved(key=RigKey.generate()), "not whole, or was altered"),
        (access(), write_pass(KEY, PASS), "belongs to another phone"),
        (access(), proved()[:-5], "belongs to another phone"),
        (access(), proved(phone=Phone()), "belongs to another phone"),
        (access(), proved(replace(PASS, holder="?")), "belongs to another phone"),
        (access("rig-9"), proved(), "is for Table 3; this table is called Table 9"),
        (access("rig-9"), proved(rig="rig-9"), "is for Table 3; this table is called Table 9"),
        (access(), proved(rig="rig-9"), "is for Table 3; this table is called Table 3"),
        (access(now_ns=NOW_NS + 2 * 10**9), proved(), "expired on"),
        (GrantedAccess(None, "rig-3", "Table 3"), proved(), "has not heard of its tournament's desk"),
        (access(), "dfi1.0123456789ab.secret", "is for the desk"),
    ],
)
def test_a_pass_that_is_altered_foreign_expired_without_proof_or_for_another_rig_is_refused_in_one_sentence(
    taking: GrantedAccess, text: str, reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason) as refused:
        taking.admit(text, "")
    assert len(str(refused.value)) < 200


def test_a_proof_counts_once_also_after_a_restart(tmp_path: Path) -> None:
    text = proved()
    access(path=tmp_path / "desks.json").admit(text, "")
    again = GrantedAccess(tmp_path / "desks.json", "rig-3", "Table 3", lambda: NOW_NS)
    with pytest.raises(RefusedError, match="used already"):
        again.admit(text, "")
    again.admit(proved(), "")


DAY_NS = 86_400 * 10**9


@pytest.mark.parametrize("days", [-60 * 365, -400, -14, -1, 0, 1, 400, 730])
def test_a_pass_ends_by_the_clock_of_its_desk_whatever_that_of_the_table_shows(tmp_path: Path, days: int) -> None:
    for desk_days in (-14, 0, 14):
        desk_ns, table_ns = NOW_NS + desk_days * DAY_NS, NOW_NS + days * DAY_NS
        good, over = replace(PASS, expires_ns=desk_ns + 10**12), replace(PASS, expires_ns=desk_ns - 10**9)
        path = tmp_path / f"{desk_days}.json"
        taking = access(now_ns=table_ns, path=path)
        taking.set_clock(KEY.public_text, desk_ns)
        admission = taking.admit(proved(good), "")
        assert 0 < admission.expires_ns - table_ns <= 10**12, "it ends by the table's own clock here"
        with pytest.raises(RefusedError, match="expired on"):
            taking.admit(proved(over), "")
        for ahead in (0, 400, 730):
            again = GrantedAccess(path, "rig-3", "Table 3", lambda at=table_ns + ahead * DAY_NS: at)  # type: ignore[misc]
            again.admit(proved(good), "")  # the desk is away, and the table was started again


def test_a_pass_of_a_desk_that_is_not_known_is_refused_and_what_was_revoked_stays_so(tmp_path: Path) -> None:
    taking = access(path=tmp_path / "desks.json")
    foreign = RigKey.generate()
    with pytest.raises(RefusedError, match="a desk that this table does not know"):
        taking.admit(proved(replace(PASS, key=foreign.public_text), foreign), "")
    revoked: list[str] = []
    taking.follow(revoked.append)
    taking.take(KEY.public_text, (PASS.id,))
    taking.take(KEY.public_text, ())  # an older copy of the desk's folder was put back
    assert revoked == [PASS.id]
    again = GrantedAccess(tmp_path / "desks.json", "rig-3", "Table 3", lambda: NOW_NS)
    with pytest.raises(RefusedError, match="has revoked this phone"):
        again.admit(proved(), "")
    again.follow(revoked.append)
    assert revoked == [PASS.id, PASS.id], "a service that starts later does not learn what was revoked"


def test_an_invitation_is_opened_once_and_only_at_the_desk(tmp_path: Path) -> None:
    keeper = GrantKeeper(tmp_path, lambda: NOW_NS)
    grant = keeper.issue("Dee", "Ann", "referee", (" Table  3", "Table 3"), 2)
    assert grant.tables == ("Table 3",)
    text = keeper.invitation(grant.id)
    assert text == keeper.invitation(grant.id)
    with pytest.raises(RefusedError, match="gave no key"):
        keeper.admit(text, "")
    assert keeper.pass_for(grant.id, "rig-3", "Table 3") is None
    assert keeper.admit(text, ANN.holder).role == "operator"
    with pytest.raises(RefusedError, match="was used, or is too old"):
        keeper.admit(text, Phone().holder)
    with pytest.raises(RefusedError, match="A phone has opened"):
        keeper.invitation(grant.id)
    given = keeper.pass_for(grant.id, "rig-3", "Table 3")
    assert given is not None
    with pytest.raises(RefusedError, match="for its table only"):
        keeper.admit(ANN.proved(given, "rig-3"), ANN.holder)
    assert keeper.pass_for(grant.id, "rig-4", "Table 4") is None
    taking = GrantedAccess(None, "rig-3", "Table 3", lambda: NOW_NS)
    taking.take(keeper.key.public_text, ())
    assert taking.admit(ANN.proved(given, "rig-3"), "").role == "referee"
    before = keeper.standing()[0]
    again = GrantKeeper(tmp_path, lambda: NOW_NS)
    again.revoke("Dee", grant.id)
    after = again.standing()[0]
    assert (after.id != before.id, after.payload) == (True, PushedAccess(grant.key, (grant.id,)))
    assert not again.is_in_force(grant.id)
    with pytest.raises(NotFoundError):
        again.revoke("Dee", grant.id)
    with pytest.raises(InputError, match="1 to 60 letters"):
        again.issue("Dee", " ", "viewer", (), 1)


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
            wait_until(lambda: told(desk) == {"Table 1": "applied", "Table 2": "applied"}, "the tables are not told")
            ann = Phone()
            assert ann.open(desk.url, granted.json()["url"].split("#")[1]).status_code == 200
            ((given, identity_of_rig),) = wait_until(lambda: ann.passes(desk.url), "no address is told").values()
        paired = redeem(rig, ann.proved(given, identity_of_rig))  # the desk is away
        assert (paired.status_code, paired.json()["role"], paired.json()["name"]) == (200, "operator", "Ann")
        headers = {"Authorization": f"Bearer {paired.json()['token']}"}
        declared = {"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 30}}
        sent = post(f"{rig.service.address}api/declarations", json=declared, headers=headers)
        assert sent.status_code == 200, sent.text
        refused = redeem(other, ann.proved(given, identity_of_rig))
        assert refused.status_code == 403
        assert refused.json()["detail"] == "This pass is for Table 1; this table is called Table 2."
        assert redeem(other, given).status_code == 403
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
        refused = redeem(rig, ann.proved(given, identity_of_rig))
        assert refused.json()["detail"].startswith("The desk has revoked this phone")
    assert changes(one) == [
        ("paired", "Ann", "operator", "the desk's grant", ""),
        ("revoked", "Ann", "operator", "the desk", ""),
        ("refused", "Ann", "operator", "", "The desk has revoked this phone. Ask the director for a new invitation."),
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
        ann = Phone()
        ann.open(desk.url, made["url"].split("#")[1])
        ((given, identity),) = wait_until(lambda: ann.passes(desk.url), "no address is told").values()
        first, second = (redeem(rig, ann.proved(given, identity)).json() for _ in range(2))
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
        phone.goto(f"{desk.url}/pair#{desk.parts.grants.invitation(issued.grant.id)}")
        expect(phone.locator("#who")).to_have_text("Ann operates at all tables.")
        for name, rig in (("Table 1", one), ("Table 2", two), ("Table 1", one)):
            phone.get_by_role("button", name=f"Open {name}").tap()
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
