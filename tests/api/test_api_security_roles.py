"""Roles, pairing and request checks: every route is closed to those it is not opened to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asgi_client import AsgiClient
from fastapi.routing import APIRoute, APIWebSocketRoute
from secured_service import MANY, PHONE, RIG, SecuredService

from downfield.api.app import ROUTERS
from downfield.api.routes.pages import PAGES
from downfield.api.security.access import RANK, AccessPolicy, RateLimit, RateLimiter, RateLimits, Role, required_role

OPEN_TO: dict[str, set[tuple[str, str]]] = {
    "anyone": {
        *(("GET", page.path) for page in PAGES),
        ("GET", "/about"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("GET", "/api/session"),
        ("POST", "/api/session"),
        ("GET", "/panel-worker.js"),
        ("GET", "/overlay/{name}"),
        ("GET", "/api/overlays"),  # what those pages show of themselves; the page that pairs a device offers them
        ("GET", "/user.css"),
        ("GET", "/assets/{file}"),
        ("GET", "/assets/{package}/{file}"),
        ("GET", "/logos/{logo}.png"),
        ("GET", "/schemas"),
        ("GET", "/schemas/{name:path}"),
        ("GET", "/asyncapi.json"),
    },
    "producer": {
        ("GET", "/api/webhooks"),  # who puts the game on air sees to what other programs are sent
        ("POST", "/api/webhooks/{delivery}/again"),
        ("POST", "/api/graphic"),
        ("POST", "/api/logos"),
        ("DELETE", "/api/graphic"),
        ("POST", "/api/replay"),
        ("DELETE", "/api/replay"),
        ("PATCH", "/api/replay"),
        ("PUT", "/api/program"),
        ("PUT", "/api/sponsors"),
        ("POST", "/api/on-air"),
        ("POST", "/api/on-air/elements/{element}"),
        ("POST", "/api/on-air/presets/{name}"),
    },
    "operator": {
        ("GET", "/api/games/{game}/shadow.html"),
        ("GET", "/api/games/{game}/bundle.zip"),
        ("GET", "/api/games/{game}/calls/{call}/signed.zip"),
        ("POST", "/api/calls"),
        ("POST", "/api/calls/{call}/rulings"),
        ("POST", "/api/declarations"),
        ("GET", "/api/events/{event}/undo"),
        ("POST", "/api/events/{event}/undo"),
        ("POST", "/api/card-photo"),
        ("POST", "/api/commands"),
        ("POST", "/api/games"),
        ("POST", "/api/games/{game}/challenges"),
        ("POST", "/api/games/{game}/challenges/{challenge}/ruling"),
        ("POST", "/api/games/{game}/challenges/{challenge}/opinions"),
        ("POST", "/api/games/{game}/challenges/{challenge}/appeal"),
        ("POST", "/api/games/{game}/signatures"),
        ("POST", "/api/games/{game}/what-if"),
        ("POST", "/api/games/{game}/reopening"),
        ("POST", "/api/games/{game}/closing"),
        ("POST", "/api/games/{game}/calls/{call}/rulings"),
        ("POST", "/api/games/{game}/events/{event}/undo"),
        ("PUT", "/api/teams/{team}"),
        ("PUT", "/api/policies/{kind}"),
        ("DELETE", "/api/teams/{team}"),
    },
    "admin": {
        ("PUT", "/api/calibration"),
        ("GET", "/api/configuration"),
        ("GET", "/api/setup"),
        ("POST", "/api/setup/camera"),
        ("GET", "/api/setup/picture.jpg"),
        ("GET", "/api/setup/lines.svg"),
        ("GET", "/api/setup/readings/{reading}.jpg"),
        ("POST", "/api/setup/solve"),
        ("POST", "/api/setup/measure"),
        ("POST", "/api/setup/aim"),
        ("POST", "/api/setup/reading"),
        ("POST", "/api/setup/control"),
        ("POST", "/api/setup/save"),
        ("POST", "/api/setup/tables/use"),
        ("POST", "/api/setup/tables/rename"),
        ("POST", "/api/setup/tables/remove"),
        ("POST", "/api/pairings"),
        ("GET", "/api/pairings/{pairing}/qr.svg"),
        ("GET", "/api/addresses"),
        ("GET", "/api/devices"),
        ("POST", "/api/devices"),
        ("POST", "/api/devices/{device}/token"),
        ("DELETE", "/api/devices/{device}"),
        ("GET", "/api/phone"),
        ("POST", "/api/phone/pairing"),
        ("POST", "/api/phone/choose"),
    },
    "camera": {("POST", "/api/phone/whip"), ("DELETE", "/api/phone/whip/{session}"), ("POST", "/api/phone/state")},
}
"""Routes by role; a route that is not listed must be a GET for viewers."""


@pytest.fixture
def lan(tmp_path: Path) -> Iterator[SecuredService]:
    made = SecuredService(tmp_path / "a.db", AccessPolicy(lan=True, limits=MANY))
    yield made
    made.game_service.close()
    made.store.close()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[SecuredService]:
    made = SecuredService(tmp_path / "a.db", AccessPolicy(limits=MANY))
    yield made
    made.game_service.close()
    made.store.close()


def routes() -> Iterator[tuple[str, str, Any]]:
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute):
                for method in route.methods or ():
                    yield method, route.path, route.endpoint
            elif isinstance(route, APIWebSocketRoute):
                yield "WS", route.path, route.endpoint


ROUTES = [pytest.param(*route, id=f"{route[0]} {route[1]}") for route in routes()]


@pytest.mark.parametrize(("method", "path", "endpoint"), ROUTES)
def test_every_route_requires_the_intended_role(method: str, path: str, endpoint: Any) -> None:
    intended = next((role for role, listed in OPEN_TO.items() if (method, path) in listed), "viewer")
    assert required_role(endpoint) == intended
    if (method, path) == ("DELETE", "/api/session"):
        return
    assert intended != "viewer" or method in {"GET", "WS"}, "viewers change nothing"


def filled(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: {"game": "current", "team": "t"}.get(found[1], "0" * 12), path)


def test_a_role_that_is_too_low_is_refused_everywhere(lan: SecuredService) -> None:
    clients: dict[Role | None, AsgiClient] = {
        None: lan.phone(),
        "viewer": lan.phone("viewer"),
        "producer": lan.phone("producer"),
        "operator": lan.phone("operator"),
    }
    for method, path, endpoint in routes():
        required = required_role(endpoint)
        for role, client in clients.items():
            if RANK[role or "anyone"] >= RANK[required]:
                continue
            expected = 403 if method == "WS" or role is not None else 401
            if method == "WS":
                assert client.socket(path).status == expected, (path, role)
                continue
            for body in (None, b"{", b"\xff", b"[]"):  # the role comes first, whatever the body holds
                answer = client.request(method, filled(path), body, content_type="application/json")
                assert answer.status == expected, (method, path, role, body, answer.body)


def test_each_role_may_do_what_it_is_for(lan: SecuredService) -> None:
    assert lan.phone("viewer").get("/api/game").status == 200
    assert lan.phone("viewer").socket("/api/feed/ws").status == 101
    assert lan.phone("viewer").get("/api/feed").status == 200
    message = {"kind": "message", "title": "Welcome"}
    declaration = {"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 20}}
    for role in ("producer", "operator"):
        assert lan.phone(role).post("/api/graphic", message).status == 200
    assert lan.phone("producer").post("/api/declarations", declaration).status == 403
    assert lan.phone("operator").post("/api/declarations", declaration).status == 200
    assert lan.phone("admin").get("/api/devices").status == 200


def test_a_declaration_is_recorded_under_the_name_of_the_phone(lan: SecuredService) -> None:
    declaration = {"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 20}}
    lan.phone("operator").post("/api/declarations", declaration)
    assert lan.game_service.declarations()[-1].by == "operator's phone"


def test_an_operator_cannot_set_a_calibration_by_a_command(lan: SecuredService) -> None:
    command = {"command": "use_calibration", "calibration": {"bad": 1}}
    assert lan.phone("operator").post("/api/commands", command).status in {403, 422}


def test_a_route_without_a_role_is_for_the_admin() -> None:
    def forgotten() -> None:
        """No role is given."""

    assert required_role(forgotten) == "admin"


def test_a_key_in_the_address_can_only_read(lan: SecuredService) -> None:
    key, phone = lan.phone("viewer").token, lan.phone()
    assert phone.get(f"/api/game?key={key}").status == 200
    assert phone.socket(f"/api/feed/ws?key={key}").status == 101
    assert phone.get(f"/api/devices?key={key}").status == 403
    assert phone.post(f"/api/declarations?key={key}", {"declaration": {"type": "set"}}).status == 401


@pytest.mark.parametrize("role", ["producer", "operator", "admin"])
def test_the_token_of_whoever_may_change_something_is_no_key(lan: SecuredService, role: Role) -> None:
    key, phone = lan.phone(role).token, lan.phone()
    assert phone.get(f"/api/game?key={key}").status == 401
    assert phone.socket(f"/api/feed/ws?key={key}").status == 403


def test_this_computer_is_admin_but_a_proxied_request_is_not(lan: SecuredService) -> None:
    here = AsgiClient(lan.app)
    assert here.get("/api/session").json["role"] == "admin"
    assert here.get("/api/session", x_forwarded_for=PHONE).json["role"] is None
    assert AsgiClient(lan.app, "::1", "[::1]:8317").get("/api/session").json["role"] == "admin"
    assert AsgiClient(lan.app, "::ffff:127.0.0.1").get("/api/session").json["role"] == "admin"


def test_with_a_wrong_token_even_this_computer_has_no_role(lan: SecuredService) -> None:
    assert replace(AsgiClient(lan.app), token="no such").get("/api/session").json["role"] is None


def test_open_viewing_lets_unpaired_devices_only_watch(tmp_path: Path) -> None:
    service = SecuredService(tmp_path / "a.db", AccessPolicy(lan=True, open_viewing=True))
    phone = service.phone()
    assert phone.get("/api/game").status == 200
    assert phone.post("/api/declarations", {"declaration": {"type": "set"}}).status == 403
    service.game_service.close()
    service.store.close()


def test_without_lan_other_computers_are_refused_and_none_is_paired(local: SecuredService) -> None:
    assert AsgiClient(local.app, PHONE).get("/healthz").status == 403
    refused = AsgiClient(local.app).post("/api/pairings", {"role": "operator"})
    assert (refused.status, refused.json["code"]) == (409, "not_here")


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[", None])
def test_a_foreign_host_name_is_refused(local: SecuredService, host: str | None) -> None:
    client = AsgiClient(local.app, host=host)
    assert client.get("/api/game").status == 400
    assert client.get("/api/none").status == 400
    assert client.socket("/api/feed/ws").status == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8317", "127.0.0.1", "[::1]:8317", "127.9.9.9:1"])
def test_its_own_host_names_are_accepted(local: SecuredService, host: str) -> None:
    assert AsgiClient(local.app, host=host).get("/healthz").status == 200


def test_on_a_network_addresses_and_configured_names_are_accepted(tmp_path: Path) -> None:
    service = SecuredService(tmp_path / "a.db", AccessPolicy(lan=True, names=("table.club",)))
    for host, status in {RIG: 200, "table.club:8317": 200, "other.club": 400}.items():
        assert AsgiClient(service.app, PHONE, host).get("/healthz").status == status
    service.game_service.close()
    service.store.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://127.0.0.1:8317.evil.example"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_another_website_can_change_nothing_and_open_no_socket(local: SecuredService, headers: dict[str, str]) -> None:
    here = AsgiClient(local.app)
    declaration = {"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 20}}
    assert here.post("/api/declarations", declaration, **headers).status == 403
    assert here.request("DELETE", "/api/teams/t", **headers).status == 403
    assert here.socket("/api/feed/ws", **headers).status == 403
    assert "access-control-allow-origin" not in here.get("/api/game", **headers).headers


def test_the_services_own_pages_are_accepted(local: SecuredService) -> None:
    here = AsgiClient(local.app)
    own = {"origin": "http://127.0.0.1:8317", "sec_fetch_site": "same-origin"}
    declaration = {"declaration": {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 20}}
    assert here.post("/api/declarations", declaration, **own).status == 200
    assert here.socket("/api/feed/ws", **own).status == 101


def test_too_many_requests_of_one_client_are_refused_and_others_are_served(tmp_path: Path) -> None:
    service = SecuredService(tmp_path / "a.db", AccessPolicy(lan=True, limits=RateLimits(reads=RateLimit(0.001, 3))))
    statuses = [AsgiClient(service.app, PHONE, RIG).get("/healthz").status for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert AsgiClient(service.app, "192.168.1.21", RIG).get("/healthz").status == 200
    service.game_service.close()
    service.store.close()


def test_a_bucket_refills_and_old_buckets_are_dropped() -> None:
    now = [0.0]
    limiter = RateLimiter(RateLimit(2, 2), lambda: now[0])
    assert [limiter.acquire("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    now[0] = 0.5
    assert limiter.acquire("a") == 0.0
    for n in range(10_000):
        limiter.acquire(str(n))
    assert len(limiter._buckets) <= 4096


TRAVERSALS = ["/assets/../app.py", "/assets/..%2fapp.py", "/assets/%2e%2e/app.py", "/assets//etc/passwd"]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out_of_the_assets_folder(local: SecuredService, path: str) -> None:
    assert AsgiClient(local.app).get(path).status == 404


def test_a_body_with_a_wrong_length_is_refused(local: SecuredService) -> None:
    here = AsgiClient(local.app)
    assert here.post("/api/declarations", b"{}", content_length="99999999999999999999999").status == 413
    assert here.post("/api/declarations", b"{}", content_length="-1").status == 413
    assert here.post("/api/declarations", b"x" * 70_000, content_length="2").status == 413
