"""TCP ports for servers that are started by number, or stopped and started again on the same one.

The system gives free ports of its own range, 32768 and above, to whoever connects: one that was free a moment ago may
be taken when the server starts. These lie below, and a lock keeps each for one process of tests until that ends.
"""

from __future__ import annotations

import atexit
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from downfield.core.platform.file_locks import FILE_LOCKS

_PORTS: Final = iter(range(20_000, 32_000))


def reserve_port() -> int:
    """Return a free port of 127.0.0.1 that no other process of tests takes while this one runs."""
    folder = Path(tempfile.gettempdir()) / "downfield-test-ports"
    folder.mkdir(exist_ok=True)
    with suppress(PermissionError):  # another user's, who has done it
        folder.chmod(0o777)
    for port in _PORTS:
        with suppress(OSError):  # in use, or another user's
            lock = (folder / str(port)).open("wb")
            atexit.register(lock.close)  # it lasts while the file is open
            if FILE_LOCKS.lock(lock.fileno()):
                socket.create_server(("127.0.0.1", port)).close()
                return port
    raise AssertionError("no port of 20000 to 31999 is free")
