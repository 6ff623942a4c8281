"""Copies the games of a tournament from one store to another: when an event outgrows one computer."""

from __future__ import annotations

from sqlalchemy import func, insert, select

from downfield.core.errors import InputError
from downfield.desk.replication.tournament_store import (
    ENTRY_FIELDS,
    NEXT_NUMBER,
    TournamentStore,
    keep_signatures,
    listing_of,
)
from downfield.game.records.keeping import GameRow
from downfield.store.database.schema import ENTRIES, GAMES
from downfield.store.sealing.hash_chain import GENESIS, follows


def copy_games(source: TournamentStore, target: TournamentStore) -> tuple[int, int]:
    """Copy every game of one store into another, in order; what is there already is compared and left.

    Each game is copied whole or not at all, so that a copy that was broken off goes on when it is made again.

    Returns:
        How many games and entries were new.

    Raises:
        InputError: the two have different entries of a game, a chain is broken, or a store can't be used.
        OutputError: one does not answer.
    """
    games = entries = 0
    for game in source.games_after(0):
        new = _copy(source, target, game)
        games += new > 0
        entries += new
    return games, entries


def _copy(source: TournamentStore, target: TournamentStore, game: GameRow) -> int:
    end, digest, new = source.signed_end(game.id), GENESIS, 0
    with target.writing() as connection:
        last = connection.scalar(select(func.max(ENTRIES.c.seq)).where(ENTRIES.c.game == game.id)) or 0
        known = connection.scalar(select(ENTRIES.c.digest).where(ENTRIES.c.game == game.id, ENTRIES.c.seq == last))
        if connection.scalar(select(GAMES.c.id).where(GAMES.c.id == game.id)) is None:
            connection.execute(insert(GAMES).values(number=NEXT_NUMBER), [listing_of(game)])
        for entry in source.reader().entries(game.id):
            if not follows(digest, entry) or (entry.seq == last and entry.digest != known):
                raise InputError(f"Game {game.id} has another entry {entry.seq} in {target.where}. It was not moved.")
            digest = entry.digest
            if entry.seq > last:
                connection.execute(insert(ENTRIES), {name: getattr(entry, name) for name in ENTRY_FIELDS})
                new += 1
        if end is not None and new:
            keep_signatures(connection, [dict(end)])
    return new
