"""Signed ends: where each rig signed that its journals stood, kept at the tournament beside the games.

Whoever has a table's disk can cut the end of a journal, seal it again, delete a game or change its row, and every
checksum on that disk fits. The tournament keeps the rig's signature of what it had received: `downfield verify
--tournament` compares.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, MetaData, Table, Text
from sqlalchemy.exc import SQLAlchemyError

from downfield.core.errors import InputError
from downfield.core.texts import counted
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import rig_id
from downfield.store.database.engines import cause_of, create_reading_engine, parse_address
from downfield.store.database.reader import GAME_ROWS, StoreReader
from downfield.store.database.schema import GAMES
from downfield.store.writing.replication import is_signed

_SIGNED: Final = MetaData()
GAMES.to_metadata(_SIGNED)
SIGNED_ENDS: Final = Table(
    "signed_ends",
    _SIGNED,
    Column("game", Text, ForeignKey("games.id"), primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("signature", Text, nullable=False),
    Column("received_ns", BigInteger, nullable=False),
)
"""The end of each game's journal as its rig has signed it last."""


@dataclass(frozen=True, slots=True)
class SignedEnd:
    """The end of a game's journal that a rig has signed."""

    game: GameRow  # the game, as the tournament lists it
    # seq, digest: of the last entry that the tournament received
    seq: int
    digest: str
    key: str
    signature: str  # as `downfield.store.writing.replication.sign_journal` returns it

    def fault(self) -> str:
        """Return what is wrong with it by itself; empty where the rig has signed it."""
        last = EntryRow(self.game.id, self.seq, "", 0, "", self.digest)
        if self.game.owner == rig_id(self.key) and is_signed(self.key, self.game, last, self.signature):
            return ""
        return f"{self.game.id}: the tournament's record of its end is not signed by its rig: it was altered there."


def read_signed_ends(url: str, rigs: Collection[str]) -> tuple[str, list[SignedEnd]]:
    """Return where a tournament's database is, for people, and the signed ends there of all games of rigs, by ids.

    Raises:
        InputError: it is no address of a database, which can't be read, or is no tournament's.
        MissingExtraError: its driver is not installed.
    """
    address = parse_address(url)
    engine, where = create_reading_engine(address), address.render_as_string(hide_password=True)
    ends = [SIGNED_ENDS.c[name] for name in ("seq", "digest", "key", "signature")]
    query = GAME_ROWS.add_columns(*ends).join(SIGNED_ENDS, SIGNED_ENDS.c.game == GAMES.c.id).order_by(GAMES.c.number)
    try:
        with engine.connect() as connection:
            rows = connection.execute(query.where(GAMES.c.owner.in_(rigs))).all()
    except SQLAlchemyError as error:
        raise InputError(f"{where}: the tournament's record of signed ends can't be read: {cause_of(error)}") from None
    finally:
        engine.dispose()
    return where, [SignedEnd(GameRow(*row[: -len(ends)]), *row[-len(ends) :]) for row in rows]


def compare_with_tournament(store: StoreReader, ends: Collection[SignedEnd]) -> Iterator[str]:
    """Yield how a store differs from what its rig signed for the tournament, one sentence for each difference."""
    yield from filter(None, (end.fault() or _difference(store, end) for end in ends))


def _difference(store: StoreReader, end: SignedEnd) -> str:
    game = end.game.id
    listed = store.game(game)
    if listed is None:
        return f"{game}: is missing. The tournament has {counted(end.seq, 'entry')} of it: it was deleted here."
    if listed != end.game:
        return f"{game}: its title, teams, rulebook, table or rig is not the one that was signed for the tournament."
    entry = next(store.entries(game, after=end.seq - 1, attachments=False, page_entries=1), None)
    if entry is None or entry.seq != end.seq:
        return f"{game}: entry {end.seq} is missing. The end was cut off, or an older copy was put back."
    if entry.digest != end.digest:
        return (
            f"{game}: entry {end.seq} is not the one that was signed for the tournament. The journal was sealed again."
        )
    return ""
