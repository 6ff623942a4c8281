"""`downfield verify` reports an altered journal with the entry and an exit status."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from downfield.cli.main import run_command
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.rig.configuration.loading import load
from downfield.rig.games.kept_games import open_store
from downfield.store.sealing.hash_chain import GENESIS, digest_of
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

GAME = "20260101-120000-abcd"


def made(path: Path) -> str:
    """Write a store with one game of three entries; return its head."""
    store, previous, entries = Store.at(path), GENESIS, []
    for seq in range(1, 4):
        previous = digest_of(previous, GAME, seq, "said", 0, None, "{}", None)
        entries.append(EntryRow(GAME, seq, "said", 0, "{}", previous))
    store.append(entries, GameRow(GAME, 0, "", "Home", "Away", "tap"))
    store.close()
    return previous


def test_an_unaltered_store_is_reported_with_its_head(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = made(tmp_path / "a.db")
    assert run_command(["verify", str(tmp_path / "a.db"), "--game", GAME, "--head", head]) == 0
    assert capsys.readouterr().out == f"{GAME}: 3 entries, unaltered; head {head}\n"


def test_an_altered_store_exits_with_status_1_and_names_the_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path / "a.db")
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE entries SET content = '{\"points\":7}' WHERE seq = 2")
    connection.close()
    assert run_command(["verify", str(tmp_path / "a.db")]) == 1
    assert "Entry 2 (said) or one before it was altered" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("content", b"\xff", f"content of entry 2 of game {GAME} is of bytes"),
        ("at_ns", "noon", f"at_ns of entry 2 of game {GAME} is a text"),
        ("digest", 1.5, "Entry 2 (said) or one before it was altered"),  # SQLite makes a text of it
        ("attachment", "x", f"attachment of entry 2 of game {GAME} is a text"),
    ],
)
def test_a_store_with_values_of_another_type_is_altered_and_not_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str, value: object, told: str
) -> None:
    made(tmp_path / "downfield.db")
    with sqlite3.connect(tmp_path / "downfield.db") as connection:
        connection.execute(f"UPDATE entries SET {column} = ? WHERE seq = 2", (value,))
    connection.close()
    assert run_command(["verify", str(tmp_path / "downfield.db")]) == 1
    assert told in " ".join(capsys.readouterr().out.split())
    assert run_command(["export", GAME, "-o", str(tmp_path / "out.zip"), "--set", f"data={tmp_path}"]) == 2
    assert capsys.readouterr().err.count("downfield: ") == 1


@pytest.mark.parametrize(("column", "value"), [("title", b"\xff"), ("began_ns", "yesterday")])
def test_a_list_of_games_with_values_of_another_type_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str, value: object
) -> None:
    made(tmp_path / "downfield.db")
    with sqlite3.connect(tmp_path / "downfield.db") as connection:
        connection.execute(f"UPDATE games SET {column} = ?", (value,))
    connection.close()
    for command in (["verify", str(tmp_path / "downfield.db")], ["export", "last", "--set", f"data={tmp_path}"]):
        assert run_command(command) == 2
        assert f"{column} of game {GAME} is" in " ".join(capsys.readouterr().err.split())


def test_a_missing_store_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["verify", str(tmp_path / "gone.db")]) == 2
    made = "A rig makes one with its first game on a table, not of a recording"
    assert capsys.readouterr().err == f"downfield: {tmp_path}/gone.db: no such file. {made}\n"
    assert run_command(["verify", str(tmp_path / "gone.zip")]) == 2
    assert capsys.readouterr().err == f"downfield: {tmp_path}/gone.zip: no such file\n"


def test_the_rigs_own_store_is_compared_with_its_heads_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load(environment={}, command_line={"data": str(tmp_path / "data")}).settings
    key, path = RigKey.generate(), tmp_path / "data" / "downfield.db"
    for seq in (1, 2):
        store, _ = open_store(settings, tmp_path, key, live=True)
        previous = store.last_entry(GAME)
        digest = digest_of(previous.digest if previous else GENESIS, GAME, seq, "said", 0, None, "{}", None)
        game = None if previous else GameRow(GAME, 0, "", "Home", "Away", "tap")
        store.append([EntryRow(GAME, seq, "said", 0, "{}", digest)], game)
        store.close()
        shutil.copy(path, tmp_path / f"{seq}.db")
    arguments = ["verify", str(path), "--set", f"data={tmp_path / 'data'}"]
    assert run_command(arguments) == 0
    assert "compared with the heads that the rig kept" in capsys.readouterr().err
    shutil.copy(tmp_path / "1.db", path)
    assert run_command(arguments) == 1
    assert "an older copy was put back" in capsys.readouterr().out
