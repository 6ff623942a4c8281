"""``downfield service``: the rig as a service of this computer, started at boot and restarted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from downfield.cli.console.options import ConfigOption
from downfield.cli.console.output import say
from downfield.core.errors import InputError
from downfield.rig.configuration.loading import FILE_NAME, load
from downfield.rig.configuration.settings import tables_folder
from downfield.rig.tables.profile import TableFolder
from downfield.rig.upkeep.systemd_unit import ServiceUnit, install, run_unit, status_text, uninstall

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
        say(*unit.text.splitlines())
        return
    for sentence in install(unit):
        say(sentence)
    say("Look at it with `downfield service status` and `downfield logs --follow`.")


@app.command("status")
def service_status(system: SystemOption = False) -> None:
    """Say whether the service runs, and how the rig is."""
    say(*status_text(_unit(None, system=system)).split("\n"))


@app.command("uninstall")
def uninstall_service(system: SystemOption = False) -> None:
    """Stop the service and remove it; games and recordings stay."""
    for sentence in uninstall(_unit(None, system=system)):
        say(sentence)


def _unit(config: Path | None, *, system: bool) -> ServiceUnit:
    return run_unit(sys.executable, config, Path.cwd(), system=system)
