"""``downfield run``: watch a table, or play a recording, and referee it."""

from __future__ import annotations

import gc
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Annotated, Final

import cv2
import typer
from rich.console import Console

from downfield.rig.cli.terminal_lines import TerminalLog
from downfield.rig.cli.terminal_view import TerminalView
from downfield.rig.configuration.loading import Configuration, assignments, load
from downfield.rig.live.memory import keep_memory
from downfield.rig.rig import Rig

BETWEEN_S: Final = 3.0
"""A pause between two showings, to read the last call."""

_SWITCH_S: Final = 0.0002
"""How long a thread may keep the interpreter to itself: Python's 5 ms are long beside a frame's 16."""

_YOUNG: Final = 5_000
"""Objects that are made before one looks for garbage among them: a frame makes some hundred and leaves hardly any."""

_FULL_COLLECTIONS: Final = 1_400
"""Collections of what is young before one of everything: half a day. One walks through all that a game remembers, which
grows, while every frame waits, and finds next to nothing."""


def run(
    source: Annotated[
        str | None,
        typer.Option(help="A camera (0, a part of its name), an address, a video, a folder; the bundled recording."),
    ] = None,
    calibration: Annotated[Path | None, typer.Option(help="Of the camera; else made from the printed field.")] = None,
    rulebook: Annotated[str | None, typer.Option(help="A rulebook's name, or a house-rule file (.toml).")] = None,
    config: Annotated[Path | None, typer.Option(help="The configuration; downfield.toml here by default.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="table.key=value, over the file.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Of the service.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Play a recording once and end, not over and over.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Play it as fast as it goes, not at its own pace.")] = False,
    page: Annotated[bool | None, typer.Option(help="Serve the pages and the API.")] = None,
) -> None:
    """Referee a table, or a recording of one: calls here, on the operator's phone and on the stream."""
    given: dict[str, object] = assignments(settings or ())
    given |= {
        "source.name": source,
        "calibration.file": None if calibration is None else str(calibration),
        "game.rulebook": rulebook,
        "service.port": port,
        "service.on": page,
    }
    configuration = load(config, command_line=given)
    console = Console(highlight=False, soft_wrap=True)
    prepare()
    with tempfile.TemporaryDirectory(prefix="downfield-") as passing:
        try:
            _run(configuration, console, Path(passing), once=once, paced=not fast)
        except KeyboardInterrupt:  # the stages have ended by now: nobody tells of a frame after this
            console.print("stopped")


def prepare() -> None:
    """Set this process up for the loop: its stages run beside each other, and must not wait for one another.

    Whoever ends it, by Ctrl-C or as a service, has it end in order.
    """
    for asked in (signal.SIGINT, signal.SIGTERM):  # a shell starts what it leaves in the background deaf to Ctrl-C
        signal.signal(asked, signal.default_int_handler)
    cv2.setNumThreads(1)
    sys.setswitchinterval(_SWITCH_S)
    gc.set_threshold(_YOUNG, gc.get_threshold()[1], _FULL_COLLECTIONS)
    keep_memory()


def _run(configuration: Configuration, console: Console, passing: Path, *, once: bool, paced: bool) -> None:
    rig = Rig(configuration, passing, paced=paced)
    title = f"{rig.text} under {rig.rulebook.title}"
    try:
        if console.is_terminal:
            with TerminalView(console, rig.topic, title, rig.address) as view:
                rig.listen(view)
                _play(rig, console, once=once)
        else:
            console.print(f"[bold]Downfield[/bold]  {title}")
            if rig.address:
                console.print(f"watch at [bold]{rig.address}[/bold]   end with Ctrl-C")
            rig.listen(TerminalLog(console, rig.situation, live=rig.live))
            _play(rig, console, once=once)
    finally:
        rig.end()


def _play(rig: Rig, console: Console, *, once: bool) -> None:
    pause = threading.Event()
    while True:
        rig.play()
        console.print(f"[bold]{rig.situation()}[/bold]  {rig.calls} calls")
        if once or rig.live:
            return
        pause.wait(BETWEEN_S)
        rig.rewind()
