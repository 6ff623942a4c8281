"""Who sent a request and whether they may, and one answer to a request that is sent again.

The routes of a table's service and of a desk's have this in common. The pages send a request with the same
``Idempotency-Key`` until it is answered. Declarations, calls and commands have receipts of their own in the game's
journal (`game.receipts`); every other change gets the answer of the first attempt, for which a second one waits.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Request, Response, WebSocketException
from fastapi.dependencies.utils import get_flat_params
from fastapi.requests import HTTPConnection
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downfield.api.feed.event_stream import OpenStream, OpenStreams, StreamKind
from downfield.api.http.problems import ProblemError
from downfield.api.security.access import (
    RANK,
    AccessPolicy,
    Endpoint,
    Principal,
    RequiredRole,
    allow,
    is_allowed,
    required_role,
)
from downfield.api.security.forwarding import KnownClients, Origin
from downfield.api.security.grants import Grants
from downfield.api.security.secret_file import SecretFile
from downfield.api.security.tokens import TokenStore, role_of
from downfield.game.records.models import NOT_ENCODABLE

_log = logging.getLogger(__name__)

COOKIE: Final = "downfield"
_OWN_PORTS: Final = (None, 80, 443, 8317)  # Of a rig that is alone on its computer, behind a proxy or not

_AUDIENCE: Final = {
    "viewer": "paired devices",
    "producer": "the producer and the operator",
    "operator": "the operator",
    "admin": "the admin",
    "camera": "the phone that is the camera",
}

_WORTH_PACKING: Final = 1000  # Bytes of a list; less is one packet anyway
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_KEY: Final = "Idempotency-Key"
_CHANGES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SENDER: Final = ("cookie", "authorization")

MAX_ANSWERS: Final = 1_000  # Answers that are remembered: of the last minutes even where fifty phones are busy
MAX_BODY: Final = 64 << 10  # Bytes of an answer that is remembered


@dataclass(slots=True)
class _Attempt:
    request: bytes
    done: asyncio.Event = field(default_factory=asyncio.Event)
    answer: Response | None = None


class AnsweredRequests:
    """The answers to the latest changes, by key. For the tasks of one event loop."""

    def __init__(self) -> None:
        self._attempts: OrderedDict[str, _Attempt] = OrderedDict()

    async def once(self, key: str, request: bytes, handle: Callable[[], Awaitable[Response]]) -> Response:
        """Return the answer of a request, which is handled unless the same one was, or is being, handled.

        An answer that is an error is not remembered: the next attempt is handled anew.

        Args:
            key: of all its attempts.
            request: what was requested, and by whom; a key with something else is handled by itself.
        """
        # Of those that waited for an attempt that failed, one goes on and the others wait for it.
        while (known := self._attempts.get(key)) is not None and known.request == request:
            await known.done.wait()
            if known.answer is not None:
                return known.answer
        attempt = self._attempts[key] = _Attempt(request)
        try:
            answer = await handle()
            body: bytes | None = getattr(answer, "body", None)  # None for one that is streamed
            if answer.status_code < 400 and body is not None and len(body) <= MAX_BODY:
                attempt.answer = answer
            return answer
        finally:
            attempt.done.set()
            if attempt.answer is None and self._attempts.get(key) is attempt:
                del self._attempts[key]
            while len(self._attempts) > MAX_ANSWERS:
                self._attempts.popitem(last=False)


@dataclass(frozen=True, slots=True)
class AccessControl:
    """What decides who may do what; one for each application."""

    policy: AccessPolicy
    known: KnownClients
    admin_key: SecretFile  # makes a browser the admin's
    token_store: TokenStore
    streams: OpenStreams  # the feeds, pictures and downloads that are open
    grants: Grants | None = None  # decides about the grants of a tournament's desk; None where none are taken
    # whether there is no table here, only games to look at, for which routes may have another role
    only_games: bool = False
    # the answers to the latest changes, for requests that are sent again
    answered: AnsweredRequests = field(default_factory=AnsweredRequests)


def access_control_of(app: FastAPI) -> AccessControl:
    """Return the access control of an application."""
    access_control: AccessControl = app.state.access_control
    return access_control


async def _access_control(connection: HTTPConnection) -> AccessControl:
    return access_control_of(connection.app)


async def _principal(connection: HTTPConnection) -> Principal:
    principal: Principal = connection.state.principal
    return principal


AccessControlDep = Annotated[AccessControl, Depends(_access_control)]
PrincipalDep = Annotated[Principal, Depends(_principal)]


async def authorize(connection: HTTPConnection) -> None:
    """Check a request against its route's role, and leave its sender in ``connection.state.principal``.

    Raises ProblemError, on a WebSocket WebSocketException: the device is not paired, or its role is too low.
    """
    principal = authenticate(connection)
    connection.state.principal = principal
    required = required_role(connection.scope["endpoint"], in_review=access_control_of(connection.app).only_games)
    if is_allowed(principal.role, required):
        return
    if connection.scope["type"] == "websocket":
        raise WebSocketException(1008, f"The role {required} is required.")
    if principal.role is None:
        headers = {"WWW-Authenticate": 'Bearer realm="downfield"'}
        pair = "Pair this device first. The person at the rig can show you a code."
        link = "Open the link that 'downfield run' has printed, or that 'downfield admin' prints."
        raise ProblemError(401, link if principal.local else pair, headers=headers)
    raise ProblemError(403, f"Only {_AUDIENCE[required]} can do this. Your role is {principal.role}.")


def authenticate(connection: HTTPConnection) -> Principal:
    """Return the sender of a request."""
    control = access_control_of(connection.app)
    origin: Origin = connection.state.origin
    if connection.state.foreign:  # a page of another website never acts for whoever looks at it, only by its key
        known = _by_key(connection, origin)
        if known is None and connection.headers.get("authorization"):
            known = _by_token(connection, origin)
        return Principal() if known is None or known.role is None else replace(known, role="viewer")
    principal = _by_token(connection, origin) or _by_key(connection, origin)
    if principal is None and control.policy.trust_local and origin.local and not _read_token(connection):
        principal = Principal("admin", "this computer", local=True)
    if principal is None:
        visitor = Principal("viewer", "a visitor", local=origin.local)
        return visitor if control.policy.open_viewing else Principal(local=origin.local)
    if RANK[principal.role or "anyone"] >= RANK["producer"]:
        if connection.state.watching_only:
            return replace(principal, role="viewer")
        if not origin.proxied:
            control.known.add(origin.peer)
    return principal


def open_stream(connection: HTTPConnection, kind: StreamKind) -> OpenStream:
    """Return a place for a stream that the sender of a request opens. Raises ProblemError: as of `OpenStreams.open`."""
    origin: Origin = connection.state.origin
    stream = access_control_of(connection.app).streams.open(kind, connection.state.principal, origin.address)
    connection.state.stream = stream
    return stream


def _by_token(connection: HTTPConnection, origin: Origin) -> Principal | None:
    """Return the sender by the token in the header or the cookie; None if it has none that is valid."""
    token = _read_token(connection)
    if not token:
        return None
    control = access_control_of(connection.app)
    if control.admin_key.is_session(token):
        return Principal("admin", "this computer" if origin.local else "the admin", local=origin.local)
    device = control.token_store.find_device(token)
    role = None if device is None else role_of(device)
    return None if device is None or role is None else Principal(role, device.name, device.id, origin.local)


def _by_key(connection: HTTPConnection, origin: Origin) -> Principal | None:
    """Return the sender by the key in the address, which can only watch; None if it has none that is valid.

    Addresses are shown, logged and shared: the token of an operator or an admin is no key.
    """
    key = connection.query_params.get("key")
    if not key or connection.scope.get("method", "GET") != "GET":
        return None
    device = access_control_of(connection.app).token_store.find_device(key)
    if device is None or role_of(device) != "viewer":
        return None
    return Principal("viewer", device.name, device.id, origin.local)


def _read_token(connection: HTTPConnection) -> str:
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    named = connection.cookies.get(cookie_name(connection), "")
    return named or (connection.cookies.get(COOKIE, "") if connection.url.scheme in {"https", "wss"} else "")


def cookie_name(connection: HTTPConnection) -> str:
    """Return the name of this service's cookie; browsers send cookies to every port of a host, where others serve."""
    port = connection.url.port
    return COOKIE if port in _OWN_PORTS else f"{COOKIE}-{port}"


