"""A phone as the camera over HTTP: a code pairs it as the camera and nothing else, and a second one is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from asgi_client import AsgiClient, ClientResponse
from phone_sender import PhoneSender, moving_pictures
from secured_service import MANY, SecuredService
from waiting import wait_until

from downfield.api.security.access import AccessPolicy
from downfield.capture.source import CaptureClock
from downfield.capture.sources import phone_link
from downfield.capture.sources.phone import PhoneCamera
from downfield.capture.sources.phone_link import PHONE_LINK
from downfield.core.errors import MissingExtraError

SIZE = (320, 180)
SDP = "application/sdp"


@pytest.fixture
def lan(tmp_path: Path) -> Iterator[SecuredService]:
    made = SecuredService(tmp_path / "a.db", AccessPolicy(lan=True, limits=MANY))
    yield made
    for device in made.token_store.devices():
        made.token_store.revoke(device.id)
    made.game_service.close()
    made.store.close()


@pytest.fixture
def sender() -> Iterator[PhoneSender]:
    made = PhoneSender(moving_pictures(SIZE))
    yield made
    made.close()


def paired(lan: SecuredService, name: str = "Ann's phone") -> AsgiClient:
    code = lan.token_store.make_code("camera").code
    answer = lan.phone().post("/api/session", {"code": code, "name": name})
    assert answer.json["role"] == "camera"
    assert lan.phone().post("/api/session", {"code": code}).status == 401, "a code pairs one phone"
    return replace(lan.phone(), token=answer.json["token"])


def send(client: AsgiClient, sender: PhoneSender) -> ClientResponse:
    answers: list[ClientResponse] = []

    def answer(offer: str) -> str:
        answers.append(client.request("POST", "/api/phone/whip", offer.encode(), content_type=SDP))
        return answers[-1].body.decode()

    sender.connect(answer)
    return answers[0]


def test_a_paired_phone_sends_its_pictures_and_leaves(lan: SecuredService, sender: PhoneSender) -> None:
    client = paired(lan)
    answer = send(client, sender)
    assert (answer.status, answer.headers["content-type"]) == (201, SDP)
    camera = PhoneCamera(CaptureClock(), SIZE)
    assert (camera.facts.name, next(camera.frames()).decode().image.shape) == ("Ann's phone", (180, 320, 3))
    camera.close()
    assert client.post("/api/phone/state", {"battery": 0.1}).json["sending"]
    shown = lan.phone("admin").get("/api/phone").json
    assert (shown["camera"]["name"], shown["sending"], shown["asking"]) == ("Ann's phone", True, None)
    assert shown["problems"][0]["text"] == "The phone's battery is at 10%"
    place = answer.headers["location"]
    assert client.request("DELETE", place).status == 200
    assert client.request("DELETE", place).status == 404
    assert not lan.phone("admin").get("/api/phone").json["sending"]
    assert not client.post("/api/phone/state", {}).json["sending"]


def test_the_camera_can_watch_nothing_and_decide_nothing(lan: SecuredService) -> None:
    client = paired(lan)
    for path in ("/api/game", "/api/state", "/camera.mjpeg", "/camera.jpg", "/api/setup", "/api/phone", "/api/devices"):
        assert client.get(path).status == 403, path
    for path in ("/api/declarations", "/api/commands", "/api/pairings", "/api/phone/choose", "/api/phone/pairing"):
        assert client.post(path, {}).status == 403, path


@pytest.mark.parametrize("role", [None, "viewer", "operator", "referee", "admin"])
def test_nobody_else_sends_pictures(lan: SecuredService, role: str | None) -> None:
    client = lan.phone(role)  # type: ignore[arg-type]
    answer = client.request("POST", "/api/phone/whip", b"v=0", content_type=SDP)
    assert answer.status == (401 if role is None else 403)
    assert answer.headers["content-type"] == "application/problem+json"
    assert client.post("/api/phone/state", {}).status == answer.status
    assert PHONE_LINK.session is None


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"v=0\r\n" + b"a" * 70_000, SDP, 413),
        (b"hello", SDP, 400),
        (b"v=0\r\nnonsense", SDP, 406),
        (b"v=0", "text/plain", 415),
        (b"\xff\xfe", SDP, 400),
        (b"", SDP, 400),
    ],
)
def test_what_is_no_offer_is_a_problem(lan: SecuredService, body: bytes, kind: str, status: int) -> None:
    answer = paired(lan).request("POST", "/api/phone/whip", body, content_type=kind)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json["detail"]


def test_a_second_phone_is_asked_about(lan: SecuredService, sender: PhoneSender) -> None:
    first = paired(lan)
    send(first, sender)
    second, admin = paired(lan, "Bo's phone"), lan.phone("admin")
    refused = second.request("POST", "/api/phone/whip", b"v=0", content_type=SDP)
    assert (refused.status, refused.json["code"]) == (409, "another_phone")
    assert "'Ann's phone', is the camera" in refused.json["detail"]
    asking = admin.get("/api/phone").json["asking"]
    assert asking["name"] == "Bo's phone"
    assert admin.post("/api/phone/choose", {"device": asking["id"]}).json["camera"]["name"] == "Bo's phone"
    assert PHONE_LINK.session is None, "the first one is ended at once"
    assert first.post("/api/phone/state", {}).status == 401
    again = PhoneSender(moving_pictures(SIZE))
    assert send(second, again).status == 201
    again.close()
    assert admin.post("/api/phone/choose", {"device": "0" * 12}).status == 404


def test_the_admin_removes_the_phone(lan: SecuredService, sender: PhoneSender) -> None:
    client, admin = paired(lan), lan.phone("admin")
    send(client, sender)
    device = admin.get("/api/phone").json["camera"]["id"]
    assert admin.request("DELETE", f"/api/devices/{device}").status == 204
    wait_until(lambda: PHONE_LINK.session is None, "it still sends")
    assert client.request("POST", "/api/phone/whip", b"v=0", content_type=SDP).status == 401
    assert admin.get("/api/phone").json["camera"] is None


def test_a_code_leads_to_the_camera_page_and_needs_a_secure_one(lan: SecuredService, tmp_path: Path) -> None:
    refused = lan.phone("admin").post("/api/phone/pairing")
    assert (refused.status, "a secure page" in refused.json["detail"]) == (409, True)
    service = SecuredService(tmp_path / "b.db", AccessPolicy(lan=True, limits=MANY, tls_port=8318, plain_port=8317))
    here = AsgiClient(service.app)
    made = here.post("/api/phone/pairing").json
    assert ":8318/phone#" in made["url"]
    assert made["role"] == "camera"
    assert here.get(f"/api/pairings/{made['id']}/qr.svg").status == 200
    service.game_service.close()
    service.store.close()


def test_a_program_gets_a_token_to_send_by(lan: SecuredService, sender: PhoneSender) -> None:
    made = lan.phone("admin").post("/api/devices", {"name": "OBS", "role": "camera"}).json
    assert send(replace(lan.phone(), token=made["token"]), sender).status == 201


def test_without_the_extra_it_is_named(lan: SecuredService, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtraError("phone", "a phone as the camera")

    monkeypatch.setattr(phone_link, "require_receiver", missing)
    answer = paired(lan).request("POST", "/api/phone/whip", b"v=0", content_type=SDP)
    assert answer.json["detail"].startswith("A phone as the camera needs the extra 'phone'")


def test_the_phone_stays_paired_when_another_table_is_opened(
    lan: SecuredService, sender: PhoneSender, tmp_path: Path
) -> None:
    client = paired(lan)
    send(client, sender)
    service = SecuredService(tmp_path / "b.db", AccessPolicy(lan=True, limits=MANY))
    assert replace(client, app=service.app).post("/api/phone/state", {}).json["sending"]
    device = service.token_store.devices()[0].id
    service.token_store.revoke(device)
    assert PHONE_LINK.session is None
    assert PHONE_LINK.device is None
    service.game_service.close()
    service.store.close()
