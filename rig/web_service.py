"""The web service in its own thread, beside the loop."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import threading
from dataclasses import dataclass
from typing import Final

import uvicorn

from downfield.api.app import create_app
from downfield.api.dependencies import AppContext
from downfield.api.feed.relay import RelayManager
from downfield.api.security.middleware import AccessPolicy
from downfield.core.errors import InputError
from downfield.rig.configuration.settings import ServiceSettings


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Limits of the web service."""

    close_timeout_s: float = 5.0
    """Timeout for the service to end."""

    message_bytes: int = 4096
    """Longest message from a client on a WebSocket; its content is not used."""

    connections: int = 1024
    """More than the feeds may have, so that a flood leaves room for the panel."""


LIMITS: Final = ServiceLimits()


class Service:
    """Serves the web pages and the API until it is closed.

    Attributes:
        port: the port it listens on.
        relay: serves most event streams when there are many.

    Args:
        context: the objects that the API serves.
        settings: the address, and who may connect.

    Raises:
        InputError: the address or port can't be opened.

    """

    def __init__(self, context: AppContext, settings: ServiceSettings) -> None:
        self._context = context
        listener = open_listener(settings.host, settings.port)
        self.port: int = listener.getsockname()[1]
        lan = not is_loopback(settings.host)
        policy = AccessPolicy(lan, settings.names, settings.open_viewing, settings.trust_local)
        self.relay = RelayManager(context.hub, self._transport_of)
        config = uvicorn.Config(
            create_app(context, policy, self.relay),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            ws_max_size=LIMITS.message_bytes,
            limit_concurrency=LIMITS.connections,
        )
        logging.getLogger("uvicorn.error").addFilter(_is_error)
        self._server = server = uvicorn.Server(config)
        self._thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="service", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The address of the service on this computer."""
        return f"http://127.0.0.1:{self.port}/"

    def close(self) -> None:
        """End the feeds, so that their connections close, and wait for the thread."""
        self._context.hub.close()
        self._context.picture.close()
        self._server.should_exit = True
        self._thread.join(timeout=LIMITS.close_timeout_s)
        self.relay.close()

    def _transport_of(self, client: tuple[str, int]) -> asyncio.Transport | None:
        """Return the connection of a client."""
        for connection in self._server.server_state.connections:
            if getattr(connection, "client", None) == client:
                transport = getattr(connection, "transport", None)
                return transport if isinstance(transport, asyncio.Transport) else None
        return None


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this computer only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that already listens; port 0 for any free one.

    Raises:
        InputError: the address is not one of this computer, or can't be opened.

    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(
            f"Can't listen on '{host}': it is not an address of this computer ({error.strerror})."
        ) from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen()  # so that clients can connect as soon as the address is shown
    except OSError as error:
        listener.close()
        raise InputError(
            f"Port {port} on {host} can't be opened ({error.strerror}). Choose another with --port."
        ) from None
    return listener


def _is_error(record: logging.LogRecord) -> bool:
    """Return whether a log record is an error; uvicorn logs every stalled client that is disconnected as one."""
    return "returned without completing response" not in record.getMessage()