class AuthorizedRoute(APIRoute):
    """A route that asks for the sender's role before it reads the body, and changes something once for each key.

    As a dependency alone it would come after a body that can't be read: what a route takes is for those who may use it.
    A route that takes the key itself has it looked up there.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that handles a request."""
        handler = super().get_route_handler()
        takes_key = any(parameter.alias == _KEY for parameter in get_flat_params(self.dependant))
        is_repeatable = bool(_CHANGES.intersection(self.methods or ())) and not takes_key

        async def handle(request: Request) -> Response:
            await authorize(request)
            await _refuse_half_characters(request)
            return _as_list(request, await handler(request))

        async def handle_once(request: Request) -> Response:
            key = request.headers.get(_KEY)
            if key is None:
                return await handle(request)
            answered = access_control_of(request.app).answered
            return await answered.once(key, await _identity(request), lambda: handle(request))

        return handle_once if is_repeatable else handle


def _as_list(request: Request, response: Response) -> Response:
    """Return a list with its tag, packed for who takes that, or 304 for who has it; any other response as it is."""
    body = getattr(response, "body", b"")
    is_json = response.headers.get("content-type") == "application/json"
    if request.method != "GET" or response.status_code != 200 or not is_json or not body.startswith(b"["):
        return response
    tag = hashlib.sha256(body).hexdigest()[:32]
    headers = {"ETag": f'W/"{tag}"', "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if len(body) > _WORTH_PACKING and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = gzip.compress(body, 5), "gzip"
    return Response(body, headers=headers, media_type="application/json")


async def _refuse_half_characters(request: Request) -> None:
    """Refuse JSON that could not be written again; what is no JSON is left to the route."""
    if "json" not in request.headers.get("content-type", "json") or b"\\u" not in await request.body():
        return
    with suppress(ValueError, RecursionError):
        if _HALF_PAIR.search(json.dumps(await request.json(), ensure_ascii=False)):
            raise ProblemError(422, NOT_ENCODABLE)


class AuthorizedRouter(APIRouter):
    """Routes that ask for the sender's role, built once for all applications; `include_router` builds them again.

    Each is declared by its path and the lowest role that it is open to.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(
            route_class=AuthorizedRoute, dependencies=[Depends(authorize)], strict_content_type=False, **options
        )

    def get(self, path: str, role: RequiredRole, **options: Any) -> Callable[[Endpoint], Endpoint]:  # type: ignore[override]
        """Declare what is read."""
        return self._declare("GET", path, role, **options)

    def post(self, path: str, role: RequiredRole, **options: Any) -> Callable[[Endpoint], Endpoint]:  # type: ignore[override]
        """Declare what is done or added."""
        return self._declare("POST", path, role, **options)

    def put(self, path: str, role: RequiredRole, **options: Any) -> Callable[[Endpoint], Endpoint]:  # type: ignore[override]
        """Declare what is replaced."""
        return self._declare("PUT", path, role, **options)

    def patch(self, path: str, role: RequiredRole, **options: Any) -> Callable[[Endpoint], Endpoint]:  # type: ignore[override]
        """Declare what is changed."""
        return self._declare("PATCH", path, role, **options)

    def delete(self, path: str, role: RequiredRole, **options: Any) -> Callable[[Endpoint], Endpoint]:  # type: ignore[override]
        """Declare what is taken away."""
        return self._declare("DELETE", path, role, **options)

    def websocket(self, path: str, role: RequiredRole) -> Callable[[Endpoint], Endpoint]:  # type: ignore[override]
        """Declare a WebSocket."""
        add = super().websocket(path)
        return lambda endpoint: add(allow(role)(endpoint))

    def _declare(
        self, method: str, path: str, role: RequiredRole, *, in_review: RequiredRole | None = None, **options: Any
    ) -> Callable[[Endpoint], Endpoint]:
        add = self.api_route(path, methods=[method], **options)
        return lambda endpoint: add(allow(role, in_review=in_review)(endpoint))


async def _identity(request: Request) -> bytes:
    """Return a digest of what is requested and of the sender's credentials."""
    parts = [request.method, request.url.path, request.url.query, *(request.headers.get(name, "") for name in _SENDER)]
    content = await request.body()
    return hashlib.sha256(b"\0".join([*(part.encode() for part in parts), content])).digest()


class RevocableResponses:
    """ASGI middleware that breaks off a response once its device is revoked.

    The connection is closed, so that a part of a file is not taken for the whole of it.
    """

    def __init__(self, app: ASGIApp, streams: OpenStreams, tokens: TokenStore) -> None:
        self._app, self._streams, self._tokens = app, streams, tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its response until its device is revoked."""
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return
        stream: OpenStream | None = None

        async def send_followed(message: Message) -> None:
            nonlocal stream
            if stream is None and message["type"] == "http.response.body" and message.get("more_body", False):
                stream = self._follow(scope, task)
            await send(message)

        try:
            await self._app(scope, receive, send_followed)
        except asyncio.CancelledError:
            if stream is None or not stream.ended:
                raise
            task.uncancel()
            _log.warning("%s: broken off, since the device was revoked", scope["path"])
        finally:
            if stream is not None:
                stream.release()

    def _follow(self, scope: Scope, task: asyncio.Task[None]) -> OpenStream | None:
        """Have a response ended with its device; None where no device is paired, or the route does so itself."""
        principal: Principal | None = scope["state"].get("principal")
        if principal is None or not principal.device or "stream" in scope["state"]:
            return None

        stream = self._streams.follow(principal.device)
        stream.serve_elsewhere(task.cancel)
        if all(device.id != principal.device for device in self._tokens.devices()):
            stream.end()
        return stream
