"""The desk's application: its routers behind the same security as a rig's."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from typing import Final

from fastapi import Depends, FastAPI

from downfield.api.context.access_control import AccessControl, authorize
from downfield.api.feed.open_streams import OpenStreams
from downfield.api.http import problems
from downfield.api.openapi import serve_schema
from downfield.api.routes.service import pairing
from downfield.api.security.access import AccessPolicy
from downfield.api.security.known_clients import KnownClients
from downfield.api.security.middleware import SecurityMiddleware
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
    streams = OpenStreams()
    tokens = TokenStore(store, streams.end_all_of)
    AccessControl(access, known, admin_key, tokens, streams, desk.grants).install(app)

    def revoke(grant: str) -> None:
        tokens.revoke(grant, "the director")

    desk.grants.follow(revoke)
    for router in ROUTERS:
        app.include_router(router)
    problems.install_handlers(app)
    serve_schema(app, ROUTERS)
    responses: Counter[tuple[str, int]] = Counter()
    app.add_middleware(SecurityMiddleware, access=access, known=known, responses=responses)
    return app
