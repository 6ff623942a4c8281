"""Grants and passes: how a phone that the tournament's desk knows is let in at a table, also while the desk is away.

A director grants a phone a role at tables. The phone opens the desk once by an invitation, which works a single time,
and shows the desk the public key that it made (P-256, as browsers have it; the private one never leaves it). From then
on the desk signs *passes* for it: each for one rig, for hours, for that key. A pass alone opens nothing: the phone adds
a proof, signed with its key, that only that rig takes, and only once. So a table that sees a phone learns nothing that
works at another table or at the desk, and neither does whoever overhears it.
"""

from __future__ import annotations

import base64
import binascii
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from downfield.api.security.access import Role
from downfield.core.errors import FormatError, InputError, RefusedError
from downfield.core.files.private_files import replace_private_file
from downfield.core.platform.clock import earlier_now_ns
from downfield.core.records import check, from_json, read_record, record, to_json
from downfield.store.sealing.signing import RigKey, verify_signature

PASS_PREFIX: Final = "dfp1."  # noqa: S105  begins every pass
INVITATION_PREFIX: Final = "dfi1."  # Begin the texts of passes and invitations; no pairing code has a dot

MAX_GRANT: Final = 2000  # Letters of a pass with its proof

_SIGNED_AS: Final = b"downfield.pass\n"
_PROVED_AS: Final = b"downfield.proof\n"
_NOT_WHOLE: Final = "This pass is not whole, or was altered. Open the table again from the desk's page 'My tables'."
_NO_PROOF: Final = "This pass belongs to another phone. Each phone opens its tables from its own page 'My tables'."
_POINT_BYTES: Final = 65
_SIGNATURE_BYTES: Final = 64


@record
class TablePass:
    """What a desk allows one phone at one rig, for a while."""

    id: str  # of the grant, 12 hexadecimal digits; the phone's id at every table
    name: str  # of the person or the device
    role: Role  # at the table
    rig: str  # id of the rig that takes it; no other does
    table: str  # the rig's table, for people
    holder: str  # the phone's public key: a point of P-256, uncompressed, in URL-safe base64
    expires_ns: int  # wall clock, ns since 1970
    key: str  # the desk's public key
    format: Literal["downfield.pass"] = "downfield.pass"
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        is_id = len(self.id) == 12 and set(self.id) <= set("0123456789abcdef")
        check(is_id, InputError, "a grant's id has 12 hexadecimal digits")
        is_name = 0 < len(self.name.strip()) <= 60 and min(self.name) >= " "
        check(is_name, InputError, "a name has 1 to 60 letters")


@record
class PassProof:
    """What a phone signs to use a pass."""

    rig: str  # id of the rig that it means
    at_ms: int  # its clock, ms since 1970: more each time


@dataclass(frozen=True, slots=True)
class Admission:
    """A phone that is let in."""

    id: str
    name: str  # of the person or the device
    role: Role
    expires_ns: int  # wall clock, ns since 1970


def is_grant(text: str) -> bool:
    """Return whether a text wants to be a pass or an invitation, and is no pairing code."""
    return text.strip().startswith((PASS_PREFIX, INVITATION_PREFIX))


def write_pass(key: RigKey, given: TablePass) -> str:
    """Return a pass as text, signed by the desk; the same text each time."""
    content = to_json(TablePass, given, defaults=False).encode()
    return f"{PASS_PREFIX}{_encode(content)}.{_encode(key.sign(_SIGNED_AS + content))}"


def read_pass(text: str) -> tuple[TablePass, PassProof]:
    """Return the pass and the proof of a text: the desk of its key has signed one, and the phone of its key the other.

    Whether that desk is known is not checked. Raises RefusedError: it is no whole pass, was altered, or has no proof of
    the phone that it was made for.
    """
    parts = text.strip().removeprefix(PASS_PREFIX).split(".")
    if len(text) > MAX_GRANT or len(parts) not in {2, 4} or not text.strip().startswith(PASS_PREFIX):
        raise RefusedError(_NOT_WHOLE)
    try:
        content, signature = (_decode(part) for part in parts[:2])
        found = from_json(TablePass, content, path="a pass")
    except (binascii.Error, ValueError, FormatError, InputError):
        raise RefusedError(_NOT_WHOLE) from None
    if not verify_signature(found.key, _SIGNED_AS + content, signature):
        raise RefusedError(_NOT_WHOLE)
    try:
        proof = from_json(PassProof, _decode(parts[2]), path="a proof")
        is_proved = is_signed_by(found.holder, proof_content(".".join(parts[:2]), parts[2]), _decode(parts[3]))
    except (IndexError, binascii.Error, ValueError, FormatError, InputError):
        raise RefusedError(_NO_PROOF) from None
    if not is_proved:
        raise RefusedError(_NO_PROOF)
    return found, proof


