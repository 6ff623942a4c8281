"""What the desk says of its tables: who needs somebody first, whatever a rig sends."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import WAIT_S

from downfield.core.errors import InputError, NotFoundError, SourceError
from downfield.desk.tables.address_book import AddressBook, TableEntry, status_of
from downfield.desk.tables.rig_client import TableWatcher

ENTRY = TableEntry("00000001", "Table 1", "http://table-1:8317/")
GAME = {"home": {"name": "Lions"}, "away": {"name": "Owls"}, "score": [7, 3], "phase": "live", "situation": "2nd & 7"}
OK = {"level": "ok", "text": "board on", "reasons": []}


@pytest.mark.parametrize(
    ("values", "silent_s", "need", "text"),
    [
        ({"game": GAME, "health": OK}, 0.5, "playing", ""),
        ({"health": OK}, 0.5, "idle", ""),
        ({"game": {**GAME, "phase": "over"}, "health": OK}, 0.5, "idle", ""),
        ({"game": GAME, "health": OK}, 4.6, "lost", "nothing is heard of its rig"),
        ({}, None, "lost", "nothing is heard of its rig"),
        (
            {
                "game": GAME,
                "health": {"level": "alarm", "reasons": [{"text": "no camera"}]},
                "questions": {"questions": [{"text": "coin"}]},
            },
            0.5,
            "alarm",
            "no camera",
        ),
        (
            {
                "game": GAME,
                "health": {"level": "warning", "text": "dark"},
                "questions": {"questions": [{"text": "coin"}, {"text": "spot"}]},
            },
            0.5,
            "waiting",
            "coin (and 1 more)",
        ),
        ({"game": GAME, "health": {"level": "warning", "text": "dark"}}, 0.5, "warning", "dark"),
    ],
)
def test_what_a_table_needs(values: dict[str, Any], silent_s: float | None, need: str, text: str) -> None:
    status = status_of(ENTRY, values, silent_s, "", refused=False)
    assert (status.need, status.text) == (need, text)


NAMES = st.sampled_from(["home", "away", "name", "score", "reasons", "questions", "text", "level", "phase", "period"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["game", "health", "questions", "source"]), JSON), st.none() | st.floats(0, 9))
def test_whatever_a_rig_sends_the_desk_shows_a_table(values: dict[str, Any], silent_s: float | None) -> None:
    status = status_of(ENTRY, values, silent_s, "", refused=False)
    assert len(status.score) == 2
    assert isinstance(status.order, tuple)


class Rigs:
    """Rigs that send what a test lets them."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.go = threading.Event()

    def follow(self, entry: TableEntry) -> Iterator[Mapping[str, Any]]:
        self.asked[entry.name] = self.asked.get(entry.name, 0) + 1
        if entry.name == "faulty":
            raise ZeroDivisionError
        if entry.name == "gone":
            raise SourceError("no rig answers there.")
        yield {"game": GAME, "health": OK}
        self.go.wait(WAIT_S)


def test_one_table_that_fails_costs_no_other_and_is_tried_again() -> None:
    rigs = Rigs()
    watcher = TableWatcher(rigs.follow)
    for name in ("good", "gone", "faulty"):
        watcher.watch(TableEntry(name.ljust(8, "0"), name, "http://x/"))
    pause = threading.Event()
    for _ in range(200):
        needs = {status.name: status.need for status in watcher.statuses()}
        if needs == {"good": "playing", "gone": "lost", "faulty": "lost"} and min(rigs.asked.values()) >= 1:
            break
        pause.wait(0.05)
    assert needs == {"good": "playing", "gone": "lost", "faulty": "lost"}
    assert [status.name for status in watcher.statuses()] == ["faulty", "gone", "good"], (
        "who needs somebody is not first"
    )
    assert next(status.text for status in watcher.statuses() if status.name == "gone") == "no rig answers there."
    watcher.close()
    rigs.go.set()
    assert watcher.statuses() == []


def test_the_tables_are_kept_for_their_owner_only(tmp_path: Path) -> None:
    book = AddressBook(tmp_path / "desk" / "tables.json")
    one = book.add(" Table 1 ", "http://a:1/", "secret", "")
    book.add("Table 2", "http://b:1/", "", "")
    assert (tmp_path / "desk" / "tables.json").stat().st_mode & 0o077 == 0
    assert [table.name for table in AddressBook(tmp_path / "desk" / "tables.json").tables] == ["Table 1", "Table 2"]
    assert book.add("table 1", "http://c:1/", "other", "").id == one.id, "a known name is another rig of that table"
    with pytest.raises(InputError, match="Another table is called"):
        book.rename(one.id, "TABLE 2")
    with pytest.raises(InputError, match="a name of 1 to 40"):
        book.add("  ", "http://c:1/", "", "")
    book.remove(one.id)
    with pytest.raises(NotFoundError):
        book.remove(one.id)
