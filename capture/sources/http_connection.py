"""Opens an HTTP stream as cameras serve it: behind redirects, and behind basic or digest authentication.

Python's own HTTP client reads the answers of careless firmware that stricter ones refuse.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, urljoin

from downfield.capture.sources.http_password import Challenge, authorization, challenges_of
from downfield.core.addresses import Address, split_address, without_password
from downfield.core.errors import SourceError
from downfield.core.text.plain_text import plain_text

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REQUESTS: Final = 8
"""Requests until the stream opens: some cameras redirect to a login, ask for a password, and redirect again."""

_SHOWN: Final = 120
"""Most characters shown of what a server wrote."""


@dataclass(frozen=True, slots=True)
class HttpStream:
    """An open stream.

    Attributes:
        response: its answer, whose body is read piece by piece.
        connected: its socket, with which a waiting reader is interrupted.
    """

    response: http.client.HTTPResponse
    connected: socket.socket | None

    def close(self) -> None:
        """End the connection, even while another thread reads from it, which must close the response."""
        if self.connected is not None:
            with contextlib.suppress(OSError):
                self.connected.shutdown(socket.SHUT_RDWR)
            self.connected.close()


def open_http(address: Address, accept: str, timeout_s: float) -> HttpStream:
    """Open a stream.

    User name and password are sent only where they are required, only to the host they were given for, and never in
    the open where the address has ``https``.

    Args:
        address: ``http`` or ``https``.
        timeout_s: timeout for connecting and for every piece of the answer.

    Raises:
        SourceError: the server refuses, or redirects without end.
        OSError, http.client.HTTPException: it can't be reached, or does not speak HTTP.
    """
    at, password = address, b""
    for _ in range(_MOST_REQUESTS):
        stream = _request(at, accept, password, timeout_s)
        status, headers = stream.response.status, stream.response.headers
        if status == http.client.OK:
            return stream
        reason = stream.response.reason
        stream.close()
        stream.response.close()
        if status in _REDIRECTS and headers.get("Location"):
            at, password = _redirected(at, str(headers["Location"])), b""
        elif status == http.client.UNAUTHORIZED:
            challenges = challenges_of(headers.get_all("WWW-Authenticate") or [])
            _check_refusal(at, challenges, is_first=not password, is_asked=at.place == address.place)
            password = authorization(at.user, at.password, _target(at), challenges)
        else:
            raise SourceError(f"answered {status} {_shown(reason)}".rstrip())
    raise SourceError(f"it does not open after {_MOST_REQUESTS} redirects and requests for a password")


def _check_refusal(address: Address, challenges: Sequence[Challenge], *, is_first: bool, is_asked: bool) -> None:
    """Check that another request can succeed where a password is required.

    Raises:
        SourceError: there is none, or it was refused.
    """
    if not (address.user or address.password):
        if is_asked:
            raise SourceError("it wants a user name and a password. Write them as http://USER:PASSWORD@HOST/PATH")
        raise SourceError(f"redirects to {_shown(address.text)}, which wants a password. Name that address instead")
    if not is_first and not any(challenge.is_of_an_old_nonce for challenge in challenges):
        raise SourceError("it refuses the user name or the password")


def _target(address: Address) -> str:
    """Return path and query as they are requested: as written, but for what HTTP can't carry."""
    return quote(address.target, safe=string.punctuation)


def _request(address: Address, accept: str, password: bytes, timeout_s: float) -> HttpStream:
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.host, address.port, timeout=timeout_s)
    # The host is written with the letters that HTTP can carry, as it is looked up.
    headers = {"Accept": accept.encode(), "Host": address.place.encode("ascii" if address.place.isascii() else "idna")}
    if password:
        headers["Authorization"] = password
    try:
        connection.connect()
        # If the camera closes the connection after its response, the response takes the socket along; closing needs it.
        connected = connection.sock
        connection.request("GET", _target(address), headers=headers)
        return HttpStream(connection.getresponse(), connected)
    except BaseException:
        connection.close()
        raise


def _redirected(address: Address, location: str) -> Address:
    """Return the address that a redirect leads to."""
    bare = replace(address, user="", password="")
    try:
        target = split_address(urljoin(bare.text, location))
    except ValueError:
        raise SourceError(f"redirects to '{_shown(location)}', which is no address") from None
    if target.scheme not in {"http", "https"}:
        raise SourceError(f"redirects to {target.scheme}://, which is not followed")
    in_the_open = address.scheme == "https" and target.scheme == "http"
    if target.host == address.host and not target.user and not in_the_open:
        return replace(target, user=address.user, password=address.password)
    return target


def _shown(text: str) -> str:
    """Return what a server wrote, safe to show."""
    return plain_text(without_password(text[:_SHOWN]))
