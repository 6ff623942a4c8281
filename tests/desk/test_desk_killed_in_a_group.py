"""A desk killed in the middle of a group of batches, and two desks over one database: each entry is stored once.

Run as a program it is a desk that stores the batches of a file, one JSON object a line, in one group.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from postgres_server import PostgresServer, postgres_cluster, skip_without_postgres
from sqlalchemy import Engine, create_engine, text
from tournament_rig import entries_after, game_of
from waiting import WAIT_S, wait_until

from downfield.core.records import from_json, to_json
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import JournalBatch, make_batch

DATABASES = itertools.count(1)
GAMES = 6
ENTRIES = 24
HOLD = (
    "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql"
    " AS $$BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END$$"
)
MOMENTS = {
    "after the entries, before the signatures": "CREATE TRIGGER hold AFTER INSERT ON entries EXECUTE FUNCTION hold()",
    "at the commit": "CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON games DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
    " WHEN (NEW.number = 1) EXECUTE FUNCTION hold()",
}


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    skip_without_postgres()
    with postgres_cluster() as server:
        yield server


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[tuple[str, Engine]]:
    """A database of the test's own: its address, and an engine that commits each statement."""
    name = f"desk_{next(DATABASES)}"
    admin = create_engine(postgres.address.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    address = f"{postgres.address.rsplit('/', 1)[0]}/{name}"
    engine = create_engine(address.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    yield address, engine
    engine.dispose()
    admin.dispose()


def journals() -> list[list[JournalBatch]]:
    """Return the journals of a few games, each in batches of three entries that share a game."""
    found = []
    for number in range(GAMES):
        key = RigKey.generate()
        game = game_of(key, f"g{number}", f"Table {number}")
        rows = entries_after(game.id, None, ENTRIES, attachment=b"\x00scenes")
        found.append([make_batch(key, game, rows[first : first + 3]) for first in range(0, ENTRIES, 3)])
    return found


def stored(address: str) -> dict[str, list[int]]:
    """Return the numbers of the entries of each game, whose journals verify."""
    with open_for_reading(address) as opened:
        games = {game.id: list(opened.store.entries(game.id)) for game in opened.store.games()}
    for game, rows in games.items():
        assert verify_journal(game, rows).problem == ""
    return {game: [row.seq for row in rows] for game, rows in games.items()}


def complete(batches: list[list[JournalBatch]]) -> dict[str, list[int]]:
    return {journal[0].game.id: list(range(1, ENTRIES + 1)) for journal in batches}


def is_held(engine: Engine) -> bool:
    with engine.connect() as connection:
        held = connection.scalar(text("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'"))
    return bool(held)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_desk_killed_within_a_group_loses_nothing_and_stores_nothing_twice(
    moment: str, server: tuple[str, Engine], tmp_path: Path
) -> None:
    address, engine = server
    batches = journals()
    with closing(TournamentStore(address)) as store:
        store.open()
    with engine.connect() as connection:
        connection.execute(text(HOLD))
        connection.execute(text(MOMENTS[moment]))
    file = tmp_path / "batches.jsonl"
    file.write_text("\n".join(to_json(JournalBatch, journal[0]) for journal in batches))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(1)"))
        desk = subprocess.Popen([sys.executable, __file__, address, str(file)], env=environment)
        wait_until(lambda: desk.poll() is not None or is_held(engine), "the desk comes to the statement")
        assert desk.poll() is None, "the desk ended by itself"
        desk.send_signal(signal.SIGKILL)
        desk.wait()
        connection.execute(text("SELECT pg_advisory_unlock(1)"))  # the server goes on without it, up to the commit
        connection.execute(text(f"DROP TRIGGER hold ON {'entries' if 'entries' in moment else 'games'}"))
    with closing(TournamentStore(address)) as another:  # the rigs begin again with what nobody confirmed
        for number in range(len(batches[0])):
            replies = another.receive_all([journal[number] for journal in batches])
            assert {reply.status for reply in replies} == {"stored"}, replies
    assert stored(address) == complete(batches)


def test_two_desks_that_get_everything_at_once_store_it_once(server: tuple[str, Engine]) -> None:
    address, _ = server
    batches = journals()
    chance = random.Random(7)

    def receive(seed: int) -> None:
        own = random.Random(seed)
        waiting = {journal[0].game.id: list(journal) for journal in batches}
        with closing(TournamentStore(address)) as store:
            while left := [game for game, batches in waiting.items() if batches]:
                games = own.sample(left, own.randint(1, len(left)))
                for game, reply in zip(games, store.receive_all([waiting[game][0] for game in games]), strict=True):
                    assert reply.status == "stored", reply
                    waiting[game].pop(0)

    with ThreadPoolExecutor(2) as desks:
        for done in [desks.submit(receive, chance.randrange(100)) for _ in range(2)]:
            done.result(WAIT_S)
    assert stored(address) == complete(batches)


def main(address: str, file: str) -> None:
    """Store the batches of a file in one group."""
    lines = Path(file).read_bytes().split(b"\n")
    TournamentStore(address).receive_all([from_json(JournalBatch, line, path=file) for line in lines])


if __name__ == "__main__":
    main(*sys.argv[1:])
