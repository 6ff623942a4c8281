"""The signed list of a store: where every game of a rig stands, and which devices were paired, in the store itself.

Each journal is chained in itself. The list ties them and the devices together: one row for each game and device, and
a seal over all of them, signed with the rig's key and written in the transaction of what it is about. Without the key
nobody can delete a game, cut or seal a journal again, edit a game's row or add a device so that the list agrees.
An older copy of the whole store has an older list that agrees; only a kept head (`heads`, beside this) tells that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from sqlalchemy import Connection, delete, func, insert, select

from downfield.core.errors import FormatError
from downfield.core.records import from_json, record, to_json
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import rig_id
from downfield.store.database.reader import DeviceRow
from downfield.store.database.schema import GAMES, SIGNED_LIST
from downfield.store.sealing.hash_chain import canonical_json, follows, row_digest
from downfield.store.sealing.signing import RigKey, is_signed_text

GAME: Final = "game"
DEVICE: Final = "device"
SEAL: Final = "seal"  # Kinds of rows; a list has one seal, of no subject

_SIGNED_AS: Final = b"downfield.list\n"
Kind = TypeVar("Kind")


@record
class GameStanding:
    """Where a game stands."""

    seq: int  # number of the last entry of its journal
    digest: str  # of that entry
    row: str  # SHA-256 of the game's row in the list of games
    number: int  # the game's place in the order of the store's games
    # number of the entry that the rig went on from though later ones had been there; None where it never did
    rewound_to: int | None = None


@record
class DeviceStanding:
    """A device that was paired."""

    name: str  # as people call it
    row: str  # SHA-256 of its row; empty where it was revoked or has expired


@record
class ListSeal:
    """What makes the list one."""

    owner: str
    rows: str  # SHA-256 of all other rows of the list
    altered: bool  # whether the list did not agree with its seal when the rig went on with it
    key: str  # the rig's public key
    signature: str = ""  # of the seal without it, Ed25519, base64


class SignedList:
    """Keeps a rig's list in a store, within the transactions of those who write it.

    A list that somebody altered is gone on with, and says so from then on.

    Args:
        key: the rig's.
    """

    def __init__(self, key: RigKey) -> None:
        self._key, self._owner = key, rig_id(key.public_text)
        self._rows: dict[tuple[str, str], str] = {}
        self._seal: str | None = None
        self._altered = False

    def forget(self) -> None:
        """Read the list again at the next change: the last one may not have been committed."""
        self._seal = None

    def note_entries(self, connection: Connection, game: GameRow, entries: Sequence[EntryRow]) -> None:
        """Note entries that were just written, of one game, in order."""
        self._load(connection)
        listed, last = self._rows.get((GAME, game.id)), entries[-1]
        before = None if listed is None else read_row(GameStanding, listed)
        rewound_to = None if before is None else before.rewound_to
        if before is not None and before.digest != last.digest and not follows(before.digest, entries[0], game.id):
            rewound_to = entries[0].seq - 1
        row = row_digest(game) if before is None else before.row  # a row is never changed
        place = select(GAMES.c.number).where(GAMES.c.id == game.id)
        number = int(connection.scalar(place) or 0) if before is None else before.number
        self._set(connection, GAME, game.id, GameStanding(last.seq, last.digest, row, number, rewound_to))
        self._sign(connection)

    def note_dropped(self, connection: Connection, game: str) -> None:
        """Take a game that was deleted off the list."""
        self._load(connection)
        self._rows.pop((GAME, game), None)
        mine = (SIGNED_LIST.c.owner == self._owner) & (SIGNED_LIST.c.kind == GAME)
        connection.execute(delete(SIGNED_LIST).where(mine, SIGNED_LIST.c.subject == game))
        self._sign(connection)

    def note_device(self, connection: Connection, device: str, row: DeviceRow | None) -> None:
        """Note a device that was paired, or is no longer: None for its row."""
        self._load(connection)
        listed = self._rows.get((DEVICE, device))
        if row is None:
            known = None if listed is None else read_row(DeviceStanding, listed)
            self._set(connection, DEVICE, device, DeviceStanding("" if known is None else known.name, ""))
        else:
            self._set(connection, DEVICE, device, DeviceStanding(row.name, row_digest(row)))
        self._sign(connection)

    def _load(self, connection: Connection) -> None:
        """Read the list unless this program wrote it last; nobody else changes it until the transaction ends."""
        if connection.dialect.name == "postgresql":
            number = int.from_bytes(hashlib.sha256(_SIGNED_AS + self._owner.encode()).digest()[:8], signed=True)
            connection.execute(select(func.pg_advisory_xact_lock(number)))
        mine = SIGNED_LIST.c.owner == self._owner
        seal = connection.scalar(select(SIGNED_LIST.c.content).where(mine, SIGNED_LIST.c.kind == SEAL))
        if self._seal is not None and seal == self._seal:
            return
        query = select(SIGNED_LIST.c.kind, SIGNED_LIST.c.subject, SIGNED_LIST.c.content)
        found = connection.execute(query.where(mine, SIGNED_LIST.c.kind != SEAL)).all()
        self._rows = {(str(kind), str(subject)): str(content) for kind, subject, content in found}
        self._seal = seal
        if seal is not None or found:
            read = read_seal(self._owner, self._rows, seal)
            self._altered = read is None or read.altered

    def _set(self, connection: Connection, kind: str, subject: str, content: GameStanding | DeviceStanding) -> None:
        text = to_json(type(content), content)
        self._rows[kind, subject] = text
        self._write(connection, kind, subject, text)

    def _sign(self, connection: Connection) -> None:
        seal = ListSeal(self._owner, rows_digest(self._rows), self._altered, self._key.public_text)
        signature = self._key.sign_text(_signed(seal))
        self._seal = to_json(ListSeal, replace(seal, signature=signature))
        self._write(connection, SEAL, "", self._seal)

    def _write(self, connection: Connection, kind: str, subject: str, content: str) -> None:
        table = SIGNED_LIST.c
        row = (table.owner == self._owner) & (table.kind == kind) & (table.subject == subject)
        connection.execute(delete(SIGNED_LIST).where(row))
        connection.execute(insert(SIGNED_LIST).values(owner=self._owner, kind=kind, subject=subject, content=content))


def read_seal(owner: str, rows: Mapping[tuple[str, str], str], text: str | None) -> ListSeal | None:
    """Return a list's seal; None where it is missing, not its owner's, or does not cover the other rows."""
    seal = None if text is None else read_row(ListSeal, text)
    if seal is None or owner != seal.owner or rig_id(seal.key) != owner or seal.rows != rows_digest(rows):
        return None
    return seal if is_signed_text(seal.key, _signed(replace(seal, signature="")), seal.signature) else None


def rows_digest(rows: Mapping[tuple[str, str], str]) -> str:
    """Return the SHA-256 of a list's rows, hexadecimal."""
    lines: Iterable[str] = (canonical_json([*place, rows[place]]) for place in sorted(rows))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_row(kind: type[Kind], text: str) -> Kind | None:
    """Return a row's content; None where it is none of its kind."""
    try:
        return from_json(kind, text, path="signed list")
    except FormatError:
        return None


def _signed(seal: ListSeal) -> bytes:
    return _SIGNED_AS + to_json(ListSeal, seal).encode()
