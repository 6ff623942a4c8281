"""Whatever is done to a store behind the rig's back is told by the heads that the rig signed in a second place."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from downfield.cli.main import app
from downfield.core.errors import FormatError, InputError
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import rig_id
from downfield.store.database.reader import DeviceRow
from downfield.store.sealing.hash_chain import GENESIS, digest_of
from downfield.store.sealing.heads import HeadsFile, compare_with_heads, differs_from_last_heads, read_heads
from downfield.store.sealing.signed_list import SignedList
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

KEY = RigKey.generate()
OWNER = rig_id(KEY.public_text)
FIRST, SECOND = "20260101-120000-00000001", "20260101-130000-00000002"
PHONE = DeviceRow("d1", "phone", "operator", "a" * 64, 1, 2)


def journal(game: str, count: int, word: str = "said") -> list[EntryRow]:
    """Return a valid journal."""
    rows: list[EntryRow] = []
    previous = GENESIS
    for seq in range(1, count + 1):
        content = f'{{"{word}":{seq}}}'
        previous = digest_of(previous, game, seq, "said", seq, None, content, b"scene")
        rows.append(EntryRow(game, seq, "said", seq, content, previous, None, b"scene"))
    return rows


def row(game: str) -> GameRow:
    return GameRow(game, 5, "final", "River", "Lake", "tap", OWNER, "attic")


@dataclass(frozen=True)
class Kept:
    """A store with its heads file, and a copy of the store from the middle of its games."""

    path: Path
    older: Path
    heads: Path

    def open(self) -> Store:
        return Store.at(self.path)

    def execute(self, *statements: str) -> None:
        with sqlite3.connect(self.path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    def differences(self) -> list[str]:
        store = self.open()
        try:
            return list(compare_with_heads(store, read_heads(self.heads)))
        finally:
            store.close()


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    made = Kept(tmp_path / "games.db", tmp_path / "older.db", tmp_path / "elsewhere" / "heads.jsonl")
    for game, count in ((FIRST, 6), (SECOND, 4)):
        store = made.open()
        store.signed_list = SignedList(KEY)
        store.keep_heads(HeadsFile(made.heads, KEY))
        for entry in journal(game, count):
            store.append([entry], row(game) if entry.seq == 1 else None)
        if game == FIRST:
            store.keep_device(PHONE)
        store.close()
        if game == FIRST:
            shutil.copy(made.path, made.older)
    return made


def resealed(kept: Kept, game: str, count: int) -> None:
    """Write a game's journal anew, with a valid chain."""
    kept.execute(f"DELETE FROM entries WHERE game = '{game}'")
    store = kept.open()
    store.append(journal(game, count, "denied"))
    store.close()


def forged(kept: Kept) -> None:
    store = kept.open()
    store.append(journal("20260101-140000-00000003", 3), row("20260101-140000-00000003"))
    store.close()


def went_on(kept: Kept) -> None:
    """Put an older copy back and let the rig go on with it."""
    store = kept.open()
    last = store.last_entry(FIRST)
    store.close()
    assert last is not None
    kept.execute(f"DELETE FROM entries WHERE game = '{FIRST}' AND seq > 3")
    store = kept.open()
    store.keep_heads(HeadsFile(kept.heads, KEY))
    previous = journal(FIRST, 3)[-1].digest
    digest = digest_of(previous, FIRST, 4, "said", 9, None, "{}", None)
    store.append([EntryRow(FIRST, 4, "said", 9, "{}", digest)])
    store.close()


def put_back(kept: Kept) -> None:
    shutil.copy(kept.older, kept.path)


def added_at_the_end(kept: Kept) -> None:
    store = kept.open()
    store.append(journal(SECOND, 6)[4:])
    store.close()


