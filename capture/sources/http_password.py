"""Answers the challenges by which an HTTP server asks for a password: digest (RFC 7616) and basic (RFC 7617).

httpx has digests as well; it refuses "auth-int" and names that are not Latin, and signs the address as it would write
it itself. Cameras compare with the one that was requested.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.request import parse_http_list

from downfield.core.errors import SourceError
from downfield.core.text.plain_text import plain_text

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
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Challenge:
    """One way in which a server accepts a password.

    Attributes:
        scheme: in lower case, such as ``"digest"``.
        values: its parameters by name in lower case.
    """

    scheme: str
    values: dict[str, str] = field(default_factory=dict)

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
        user: who asks, as the person means it.
        password: likewise.
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
    names = ", ".join(dict.fromkeys(plain_text(challenge.scheme[:_SHOWN]) for challenge in challenges))
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
