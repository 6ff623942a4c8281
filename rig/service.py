"""The service in a thread of its own, beside the loop."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import threading

import uvicorn

from downfield.api.app import create_app
from downfield.api.dependencies import AppContext
from downfield.api.feed.relay import RelayManager
from downfield.api.security.middleware import AccessPolicy
from downfield.core.errors import InputError
from downfield.rig.configuration.settings import ServiceSettings

_ENDING_S = 5.0
_LONGEST_MESSAGE = 4096  # bytes a client may send on a socket: nothing of it is read
_MOST_CONNECTIONS = 1024  # beyond the feeds that are let open, so that a flood leaves room for the panel


class Service:
    """Serves the parts until it is ended.

    Attributes:
        port: it is found at.
        relay: serves most event streams when there are many.

    Args:
        parts: what is served.
        table: at which address, and for whom.

    Raises:
        InputError: the address or port can't be opened.

    """

    def __init__(self, parts: AppContext, table: ServiceSettings) -> None:
        self._parts = parts
        listening = listening_at(table.host, table.port)
        self.port: int = listening.getsockname()[1]
        lan = not is_loopback(table.host)
        access = AccessPolicy(lan, table.names, table.open_viewing, table.trust_local)
        self.relay = RelayManager(parts.hub, self._transport_of)
        config = uvicorn.Config(
            create_app(parts, access, self.relay),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            ws_max_size=_LONGEST_MESSAGE,
            limit_concurrency=_MOST_CONNECTIONS,
        )
        logging.getLogger("uvicorn.error").addFilter(_is_a_fault)
        self._server = server = uvicorn.Server(config)
        self._thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="service", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where this computer finds it."""
        return f"http://127.0.0.1:{self.port}/"

    def end(self) -> None:
        """End the feeds, so that their connections close, and wait for the thread."""
        self._parts.hub.close()
        self._parts.picture.close()
        self._server.should_exit = True
        self._thread.join(timeout=_ENDING_S)
        self.relay.close()

    def _transport_of(self, client: tuple[str, int]) -> asyncio.Transport | None:
        """The connection of a client."""
        for connection in self._server.server_state.connections:
            if getattr(connection, "client", None) == client:
                transport = getattr(connection, "transport", None)
                return transport if isinstance(transport, asyncio.Transport) else None
        return None


def _is_a_fault(record: logging.LogRecord) -> bool:
    """Whether something went wrong: uvicorn takes every client that is let go, since it stalled, for an error."""
    return "returned without completing response" not in record.getMessage()


def is_loopback(host: str) -> bool:
    """Whether an address is of this computer alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening_at(host: str, port: int) -> socket.socket:
    """A socket that listens already; port 0 for any free one.

    Raises:
        InputError: there is no such address, or it can't be opened.

    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(f"'{host}' is no address to listen at ({error.strerror})") from None
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen()  # so that whoever reads the address finds the door open
    except OSError as error:
        listening.close()
        raise InputError(
            f"port {port} at {host} can't be opened ({error.strerror}): choose another with --port"
        ) from None
    return listening
