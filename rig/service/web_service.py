"""The web service in its own thread, beside the loop; and the review of labels while a command waits."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import uvicorn

from downfield.api.app import create_app
from downfield.api.context.access_control import access_control_of
from downfield.api.context.context import RigParts, context_of
from downfield.api.feed.relay import RelayManager
from downfield.api.http.network_addresses import network_hosts, outside_hosts, own_host, urls
from downfield.api.label_review import LabelReview
from downfield.api.routes.pairing import page_of
from downfield.api.security import forwarding
from downfield.api.security.access import AccessPolicy, DeviceRole
from downfield.api.security.connections import ConnectionGuard, GuardedListener, affordable, guarded_protocol
from downfield.api.security.forwarding import KnownClients
from downfield.api.security.secret_file import ADMIN_KEY, SecretFile
from downfield.api.security.tokens import PAIRING_LIMITS
from downfield.core.errors import InputError, OutputError
from downfield.core.platform.system import raise_file_limit, reclaim_address
from downfield.core.threads import only_logged, supervised_thread
from downfield.game.published.game_topics import Notice
from downfield.rig.configuration.settings import ServiceSettings
from downfield.rig.service.certificate import CertificateFiles, is_out_of_date, own_certificate

_CLOSE_TIMEOUT_S: Final = 5.0  # Timeout for the service to end
_MESSAGE_BYTES: Final = 4096  # Longest message from a client on a WebSocket; its content is not used
_DATES_S: Final = 60.0
"""Time between two looks whether the certificate's dates still fit the clock, which may have been set."""

_SEND_BUFFER_BYTES: Final = 32 << 10
"""Of each connection, in the kernel, which doubles it: what waits there for a slow reader is old when it comes."""

_BACKLOG: Final = 512  # Connections that wait to be accepted while the service is busy


