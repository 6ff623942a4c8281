"""The desk's pages and the files they load; what the rig's pages have as well comes from there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from downfield.api.routes.service.pages import StaticFile, read_folder, static_file
from downfield.api.routes.service.pages import assets as rig_assets
from downfield.api.security.forwarding import own_path
from downfield.api.security.roles import allow

PAGES: Final[Mapping[str, str]] = {
    "/": "desk.html",
    "/event": "event.html",
    "/hall": "hall.html",
    "/pair": "pair.html",
    "/mine": "mine.html",
}
"""The desk's own pages by path."""

OVERLAYS: Final = ("standings", "bracket", "next")

router = APIRouter(include_in_schema=False)


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


@router.get("/assets/{file}")
@allow("anyone")
def asset(request: Request, file: str) -> Response:
    """A file that a page loads."""
    if file not in assets():
        raise HTTPException(404, f"There is no file {file[:40]!r}.")
    return assets()[file].response(request)


@router.get("/overlay/{name}")
@allow("anyone")
def overlay(request: Request, name: str) -> Response:
    """An overlay for OBS."""
    if name not in OVERLAYS:
        raise HTTPException(404, f"There is no overlay {name[:40]!r}. The overlays are {', '.join(OVERLAYS)}.")
    return pages()["event_overlay.html"].response(request)


@router.get("/")
@router.get("/event")
@router.get("/hall")
@router.get("/pair")
@router.get("/mine")
@allow("anyone")
def page(request: Request) -> Response:
    """The desk, the event, the big screen of the hall, the pairing page, the tables of a phone."""
    return pages()[PAGES[own_path(request.scope)]].response(request)
