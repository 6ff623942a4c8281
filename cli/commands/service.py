"""``downfield service`` and ``logs``: the rig as a service that starts at boot, and what happened."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from downfield.cli.console.options import ConfigOption, SetOption
from downfield.cli.console.output import print_stdout
from downfield.core.errors import InputError
from downfield.rig.configuration.loading import FILE_NAME, load
from downfield.rig.configuration.settings import logs_folder, tables_folder
from downfield.rig.tables.profile import TableFolder
from downfield.rig.upkeep.log_file import LOG_FILE_NAME, LogLevel, last_lines, reaches
from downfield.rig.upkeep.systemd import ServiceUnit, install, run_unit, uninstall, unit_status

_LOOK_EVERY_S: Final = 0.5


def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, max=1_000_000, help="How many of the last lines.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is written, until Ctrl-C.")] = False,
    level: Annotated[LogLevel, typer.Option(help="Only lines of this level or a higher one.")] = "debug",
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Print the rig's log: starts, calls, problems and their remedies."""
    folder = logs_folder(load(config, settings).settings)
    file = folder / LOG_FILE_NAME
    begin = _identity(file), file.stat().st_size if file.is_file() else 0  # what comes from here on is followed
    try:
        for line in last_lines(folder, lines, level):
            print_stdout(line)
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
                print_stdout(line)
        pause.wait(_LOOK_EVERY_S)


def _identity(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Run the rig as a service: started at boot, restarted when it fails, watched (systemd).",
)

SystemOption = Annotated[
    bool, typer.Option("--system", help="A unit of the system instead of yours; needs root. It runs as you.")
]


@app.command("install")
def install_service(
    config: ConfigOption = None,
    system: SystemOption = False,
    show: Annotated[bool, typer.Option("--print", help="Print the unit and change nothing.")] = False,
) -> None:
    """Start the rig now and at every boot."""
    if config is None and Path(FILE_NAME).is_file():
        config = Path(FILE_NAME)
    settings = load(config).settings
    if not settings.source.name and TableFolder(tables_folder(settings)).in_use() is None:
        raise InputError(
            "No table is set up yet, so a service would only play the bundled recording. Set one up with"
            " `downfield calibrate table NAME --source 0`, or name a source in the configuration."
        )
    unit = _unit(config, system=system)
    if show:
        print_stdout(*unit.text.splitlines())
        return
    for sentence in install(unit):
        print_stdout(sentence)
    print_stdout("Look at it with `downfield service status` and `downfield logs --follow`.")


@app.command("status")
def service_status(system: SystemOption = False) -> None:
    """Say whether the service runs, and how the rig is."""
    print_stdout(*unit_status(_unit(None, system=system)).split("\n"))


@app.command("uninstall")
def uninstall_service(system: SystemOption = False) -> None:
    """Stop the service and remove it; games and recordings stay."""
    for sentence in uninstall(_unit(None, system=system)):
        print_stdout(sentence)


def _unit(config: Path | None, *, system: bool) -> ServiceUnit:
    return run_unit(sys.executable, config, Path.cwd(), system=system)
