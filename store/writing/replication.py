"""Journals on their way to a tournament's store: signed batches of entries, and what the receiver answers.

A rig signs the end of every batch. The hash chain ties the end to all entries before it, so one signature covers the
whole journal so far, and the row under which the game is listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final, Literal

from downfield.core.records import record
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.store.sealing.hash_chain import canonical_json
from downfield.store.sealing.signing import RigKey, is_signed_text

_SIGNED_AS: Final = b"downfield.journal\n"

MAX_GAMES: Final = 200  # Games in one question about positions


@record
class JournalBatch:
    """Entries of one game's journal that follow one another."""

    key: str  # the rig's public key
    game: GameRow  # as the rig lists it
    entries: tuple[EntryRow, ...]  # in order, at least one
    signature: str  # of the journal up to the last of them, Ed25519, base64
    format: Literal["downfield.journal"] = "downfield.journal"
    version: Literal[1] = 1


@record
class BatchReply:
    """What became of a batch."""

    # ``"stored"``: all of it is in the tournament's store. ``"behind"``: nothing was stored, since entries before it
    # are missing there. ``"refused"``: nothing of it will ever be stored. ``"unavailable"``: the tournament's store
    # does not answer now
    status: Literal["stored", "behind", "refused", "unavailable"]
    seq: int = 0  # number of the last entry of the game that is stored; 0 for none
    text: str = ""  # why it was not stored, for people


@record
class PositionsQuestion:
    """A rig's question about where its games stand in the tournament's store."""

    games: tuple[str, ...]
    format: Literal["downfield.positions"] = "downfield.positions"
    version: Literal[1] = 1


@record
class StoredPosition:
    """The last entry of a game that is stored."""

    seq: int
    digest: str  # of the chain up to and including it


@record
class PositionsReply:
    """Where games stand in the tournament's store."""

    positions: dict[str, StoredPosition]  # by game; games that are not there are left out
    text: str = ""  # why they can't be looked up now; empty where they were


def sign_journal(key: RigKey, game: GameRow, last: EntryRow) -> str:
    """Return a rig's signature of a journal up to an entry, base64."""
    return key.sign_text(_signed(game, last.seq, last.digest))


def is_signed(public_text: str, game: GameRow, last: EntryRow, signature: str) -> bool:
    """Return whether a rig has signed a journal up to an entry.

    Args:
        signature: as `sign_journal` returns it.
    """
    return is_signed_text(public_text, _signed(game, last.seq, last.digest), signature)


def make_batch(key: RigKey, game: GameRow, entries: Sequence[EntryRow]) -> JournalBatch:
    """Return entries as a signed batch."""
    signature = sign_journal(key, game, entries[-1])
    return JournalBatch(key.public_text, game, tuple(entries), signature)


def _signed(game: GameRow, seq: int, digest: str) -> bytes:
    return _SIGNED_AS + canonical_json({"game": asdict(game), "seq": seq, "digest": digest}).encode()
