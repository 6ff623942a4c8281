"""Journals arrive at the tournament in order and once, whatever is killed or cut; a fork is refused by a clear text."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from broker_server import BrokerServer, broker_server, skip_without_broker
from cut_proxy import CutProxy
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import PostgresServer, postgres_cluster, skip_without_postgres
from sqlalchemy import create_engine, text
from tournament_rig import append, entries_after, game_of
from waiting import WAIT_S, let_run, wait_until

from downfield.core.errors import InputError
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.game.records.keeping import EntryRow
from downfield.game.records.owner import rig_id
from downfield.rig.tournament import broker, broker_thread, journal_sender
from downfield.rig.tournament.link import TournamentLink
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import BatchReply, JournalBatch, make_batch
from downfield.store.writing.store import Store

RIG = Path(__file__).parents[1] / "tournament_rig.py"


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    skip_without_postgres()
    with postgres_cluster() as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    engine = create_engine(postgres.address.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return postgres.address


@pytest.fixture(scope="module")
def brokering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerServer]:
    skip_without_broker()
    with broker_server(tmp_path_factory.mktemp("broker")) as server:
        yield server


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = replace(broker.BROKER_LIMITS, retry_s=0.05, longest_retry_s=0.2, answer_s=8.0)
    for module in (broker, broker_thread):
        monkeypatch.setattr(module, "BROKER_LIMITS", limits)
    for module in (journal_sender, sys.modules["downfield.rig.tournament.link"]):
        monkeypatch.setattr(module, "SENDER_LIMITS", replace(journal_sender.SENDER_LIMITS, pause_s=0.05, compare_s=1.0))


@dataclass
class Table:
    """A rig with a link to the tournament."""

    store: Store
    key: RigKey
    link: TournamentLink

    @property
    def rig(self) -> str:
        return rig_id(self.key.public_text)

    def wait_until_sent(self) -> None:
        wait_until(lambda: self.link.state().is_connected and self.link.state().sender.is_complete, "never all sent")


@pytest.fixture
def table(tmp_path: Path, brokering: BrokerServer) -> Iterator[Table]:
    with ExitStack() as stack:
        key = RigKey.load_or_create(tmp_path / "rig.key")
        store = Store.at(tmp_path / "games.db")
        stack.callback(store.close)
        link = TournamentLink(brokering.access("rig"), store, rig_id(key.public_text), key)
        stack.callback(link.close)
        yield Table(store, key, link)


@pytest.fixture
def keeper(tmp_path: Path) -> EventKeeper:
    return EventKeeper(tmp_path / "event.json")


@pytest.fixture
def desk(brokering: BrokerServer, database: str, keeper: EventKeeper) -> Iterator[DeskTournament]:
    opened = DeskTournament(brokering.access("desk"), TournamentStore(database), keeper, "", PushKeeper())
    yield opened
    opened.close()


def journal(address: str | Path, game: str) -> list[EntryRow]:
    """Return a journal as it is in a store, which must be whole."""
    with open_for_reading(str(address)) as opened:
        rows = list(opened.store.entries(game))
    assert verify_journal(game, rows).problem == ""
    return rows


def test_what_a_rig_writes_is_at_the_tournament_entry_by_entry(
    table: Table, desk: DeskTournament, database: str
) -> None:
    games = [game_of(table.key, name) for name in ("first", "second")]
    for game in games:
        append(table.store, game, 30, attachment=b"\x00\xffscenes")
    append(table.store, games[0], 3)
    table.wait_until_sent()
    for game in games:
        assert journal(database, game.id) == list(table.store.entries(game.id))
        with open_for_reading(database) as opened:
            assert opened.store.game(game.id) == game
    assert desk.problem == ""


@pytest.mark.usefixtures("desk")
def test_another_rigs_and_nobodys_games_in_the_same_store_are_not_sent(table: Table, database: str) -> None:
    other = replace(game_of(RigKey.generate(), "other"), id="other")
    append(table.store, other, 2)
    append(table.store, replace(other, id="demo", owner=""), 2)
    append(table.store, game_of(table.key), 1)
    table.wait_until_sent()
    with open_for_reading(database) as opened:
        assert [game.id for game in opened.store.games()] == [game_of(table.key).id]


def test_a_rig_that_was_away_for_a_day_catches_up_and_the_game_in_play_is_not_last(
    table: Table, brokering: BrokerServer, database: str, keeper: EventKeeper
) -> None:
    games = [game_of(table.key, f"{number:02}") for number in range(6)]
    for game in games:
        append(table.store, game, 300, attachment=b"s" * 4_000)
    assert table.link.state().sender.behind == 1800
    arrived: list[str] = []
    store = TournamentStore(database)
    receive_all = store.receive_all

    def noting(batches: Sequence[JournalBatch]) -> list[BatchReply]:
        arrived.extend(batch.game.id for batch in batches)
        return receive_all(batches)

    store.receive_all = noting  # type: ignore[method-assign]
    desk = DeskTournament(brokering.access("desk"), store, keeper, "", PushKeeper())
    table.wait_until_sent()
    desk.close()
    for game in games:
        assert len(journal(database, game.id)) == 300
    last_of_latest = len(arrived) - 1 - arrived[::-1].index(games[-1].id)
    assert last_of_latest < len(arrived) / 2, "the game in play waited for the backlog"


@pytest.mark.usefixtures("desk")
def test_a_tournament_put_back_from_a_copy_gets_what_it_lost(table: Table, database: str) -> None:
    game = game_of(table.key)
    append(table.store, game, 20)
    table.wait_until_sent()
    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM entries WHERE seq > 12"))
    engine.dispose()
    append(table.store, game, 1)
    wait_until(lambda: len(journal(database, game.id)) == 21, "what was lost never came again")


@pytest.mark.usefixtures("desk")
def test_a_rig_put_back_to_an_older_copy_and_played_on_is_refused_and_says_so(
    table: Table, database: str, tmp_path: Path, brokering: BrokerServer
) -> None:
    game = game_of(table.key)
    append(table.store, game, 5)
    table.wait_until_sent()
    table.link.close()
    older = Store.at(tmp_path / "older.db")
    older.append(list(table.store.entries(game.id))[:3], game)
    link = TournamentLink(brokering.access("rig"), older, table.rig, table.key)
    try:
        wait_until(lambda: link.state().sender.refused, "an older copy was not noticed")
        assert "an older copy" in link.state().sender.refused[0][1]
        append(older, game, 4, word="other")
        wait_until(lambda: "another entry 5" in str(link.state().sender.refused), "the fork was not refused")
    finally:
        link.close()
        older.close()
    assert journal(database, game.id) == list(table.store.entries(game.id))


KEY, OTHER_KEY = RigKey.generate(), RigKey.generate()
GAME = game_of(KEY)
ROWS = entries_after(GAME.id, None, 6, attachment=b"scenes")


def _resign(batch: JournalBatch, **changes: object) -> JournalBatch:
    return replace(batch, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (make_batch(KEY, GAME, [ROWS[2], replace(ROWS[3], content="{}"), ROWS[4]]), "hash chain"),
        (make_batch(KEY, GAME, [ROWS[2], replace(ROWS[3], attachment=b"else"), ROWS[4]]), "hash chain"),
        (make_batch(KEY, GAME, [ROWS[2], ROWS[4]]), "do not follow"),
        (make_batch(KEY, GAME, entries_after(GAME.id, ROWS[1], 3, word="x")[1:]), "behind"),
        (make_batch(KEY, GAME, entries_after(GAME.id, ROWS[0], 3, word="x")), "another entry 2"),
        (make_batch(KEY, GAME, entries_after(GAME.id, ROWS[1], 3, word="x")), "stored"),
        (make_batch(OTHER_KEY, GAME, ROWS[2:]), "another rig"),
        (_resign(make_batch(OTHER_KEY, GAME, ROWS[2:]), key=KEY.public_text), "signature"),
        (_resign(make_batch(KEY, GAME, ROWS[2:]), game=replace(GAME, title="semifinal")), "signature"),
        (make_batch(KEY, replace(GAME, title="semifinal"), ROWS[2:]), "title"),
        (_resign(make_batch(KEY, GAME, ROWS[2:]), signature="%"), "signature"),
        (_resign(make_batch(KEY, GAME, ROWS[2:]), key="ed25519:"), "no batch"),
        (_resign(make_batch(KEY, GAME, ROWS[2:]), entries=()), "no batch"),
    ],
)
def test_what_is_no_honest_continuation_is_refused_and_changes_nothing(
    batch: JournalBatch, says: str, database: str
) -> None:
    store = TournamentStore(database)
    assert store.receive_all([make_batch(KEY, GAME, ROWS[:2])])[0].status == "stored"
    reply = store.receive_all([batch])[0]
    if says == "stored":
        assert (reply.status, reply.seq) == ("stored", 5)
    elif says == "behind":
        assert (reply.status, reply.seq) == ("behind", 2)
    else:
        assert reply.status == "refused"
        assert says in reply.text
        assert journal(database, GAME.id) == ROWS[:2]
    store.close()


@settings(max_examples=25)
@given(cuts=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=12), word=st.text(max_size=8))
def test_batches_sent_again_late_and_out_of_order_are_stored_once(
    postgres: PostgresServer, cuts: list[tuple[int, int]], word: str
) -> None:
    store, key = TournamentStore(postgres.address), RigKey.generate()
    game = game_of(key)
    rows = entries_after(game.id, None, 6, word=word.replace("\x00", ""))
    reached = 0
    for one, other in [*cuts, (1, 6)]:
        first, last = min(one, other), max(one, other)
        reply = store.receive_all([make_batch(key, game, rows[first - 1 : last])])[0]
        assert reply.status == ("behind" if first > reached + 1 else "stored"), reply.text
        reached = reached if first > reached + 1 else max(reached, last)
        assert reply.seq == reached
    store.close()
    assert journal(postgres.address, game.id) == rows


def test_a_server_of_an_older_postgres_or_another_kind_is_refused(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from downfield.desk.replication import tournament_store

    with pytest.raises(InputError, match="postgresql://"):
        TournamentStore("mysql://x/y")
    monkeypatch.setattr(tournament_store, "OLDEST_SERVER", 10**9)
    store = TournamentStore(database)
    reply = store.receive_all([make_batch(KEY, GAME, ROWS)])[0]
    store.close()
    assert (reply.status, "PostgreSQL 15 or later" in reply.text) == ("unavailable", True)


def test_a_rig_reads_nobodys_journals_at_the_broker(brokering: BrokerServer) -> None:
    import asyncio

    from nats.errors import Error

    async def listen() -> list[bytes]:
        heard: list[bytes] = []
        refused = asyncio.Event()
        async with broker_thread.open_broker(brokering.access("rig")) as listening:

            async def hear(message) -> None:  # type: ignore[no-untyped-def]
                heard.append(message.data)

            async def note(error: Exception) -> None:
                assert isinstance(error, Error | Exception)
                refused.set()

            listening.client._error_cb = note
            await listening.client.subscribe("downfield.journal.*", cb=hear)
            async with broker_thread.open_broker(brokering.access("desk")) as sending:
                await asyncio.wait_for(refused.wait(), WAIT_S)
                await sending.publish("downfield.journal.append", b"secret")
                await sending.client.flush()
        return heard

    assert asyncio.run(listen()) == []


def test_nothing_is_lost_or_doubled_when_everything_is_killed_and_cut_at_random(
    tmp_path: Path, postgres: PostgresServer, brokering: BrokerServer, database: str, keeper: EventKeeper
) -> None:
    randomness = random.Random(42)
    wanted, rigs = 60, ("Table 1", "Table 2")
    proxy = CutProxy(brokering.port)
    desk = DeskTournament(brokering.access("desk"), TournamentStore(database), keeper, "", PushKeeper())
    running: dict[str, subprocess.Popen[str]] = {}

    def start(rig: str) -> None:
        command = [sys.executable, str(RIG), str(tmp_path / rig), str(proxy.port), str(brokering.files.tables[0])]
        running[rig] = subprocess.Popen(
            [*command, str(wanted), "40"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def kill_rig() -> None:
        rig = randomness.choice(rigs)
        running[rig].kill()
        running[rig].communicate()
        start(rig)

    def kill_broker() -> None:
        brokering.kill()
        brokering.start()

    def kill_database() -> None:
        postgres.kill()
        postgres.start()

    def cut_network() -> None:
        proxy.set(randomness.choice(("reset", "silent")))
        let_run(randomness.uniform(0.0, 0.3))
        proxy.set("passing")

    try:
        for rig in rigs:
            start(rig)
        faults = [kill_rig, kill_broker, kill_database, cut_network] * 2
        randomness.shuffle(faults)
        for fault in faults:
            let_run(randomness.uniform(0.1, 0.5))  # a fault comes at any moment of the work
            fault()
        for rig in rigs:
            output = running[rig].stdout
            assert output is not None
            assert output.readline() == "written\n"
            key = RigKey.load_or_create(tmp_path / rig / "rig.key")
            game = game_of(key, table=rig)
            sent = journal(tmp_path / rig / "games.db", game.id)
            assert len(sent) == wanted
            wait_until(lambda game=game: _count(database, game.id) == wanted, f"{rig}: not all arrived")  # type: ignore[misc]
            assert journal(database, game.id) == sent
    finally:
        for process in running.values():
            process.kill()
            process.communicate()
        desk.close()
        proxy.close()


def _count(address: str, game: str) -> int:
    try:
        with open_for_reading(address) as opened:
            last = opened.store.last_entry(game)
    except InputError:  # a desk that was kept from its database at first has not made its store yet
        return 0
    return 0 if last is None else last.seq


def test_appending_never_waits_for_a_broker_that_hangs(table: Table) -> None:
    table.link.close()
    with socket.create_server(("127.0.0.1", 0)) as hanging:  # accepts, and never says a word
        access = broker.BrokerAccess((f"nats://127.0.0.1:{hanging.getsockname()[1]}",))
        link = TournamentLink(access, table.store, table.rig, table.key)
        writing = threading.Thread(target=append, args=(table.store, game_of(table.key), 50))
        writing.start()
        writing.join(WAIT_S)
        assert not writing.is_alive()
        wait_until(lambda: link.state().problem, "the broker's silence was not noticed")
        assert link.state().sender.behind == 50
        link.close()
