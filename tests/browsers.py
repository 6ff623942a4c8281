"""A headless Chromium and a service for tests of the pages.

Chromium is found in PATH, or named by CHROMIUM. Without it these tests are skipped.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright
from ports import reserve_port
from served_games import FakeRig
from waiting import WAIT_S

from downfield.api.app import LOCAL, create_app
from downfield.api.context.access_control import access_control_of
from downfield.api.context.context import RigParts
from downfield.api.security.access import AccessPolicy
from downfield.api.security.secret_file import SecretFile
from downfield.api.security.tokens import TokenStore
from downfield.api.table_setup import TableSetup
from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.game.published.hub import Hub
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.game.records.models import TopicModel
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
"""The first draws pages and no window around them, which takes half the time."""
RIVER_CITY: Final = TeamSheet(name="River City", short="RIV", color="#0b3d91", ink="#ffffff")
OAKDALE: Final = TeamSheet(name="Oakdale", short="OAK", color="#f2b705", ink="#ffffff")
PHONE: Final = {"width": 390, "height": 844}
WAIT_MS: Final = 1000 * WAIT_S

_UNHURRIED: Final = """
const stamp = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp").get;
Object.defineProperty(Event.prototype, "timeStamp", {
  get() { return stamp.call(this) + (window.hurried ? 0 : 1000); },
});
"""
"""Pages ignore a tap that comes sooner after a change than a person reacts. What a test taps seems to come a second
later, unless it sets `window.hurried`."""

expect.set_options(timeout=WAIT_MS)


def chromium() -> str | None:
    """The path of a Chromium."""
    named = os.environ.get("CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


class _SharedBrowser:
    """A Chromium that the modules of a process of tests use in turn: each start takes a second of the processor."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._browser: Browser | None = None

    def open(self, path: str) -> Browser:
        """Return it; it is started where it does not run."""
        if self._playwright is None:
            self._playwright = sync_playwright().start()
            self._loop = asyncio.get_running_loop()
            atexit.register(self._close)
        asyncio._set_running_loop(self._loop)
        if self._browser is None or not self._browser.is_connected():
            self._browser = self._playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        return self._browser

    def leave(self) -> None:
        """Close all pages; until it is opened again, other loops can run in this thread."""
        try:
            for context in [] if self._browser is None else self._browser.contexts:
                context.close()
        finally:
            asyncio._set_running_loop(None)

    def _close(self) -> None:
        asyncio._set_running_loop(self._loop)
        if self._browser is not None and self._playwright is not None:
            self._browser.close()
            self._playwright.stop()
        asyncio._set_running_loop(None)


_SHARED: Final = _SharedBrowser()


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium without any page, or a skip that says how to get one."""
    found = chromium()
    if found is None:
        pytest.skip("no Chromium: install it, or name one in CHROMIUM")
    running = _SHARED.open(found)
    try:
        yield running
    finally:
        _SHARED.leave()


@contextmanager
def page_in(running: Browser, *, phone: bool = False) -> Iterator[Page]:
    """A new page; a script error or a request to another server fails the test."""
    size: Any = PHONE if phone else {"width": 1920, "height": 1080}
    context = running.new_context(viewport=size, has_touch=phone, is_mobile=phone, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    context.add_init_script(_UNHURRIED)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: None if _is_local(request.url) else errors.append(f"requested {request.url}"))
    try:
        yield page
    finally:
        # What a test answers in the service's place may be asked for still: a page that is left needs no answer.
        for opened in context.pages:
            opened.unroute_all(behavior="ignoreErrors")
        context.close()
    assert errors == []


def _is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "data:", "blob:", "file:"))


class PageServer:
    """The service with an idle game, in a thread; it can be stopped and started again on the same port.

    Attributes:
        hub: publishes what a test wants shown.
        game_service: the game.
        token_store: makes pairing codes.
        admin_key: makes a browser the admin's.
        url: its address.
        program: what it serves of the program from its next start on.
        picture: the camera's.
    """

    def __init__(
        self,
        folder: Path,
        access: AccessPolicy = LOCAL,
        table_setup: TableSetup | None = None,
        program: ProgramDrawer | None = None,
    ) -> None:
        self._folder = folder
        self.program = program
        self._table_setup = table_setup
        self._access = access
        self._port = reserve_port()
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self, before: Callable[[], object] = lambda: None) -> None:
        """Start serving; a game from before is resumed, and then something done before anybody is served."""
        recording = open_clip(bundled_demo())
        header, machine = recording.tracks.header, FakeRig(recording.calibration)
        self._store = Store.at(self._folder / "store.db")
        self.hub = Hub()
        self.picture = LatestPicture()
        self.game_service = GameService(
            StoredJournals(self._store), self.hub, machine, header.field, load_rulebook("tap")
        )
        if self.game_service.resume() is None:
            self.game_service.start_game(NewGame(home=RIVER_CITY, away=OAKDALE), header.players)
        before()
        context = RigParts(
            self.game_service,
            self.hub,
            self.picture,
            self._store,
            table_setup=self._table_setup,
            program=self.program,
            style_folder=self._folder,
        )
        app = create_app(context, self._access)
        self.token_store: TokenStore = access_control_of(app).token_store
        self.admin_key: SecretFile = access_control_of(app).admin_key
        listening = socket.create_server(("127.0.0.1", self._port))
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()

    def publish(self, topic: str, payload: TopicModel | None = None, **changes: Any) -> None:
        """Publish a topic, or its last value with some changes."""
        last = self.hub.value(topic) if payload is None else payload
        self.hub.publish(topic, last.model_copy(update=changes))

    def stop(self) -> None:
        """Stop serving; feeds break off."""
        self.hub.close()
        self.picture.close()
        self._server.should_exit = True
        self._thread.join(WAIT_S)
        self.game_service.close()
        self._store.close()
