"""Grants: what a tournament's desk signs for one phone, so that it works at every table that the grant names.

A grant is text: a prefix, its content as JSON and the desk's Ed25519 signature, both in URL-safe base64. Whoever knows
the desk's public key checks it alone, so a phone is let in at a table while the desk is away.
"""

from __future__ import annotations

import base64
import binascii
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, Protocol

from downfield.api.security.access import Role
from downfield.core.errors import FormatError, InputError, RefusedError
from downfield.core.files.private_files import make_private_folder, replace_private_file
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.records import check, from_json, read_record, record, to_json
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


MAX_DESKS: Final = 4
"""A table knows the desks it heard of last."""

Revoked = Callable[[str], None]
"""Called with the id of each grant that is revoked."""

_log = logging.getLogger(__name__)


class Grants(Protocol):
    """Decides about grants. Callable from any thread."""

    def check(self, text: str) -> TableGrant:
        """Return the grant of a text.

        Raises:
            RefusedError: it is not taken here; one sentence says why.
        """
        ...

    def role_here(self, grant: TableGrant) -> Role:
        """Return the role that a grant gives here."""
        ...

    def follow(self, revoked: Revoked) -> None:
        """Call something with every grant that is revoked, those before included."""
        ...


@record
class KnownDesk:
    """A desk whose grants a table takes.

    Attributes:
        key: its public key.
        revoked: ids of the grants it has revoked, ever.
    """

    key: str
    revoked: tuple[str, ...] = ()


@record
class KnownDesksFile:
    """The file of the desks, the one heard of last at the end."""

    desks: tuple[KnownDesk, ...] = ()
    format: Literal["downfield.known-desks"] = "downfield.known-desks"
    version: Literal[1] = 1


class GrantedAccess:
    """Decides about grants at a table.

    Args:
        path: file with the desks it knows; None to keep them in memory.
        now_ns: wall clock, ns since 1970.

    Raises:
        InputError: the file can't be read.
        FormatError: it holds something else.
    """

    def __init__(self, path: Path | None, table: str, now_ns: Callable[[], int] = RUN_CLOCK.now_ns) -> None:
        self._path, self._table, self._now_ns = path, table, now_ns
        self._lock = threading.Lock()
        self._known = read_record(KnownDesksFile, path) if path is not None and path.exists() else KnownDesksFile()
        self._followers: list[Revoked] = []

    def take(self, key: str, revoked: Iterable[str]) -> str:
        """Know a desk, and what it has revoked; return what was done. What was revoked once stays revoked."""
        with self._lock:
            before = next((desk for desk in self._known.desks if desk.key == key), KnownDesk(key))
            new = [identity for identity in revoked if identity not in before.revoked]
            others = [desk for desk in self._known.desks if desk.key != key]
            desks = (*others, replace(before, revoked=(*before.revoked, *new)))[-MAX_DESKS:]
            self._known = replace(self._known, desks=desks)
            self._keep()
            followers = list(self._followers)
        for identity in new:
            for follower in followers:
                follower(identity)
        return f"The desk's grants are taken; {len(before.revoked) + len(new)} are revoked."

    def follow(self, revoked: Revoked) -> None:
        """Call something with every grant that is revoked, those before included."""
        with self._lock:
            self._followers.append(revoked)
            before = [identity for desk in self._known.desks for identity in desk.revoked]
        for identity in before:
            revoked(identity)

    def check(self, text: str) -> TableGrant:
        """Return the grant of a text that may be used at this table.

        Raises:
            RefusedError: it is not taken here; one sentence says why.
        """
        grant = read_grant(text)
        with self._lock:
            known = self._known.desks
        desk = next((desk for desk in known if desk.key == grant.key), None)
        if desk is None and not known:
            raise GrantRefusedError(
                grant, "This table has not heard of its tournament's desk yet. Try again once it was connected to it."
            )
        if desk is None:
            raise GrantRefusedError(grant, "This grant comes from a desk that this table does not know.")
        if grant.id in desk.revoked:
            raise GrantRefusedError(grant, "The desk has revoked this grant. Ask the director for a new one.")
        if not grant.is_for(self._table):
            named = ", ".join(grant.tables)
            raise GrantRefusedError(grant, f"This grant is for {named}; this table is called {self._table}.")
        check_unexpired(grant, self._now_ns())
        return grant

    def role_here(self, grant: TableGrant) -> Role:
        """Return the role that a grant gives at a table: its own."""
        return grant.role

    def _keep(self) -> None:
        if self._path is None:
            return
        try:
            make_private_folder(self._path.parent)
            replace_private_file(self._path, to_json(KnownDesksFile, self._known).encode())
        except OSError as error:  # it counts all the same; after a restart the desk sends it again
            _log.warning("%s: can't be written: %s", self._path, error.strerror)


class GrantRefusedError(RefusedError):
    """A whole grant is not taken here.

    Args:
        reason: why not, one sentence.
    """

    def __init__(self, grant: TableGrant, reason: str) -> None:
        super().__init__(reason)
        self.grant = grant


def check_unexpired(grant: TableGrant, now_ns: int) -> None:
    """Raise the error of a grant that has expired.

    Raises:
        GrantRefusedError: it has.
    """
    if grant.expires_ns < now_ns:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(grant.expires_ns / 1e9))
        raise GrantRefusedError(grant, f"This grant expired on {day}. Ask the director for a new one.")
