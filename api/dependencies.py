"""Dependencies of the endpoints: the parts of the service, and the sender of a request once its role is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, WebSocketException
from fastapi.requests import HTTPConnection

from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.api.problems import ProblemError
from downfield.api.security.middleware import AccessPolicy, is_loopback
from downfield.api.security.roles import RANK, Principal, RequiredRole
from downfield.api.security.tokens import TokenStore, role_of
from downfield.api.table_setup import TableSetup
from downfield.game.evidence import EvidenceFinder
from downfield.game.footage import Footage
from downfield.game.service import GameService
from downfield.game.store import Store

COOKIE: Final = "downfield"

_PROXY_HEADERS: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
_AUDIENCE: Final = {"viewer": "paired devices", "operator": "the operator", "admin": "the admin"}


@dataclass(frozen=True, slots=True)
class AppContext:
    """The parts of the service that the endpoints use.

    Attributes:
        game_service: runs the game.
        hub: the current value of every topic, and the feed of their changes.
        picture: the camera's annotated picture.
        store: games, teams, devices.
        footage: the pictures calls were made from; None where none are kept.
        table_setup: sets up a table; None where there is no camera.

    """

    game_service: GameService
    hub: Hub
    picture: LatestPicture
    store: Store
    footage: Footage | None = None
    table_setup: TableSetup | None = None


async def _context(connection: HTTPConnection) -> AppContext:
    context: AppContext = connection.app.state.context
    return context


AppContextDep = Annotated[AppContext, Depends(_context)]


async def _hub(context: AppContextDep) -> Hub:
    return context.hub


async def _game_service(context: AppContextDep) -> GameService:
    return context.game_service


async def _store(context: AppContextDep) -> Store:
    return context.store


async def _picture(context: AppContextDep) -> LatestPicture:
    return context.picture


async def _principal(connection: HTTPConnection) -> Principal:
    principal: Principal = connection.state.principal
    return principal


async def _evidence(connection: HTTPConnection) -> EvidenceFinder:
    finder: EvidenceFinder = connection.app.state.evidence
    return finder


HubDep = Annotated[Hub, Depends(_hub)]
GameServiceDep = Annotated[GameService, Depends(_game_service)]
StoreDep = Annotated[Store, Depends(_store)]
PictureDep = Annotated[LatestPicture, Depends(_picture)]
EvidenceFinderDep = Annotated[EvidenceFinder, Depends(_evidence)]
PrincipalDep = Annotated[Principal, Depends(_principal)]


async def authorize(connection: HTTPConnection) -> None:
    """Check a request against its route's role, and leave its sender in ``connection.state.principal``.

    Raises:
        ProblemError: the device is not paired, or its role is too low.
        WebSocketException: the same, on a WebSocket.

    """
    principal = authenticate(connection)
    connection.state.principal = principal
    required: RequiredRole = getattr(connection.scope["endpoint"], "required_role", "admin")
    if RANK[principal.role or "anyone"] >= RANK[required]:
        return
    if connection.scope["type"] == "websocket":
        raise WebSocketException(1008, f"The role {required} is required.")
    if principal.role is None:
        headers = {"WWW-Authenticate": 'Bearer realm="downfield"'}
        raise ProblemError(401, "Pair this device first. The person at the rig can show you a code.", headers=headers)
    raise ProblemError(403, f"Only {_AUDIENCE[required]} can do this. Your role is {principal.role}.")


def authenticate(connection: HTTPConnection) -> Principal:
    """Return the sender of a request."""
    access: AccessPolicy = connection.app.state.access
    token_store: TokenStore = connection.app.state.token_store
    peer = connection.client.host if connection.client else ""
    direct = not any(name in connection.headers for name in _PROXY_HEADERS)
    local = direct and is_loopback(peer)
    token = _read_token(connection)
    if token:
        device = token_store.find_device(token)
        role = None if device is None else role_of(device)
        if device is not None and role is not None:
            return Principal(role, device.name, device.id, local)
    elif access.trust_local and local:
        return Principal("admin", "this computer", local=True)
    elif (key := connection.query_params.get("key")) and connection.scope.get("method", "GET") == "GET":
        device = token_store.find_device(key)
        if device is not None:
            return Principal("viewer", device.name, device.id, local)
    return Principal("viewer", "a visitor", local=local) if access.open_viewing else Principal(local=local)


def _read_token(connection: HTTPConnection) -> str:
    """Return the token of the header or the cookie; empty if there is none."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return connection.cookies.get(COOKIE, "")
