"""Pairing: codes for phones, the session of a device, and the list of paired devices."""

from __future__ import annotations

import io
import re
import socket
import time
from typing import Annotated, Final

import segno
from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import Field

from downfield.api.dependencies import COOKIE, PrincipalDep
from downfield.api.problems import ProblemError
from downfield.api.security.middleware import AccessPolicy
from downfield.api.security.roles import Role, allow
from downfield.api.security.tokens import LIMITS, TokenStore, role_of
from downfield.game.commands import Name, RequestModel
from downfield.game.published.game_topics import TopicModel

_PLATFORM: Final = re.compile(r"(iPhone|iPad|Android|Windows|Macintosh|CrOS|Linux)")

router = APIRouter(prefix="/api", tags=["access"])


def _token_store(request: Request) -> TokenStore:
    token_store: TokenStore = request.app.state.token_store
    return token_store


TokenStoreDep = Annotated[TokenStore, Depends(_token_store)]
PairingId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]


class PairingRequest(RequestModel):
    """A request for a pairing code."""

    role: Role = Field(default="operator", description="Role of the device.")


class PairingDetails(TopicModel):
    """A pairing code that can be used."""

    id: str
    role: Role
    code: str = Field(description="To type in.")
    url: str = Field(description="To open on the phone; the code is behind the #, so that it is in no log.")
    expires_s: float = Field(description="Seconds until the code expires.")


class SignInRequest(RequestModel):
    """A pairing code to be redeemed."""

    code: Annotated[str, Field(min_length=1, max_length=40, examples=["7K3MP-Q9XWB"])]
    name: Name | None = Field(default=None, description="Name of the device.")


class SessionDetails(TopicModel):
    """The sender of the request."""

    role: Role | None = Field(description="Null for a device that is not paired.")
    name: str
    device: str = Field(default="", description="Id of the paired device.")
    local: bool = Field(default=False, description="Whether the request comes from this computer.")
    token: str | None = Field(default=None, description="For programs and OBS; sent once, when a code is redeemed.")


class DeviceDetails(TopicModel):
    """A paired device."""

    id: str
    name: str
    role: str
    paired_ms: int = Field(description="Ms since 1970.")
    expires_ms: int = Field(description="Ms since 1970.")


@router.get("/session", summary="Your role and name")
@allow("anyone")
def session(principal: PrincipalDep) -> SessionDetails:
    """The name is the one in the game's record."""
    return SessionDetails(role=principal.role, name=principal.name, device=principal.device, local=principal.local)


@router.post("/session", summary="Redeem a pairing code")
@allow("anyone")
def sign_in(
    request: Request, response: Response, token_store: TokenStoreDep, sign_in_request: SignInRequest
) -> SessionDetails:
    """Pairs the device: sets the cookie, and returns the token this once. A code can be used once."""
    redeemed = token_store.redeem(sign_in_request.code, sign_in_request.name or _platform(request))
    if redeemed is None:
        raise ProblemError(401, "This code is wrong, already used, or expired. Ask for a new one.")
    token, device = redeemed
    secure = request.url.scheme == "https"
    max_age_s = int(LIMITS.device_valid_ns / 1e9)
    response.set_cookie(COOKIE, token, max_age_s, httponly=True, samesite="strict", secure=secure)
    return SessionDetails(role=role_of(device), name=device.name, device=device.id, token=token)


@router.delete("/session", summary="Sign out", status_code=204)
@allow("viewer")
def sign_out(principal: PrincipalDep, token_store: TokenStoreDep) -> Response:
    """Makes the device's token invalid."""
    if principal.device:
        token_store.revoke(principal.device)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE)
    return response


@router.post("/pairings", summary="Make a pairing code", status_code=201)
@allow("admin")
def pair(request: Request, token_store: TokenStoreDep, pairing_request: PairingRequest) -> PairingDetails:
    """The code can be used once, within three minutes."""
    access: AccessPolicy = request.app.state.access
    if not access.lan:
        raise ProblemError(
            409,
            'Only this computer can use the service. Set service.host to "0.0.0.0" and start Downfield again.',
            "not_here",
        )
    code = token_store.make_code(pairing_request.role)
    url = f"{base_url(request)}/pair#{code.code}"
    shown = f"{code.code[:5]}-{code.code[5:]}"
    expires_s = round(code.expires_at - time.monotonic(), 1)
    return PairingDetails(id=code.id, role=code.role, code=shown, url=url, expires_s=expires_s)


@router.get(
    "/pairings/{pairing}/qr.svg",
    summary="A pairing code as a QR code",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}},
)
@allow("admin")
def pairing_picture(request: Request, token_store: TokenStoreDep, pairing: PairingId) -> Response:
    """Holds the address with the code, for a phone's camera."""
    code = token_store.find_code(pairing)
    if code is None:
        raise ProblemError(404, "This code was used or has expired. Make a new one.")
    return Response(qr_svg(f"{base_url(request)}/pair#{code.code}"), media_type="image/svg+xml")


@router.get("/devices", summary="Paired devices")
@allow("admin")
def devices(token_store: TokenStoreDep) -> list[DeviceDetails]:
    """In the order they were paired."""
    return [
        DeviceDetails(
            id=device.id,
            name=device.name,
            role=device.role,
            paired_ms=device.paired_ns // 1_000_000,
            expires_ms=device.expires_ns // 1_000_000,
        )
        for device in token_store.devices()
    ]


@router.delete("/devices/{device}", summary="Revoke a device", status_code=204)
@allow("admin")
def revoke(token_store: TokenStoreDep, device: Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")]) -> Response:
    """Its token is invalid from the next request on."""
    if not token_store.revoke(device):
        raise ProblemError(404, "No device with this id is paired. GET /api/devices lists them.")
    return Response(status_code=204)


def qr_svg(text: str) -> bytes:
    """Return a QR code as SVG, black on white so that it can be read in poor light and on any page."""
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(out, kind="svg", scale=8, border=4, light="#ffffff", xmldecl=False)
    return out.getvalue()


def base_url(request: Request) -> str:
    """Return the address under which a phone on the network reaches this service."""
    host, port = request.url.hostname or "", request.url.port
    if host in {"localhost", "127.0.0.1", "::1"}:
        host = lan_address() or host
    host = f"[{host}]" if ":" in host else host
    return f"{request.url.scheme}://{host}" + (f":{port}" if port else "")


def lan_address() -> str | None:
    """Return this computer's address on its network; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address: nothing is sent
        except OSError:
            return None
        address: str = probe.getsockname()[0]
        return address


def _platform(request: Request) -> str:
    found = _PLATFORM.search(request.headers.get("user-agent", ""))
    return found[1] if found else "a device"
