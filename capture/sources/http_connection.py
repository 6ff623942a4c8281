"""Opens an HTTP stream as cameras serve it: behind redirects, and behind basic or digest authentication.

Python's own HTTP client reads the answers of careless firmware that stricter ones refuse.

Answers the challenges by which an HTTP server asks for a password: digest (RFC 7616) and basic (RFC 7617).

httpx has digests as well; it refuses "auth-int" and names that are not Latin, and signs the address as it would write
it itself. Cameras compare with the one that was requested.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import re
import secrets
import socket
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import quote, urljoin
from urllib.request import parse_http_list

from downfield.core.addresses import Address, split_address, without_password
from downfield.core.errors import SourceError
from downfield.core.texts import plain_text

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REQUESTS: Final = 8
"""Requests until the stream opens: some cameras redirect to a login, ask for a password, and redirect again."""

http.client._MAXHEADERS = 1000  # type: ignore[attr-defined]  # some cameras write more lines than its hundred

_USER_AGENT: Final = b"Mozilla/5.0 (compatible; Downfield)"  # Some cameras answer browsers only

_SHOWN: Final = 120  # Most characters shown of what a server wrote


_SCHEME: Final = re.compile(r"([A-Za-z][\w-]*)(?:\s+(?!=)(.*))?", re.DOTALL)
_PARAMETER: Final = re.compile(r"\s*([\w-]+)\s*=\s*(.*?)\s*", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ALGORITHMS: Final = {
    "MD5": "md5",
    "SHA": "sha1",
    "SHA-256": "sha256",
    "SHA-512": "sha512",
    "SHA-512-256": "sha512_256",
}
_SESSION: Final = "-SESS"
_SCHEME_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Challenge:
    """One way in which a server accepts a password."""

    scheme: str  # in lower case, such as ``"digest"``
    values: dict[str, str] = field(default_factory=dict)  # its parameters by name in lower case

    @property
    def is_of_an_old_nonce(self) -> bool:
        """Whether the password was right, and is to be sent with the new nonce."""
        return self.values.get("stale", "").lower() == "true"


def challenges_of(lines: Sequence[str]) -> tuple[Challenge, ...]:
    """Return the challenges in the header lines ``WWW-Authenticate``, each of which may hold several."""
    found: list[Challenge] = []
    for item in (item for line in lines for item in parse_http_list(line)):
        scheme = _SCHEME.fullmatch(item)
        if scheme is not None:
            found.append(Challenge(scheme[1].lower()))
        parameter = _PARAMETER.fullmatch(item if scheme is None else scheme[2] or "")
        if parameter is not None and found:
            found[-1].values[parameter[1].lower()] = _unquoted(parameter[2])
    return tuple(found)


def authorization(user: str, password: str, target: str, challenges: Sequence[Challenge]) -> bytes:
    """Return the header ``Authorization`` of a GET request: a digest where the server offers one, else basic.

    Args:
        user, password: as the person means them.
        target: path and query, exactly as they are requested.
        challenges: what the server accepts; a server that names nothing accepts basic.

    Raises:
        SourceError: it accepts neither.
    """
    for challenge in challenges:
        answer = _digest(user, password, target, challenge.values) if challenge.scheme == "digest" else None
        if answer is not None:
            return answer
    if not challenges or any(challenge.scheme == "basic" for challenge in challenges):
        return b"Basic " + base64.b64encode(f"{user}:{password}".encode())
    names = ", ".join(dict.fromkeys(plain_text(challenge.scheme[:_SCHEME_SHOWN]) for challenge in challenges))
    raise SourceError(
        f"it wants the password in a way that Downfield does not know ({names}). Set the camera to digest or basic"
        " authentication"
    )


def _digest(user: str, password: str, target: str, values: Mapping[str, str]) -> bytes | None:
    """Return the answer to a digest challenge; None where it is not understood."""
    name = values.get("algorithm", "MD5")
    hashed = _hash(name.upper().removesuffix(_SESSION))
    offered = [one.strip().lower() for one in values.get("qop", "").split(",") if one.strip()]
    qop = next((known for known in ("auth", "auth-int") if known in offered), "")
    if hashed is None or "nonce" not in values or (offered and not qop):
        return None
    realm, nonce, count, ours = values.get("realm", ""), values["nonce"], "00000001", secrets.token_hex(8)
    secret = hashed(f"{user}:{realm}:{password}")
    if name.upper().endswith(_SESSION):
        secret = hashed(f"{secret}:{nonce}:{ours}")
    request = f"GET:{target}" + (f":{hashed('')}" if qop == "auth-int" else "")  # a request without a body
    middle = (nonce, count, ours, qop) if qop else (nonce,)
    answer = hashed(":".join((secret, *middle, hashed(request))))
    quoted = {"username": user, "realm": realm, "nonce": nonce, "uri": target, "response": answer}
    plain = {"algorithm": name} if "algorithm" in values else {}
    if "opaque" in values:
        quoted["opaque"] = values["opaque"]
    if qop:
        plain |= {"qop": qop, "nc": count}
    if qop or name.upper().endswith(_SESSION):
        quoted["cnonce"] = ours
    return ("Digest " + ", ".join(_parameters(quoted, plain))).encode()


def _hash(algorithm: str) -> Callable[[str], str] | None:
    """Return the hash of a text as hexadecimal digits; None for an algorithm that there is not."""
    name = _ALGORITHMS.get(algorithm)
    if name is None or name not in hashlib.algorithms_available:
        return None
    return lambda text: hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()


def _parameters(quoted: Mapping[str, str], plain: Mapping[str, str]) -> Iterator[str]:
    for name, value in quoted.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        yield f'{name}="{escaped}"'
    yield from (f"{name}={value}" for name, value in plain.items())


def _unquoted(value: str) -> str:
    return _ESCAPED.sub(r"\1", value[1:-1]) if len(value) > 1 and value[0] == value[-1] == '"' else value


@dataclass(frozen=True, slots=True)
class HttpStream:
    """An open stream."""

    response: http.client.HTTPResponse  # its answer, whose body is read piece by piece
    connected: socket.socket | None  # its socket, with which a waiting reader is interrupted

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
    cookies: dict[str, dict[str, str]] = {}
    for _ in range(_MOST_REQUESTS):
        given = cookies.setdefault(at.host, {})
        stream = _request(at, accept, password, timeout_s, given)
        status, headers = stream.response.status, stream.response.headers
        pairs = (line.partition(";")[0].partition("=") for line in headers.get_all("Set-Cookie") or [])
        given |= {name.strip(): value.strip() for name, _, value in pairs}
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
    """Check that another request can succeed where a password is required. Raises SourceError: none, or refused."""
    if not (address.user or address.password):
        if is_asked:
            raise SourceError("it wants a user name and a password. Write them as http://USER:PASSWORD@HOST/PATH")
        raise SourceError(f"redirects to {_shown(address.text)}, which wants a password. Name that address instead")
    if not is_first and not any(challenge.is_of_an_old_nonce for challenge in challenges):
        raise SourceError("it refuses the user name or the password")


def _target(address: Address) -> str:
    """Return path and query as they are requested: as written, but for what HTTP can't carry."""
    return quote(address.target, safe=string.punctuation)


class _Response(http.client.HTTPResponse):
    """An answer that may begin as SHOUTcast's do, ``ICY 200 OK``, which some hobby cameras copy."""

    def _read_status(self) -> tuple[str, int, str]:
        if self.fp.peek(4).startswith(b"ICY "):
            _, status, reason = (self.fp.readline(1000).decode("latin-1").strip() + "  ").split(" ", 2)
            if status.isascii() and status.isdigit():
                return "HTTP/1.0", int(status), reason.strip()
        found: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
        return found


def _request(
    address: Address, accept: str, password: bytes, timeout_s: float, cookies: Mapping[str, str]
) -> HttpStream:
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.host, address.port, timeout=timeout_s)
    # The host is written with the letters that HTTP can carry, as it is looked up.
    headers = {"Accept": accept.encode(), "Host": address.place.encode("ascii" if address.place.isascii() else "idna")}
    headers["User-Agent"] = _USER_AGENT
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items()).encode("latin-1", "replace")
    if password:
        headers["Authorization"] = password
    connection.response_class = _Response
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
