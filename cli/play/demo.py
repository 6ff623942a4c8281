"""``downfield demo``: the bundled recording, refereed, with a tour of the pages."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from downfield.capture.recording.recorded_clip import bundled_demo
from downfield.cli.play.run import run

_WHATEVER_IS_CONFIGURED: Final = (
    "source.tracks=false",
    "calibration.file=''",
    "game.rulebook=tap",
    "game.roster=''",
    "store.url=''",
)
"""The demo is the same for everybody, and leaves the table in use, its game and its store alone."""


def demo(
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port of the web pages.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Play it once instead of repeating it.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Play it as fast as this computer can.")] = False,
    page: Annotated[bool | None, typer.Option(help="Serve the web pages.")] = None,
) -> None:
    """Watch a recorded play being refereed: nothing needs to be connected, and nothing is kept."""
    run(source=str(bundled_demo()), settings=list(_WHATEVER_IS_CONFIGURED), port=port, once=once, fast=fast, page=page)
