"""A rig goes on with its own games only, whatever else is kept in its store and whatever the clock says."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import postgres_server, skip_without_postgres
from served_games import FakeRig
from sqlalchemy import create_engine, text

from downfield.core.errors import InputError, OutputError
from downfield.core.field.model import preset
from downfield.game import session_start
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import NOBODY, GameOwner, rig_id
from downfield.game.service import GameService
from downfield.officiating.declarations import SetUp
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.database import server_connection
from downfield.store.database.schema import METADATA
from downfield.store.history import History
from downfield.store.sealing.signing import RigKey
from downfield.store.writing import journal
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

TAP, FIELD = load_rulebook("tap"), preset("ultimate")
ATTIC, HALL = GameOwner("aaaaaaaaaaaaaaaa", "attic"), GameOwner("hhhhhhhhhhhhhhhh", "hall")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    skip_without_postgres()
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'games.db'}"
    address: str = request.getfixturevalue("server")
    engine = create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    METADATA.drop_all(engine)
    engine.dispose()
    return address


class RunningRig:
    """A rig with its store and its game, as `downfield run` opens them."""

    def __init__(self, url: str, owner: GameOwner) -> None:
        self.store = Store(url)
        self.journals = StoredJournals(self.store)
        self.service = GameService(self.journals, Hub(), FakeRig(None), FIELD, TAP, lambda: 1_000, owner)
        if owner is NOBODY:
            self.service.restart()
            return
        try:
            self.store.lease(owner)
        except InputError:
            self.store.close()
            raise
        if self.service.resume() is None:
            self.service.start_game(NewGame())

    @property
    def game(self) -> str:
        return self.service.game_id

    def declare(self, yd: float) -> None:
        receipt = self.service.declare(SetUp("home", 1, yd), Submission())
        assert isinstance(receipt, Accepted)
        assert receipt.saved

    def declared(self) -> list[float | None]:
        row = self.store.game(self.game)
        assert row is not None
        return [event.body.spot_yd for event in History(self.store, row).events if isinstance(event.body, SetUp)]

    def stop(self) -> None:
        self.service.close()
        self.store.close()


def test_two_rigs_on_one_store_each_keep_their_own_game(url: str) -> None:
    attic, hall = RunningRig(url, ATTIC), RunningRig(url, HALL)
    assert attic.game != hall.game
    for yd in (10.0, 20.0, 30.0):
        attic.declare(yd)
        hall.declare(yd + 1)
    games = attic.game, hall.game
    attic.stop()
    hall.stop()
    hall, attic = RunningRig(url, HALL), RunningRig(url, ATTIC)
    assert (attic.game, hall.game) == games
    assert attic.declared() == [10.0, 20.0, 30.0]
    assert hall.declared() == [11.0, 21.0, 31.0]
    assert {(row.owner, row.table) for row in hall.store.games()} == {(ATTIC.rig, "attic"), (HALL.rig, "hall")}
    attic.stop()
    hall.stop()


def test_a_second_program_with_the_same_games_is_refused_by_name(url: str) -> None:
    first = RunningRig(url, ATTIC)
    with pytest.raises(InputError, match=r"is in use by table 'attic', process \d+ on .*Stop that one, or ") as error:
        RunningRig(url, GameOwner(ATTIC.rig, "elsewhere"))
    assert "\n" not in str(error.value)
    first.declare(10.0)
    first.stop()
    again = RunningRig(url, ATTIC)
    assert again.declared() == [10.0]
    again.stop()


def test_a_recording_shown_again_is_never_resumed(url: str) -> None:
    live = RunningRig(url, ATTIC)
    live.declare(10.0)
    game = live.game
    live.stop()
    for _ in range(2):
        shown = RunningRig(url, NOBODY)
        shown.declare(99.0)
        shown.stop()
    live = RunningRig(url, ATTIC)
    assert (live.game, live.declared()) == (game, [10.0])
    live.stop()
    other = RunningRig(url, HALL)
    assert other.declared() == []
    other.stop()


def test_a_lease_lost_with_its_connection_is_taken_again_unless_another_has_it(server: str) -> None:
    first = RunningRig(server, HALL)
    first.declare(10.0)
    _end_leases(server)
    first.declare(20.0)
    with pytest.raises(InputError, match="is in use"):
        RunningRig(server, HALL)
    _end_leases(server)
    second = Store(server)
    second.lease(HALL)
    row = EntryRow(first.game, 99, "said", 0, "{}", "")
    with pytest.raises(OutputError, match="is in use by table 'hall'"):
        first.store.append([row])
    second.close()
    first.stop()


def _end_leases(server: str) -> None:
    engine = create_engine(server.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'"))
    engine.dispose()


def test_a_server_that_stands_still_holds_up_neither_operator_nor_readers(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_connection, "ANSWER_S", 0.5)
    monkeypatch.setattr(journal, "JOURNAL_LIMITS", replace(journal.JOURNAL_LIMITS, receipt_timeout_s=0.2, behind_s=0.3))
    rig = RunningRig(server, ATTIC)
    rig.declare(10.0)
    pid = _server_pid(server)
    standing = [pid, *(int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    for process in standing:
        os.kill(process, signal.SIGSTOP)
    try:
        receipt = rig.service.declare(SetUp("home", 1, 20.0), Submission())
        assert isinstance(receipt, Accepted)
        assert not receipt.saved
        began_s = time.monotonic()
        for _ in range(20):
            with pytest.raises(OutputError, match=r"answer|timeout expired"):
                rig.store.games()
        assert time.monotonic() - began_s < 15
        assert rig.journals.problem is not None
        assert rig.service.text
    finally:
        for process in standing[::-1]:
            os.kill(process, signal.SIGCONT)
    rig.store._silent_until_s = 0.0
    monkeypatch.setattr(journal, "JOURNAL_LIMITS", journal.JournalLimits(receipt_timeout_s=20))
    rig.declare(30.0)
    assert rig.declared()[-3:] == [10.0, 20.0, 30.0]
    rig.stop()


def _server_pid(server: str) -> int:
    """Return the process of a server, by the folder of its data."""
    with psycopg.connect(server) as connection:
        row = connection.execute("SELECT setting FROM pg_settings WHERE name = 'data_directory'").fetchone()
    assert row is not None
    return int((Path(row[0]) / "postmaster.pid").read_text().split()[0])


STEPS = st.lists(
    st.tuples(
        st.sampled_from([ATTIC, HALL, NOBODY]), st.sampled_from(["start", "stop", "declare", "declare", "new game"])
    ),
    max_size=14,
)


@settings(max_examples=20)
@given(STEPS, st.lists(st.integers(0, 4 * 10**18), min_size=1))
def test_any_interleaving_of_rigs_under_any_clock_loses_nothing(
    steps: list[tuple[GameOwner, str]], instants: list[int]
) -> None:
    clock = iter(instants * 50)
    fake_time = SimpleNamespace(time_ns=lambda: next(clock), strftime=time.strftime, gmtime=time.gmtime)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_start, "time", fake_time)
        url = f"sqlite:///{folder}/games.db"
        running: dict[GameOwner, RunningRig] = {}
        expected: dict[GameOwner, tuple[str, list[float]]] = {}
        for number, (owner, step) in enumerate(steps):
            if step == "start" and owner not in running:
                running[owner] = RunningRig(url, owner)
                if owner in expected and owner is not NOBODY:
                    assert running[owner].game == expected[owner][0]
                else:
                    expected[owner] = (running[owner].game, [])
            elif owner not in running:
                continue
            elif step == "start" and owner is not NOBODY:
                with pytest.raises(InputError):
                    RunningRig(url, owner)
            elif step == "stop":
                running.pop(owner).stop()
            elif step == "declare":
                running[owner].declare(number + 1)
                expected[owner][1].append(number + 1)
            elif step == "new game":
                running[owner].service.start_game(NewGame())
                expected[owner] = (running[owner].game, [])
            for other, rig in running.items():
                assert (rig.game, rig.declared()) == expected[other]
        for rig in running.values():
            rig.stop()


def test_games_of_one_second_and_of_a_clock_put_back_are_listed_as_they_were_started(url: str) -> None:
    store = Store(url)
    began = [5, 5, 1, 9, 3]
    rows = [GameRow(f"20260101-000000-{n:08x}", at_ns, "", "H", "A", "tap") for n, at_ns in enumerate(began)]
    for row in rows:
        store.append([EntryRow(row.id, 1, "said", 0, "{}", "")], row)
    assert store.games() == rows[::-1]
    assert store.games(limit=2, before=rows[3].id) == [rows[2], rows[1]]
    store.close()


def test_a_rig_is_told_by_its_key() -> None:
    first, second = RigKey.generate(), RigKey.generate()
    assert rig_id(first.public_text) == rig_id(first.public_text)
    assert len(rig_id(first.public_text)) == 16
    assert rig_id(first.public_text) != rig_id(second.public_text)
