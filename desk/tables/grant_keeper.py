"""The phones of a tournament: who was granted what, at which tables, the passes they get, and what was revoked."""

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
    INVITATION_PREFIX,
    PASS_PREFIX,
    Admission,
    GrantRefusedError,
    Revoked,
    TablePass,
    expired,
    is_holder,
    write_pass,
)
from downfield.core.errors import InputError, NotFoundError, OutputError, RefusedError
from downfield.core.files.private_files import replace_private_file
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.records import check, read_record, record, to_json
from downfield.rig.tournament.push_payloads import MAX_REVOKED, PushedAccess, TablePush
from downfield.store.sealing.signing import RigKey

DESK_KEY: Final = "desk.key"  # Name of the file with the desk's key in its folder

MAX_GRANTS: Final = 1000  # In force at once; those revoked are dropped a while after they would have expired

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


PASS_NS: Final = 12 * 3_600 * 1_000_000_000
"""How long a pass is good: a day in the hall. A phone gets new ones whenever its page reaches the desk."""

INVITATION_S: Final = 600.0  # How long an invitation is good, and once only


@record
class TableGrant:
    """What a desk allows one phone."""

    id: str  # unique, 12 hexadecimal digits; the phone's id at every table and at the desk
    name: str  # of the person or the device
    role: Role  # at the tables
    tables: tuple[str, ...]  # their names; empty for all
    expires_ns: int  # wall clock, ns since 1970
    key: str  # the desk's public key
    holder: str = ""  # the phone's public key; empty until it has opened its invitation
    format: Literal["downfield.grant"] = "downfield.grant"
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        is_name = 0 < len(self.name.strip()) <= 60 and min(self.name) >= " "
        check(is_name, InputError, "a name has 1 to 60 letters")
        check(len(self.tables) <= 20, InputError, "a grant names at most 20 tables; leave them out for all tables")
        check(all(0 < len(name) <= 60 for name in self.tables), InputError, "a table's name has 1 to 60 letters")


@record
class IssuedGrant:
    """A grant that the desk has made."""

    grant: TableGrant
    at_ns: int  # wall clock, ns since 1970; a label
    by: str  # who made it
    revoked_by: str = ""  # who revoked it; empty while it is in force


@record
class GrantsFile:
    """The file of the grants, in the order they were made."""

    grants: tuple[IssuedGrant, ...] = ()
    format: Literal["downfield.desk-grants"] = "downfield.desk-grants"
    version: Literal[1] = 1


