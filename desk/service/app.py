"""The desk's application: its routers behind the same security as a rig's."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from typing import Final

from fastapi import Depends, FastAPI

from downfield.api import problems
from downfield.api.dependencies import authorize
from downfield.api.feed.open_streams import OpenStreams
from downfield.api.openapi import serve_schema
from downfield.api.repeated_requests import AnsweredRequests
from downfield.api.routes import pairing
from downfield.api.security.access import AccessPolicy
from downfield.api.security.known_clients import KnownClients
from downfield.api.security.middleware import SecurityMiddleware
from downfield.api.security.roles import AT_A_TABLE
from downfield.api.security.secret_file import SecretFile
from downfield.api.security.tokens import TokenStore
from downfield.desk.service import event_routes, grant_routes, pages, push_routes, table_routes
from downfield.desk.service.parts import DeskParts
from downfield.store.writing.store import Store

ROUTERS: Final = (
    table_routes.router,
    push_routes.router,
    grant_routes.router,
    event_routes.router,
    pairing.router,
    pages.router,
)


def create_desk_app(
    desk: DeskParts, store: Store, admin_key: SecretFile, access: AccessPolicy, known: KnownClients
) -> FastAPI:
    """Return the desk's application.

    Args:
        desk: the parts of the desk.
        store: keeps the paired devices.
        admin_key: makes a browser the director's.
        access: decides which clients may reach it.
        known: the addresses of known devices.

    """
    app = FastAPI(
        title="Downfield desk",
        version=version("downfield"),
        summary="The director's desk over many tables.",
        dependencies=[Depends(authorize)],
        docs_url=None,  # both pages would load scripts from the internet
        redoc_url=None,
        openapi_url=None,
        strict_content_type=False,
    )
    app.state.desk = desk
    app.state.admin_key = admin_key
    app.state.access = access
    app.state.required = AT_A_TABLE
    app.state.known = known
    app.state.streams = OpenStreams()
    app.state.answered = AnsweredRequests()
    app.state.token_store = TokenStore(store, app.state.streams.end_all_of)
    app.state.grants = desk.grants
    desk.grants.follow(lambda grant: app.state.token_store.revoke(grant, "the director"))
    for router in ROUTERS:
        app.include_router(router)
    problems.install_handlers(app)
    serve_schema(app, ROUTERS)
    responses: Counter[tuple[str, int]] = Counter()
    app.add_middleware(SecurityMiddleware, access=access, known=known, responses=responses)
    return app
