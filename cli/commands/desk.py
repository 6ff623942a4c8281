"""``downfield desk``: the desk over the tables of a hall, and the event; ``desk broker`` and ``desk move``."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer
import uvicorn

from downfield.api.http.network_addresses import network_hosts, urls
from downfield.api.security.access import AccessPolicy
from downfield.api.security.connections import ConnectionGuard, GuardedListener, affordable
from downfield.api.security.forwarding import KnownClients
from downfield.api.security.secret_file import ADMIN_KEY, SecretFile
from downfield.cli.console.options import ConfigOption
from downfield.cli.console.output import open_console, print_stdout
from downfield.cli.console.process_end import ended_in_order, hang_up_as_termination
from downfield.core.errors import InputError
from downfield.core.platform.system import raise_file_limit
from downfield.desk.event.keeper import EventKeeper, Request
from downfield.desk.event.placing import change_clock
from downfield.desk.replication.broker_server import BROKER_PORT, TABLES, find_nats_server, write_broker_files
from downfield.desk.replication.desk_tournament import GAMES_FILE, open_desk_tournament
from downfield.desk.replication.tournament_store import TournamentStore, copy_games
from downfield.desk.service.app import create_desk_app
from downfield.desk.service.parts import DeskParts
from downfield.desk.tables.address_book import AddressBook
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.desk.tables.rig_client import TableWatcher
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import ServiceSettings, data_folder
from downfield.rig.service.web_service import bound_host, guarded_server, open_listener, service_certificate
from downfield.store.writing.lease import FileLease, LeasedThing
from downfield.store.writing.store import Store

DESK_PORT: Final = 8320  # The rig's port is 8317, so both run on one computer

FIRST_TABLE_PORT: Final = 8331  # Of the tables that the desk runs itself

TLS_PORT: Final = 8321  # With TLS; the rig's is 8318


def broker(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port that rigs and desk connect to.")] = BROKER_PORT,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "0.0.0.0",  # noqa: S104  the hall's rigs
    folder: Annotated[
        Path | None, typer.Option("--data", help="Where it keeps its files. Default: `desk/broker` in the data folder.")
    ] = None,
    tables: Annotated[int, typer.Option(min=1, max=1000, help="How many tables get credentials.")] = TABLES,
    files_only: Annotated[
        bool, typer.Option("--files-only", help="Write the configuration and credentials, and start nothing.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Run the tournament's broker: nats-server with JetStream, in place of this program."""
    place = (folder or data_folder(load(config).settings) / "desk" / "broker").absolute()
    program = "" if files_only else find_nats_server()
    if not files_only:
        _check_free(host, port)
    files = write_broker_files(place, host, port, tables)
    hosts = network_hosts() if host in {"0.0.0.0", "::"} else [host]  # noqa: S104
    print_stdout(
        "Copy one of these files to each rig's computer, to each another; give them to nobody else:",
        f"  {files.tables[0]} to {files.tables[-1].name}",
        "",
    )
    print_stdout("In each rig's downfield.toml:", *_settings(hosts, port, files.tables[0].name), "")
    print_stdout(
        "In the desk's:", *_settings(["127.0.0.1"], port, str(files.desk)), '  database = "postgresql://..."', ""
    )
    if files_only:
        print_stdout(f"Start it with:  nats-server -c {files.configuration}")
        return
    print_stdout("Stop with Ctrl-C.")
    os.execv(program, [program, "-c", str(files.configuration)])  # noqa: S606  no shell


def _check_free(host: str, port: int) -> None:
    try:
        socket.create_server((host, port)).close()
    except OSError as error:
        raise InputError(
            f"{host}:{port} can't be used ({error.strerror}). If Debian's own service runs there, end it by"
            " 'sudo systemctl disable --now nats-server'; or give another --port."
        ) from None


def _settings(hosts: list[str], port: int, credentials: str) -> list[str]:
    server = next(iter(hosts), "ADDRESS")
    shown = f"[{server}]" if ":" in server else server
    return ["  [tournament]", f'  servers = ["nats://{shown}:{port}"]', f'  credentials = "{credentials}"']