def proof_content(given: str, proof: str) -> bytes:
    """Return what a phone signs: the pass without its prefix, and the proof, both as text."""
    return _PROVED_AS + f"{given}.{proof}".encode()


def is_holder(text: str) -> bool:
    """Return whether a text is the public key of a phone."""
    return _public_key(text) is not None


def is_signed_by(holder: str, content: bytes, signature: bytes) -> bool:
    """Return whether a phone has signed something (ECDSA with SHA-256, 64 bytes, as WebCrypto makes it)."""
    key = _public_key(holder)
    if key is None or len(signature) != _SIGNATURE_BYTES:
        return False
    half = _SIGNATURE_BYTES // 2
    numbers = int.from_bytes(signature[:half]), int.from_bytes(signature[half:])
    try:
        key.verify(encode_dss_signature(*numbers), content, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _public_key(text: str) -> ec.EllipticCurvePublicKey | None:
    try:
        point = _decode(text)
        if len(point) != _POINT_BYTES:
            return None
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        return None


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


MAX_DESKS: Final = 4  # A table knows the desks it heard of last

_KEPT_EVERY_NS: Final = 600_000_000_000  # Between two times of a desk's clock that are kept on disk

MAX_USED: Final = 5000  # Phones of which a table remembers the last proof

Revoked = Callable[[str], object]  # Called with the id of each grant that is revoked

_log = logging.getLogger(__name__)


class Grants(Protocol):
    """Decides about what phones show. Callable from any thread."""

    def admit(self, text: str, holder: str) -> Admission:
        """Return whom a text lets in here. It may be used up by that.

        Raises RefusedError: it is not taken here; one sentence says why.

        Args:
            holder: the public key that the phone gives with an invitation; empty for none.
        """

    def is_in_force(self, identity: str) -> bool:
        """Return whether a grant that was taken is not revoked."""

    def follow(self, revoked: Revoked) -> None:
        """Call something with every grant that is revoked, those before included."""


@record
class KnownDesk:
    """A desk whose passes a table takes."""

    key: str
    revoked: tuple[str, ...] = ()  # ids of the grants it has revoked, ever
    at_ns: int = 0  # its clock when it was last connected, to some minutes; 0 where it has told none


@record
class KnownDesksFile:
    """The file of the desks, the one heard of last at the end."""

    desks: tuple[KnownDesk, ...] = ()
    # when the last proof of each phone was made, by its own clock, by id of its grant
    used: dict[str, int] = field(default_factory=dict)
    format: Literal["downfield.known-desks"] = "downfield.known-desks"
    version: Literal[1] = 1


class GrantedAccess:
    """Decides about passes at a table. Raises InputError, FormatError: the file can't be read.

    Args:
        path: file with the desks it knows; None to keep them in memory.
        rig: id of the rig, for which a pass must be.
        table: the table's name, for people.
        now_ns: wall clock, ns since 1970.
    """

    def __init__(self, path: Path | None, rig: str, table: str, now_ns: Callable[[], int] = earlier_now_ns) -> None:
        self._path, self._rig, self._table, self._now_ns = path, rig, table, now_ns
        self._lock = threading.Lock()
        self._known = read_record(KnownDesksFile, path) if path is not None and path.exists() else KnownDesksFile()
        self._followers: list[Revoked] = []
        self._began_ns, self._desk_clocks = time.monotonic_ns(), dict[str, int]()

    def set_clock(self, key: str, desk_ns: int) -> None:
        """Know what a desk's clock shows now, ns since 1970: its passes end by that, whatever this table's shows."""
        with self._lock:
            desk = next((desk for desk in self._known.desks if desk.key == key), None)
            if desk is None:
                return
            self._desk_clocks[key] = desk_ns - time.monotonic_ns()
            if abs(desk_ns - desk.at_ns) > _KEPT_EVERY_NS:
                now = replace(desk, at_ns=desk_ns)
                self._keep(replace(self._known, desks=tuple(now if one is desk else one for one in self._known.desks)))

    def take(self, key: str, revoked: Iterable[str]) -> str:
        """Know a desk, and what it has revoked; return what was done. What was revoked once stays revoked."""
        with self._lock:
            before = next((desk for desk in self._known.desks if desk.key == key), KnownDesk(key))
            new = [identity for identity in revoked if identity not in before.revoked]
            others = [desk for desk in self._known.desks if desk.key != key]
            desks = (*others, replace(before, revoked=(*before.revoked, *new)))[-MAX_DESKS:]
            self._keep(replace(self._known, desks=desks))
            followers = list(self._followers)
        for identity in new:
            for follower in followers:
                follower(identity)
        return f"The desk's passes are taken; {len(before.revoked) + len(new)} grants are revoked."

    def follow(self, revoked: Revoked) -> None:
        """Call something with every grant that is revoked, those before included."""
        with self._lock:
            self._followers.append(revoked)
            before = [identity for desk in self._known.desks for identity in desk.revoked]
        for identity in before:
            revoked(identity)

    def admit(self, text: str, holder: str) -> Admission:  # noqa: ARG002  a pass names its holder itself
        """Return whom a pass lets in at this table; its proof is used up by that. Raises RefusedError: it says why."""
        if text.strip().startswith(INVITATION_PREFIX):
            raise RefusedError("This invitation is for the desk. Open it there; the tables follow from its page.")
        found, proof = read_pass(text)
        with self._lock:
            left_ns = found.expires_ns - self._now_of(found.key)
            admission = Admission(found.id, found.name, found.role, self._now_ns() + left_ns)
            reason = self._refusal(found, proof)
            if reason:
                raise GrantRefusedError(admission, reason)
            used = {**{key: at for key, at in self._known.used.items() if key != found.id}, found.id: proof.at_ms}
            self._keep(replace(self._known, used=dict(list(used.items())[-MAX_USED:])))
        return admission

    def is_in_force(self, identity: str) -> bool:
        """Return whether a grant that was taken is not revoked."""
        return all(identity not in desk.revoked for desk in self._known.desks)

    def _refusal(self, found: TablePass, proof: PassProof) -> str:
        known = self._known.desks
        desk = next((desk for desk in known if desk.key == found.key), None)
        if desk is None and not known:
            return "This table has not heard of its tournament's desk yet. Try again once it was connected to it."
        if desk is None:
            return "This pass comes from a desk that this table does not know."
        if found.id in desk.revoked:
            return "The desk has revoked this phone. Ask the director for a new invitation."
        if found.rig != self._rig or proof.rig != self._rig:
            return f"This pass is for {found.table or 'another table'}; this table is called {self._table}."
        if proof.at_ms <= self._known.used.get(found.id, 0):
            return "This pass was used already. Open the table again from the desk's page 'My tables'."
        return expired(found.expires_ns, self._now_of(desk.key))

    def _now_of(self, key: str) -> int:
        """Return the time by a desk's clock; until it is connected in this run, as early as it may be."""
        at_ns = next((desk.at_ns for desk in self._known.desks if desk.key == key), 0)
        told_ns = self._desk_clocks.get(key, at_ns - self._began_ns) + time.monotonic_ns()
        if key in self._desk_clocks:
            return told_ns
        return min(self._now_ns(), told_ns) if at_ns else self._now_ns()

    def _keep(self, known: KnownDesksFile) -> None:
        self._known = known
        if self._path is None:
            return
        try:
            replace_private_file(self._path, to_json(KnownDesksFile, self._known).encode())
        except OSError as error:  # it counts all the same; after a restart the desk sends it again
            _log.warning("%s: can't be written: %s", self._path, error.strerror)


class GrantRefusedError(RefusedError):
    """A whole pass or invitation is not taken here; it tells whom it would have let in, and why not."""

    def __init__(self, admission: Admission, reason: str) -> None:
        super().__init__(reason)
        self.admission = admission


def expired(expires_ns: int, now_ns: int) -> str:
    """Return the reason why what has expired is refused; empty before."""
    if expires_ns >= now_ns:
        return ""
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(expires_ns / 1e9))
    return f"This phone's pass expired on {day}. Open the table again from the desk's page 'My tables'."
