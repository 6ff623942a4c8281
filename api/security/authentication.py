"""The guard: finds out who asks, and lets nobody further than his role; what no route opens is the admin's alone."""

from __future__ import annotations

from typing import Final

from fastapi import WebSocketException
from fastapi.requests import HTTPConnection

from downfield.api.problems import ProblemError
from downfield.api.security.caller import Caller
from downfield.api.security.middleware import Access, is_loopback
from downfield.api.security.roles import needed, suffices
from downfield.api.security.tokens import Keyring, role_of

COOKIE: Final = "downfield"
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


async def guard(connection: HTTPConnection) -> None:
    """Check a request against the role its route needs; the caller is in ``connection.state.caller`` afterwards.

    Raises:
        ProblemError: nobody is signed in, or in too low a role.
        WebSocketException: the same, on a WebSocket.

    """
    caller = caller_of(connection)
    connection.state.caller = caller
    need = needed(connection.scope["endpoint"])
    if suffices(caller.role, need):
        return
    if connection.scope["type"] == "websocket":
        raise WebSocketException(1008, f"{need} needed")
    if caller.role is None:
        headers = {"WWW-Authenticate": 'Bearer realm="downfield"'}
        raise ProblemError(401, "pair this device first: ask whoever runs the rig for a code", headers=headers)
    raise ProblemError(403, f"this is for {_whom(need)}; you are {caller.role}")


def caller_of(connection: HTTPConnection) -> Caller:
    """Who asks."""
    access: Access = connection.app.state.access
    keyring: Keyring = connection.app.state.keyring
    peer = connection.client.host if connection.client else ""
    direct = not any(name in connection.headers for name in _FORWARDED)
    local = direct and is_loopback(peer)
    token = _token(connection)
    if token:
        device = keyring.device(token)
        role = None if device is None else role_of(device)
        if device is not None and role is not None:
            return Caller(role, device.name, device.id, local)
    elif access.trust_local and local:
        return Caller("admin", "this computer", local=True)
    elif (key := connection.query_params.get("key")) and connection.scope.get("method", "GET") == "GET":
        device = keyring.device(key)
        if device is not None:
            return Caller("viewer", device.name, device.id, local)
    return Caller("viewer", "a visitor", local=local) if access.open_viewing else Caller(local=local)


def _token(connection: HTTPConnection) -> str:
    """The token of the header or the cookie; empty without one."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return connection.cookies.get(COOKIE, "")


def _whom(need: str) -> str:
    return {"viewer": "viewers", "operator": "the operator", "admin": "the admin"}[need]
