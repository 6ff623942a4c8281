"""A PostgreSQL server of the tests' own, in a temporary folder; Debian's package `postgresql` brings what it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from ports import reserve_port
from waiting import WAIT_S

_DEBIAN = Path("/usr/lib/postgresql")
_UNPRIVILEGED = "nobody"
"""PostgreSQL refuses to run as root; a container's root starts it as this user."""


def programs() -> Path | None:
    """The folder of initdb and pg_ctl; None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    versions = sorted(_DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None


def skip_without_postgres() -> None:
    """Skip a test where PostgreSQL is not installed."""
    if programs() is None:
        pytest.skip("no PostgreSQL: install Debian's package postgresql, or another that brings initdb")


class PostgresServer:
    """A server over a folder, which can be killed and started again.

    Args:
        data: its folder, made by `postgres_cluster`.
        port: it listens on.
        user: who runs it; None for this user.
        options: of the server.

    Attributes:
        data: its folder.
        address: of an empty database.
    """

    def __init__(self, data: Path, port: int, user: str | None, options: str) -> None:
        self.data, self._user = data, user
        self._options = f"-h 127.0.0.1 -p {port} -k {data} {options}"
        self.address = f"postgresql://downfield@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._control("-w", "-l", str(self.data / "log"), "-o", self._options, "start")

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self._control("-w", "-m", "immediate", "stop")

    def _control(self, *arguments: str) -> None:
        folder = programs()
        assert folder is not None
        _run(self._user, folder / "pg_ctl", "-D", self.data, *arguments)


@contextmanager
def postgres_cluster(options: str = "-c fsync=off") -> Iterator[PostgresServer]:
    """A running server, killed at the end; skipping is for the caller.

    Raises:
        FileNotFoundError: PostgreSQL is not installed.
    """
    folder = programs()
    if folder is None:
        raise FileNotFoundError("initdb")
    user = _UNPRIVILEGED if os.geteuid() == 0 else None
    # Not in pytest's own temporary folder, which only its owner may enter.
    with tempfile.TemporaryDirectory(prefix="downfield-postgres-", ignore_cleanup_errors=True) as made:
        data = Path(made) / "data"
        data.mkdir(mode=0o700)
        if user is not None:
            Path(made).chmod(0o755)
            shutil.chown(data, user)
        port = reserve_port()
        _run(user, folder / "initdb", "-D", data, "-U", "downfield", "-A", "trust", "-E", "UTF8", "--no-sync")
        server = PostgresServer(data, port, user, options)
        server.start()
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):  # a test may have killed it
                server.kill()


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of an empty database on a server that runs until the end; skipping is for the caller.

    Raises:
        FileNotFoundError: PostgreSQL is not installed.
    """
    with postgres_cluster() as server:
        yield server.address


def _run(user: str | None, *command: str | Path) -> None:
    subprocess.run(
        [str(part) for part in command],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=user,
        cwd="/",
        timeout=WAIT_S,
    )
