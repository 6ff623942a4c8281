"""A store of program version 0.1, with its British keys and its kinds of entries, opens, reads, resumes and verifies.

`store_version_1.jsonl` is what version 0.1 wrote: the game and what it was like, then an entry a line.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripted_plays import FIELD
from served_games import FakeRig
from sqlalchemy import create_engine, insert

from downfield.core.errors import FormatError
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.entries import EventRecorded, GameStarted, rulebook_of, unpack_entry
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import GameOwner
from downfield.game.service import GameService
from downfield.officiating.declarations import SetUp
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.database.schema import ENTRIES, GAMES, STEPS, TEAMS, migrate
from downfield.store.history import History
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

WRITTEN = Path(__file__).parents[1] / "store_version_1.jsonl"
TEAM = '{"name":"River City","short":"RIV","colour":"#0b3d91","ink":"#ffffff","players":[]}'


@dataclass(frozen=True, slots=True)
class Old:
    """A store of version 0.1, opened now.

    Attributes:
        store: it.
        row: its game.
        entries: its journal as version 0.1 wrote it.
        expected: what the game was like then.

    """

    store: Store
    row: GameRow
    entries: list[EntryRow]
    expected: dict[str, Any]

    def service(self) -> GameService:
        clock, owner = lambda: 10_000_000_000, GameOwner("rig", "attic")
        return GameService(StoredJournals(self.store), Hub(), FakeRig(None), FIELD, load_rulebook("tap"), clock, owner)


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Old]:
    first, *lines = map(json.loads, WRITTEN.read_text(encoding="utf-8").splitlines())
    row, entries = GameRow(**first["game"]), []
    for line in lines:
        attachment = None if line["attachment"] is None else base64.b64decode(line.pop("attachment"))
        entries.append(EntryRow(**{**line, "game": row.id, "attachment": attachment}))
    engine = create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    with engine.begin() as connection:
        migrate(connection, "old.db", STEPS[:1])
        connection.execute(insert(GAMES).values(**first["game"]))
        fields = [{name: getattr(entry, name) for name in EntryRow.__dataclass_fields__} for entry in entries]
        connection.execute(insert(ENTRIES), fields)
        connection.execute(insert(TEAMS).values(id="river-city", content=TEAM, at_ns=1))
    engine.dispose()
    store = Store.at(tmp_path / "old.db")
    yield Old(store, row, entries, first["expected"])
    store.close()


def test_the_fixture_has_the_keys_of_version_1() -> None:
    text = WRITTEN.read_text(encoding="utf-8")
    for key in ("offence", "colour", "centre", "followed"):
        assert f'\\"{key}\\"' in text, key


def test_the_hash_chain_is_intact(old: Old) -> None:
    found = verify_journal(old.row.id, old.store.entries(old.row.id), old.expected["digest_r1"])
    assert (found.problem, found.head) == ("", old.expected["head"])


def test_the_game_is_read_back(old: Old) -> None:
    history = History(old.store, old.row)
    assert [[call.id, call.kind, call.text] for call in history.calls()] == old.expected["calls"]
    assert [view.type for view in history.declarations()][-4:] == ["set", "carrier", "ruling", "undo"]
    assert [len(play.calls) for play in history.plays()] == [4]
    assert history.text == old.expected["text"]
    assert history.head == old.expected["head"]


def test_the_game_is_resumed_as_it_stood_and_goes_on_in_the_same_journal(old: Old) -> None:
    service = old.service()
    assert service.resume() == old.row.id
    assert service.text == old.expected["text"]
    assert [call.id for call in service.calls()] == [call_id for call_id, _, _ in old.expected["calls"]]
    assert [view.type for view in service.declarations()] == old.expected["declared"]
    tackle = old.expected["calls"][-1][0]
    again = service.rule(Ruling(tackle, "strike", note="the base was lifted"), Submission(by="Ann", key="r1"))
    assert isinstance(again, Accepted)
    assert (again.digest, again.repeated) == (old.expected["digest_r1"], True)
    receipt = service.declare(SetUp("away", -1, 61.0), Submission())
    assert isinstance(receipt, Accepted), receipt
    assert receipt.seq == len(old.entries) + 1
    service.close()
    assert list(old.store.entries(old.row.id))[:-1] == old.entries, "written entries were changed"
    assert verify_journal(old.row.id, old.store.entries(old.row.id)).problem == ""
    second = old.service()
    second.resume()
    assert second.text == receipt.text
    second.close()


def test_teams_are_migrated(old: Old) -> None:
    assert json.loads(old.store.teams()["river-city"])["color"] == "#0b3d91"


def test_an_entry_is_upgraded_when_it_is_read(old: Old) -> None:
    contents = [unpack_entry(entry.kind, entry.content, where="here") for entry in old.entries]
    started, set_up = contents[0], contents[2]
    assert isinstance(started, GameStarted)
    assert started.home.color == "#0b3d91"
    assert isinstance(set_up, EventRecorded)
    assert isinstance(set_up.event.body, SetUp)
    assert (set_up.event.body.offense, set_up.event.body.hash) == ("home", "center")
    assert set_up.effects.text.startswith("RIV 0, A 0")


def test_house_rules_of_version_1_are_known(old: Old) -> None:
    content = json.loads(old.entries[0].content)
    content["rulebook"] |= {"name": "attic", "system": "efl", "values": {"duty.late_s": 120.0}}
    started = unpack_entry("began", json.dumps(content), where="here")
    assert isinstance(started, GameStarted)
    assert rulebook_of(started.rulebook).params.real("play_call.late_s") == 120


@pytest.mark.parametrize("content", ["", "[]", '"followed"', '{"followed":{}}'])
def test_a_broken_entry_of_version_1_is_named(content: str) -> None:
    with pytest.raises(FormatError, match="game g, entry 3"):
        unpack_entry("said", content, where="game g, entry 3")
