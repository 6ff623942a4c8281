"""The addresses under which phones and other computers reach this service, as far as the request for them shows."""

from __future__ import annotations

from fastapi import Request
from starlette.datastructures import URL

from downfield.api.context.access_control import access_control_of
from downfield.api.http.network_addresses import network_hosts
from downfield.api.http.problems import ProblemError
from downfield.api.security.forwarding import Origin
from downfield.api.security.known_clients import is_loopback


def base_url(request: Request) -> str:
    """Return the address under which a phone on the network reaches this service, without a slash at its end."""
    return base_urls(request)[0]


def base_urls(request: Request) -> list[str]:
    """Return every such address, the most useful first.

    The host by which the page was opened comes first, unless it means this computer only. A proxy's other names are not
    known, so that behind one no more are guessed.
    """
    access = access_control_of(request.app).policy
    host, port, scheme = request.url.hostname or "", request.url.port, request.url.scheme
    host = f"[{host}]" if ":" in host else host
    here = is_loopback(host.strip("[]")) or host == "localhost"
    if here:
        hosts = network_hosts() or [host]
    elif _by_proxy(request):
        hosts = [host]
    else:
        hosts = [host, *(other for other in network_hosts() if other != host)]
    if access.tls_port is not None and scheme == "http":
        scheme, port = "https", access.tls_port
    prefix: str = request.scope.get("root_path", "")
    return [f"{scheme}://{each}" + (f":{port}" if port else "") + prefix for each in hosts]


def watch_url(request: Request) -> str:
    """Return the address under which programs on the network can watch, without a slash at its end.

    Where the rig has a certificate of its own, that is the one without TLS: OBS has no way to accept the certificate.
    """
    access = access_control_of(request.app).policy
    url = URL(base_url(request))
    if access.tls_port is not None and access.plain_port is not None and url.port == access.tls_port:
        url = url.replace(scheme="http", port=access.plain_port)
    return str(url)


def refuse_unreachable(request: Request) -> None:
    """Check that other devices can reach this service by the way that a request came.

    Raises:
        ProblemError: they can't.
    """
    access = access_control_of(request.app).policy
    if not access.reachable:
        raise ProblemError(
            409,
            "Only this computer can use the service. Stop Downfield and start it with `downfield run --lan`.",
            "not_here",
        )
    if not (access.lan or _by_proxy(request)):
        raise ProblemError(
            409,
            "Other devices reach this computer through its proxy only. Open this page by the proxy's address.",
            "not_here",
        )


def _by_proxy(request: Request) -> bool:
    """Return whether a proxy passed a request on, and not a browser on the proxy's own computer."""
    origin: Origin = request.state.origin
    return origin.proxied and any(name in request.headers for name in ("x-forwarded-for", "forwarded"))
