"""A store whose rigs signed lists of their games and devices: what is done to it without their keys is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from postgres_server import postgres_server, skip_without_postgres
from sqlalchemy import create_engine
from stored_entries import entries

from downfield.game.records.keeping import GameRow
from downfield.game.records.owner import rig_id
from downfield.store.database.reader import DeviceRow
from downfield.store.database.schema import METADATA
from downfield.store.sealing.signed_list import SignedList
from downfield.store.sealing.signing import RigKey
from downfield.store.signed_lists import list_differences, listing_differences, rigs_without_list
from downfield.store.writing.store import Store

KEY, OTHER_KEY = RigKey.generate(), RigKey.generate()
OWNER, OTHER = rig_id(KEY.public_text), rig_id(OTHER_KEY.public_text)
FIRST = GameRow("20260101-120000-00000001", 1, "semi-final", "River", "Lake", "tap", OWNER, "attic")
SECOND = replace(FIRST, id="20260101-130000-00000002", title="final")
THIRD = replace(FIRST, id="20260101-140000-00000003", owner=OTHER, table="hall")
UNOWNED = replace(FIRST, id="20250101-130000-00000004", owner="", table="")
SAM = DeviceRow("d1", "Sam", "operator", "a" * 64, 1, 2)
ANN = DeviceRow("d2", "Ann", "viewer", "b" * 64, 2, 3)
EVE = DeviceRow("d3", "Eve", "admin", "c" * 64, 3, 4)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a PostgreSQL database."""
    skip_without_postgres()
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'games.db'}"
    found: str = request.getfixturevalue("server")
    engine = create_engine(found.replace("postgresql://", "postgresql+psycopg://"))
    METADATA.drop_all(engine)
    engine.dispose()
    return found


def as_rig(address: str, key: RigKey | None, act: Callable[[Store], object]) -> None:
    """Open a store as a rig does, or as somebody without a key, and do something to it."""
    store = Store(address)
    if key is not None:
        store.signed_list = SignedList(key)
    act(store)
    store.close()


def execute(address: str, *statements: str) -> None:
    engine = create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def played(store: Store) -> None:
    store.keep_device(SAM)
    store.keep_device(ANN)
    store.append(entries(4, FIRST.id), FIRST)
    store.append(entries(6, FIRST.id)[4:])
    store.append(entries(3, SECOND.id), SECOND)
    store.keep_device(EVE)
    store.drop_device(EVE.id)


def played_by_another(store: Store) -> None:
    store.append(entries(3, THIRD.id), THIRD)
    store.drop_device(ANN.id)


def differences(address: str, game: str | None = None, *keys: str) -> list[str]:
    store = Store(address)
    found = list_differences(store, game, keys)
    store.close()
    return found


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("downfield.store.signed_lists._BETWEEN_S", 0.0)


@pytest.fixture
def kept(address: str) -> str:
    """A store with two games of one rig and one of another, which revoked a device of the first."""
    as_rig(address, KEY, played)
    as_rig(address, OTHER_KEY, played_by_another)
    return address


def forge(store: Store) -> None:
    forged = replace(FIRST, id="20260101-150000-00000009")
    store.append(entries(3, forged.id), forged)


DELETED = (f"DELETE FROM entries WHERE game = '{SECOND.id}'", f"DELETE FROM games WHERE id = '{SECOND.id}'")
ALTERATIONS: dict[str, tuple[Callable[[str], object], str]] = {
    "game deleted": (lambda at: execute(at, *DELETED), f"{SECOND.id}: the game is missing"),
    "game deleted, in the list as well": (
        lambda at: execute(at, *DELETED, f"DELETE FROM signed_list WHERE subject = '{SECOND.id}'"),
        f"rig {OWNER} did not sign it so",
    ),
    "seal deleted": (
        lambda at: execute(at, f"DELETE FROM signed_list WHERE kind = 'seal' AND owner = '{OWNER}'"),
        OWNER,
    ),
    "seal of another": (
        lambda at: execute(
            at,
            "UPDATE signed_list SET content = (SELECT other.content FROM signed_list AS other WHERE other.kind = 'seal'"
            f" AND other.owner = '{OTHER}') WHERE kind = 'seal'",
        ),
        f"rig {OWNER} did not sign it so",
    ),
    "list is no JSON": (lambda at: execute(at, "UPDATE signed_list SET content = '{'"), "did not sign it so"),
    "end cut": (lambda at: execute(at, f"DELETE FROM entries WHERE game = '{FIRST.id}' AND seq > 4"), "6 is missing"),
    "journal emptied": (lambda at: execute(at, f"DELETE FROM entries WHERE game = '{FIRST.id}'"), "6 is missing"),
    "sealed again": (
        lambda at: execute(at, f"UPDATE entries SET digest = 'x' WHERE game = '{FIRST.id}' AND seq = 6"),
        "sealed again",
    ),
    "entry added": (
        lambda at: as_rig(at, None, lambda store: store.append(entries(4, SECOND.id)[3:])),
        "1 entry was added",
    ),
    "game added": (lambda at: as_rig(at, None, forge), "It was added by somebody else"),
    "game of nobody added": (
        lambda at: as_rig(at, None, lambda store: store.append(entries(2, UNOWNED.id), UNOWNED)),
        "belongs to no rig, and none has listed it",
    ),
    "order of games edited": (
        lambda at: execute(at, "UPDATE games SET number = 10 - number"),
        f"{SECOND.id}: its place in the order of games",
    ),
    "title edited": (lambda at: execute(at, "UPDATE games SET title = 'friendly'"), "was altered"),
    "table edited": (lambda at: execute(at, "UPDATE games SET table_name = 'cellar'"), "table or owner was altered"),
    "owner edited": (lambda at: execute(at, "UPDATE games SET owner = ''"), "table or owner was altered"),
    "device added": (
        lambda at: as_rig(at, None, lambda store: store.keep_device(replace(EVE, id="d9", token_sha256="e" * 64))),
        "'Eve' was added by somebody else",
    ),
    "revoked device put back": (
        lambda at: as_rig(at, None, lambda store: store.keep_device(EVE)),
        "'Eve' was put back",
    ),
    "device that another rig revoked put back": (
        lambda at: as_rig(at, None, lambda store: store.keep_device(ANN)),
        "'Ann' was put back",
    ),
    "device promoted": (lambda at: execute(at, "UPDATE devices SET role = 'admin'"), "'Sam' was altered"),
    "token exchanged": (lambda at: execute(at, "UPDATE devices SET token_sha256 = 'f'"), "'Sam' was altered"),
    "device removed": (lambda at: execute(at, "DELETE FROM devices"), "'Sam' is missing"),
}


