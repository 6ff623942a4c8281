"""``downfield admin``: the link that makes a browser the admin's, again or anew."""

from __future__ import annotations

from typing import Annotated

import typer

from downfield.api.http.network_addresses import outside_hosts, own_host, urls
from downfield.cli.console.options import ConfigOption, JsonOption, SetOption
from downfield.cli.console.output import json_text, open_console, print_stdout
from downfield.cli.console.terminal import print_qr
from downfield.core.errors import InputError
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import data_folder
from downfield.rig.service.web_service import bound_host, open_admin_key


def admin(
    new: Annotated[
        bool,
        typer.Option(
            "--new", help="Make a new key. Browsers that opened an earlier link are signed out, paired phones stay."
        ),
    ] = False,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the link that makes a browser the admin's: for the first one, or when it was lost. Keep it to yourself."""
    configuration = load(config, settings).settings
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
