"""The pages and what they load: plain files, nothing is built and nothing is fetched from elsewhere.

Files are read once. Each goes out with its hash as ETag and must be asked for again each time, so that an upgrade of
Downfield is never mixed with yesterday's scripts; `build.txt` lets a page that stays open for days notice one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from downfield.api.security.roles import allow

PAGES: Final[Mapping[str, str]] = {
    "/": "index.html",
    "/panel": "panel.html",
    "/camera": "camera.html",
    "/evidence": "evidence.html",
    "/pair": "pair.html",
}
"""Pages by path; those of the overlays are at ``/overlay/`` and their name."""

OVERLAYS: Final = ("calls", "field", "scorebug")

POLICY: Final = (
    "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data: blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
"""What a page may load: only what this server gives, so that a page works on a table without internet."""

KNOCKED_AT: Final = "icon.svg"
"""The one file a page from elsewhere may load: OBS opens a local file that waits for it, and so for the service."""

_TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Served:
    """One file as it goes out."""

    content: bytes
    media_type: str
    etag: str

    def answer(self, request: Request) -> Response:
        """The file, or that it has not changed since it was last asked for."""
        headers = {"ETag": self.etag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        if self.media_type.startswith("text/html"):
            headers |= {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.media_type, headers=headers)


@cache
def assets() -> Mapping[str, Served]:
    """Scripts, styles, fonts and pictures by file name, with `build.txt`, which names the whole of it."""
    found = _folder("pages/assets")
    pages = _folder("pages")
    whole = hashlib.sha256("".join(one.etag for one in (*found.values(), *pages.values())).encode()).hexdigest()
    return {**found, "build.txt": _served(whole[:16].encode(), ".txt")}


@cache
def pages() -> Mapping[str, Served]:
    """Pages by file name."""
    return _folder("pages")


@router.get("/assets/{file}")
@allow("anyone")
def asset(request: Request, file: str) -> Response:
    """What a page loads."""
    answer = _find(assets(), file, "file").answer(request)
    if file == KNOCKED_AT:
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return answer


@router.get("/overlay/{name}")
@allow("anyone")
def overlay(request: Request, name: str) -> Response:
    """An overlay for OBS; its options are read in the browser."""
    if name not in OVERLAYS:
        raise HTTPException(404, f"no overlay is called {name[:40]!r}: there are {', '.join(OVERLAYS)}")
    return pages()[f"{name}.html"].answer(request)


@router.get("/")
@router.get("/panel")
@router.get("/camera")
@router.get("/evidence")
@router.get("/pair")
@allow("anyone")
def page(request: Request) -> Response:
    """The start page, the operator panel, the camera page, the frames of a call, the page that redeems a code."""
    return pages()[PAGES[request.url.path]].answer(request)


def _find(among: Mapping[str, Served], name: str, what: str) -> Served:
    if name not in among:
        raise HTTPException(404, f"no {what} is called {name[:40]!r}")
    return among[name]


def _folder(path: str) -> dict[str, Served]:
    found = sorted((files("downfield.api") / path).iterdir(), key=lambda one: one.name)
    return {one.name: _served(one.read_bytes(), PurePath(one.name).suffix) for one in found if one.is_file()}


def _served(content: bytes, suffix: str) -> Served:
    return Served(content, _TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:16]}"')