def test_a_store_as_its_rigs_left_it_agrees_with_their_lists(kept: str) -> None:
    assert differences(kept) == []
    assert differences(kept, None, KEY.public_text) == []
    store = Store(kept)
    assert rigs_without_list(store) == []
    store.close()


ON_SERVER = {
    "game deleted",
    "end cut",
    "seal deleted",
    "game of nobody added",
    "order of games edited",
    "device added",
    "device that another rig revoked put back",
}
"""Alterations that are tried on a server as well; there all are read by the same statements."""


@pytest.mark.parametrize(
    ("address", "name"),
    [("sqlite", name) for name in ALTERATIONS] + [("postgres", name) for name in sorted(ON_SERVER)],
    indirect=["address"],
)
def test_an_alteration_is_told(kept: str, name: str) -> None:
    alter, says = ALTERATIONS[name]
    alter(kept)
    found = differences(kept)
    assert any(says in difference for difference in found), found
    as_rig(kept, KEY, lambda store: store.keep_device(replace(ANN, id="d7", token_sha256="7" * 64)))
    as_rig(kept, OTHER_KEY, lambda store: store.append(entries(4, THIRD.id)[3:]))
    assert differences(kept), "the rigs went on, and made it right"


def test_a_rig_that_goes_on_from_a_cut_journal_says_so_for_ever(kept: str) -> None:
    execute(kept, f"DELETE FROM entries WHERE game = '{FIRST.id}' AND seq > 4")
    as_rig(kept, KEY, lambda store: store.append(entries(7, FIRST.id, b"other")[4:]))
    assert f"{FIRST.id}: entries after 4 were cut off or sealed again before the rig went on." in differences(kept)
    assert differences(kept, SECOND.id) == []


def test_a_store_without_the_list_of_a_known_rig_is_told_by_its_key(kept: str) -> None:
    execute(kept, f"DELETE FROM signed_list WHERE owner = '{OWNER}'")
    assert any("the key" in difference for difference in differences(kept, None, KEY.public_text))
    store = Store(kept)
    assert rigs_without_list(store) == [OWNER]
    store.close()


TRIGGERS = {
    "sqlite": ("CREATE TRIGGER later AFTER INSERT ON entries BEGIN DELETE FROM devices; END",),
    "postgres": (
        "CREATE OR REPLACE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER later AFTER INSERT ON entries EXECUTE FUNCTION forget()",
    ),
}


@pytest.mark.parametrize(("address", "kind"), [(kind, kind) for kind in TRIGGERS], indirect=["address"])
def test_a_trigger_is_told(kept: str, kind: str) -> None:
    store = Store(kept)
    assert not any("trigger" in difference for difference in listing_differences(store))
    execute(kept, *TRIGGERS[kind])
    assert any("a trigger, 'later'" in difference for difference in listing_differences(store))
    store.close()


def test_a_change_that_failed_is_in_no_list(kept: str) -> None:
    def fail_once(store: Store) -> None:
        with pytest.raises(Exception, match="another process writes game"):
            store.append(entries(2, FIRST.id)[1:])
        store.append(entries(7, FIRST.id)[6:])

    as_rig(kept, KEY, fail_once)
    assert differences(kept) == []


def test_two_programs_of_one_rig_keep_one_list(kept: str) -> None:
    """A recording is shown, with the rig's key, beside the live game."""
    first, second = Store(kept), Store(kept)
    for store in (first, second):
        store.signed_list = SignedList(KEY)
    for seq in range(7, 10):
        first.append(entries(seq, FIRST.id)[seq - 1 :])
        second.append(entries(seq - 3, SECOND.id)[seq - 4 :])
    for store in (first, second):
        store.close()
    assert differences(kept) == []