def move(
    database: Annotated[str, typer.Argument(help="Where to: postgresql://me@host/downfield.")],
    folder: Annotated[
        Path | None, typer.Option("--data", help="The desk's folder. Default: `desk` in the data folder.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Copy the games of all tables from the desk's own file to PostgreSQL, when an event outgrows one computer."""
    place = folder or data_folder(load(config).settings) / "desk"
    lease = FileLease(place / ".desk.lock", _leased(place))
    kept = place / GAMES_FILE
    if not kept.is_file():
        raise InputError(f"{kept} is not there: this desk has kept no games itself.")
    source, target = TournamentStore(f"sqlite:///{kept.absolute()}"), TournamentStore(database)
    try:
        keeper, last = EventKeeper(place / "event.json"), target.last_number()
        games, entries = copy_games(source, target)
        before = keeper.event.games_after
        if before is not None and games:
            keeper.note(games_after=last + before)
    finally:
        source.close()
        target.close()
        lease.close()
    print_stdout(f"{games} games with {entries} entries were copied to {target.where}; {kept} stays as it is.", "")
    print_stdout("In the desk's downfield.toml, beside the broker's servers and credentials:", "  [tournament]")
    print_stdout(f'  database = "{target.where}"')


def _leased(place: Path) -> LeasedThing:
    return LeasedThing(f"The desk's folder {place}", "give this one a folder of its own with --data.")


app = typer.Typer(add_completion=False, invoke_without_command=True)
app.command("broker")(broker)
app.command("move")(move)


@app.callback()
def desk(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the desk's pages.")] = DESK_PORT,
    lan: Annotated[
        bool, typer.Option("--lan", help="Let phones and other computers in the network use the pages.")
    ] = False,
    tls: Annotated[
        bool, typer.Option("--tls", help="Encrypt what crosses the network, as phones of the tournament need it.")
    ] = False,
    tls_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the desk's pages with --tls.")] = TLS_PORT,
    tables: Annotated[
        int,
        typer.Option(min=0, max=12, help="Run so many tables on this computer as well, kept by hand on their panels."),
    ] = 0,
    folder: Annotated[
        Path | None,
        typer.Option("--data", help="Where the event and the tables are kept. Default: `desk` in the data folder."),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Run the director's desk: every table at a glance, the event, its big screen and its overlays."""
    if context.invoked_subcommand is not None:
        return
    settings = load(config).settings
    place = folder or data_folder(settings) / "desk"
    lease = FileLease(place / ".desk.lock", _leased(place))
    keeper, book = EventKeeper(place / "event.json"), AddressBook(place / "tables.json")
    grants = GrantKeeper(place)
    tournament = open_desk_tournament(settings, keeper, place, grants)
    parts = DeskParts(keeper, book, TableWatcher(), tournament, grants)
    store = Store.at(place / "devices.db")
    key = SecretFile(place / ADMIN_KEY)
    known = KnownClients(())
    host = bound_host(ServiceSettings(lan=lan))
    listeners = [open_listener(host, port), *([open_listener(host, tls_port)] if tls else [])]
    ports: list[int] = [listener.getsockname()[1] for listener in listeners]
    files = service_certificate(settings.service, place) if tls else None
    access = AccessPolicy(lan, tls_port=ports[1] if tls else None, plain_port=ports[0])
    app = create_desk_app(parts, store, key, access, known)
    console = open_console(required=False)
    console.print(f"Open  http://127.0.0.1:{ports[0]}/  in a browser on this computer.")
    for address in urls(network_hosts(), "https" if tls else "http", ports[-1], "") if lan else ():
        console.print(f"On other devices:  {address}")
    if files is not None and not settings.service.certificate:
        console.print("The certificate is the desk's own; a browser warns once. Its SHA-256 fingerprint:")
        console.print(f"  {files.fingerprint}")
    console.print("Stop with Ctrl-C.")
    if tournament.where:
        console.print(f"The tournament's broker: {tournament.where}.")
    console.print(f"The games of all tables are kept in {tournament.kept_in}.")
    names = [f"Table {number}" for number in range(1, tables + 1)]
    if names and not keeper.event.tables:
        clock = keeper.event.clock
        by = Request("this computer")
        keeper.change(by, "named the tables", lambda event, change: change_clock(event, clock, names, change))
    running = [_run_table(place, name, number, ports[0], lan=lan) for number, name in enumerate(names)]
    for name, number in zip(names, range(tables), strict=True):
        console.print(f"{name}:  http://127.0.0.1:{FIRST_TABLE_PORT + number}/panel")
    for table in parts.book.tables:
        parts.watcher.watch(table)
    guard = ConnectionGuard(known, affordable(raise_file_limit()))
    servers = [guarded_server(app, guard, files if number else None) for number in range(len(listeners))]
    try:
        with ended_in_order():  # uvicorn raises the signal that ended it once more
            hang_up_as_termination()
            asyncio.run(_serve(servers, [GuardedListener.over(listener, guard) for listener in listeners]))
    except KeyboardInterrupt:
        console.print("stopped")
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()
        tournament.close()
        parts.watcher.close()
        store.close()
        lease.close()


def _run_table(place: Path, name: str, number: int, port: int, *, lan: bool) -> subprocess.Popen[bytes]:
    """Start a table on this computer, which keeps its games itself and sends them to this desk."""
    settings = {
        "data": str((place / name.lower().replace(" ", "-")).absolute()),
        "rig.table": name,
        "service.port": FIRST_TABLE_PORT + number,
        "service.lan": lan,
        "tournament.servers": [f"http://127.0.0.1:{port}"],
        "tournament.credentials": "",
    }
    given = [part for key, value in settings.items() for part in ("--set", f"{key}={json.dumps(value)}")]
    command = [sys.executable, "-m", "downfield", "score", "--until-stdin-closes", *given]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)  # noqa: S603


async def _serve(servers: Sequence[uvicorn.Server], listeners: Sequence[GuardedListener]) -> None:
    """Serve until one of the servers ends: a signal reaches one of them only."""

    async def serve(server: uvicorn.Server, listener: GuardedListener) -> None:
        with suppress(KeyboardInterrupt):
            await server.serve(sockets=[listener])

    serving = [asyncio.create_task(serve(*pair)) for pair in zip(servers, listeners, strict=True)]
    await asyncio.wait(serving, return_when=asyncio.FIRST_COMPLETED)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*serving)
