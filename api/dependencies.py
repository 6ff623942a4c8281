"""Dependencies of the endpoints: the parts of the service, and the sender of a request once its role is checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final, Protocol

from fastapi import Depends, WebSocketException
from fastapi.requests import HTTPConnection

from downfield.api.feed.open_streams import OpenStream, OpenStreams, StreamKind
from downfield.api.problems import ProblemError
from downfield.api.security.access import AccessPolicy
from downfield.api.security.forwarding import Origin
from downfield.api.security.granted_access import Grants
from downfield.api.security.known_clients import KnownClients
from downfield.api.security.roles import RANK, Principal, RequiredRole
from downfield.api.security.secret_file import SecretFile
from downfield.api.security.tokens import TokenStore, role_of
from downfield.api.setup_control import SetupControl
from downfield.api.table_setup import TableSetup
from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.program.program_options import ProgramFeed
from downfield.broadcast.replay.director import ReplayOptions
from downfield.broadcast.replay.replay_maker import ReplayRenderer
from downfield.capture.footage import Footage
from downfield.game.published.hub import Hub
from downfield.game.records.keeping import GameRow
from downfield.game.service import GameService
from downfield.review.evidence.call_viewer import CallViewer
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.rejudging.finished_games import FinishedGames
from downfield.review.rejudging.standings import KeptJudgings
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

COOKIE: Final = "downfield"
_OWN_PORTS: Final = (None, 80, 443, 8317)
"""Of a rig that is alone on its computer, behind a proxy or not."""

_AUDIENCE: Final = {"viewer": "paired devices", "operator": "the operator", "admin": "the admin"}


class Bundles(Protocol):
    """Makes bundles of games. Callable from any thread."""

    def chunks(self, row: GameRow, *, video: bool) -> Iterator[bytes]:
        """Yield the bytes of a game's bundle, with the recording or without.

        Raises:
            BusyError: another is being made.
            FormatError: the game's journal can't be read.

        """
        ...


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
        admin_key: makes a browser the admin's; one of this run only where none is given.
        rig_key: signs what leaves the rig; one of this run only where none is given.
        bundles: makes games into files; None where that can't be done.
        program: draws the program feed; None where there are no pictures.
        style_folder: with `overlay.css`, a style sheet of one's own, and `logos`; None for none. Neither need exist.
        replays: how replays are made.
        replay_renderer: draws and encodes them; None for the thread that directs them.
        film_renderer: draws and encodes highlights; None for a thread of this process.
        judgings: keeps on disk what finished games come to; None to keep nothing.
        operators_review: whether operators may reopen finished games, rule on them and close them, as referees may.
        grants: decides about the grants of a tournament's desk; None outside of one.
        setup_control: which device sets up the table.
        only_games: whether there is no table here, only games to look at: pages about a table lead to the games.

    """

    game_service: GameService
    hub: Hub
    picture: LatestPicture
    store: Store
    footage: Footage | None = None
    table_setup: TableSetup | None = None
    admin_key: SecretFile = field(default_factory=SecretFile)
    rig_key: RigKey = field(default_factory=RigKey.generate)
    bundles: Bundles | None = None
    program: ProgramFeed | None = None
    style_folder: Path | None = None
    replays: ReplayOptions = field(default_factory=ReplayOptions)
    replay_renderer: ReplayRenderer | None = None
    film_renderer: ReplayRenderer | None = None
    operators_review: bool = False
    judgings: KeptJudgings | None = None
    grants: Grants | None = None
    setup_control: SetupControl = field(default_factory=SetupControl)
    only_games: bool = False


async def _context(connection: HTTPConnection) -> AppContext:
    context: AppContext = connection.app.state.context
    return context


AppContextDep = Annotated[AppContext, Depends(_context)]


async def _admin_key(connection: HTTPConnection) -> SecretFile:
    admin_key: SecretFile = connection.app.state.admin_key
    return admin_key


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


async def _viewer(connection: HTTPConnection) -> CallViewer:
    viewer: CallViewer = connection.app.state.viewer
    return viewer


async def _finished(connection: HTTPConnection) -> FinishedGames:
    finished: FinishedGames = connection.app.state.finished
    return finished


AdminKeyDep = Annotated[SecretFile, Depends(_admin_key)]
HubDep = Annotated[Hub, Depends(_hub)]
GameServiceDep = Annotated[GameService, Depends(_game_service)]
StoreDep = Annotated[Store, Depends(_store)]
PictureDep = Annotated[LatestPicture, Depends(_picture)]
EvidenceFinderDep = Annotated[EvidenceFinder, Depends(_evidence)]
CallViewerDep = Annotated[CallViewer, Depends(_viewer)]
FinishedGamesDep = Annotated[FinishedGames, Depends(_finished)]
PrincipalDep = Annotated[Principal, Depends(_principal)]


