"""Batches that are stored together come to the same as one after the other, whatever is wrong with some of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from postgres_server import PostgresServer, postgres_cluster, skip_without_postgres
from sqlalchemy import create_engine, text
from tournament_rig import entries_after, game_of

from downfield.desk.replication.tournament_store import TournamentStore
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.hash_chain import GENESIS, digest_of, verify_journal
from downfield.store.sealing.signing import RigKey
from downfield.store.signed_ends import SIGNED_ENDS
from downfield.store.writing.replication import BatchReply, JournalBatch, make_batch

KEYS = [RigKey.generate() for _ in range(3)]
GAMES = [(key, game_of(key, name)) for key in KEYS for name in ("first", "second")]


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    skip_without_postgres()
    with postgres_cluster() as server:
        yield server


def new_database(postgres: PostgresServer, name: str) -> str:
    engine = create_engine(postgres.address.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return postgres.address.rsplit("/", 1)[0] + f"/{name}"


def any_batches(chance: random.Random, count: int) -> list[JournalBatch]:
    """Return batches of all games: parts of their journals, in no order, some forked, altered, foreign or renamed."""
    journals = [(key, game, entries_after(game.id, None, 12, attachment=b"\x00scenes")) for key, game in GAMES]
    batches = []
    for _ in range(count):
        key, game, rows = chance.choice(journals)
        first = chance.randrange(0, 10)
        part = rows[first : first + chance.randrange(1, 5)]
        fault = chance.choice(("", "", "", "", "fork", "altered", "foreign", "renamed"))
        if fault == "fork" and first:
            part = entries_after(game.id, rows[first - 1], 2, word="other")
        batch = make_batch(KEYS[0] if fault == "foreign" else key, game, part)
        if fault == "altered":
            batch = replace(batch, entries=(replace(batch.entries[0], kind="else"), *batch.entries[1:]))
        if fault == "renamed":
            batch = make_batch(key, replace(game, table="Table 99"), part)
        batches.append(batch)
    return batches


def content(database: str) -> tuple[list[object], list[object]]:
    """Return every journal of a store, and what was signed of it."""
    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        signed = sorted(tuple(row)[:-1] for row in connection.execute(SIGNED_ENDS.select()))
    engine.dispose()
    with open_for_reading(database) as opened:
        games = sorted(opened.store.games(), key=lambda game: game.id)
        journals = [(game, list(opened.store.entries(game.id))) for game in games]
    for game, rows in journals:
        assert verify_journal(game.id, rows).problem == ""
    return list(journals), list(signed)


@pytest.mark.parametrize("seed", range(4))
def test_groups_are_stored_as_if_each_batch_came_alone(postgres: PostgresServer, seed: int) -> None:
    chance = random.Random(seed)
    batches = any_batches(chance, 120)
    together, alone = (TournamentStore(new_database(postgres, f"groups_{name}")) for name in ("together", "alone"))
    expected = [alone.receive_all([batch])[0] for batch in batches]
    found: list[BatchReply] = []
    while len(found) < len(batches):
        found += together.receive_all(batches[len(found) : len(found) + chance.randrange(1, 30)])
    assert found == expected
    assert {reply.status for reply in found} == {"stored", "behind", "refused"}
    addresses = [postgres.address.rsplit("/", 1)[0] + f"/groups_{name}" for name in ("together", "alone")]
    together.close()
    alone.close()
    assert content(addresses[0]) == content(addresses[1])


def test_a_batch_that_the_server_refuses_takes_no_other_with_it(postgres: PostgresServer) -> None:
    database = new_database(postgres, "refused")
    store = TournamentStore(database)
    (key, game), (other_key, other) = GAMES[0], GAMES[2]
    rows = entries_after(game.id, None, 2)
    twice, digest = [], GENESIS
    for row in entries_after(other.id, None, 2):
        digest = digest_of(digest, row.game, row.seq, row.kind, row.at_ns, "same", row.content, None)
        twice.append(replace(row, key="same", digest=digest))
    replies = store.receive_all([make_batch(key, game, rows), make_batch(other_key, other, twice)])
    store.close()
    assert [reply.status for reply in replies] == ["stored", "refused"]
    assert "entries_key" in replies[1].text
    with open_for_reading(database) as opened:
        assert [row.id for row in opened.store.games()] == [game.id]


def test_a_database_that_takes_no_entries_for_now_refuses_no_journal_for_good(postgres: PostgresServer) -> None:
    database = new_database(postgres, "read_only")
    batches = [make_batch(key, game, entries_after(game.id, None, 2)) for key, game in GAMES]
    engine = create_engine(postgres.address.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    for setting, expected in (("off", "stored"), ("on", "unavailable"), ("off", "stored")):
        with engine.connect() as connection:
            connection.execute(text(f"ALTER DATABASE read_only SET default_transaction_read_only = {setting}"))
        store = TournamentStore(database)
        replies = store.receive_all(batches[: 3 if setting == "off" else 6])
        store.close()
        assert {reply.status for reply in replies} == {expected}, replies
    engine.dispose()


def test_a_server_that_is_away_loses_no_batch_and_says_so(postgres: PostgresServer) -> None:
    store = TournamentStore(new_database(postgres, "away"))
    batches = [make_batch(key, game, entries_after(game.id, None, 2)) for key, game in GAMES]
    assert {reply.status for reply in store.receive_all(batches[:3])} == {"stored"}
    postgres.kill()
    assert {reply.status for reply in store.receive_all(batches)} == {"unavailable"}
    postgres.start()
    assert {reply.status for reply in store.receive_all(batches)} == {"stored"}
    store.close()
