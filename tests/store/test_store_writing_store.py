"""The store: entries are kept in order, an altered entry is found, a store of another version is refused."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import postgres_server, skip_without_postgres
from sqlalchemy import create_engine
from stored_entries import GAME, entries

from downfield.core.errors import InputError, OutputError
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.store.database.reader import DeviceRow
from downfield.store.database.schema import METADATA
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing.store import Store


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a PostgreSQL database, on which the same tests run."""
    skip_without_postgres()
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgres":
        address: str = request.getfixturevalue("server")
        _empty(address)
        opened = Store(address)
    else:
        opened = Store.at(tmp_path / "a" / "downfield.db")
    yield opened
    opened.close()


def _empty(url: str) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    METADATA.drop_all(engine)
    engine.dispose()


def test_entries_are_read_back_unchanged_in_order_and_page_by_page(store: Store) -> None:
    made = entries(450)
    store.append(made[:1], GAME)
    store.append(made[1:])
    assert list(store.entries(GAME.id)) == made
    assert [entry.seq for entry in store.entries(GAME.id, after=447)] == [448, 449, 450]
    assert next(store.entries(GAME.id, attachments=False)).attachment is None
    assert store.games() == [GAME]
    assert store.game(GAME.id) == GAME
    assert store.game("none") is None


def test_an_unaltered_journal_verifies_and_has_its_head(store: Store) -> None:
    made = entries(5)
    store.append(made, GAME)
    found = verify_journal(GAME.id, store.entries(GAME.id))
    assert (found.problem, found.entries, found.head) == ("", 5, made[-1].digest)
    assert verify_journal(GAME.id, store.entries(GAME.id), made[2].digest).problem == ""


@pytest.mark.parametrize(
    ("alter", "place"),
    [
        ("UPDATE entries SET content = replace(content, '3', '4') WHERE seq = 3", 3),
        ("UPDATE entries SET attachment = x'00' WHERE seq = 2", 2),
        ("UPDATE entries SET attachment = NULL WHERE seq = 2", 2),
        ("UPDATE entries SET at_ns = at_ns + 1 WHERE seq = 1", 1),
        ("UPDATE entries SET kind = 'scenes_recorded' WHERE seq = 4", 4),
        ("UPDATE entries SET key = 'other' WHERE seq = 5", 5),
        ("UPDATE entries SET digest = 'x' WHERE seq = 3", 3),
        ("DELETE FROM entries WHERE seq = 2", 2),
    ],
)
def test_an_altered_entry_is_found(tmp_path: Path, alter: str, place: int) -> None:
    opened = Store.at(tmp_path / "a.db")
    opened.append(entries(5), GAME)
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute(alter)
    connection.close()
    found = verify_journal(GAME.id, opened.entries(GAME.id))
    opened.close()
    assert found.entries == place
    assert str(place) in found.problem


def test_a_truncated_journal_is_detected_with_a_known_head(tmp_path: Path) -> None:
    opened, made = Store.at(tmp_path / "a.db"), entries(5)
    opened.append(made, GAME)
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("DELETE FROM entries WHERE seq = 5")
    connection.close()
    assert verify_journal(GAME.id, opened.entries(GAME.id)).problem == ""
    assert "cut off" in verify_journal(GAME.id, opened.entries(GAME.id), made[-1].digest).problem
    opened.close()


def test_the_second_of_two_writers_of_one_game_fails(store: Store) -> None:
    made = entries(2)
    store.append(made, GAME)
    with pytest.raises(OutputError, match="another process writes game"):
        store.append(made[1:])
    assert list(store.entries(GAME.id)) == made


def test_a_key_is_used_once_in_a_game(store: Store) -> None:
    store.append(entries(1), GAME)
    twice = EntryRow(GAME.id, 2, "event_recorded", 1, "{}", "d", "key-1")
    with pytest.raises(OutputError):
        store.append([twice])


def test_writers_of_several_threads_do_not_lose_each_other(store: Store) -> None:
    games = [GameRow(f"20260101-12000{n}-abcd", n, "", "H", "A", "tap") for n in range(6)]

    def write(game: GameRow) -> None:
        for place, entry in enumerate(entries(10, game.id, None)):
            store.append([entry], game if place == 0 else None)

    threads = [threading.Thread(target=write, args=(game,)) for game in games]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [verify_journal(game.id, store.entries(game.id)).entries for game in games] == [10] * 6
    listed = store.games()
    assert set(listed) == set(games)
    assert store.games(limit=3, before=listed[1].id) == listed[2:5]


def test_teams_and_devices_are_saved_replaced_and_deleted(store: Store) -> None:
    store.keep_team("river", '{"a":1}', 1)
    store.keep_team("river", '{"a":2}', 2)
    assert store.teams() == {"river": '{"a":2}'}
    assert store.drop_team("river")
    assert not store.drop_team("river")
    device = DeviceRow("d", "Sam's phone", "operator", "00" * 32, 1, 2)
    store.keep_device(device)
    assert store.devices() == [device]
    assert store.drop_device("d")
    assert store.devices() == []


@pytest.mark.parametrize(("version", "says"), [(99, "a newer Downfield"), (4, "an older Downfield")])
def test_a_store_of_another_version_is_refused_by_name(version: int, says: str, tmp_path: Path) -> None:
    Store.at(tmp_path / "a.db").close()
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE schema_versions SET version = ?", (version,))
    connection.close()
    with pytest.raises(InputError, match=f"{says} made this store"):
        Store.at(tmp_path / "a.db")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "no database URL"),
        ("mysql://me@here/x", "a store is sqlite"),
        ("sqlite://", "a store is sqlite"),
        ("sqlite:////proc/none/a.db", "can't be opened"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "can't be opened"),
    ],
)
def test_the_error_of_a_store_that_cant_be_opened_has_no_password(url: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        Store(url)
    assert "secret" not in str(error.value)


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"this is not a database, it is a sentence" * 100)
    with pytest.raises(InputError, match="can't be opened: file is not a database"):
        Store.at(tmp_path / "a.db")


def test_an_acknowledged_entry_is_synced_not_only_written(tmp_path: Path) -> None:
    store = Store.at(tmp_path / "a" / "downfield.db")
    with store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()
