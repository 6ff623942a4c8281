"""What the game service keeps while a disk is full, a store stands still or another program writes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from played_table import Table
from waiting import WAIT_S

from downfield.core.errors import OutputError
from downfield.officiating.declarations import SetUp
from downfield.store.history import History
from downfield.store.sealing import hash_chain
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing import journal as journal_module
from downfield.store.writing.journal import JournalLimits


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path / "games.db")
    yield made
    made.close()


def problem_of(table: Table) -> str:
    assert table.journals.problem is not None
    return table.journals.problem.reason


@contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """A disk that accepts no entry, until the end."""
    for statement in (
        "CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'disk full'); END",
        "DROP TRIGGER full",
    ):
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()
        if statement.startswith("CREATE"):
            yield


@contextmanager
def impatient(monkeypatch: pytest.MonkeyPatch, **limits: float) -> Iterator[None]:
    """Have receipts wait for a moment only, as long as the store can't keep anything."""
    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "JOURNAL_LIMITS", JournalLimits(retry_s=0.05, receipt_timeout_s=0.1, **limits))
        yield
    monkeypatch.setattr(journal_module, "JOURNAL_LIMITS", JournalLimits(retry_s=0.05, receipt_timeout_s=WAIT_S))


def test_a_full_disk_is_reported_and_the_game_goes_on(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    from downfield.game.published.board_topics import HealthStatus

    game = table.begin()
    table.declare(SetUp("home", 1, 34.0))
    with full_disk(table.path), impatient(monkeypatch):
        receipt = table.declare(SetUp("home", 1, 35.0))
        assert not receipt.saved
        assert table.game().spot_yd == 35.0
        table.game_service.publish_health(HealthStatus())
        health = table.hub.value("health")
        assert health.store == "behind"
        assert health.level == "alarm"
    after = table.declare(SetUp("home", 1, 36.0))
    assert after.saved
    assert verify_journal(game, table.store.entries(game)).entries == after.seq == 5
    table.game_service.publish_health(HealthStatus())
    assert table.hub.value("health").store == "ok"


def test_the_store_is_for_its_owner_only(tmp_path: Path) -> None:
    table = Table(tmp_path / "data" / "games.db")
    table.begin()
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "data").iterdir()}
    table.close()
    assert set(modes.values()) == {0o600}, modes
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def test_an_entry_that_cant_be_written_does_not_hold_up_those_after_it(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.begin()
    seal = hash_chain.canonical_json

    def fail_once(_: object) -> str:
        monkeypatch.setattr(journal_module, "canonical_json", seal)
        raise ValueError("no JSON")

    monkeypatch.setattr(journal_module, "canonical_json", fail_once)
    with pytest.raises(OutputError, match="can't be written"):
        table.declare(SetUp("home", 1, 34.0))
    assert table.declare(SetUp("home", 1, 35.0)).saved


def test_what_was_declared_on_a_full_disk_is_kept_in_order_over_new_games(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [table.begin()]
    assert table.declare(SetUp("home", 1, 10.0)).saved
    with full_disk(table.path), impatient(monkeypatch):
        for number in range(3):
            for yd in (20.0, 30.0, 40.0):
                assert not table.declare(SetUp("home", 1, yd + number)).saved
            games.append(table.begin())
    assert table.declare(SetUp("home", 1, 50.0)).saved
    kept = []
    for game in games:
        row = table.store.game(game)
        assert row is not None
        history = History(table.store, row)
        assert verify_journal(game, table.store.entries(game)).problem == ""
        assert history.ended == (game != games[-1])
        kept.append([event.body.spot_yd for event in history.events if isinstance(event.body, SetUp)])
    assert kept == [[10.0, 20.0, 30.0, 40.0], [21.0, 31.0, 41.0], [22.0, 32.0, 42.0], [50.0]]


def test_a_game_that_another_process_writes_holds_up_no_other_game(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = table.begin()
    last = table.store.last_entry(taken)
    assert last is not None
    table.store.append([replace(last, seq=last.seq + 1, key=None)])
    with impatient(monkeypatch):
        assert not table.declare(SetUp("home", 1, 10.0)).saved
    table.begin()
    assert table.declare(SetUp("home", 1, 20.0)).saved
    assert f"another process writes game {taken}" in problem_of(table)


def test_a_store_that_stands_still_is_told_by_the_age_of_what_waits(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.begin()
    released, append = threading.Event(), table.store.append

    def stands_still(*args: Any) -> None:
        released.wait(WAIT_S)
        append(*args)

    monkeypatch.setattr(table.store, "append", stands_still)
    with impatient(monkeypatch, behind_s=0.05):
        assert not table.declare(SetUp("home", 1, 10.0)).saved
        assert "the store has not answered for" in problem_of(table)
    released.set()
    assert table.declare(SetUp("home", 1, 20.0)).saved
    assert table.journals.problem is None


def test_an_unforeseen_error_does_not_end_the_writer(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.begin()
    with impatient(monkeypatch), monkeypatch.context() as patch:
        patch.setattr(table.store, "append", lambda *_: 1 // 0)
        assert not table.declare(SetUp("home", 1, 10.0)).saved
        assert "ZeroDivisionError" in problem_of(table)
    assert table.declare(SetUp("home", 1, 20.0)).saved
    assert [view.type for view in table.game_service.declarations()].count("set_up") == 2
