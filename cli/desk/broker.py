"""``downfield desk broker``: the tournament's broker, configured and started."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from downfield.api.http.network_addresses import network_hosts
from downfield.cli.console.options import ConfigOption
from downfield.cli.console.output import say
from downfield.core.errors import InputError
from downfield.desk.replication.broker_server import PORT, find_nats_server, write_broker_files
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import data_folder


def broker(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port that rigs and desk connect to.")] = PORT,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "0.0.0.0",  # noqa: S104  the hall's rigs
    folder: Annotated[
        Path | None,
        typer.Option("--data", help="Where it keeps its files. Default: `desk/broker` in the data folder."),
    ] = None,
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
    files = write_broker_files(place, host, port)
    hosts = network_hosts() if host in {"0.0.0.0", "::"} else [host]  # noqa: S104
    say("Copy this file to every rig's computer; it lets rigs in, so give it to nobody else:", f"  {files.rig}", "")
    say("In each rig's downfield.toml:", *_settings(hosts, port, files.rig.name), "")
    say("In the desk's:", *_settings(["127.0.0.1"], port, str(files.desk)), '  database = "postgresql://..."', "")
    if files_only:
        say(f"Start it with:  nats-server -c {files.configuration}")
        return
    say("Stop with Ctrl-C.")
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