class Service:
    """Serves the web pages and the API until it is closed.

    Args:
        settings: the address, and who may connect.
        failed: receives why the service stopped; it is begun again.

    Raises:
        InputError: an address or port can't be opened, or a certificate can't be read.
    """

    def __init__(
        self, rig: RigParts, settings: ServiceSettings, folder: Path, failed: Callable[[str], None] = only_logged
    ) -> None:
        self._rig, self._settings, self._folder = rig, settings, folder
        host = bound_host(settings)
        self._lan = not is_loopback(host)
        listeners = [open_listener(host, settings.port)]
        self._bound: str = listeners[0].getsockname()[0]
        self.port: int = listeners[0].getsockname()[1]
        self.tls_port: int | None = None  # None without TLS, as is the certificate
        self.certificate: CertificateFiles | None = None
        if settings.tls:
            self.certificate = service_certificate(settings, folder)
            listeners.append(open_listener(host, settings.tls_port))
            self.tls_port = listeners[1].getsockname()[1]
        proxies = tuple(str(network) for network in settings.proxies)
        policy = AccessPolicy(
            self._lan,
            settings.names,
            settings.open_viewing,
            settings.trust_local,
            origins=settings.origins,
            proxies=proxies,
            prefix=settings.prefix,
            tls_port=self.tls_port,
            plain_port=self.port,
        )
        self._known = known = KnownClients(proxies)
        self._guard = ConnectionGuard(known, affordable(raise_file_limit()))
        self.relay = RelayManager(rig.hub, self._transport_of)
        self._app = create_app(rig, policy, self.relay, known)
        logging.getLogger("uvicorn.error").addFilter(_is_error)
        self._listeners = listeners
        self._servers: list[uvicorn.Server] = []
        self._closed = threading.Event()
        self._thread = supervised_thread(self._run, "service", failed, restarts=True, closed=self._closed.is_set)
        self._thread.start()

    @property
    def address(self) -> str:
        """The address of the service on this computer."""
        return f"http://{own_host(self._bound)}:{self.port}{self._settings.prefix}/"

    @property
    def admin_link(self) -> str:
        """The link that makes a browser on this computer the admin's; where being on it is proof, the plain address."""
        from_here = is_loopback(own_host(self._bound).strip("[]"))  # else it comes by a network like any other's
        if self._settings.trust_local and from_here and not self._known.is_proxy("127.0.0.1"):
            return self.address
        return f"{self.address}pair#{self._rig.admin_key.text}"

    def network_addresses(self) -> list[str]:
        """Return the addresses of the start page for other devices; empty if they can't reach the service.

        A proxy on this computer is reached by the names in the settings, by https as proxies are.
        """
        proxied = [f"https://{name}{self._settings.prefix}/" for name in self._settings.names if self._settings.proxies]
        if not self._lan:
            return proxied
        scheme, port = ("http", self.port) if self.tls_port is None else ("https", self.tls_port)
        return proxied + urls(outside_hosts(self._bound), scheme, port, self._settings.prefix)

    def pairing_link(self, role: DeviceRole) -> str:
        """Return a link that pairs one phone in a role, once; empty if phones can't reach the service."""
        addresses = self.network_addresses()
        if not addresses:
            return ""
        code = access_control_of(self._app).token_store.make_code(role, PAIRING_LIMITS.shown_code_valid_s)
        return f"{addresses[0]}{page_of(code)}#{code.code}"

    def close(self) -> None:
        """End the feeds, so that their connections close, and wait for the thread."""
        self._rig.hub.close()
        self._rig.picture.close()
        context_of(self._app).close()
        self._closed.set()
        for server in self._servers:
            server.should_exit = True
        self._thread.join(timeout=_CLOSE_TIMEOUT_S)
        for listener in self._listeners:
            listener.close()
        self.relay.close()

    def _run(self) -> None:
        """Serve until `close`; a server closes its sockets when it ends, so it gets duplicates."""
        listeners = [GuardedListener.over(listener.dup(), self._guard) for listener in self._listeners]
        limits = {"loop": "asyncio", "backlog": _BACKLOG, "ws_max_size": _MESSAGE_BYTES}
        certificates = (None, self.certificate)
        self._servers = [
            guarded_server(self._app, self._guard, files, **limits)
            for _, files in zip(listeners, certificates, strict=False)
        ]

        async def serve_all() -> None:
            try:
                renewal = asyncio.create_task(self._renew())
                await asyncio.gather(
                    *(server.serve(sockets=[each]) for server, each in zip(self._servers, listeners, strict=True))
                )
            finally:
                renewal.cancel()
                await self.relay.disconnect()

        try:
            if not self._closed.is_set():
                asyncio.run(serve_all())
        finally:
            for listener in listeners:
                listener.close()
            self.relay.close()
        if not self._closed.is_set():
            raise OutputError("the web service ended by itself")

    async def _renew(self) -> None:
        """Show another certificate once the dates of the rig's own don't fit a clock that was set, twice in a row.

        Connections that are open go on.
        """
        wrong = 0
        while self.certificate is not None and not self._settings.certificate:
            await asyncio.sleep(_DATES_S)
            wrong = wrong + 1 if await asyncio.to_thread(is_out_of_date, self._folder) else 0
            if wrong < 2:
                continue
            with suppress(InputError):  # there is no room for it: the next time
                self.certificate = await asyncio.to_thread(service_certificate, self._settings, self._folder)
                context = self._servers[1].config.ssl
                if context is not None:
                    context.load_cert_chain(self.certificate.certificate, self.certificate.key)
                text = f"its fingerprint is {self.certificate.fingerprint} now. Phones may ask once more."
                text = f"The computer's clock was set, and the pages have a certificate of today: {text}"
                self._rig.hub.publish("notice", Notice(level="warning", text=text))

    def _transport_of(self, client: tuple[str, int]) -> asyncio.Transport | None:
        """Return the connection of a client that another process can take over; none that is encrypted."""
        for connection in self._servers[0].server_state.connections:
            transport = getattr(connection, "transport", None)
            if isinstance(transport, asyncio.Transport):
                peer = transport.get_extra_info("peername")
                if peer is not None and tuple(peer[:2]) == client:
                    return transport
        return None


