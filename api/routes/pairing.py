"""Pairing: codes for phones, the session of a device, the list of paired devices, and the addresses that they open."""

from __future__ import annotations

import logging
import re
import time
from typing import Annotated, Final, Literal

from fastapi import Depends, Path, Query, Request, Response
from pydantic import Field
from starlette.datastructures import URL

from downfield.api.context.access_control import (
    AccessControl,
    AccessControlDep,
    AuthorizedRouter,
    PrincipalDep,
    access_control_of,
    cookie_name,
)
from downfield.api.http.network_addresses import network_hosts, qr_svg
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import sends
from downfield.api.security.access import DeviceRole, Role
from downfield.api.security.forwarding import Origin, is_loopback
from downfield.api.security.grants import MAX_GRANT, GrantRefusedError, is_grant
from downfield.api.security.tokens import PAIRING_LIMITS, PairingCode, TokenStore, role_of
from downfield.core.errors import RefusedError
from downfield.core.records import made_of
from downfield.core.texts import plain_text
from downfield.game.records.commands import Name
from downfield.game.records.models import RequestModel, TopicModel

_log = logging.getLogger(__name__)
_PLATFORM: Final = re.compile(r"(iPhone|iPad|Android|Windows|Macintosh|CrOS|Linux)")

router = AuthorizedRouter(prefix="/api", tags=["access"])


def base_url(request: Request) -> str:
    """Return the address under which a phone on the network reaches this service, without a slash at its end."""
    return base_urls(request)[0]


def base_urls(request: Request) -> list[str]:
    """Return every such address, the most useful first.

    The host by which the page was opened comes first, unless it means this computer only. A proxy's other names are not
    known, so that behind one no more are guessed.
    """
    access = access_control_of(request.app).policy
    host, port, scheme = request.url.hostname or "", request.url.port, request.url.scheme
    host = f"[{host}]" if ":" in host else host
    here = is_loopback(host.strip("[]")) or host == "localhost"
    if here:
        hosts = network_hosts() or [host]
    elif _by_proxy(request):
        hosts = [host]
    else:
        hosts = [host, *(other for other in network_hosts() if other != host)]
    if access.tls_port is not None and scheme == "http":
        scheme, port = "https", access.tls_port
    prefix: str = request.scope.get("root_path", "")
    return [f"{scheme}://{each}" + (f":{port}" if port else "") + prefix for each in hosts]


def watch_url(request: Request) -> str:
    """Return the address under which programs on the network can watch, without a slash at its end.

    Where the rig has a certificate of its own, that is the one without TLS: OBS has no way to accept the certificate.
    """
    access = access_control_of(request.app).policy
    url = URL(base_url(request))
    if access.tls_port is not None and access.plain_port is not None and url.port == access.tls_port:
        url = url.replace(scheme="http", port=access.plain_port)
    return str(url)


def _program_url(request: Request, role: str) -> str:
    """Return the start page's address for a program; without TLS it could only watch."""
    return f"{watch_url(request) if role == 'viewer' else base_url(request)}/"


def refuse_unreachable(request: Request) -> None:
    """Raise ProblemError where other devices can't reach this service by the way that a request came."""
    access = access_control_of(request.app).policy
    if not access.reachable:
        raise ProblemError(
            409,
            "Only this computer can use the service. Stop Downfield and start it with 'downfield run --lan'.",
            "not_here",
        )
    if not (access.lan or _by_proxy(request)):
        raise ProblemError(
            409,
            "Other devices reach this computer through its proxy only. Open this page by the proxy's address.",
            "not_here",
        )


def _by_proxy(request: Request) -> bool:
    """Return whether a proxy passed a request on, and not a browser on the proxy's own computer."""
    origin: Origin = request.state.origin
    return origin.proxied and any(name in request.headers for name in ("x-forwarded-for", "forwarded"))


def _token_store(control: AccessControlDep) -> TokenStore:
    return control.token_store


TokenStoreDep = Annotated[TokenStore, Depends(_token_store)]
PairingId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]


class PairingRequest(RequestModel):
    """A request for a pairing code."""

    role: Role = Field(default="operator", description="Role of the device.")


class PairingDetails(TopicModel):
    """A pairing code that can be used."""

    id: str
    role: DeviceRole
    code: str = Field(description="To type in.")
    url: str = Field(description="To open on the phone; the code is behind the #, so that it is in no log.")
    expires_s: float = Field(description="Seconds until the code expires.")
    urls: list[str] = Field(description="`url` under every address of the service, for a phone in another network.")


class AddressDetails(TopicModel):
    """The addresses of the service for other devices."""

    urls: list[str] = Field(description="Of the start page, the most useful first; each ends with a slash.")
    note: str = Field(default="", description="Why there are none, and what to do.")


