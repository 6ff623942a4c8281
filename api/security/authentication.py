"""Authorization: finds out who sends a request and refuses what the role does not allow."""

from __future__ import annotations

from typing import Final

from fastapi import WebSocketException
from fastapi.requests import HTTPConnection

from downfield.api.problems import ProblemError
from downfield.api.security.middleware import AccessPolicy, is_loopback
from downfield.api.security.principal import Principal
from downfield.api.security.roles import required_role, role_suffices
from downfield.api.security.tokens import TokenStore, role_of

COOKIE: Final = "downfield"
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


async def authorize(connection: HTTPConnection) -> None:
    """Check a request against the role its route needs; the caller is in ``connection.state.caller`` afterwards.

    Raises:
        ProblemError: nobody is signed in, or in too low a role.
        WebSocketException: the same, on a WebSocket.

    """
    caller = caller_of(connection)
    connection.state.caller = caller
    need = required_role(connection.scope["endpoint"])
    if role_suffices(caller.role, need):
        return
    if connection.scope["type"] == "websocket":
        raise WebSocketException(1008, f"{need} needed")
    if caller.role is None:
        headers = {"WWW-Authenticate": 'Bearer realm="downfield"'}
        raise ProblemError(401, "pair this device first: ask whoever runs the rig for a code", headers=headers)
    raise ProblemError(403, f"this is for {_whom(need)}; you are {caller.role}")


def caller_of(connection: HTTPConnection) -> Principal:
    """Who asks."""
    access: AccessPolicy = connection.app.state.access
    token_store: TokenStore = connection.app.state.token_store
    peer = connection.client.host if connection.client else ""
    direct = not any(name in connection.headers for name in _FORWARDED)
    local = direct and is_loopback(peer)
    token = _token(connection)
    if token:
        device = token_store.device(token)
        role = None if device is None else role_of(device)
        if device is not None and role is not None:
            return Principal(role, device.name, device.id, local)
    elif access.trust_local and local:
        return Principal("admin", "this computer", local=True)
    elif (key := connection.query_params.get("key")) and connection.scope.get("method", "GET") == "GET":
        device = token_store.device(key)
        if device is not None:
            return Principal("viewer", device.name, device.id, local)
    return Principal("viewer", "a visitor", local=local) if access.open_viewing else Principal(local=local)


def _token(connection: HTTPConnection) -> str:
    """The token of the header or the cookie; empty without one."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return connection.cookies.get(COOKIE, "")


def _whom(need: str) -> str:
    return {"viewer": "viewers", "operator": "the operator", "admin": "the admin"}[need]
