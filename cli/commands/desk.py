"""``downfield desk``: the director's desk over the tables of a hall, and the event; ``downfield desk broker``."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
import uvicorn

from downfield.api.http.network_addresses import network_hosts, urls
from downfield.api.security.access import AccessPolicy
from downfield.api.security.connections import ConnectionGuard, GuardedListener, affordable, guarded_protocol
from downfield.api.security.forwarding import KnownClients
from downfield.api.security.secret_file import ADMIN_KEY, SecretFile
from downfield.cli.console.options import ConfigOption
from downfield.cli.console.output import open_console, print_stdout
from downfield.cli.console.process_end import hang_up_as_termination
from downfield.core.errors import InputError
from downfield.core.platform.system import raise_file_limit
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.broker_server import BROKER_PORT, TABLES, find_nats_server, write_broker_files
from downfield.desk.replication.desk_tournament import open_desk_tournament
from downfield.desk.service.app import create_desk_app
from downfield.desk.service.parts import DeskParts
from downfield.desk.tables.address_book import AddressBook
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.desk.tables.rig_client import TableWatcher
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import data_folder
from downfield.rig.service.web_service import everywhere, open_listener, service_certificate
from downfield.store.writing.lease import FileLease, LeasedThing
from downfield.store.writing.store import Store

DESK_PORT: Final = 8320
"""The rig's port is 8317, so both run on one computer."""

TLS_PORT: Final = 8321
"""With TLS; the rig's is 8318."""


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


app = typer.Typer(add_completion=False, invoke_without_command=True)
app.command("broker")(broker)


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
    thing = LeasedThing(f"The desk's folder {place}", "give this one a folder of its own with --data.")
    lease = FileLease(place / ".desk.lock", thing)
    keeper, book = EventKeeper(place / "event.json"), AddressBook(place / "tables.json")
    grants = GrantKeeper(place)
    tournament = open_desk_tournament(settings, keeper, place, grants)
    parts = DeskParts(keeper, book, TableWatcher(), tournament, grants)
    store = Store.at(place / "devices.db")
    key = SecretFile(place / ADMIN_KEY)
    known = KnownClients(())
    host = everywhere() if lan else "127.0.0.1"
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
    if tournament is not None:
        console.print(f"The tournament's broker: {tournament.where}. Its games are kept in {tournament.kept_in}.")
    for table in parts.book.tables:
        parts.watcher.watch(table)
    guard = ConnectionGuard(known, affordable(raise_file_limit()))
    servers = [
        uvicorn.Server(
            uvicorn.Config(
                app,
                http=guarded_protocol(guard),
                log_level="warning",
                access_log=False,
                lifespan="off",
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=1,
                ssl_certfile=str(files.certificate) if files is not None and number else None,
                ssl_keyfile=str(files.key) if files is not None and number else None,
            )
        )
        for number in range(len(listeners))
    ]
    hang_up_as_termination()
    try:
        asyncio.run(_serve(servers, [GuardedListener.over(listener, guard) for listener in listeners]))
    except KeyboardInterrupt:
        console.print("stopped")
    finally:
        if tournament is not None:
            tournament.close()
        parts.watcher.close()
        store.close()
        lease.close()


async def _serve(servers: Sequence[uvicorn.Server], listeners: Sequence[GuardedListener]) -> None:
    """Serve until one of the servers ends: a signal reaches one of them only."""
    serving = [
        asyncio.create_task(server.serve(sockets=[listener]))
        for server, listener in zip(servers, listeners, strict=True)
    ]
    await asyncio.wait(serving, return_when=asyncio.FIRST_COMPLETED)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*serving)
