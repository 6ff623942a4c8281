"""What was said is kept in order, over games and restarts, until it is in the store, and is stored once."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import postgres_server, skip_without_postgres
from served_games import FakeRig
from waiting import wait_until

from downfield.core.errors import OutputError
from downfield.core.field.model import preset
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import GameOwner
from downfield.game.service import GameService
from downfield.officiating.declarations import SetUp
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.database.reader import DeviceRow
from downfield.store.history import History
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing import journal
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.spool import Spool
from downfield.store.writing.store import Store

TAP, FIELD, OWNER = load_rulebook("tap"), preset("ultimate"), GameOwner("rrrrrrrrrrrrrrrr", "hall")
NOWHERE = "postgresql://downfield@127.0.0.1:9/postgres"
ROW = GameRow("20260101-000000-aaaa", 5, "final", "H", "A", "tap", OWNER.rig, "hall")
ENTRY = EntryRow(ROW.id, 1, "event_recorded", 7, "{}", "d" * 64, None, b"\x00scenes")


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        journal, "JOURNAL_LIMITS", journal.JournalLimits(retry_s=0.02, receipt_timeout_s=20, close_s=20)
    )


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    skip_without_postgres()
    with postgres_server() as address:
        yield address


class SpooledRig:
    """A rig whose store may be away, as `downfield run` opens it."""

    def __init__(self, url: str, spool: Spool) -> None:
        self.store, self.hub = Store(url, may_be_down=True), Hub()
        self.store.lease(OWNER)
        self.store.spool = spool
        self.journals = StoredJournals(self.store)
        self.service = GameService(self.journals, self.hub, FakeRig(None), FIELD, TAP, lambda: 1_000, OWNER)
        self.resumed = self.service.resume() is not None
        if not self.resumed:
            self.service.start_game(NewGame())

    def declare(self, yd: float) -> Accepted:
        receipt = self.service.declare(SetUp("home", 1, yd), Submission(key=f"key {yd}"))
        assert isinstance(receipt, Accepted)
        return receipt

    def shown(self) -> list[str]:
        return [view.text for view in self.service.declarations()]

    def health(self) -> HealthStatus:
        self.service.publish_health(HealthStatus())
        status = self.hub.value("health")
        assert isinstance(status, HealthStatus)
        return status

    def stop(self) -> None:
        self.service.close()
        self.store.close()


def declared(store: Store, game: str) -> list[float | None]:
    """Return the yards that were declared in a game, whose journal must be whole."""
    row = store.game(game)
    assert row is not None
    assert verify_journal(game, store.entries(game)).problem == ""
    return [event.body.spot_yd for event in History(store, row).events if isinstance(event.body, SetUp)]


def wait_until_behind(rig: SpooledRig) -> HealthStatus:
    return wait_until(lambda: health if (health := rig.health()).store == "behind" else None, rig.health)


def wait_until_stored(rig: SpooledRig) -> None:
    journals = rig.journals
    wait_until(lambda: journals.problem is None and not journals._writer._storing.waiting, rig.health)


def fill(path: Path, *, full: bool) -> None:
    """Let a disk accept no more entries, or accept them again."""
    statement = "DROP TRIGGER full"
    if full:
        statement = "CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_what_was_declared_on_a_full_disk_outlives_a_stop(tmp_path: Path) -> None:
    path, spool = tmp_path / "games.db", Spool([tmp_path / "other disk"])
    rig = SpooledRig(f"sqlite:///{path}", spool)
    game = rig.service.game_id
    rig.declare(10.0)
    fill(path, full=True)
    receipt = rig.declare(20.0)
    assert receipt.saved
    health = wait_until_behind(rig)
    assert health.level == "warning"
    assert "other disk" in health.reasons[0].remedy
    second = rig.service.start_game(NewGame())
    rig.declare(30.0)
    shown = rig.shown()
    rig.stop()
    rig = SpooledRig(f"sqlite:///{path}", Spool([tmp_path / "other disk"]))  # the disk is full still
    assert (rig.service.game_id, rig.shown()) == (second, shown)
    rig.declare(40.0)
    rig.stop()
    fill(path, full=False)
    rig = SpooledRig(f"sqlite:///{path}", Spool([tmp_path / "other disk"]))
    assert rig.service.game_id == second
    assert declared(rig.store, game) == [10.0, 20.0]
    assert declared(rig.store, second) == [30.0, 40.0]
    again = rig.declare(40.0)
    assert again.repeated
    assert rig.health().store == "ok"
    assert not list((tmp_path / "other disk").glob("*.jsonl"))
    rig.stop()


def test_a_server_that_is_down_at_the_start_is_waited_for_and_gets_everything_once(server: str, tmp_path: Path) -> None:
    rig = SpooledRig(NOWHERE, Spool([tmp_path / "kept"], comes_first=True))
    game = rig.service.game_id
    assert rig.declare(10.0).saved
    wait_until(lambda: rig.health().store != "ok", "the server is missed")
    assert rig.health().level == "warning"
    assert "kept on this computer" in rig.health().reasons[0].text
    rig.stop()
    rig = SpooledRig(NOWHERE, Spool([tmp_path / "kept"], comes_first=True))
    assert rig.service.game_id == game
    assert rig.declare(20.0).saved
    rig.stop()
    rig = SpooledRig(server, Spool([tmp_path / "kept"], comes_first=True))
    assert rig.service.game_id == game
    rig.declare(30.0)
    wait_until_stored(rig)
    assert declared(rig.store, game) == [10.0, 20.0, 30.0]
    rig.stop()
    rig = SpooledRig(NOWHERE, Spool([tmp_path / "kept"], comes_first=True))  # away again: the game goes on all the same
    assert (rig.service.game_id, len(rig.shown())) == (game, 3)
    rig.declare(40.0)
    second = rig.service.start_game(NewGame())
    rig.declare(50.0)
    rig.stop()
    rig = SpooledRig(server, Spool([tmp_path / "kept"], comes_first=True))
    assert declared(rig.store, game) == [10.0, 20.0, 30.0, 40.0]
    assert declared(rig.store, second) == [50.0]
    assert [path.stem for path in (tmp_path / "kept").glob("*.jsonl")] == [second]  # the game that is over is not kept
    rig.stop()


def test_devices_stay_paired_while_the_server_is_away(server: str, tmp_path: Path) -> None:
    spool, device = Spool([tmp_path], comes_first=True), DeviceRow("d", "Sam's phone", "operator", "0" * 64, 1, 2)
    store = Store(server)
    store.spool = spool
    store.keep_device(device)
    store.close()
    away = Store(NOWHERE, may_be_down=True)
    with pytest.raises(OutputError):
        away.devices()
    away.spool = spool
    assert away.devices() == [device]
    away.close()


def test_an_acknowledgment_lost_with_the_connection_stores_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = SpooledRig(f"sqlite:///{tmp_path}/games.db", Spool([tmp_path / "kept"]))
    rig.declare(10.0)
    append, lost = rig.store.append, iter([True])

    def append_and_lose(rows: list[EntryRow], game: GameRow | None = None) -> None:
        append(rows, game)
        if next(lost, False):
            raise OutputError("the connection was lost")

    monkeypatch.setattr(rig.store, "append", append_and_lose)
    rig.declare(20.0)
    assert rig.declare(30.0).saved
    wait_until_stored(rig)
    assert declared(rig.store, rig.service.game_id) == [10.0, 20.0, 30.0]
    rig.stop()


@pytest.mark.parametrize("damage", ["content", "missing", "foreign"])
def test_entries_that_do_not_continue_the_journal_are_set_aside_and_told(damage: str, tmp_path: Path) -> None:
    path, folder = tmp_path / "games.db", tmp_path / "kept"
    rig = SpooledRig(f"sqlite:///{path}", Spool([folder]))
    game = rig.service.game_id
    fill(path, full=True)
    for yd in (10.0, 20.0, 30.0):
        rig.declare(yd)
    rig.stop()
    fill(path, full=False)
    kept = folder / f"{game}.jsonl"
    lines = kept.read_text().splitlines(keepends=True)
    if damage == "content":
        lines[2] = lines[2].replace("20.0", "21.0")
    elif damage == "missing":
        del lines[2]
    else:
        store = Store(f"sqlite:///{path}")
        last = store.last_entry(game)
        assert last is not None
        store.append([replace(last, seq=last.seq + 1, key=None)])
        store.close()
    kept.write_text("".join(lines))
    rig = SpooledRig(f"sqlite:///{path}", Spool([folder]))
    assert len(list(folder.glob(f"{game}.jsonl.set-aside-*"))) == 1
    assert not list(folder.glob("*.jsonl"))
    assert any("set aside" in note for note in rig.journals.notes)
    if damage != "foreign":
        assert declared(rig.store, game) == [10.0]
        assert rig.declare(40.0).saved
    rig.stop()


def test_a_place_that_is_full_is_passed_over_and_a_torn_line_skipped(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder can be made below a file")
    others = tmp_path / "others"
    others.mkdir()
    others.chmod(0o777)
    spool = Spool([tmp_path / "file" / "place", others, tmp_path / "last"])
    spool.append([ENTRY], ROW)
    assert (spool.folder, list(others.iterdir())) == (tmp_path / "last", [])
    kept = tmp_path / "last" / f"{ROW.id}.jsonl"
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    with kept.open("ab") as file:
        file.write(b'{"game": "2026')
    spool.append([replace(ENTRY, seq=2, attachment=None)], ROW)
    read = Spool([tmp_path / "last"])
    assert (read.games(), read.entries(ROW.id)) == ([ROW], [ENTRY, replace(ENTRY, seq=2, attachment=None)])
    with pytest.raises(OutputError, match="can't be kept on any disk"):
        Spool([tmp_path / "file" / "place"]).append([ENTRY], ROW)


def test_a_game_is_read_in_order_from_several_places(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    Spool([first]).append([ENTRY, replace(ENTRY, seq=2)], ROW)
    Spool([second]).append([replace(ENTRY, seq=3)], ROW)
    Spool([first]).append([replace(ENTRY, seq=4)], ROW)
    both = Spool([second, first])
    assert [row.seq for row in both.entries(ROW.id)] == [1, 2, 3, 4]
    both.forget(ROW.id, stored=3)
    assert [row.seq for row in both.entries(ROW.id)] == [1, 2, 4]
    both.forget(ROW.id, stored=4)
    assert (both.games(), both.entries(ROW.id)) == ([], [])


STEPS = st.lists(st.sampled_from(["declare", "declare", "full", "free", "restart", "new game", "tear"]), max_size=14)


@settings(max_examples=15)
@given(STEPS)
def test_whatever_fills_and_restarts_everything_is_stored_once_in_order(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, places = Path(folder) / "games.db", [Path(folder) / "kept"]
        rig, full = SpooledRig(f"sqlite:///{path}", Spool(places)), False
        expected: dict[str, list[float]] = {rig.service.game_id: []}
        for number, step in enumerate([*steps, "free", "restart"]):
            if step == "declare":
                assert rig.declare(number + 1).saved
                expected[rig.service.game_id].append(number + 1)
            elif step == "new game":
                expected[rig.service.start_game(NewGame())] = []
            elif step in {"full", "free"} and full != (step == "full"):
                full = not full
                fill(path, full=full)
            elif step in {"restart", "tear"}:
                rig.stop()
                if step == "tear":
                    for kept in places[0].glob("*.jsonl"):
                        kept.write_bytes(kept.read_bytes() + b'{"game": "')
                rig = SpooledRig(f"sqlite:///{path}", Spool(places))
                assert rig.service.game_id == list(expected)[-1]
        assert {game: declared(rig.store, game) for game in expected} == expected
        assert [row.id for row in rig.store.games()][::-1] == list(expected)
        rig.stop()
