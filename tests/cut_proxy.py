"""A network that can be cut: a proxy that passes a port on, resets its connections, or lets them hang."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Literal

State = Literal["passing", "reset", "silent"]


class CutProxy:
    """Passes connections on to a port of this computer.

    Attributes:
        port: it listens on.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._passing = threading.Event()
        self._passing.set()
        self._refusing = False
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, state: State) -> None:
        """Pass everything on; or reset every connection and refuse new ones; or pass nothing and say nothing."""
        self._refusing = state == "reset"
        if state == "silent":
            self._passing.clear()
            return
        if state == "reset" or not self._passing.is_set():  # what hung for long is never taken up again
            for one in list(self._open):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        self._passing.set()

    def close(self) -> None:
        """End it."""
        self.set("reset")
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if self._refusing:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self._target), 5)
                except OSError:
                    near.close()
                    continue
                for source, sink in ((near, far), (far, near)):
                    self._open.add(source)
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while content := source.recv(65536):
                self._passing.wait()
                sink.sendall(content)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            self._open.discard(one)
            one.close()