class SignInRequest(RequestModel):
    """A pairing code, or what the tournament's desk gave a phone, to be redeemed."""

    code: Annotated[str, Field(min_length=1, max_length=MAX_GRANT, examples=["7K3MP-Q9XWB"])]
    name: Name | None = Field(default=None, description="Name of the device.")
    holder: Annotated[str, Field(max_length=100)] = Field(
        default="", description="Public key of the phone, with an invitation of the desk."
    )


class SessionDetails(TopicModel):
    """The sender of the request."""

    role: DeviceRole | None = Field(description="Null for a device that is not paired.")
    name: str
    device: str = Field(default="", description="Id of the paired device.")
    local: bool = Field(default=False, description="Whether the request comes from this computer.")
    review: bool = Field(default=False, description="Whether there is no table here, only games to look at.")
    token: str | None = Field(default=None, description="For programs and OBS; sent once, when a code is redeemed.")


class WatcherRequest(RequestModel):
    """A request for a token that a program uses, without pairing."""

    name: Name = Field(default="a program that watches", description="Name of the device.")
    role: Literal["viewer", "producer", "operator", "camera"] = Field(
        default="viewer",
        description="What it may do: watch, change what is on air as well, run the game, or only send pictures.",
    )
    days: int = Field(default=90, ge=1, le=90, description="How long the token is valid.")


class WatcherDetails(TopicModel):
    """A program that watches, changes what is on air, or is the camera."""

    id: str
    token: str = Field(
        description="Sent this once. A viewer's goes into addresses as `?key=`, too; any other is a bearer token."
    )
    url: str = Field(description="Of the start page, for another computer of the network; ends with a slash.")


class DeviceDetails(TopicModel):
    """A paired device."""

    id: str
    name: str
    role: str
    paired_ms: int = Field(description="Ms since 1970.")
    expires_ms: int = Field(description="Ms since 1970.")


@router.get("/session", "anyone", summary="Your role and name")
def session(control: AccessControlDep, principal: PrincipalDep) -> SessionDetails:
    """The name is the one in the game's record."""
    return made_of(SessionDetails, principal, review=control.only_games, token=None)


