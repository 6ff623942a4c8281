"""``downfield service``, ``logs``, ``admin``: the rig as a service, what happened, and the admin's link."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from downfield.api.http.network_addresses import outside_hosts, own_host, urls
from downfield.cli.console.options import ConfigOption, JsonOption, PortOption, SetOption
from downfield.cli.console.output import json_text, open_console, print_result, print_stderr, print_stdout
from downfield.cli.console.terminal import print_qr
from downfield.core.errors import InputError
from downfield.rig.configuration.loading import FILE_NAME, load
from downfield.rig.configuration.settings import data_folder, logs_folder, tables_folder
from downfield.rig.service.web_service import bound_host, open_admin_key
from downfield.rig.tables.profile import TableFolder
from downfield.rig.upkeep.log_file import LOG_FILE_NAME, LogLevel, last_lines, reaches
from downfield.rig.upkeep.systemd import install, run_unit, uninstall, unit_status

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
    unit = run_unit(config, system=system)
    if show:
        print_stdout(*unit.text.splitlines())
        return
    for sentence in install(unit):
        print_stdout(sentence)
    print_stdout("Look at it with `downfield service status` and `downfield logs --follow`.")


@app.command("status")
def service_status(system: SystemOption = False, as_json: JsonOption = False) -> None:
    """Say whether the service runs, and how the rig is."""
    print_result(as_json, unit_status(run_unit(None, system=system)).split("\n"))


@app.command("uninstall")
def uninstall_service(system: SystemOption = False) -> None:
    """Stop the service and remove it; games and recordings stay."""
    for sentence in uninstall(run_unit(None, system=system)):
        print_stdout(sentence)


def admin(
    new: Annotated[
        bool,
        typer.Option(
            "--new", help="Make a new key. Browsers that opened an earlier link are signed out, paired phones stay."
        ),
    ] = False,
    port: PortOption = None,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the link that makes a browser the admin's: for the first one, or when it was lost. Keep it to yourself."""
    configuration = load(config, settings, command_line={"service.port": port}).settings
    service = configuration.service
    key = open_admin_key(data_folder(configuration), must_be_kept=True)
    if new:
        try:
            key.renew()
        except OSError as error:
            raise InputError(f"The admin key can't be replaced ({error.strerror}).") from None
    console = open_console()
    ending = f"pair#{key.text}"
    port = service.port or 8317
    bound = bound_host(service)
    with socket.socket() as asked:
        if asked.connect_ex(("127.0.0.1", port)):
            print_stderr(
                f"Nothing answers at port {port}. Was the rig started with another? downfield admin --port PORT"
            )
    link = f"http://{own_host(bound)}:{port}{service.prefix}/{ending}"
    if as_json:
        print_stdout(json_text({"link": link, "token": key.session()}))
        return
    console.print(f"On this computer:  {link}")
    if service.lan or service.tls or service.host not in {"127.0.0.1", "::1", "localhost"}:
        scheme, outside = ("https", service.tls_port) if service.tls else ("http", port)
        addresses = [address + ending for address in urls(outside_hosts(bound), scheme, outside, service.prefix)]
        for address in addresses:
            console.print(f"On another device:  {address}")
        if addresses:
            print_qr(console, addresses[0])
    console.print(f"For programs:  Authorization: Bearer {key.session()}")
    if new:
        console.print("This is a new key; links and browsers of the earlier one are no longer the admin's.")