ALTERATIONS: dict[str, tuple[Callable[[Kept], None], str]] = {
    "end cut": (lambda kept: kept.execute(f"DELETE FROM entries WHERE game = '{FIRST}' AND seq > 4"), "cut off"),
    "whole journal deleted": (lambda kept: kept.execute(f"DELETE FROM entries WHERE game = '{FIRST}'"), "cut off"),
    "game deleted": (
        lambda kept: kept.execute(
            f"DELETE FROM entries WHERE game = '{SECOND}'", f"DELETE FROM games WHERE id = '{SECOND}'"
        ),
        "deleted",
    ),
    "all deleted": (lambda kept: kept.execute("DELETE FROM entries", "DELETE FROM games"), "deleted"),
    "sealed again": (lambda kept: resealed(kept, FIRST, 6), "sealed again"),
    "sealed again and longer": (lambda kept: resealed(kept, FIRST, 9), "sealed again"),
    "sealed again and shorter": (lambda kept: resealed(kept, SECOND, 2), "is missing"),
    "older copy put back": (put_back, "older copy"),
    "older copy, and the rig went on": (went_on, "went on from an older copy"),
    "title edited": (lambda kept: kept.execute("UPDATE games SET title = 'friendly'"), "was altered"),
    "team edited": (lambda kept: kept.execute("UPDATE games SET home = 'Lake', away = 'River'"), "was altered"),
    "date edited": (lambda kept: kept.execute("UPDATE games SET began_ns = 6"), "was altered"),
    "owner edited": (lambda kept: kept.execute("UPDATE games SET owner = 'other'"), "was altered"),
    "game added": (forged, "added by somebody else"),
    "entries added": (added_at_the_end, "2 entries were added"),
    "device added": (
        lambda kept: kept.execute("INSERT INTO devices VALUES ('d2', 'x', 'admin', 'b', 1, 2)"),
        "paired devices was altered",
    ),
    "device promoted": (lambda kept: kept.execute("UPDATE devices SET role = 'admin'"), "paired devices was altered"),
    "device removed": (lambda kept: kept.execute("DELETE FROM devices"), "paired devices was altered"),
}


def test_a_store_as_the_rig_left_it_agrees_with_its_heads(kept: Kept) -> None:
    assert kept.differences() == []


@pytest.mark.parametrize("name", ALTERATIONS)
def test_every_alteration_is_told(kept: Kept, name: str) -> None:
    alter, says = ALTERATIONS[name]
    alter(kept)
    assert any(says in difference for difference in kept.differences()), kept.differences()


TOLD_AT_START = (
    "end cut",
    "game deleted",
    "all deleted",
    "sealed again",
    "sealed again and shorter",
    "older copy put back",
)


@pytest.mark.parametrize("name", TOLD_AT_START)
def test_a_rig_that_starts_is_told_of_a_store_that_it_did_not_leave_so(kept: Kept, name: str) -> None:
    for is_altered in (False, True):
        if is_altered:
            ALTERATIONS[name][0](kept)
        store = kept.open()
        assert bool(differs_from_last_heads(store, kept.heads)) == is_altered
        assert differs_from_last_heads(store, kept.heads.with_name("none")) == ""
        store.close()


def test_the_end_of_a_long_heads_file_is_enough_to_tell(kept: Kept) -> None:
    lines = kept.heads.read_bytes()
    kept.heads.write_bytes(b'{"previous": "cut' * 10_000 + b"\n" + lines + b'{"prev')
    put_back(kept)
    store = kept.open()
    assert SECOND in differs_from_last_heads(store, kept.heads)
    store.close()


@pytest.mark.parametrize(
    ("alter", "says"),
    [
        (lambda lines: [*lines[:2], *lines[3:]], "line 3: a line before it is missing"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "line 1: a line before it is missing"),
        (lambda lines: [*lines[:2], lines[2].replace('"closed":false', '"closed":true'), *lines[3:]], "signature"),
        (lambda lines: [lines[0].replace(KEY.public_text, RigKey.generate().public_text), *lines[1:]], "signature"),
    ],
)
def test_an_altered_heads_file_is_told_by_line(kept: Kept, alter: Callable[[list[str]], list[str]], says: str) -> None:
    lines = kept.heads.read_text().splitlines()
    kept.heads.write_text("".join(f"{line}\n" for line in alter(lines)))
    with pytest.raises(FormatError, match=says):
        read_heads(kept.heads)