def guarded_server(app: Any, guard: ConnectionGuard, files: CertificateFiles | None, **options: Any) -> uvicorn.Server:
    """Return a server of an app whose connections are counted, with TLS where there is a certificate."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=guarded_protocol(guard),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            ssl_certfile=None if files is None else str(files.certificate),
            ssl_keyfile=None if files is None else str(files.key),
            **options,
        )
    )


def bound_host(settings: ServiceSettings) -> str:
    """Return the host to listen on: for the network all addresses, of IPv6 as well where this computer has it."""
    if not (settings.lan and is_loopback(settings.host)):
        return settings.host
    return "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104 - asked for by the user


def is_loopback(host: str) -> bool:
    """Return whether a host to listen on can be reached from this computer only."""
    return host == "localhost" or forwarding.is_loopback(host)


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that already listens; port 0 for any free one. On ``::`` it takes IPv4 as well.

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
    reclaim_address(listener)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
    if family == socket.AF_INET6 and host == "::":
        with suppress(OSError):
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    try:
        listener.bind(address)
        listener.listen(_BACKLOG)  # so that clients can connect as soon as the address is shown
    except OSError as error:
        listener.close()
        raise InputError(
            f"Port {port} on {host} can't be opened ({error.strerror}). Choose another with --port."
        ) from None
    return listener


def service_certificate(settings: ServiceSettings, folder: Path) -> CertificateFiles:
    """Return the named certificate, or one of this computer's addresses. Raises InputError: it can't be had."""
    if settings.certificate or settings.private_key:
        return CertificateFiles.named(settings.certificate, settings.private_key)
    hosts = [host.strip("[]") for host in network_hosts()]
    return own_certificate(folder, [*hosts, *settings.names])


_NO_ERRORS: Final = ("returned without completing response", "timeout graceful shutdown exceeded")


def _is_error(record: logging.LogRecord) -> bool:
    """Return whether a log record is an error.

    uvicorn logs every stalled client that is disconnected as one, and at the end every open stream that it breaks off.
    """
    if record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError):
        return False
    return not any(text in record.getMessage() for text in _NO_ERRORS)


def open_admin_key(folder: Path, *, must_be_kept: bool) -> SecretFile:
    """Return the admin key in a data folder, made for its owner only when there is none.

    Where it can't be read or created, that is an InputError if it must be kept; else one holds for this run only.
    """
    try:
        return SecretFile(folder / ADMIN_KEY)
    except InputError:
        if must_be_kept:
            raise
        return SecretFile()


_STOP_TIMEOUT_S: Final = 3.0


def serve_label_review(review: LabelReview, on_open: Callable[[str], None]) -> None:
    """Serve a review until the user is done changing its labels; an interrupt skips the review.

    Args:
        on_open: called with the page's address.

    Raises:
        InputError: no port can be opened.
        OutputError: the page can't be served any more.
    """
    listener = open_listener("127.0.0.1", 0)
    server = uvicorn.Server(
        uvicorn.Config(review.app(), log_level="warning", access_log=False, lifespan="off", server_header=False)
    )
    failures: list[str] = []

    def serve() -> None:
        try:
            server.run(sockets=[listener])
        finally:
            review.ended.set()  # nobody can end a page that is not served

    thread = supervised_thread(serve, "label review", failures.append)
    thread.start()
    try:
        on_open(f"http://127.0.0.1:{listener.getsockname()[1]}/{review.token}/")
        review.ended.wait()
    except KeyboardInterrupt:
        review.skipped = True
    finally:
        server.should_exit = True
        thread.join(_STOP_TIMEOUT_S)
        listener.close()
    if failures:
        raise OutputError(f"The labels can't be checked: their page is no longer served ({failures[0]}). Run it again.")
