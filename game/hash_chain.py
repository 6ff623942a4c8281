"""The hash chain: every entry of a game's journal is sealed with all before it, so that an altered one shows.

An entry's digest is the SHA-256 of the digest before it, a newline, and the canonical JSON of the entry: its game,
number, kind, time, key, content and the SHA-256 of its attachment. The first entry follows 64 zeros. Whoever keeps the
last digest (receipts carry it) can tell also whether the end was cut off or the whole was made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

GENESIS: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a journal as it is stored.

    Attributes:
        game: its game's id.
        seq: its number in the game, from 1.
        kind: ``"began"``, ``"said"``, ``"seen"`` or ``"ended"``.
        at_ns: wall clock when it was written, ns since 1970.
        key: idempotency key of what was said, None for other entries.
        content: canonical JSON.
        attachment: bytes that belong to it; None where there are none.
        digest: of the chain up to and with it.

    """

    game: str
    seq: int
    kind: str
    at_ns: int
    key: str | None
    content: str
    attachment: bytes | None
    digest: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a game's journal is as it was written.

    Attributes:
        game: its id.
        entries: how many it has.
        head: digest of its last entry.
        problem: what is wrong and where; empty when nothing is.

    """

    game: str
    entries: int
    head: str
    problem: str = ""


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces, and characters as they are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(
    previous: str, game: str, seq: int, kind: str, at_ns: int, key: str | None, content: str, attachment: bytes | None
) -> str:
    """The digest of an entry that follows another."""
    attached = None if attachment is None else hashlib.sha256(attachment).hexdigest()
    sealed = canonical(
        {"game": game, "seq": seq, "kind": kind, "at_ns": at_ns, "key": key, "content": content, "attachment": attached}
    )
    return hashlib.sha256(f"{previous}\n{sealed}".encode()).hexdigest()


def verify(game: str, entries: Iterable[Entry], head: str | None = None) -> Verification:
    """Check a game's journal.

    Args:
        game: its id.
        entries: in order.
        head: a digest known from elsewhere, which must be among the entries'; None when there is none.

    """
    previous, count, known = GENESIS, 0, head is None
    for entry in entries:
        count += 1
        if entry.seq != count:
            return Verification(game, count, previous, f"entry {count} is missing: {entry.seq} stands in its place")
        digest = digest_of(
            previous, game, entry.seq, entry.kind, entry.at_ns, entry.key, entry.content, entry.attachment
        )
        if digest != entry.digest:
            return Verification(game, count, previous, f"entry {entry.seq} ({entry.kind}) or one before was altered")
        previous = digest
        known = known or digest == head
    if not known:
        return Verification(
            game, count, previous, f"no entry has the digest {head}: the end was cut off, or all is new"
        )
    return Verification(game, count, previous)