def test_heads_of_another_key_are_told(kept: Kept) -> None:
    with pytest.raises(FormatError, match="signed with another key"):
        read_heads(kept.heads, [RigKey.generate().public_text])
    assert read_heads(kept.heads, [KEY.public_text])


def test_a_line_that_a_crash_cut_off_is_passed_over(kept: Kept) -> None:
    kept.heads.write_bytes(kept.heads.read_bytes() + b'{"previous":"12')
    assert kept.differences() == []
    store = kept.open()
    store.keep_heads(HeadsFile(kept.heads, KEY))
    store.close()
    assert kept.differences() == []


def test_a_full_disk_of_the_heads_ends_no_game(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store.at(tmp_path / "games.db")
    store.keep_heads(HeadsFile(tmp_path / "file" / "heads.jsonl", KEY))
    store.append(journal(FIRST, 2), row(FIRST))
    store.close()
    with pytest.raises(InputError):
        read_heads(tmp_path / "file" / "heads.jsonl")


def test_a_pipe_in_the_place_of_the_heads_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "heads.jsonl")
    store = Store.at(tmp_path / "games.db")
    assert differs_from_last_heads(store, tmp_path / "heads.jsonl") == ""
    store.keep_heads(HeadsFile(tmp_path / "heads.jsonl", KEY))
    store.append(journal(FIRST, 2), row(FIRST))
    store.close()


def test_the_command_says_what_differs_and_exits_with_1(kept: Kept) -> None:
    arguments = ["verify", str(kept.path), "--heads", str(kept.heads), "--key", KEY.public_text]
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, done.output.count("unaltered")) == (0, 2)
    kept.execute("UPDATE games SET title = 'friendly'")
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert f"{FIRST}: its title, teams, rulebook, date, table or owner was altered." in done.output


def test_an_entry_that_no_other_follows_is_in_the_heads_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("downfield.store.sealing.heads.EVERY_S", 0.05)
    path = tmp_path / "heads.jsonl"
    heads = HeadsFile(path, KEY)
    first, second = journal(FIRST, 2)
    heads.note_entry(row(FIRST), first)
    heads.note_entry(row(FIRST), second)
    for _ in range(1000):
        if read_heads(path)[-1].seq == 2:
            break
        threading.Event().wait(0.01)
    assert read_heads(path)[-1].seq == 2
    heads.close()


def test_a_game_that_began_a_moment_ago_is_not_added_by_somebody_else(kept: Kept) -> None:
    """Its rig plays, or was killed before it could write the heads."""
    third = "20260101-140000-00000003"
    lines = kept.heads.read_text().splitlines(keepends=True)
    kept.heads.write_text("".join(lines[:-1]))  # without the one that says that the store was closed
    store = kept.open()
    store.append(journal(third, 2), row(third))
    store.close()
    assert kept.differences() == []
    done = CliRunner().invoke(app, ["verify", str(kept.path), "--heads", str(kept.heads)])
    assert f"{third}: of its last 2 entries the heads say nothing" in done.output


def test_at_most_one_line_in_two_seconds_and_none_is_lost(tmp_path: Path) -> None:
    now_s = [0.0]
    heads = HeadsFile(tmp_path / "heads.jsonl", KEY, lambda: now_s[0])
    for entry in journal(FIRST, 50):
        now_s[0] += 0.1
        heads.note_entry(row(FIRST), entry)
    heads.close()
    found = read_heads(tmp_path / "heads.jsonl")
    assert len(found) <= 5
    assert (found[-1].seq, found[-1].closed) == (50, True)
