"""The phones of a tournament: who was granted what, at which tables, and what was revoked."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from downfield.api.security.access import Role
from downfield.api.security.grants import (
    GrantRefusedError,
    Revoked,
    TableGrant,
    check_unexpired,
    read_grant,
    write_grant,
)
from downfield.core.errors import NotFoundError, OutputError, RefusedError
from downfield.core.files.private_files import make_private_folder, replace_private_file
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.records import read_record, record, to_json
from downfield.rig.tournament.push_payloads import MAX_REVOKED, PushedAccess, TablePush
from downfield.store.sealing.signing import RigKey

DESK_KEY: Final = "desk.key"
"""Name of the file with the desk's key in its folder."""

MAX_GRANTS: Final = 1000
"""In force at once; those revoked are dropped a while after they would have expired."""

_DAY_NS: Final = 86_400 * 1_000_000_000
_CLOCKS_DIFFER_NS: Final = 7 * _DAY_NS
"""A revoked grant is still named for so long after it has expired: a table's clock may be behind."""

_AT_THE_DESK: Final[dict[Role, Role]] = {
    "viewer": "viewer",
    "operator": "viewer",
    "referee": "operator",
    "admin": "admin",
}
"""What a grant allows at the desk itself: referees enter results, operators of a table only watch."""


@record
class IssuedGrant:
    """A grant that the desk has made.

    Attributes:
        grant: it.
        at_ns: wall clock, ns since 1970; a label.
        by: who made it.
        revoked_by: who revoked it; empty while it is in force.
    """

    grant: TableGrant
    at_ns: int
    by: str
    revoked_by: str = ""


@record
class GrantsFile:
    """The file of the grants, in the order they were made."""

    grants: tuple[IssuedGrant, ...] = ()
    format: Literal["downfield.desk-grants"] = "downfield.desk-grants"
    version: Literal[1] = 1


class GrantKeeper:
    """Makes, lists and revokes grants, and decides about them at the desk. Callable from any thread.

    Args:
        folder: of the desk; None to keep them in memory.
        now_ns: wall clock, ns since 1970.

    Raises:
        InputError: the key or the grants can't be read.
        FormatError: the file of the grants holds something else.
    """

    def __init__(self, folder: Path | None = None, now_ns: Callable[[], int] = RUN_CLOCK.now_ns) -> None:
        self._path = None if folder is None else folder / "grants.json"
        self._key = RigKey.generate() if folder is None else RigKey.load_or_create(folder / DESK_KEY)
        self._now_ns = now_ns
        self._lock = threading.Lock()
        known = self._path is not None and self._path.exists()
        self._issued = read_record(GrantsFile, self._path).grants if known and self._path is not None else ()
        self._followers: list[Revoked] = []

    @property
    def key(self) -> RigKey:
        """The desk's key."""
        return self._key

    @property
    def issued(self) -> tuple[IssuedGrant, ...]:
        """Every grant, the earliest first."""
        return self._issued

    def issue(self, by: str, name: str, role: Role, tables: Sequence[str], days: int) -> TableGrant:
        """Make a grant; it is on disk when this returns.

        Args:
            name: of the person or the phone.
            role: at the tables.
            tables: names of tables; empty for all.
            days: for how long.

        Raises:
            InputError: a name is empty or too long.
            RefusedError: too many are in force.
            OutputError: it can't be kept, so it is not made.
        """
        now_ns = self._now_ns()
        names = tuple(dict.fromkeys(" ".join(table.split()) for table in tables))
        expires_ns = now_ns + days * _DAY_NS
        grant = TableGrant(secrets.token_hex(6), name.strip(), role, names, expires_ns, self._key.public_text)
        with self._lock:
            kept = [one for one in self._issued if one.grant.expires_ns + _CLOCKS_DIFFER_NS > now_ns]
            if sum(not one.revoked_by for one in kept) >= MAX_GRANTS or len(kept) >= MAX_REVOKED:
                raise RefusedError(f"{MAX_GRANTS} phones have a grant. Revoke some first.")
            self._keep((*kept, IssuedGrant(grant, time.time_ns(), by)))
        return grant

    def text_of(self, identity: str) -> str:
        """Return a grant as text.

        Raises:
            NotFoundError: none of this id is in force.
        """
        return write_grant(self._key, self._in_force(identity).grant)

    def revoke(self, by: str, identity: str) -> None:
        """Revoke a grant: at the desk now, at each table as soon as it is connected.

        Raises:
            NotFoundError: none of this id is in force.
            OutputError: it can't be kept, so it is not revoked.
        """
        with self._lock:
            self._in_force(identity)
            self._keep(tuple(replace(one, revoked_by=by) if one.grant.id == identity else one for one in self._issued))
            followers = list(self._followers)
        for follower in followers:
            follower(identity)

    def standing(self) -> tuple[TablePush, ...]:
        """Return what every table gets of the grants: this desk's key, and which of its grants are revoked."""
        revoked = tuple(sorted(one.grant.id for one in self._issued if one.revoked_by))
        key = self._key.public_text
        identity = hashlib.sha256(" ".join((key, *revoked)).encode()).hexdigest()[:12]
        return (TablePush(identity, 0, "the desk", "Phones", PushedAccess(key, revoked)),)

    def check(self, text: str) -> TableGrant:
        """Return the grant of a text that may be used at the desk.

        Raises:
            RefusedError: it is not taken; one sentence says why.
        """
        grant = read_grant(text)
        if grant.key != self._key.public_text:
            raise GrantRefusedError(grant, "This grant comes from another desk.")
        if all(one.grant.id != grant.id or one.revoked_by for one in self._issued):
            raise GrantRefusedError(grant, "This grant was revoked. Ask the director for a new one.")
        check_unexpired(grant, self._now_ns())
        return grant

    def role_here(self, grant: TableGrant) -> Role:
        """Return the role that a grant gives at the desk."""
        return _AT_THE_DESK[grant.role]

    def follow(self, revoked: Revoked) -> None:
        """Call something with every grant that is revoked, those before included."""
        with self._lock:
            self._followers.append(revoked)
            before = [one.grant.id for one in self._issued if one.revoked_by]
        for identity in before:
            revoked(identity)

    def _in_force(self, identity: str) -> IssuedGrant:
        found = next((one for one in self._issued if one.grant.id == identity and not one.revoked_by), None)
        if found is None:
            raise NotFoundError("No phone has a grant of this id.")
        return found

    def _keep(self, issued: tuple[IssuedGrant, ...]) -> None:
        if self._path is not None:
            try:
                make_private_folder(self._path.parent)
                replace_private_file(self._path, to_json(GrantsFile, GrantsFile(issued)).encode())
            except OSError as error:
                raise OutputError(f"{self._path}: can't be written ({error.strerror}). Nothing was changed.") from None
        self._issued = issued
