"""What a table's disk no longer says is told by what its rig signed for the tournament."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from postgres_server import postgres_cluster, skip_without_postgres
from sqlalchemy import create_engine, text
from tournament_rig import append, entries_after, game_of

from downfield.cli.main import run_command
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import make_batch
from downfield.store.writing.store import Store

KEY = RigKey.generate()
GAME = game_of(KEY)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    skip_without_postgres()
    with postgres_cluster() as found:
        yield found.address


@dataclass(frozen=True)
class Copied:
    """A table's store, and the database of the tournament that has its games."""

    path: Path
    tournament: str

    def verify(self, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
        """Return the exit status of `downfield verify`, and what it wrote."""
        status = run_command(["verify", str(self.path), "--tournament", self.tournament, *options])
        written = capsys.readouterr()
        return status, written.out + written.err

    def change(self, *statements: str) -> None:
        """Change the table's store behind its program's back."""
        with sqlite3.connect(self.path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()


@pytest.fixture
def copied(tmp_path: Path, server: str) -> Copied:
    engine = create_engine(server.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    tournament = TournamentStore(server)
    with_games(tmp_path / "games.db", tournament)
    tournament.close()
    return Copied(tmp_path / "games.db", server)


def with_games(path: Path, tournament: TournamentStore) -> None:
    """Write a store with two games of three entries, and have the tournament receive them."""
    store = Store.at(path)
    for game in (GAME, game_of(KEY, "other")):
        append(store, game, 3)
        reply = tournament.receive_all([make_batch(KEY, game, list(store.entries(game.id)))])[0]
        assert reply.status == "stored"
    store.close()


def test_a_store_as_it_was_signed_passes_and_so_does_one_that_was_played_on(
    copied: Copied, capsys: pytest.CaptureFixture[str]
) -> None:
    status, written = copied.verify(capsys)
    assert status == 0
    assert "2 signed ends compared" in written
    store = Store.at(copied.path)
    append(store, GAME, 2)
    store.close()
    assert copied.verify(capsys, "--key", KEY.public_text)[0] == 0
    status, written = copied.verify(capsys, "--game", GAME.id)
    assert (status, "1 signed ends compared" in written) == (0, True)


DAMAGES = {
    "cut": ([f"DELETE FROM entries WHERE game = '{GAME.id}' AND seq = 3"], "entry 3 is missing. The end was cut off"),
    "deleted": (
        [f"DELETE FROM entries WHERE game = '{GAME.id}'", f"DELETE FROM games WHERE id = '{GAME.id}'"],
        "The tournament has 3 entries of it: it was deleted here",
    ),
    "row": ([f"UPDATE games SET home = 'Others' WHERE id = '{GAME.id}'"], "is not the one that was signed"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_was_cut_deleted_or_renamed_at_the_table_is_named(
    copied: Copied, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    statements, told = DAMAGES[damage]
    copied.change(*statements)
    status, written = copied.verify(capsys)
    assert status == 1
    assert f"{GAME.id}: " in written
    assert told in written


def test_a_journal_that_was_sealed_again_is_told_though_its_own_chain_is_whole(
    copied: Copied, capsys: pytest.CaptureFixture[str]
) -> None:
    copied.change(f"DELETE FROM entries WHERE game = '{GAME.id}'")
    store = Store.at(copied.path)
    store.append(entries_after(GAME.id, None, 3, word="forged"), None)
    store.close()
    assert run_command(["verify", str(copied.path)]) == 0, "its own checksums should fit"
    capsys.readouterr()
    status, written = copied.verify(capsys)
    assert status == 1
    assert "entry 3 is not the one that was signed for the tournament. The journal was sealed again" in written


def test_a_whole_store_put_in_place_of_another_is_told_by_the_rigs_key(
    copied: Copied, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = RigKey.generate()
    fresh = Store.at(tmp_path / "fresh.db")
    append(fresh, game_of(other), 1)
    fresh.close()
    status, written = Copied(tmp_path / "fresh.db", copied.tournament).verify(capsys, "--key", KEY.public_text)
    assert status == 1
    assert written.count("it was deleted here") == 2


def test_a_record_that_was_altered_at_the_tournament_is_told(
    copied: Copied, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = create_engine(copied.tournament.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE signed_ends SET seq = 2"))
    engine.dispose()
    status, written = copied.verify(capsys)
    assert status == 1
    assert "is not signed by its rig: it was altered there" in written


def test_a_database_that_is_no_tournaments_is_one_clear_line(
    copied: Copied, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = create_engine(copied.tournament.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE signed_ends"))
    engine.dispose()
    status, written = copied.verify(capsys)
    assert status == 2
    assert "the tournament's record of signed ends can't be read" in written
