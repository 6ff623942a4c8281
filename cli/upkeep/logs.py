"""``downfield logs``: what happened at the table."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from downfield.cli.console.options import ConfigOption, SetOption
from downfield.cli.console.output import say
from downfield.core.errors import InputError
from downfield.rig.configuration.loading import load, parse_assignments
from downfield.rig.configuration.settings import logs_folder
from downfield.rig.upkeep.log_file import FILE_NAME, LogLevel, last_lines, reaches

_LOOK_EVERY_S: Final = 0.5


def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, max=1_000_000, help="How many of the last lines.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is written, until Ctrl-C.")] = False,
    level: Annotated[LogLevel, typer.Option(help="Only lines of this level or a higher one.")] = "debug",
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Print the rig's log: starts, calls, problems and their remedies."""
    folder = logs_folder(load(config, command_line=parse_assignments(settings or ())).settings)
    file = folder / FILE_NAME
    begin = _identity(file), file.stat().st_size if file.is_file() else 0  # what comes from here on is followed
    try:
        for line in last_lines(folder, lines, level):
            say(line)
    except InputError:
        if not follow:
            raise
    if follow:
        try:
            _follow(file, level, *begin)
        except KeyboardInterrupt:
            return


def _follow(path: Path, level: LogLevel, identity: int | None, place: int) -> None:
    """Print lines as they are added after a place in a file; a rotated file is followed into the new one."""
    pause = threading.Event()
    rest = ""
    while True:
        if _identity(path) != identity:
            identity, place, rest = _identity(path), 0, ""
        text = rest
        with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:  # it may just be rotated
            file.seek(place)
            text, place = rest + file.read(), file.tell()
        *whole, rest = text.split("\n")
        for line in whole:
            if reaches(line, level):
                say(line)
        pause.wait(_LOOK_EVERY_S)


def _identity(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
