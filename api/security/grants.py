"""Grants: what a tournament's desk signs for one phone, so that it works at every table that the grant names.

A grant is text: a prefix, its content as JSON and the desk's Ed25519 signature, both in URL-safe base64. Whoever knows
the desk's public key checks it alone, so a phone is let in at a table while the desk is away.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final, Literal

from downfield.api.security.roles import Role
from downfield.core.errors import FormatError, InputError, RefusedError
from downfield.core.records import check, from_json, record, to_json
from downfield.store.sealing.signing import RigKey, verify_signature

GRANT_PREFIX: Final = "dfg1."
"""Begins the text of every grant; no pairing code has a dot."""

MAX_GRANT: Final = 2000
"""Letters of a grant's text."""

_SIGNED_AS: Final = b"downfield.grant\n"
_NOT_WHOLE: Final = "This grant is not whole, or was altered. Open it again from the desk."


@record
class TableGrant:
    """What a desk allows one phone.

    Attributes:
        id: unique, 12 hexadecimal digits; the phone's id at every table.
        name: of the person or the device.
        role: at the tables.
        tables: their names; empty for all.
        expires_ns: wall clock, ns since 1970.
        key: the desk's public key.

    """

    id: str
    name: str
    role: Role
    tables: tuple[str, ...]
    expires_ns: int
    key: str
    format: Literal["downfield.grant"] = "downfield.grant"
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        is_id = len(self.id) == 12 and set(self.id) <= set("0123456789abcdef")
        check(is_id, InputError, "a grant's id has 12 hexadecimal digits")
        is_name = 0 < len(self.name.strip()) <= 60 and min(self.name) >= " "
        check(is_name, InputError, "a name has 1 to 60 letters")
        check(len(self.tables) <= 20, InputError, "a grant names at most 20 tables; leave them out for all tables")
        check(all(0 < len(name) <= 60 for name in self.tables), InputError, "a table's name has 1 to 60 letters")

    def is_for(self, table: str) -> bool:
        """Return whether it names a table; case and spaces around names don't matter."""
        return not self.tables or table.strip().casefold() in {name.strip().casefold() for name in self.tables}


def is_grant(text: str) -> bool:
    """Return whether a text wants to be a grant, and is no pairing code."""
    return text.strip().startswith(GRANT_PREFIX)


def write_grant(key: RigKey, grant: TableGrant) -> str:
    """Return a grant as text, signed; the same text each time."""
    content = to_json(TableGrant, grant, defaults=False).encode()
    return f"{GRANT_PREFIX}{_encode(content)}.{_encode(key.sign(_SIGNED_AS + content))}"


def read_grant(text: str) -> TableGrant:
    """Return the grant of a text, which the desk of its own key has signed. Whether that desk is known is not checked.

    Raises:
        RefusedError: it is no whole grant, or was altered.

    """
    parts = text.strip().removeprefix(GRANT_PREFIX).split(".")
    if len(text) > MAX_GRANT or len(parts) != 2 or not is_grant(text):
        raise RefusedError(_NOT_WHOLE)
    try:
        content, signature = (_decode(part) for part in parts)
        grant = from_json(TableGrant, content, path="a grant")
    except (binascii.Error, ValueError, FormatError, InputError):
        raise RefusedError(_NOT_WHOLE) from None
    if not verify_signature(grant.key, _SIGNED_AS + content, signature):
        raise RefusedError(_NOT_WHOLE)
    return grant


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
