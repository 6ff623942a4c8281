"""The FastAPI application: routers behind the security middleware and role checks, errors as problem details."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from fastapi import Depends, FastAPI

from downfield.api import problems
from downfield.api.feed import streams
from downfield.api.feed.relay import Relaying
from downfield.api.metrics import Metrics
from downfield.api.openapi import describe
from downfield.api.routes import camera, evidence, games, health, pages, play, session, setup
from downfield.api.security.authentication import authorize
from downfield.api.security.middleware import AccessPolicy, SecurityMiddleware
from downfield.api.security.tokens import TokenStore
from downfield.api.services import AppContext
from downfield.game.evidence import EvidenceFinder

LOCAL: Final = AccessPolicy()

ROUTERS: Final = (
    play.router,
    games.router,
    evidence.router,
    setup.router,
    streams.router,
    camera.router,
    session.router,
    health.router,
    pages.router,
)


def create_app(parts: AppContext, access: AccessPolicy = LOCAL, relaying: Relaying | None = None) -> FastAPI:
    """The service over what the rig fills.

    Args:
        parts: game_service, hub, picture and store.
        access: who may reach it; by default this computer alone.
        relaying: tells those who follow the feed when they are many; None to tell all of them here.

    """
    app = FastAPI(
        title="Downfield",
        version=version("downfield"),
        summary="The automatic referee for tabletop electric football.",
        dependencies=[Depends(authorize)],
        docs_url=None,  # both pages would load scripts from the internet
        redoc_url=None,
        openapi_url=None,
        strict_content_type=False,
    )
    app.state.parts = parts
    app.state.access = access
    app.state.relaying = relaying
    app.state.evidence = EvidenceFinder(parts.store, parts.game_service, parts.footage)
    app.state.token_store = TokenStore(parts.store)
    app.state.metrics = Metrics(parts.game_service, parts.hub, parts.picture)
    for router in ROUTERS:
        app.include_router(router)
    problems.install(app)
    describe(app, ROUTERS)
    app.add_middleware(SecurityMiddleware, access=access, answered=app.state.metrics.answered)
    return app
