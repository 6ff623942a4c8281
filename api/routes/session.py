"""Signing in: pairing codes for phones, the session of the caller, the paired devices."""

from __future__ import annotations

import io
import re
import socket
import time
from typing import Annotated, Final

import segno
from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import Field

from downfield.api.problems import ProblemError
from downfield.api.security.authentication import COOKIE
from downfield.api.security.middleware import AccessPolicy
from downfield.api.security.principal import PrincipalDep
from downfield.api.security.roles import Role, allow
from downfield.api.security.tokens import PAIRED_NS, TokenStore, role_of
from downfield.game.commands import Name, RequestModel
from downfield.game.published.game_topics import TopicModel

_BROWSERS: Final = re.compile(r"(iPhone|iPad|Android|Windows|Macintosh|CrOS|Linux)")

router = APIRouter(prefix="/api", tags=["access"])


def _token_store(request: Request) -> TokenStore:
    token_store: TokenStore = request.app.state.token_store
    return token_store


TokenStoreDep = Annotated[TokenStore, Depends(_token_store)]
PairingId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]


class PairingAsked(RequestModel):
    """A code is wanted."""

    role: Role = Field(default="operator", description="What the device will be.")


class PairingRead(TopicModel):
    """A code that waits."""

    id: str
    role: Role
    code: str = Field(description="To type in by hand.")
    url: str = Field(description="To open on the phone; the code is behind the #, so that no log has it.")
    expires_s: float


class CodeGiven(RequestModel):
    """A code is redeemed."""

    code: Annotated[str, Field(min_length=1, max_length=40, examples=["7K3MP-Q9XWB"])]
    name: Name | None = Field(default=None, description="What to call the device.")


class SessionRead(TopicModel):
    """Who the caller is."""

    role: Role | None
    name: str
    device: str = ""
    local: bool = False
    token: str | None = Field(default=None, description="Once, when a code was redeemed: for programs and OBS.")


class DeviceRead(TopicModel):
    """A paired device."""

    id: str
    name: str
    role: str
    paired_ms: int
    expires_ms: int


@router.get("/session", summary="Who you are")
@allow("anyone")
def session(caller: PrincipalDep) -> SessionRead:
    """Your role, and the name you go by in the game's record."""
    return SessionRead(role=caller.role, name=caller.name, device=caller.device, local=caller.local)


@router.post("/session", summary="Redeem a pairing code")
@allow("anyone")
def sign_in(request: Request, response: Response, token_store: TokenStoreDep, asked: CodeGiven) -> SessionRead:
    """Pairs the device: sets the cookie, and gives the token once. A code is good once."""
    found = token_store.redeem(asked.code, asked.name or _named(request))
    if found is None:
        raise ProblemError(401, "that code is not known, or was used, or is too old: ask for another")
    token, device = found
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, token, int(PAIRED_NS / 1e9), httponly=True, samesite="strict", secure=secure)
    return SessionRead(role=role_of(device), name=device.name, device=device.id, token=token)


@router.delete("/session", summary="Sign out", status_code=204)
@allow("viewer")
def sign_out(caller: PrincipalDep, token_store: TokenStoreDep) -> Response:
    """The device's token counts no more."""
    if caller.device:
        token_store.revoke(caller.device)
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE)
    return answer


@router.post("/pairings", summary="Make a pairing code", status_code=201)
@allow("admin")
def pair(request: Request, token_store: TokenStoreDep, asked: PairingAsked) -> PairingRead:
    """Good once and for three minutes."""
    access: AccessPolicy = request.app.state.access
    if not access.lan:
        raise ProblemError(409, "the service is open to this computer alone: start it with --lan", "not_here")
    made = token_store.pair(asked.role)
    url = f"{base_url(request)}/pair#{made.code}"
    shown = f"{made.code[:5]}-{made.code[5:]}"
    left_s = round(made.until - time.monotonic(), 1)
    return PairingRead(id=made.id, role=made.role, code=shown, url=url, expires_s=left_s)


@router.get(
    "/pairings/{pairing}/qr.svg",
    summary="A pairing code for a phone's camera",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}},
)
@allow("admin")
def pairing_picture(request: Request, token_store: TokenStoreDep, pairing: PairingId) -> Response:
    """Holds the address with the code."""
    made = token_store.pairing(pairing)
    if made is None:
        raise ProblemError(404, "that code was used, or is too old: make another")
    return Response(qr_svg(f"{base_url(request)}/pair#{made.code}"), media_type="image/svg+xml")


@router.get("/devices", summary="Paired devices")
@allow("admin")
def devices(token_store: TokenStoreDep) -> list[DeviceRead]:
    """In the order they were paired."""
    return [
        DeviceRead(
            id=one.id,
            name=one.name,
            role=one.role,
            paired_ms=one.paired_ns // 1_000_000,
            expires_ms=one.expires_ns // 1_000_000,
        )
        for one in token_store.devices()
    ]


@router.delete("/devices/{device}", summary="Revoke a device", status_code=204)
@allow("admin")
def revoke(token_store: TokenStoreDep, device: Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")]) -> Response:
    """Its token counts no more, from the next request on."""
    if not token_store.revoke(device):
        raise ProblemError(404, "no device of that id is paired")
    return Response(status_code=204)


def qr_svg(text: str) -> bytes:
    """A QR code as SVG, black on white so that it can be read in bad light and on any page."""
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(out, kind="svg", scale=8, border=4, light="#ffffff", xmldecl=False)
    return out.getvalue()


def base_url(request: Request) -> str:
    """The address under which a phone on the network reaches this service."""
    host, port = request.url.hostname or "", request.url.port
    if host in {"localhost", "127.0.0.1", "::1"}:
        host = lan_address() or host
    host = f"[{host}]" if ":" in host else host
    return f"{request.url.scheme}://{host}" + (f":{port}" if port else "")


def lan_address() -> str | None:
    """The address of this computer on its network, as it would send from; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address: nothing is sent
        except OSError:
            return None
        address: str = probe.getsockname()[0]
        return address


def _named(request: Request) -> str:
    found = _BROWSERS.search(request.headers.get("user-agent", ""))
    return found[1] if found else "a device"