@router.post("/session", "anyone", summary="Redeem a pairing code")
def sign_in(
    request: Request,
    response: Response,
    control: AccessControlDep,
    principal: PrincipalDep,
    token_store: TokenStoreDep,
    sign_in_request: SignInRequest,
) -> SessionDetails:
    """Pairs the device: sets the cookie, returns the token this once. A code can be used once, a pass by its phone."""
    if is_grant(sign_in_request.code):
        token, details = _admit(control, sign_in_request)
    elif control.admin_key.matches(sign_in_request.code):
        token = control.admin_key.session()
        details = SessionDetails(role="admin", name="this computer" if principal.local else "the admin", token=token)
    else:
        found = _PLATFORM.search(request.headers.get("user-agent", ""))
        platform = found[1] if found else "a device"
        redeemed = token_store.redeem(sign_in_request.code, sign_in_request.name or platform)
        if redeemed is None:
            _log.warning("A wrong pairing code was sent from %s.", plain_text(request.state.origin.address))
            token_store.note_refused(None, "a wrong pairing code")
            raise ProblemError(401, "This code is wrong, already used, or expired. Ask for a new one.")
        token, device = redeemed
        details = SessionDetails(role=role_of(device), name=device.name, device=device.id, token=token)
    response.set_cookie(
        cookie_name(request),
        token,
        int(PAIRING_LIMITS.device_valid_ns / 1e9),
        path=_cookie_path(request),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return details


@router.delete("/session", "viewer", summary="Sign out", status_code=204)
def sign_out(request: Request, principal: PrincipalDep, token_store: TokenStoreDep) -> Response:
    """Makes the device's token invalid."""
    if principal.device:
        token_store.revoke(principal.device, principal.name)
    response = Response(status_code=204)
    response.delete_cookie(cookie_name(request), path=_cookie_path(request))
    return response


@router.post("/pairings", "admin", summary="Make a pairing code", status_code=201)
def pair(request: Request, token_store: TokenStoreDep, pairing_request: PairingRequest) -> PairingDetails:
    """The code can be used once, within three minutes."""
    refuse_unreachable(request)
    return pairing_details(request, token_store.make_code(pairing_request.role))


def pairing_details(request: Request, code: PairingCode) -> PairingDetails:
    """Return a code as it is shown, with the addresses that it opens."""
    urls = [f"{base}/{page_of(code)}#{code.code}" for base in base_urls(request)]
    shown = f"{code.code[:5]}-{code.code[5:]}"
    expires_s = round(code.expires_at - time.monotonic(), 1)
    return PairingDetails(id=code.id, role=code.role, code=shown, url=urls[0], expires_s=expires_s, urls=urls)


@router.get("/pairings/{pairing}/qr.svg", "admin", summary="A pairing code as a QR code", **sends("image/svg+xml"))
def pairing_picture(
    request: Request,
    token_store: TokenStoreDep,
    pairing: PairingId,
    place: Annotated[int, Query(ge=0, le=99, description="Place among the pairing's `urls`.")] = 0,
) -> Response:
    """Holds the address with the code, for a phone's camera."""
    code = token_store.find_code(pairing)
    if code is None:
        raise ProblemError(404, "This code was used or has expired. Make a new one.")
    bases = base_urls(request)
    if place >= len(bases):
        raise ProblemError(404, "This computer has no such address any more. Make a new code.")
    return Response(qr_svg(f"{bases[place]}/{page_of(code)}#{code.code}"), media_type="image/svg+xml")


@router.get("/addresses", "admin", summary="Addresses for other devices")
def addresses(request: Request) -> AddressDetails:
    """As they are now; a computer may get others while Downfield runs."""
    try:
        refuse_unreachable(request)
    except ProblemError as none:  # an ordinary state, and no fault of who asks
        return AddressDetails(urls=[], note=none.detail)
    return AddressDetails(urls=[f"{base}/" for base in base_urls(request)])


DeviceId = Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")]

_NO_DEVICE: Final = "No device with this id is paired. GET /api/devices lists them."


@router.get("/devices", "admin", summary="Paired devices")
def devices(token_store: TokenStoreDep) -> list[DeviceDetails]:
    """In the order they were paired."""
    ms = 1_000_000
    return [
        made_of(DeviceDetails, device, paired_ms=device.paired_ns // ms, expires_ms=device.expires_ns // ms)
        for device in token_store.devices()
    ]


@router.post("/devices", "admin", summary="Pair a program", status_code=201)
def pair_watcher(request: Request, token_store: TokenStoreDep, watcher: WatcherRequest) -> WatcherDetails:
    """For OBS and players on another computer, which can type no code: their addresses carry the token as `key`.

    A program that sends the camera's pictures by WHIP has the token as its bearer token.
    """
    policy = access_control_of(request.app).policy
    if policy.trust_local and watcher.role in {"viewer", "operator"} and not policy.origins:
        refuse_unreachable(request)  # and then no program on this computer needs a token for that
    token, device = token_store.issue(watcher.name, watcher.role, watcher.days)
    return WatcherDetails(id=device.id, token=token, url=_program_url(request, watcher.role))


@router.post("/devices/{device}/token", "admin", summary="Give a device another token", status_code=201)
def renew_token(
    request: Request, principal: PrincipalDep, token_store: TokenStoreDep, device: DeviceId
) -> WatcherDetails:
    """For as long as the one before was given for, which is invalid from now on."""
    role = next((known.role for known in token_store.devices() if known.id == device), "")
    renewed = token_store.renew(device, principal.name)
    if renewed is None:
        raise ProblemError(404, _NO_DEVICE)
    return WatcherDetails(id=device, token=renewed, url=_program_url(request, role))


@router.delete("/devices/{device}", "admin", summary="Revoke a device", status_code=204)
def revoke(principal: PrincipalDep, token_store: TokenStoreDep, device: DeviceId) -> Response:
    """Its token is invalid from now on, and its open feeds and pictures end at once."""
    if not token_store.revoke(device, principal.name):
        raise ProblemError(404, _NO_DEVICE)
    return Response(status_code=204)


def _admit(control: AccessControl, given: SignInRequest) -> tuple[str, SessionDetails]:
    grants, token_store = control.grants, control.token_store
    if grants is None:
        raise ProblemError(
            403, "This rig takes part in no tournament, so it takes no passes. Pair with a code of its own."
        )
    try:
        admission = grants.admit(given.code, given.holder)
        token, device = token_store.admit(admission)
        if not grants.is_in_force(admission.id):  # revoked in between, when there was no such device yet
            token_store.revoke(admission.id, "the desk")
            raise GrantRefusedError(admission, "The desk has revoked this phone.")
    except RefusedError as error:
        refused = error.admission if isinstance(error, GrantRefusedError) else None
        token_store.note_refused(refused, str(error))
        raise ProblemError(403, str(error), "grant_refused") from None
    return token, SessionDetails(role=role_of(device), name=device.name, device=device.id, token=token)


def page_of(code: PairingCode) -> str:
    """Return the page that a code opens."""
    return "phone" if code.role == "camera" else "pair"


def _cookie_path(request: Request) -> str:
    """Return the path under which the service appears, so that another on the same host does not get its cookie."""
    return f"{request.scope.get('root_path', '')}/"