class GrantKeeper:
    """Makes, lists and revokes grants, and decides about them at the desk. Callable from any thread.

    A grant that is not in force raises NotFoundError.

    Args:
        folder: of the desk; None to keep them in memory.
        now_ns: wall clock, ns since 1970.

    Attributes:
        key: the desk's key.
        issued: every grant, the earliest first.

    Raises:
        InputError: the key or the grants can't be read.
        FormatError: the file of the grants holds something else.
    """

    def __init__(self, folder: Path | None = None, now_ns: Callable[[], int] = RUN_CLOCK.now_ns) -> None:
        self._path = None if folder is None else folder / "grants.json"
        self.key = RigKey.generate() if folder is None else RigKey.load_or_create(folder / DESK_KEY)
        self._now_ns = now_ns
        self._lock = threading.Lock()
        known = self._path is not None and self._path.exists()
        self.issued = read_record(GrantsFile, self._path).grants if known and self._path is not None else ()
        self._followers: list[Revoked] = []
        self._invitations: dict[str, tuple[str, float]] = {}

    def issue(self, by: str, name: str, role: Role, tables: Sequence[str], days: int) -> TableGrant:
        """Make a grant; it is on disk when this returns.

        Args:
            name: of the person or the phone.
            tables: names of tables; empty for all.

        Raises:
            InputError: a name is empty or too long.
            RefusedError: too many are in force.
            OutputError: it can't be kept, so it is not made.
        """
        now_ns = self._now_ns()
        names = tuple(dict.fromkeys(" ".join(table.split()) for table in tables))
        expires_ns = now_ns + days * _DAY_NS
        grant = TableGrant(secrets.token_hex(6), name.strip(), role, names, expires_ns, self.key.public_text)
        with self._lock:
            kept = [one for one in self.issued if one.grant.expires_ns + _CLOCKS_DIFFER_NS > now_ns]
            if sum(not one.revoked_by for one in kept) >= MAX_GRANTS or len(kept) >= MAX_REVOKED:
                raise RefusedError(f"{MAX_GRANTS} phones have a grant. Revoke some first.")
            self._keep((*kept, IssuedGrant(grant, time.time_ns(), by)))
        return grant

    def invitation(self, identity: str) -> str:
        """Return a grant's invitation, good once and for minutes. Raises RefusedError: a phone has opened it."""
        with self._lock:
            if self.grant_of(identity).holder:
                raise RefusedError("A phone has opened this invitation. Make a code of its own for another phone.")
            secret, until_s = self._invitations.get(identity, ("", 0.0))
            if time.monotonic() > until_s:
                secret = secrets.token_urlsafe(16)
            self._invitations[identity] = (secret, time.monotonic() + INVITATION_S)
        return f"{INVITATION_PREFIX}{identity}.{secret}"

    def admit(self, text: str, holder: str) -> Admission:
        """Return whom an invitation lets in at the desk; it is used up, and the grant is that phone's from then on.

        Raises:
            RefusedError: it is not taken; one sentence says why.
            OutputError: it can't be kept, so it is not used up.
        """
        if text.strip().startswith(PASS_PREFIX):
            raise RefusedError("A pass is for its table only. At the desk a phone opens its invitation.")
        identity, _, secret = text.strip().removeprefix(INVITATION_PREFIX).partition(".")
        with self._lock:
            known, until_s = self._invitations.get(identity, ("", 0.0))
            is_good = secrets.compare_digest(known.encode(), secret.encode()) and time.monotonic() <= until_s
            found = next((one for one in self.issued if one.grant.id == identity), None)
            if found is None or not known or not is_good:
                raise RefusedError("This invitation was used, or is too old. Ask the director for a new one.")
            admission = Admission(identity, found.grant.name, _AT_THE_DESK[found.grant.role], found.grant.expires_ns)
            reason = expired(found.grant.expires_ns, self._now_ns())
            if found.revoked_by or reason:
                raise GrantRefusedError(admission, reason or "This phone was revoked. Ask the director.")
            if not is_holder(holder):
                raise RefusedError("The phone gave no key. Open the desk's page by https, in a recent browser.")
            opened = replace(found, grant=replace(found.grant, holder=holder))
            self._keep(tuple(opened if one == found else one for one in self.issued))
            del self._invitations[identity]
        return admission

    def is_in_force(self, identity: str) -> bool:
        """Return whether a grant is there and not revoked."""
        return any(one.grant.id == identity and not one.revoked_by for one in self.issued)

    def pass_for(self, identity: str, rig: str, table: str) -> str | None:
        """Return a phone's pass for a rig; None where its grant does not name the table, in whatever case."""
        grant = self.grant_of(identity)
        named = not grant.tables or table.strip().casefold() in {name.strip().casefold() for name in grant.tables}
        if not grant.holder or not named:
            return None
        until_ns = min(grant.expires_ns, self._now_ns() + PASS_NS)
        made = TablePass(identity, grant.name, grant.role, rig, table[:60], grant.holder, until_ns, grant.key)
        return write_pass(self.key, made)

    def grant_of(self, identity: str) -> TableGrant:
        """Return a grant in force. Raises NotFoundError: none of this id is."""
        found = next((one.grant for one in self.issued if one.grant.id == identity and not one.revoked_by), None)
        if found is None:
            raise NotFoundError("No phone has a grant of this id.")
        return found

    def revoke(self, by: str, identity: str) -> None:
        """Revoke a grant: here now, at a table once it is connected. Raises OutputError: that can't be kept."""
        with self._lock:
            self.grant_of(identity)
            self._keep(tuple(replace(one, revoked_by=by) if one.grant.id == identity else one for one in self.issued))
            followers = list(self._followers)
        for follower in followers:
            follower(identity)

    def standing(self) -> tuple[TablePush, ...]:
        """Return what every table gets of the grants: this desk's key, and which of its grants are revoked."""
        revoked = tuple(sorted(one.grant.id for one in self.issued if one.revoked_by))
        key = self.key.public_text
        identity = hashlib.sha256(" ".join((key, *revoked)).encode()).hexdigest()[:12]
        return (TablePush(identity, 0, "the desk", "Phones", PushedAccess(key, revoked)),)

    def follow(self, revoked: Revoked) -> None:
        """Call something with every grant that is revoked, those before included."""
        with self._lock:
            self._followers.append(revoked)
            before = [one.grant.id for one in self.issued if one.revoked_by]
        for identity in before:
            revoked(identity)

    def _keep(self, issued: tuple[IssuedGrant, ...]) -> None:
        if self._path is not None:
            try:
                replace_private_file(self._path, to_json(GrantsFile, GrantsFile(issued)).encode())
            except OSError as error:
                raise OutputError(f"{self._path}: can't be written ({error.strerror}). Nothing was changed.") from None
        self.issued = issued
