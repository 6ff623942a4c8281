"""What is sent again under the same key, or told by another phone as well, takes effect once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from played_table import Table

from downfield.game.receipts import Accepted, Refused, Submission
from downfield.game.records.commands import NewGame, Record
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Coin, PlayEnded, SetUp
from downfield.officiating.events import Ruling


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path / "games.db")
    yield made
    made.close()


def test_a_repeated_key_takes_effect_once_and_gets_the_same_receipt(table: Table) -> None:
    table.begin()
    first = table.declare(SetUp("home", 1, 34.0), key="k1")
    again = table.declare(SetUp("home", 1, 34.0), key="k1")
    assert again == replace(first, repeated=True)
    other = table.game_service.declare(SetUp("home", 1, 35.0), Submission(key="k1"))
    assert isinstance(other, Refused)
    assert other.code == "key_reused"
    assert [view.type for view in table.game_service.declarations()] == ["line_up", "set_up"]


def test_a_refusal_is_not_remembered_under_its_key(table: Table) -> None:
    table.begin()
    table.declare(SetUp("home", 1, 34.0))
    assert isinstance(table.game_service.declare(Coin(True), Submission(key="k")), Refused)
    assert isinstance(table.game_service.declare(SetUp("home", 1, 35.0), Submission(key="k")), Accepted)


def test_a_command_with_a_repeated_key_is_carried_out_once(table: Table) -> None:
    table.begin()
    first = table.game_service.command(NewGame(), Submission(key="n"))
    second = table.game_service.command(NewGame(), Submission(key="n"))
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert second.text == first.text
    assert len(table.store.games()) == 2
    assert table.game_service.command(Record(on=True), Submission()) == Accepted(text="record done")


def test_one_key_sent_four_times_at_once_begins_one_game(table: Table) -> None:
    receipts: list[Any] = []
    barrier = threading.Barrier(4)

    def send() -> None:
        barrier.wait()
        receipts.append(table.game_service.command(NewGame(title="once"), Submission(key="one")))

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({receipt.text for receipt in receipts}) == 1
    assert sorted(receipt.repeated for receipt in receipts) == [False, True, True, True]
    assert len(table.store.games()) == 1


def test_a_call_by_hand_repeated_under_its_key_after_a_restart_is_the_same_call(tmp_path: Path) -> None:
    made = Call("manual:k", "info", 0, "tap", (), "called", "time out")
    first = Table(tmp_path / "games.db")
    first.begin()
    first.now_ns = 5_000_000_000
    receipt = first.game_service.rule(Ruling("", "manual", made), Submission(key="k"))
    assert isinstance(receipt, Accepted), receipt
    first.close()
    second = Table(tmp_path / "games.db")
    second.game_service.resume()
    again = second.game_service.rule(Ruling("", "manual", made), Submission(key="k"))
    assert isinstance(again, Accepted), again
    assert (again.repeated, again.event, again.digest) == (True, receipt.event, receipt.digest)
    second.close()


INCOMPLETE, TOUCHDOWN = PlayEnded("incomplete"), PlayEnded("touchdown")


def test_a_play_that_two_phones_tell_counts_once(table: Table) -> None:
    table.begin()
    table.declare(SetUp("home", 1, 34.0), by="Ann")
    first = table.declare(INCOMPLETE, by="Ann")
    table.now_ns += 3_000_000_000
    again = table.declare(INCOMPLETE, by="Ben")
    assert (again.event, again.seq, again.repeated) == (first.event, first.seq, True)
    assert table.game().down == 2
    assert len([call for call in table.game_service.calls() if call.kind == "incomplete"]) == 1


def test_a_play_that_two_phones_tell_differently_is_the_first_ones_until_he_undoes_it(table: Table) -> None:
    table.begin()
    table.declare(SetUp("home", 1, 34.0), by="Ann")
    first = table.declare(INCOMPLETE, by="Ann")
    table.now_ns += 2_000_000_000
    other = table.game_service.declare(TOUCHDOWN, Submission("Ben"))
    assert isinstance(other, Refused)
    assert other.reason == "Ann told this play 2 s ago: play ended: incomplete. To correct that, undo it first."
    table.game_service.undo(first.event, Submission("Ben"))
    table.declare(TOUCHDOWN, by="Ben")
    assert table.game().score == (6, 0)


@pytest.mark.parametrize(("by", "later_s"), [("Ann", 1), ("Ben", 6)])
def test_the_next_play_is_another_one(table: Table, by: str, later_s: int) -> None:
    table.begin()
    table.declare(SetUp("home", 1, 34.0), by="Ann")
    table.declare(INCOMPLETE, by="Ann")
    table.now_ns += later_s * 1_000_000_000
    table.declare(INCOMPLETE, by=by)
    assert table.game().down == 3
