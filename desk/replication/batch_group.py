"""Stores batches of several games in one transaction: four statements for all of them.

Most of the processor time that a batch takes is spent on statements, so tables that send at the same moment share
them. Each batch is judged as if it came alone: what is wrong with one changes nothing for the others.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, func, insert, select, text
from sqlalchemy.dialects.postgresql import insert as insert_or_update

from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import rig_id
from downfield.store.checking.signed_ends import SIGNED_ENDS
from downfield.store.database.schema import ENTRIES, GAMES
from downfield.store.sealing.hash_chain import GENESIS, follows
from downfield.store.sealing.signing import is_public_key
from downfield.store.writing.replication import BatchReply, JournalBatch, is_signed

_NEXT_NUMBER: Final = select(func.coalesce(func.max(GAMES.c.number), 0) + 1).scalar_subquery()

_LOCK: Final = text("SELECT pg_advisory_xact_lock(number) FROM (SELECT unnest(:numbers) AS number ORDER BY 1) AS games")
"""In one order, so that two desks never wait for each other."""

_STANDING: Final = text("""
SELECT games.*, stored.seq, stored.digest
FROM unnest(CAST(:games AS text[]), CAST(:firsts AS bigint[])) AS wanted (game, first)
JOIN games ON games.id = wanted.game
CROSS JOIN LATERAL (SELECT max(seq) AS seq FROM entries WHERE entries.game = wanted.game) AS last
LEFT JOIN LATERAL (
    SELECT entries.seq, entries.digest FROM entries
    WHERE entries.game = wanted.game AND entries.seq >= least(wanted.first, last.seq)
) AS stored ON true
""")
"""How each game is listed, and its stored entries from one number on, or the last."""

_ENTRY_FIELDS: Final = tuple(field.name for field in fields(EntryRow))
_SIGNED: Final = insert_or_update(SIGNED_ENDS)
_KEEP_SIGNATURE: Final = _SIGNED.on_conflict_do_update(
    index_elements=[SIGNED_ENDS.c.game],
    set_={name: _SIGNED.excluded[name] for name in ("seq", "digest", "key", "signature", "received_ns")},
)


@dataclass(frozen=True, slots=True)
class CheckedBatch:
    """A batch with which nothing is wrong by itself.

    Attributes:
        batch: as it came.
        rows: its entries.

    """

    batch: JournalBatch
    rows: Sequence[EntryRow]

    @property
    def game(self) -> str:
        """The id of its game."""
        return self.batch.game.id


def checked(batch: JournalBatch) -> CheckedBatch | BatchReply:
    """Return a batch once its signature, its order and its hash chain are checked; a refusal where one is wrong."""
    try:
        rows = [entry.row for entry in batch.entries]
    except ValueError:
        return BatchReply("refused", text="an attachment is not base64")
    fault = _fault(batch, rows)
    return BatchReply("refused", text=fault) if fault else CheckedBatch(batch, rows)


def store_group(connection: Connection, group: Sequence[CheckedBatch]) -> list[BatchReply]:
    """Store batches of different games within a transaction, and return what becomes of each once it is committed."""
    connection.execute(_LOCK, {"numbers": [_lock_number(one.game) for one in group]})
    standing = _standing(connection, group)
    games: list[dict[str, Any]] = []
    entries: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    replies = []
    for one in group:
        listed, stored = standing.get(one.game, (None, {}))
        reply, new = _judged(one, listed, stored)
        replies.append(reply)
        if not new:
            continue
        if listed is None:
            games.append(_listing(one.batch.game))
        entries += [{name: getattr(entry, name) for name in _ENTRY_FIELDS} for entry in new]
        ends.append(_end(one.batch, new[-1]))
    if games:
        connection.execute(insert(GAMES).values(number=_NEXT_NUMBER), games)
    if entries:
        connection.execute(insert(ENTRIES), entries)
        connection.execute(_KEEP_SIGNATURE, ends)
    return replies


def _fault(batch: JournalBatch, rows: Sequence[EntryRow]) -> str:
    """Return what is wrong with a batch by itself; empty where nothing is."""
    if not rows or not is_public_key(batch.key):
        return "this is no batch of entries"
    if batch.game.owner != rig_id(batch.key):
        return "the game belongs to another rig than the one that sends it"
    if any(row.game != batch.game.id or row.seq != rows[0].seq + number for number, row in enumerate(rows)):
        return "its entries do not follow one another"
    if not is_signed(batch.key, batch.game, rows[-1], batch.signature):
        return "the signature is not that of the rig that the game belongs to"
    if any(not follows(before.digest, row) for before, row in pairwise(rows)):
        return "its hash chain is broken: an entry was altered"
    return ""


def _standing(
    connection: Connection, group: Sequence[CheckedBatch]
) -> dict[str, tuple[RowMapping | None, dict[int, str]]]:
    """Return how each game is listed, and the digests of its stored entries by number."""
    wanted = {"games": [one.game for one in group], "firsts": [one.rows[0].seq - 1 for one in group]}
    found: dict[str, tuple[RowMapping | None, dict[int, str]]] = {}
    for row in connection.execute(_STANDING, wanted).mappings():
        _, stored = found.setdefault(row["id"], (row, {}))
        if row["seq"] is not None:
            stored[row["seq"]] = row["digest"]
    return found


def _judged(
    one: CheckedBatch, listed: RowMapping | None, stored: dict[int, str]
) -> tuple[BatchReply, Sequence[EntryRow]]:
    """Return what becomes of a batch, and its entries that are not stored yet."""
    rows = one.rows
    if listed is not None and any(listed[name] != value for name, value in _listing(one.batch.game).items()):
        return BatchReply("refused", text="its title, teams, rulebook, table or rig is not the one it had before"), ()
    last = max(stored, default=0)
    for entry in rows:
        if stored.get(entry.seq, entry.digest) != entry.digest:
            return BatchReply("refused", last, _fork(entry.seq)), ()
    if rows[0].seq > last + 1:
        return BatchReply("behind", last), ()
    if not follows(stored.get(rows[0].seq - 1, GENESIS), rows[0]):
        return BatchReply("refused", last, _fork(rows[0].seq - 1)), ()
    new = [entry for entry in rows if entry.seq > last]
    return BatchReply("stored", new[-1].seq if new else last), new


def _end(batch: JournalBatch, last: EntryRow) -> dict[str, Any]:
    return {
        "game": last.game,
        "seq": last.seq,
        "digest": last.digest,
        "key": batch.key,
        "signature": batch.signature,
        "received_ns": time.time_ns(),
    }


def _lock_number(game: str) -> int:
    return int.from_bytes(hashlib.sha256(f"journal {game}".encode()).digest()[:8], signed=True)


def _listing(game: GameRow) -> dict[str, Any]:
    return {"table_name" if name == "table" else name: value for name, value in asdict(game).items()}


def _fork(seq: int) -> str:
    return (
        f"the tournament has another entry {seq} of this game: an older copy of this computer's games was put back and"
        " played on, its data folder was copied to another computer, or its journal was altered"
    )
