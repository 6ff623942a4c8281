"""The hash chain of a game's journal: what an entry's digest covers, and whether a journal is as it was written.

An entry's digest is the SHA-256 of the digest before it, a newline, and the canonical JSON of the entry: its game,
number, kind, time, key, content and the SHA-256 of its attachment. The first entry follows 64 zeros. Receipts carry the
digest; anyone who keeps the last one can prove later that the journal was neither cut off nor rewritten.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final

from downfield.game.records.keeping import EntryRow, GameRow
from downfield.store.database.reader import DeviceRow

GENESIS: Final = "0" * 64  # The digest before the first entry


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a game's journal is as it was written."""

    game: str
    entries: int  # how many are intact, or the number of the first that is not
    head: str  # digest of the last intact entry
    problem: str = ""  # what is wrong and where; empty when nothing is


def verify_journal(game: str, entries: Iterable[EntryRow], head: str | None = None) -> Verification:
    """Check the hash chain of a game's journal.

    Args:
        entries: in order, with their attachments.
        head: a digest known from elsewhere, which must be among the entries'; None when there is none.
    """
    previous, count, is_known = GENESIS, 0, head is None
    for entry in entries:
        count += 1
        if entry.seq < 1:
            return Verification(game, count, previous, f"Entry {entry.seq} was added: a journal begins with entry 1.")
        if entry.seq != count:
            return Verification(game, count, previous, f"Entry {count} is missing; entry {entry.seq} follows.")
        if not follows(previous, entry, game):
            problem = f"Entry {entry.seq} ({entry.kind}) or one before it was altered."
            return Verification(game, count, previous, problem)
        previous = entry.digest
        is_known = is_known or previous == head
    if not is_known:
        problem = f"No entry has the digest {head}: the end was cut off, or the journal was rewritten."
        return Verification(game, count, previous, problem)
    return Verification(game, count, previous)


def follows(previous: str, entry: EntryRow, game: str | None = None) -> bool:
    """Return whether an entry's digest is right after another's, in the game it names or must belong to."""
    sealed = (entry.seq, entry.kind, entry.at_ns, entry.key, entry.content, entry.attachment)
    return digest_of(previous, entry.game if game is None else game, *sealed) == entry.digest


def digest_of(
    previous: str, game: str, seq: int, kind: str, at_ns: int, key: str | None, content: str, attachment: bytes | None
) -> str:
    """Return the digest of an entry that follows another."""
    attached = None if attachment is None else hashlib.sha256(attachment).hexdigest()
    sealed = canonical_json(
        {"game": game, "seq": seq, "kind": kind, "at_ns": at_ns, "key": key, "content": content, "attachment": attached}
    )
    return hashlib.sha256(f"{previous}\n{sealed}".encode()).hexdigest()


def row_digest(row: GameRow | DeviceRow) -> str:
    """Return the SHA-256 of a row of the store beside the journals, hexadecimal."""
    return hashlib.sha256(canonical_json(asdict(row)).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys, no spaces, and characters as they are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
