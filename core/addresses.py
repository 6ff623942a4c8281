"""Addresses of cameras and databases: taken apart, and shown without their passwords.

People write passwords as they are, with ``/``, ``@``, ``:`` and ``#`` in them, which RFC 3986 wants percent-encoded.
Where such an address can only be meant one way it is read that way; else nothing that may be a password is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_HOST_AND_PORT: Final = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^:/?#\[\]]*)(?::(\d{0,5}))?")
_NO_SCHEME: Final = re.compile(r"([^\s:/@]+):.*@([^@]*)", re.DOTALL)
_SECRET_QUERY: Final = re.compile(
    r"((?:^|[?&;])[\w.-]*(?:pas|pwd|psw|secret|token|auth|key|cred|sig|session|streamid)[\w.-]*=)[^&;#\s]+",
    re.IGNORECASE,
)
_PATH: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)[/?#].+", re.DOTALL)
_HIDDEN: Final = "***"


@dataclass(frozen=True, slots=True)
class Address:
    """An address, taken apart."""

    scheme: str  # in lower case, such as `"http"`
    user: str  # user, password: as the person means them, percent-encoding undone; empty for none
    password: str
    host: str  # name or number; IPv6 without brackets
    port: int | None  # None for the scheme's own
    target: str  # path and query, beginning with `/`, as written

    @property
    def place(self) -> str:
        """Host and port, as in an address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def text(self) -> str:
        """The address, with user name and password percent-encoded."""
        password = f":{quote(self.password, safe='')}" if self.password else ""
        user = f"{quote(self.user, safe='')}{password}@" if self.user or self.password else ""
        return f"{self.scheme}://{user}{self.place}{self.target}"


def split_address(text: str) -> Address:
    """Take an address apart. Raises ValueError: it has no scheme, no host or an impossible port."""
    found = _SCHEME.fullmatch(text.strip())
    if found is None:
        raise ValueError("no scheme")
    credentials, rest = _split_credentials(found.group(2))
    user, _, password = credentials.partition(":")
    end = re.search(r"[/?#]", rest)
    place, target = (rest, "") if end is None else (rest[: end.start()], rest[end.start() :])
    target = target.partition("#")[0]
    host_and_port = _HOST_AND_PORT.fullmatch(place)
    if host_and_port is None or not host_and_port.group(1):
        raise ValueError("no host")
    port = int(host_and_port.group(2)) if host_and_port.group(2) else None
    if port is not None and port > 65535:
        raise ValueError("no such port")
    if not target.startswith("/"):
        target = "/" + target
    host = host_and_port.group(1).strip("[]")
    return Address(found.group(1).lower(), unquote(user), unquote(password), host, port, target)


def without_password(text: str) -> str:
    """Return an address that is safe to show, without whatever may be a password, in its query as well."""
    found = _SCHEME.fullmatch(text)
    if found is None:
        return _NO_SCHEME.sub(r"\1@\2", text)
    scheme, rest = found.groups()
    # A password may have any of these characters, so it may reach to the last @.
    begun = re.split(r"[@?#]", rest, maxsplit=1)[0]
    at = rest.rfind("@") if ":" in begun else re.split(r"[?#]", rest, maxsplit=1)[0].rfind("@")
    if at >= 0:
        user, colon, _ = rest[:at].partition(":")
        rest = (user if colon else re.split(r"[/?#]", user, maxsplit=1)[0]) + rest[at:]
    return f"{scheme}://{_SECRET_QUERY.sub(lambda secret: secret.group(1) + _HIDDEN, rest)}"


def host_only(text: str) -> str:
    """Return an address with its scheme and host alone, for one whose path is as secret as a password."""
    return _PATH.sub(r"\1/***", without_password(text))


def _split_credentials(rest: str) -> tuple[str, str]:
    """Return user name and password, empty for none, and what follows the @."""
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        at = authority.rfind("@")
        # user:p@ss/w@host: the text after the first @ is no host, so a later one ends the password.
        if _HOST_AND_PORT.fullmatch(authority[at + 1 :]) is not None:
            return rest[:at], rest[at + 1 :]
    elif _HOST_AND_PORT.fullmatch(authority) is not None:
        return "", rest
    at = rest.rfind("@")
    return (rest[:at], rest[at + 1 :]) if at >= 0 else ("", rest)
