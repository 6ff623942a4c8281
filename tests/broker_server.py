"""A NATS broker of the tests' own, configured by `downfield desk broker`; Debian's package `nats-server` brings it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from ports import reserve_port
from waiting import WAIT_S, wait_until

from downfield.desk.replication.broker_server import find_nats_server, write_broker_files
from downfield.rig.tournament.broker import BrokerAccess, broker_access


def skip_without_broker() -> None:
    """Skip a test where no NATS server, or no client of it, is installed."""
    pytest.importorskip("nats", reason="no NATS client: install the extra 'tournament'")
    if shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") is None:
        pytest.skip("no NATS broker: install Debian's package nats-server, or another that brings it")


class BrokerServer:
    """A broker over a folder, which can be killed and started again.

    Attributes:
        port: it listens on.
        files: its configuration and credentials.
    """

    def __init__(self, folder: Path) -> None:
        self.port = reserve_port()
        self.files = write_broker_files(folder, "127.0.0.1", self.port)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [find_nats_server(), "-c", str(self.files.configuration)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, "the broker starts")

    def _answers(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), WAIT_S).close()
            return True
        return False

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def access(self, who: str, port: int | None = None) -> BrokerAccess:
        """How ``"rig"`` or ``"desk"`` get in, directly or at another port."""
        credentials = self.files.tables[0] if who == "rig" else self.files.desk
        return broker_access((f"nats://127.0.0.1:{port or self.port}",), str(credentials), who)


@contextmanager
def broker_server(folder: Path) -> Iterator[BrokerServer]:
    """A running broker, killed at the end; skipping is for the caller."""
    server = BrokerServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
