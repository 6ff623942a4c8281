"""Authentication and authorization: finds out who sends a request, and refuses what the role does not allow."""

from __future__ import annotations

from typing import Final

from fastapi import WebSocketException
from fastapi.requests import HTTPConnection

from downfield.api.problems import ProblemError
from downfield.api.security.middleware import AccessPolicy, is_loopback
from downfield.api.security.roles import Principal, required_role, role_suffices
from downfield.api.security.tokens import TokenStore, role_of

COOKIE: Final = "downfield"

_PROXY_HEADERS: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
_AUDIENCE: Final = {"viewer": "paired devices", "operator": "the operator", "admin": "the admin"}


async def authorize(connection: HTTPConnection) -> None:
    """Check a request against its route's role, and leave its sender in ``connection.state.principal``.

    Raises:
        ProblemError: the device is not paired, or its role is too low.
        WebSocketException: the same, on a WebSocket.

    """
    principal = authenticate(connection)
    connection.state.principal = principal
    required = required_role(connection.scope["endpoint"])
    if role_suffices(principal.role, required):
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
