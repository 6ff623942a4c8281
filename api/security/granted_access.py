"""Which grants a table takes: those of desks that it knows, that are for it, and are neither revoked nor expired."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, Protocol

from downfield.api.security.grants import TableGrant, read_grant
from downfield.api.security.roles import Role
from downfield.core.errors import RefusedError
from downfield.core.files.private_files import make_private_folder, replace_private_file
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.records import read_record, record, to_json

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
        table: the table's name.
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
        grant: it.
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
