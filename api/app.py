"""The service: every router behind the door and the guard, with errors as problems and an OpenAPI that says so."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from fastapi import Depends, FastAPI

from downfield.api import (
    camera_routes,
    evidence_routes,
    feed,
    game_routes,
    health_routes,
    page_routes,
    play_routes,
    problems,
    session_routes,
    setup_routes,
)
from downfield.api.door import Access, Door
from downfield.api.evidence import EvidenceRoom
from downfield.api.guard import guard
from downfield.api.keyring import Keyring
from downfield.api.metrics import Metrics
from downfield.api.openapi import describe
from downfield.api.parts import Parts
from downfield.api.relaying import Relaying

LOCAL: Final = Access()

ROUTERS: Final = (
    play_routes.router,
    game_routes.router,
    evidence_routes.router,
    setup_routes.router,
    feed.router,
    camera_routes.router,
    session_routes.router,
    health_routes.router,
    page_routes.router,
)


def create_app(parts: Parts, access: Access = LOCAL, relaying: Relaying | None = None) -> FastAPI:
    """The service over what the rig fills.

    Args:
        parts: desk, hub, picture and store.
        access: who may reach it; by default this computer alone.
        relaying: tells those who follow the feed when they are many; None to tell all of them here.

    """
    app = FastAPI(
        title="Downfield",
        version=version("downfield"),
        summary="The automatic referee for tabletop electric football.",
        dependencies=[Depends(guard)],
        docs_url=None,  # both pages would load scripts from the internet
        redoc_url=None,
        openapi_url=None,
        strict_content_type=False,
    )
    app.state.parts = parts
    app.state.access = access
    app.state.relaying = relaying
    app.state.evidence = EvidenceRoom(parts)
    app.state.keyring = Keyring(parts.store)
    app.state.metrics = Metrics(parts.desk, parts.hub, parts.picture)
    for router in ROUTERS:
        app.include_router(router)
    problems.install(app)
    describe(app, ROUTERS)
    app.add_middleware(Door, access=access, answered=app.state.metrics.answered)
    return app
