"""The desk's application: its routers and pages behind the same security as a rig's."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Final

from fastapi import FastAPI, HTTPException, Request, Response

from downfield.api.context.access_control import AccessControl, AuthorizedRouter
from downfield.api.feed.event_stream import OpenStreams
from downfield.api.openapi import application
from downfield.api.routes import pairing
from downfield.api.routes.pages import StaticFile, read_folder, static_file
from downfield.api.routes.pages import assets as rig_assets
from downfield.api.security.access import AccessPolicy
from downfield.api.security.forwarding import KnownClients, own_path
from downfield.api.security.middleware import SecurityMiddleware
from downfield.api.security.secret_file import SecretFile
from downfield.api.security.tokens import TokenStore
from downfield.desk.service import event_routes, guests, push_routes, sheets, table_routes
from downfield.desk.service.parts import DeskParts
from downfield.store.writing.store import Store

PAGES: Final[Mapping[str, str]] = {
    "/": "desk.html",
    "/event": "event.html",
    "/hall": "hall.html",
    "/pair": "pair.html",
    "/mine": "mine.html",
}
"""The desk's own pages by path."""

OVERLAYS: Final = ("standings", "bracket", "next", "scores")

router = AuthorizedRouter(include_in_schema=False)


@cache
def assets() -> Mapping[str, StaticFile]:
    """Return the files by name, with `build.txt`, the hash of all of them."""
    own = read_folder("downfield.desk", "pages/assets")
    etags = "".join(file.etag for file in (*own.values(), *pages().values(), rig_assets()["build.txt"]))
    build = static_file(hashlib.sha256(etags.encode()).hexdigest()[:16].encode(), ".txt")
    return {**rig_assets(), **own, "build.txt": build}


@cache
def pages() -> Mapping[str, StaticFile]:
    """Return the pages by file name."""
    return read_folder("downfield.desk", "pages")


@router.get("/assets/{file}", "anyone")
def asset(request: Request, file: str) -> Response:
    """A file that a page loads."""
    if file not in assets():
        raise HTTPException(404, f"There is no file {file[:40]!r}.")
    return assets()[file].response(request)


@router.get("/overlay/{name}", "anyone")
def overlay(request: Request, name: str) -> Response:
    """An overlay for OBS."""
    if name not in OVERLAYS:
        raise HTTPException(404, f"There is no overlay {name[:40]!r}. The overlays are {', '.join(OVERLAYS)}.")
    return pages()["event_overlay.html"].response(request)


@router.get("/", "anyone")
@router.get("/event", "anyone")
@router.get("/hall", "anyone")
@router.get("/pair", "anyone")
@router.get("/mine", "anyone")
def page(request: Request) -> Response:
    """The desk, the event, the big screen of the hall, the pairing page, the tables of a phone."""
    return pages()[PAGES[own_path(request.scope)]].response(request)


ROUTERS: Final = (
    table_routes.tables_router,
    push_routes.router,
    push_routes.rigs_router,
    table_routes.grants_router,
    guests.router,
    event_routes.router,
    sheets.router,
    pairing.router,
    router,
)


def create_desk_app(
    desk: DeskParts, store: Store, admin_key: SecretFile, access: AccessPolicy, known: KnownClients
) -> FastAPI:
    """Return the desk's application, with the key that makes a browser the director's, and known devices' addresses."""
    app = application("Downfield desk", "The director's desk over many tables.", ROUTERS)
    app.state.desk = desk
    streams = OpenStreams()
    tokens = TokenStore(store, streams.end_all_of)
    app.state.access_control = AccessControl(access, known, admin_key, tokens, streams, desk.grants)
    desk.grants.follow(lambda grant: tokens.revoke(grant, "the director"))
    responses: Counter[tuple[str, int]] = Counter()
    app.add_middleware(SecurityMiddleware, access=access, known=known, responses=responses)
    return app
