"""A game that was read is not read again until its journal grows, and is never shown as it was before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from played_table import Table

from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import GameRow
from downfield.officiating.declarations import SetUp
from downfield.store.history import REMEMBERED, RecentHistories


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    opened = Table(tmp_path / "games.db")
    yield opened
    opened.close()


def row_of(table: Table, game: str) -> GameRow:
    row = table.store.game(game)
    assert row is not None
    return row


def test_a_game_is_read_once_until_its_journal_grows(table: Table) -> None:
    row, histories = row_of(table, table.begin()), RecentHistories(table.store)
    first = histories.of(row)
    assert histories.of(row) is first
    table.game_service.declare(SetUp("home", 1, 40.0), Submission("Ann"))
    later = histories.of(row)
    assert (later.entries, len(later.events)) == (first.entries + 1, len(first.events) + 1)
    assert first.entries < later.entries, "what was handed out before was changed"


def test_the_games_read_last_stay_read(table: Table) -> None:
    histories = RecentHistories(table.store)
    rows = [row_of(table, table.begin()) for _ in range(REMEMBERED + 1)]
    table.game_service.start_game(NewGame())  # all of them are over
    first, *others = [histories.of(row) for row in rows]
    assert [histories.of(row) for row in rows[1:]] == others
    assert histories.of(rows[0]) is not first
