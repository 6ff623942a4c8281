"""`downfield verify` reports an altered journal with the entry and an exit status."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

from downfield.game.hash_chain import GENESIS, digest_of
from downfield.game.store import EntryRow, GameRow, Store

GAME = "20260101-120000-abcd"


def made(path: Path) -> str:
    """Write a store with one game of three entries; return its head."""
    store, previous, entries = Store.at(path), GENESIS, []
    for seq in range(1, 4):
        previous = digest_of(previous, GAME, seq, "said", 0, None, "{}", None)
        entries.append(EntryRow(GAME, seq, "said", 0, None, "{}", None, previous))
    store.append(entries, GameRow(GAME, 0, "", "Home", "Away", "tap"))
    store.close()
    return previous


def verify(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "downfield", "verify", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_an_unaltered_store_is_reported_with_its_head(tmp_path: Path) -> None:
    head = made(tmp_path / "a.db")
    done = verify(str(tmp_path / "a.db"), "--game", GAME, "--head", head)
    assert done.returncode == 0
    assert done.stdout == f"{GAME}: 3 entries, unaltered; head {head}\n"


def test_an_altered_store_exits_with_status_1_and_names_the_entry(tmp_path: Path) -> None:
    made(tmp_path / "a.db")
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE entries SET content = '{\"points\":7}' WHERE seq = 2")
    connection.close()
    done = verify(str(tmp_path / "a.db"))
    assert done.returncode == 1
    assert "Entry 2 (said) or one before it was altered" in done.stdout


def test_a_missing_store_is_one_clear_line(tmp_path: Path) -> None:
    done = verify(str(tmp_path / "gone.db"))
    assert done.returncode == 2
    assert done.stderr == f"downfield: {tmp_path}/gone.db: no such file\n"