async def authorize(connection: HTTPConnection) -> None:
    """Check a request against its route's role, and leave its sender in ``connection.state.principal``.

    Raises:
        ProblemError: the device is not paired, or its role is too low.
        WebSocketException: the same, on a WebSocket.

    """
    principal = authenticate(connection)
    connection.state.principal = principal
    required: RequiredRole = getattr(connection.scope["endpoint"], connection.app.state.required, "admin")
    if RANK[principal.role or "anyone"] >= RANK[required]:
        return
    if connection.scope["type"] == "websocket":
        raise WebSocketException(1008, f"The role {required} is required.")
    if principal.role is None:
        headers = {"WWW-Authenticate": 'Bearer realm="downfield"'}
        raise ProblemError(401, _how_to_sign_in(principal), headers=headers)
    raise ProblemError(403, f"Only {_AUDIENCE[required]} can do this. Your role is {principal.role}.")


def authenticate(connection: HTTPConnection) -> Principal:
    """Return the sender of a request."""
    access: AccessPolicy = connection.app.state.access
    origin: Origin = connection.state.origin
    principal = _by_token(connection, origin) or _by_key(connection, origin)
    if principal is None and access.trust_local and origin.local and not _read_token(connection):
        principal = Principal("admin", "this computer", local=True)
    if principal is None:
        visitor = Principal("viewer", "a visitor", local=origin.local)
        return visitor if access.open_viewing else Principal(local=origin.local)
    if RANK[principal.role or "anyone"] >= RANK["operator"]:
        if connection.state.watching_only:
            return replace(principal, role="viewer")
        known: KnownClients = connection.app.state.known
        if not origin.proxied:
            known.add(origin.peer)
    return principal


def reviewer(context: AppContextDep, principal: PrincipalDep) -> Principal:
    """Return the sender of a request, who may rule on finished games.

    Raises:
        ProblemError: an operator, where the configuration does not let operators do so.

    """
    may_review = RANK["operator" if context.operators_review else "referee"]
    if RANK[principal.role or "anyone"] >= may_review:
        return principal
    raise ProblemError(
        403,
        "Only the admin and referees can rule after a game and set policies, unless game.operators_review is set in the"
        " rig's configuration.",
    )


ReviewerDep = Annotated[Principal, Depends(reviewer)]


def open_stream(connection: HTTPConnection, kind: StreamKind) -> OpenStream:
    """Return a place for a stream that the sender of a request opens.

    Raises:
        ProblemError: as of `OpenStreams.open`.

    """
    streams: OpenStreams = connection.app.state.streams
    origin: Origin = connection.state.origin
    stream = streams.open(kind, connection.state.principal, origin.address)
    connection.state.stream = stream
    return stream


def _by_token(connection: HTTPConnection, origin: Origin) -> Principal | None:
    """Return the sender by the token in the header or the cookie; None if it has none that is valid."""
    token = _read_token(connection)
    if not token:
        return None
    admin_key: SecretFile = connection.app.state.admin_key
    if admin_key.is_session(token):
        return Principal("admin", "this computer" if origin.local else "the admin", local=origin.local)
    token_store: TokenStore = connection.app.state.token_store
    device = token_store.find_device(token)
    role = None if device is None else role_of(device)
    return None if device is None or role is None else Principal(role, device.name, device.id, origin.local)


def _by_key(connection: HTTPConnection, origin: Origin) -> Principal | None:
    """Return the sender by the key in the address, which can only watch; None if it has none that is valid.

    Addresses are shown, logged and shared: the token of an operator or an admin is no key.
    """
    key = connection.query_params.get("key")
    if not key or connection.scope.get("method", "GET") != "GET":
        return None
    token_store: TokenStore = connection.app.state.token_store
    device = token_store.find_device(key)
    if device is None or role_of(device) != "viewer":
        return None
    return Principal("viewer", device.name, device.id, origin.local)


def _how_to_sign_in(principal: Principal) -> str:
    if principal.local:
        return "Open the link that `downfield run` has printed, or that `downfield admin` prints."
    return "Pair this device first. The person at the rig can show you a code."


def _read_token(connection: HTTPConnection) -> str:
    """Return the token of the header or the cookie; empty if there is none."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    named = connection.cookies.get(cookie_name(connection), "")
    return named or (connection.cookies.get(COOKIE, "") if connection.url.scheme in {"https", "wss"} else "")


def cookie_name(connection: HTTPConnection) -> str:
    """Return the name of this service's cookie; browsers send cookies to every port of a host, where others serve."""
    port = connection.url.port
    return COOKIE if port in _OWN_PORTS else f"{COOKIE}-{port}"
