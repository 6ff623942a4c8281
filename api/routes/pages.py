"""The pages and the files they load: plain files, with no build step and nothing from other servers.

All of them name each other and the API by relative paths (overlays, a folder deeper, with a `<base>`), so that they
work under any prefix of a reverse proxy.

Files are read once. Each is served with its hash as ETag and must be revalidated each time, so that a page never mixes
the scripts of two versions of Downfield; `build.txt` lets a page that stays open for days notice an upgrade.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Final

from fastapi import HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from downfield.api.context.access_control import AuthorizedRouter, access_control_of
from downfield.api.context.context import RigPartsDep
from downfield.api.security.forwarding import own_path
from downfield.broadcast.overlays.installed import Overlay, installed_overlays


@dataclass(frozen=True, slots=True)
class Page:
    """One page."""

    path: str
    file: str  # its file in ``api/pages``
    about_games: bool = False  # whether it needs no table, only games


PAGES: Final = (
    Page("/", "index.html"),
    Page("/panel", "panel.html"),
    Page("/producer", "producer.html"),
    Page("/camera", "camera.html"),
    Page("/setup", "setup.html"),
    Page("/games", "games.html", about_games=True),
    Page("/game", "game.html", about_games=True),
    Page("/evidence", "evidence.html", about_games=True),
    Page("/ruling", "ruling.html", about_games=True),
    Page("/league", "league.html", about_games=True),
    Page("/pair", "pair.html"),
    Page("/phone", "phone.html"),
    Page("/webhooks", "webhooks.html"),
    Page("/program", "program.html"),
)
"""All pages but the overlays, which `downfield.broadcast.overlays.installed` finds."""

PAGE_POLICY: Final = (
    "default-src 'self'; connect-src 'self'{feed}; img-src 'self' data: blob:; media-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
"""What a page may load: only files of this server, so that it works at a table without internet."""

MAX_STYLE_BYTES: Final = 256_000  # Of a style sheet of one's own no more is served

PUBLIC_ASSET: Final = "icon.svg"
"""The one file other websites may load: a local file in OBS loads it to check whether the service is up."""

_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    ".png": "image/png",
}

_WORKER: Final = "panel_worker.js"
_OVERLAY: Final = "overlay.html"

router = AuthorizedRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file as it is served."""

    content: bytes
    media_type: str
    etag: str

    def response(self, request: Request) -> Response:
        """Return the file, or 304 if the client has it."""
        headers = {"ETag": self.etag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        if self.media_type.startswith("text/html"):
            headers |= {"Content-Security-Policy": _page_policy(request), "Referrer-Policy": "no-referrer"}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.media_type, headers=headers)


@cache
def assets() -> Mapping[str, StaticFile]:
    """Return scripts, styles, fonts and pictures by place, with `build.txt`, the hash of all of them."""
    found = {**_overlay_files(), **read_folder("downfield.api", "pages/assets")}
    etags = "".join(file.etag for file in (*found.values(), *pages().values(), *overlay_pages().values()))
    build = hashlib.sha256(etags.encode()).hexdigest()[:16]
    return {**found, "build.txt": static_file(build.encode(), ".txt")}


@cache
def pages() -> Mapping[str, StaticFile]:
    """Return the pages by file name."""
    return read_folder("downfield.api", "pages")


@cache
def overlay_pages() -> Mapping[str, StaticFile]:
    """Return the pages of the overlays by name, each made of its declaration."""
    text = pages()[_OVERLAY].content.decode()
    overlays = installed_overlays().overlays.items()
    return {name: static_file(_overlay_page(text, overlay).encode(), ".html") for name, overlay in overlays}


def _overlay_page(text: str, overlay: Overlay) -> str:
    declaration = overlay.model_dump_json().replace("<", "\\u003c")  # no text of it may end the element
    place = f"{overlay.package}/{overlay.name}".removeprefix("/")
    style = f'<link rel="stylesheet" href="assets/{place}.css">\n' if f"{place}.css" in _overlay_files() else ""
    text = text.replace("TITLE", html.escape(overlay.title)).replace("NAME", place).replace("STYLE\n", style)
    return text.replace("DECLARATION", declaration)


