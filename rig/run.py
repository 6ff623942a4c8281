"""``downfield run``: a recording through the referee, in the terminal and on a page."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import typer
import uvicorn
from rich.console import Console

from downfield.api.app import create_app
from downfield.api.hub import Hub
from downfield.api.picture import LatestPicture
from downfield.calibration.errors import InputError
from downfield.officiating.calls import Call, Verdict
from downfield.officiating.events import Event
from downfield.officiating.rulebook import load_rulebook
from downfield.rig.recording import bundled_demo, open_recording
from downfield.rig.show import Show

PORT = 8317
_BETWEEN_S = 3.0  # a pause between two showings, to read the last call

_VERDICTS: Final[Mapping[Verdict, str]] = {
    "called": "bold yellow",
    "too_close": "bold dark_orange",
    "proposed": "bold cyan",
    "reported": "dim",
}


class Terminal:
    """Tells of the game line by line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""

    def situation(self, text: str, t_ns: int) -> None:
        """A line for every change of the situation."""
        if text != self._last:
            self._last = text
            self._console.print(f"[dim]{t_ns / 1e9:7.2f} s[/dim]  {text}")

    def call(self, call: Call) -> None:
        """A line for every call, with what was measured."""
        asked = "proposed: " if call.verdict == "proposed" else ""
        style = _VERDICTS[call.verdict]
        self._console.print(
            f"[dim]{call.t_ns / 1e9:7.2f} s[/dim]  [{style}]{asked}{call.text}[/{style}]"
            f"[dim]  {call.measured}  {', '.join(call.clauses)}[/dim]"
        )

    def refused(self, event: Event, reason: str) -> None:
        """A line for every declaration that was refused."""
        self._console.print(f"[red]{event.t_ns / 1e9:7.2f} s  refused: {reason}[/red]")


def run(
    source: Annotated[
        Path | None,
        typer.Option(help="A clip with its .tracks.jsonl and .calibration.json beside it; the bundled one by default."),
    ] = None,
    rulebook: Annotated[str, typer.Option(help="A rulebook's name, or a house-rule file (.toml).")] = "tap",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page, on this machine only.")] = PORT,
    once: Annotated[bool, typer.Option("--once", help="Play once and end, instead of over and over.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="As fast as it goes, instead of at its own pace.")] = False,
    page: Annotated[bool, typer.Option(help="Serve the page to watch.")] = True,
) -> None:
    """Play a recording through the referee: calls here, and the board with everything tracked on a page."""
    book = load_rulebook(rulebook)
    recording = open_recording(source or bundled_demo())
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]Downfield[/bold]  {recording.clip.name} under {book.title}")
    hub, picture = Hub(), LatestPicture()
    hub.publish("source", {"text": f"{recording.clip.name}: {recording.tracks.header.source} · {book.title}"})
    stop = threading.Event()
    server = _serve(hub, picture, port, console) if page else None
    try:
        _play(Show(recording, book, Terminal(console), hub, picture), console, stop, once=once, paced=not fast)
    except KeyboardInterrupt:
        console.print("stopped")
    finally:
        stop.set()
        if server is not None:
            server.end()


def _play(show: Show, console: Console, stop: threading.Event, *, once: bool, paced: bool) -> None:
    while True:
        game = show.play(stop, paced=paced)
        console.print(f"[bold]{game.state.text}[/bold]  {len(game.calls)} calls")
        if once:
            return
        stop.wait(_BETWEEN_S)


class _Server:
    """The service in a thread of its own."""

    def __init__(self, hub: Hub, picture: LatestPicture, listening: socket.socket) -> None:
        self._hub, self._picture = hub, picture
        app = create_app(hub, picture)
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="off")
        self._server = server = uvicorn.Server(config)
        self._thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End the feeds, so that their connections close, and wait for the thread."""
        self._hub.close()
        self._picture.close()
        self._server.should_exit = True
        self._thread.join(timeout=5)


def _serve(hub: Hub, picture: LatestPicture, port: int, console: Console) -> _Server:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # so that whoever reads the address below finds the door open
    except OSError as error:
        listening.close()
        raise InputError(f"port {port} can't be opened ({error.strerror}): choose another with --port") from None
    bound = listening.getsockname()[1]
    console.print(f"watch at [bold]http://127.0.0.1:{bound}/[/bold]   end with Ctrl-C")
    return _Server(hub, picture, listening)
