"""Opens an HTTP stream as cameras serve it: behind redirects, and behind basic or digest authentication.

Python's own HTTP client reads the answers of careless firmware that stricter ones refuse; the digest (RFC 7616) is
httpx's.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import re
import socket
import string
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, urljoin

import httpx

from downfield.core.addresses import Address, split_address, without_password
from downfield.core.errors import SourceError
from downfield.core.plain_text import plain_text

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REQUESTS: Final = 8
"""Requests until the stream opens: some cameras redirect to a login, ask for a password, and redirect again."""

_SHOWN: Final = 120
"""Most characters shown of what a server wrote."""

_DIGEST: Final = re.compile(r"\bdigest\s.*?(?=,\s*basic\b|$)", re.IGNORECASE | re.DOTALL)
"""The digest among the challenges of one header line, which may hold several."""

_STALE: Final = re.compile(r"\bstale\s*=\s*\"?true", re.IGNORECASE)


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

    User name and password are sent only where they are asked for, only to the host they were given for, and never in
    the open where the address has ``https``.

    Args:
        address: ``http`` or ``https``.
        accept: the media types wanted.
        timeout_s: timeout for connecting and for every piece of the answer.

    Raises:
        SourceError: the server refuses, or redirects without end.
        OSError, http.client.HTTPException: it can't be reached, or does not speak HTTP.

    """
    at, authorization = address, ""
    for _ in range(_MOST_REQUESTS):
        stream = _request(at, accept, authorization, timeout_s)
        status, headers = stream.response.status, stream.response.headers
        if status == http.client.OK:
            return stream
        reason = stream.response.reason
        stream.close()
        stream.response.close()
        if status in _REDIRECTS and headers.get("Location"):
            at, authorization = _redirected(at, str(headers["Location"])), ""
        elif status == http.client.UNAUTHORIZED:
            challenges = headers.get_all("WWW-Authenticate") or []
            _check_refusal(at, challenges, is_first=not authorization, is_asked=at.place == address.place)
            authorization = _authorization(at, challenges)
        else:
            raise SourceError(f"answered {status} {_shown(reason)}".rstrip())
    raise SourceError(f"it does not open after {_MOST_REQUESTS} redirects and requests for a password")


def _check_refusal(address: Address, challenges: list[str], *, is_first: bool, is_asked: bool) -> None:
    """Check that another request can succeed where a password was asked for.

    Raises:
        SourceError: there is none, or it was refused.

    """
    if not (address.user or address.password):
        if is_asked:
            raise SourceError("it wants a user name and a password. Write them as http://USER:PASSWORD@HOST/PATH")
        raise SourceError(f"redirects to {_shown(address.text)}, which wants a password. Name that address instead")
    if not is_first and not any(_STALE.search(challenge) for challenge in challenges):
        raise SourceError("it refuses the user name or the password")


def _request(address: Address, accept: str, authorization: str, timeout_s: float) -> HttpStream:
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.host, address.port, timeout=timeout_s)
    target = quote(address.target, safe=string.punctuation)  # as written, but for what HTTP can't carry
    headers = {"Accept": accept, "Host": address.place}
    if authorization:
        headers["Authorization"] = authorization
    try:
        connection.connect()
        # If the camera closes the connection after its response, the response takes the socket along; closing needs it.
        connected = connection.sock
        connection.request("GET", target, headers=headers)
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


def _authorization(address: Address, challenges: list[str]) -> str:
    """Return the header that answers the server's challenges: digest where it offers that, else basic."""
    url = replace(address, user="", password="").text
    for digest in (found.group() for challenge in challenges if (found := _DIGEST.search(challenge))):
        flow = httpx.DigestAuth(address.user, address.password).auth_flow(httpx.Request("GET", url))
        header = {b"WWW-Authenticate": digest.encode("latin-1", "replace")}
        asked = httpx.Response(401, headers=header, request=next(flow))
        # Where this one is not understood, another may be.
        with contextlib.suppress(httpx.HTTPError, KeyError, NotImplementedError, StopIteration, ValueError):
            return str(flow.send(asked).headers["Authorization"])
    pair = f"{address.user}:{address.password}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _shown(text: str) -> str:
    """Return what a server wrote, safe to show."""
    return plain_text(without_password(text[:_SHOWN]))
