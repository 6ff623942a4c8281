"""The tournament's broker: nats-server, with a configuration and credentials that are made once.

The desk and each table are users with permissions of their own: a table may send journals and its feed, and hears
answers in an inbox of its own; it reads nothing that is for others. The broker keeps the newest value of each topic of
each table (JetStream), so a desk that starts late sees every table at once.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError
from downfield.core.files.private_files import create_private_file, make_private_folder, replace_private_file
from downfield.core.records import read_record, to_json
from downfield.rig.tournament.broker import BrokerCredentials, inbox_of

BROKER_PORT: Final = 4222  # NATS's own

DESK_FILE: Final = "desk.credentials.json"
TABLES: Final = 16  # Tables that get credentials where no number is given
CONFIGURATION_FILE: Final = "nats.conf"

_MAX_BYTES: Final = 8 << 20
"""The largest message: a batch of a journal is 256 kB, an entry with a second of scenes may be larger."""

_SYSTEM_FOLDERS: Final = ("/usr/sbin", "/usr/local/sbin")  # Where Debian puts it; not in the path of ordinary users


@dataclass(frozen=True, slots=True)
class BrokerFiles:
    """What a broker is started with."""

    configuration: Path
    desk: Path  # the credentials of the desk
    tables: tuple[Path, ...]  # the credentials of the tables, one for each rig


def find_nats_server() -> str:
    """Return the program. Raises InputError: it is not installed."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_SYSTEM_FOLDERS))
    found = shutil.which("nats-server", path=path)
    if found is None:
        raise InputError(
            "nats-server is not installed. On Debian and Ubuntu: sudo apt install nats-server; else see nats.io."
        )
    return found


def write_broker_files(folder: Path, host: str, port: int, tables: int = TABLES) -> BrokerFiles:
    """Write a broker's files; credentials that exist stay. Raises InputError: the folder can't be written or read."""
    paths = tuple(folder / f"table-{number}.credentials.json" for number in range(1, tables + 1))
    files = BrokerFiles(folder / CONFIGURATION_FILE, folder / DESK_FILE, paths)
    try:
        make_private_folder(folder)
        desk = _credentials(files.desk, "desk")
        rigs = [_credentials(path, path.name.partition(".")[0]) for path in paths]
        replace_private_file(files.configuration, _configuration(folder, host, port, desk, rigs).encode())
    except OSError as error:
        raise InputError(f"{folder}: the broker's files can't be written: {error.strerror}") from None
    return files


def _credentials(path: Path, user: str) -> BrokerCredentials:
    if not path.exists():
        made = BrokerCredentials(user, secrets.token_urlsafe(24))
        create_private_file(path, f"{to_json(BrokerCredentials, made)}\n".encode())
    return read_record(BrokerCredentials, path)


def _configuration(
    folder: Path, host: str, port: int, desk: BrokerCredentials, rigs: Sequence[BrokerCredentials]
) -> str:
    users = "\n".join(f"    {_table_user(rig)}" for rig in rigs)
    return f"""# Made by `downfield desk broker`, and written again at each start.
server_name: downfield
listen: {json.dumps(f"{host}:{port}")}
max_payload: {_MAX_BYTES}
ping_interval: "5s"
ping_max: 2
write_deadline: "5s"
jetstream {{
  store_dir: {json.dumps(str(folder.absolute() / "jetstream"))}
  max_file_store: 1GB
  max_memory_store: 64MB
}}
authorization {{
  users: [
    {{ user: {json.dumps(desk.user)}, password: {json.dumps(desk.password)} }}
{users}
  ]
}}
"""


def _table_user(rig: BrokerCredentials) -> str:
    """Return a table's user: it hears its own inbox, that something is new, and where rigs are."""
    may = {
        "publish": ["downfield.journal.*", "downfield.feed.*.*", "downfield.push.get"],
        "subscribe": [f"{inbox_of(rig.user)}.>", "downfield.push.changed", "downfield.feed.*.about"],
    }
    return f"{{ user: {json.dumps(rig.user)}, password: {json.dumps(rig.password)}, permissions: {json.dumps(may)} }}"
