"""The FastAPI application: routers behind the security middleware and role checks, errors as problem details."""

from __future__ import annotations

from collections import Counter
from typing import Final

from fastapi import FastAPI

from downfield.api import schemas
from downfield.api.context.access_control import AccessControl, RevocableResponses
from downfield.api.context.context import AppContext, RigParts
from downfield.api.feed.event_stream import OpenStreams
from downfield.api.feed.relay import RelayManager
from downfield.api.openapi import application
from downfield.api.routes import (
    evidence,
    files,
    games,
    health,
    on_air,
    pages,
    pairing,
    play,
    rulings,
    setup,
    streams,
    table_setup,
)
from downfield.api.security.access import AccessPolicy
from downfield.api.security.forwarding import KnownClients
from downfield.api.security.middleware import SecurityMiddleware
from downfield.api.security.tokens import TokenStore
from downfield.capture.sources.phone_link import PHONE_LINK

LOCAL: Final = AccessPolicy()

ROUTERS: Final = (
    play.router,
    games.router,
    files.game_router,
    rulings.router,
    evidence.router,
    files.router,
    on_air.replay_router,
    on_air.router,
    on_air.logo_router,
    play.card_router,
    setup.router,
    table_setup.router,
    streams.router,
    streams.picture_router,
    streams.program_router,
    pairing.router,
    table_setup.phone_router,
    health.router,
    pages.router,
    schemas.router,
)


def create_app(
    rig: RigParts, access: AccessPolicy = LOCAL, relay: RelayManager | None = None, known: KnownClients | None = None
) -> FastAPI:
    """Return the application over the parts of a rig.

    Args:
        access: decides which clients may reach it; only this computer by default.
        relay: takes over event streams when there are many; None to serve all of them here.
        known: the addresses of known devices; None where nobody else needs them.
    """
    app = application("Downfield", "The automatic referee for tabletop electric football.", ROUTERS)
    responses: Counter[tuple[str, int]] = Counter()
    control = _access_control(rig, access, known or KnownClients(access.proxies))
    app.state.access_control, app.state.context = control, AppContext(rig, responses, relay)
    app.add_middleware(
        SecurityMiddleware,
        access=access,
        known=control.known,
        responses=responses,
        revocable=lambda inside: RevocableResponses(inside, control.streams, control.token_store),
    )
    return app


def _access_control(rig: RigParts, access: AccessPolicy, known: KnownClients) -> AccessControl:
    streams = OpenStreams()

    def end_all_of(device: str) -> None:
        streams.end_all_of(device)
        PHONE_LINK.end(device)
        if PHONE_LINK.device is not None and PHONE_LINK.device.id == device:
            PHONE_LINK.device = None

    tokens = TokenStore(rig.store, end_all_of, on_changed=rig.game_service.note)
    if PHONE_LINK.device is not None and not rig.only_games:
        tokens.adopt(PHONE_LINK.device)
    if rig.grants is not None:

        def revoke(grant: str) -> None:
            tokens.revoke(grant, "the desk")

        rig.grants.follow(revoke)
    return AccessControl(access, known, rig.admin_key, tokens, streams, rig.grants, only_games=rig.only_games)
