"""Pairing: a code pairs one phone once, and it stays paired until it is revoked or signs out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from asgi_client import AsgiClient
from secured_service import MANY, PHONE, RIG, SecuredService

from downfield.api.context.access_control import access_control_of
from downfield.api.security import tokens
from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits, Role
from downfield.api.security.tokens import CODE_LETTERS, TokenStore
from downfield.store.writing.store import Store


@pytest.fixture
def lan(tmp_path: Path) -> Iterator[SecuredService]:
    made = SecuredService(tmp_path / "a.db", AccessPolicy(lan=True, limits=MANY))
    yield made
    made.game_service.close()
    made.store.close()


def test_a_code_pairs_one_phone_once(lan: SecuredService) -> None:
    made = lan.phone("admin").post("/api/pairings", {"role": "operator"}).json
    assert made["url"].endswith("/pair#" + made["code"].replace("-", ""))
    picture = lan.phone("admin").get(f"/api/pairings/{made['id']}/qr.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    phone = lan.phone()
    answer = phone.post("/api/session", {"code": made["code"].lower(), "name": "Sam's phone"})
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    token = answer.json["token"]
    assert phone.get("/api/session", cookie=f"downfield={token}").json["role"] == "operator"
    assert replace(phone, token=token).get("/api/session").json["name"] == "Sam's phone"
    assert phone.post("/api/session", {"code": made["code"]}).status == 401
    assert lan.phone("admin").get(f"/api/pairings/{made['id']}/qr.svg").status == 404


def test_a_revoked_device_is_refused_at_once_and_after_a_restart(lan: SecuredService) -> None:
    phone = lan.phone("operator")
    device = next(listed for listed in lan.phone("admin").get("/api/devices").json if listed["role"] == "operator")
    assert lan.phone("admin").request("DELETE", f"/api/devices/{device['id']}").status == 204
    assert phone.get("/api/game").status == 401
    assert TokenStore(lan.store).find_device(phone.token) is None


def test_devices_stay_paired_after_a_restart_and_tokens_are_not_stored(lan: SecuredService) -> None:
    phone = lan.phone("operator")
    again = TokenStore(lan.store).find_device(phone.token)
    assert again is not None
    assert again.role == "operator"
    assert phone.token not in str(lan.store.devices())


def test_signing_out_ends_the_token(lan: SecuredService) -> None:
    phone = lan.phone("viewer")
    assert phone.request("DELETE", "/api/session").status == 204
    assert phone.get("/api/game").status == 401


def test_a_code_expires(lan: SecuredService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "PAIRING_LIMITS", replace(tokens.PAIRING_LIMITS, code_valid_s=-1.0))
    assert lan.token_store.redeem(lan.token_store.make_code("admin").code, "late") is None


DAY_NS = 86_400 * 10**9


def test_a_clock_that_is_ahead_of_all_games_ends_no_pairing_before_a_day(tmp_path: Path) -> None:
    store, begun_ns = Store.at(tmp_path / "a.db"), 1_800_000_000 * 10**9
    usual = tokens.TokenStore(store, now_ns=lambda: begun_ns)
    paired = usual.redeem(usual.make_code("operator").code, "phone")
    assert paired is not None
    for days in (-60 * 365, -400, -30, 30, 400, 730):
        shown_ns = begun_ns + days * DAY_NS
        started = tokens.TokenStore(store, now_ns=lambda at=shown_ns: at, wall_ns=lambda at=shown_ns: at)  # type: ignore[misc]
        started.redeem(started.make_code("viewer").code, f"another {days}")
        assert started.find_device(paired[0]) is not None, days
    store.close()


def test_a_device_stays_paired_when_the_clock_of_the_computer_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "PAIRING_LIMITS", replace(tokens.PAIRING_LIMITS, confirmed_after_ns=2**62))
    store, day_ns, set_ns = Store.at(tmp_path / "a.db"), DAY_NS, 1_800_000_000 * 10**9
    unset = tokens.TokenStore(store, now_ns=lambda: 5)
    paired = unset.redeem(unset.make_code("operator").code, "phone")
    assert paired is not None
    token, _ = paired
    now_ns = itertools.chain([set_ns] * 2, [set_ns + 89 * day_ns] * 2, itertools.repeat(set_ns + 91 * day_ns))
    found = [
        tokens.TokenStore(store, now_ns=now_ns.__next__, wall_ns=lambda: 2**62).find_device(token) is not None
        for _ in range(3)
    ]
    assert found == [True, True, False]
    store.close()


def test_a_device_is_known_again_once_a_clock_that_was_ahead_is_put_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "PAIRING_LIMITS", replace(tokens.PAIRING_LIMITS, confirmed_after_ns=2**62))
    store, day_ns, wall_ns = Store.at(tmp_path / "a.db"), 86_400 * 10**9, [1_800_000_000 * 10**9]
    usual = tokens.TokenStore(store, now_ns=lambda: wall_ns[0])
    paired = usual.redeem(usual.make_code("operator").code, "phone")
    assert paired is not None
    begun_ns = wall_ns[0] + 4000 * day_ns
    started = tokens.TokenStore(store, now_ns=lambda: begun_ns, wall_ns=lambda: wall_ns[0])
    assert started.find_device(paired[0]) is not None, "the clock was put right while the rig ran"
    started.redeem(started.make_code("viewer").code, "another")
    assert started.find_device(paired[0]) is not None, "it was taken for expired when another was paired"
    wall_ns[0] = begun_ns
    assert started.find_device(paired[0]) is None
    store.close()


def test_codes_are_long_unique_and_limited_in_number(lan: SecuredService) -> None:
    admin = lan.phone("admin")
    codes = {lan.token_store.make_code("viewer").code for _ in range(20)}
    assert len(codes) == 20
    assert all(len(code) == 10 and set(code) <= set(CODE_LETTERS) for code in codes)
    assert admin.post("/api/pairings", {"role": "viewer"}).status == 409


def test_guessing_codes_is_rate_limited(tmp_path: Path) -> None:
    service = SecuredService(tmp_path / "a.db", AccessPolicy(lan=True, limits=RateLimits(sign_ins=RateLimit(0.001, 5))))
    client = AsgiClient(service.app, PHONE, RIG)
    tries = [client.post("/api/session", {"code": f"AAAAAAAA{n:02d}"}) for n in range(8)]
    assert [answer.status for answer in tries] == [401] * 5 + [429] * 3
    assert int(tries[-1].headers["retry-after"]) >= 1
    for n in range(60):
        AsgiClient(service.app, f"10.0.{n % 20}.7", RIG).post("/api/session", {"code": "A"})
    code = service.token_store.make_code("operator").code
    newcomer = AsgiClient(service.app, "192.168.1.99", RIG)
    assert newcomer.post("/api/session", {"code": code}).status == 200, "others' guesses cost nobody his turn"
    service.game_service.close()
    service.store.close()


def test_the_admin_gives_obs_an_address_with_a_key_that_can_only_watch(lan: SecuredService) -> None:
    made = lan.phone("admin").post("/api/devices", {"name": "OBS"})
    assert made.status == 201
    assert made.headers.get("set-cookie") is None  # the admin's browser stays the admin's
    assert made.json["url"].startswith("http://")
    assert made.json["url"].endswith("/")
    stranger, key = lan.phone(), made.json["token"]
    assert stranger.get("/api/state").status == 401
    assert stranger.get(f"/api/state?key={key}").status == 200
    assert stranger.post(f"/api/declarations?key={key}", {"declaration": {"type": "set"}}).status in {401, 403}
    listed = lan.phone("admin").get("/api/devices").json
    assert [(one["id"], one["name"], one["role"]) for one in listed if one["role"] == "viewer"] == [
        (made.json["id"], "OBS", "viewer")
    ]
    assert lan.phone("admin").request("DELETE", f"/api/devices/{made.json['id']}").status == 204
    assert stranger.get(f"/api/state?key={key}").status == 401


@pytest.mark.parametrize("role", ["operator", "producer", "viewer", None])
def test_only_the_admin_gives_such_addresses(lan: SecuredService, role: Role | None) -> None:
    phone = lan.phone(role) if role else lan.phone()
    assert phone.post("/api/devices", {}).status in {401, 403}


def test_programs_that_watch_get_the_address_without_tls(tmp_path: Path) -> None:
    policy = AccessPolicy(lan=True, limits=MANY, tls_port=8318, plain_port=8317)
    made = SecuredService(tmp_path / "a.db", policy)
    try:
        here = AsgiClient(made.app, "127.0.0.1", "127.0.0.1:8317")
        url = here.post("/api/devices", {}).json["url"]
        assert url.startswith("http://")
        assert url.endswith(":8317/")
        buttons = here.post("/api/devices", {"role": "producer"}).json  # which change something
        assert buttons["url"].startswith("https://")
        assert buttons["url"].endswith(":8318/")
        assert here.post(f"/api/devices/{buttons['id']}/token").json["url"] == buttons["url"]
        assert ":8318/pair#" in here.post("/api/pairings", {"role": "viewer"}).json["url"]
    finally:
        made.game_service.close()
        made.store.close()


def test_on_one_computer_alone_buttons_get_a_token_that_changes_only_what_is_on_air(tmp_path: Path) -> None:
    made = SecuredService(tmp_path / "a.db", AccessPolicy(limits=MANY))
    try:
        here = AsgiClient(made.app, "127.0.0.1", "127.0.0.1:8317")
        assert here.post("/api/devices", {}).status == 409  # who watches here needs none
        buttons = replace(here, token=here.post("/api/devices", {"role": "producer"}).json["token"])
        assert buttons.get("/api/session").json["role"] == "producer"
        assert buttons.post("/api/graphic", {"kind": "message", "title": "Welcome"}).status == 200
        assert buttons.request("DELETE", "/api/graphic").status == 200
        assert buttons.post("/api/declarations", {"declaration": {"type": "set"}}).status == 403
        assert buttons.get("/api/devices").status == 403
    finally:
        made.game_service.close()
        made.store.close()


def test_no_code_leads_past_the_proxy_that_alone_is_reachable(tmp_path: Path) -> None:
    policy = AccessPolicy(proxies=("127.0.0.1",), limits=MANY)
    made = SecuredService(tmp_path / "a.db", policy)
    try:
        past = AsgiClient(made.app, token=access_control_of(made.app).admin_key.session())
        none = past.get("/api/addresses").json
        assert (none["urls"], "by the proxy's address" in none["note"]) == ([], True)
        for refused in (past.post("/api/pairings", {}), past.post("/api/devices", {})):
            assert refused.status == 409
            assert "by the proxy's address" in refused.json["detail"]
        through = {"x_forwarded_for": "10.0.0.9", "x_forwarded_proto": "https", "x_forwarded_host": "10.0.0.2:9443"}
        assert past.get("/api/addresses", **through).json["urls"] == ["https://10.0.0.2:9443/"]
        assert past.post("/api/pairings", {}, **through).json["url"].startswith("https://10.0.0.2:9443/pair#")
    finally:
        made.game_service.close()
        made.store.close()


def test_no_device_is_called_as_another_or_as_what_the_record_calls_others(
    lan: SecuredService, caplog: pytest.LogCaptureFixture
) -> None:
    given = ["this computer", "The  Admin", "Sam", "sam ", "ＳＡＭ", "Ann", "x" * 60, "x" * 60]
    names = []
    for name in given:
        code = lan.token_store.make_code("operator").code
        answer = lan.phone().post("/api/session", {"code": code, "name": name})
        assert answer.status == 200, name
        names.append(answer.json["name"])
    assert [name[:50] + name[-4:] for name in names[:2]] == ["this computer (2) (2)", "The  Admin (2) (2)"]
    assert names[2] == "Sam"
    assert len({name.casefold() for name in names}) == len(names)
    assert names[5] == "Ann"
    assert all(len(name) <= 60 for name in names)
    assert lan.phone().post("/api/session", {"code": "ABCDE23456"}).status == 401
    assert "wrong pairing code" in caplog.text
    assert "ABCDE" not in caplog.text


PLAYER = {"id": "dark-1", "jersey": "dark", "number": "1"}


@pytest.mark.parametrize("part", ["id", "number", "role"])
def test_half_a_character_in_a_player_of_a_team_is_refused_as_that(lan: SecuredService, part: str) -> None:
    team = {"name": "River", "short": "RIV", "players": [PLAYER]}
    assert lan.phone("admin").request("PUT", "/api/teams/river", team, content_type="application/json").status < 300
    broken = {**team, "players": [{**PLAYER, part: "\ud800"}]}
    answer = lan.phone("admin").request("PUT", "/api/teams/river", broken, content_type="application/json")
    assert answer.status == 422
    assert "half of a surrogate pair" in answer.body.decode()
