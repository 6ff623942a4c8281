"""Listening sockets, whose options mean different things on different systems."""

from __future__ import annotations

import socket
from typing import Final

from downfield.core.platform.system import SYSTEM

_EXCLUSIVE: Final = ~socket.SO_REUSEADDR
"""`SO_EXCLUSIVEADDRUSE`, which only Python on Windows names; its value is winsock2.h's."""


def reclaim_address(listener: socket.socket) -> None:
    """Let a socket listen where a program that ended did a moment ago, but never where one still does.

    POSIX says that by `SO_REUSEADDR`. On Windows that lets two programs listen at once, and the first option is not
    needed: `SO_EXCLUSIVEADDRUSE` is what keeps the second one out.
    """
    if SYSTEM == "windows":
        listener.setsockopt(socket.SOL_SOCKET, _EXCLUSIVE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