@cache
def _overlay_files() -> Mapping[str, StaticFile]:
    found = installed_overlays().files.items()
    return {name: static_file(file.read_bytes(), PurePath(name).suffix) for name, file in found}


@cache
def worker() -> StaticFile:
    """Return the panel's worker, which knows this build and its files."""
    build = assets()["build.txt"].content.decode()
    kept = ["panel", *(f"assets/{name}" for name in assets() if not name.endswith((".txt", ".html")))]
    text = pages()[_WORKER].content.decode()
    text = text.replace('"BUILD_ID"', json.dumps(build)).replace("FILES = []", f"FILES = {json.dumps(kept)}")
    return static_file(text.encode(), ".js")


@router.get("/assets/{file}", "anyone")  # from memory, so that none of the few threads is taken for it
async def asset(request: Request, file: str) -> Response:
    """A file that a page loads."""
    if file not in assets():
        raise HTTPException(404, f"There is no file {file[:40]!r}.")
    response = assets()[file].response(request)
    if file == PUBLIC_ASSET:
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@router.get("/assets/{package}/{file}", "anyone")
async def package_asset(request: Request, package: str, file: str) -> Response:
    """A file of a package's overlays; for a script that it lacks, Downfield's own of that name."""
    if file.endswith(".js") and file in assets() and f"{package}/{file}" not in assets():
        # Handed on, as a copy under a second address would be a second module with its own variables
        return static_file(f'export * from "../{file}";\n'.encode(), ".js").response(request)
    return await asset(request, f"{package}/{file}")


@router.get("/panel-worker.js", "anyone")
def panel_worker(request: Request) -> Response:
    """The script that keeps the panel's files on a device, with their names."""
    response = worker().response(request)
    response.headers["Content-Security-Policy"] = "default-src 'self'"  # what it may fetch
    return response


@router.get("/user.css", "anyone")
def user_style(rig: RigPartsDep) -> Response:
    """The style sheet of one's own for all overlays; empty where there is none."""
    text = b""
    if rig.style_folder is not None:
        with suppress(OSError), (rig.style_folder / "overlay.css").open("rb") as file:
            text = file.read(MAX_STYLE_BYTES)
    return Response(text, media_type=_MEDIA_TYPES[".css"], headers={"Cache-Control": "no-cache"})


@router.get("/overlay/{name}", "anyone")
def overlay(request: Request, name: str) -> Response:
    """An overlay for OBS; its options are read in the browser."""
    if name not in overlay_pages():
        problems = installed_overlays().problems
        known = f"There is no overlay {name[:40]!r}. The overlays are {', '.join(sorted(overlay_pages()))}."
        raise HTTPException(404, " ".join([known, *problems]))
    return overlay_pages()[name].response(request)


async def page(request: Request) -> Response:
    """A page: the start page, the panel, a game, a call's frames, the program and the others."""
    path = own_path(request.scope)
    (found,) = (each for each in PAGES if each.path == path)
    if access_control_of(request.app).only_games and not found.about_games:
        return RedirectResponse("games")
    return pages()[found.file].response(request)


for each in PAGES:
    router.get(each.path, "anyone")(page)


def _page_policy(request: Request) -> str:
    """Return the policy with this very origin's feed: not every browser counts WebSockets as part of the origin.

    A policy can't name IPv6 addresses; there ``'self'`` has to do.
    """
    host = request.headers.get("host", "")
    feed = "" if "[" in host else f" {'wss' if request.url.scheme == 'https' else 'ws'}://{host}"
    return PAGE_POLICY.format(feed=feed)


def read_folder(package: str, path: str) -> dict[str, StaticFile]:
    """Return the files of a package's folder, by name."""
    found = sorted((files(package) / path).iterdir(), key=lambda file: file.name)
    return {file.name: static_file(file.read_bytes(), PurePath(file.name).suffix) for file in found if file.is_file()}


def static_file(content: bytes, suffix: str) -> StaticFile:
    """Return a file of a type, such as ``".txt"``."""
    return StaticFile(content, _MEDIA_TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:16]}"')
