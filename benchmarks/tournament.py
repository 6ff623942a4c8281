"""Measures a tournament: many tables, one broker, one PostgreSQL, one desk; then kills and cuts all of them at random.

Run: PYTHONPATH=tests python benchmarks/tournament.py --tables 25 --seconds 60 --cuts 50

Each table writes what a rig writes while its board runs: once a second the scenes of that second (as recorded in the
demo, 1 to 19 kB), every four seconds a declaration; its feed has the health once a second and the game twice. Tables
run in processes of five, each with a store, a link and a clock of its own, hours off the others. Everything is on one
computer, so the rigs, many computers in a hall, share its processor: the times are upper bounds for a desk of its own,
and the processor time of each part is what counts toward more tables.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from broker_server import BrokerServer, broker_server
from cut_proxy import CutProxy
from postgres_server import PostgresServer, postgres_cluster
from tournament_rig import append, game_of

from downfield.capture.sources.file_sources import bundled_demo, tracks_path
from downfield.core.track_files import TrackFile
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.hub import Hub
from downfield.game.records.entries import pack_scenes
from downfield.game.records.keeping import GameRow
from downfield.game.records.owner import GameOwner, rig_id
from downfield.rig.tournament.broker import broker_access
from downfield.rig.tournament.link import TournamentLink
from downfield.rig.tournament.table_feed import FeedPublisher, IdentityWatch, TableMessage
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import BatchReply, JournalBatch
from downfield.store.writing.store import Store

IN_ONE_PROCESS = 5
BEAT_S = 0.25
"""Every table does a part of its work in each beat: scenes in the first of four, a declaration in every sixteenth."""

WAIT_S = 600.0
COMMITTED = "committed.txt"
IN_FLIGHT = 3
"""Entries of one table that may be on their way."""

MEMORY = Path("/dev/shm")
"""In a hall each rig has a disk of its own; here all of them would share one with the database. So their stores are in
memory, where there is such a folder, and the database's and broker's on the disk."""


def recorded_seconds() -> list[bytes]:
    """Return the scenes of each second of the demo, as a rig's journal has them."""
    scenes = list(TrackFile(tracks_path(bundled_demo())))
    return [pack_scenes(scenes[start : start + 30]) for start in range(0, len(scenes) - 29, 30)]


def run_tables(arguments: Sequence[str]) -> None:
    """Run some tables until the input ends; then wait until all is sent, and say so."""
    port, credentials, names = int(arguments[0]), arguments[1], arguments[2:]
    seconds = recorded_seconds()
    opened = []
    for name in names:
        folder = Path(name)
        key = RigKey.load_or_create(folder / "rig.key")
        owner = GameOwner(rig_id(key.public_text), folder.name)
        store, hub = Store.at(folder / "games.db"), Hub()
        access = broker_access((f"nats://127.0.0.1:{port}",), credentials, folder.name)
        feed = FeedPublisher(hub, owner, key, lambda: "", IdentityWatch(owner.rig))
        link = TournamentLink(access, store, owner.rig, key, (feed.run,))
        opened.append((store, game_of(key, table=folder.name), link, hub, folder))
    ending = threading.Event()
    threading.Thread(target=_await_end, args=(ending,), daemon=True).start()
    beat, began_s = 0, time.monotonic()
    while not ending.wait(max(0.0, began_s + beat * BEAT_S - time.monotonic())):
        for place, (store, game, _, hub, folder) in enumerate(opened):
            phase = beat + place
            if phase % 4 == 0:
                commit(store, game, folder, seconds[beat // 4 % len(seconds)])
                hub.publish("health", HealthStatus(text=str(time.time_ns())))
            if phase % 16 == 1:
                commit(store, game, folder)
            if phase % 2 == 1:
                hub.publish("game", {"home": {"name": "Home"}, "score": [0, beat % 50], "situation": "2nd & 7 at B 34"})
        beat += 1
    until_s = time.monotonic() + WAIT_S
    links = [link for _, _, link, *_ in opened]
    while not all(link.state().is_connected and link.state().sender.is_complete for link in links):
        if time.monotonic() > until_s:
            break
        time.sleep(0.05)
    print(json.dumps({"behind": sum(link.state().sender.behind for link in links)}), flush=True)
    for store, _, link, *_ in opened:
        link.close()
        store.close()


def commit(store: Store, game: GameRow, folder: Path, attachment: bytes | None = None) -> None:
    """Append an entry, and note when it was on the disk of the rig."""
    seq = append(store, game, 1, attachment=attachment)
    with (folder / COMMITTED).open("a") as file:
        file.write(f"{seq} {time.time_ns()}\n")


def committed_ns(folder: Path) -> dict[int, int]:
    """Return when the entries of a table were on its disk, by number."""
    lines = (folder / COMMITTED).read_text().splitlines()
    return {int(seq): int(at_ns) for seq, at_ns in (line.split() for line in lines)}


def _await_end(ending: threading.Event) -> None:
    sys.stdin.read()
    ending.set()


@dataclass
class Arrivals:
    """When entries were on the database's disk first, by table and number, and how old messages of the feed were."""

    entries_ns: dict[tuple[str, int], int] = field(default_factory=dict)
    feed_s: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tables(self) -> set[str]:
        """Return the tables of which something arrived."""
        with self.lock:
            return {table for table, _ in self.entries_ns}

    def stored(self, batch: JournalBatch) -> None:
        """Note a batch that is on the database's disk."""
        now_ns = time.time_ns()
        with self.lock:
            for entry in batch.entries:
                self.entries_ns.setdefault((batch.game.table, entry.seq), now_ns)

    def heard(self, message: TableMessage) -> None:
        """Note a message of the feed."""
        if message.topic == "health":
            with self.lock:
                self.feed_s.append((time.time_ns() - int(message.data["text"])) / 1e9)


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile; NaN of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def processor_s(pids: Sequence[int]) -> float:
    """Return the processor time of processes and of their children that have ended."""
    total = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def postgres_pids(server: PostgresServer) -> list[int]:
    """Return the processes of a server."""
    main = int((server.data / "postmaster.pid").read_text().split()[0])
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(main)], capture_output=True, text=True, check=False)
    return [main, *map(int, children.stdout.split())]


class Hall:
    """All parts of a tournament on this computer."""

    def __init__(self, folder: Path, stack: ExitStack, tables: int) -> None:
        self.postgres = stack.enter_context(postgres_cluster(""))
        self.broker: BrokerServer = stack.enter_context(broker_server(folder / "broker"))
        self.proxy = CutProxy(self.broker.port)
        stack.callback(self.proxy.close)
        self.arrivals, self.keeper = Arrivals(), EventKeeper(folder / "event.json")
        self.desk = self.open_desk()
        stack.callback(lambda: self.desk.close())
        place = MEMORY / folder.name if MEMORY.is_dir() else folder
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        self.names = [str(place / f"Table {number:03}") for number in range(1, tables + 1)]
        self.groups = [self.names[start : start + IN_ONE_PROCESS] for start in range(0, tables, IN_ONE_PROCESS)]
        self.running: list[subprocess.Popen[str]] = []

    def open_desk(self) -> DeskTournament:
        """Start the desk."""
        store = TournamentStore(self.postgres.address)
        desk = DeskTournament(self.broker.access("desk"), store, self.keeper, "", PushKeeper())
        note, receive_all = desk.tables.note, store.receive_all

        def noting(message: TableMessage, *, live: bool = True) -> None:
            if live:
                self.arrivals.heard(message)
            note(message, live=live)

        def receiving(batches: Sequence[JournalBatch]) -> list[BatchReply]:
            replies = receive_all(batches)
            for batch, reply in zip(batches, replies, strict=True):
                if reply.status == "stored":
                    self.arrivals.stored(batch)
            return replies

        desk.tables.note = noting  # type: ignore[method-assign]
        store.receive_all = receiving  # type: ignore[method-assign]
        return desk

    def start_rigs(self, group: int) -> subprocess.Popen[str]:
        """Start the process of some tables."""
        command = [sys.executable, __file__, "--run", str(self.proxy.port), str(self.broker.files.tables[0])]
        pipe = subprocess.PIPE
        return subprocess.Popen([*command, *self.groups[group]], stdin=pipe, stdout=pipe, text=True)

    def is_caught_up(self) -> bool:
        """Return whether of every table all but the newest entries are here."""
        with self.arrivals.lock:
            arrived = Counter(table for table, _ in self.arrivals.entries_ns)
        return all(len(committed_ns(table)) - arrived[table.name] <= IN_FLIGHT for table in map(Path, self.names))

    def end_rigs(self) -> None:
        """End all tables."""
        for process in self.running:
            process.kill()
            process.wait()

    def faults(self, randomness: random.Random) -> Iterator[Callable[[], None]]:
        """Yield faults for ever, at random."""
        while True:
            yield randomness.choice((self.kill_rigs, self.kill_broker, self.kill_database, self.cut, self.restart_desk))

    def kill_rigs(self) -> None:
        """Kill a process of rigs, and start it again."""
        group = random.randrange(len(self.groups))
        self.running[group].kill()
        self.running[group].communicate()
        self.running[group] = self.start_rigs(group)

    def kill_broker(self) -> None:
        """Kill the broker, and start it again."""
        self.broker.kill()
        self.broker.start()

    def kill_database(self) -> None:
        """Kill the database, and start it again."""
        self.postgres.kill()
        self.postgres.start()

    def cut(self) -> None:
        """Cut the network between rigs and broker, with a reset or in silence."""
        self.proxy.set(random.choice(("reset", "silent")))
        time.sleep(random.uniform(0.0, 2.0))
        self.proxy.set("passing")

    def restart_desk(self) -> None:
        """Start the desk again."""
        self.desk.close()
        self.desk = self.open_desk()


def measure(tables: int, seconds: float, cuts: int, seed: int) -> bool:
    """Measure, print, and return whether nothing was lost or doubled."""
    random.seed(seed)
    with tempfile.TemporaryDirectory(prefix="downfield-hall-") as made, ExitStack() as stack:
        hall = Hall(Path(made), stack, tables)
        hall.running = [hall.start_rigs(group) for group in range(len(hall.groups))]
        stack.callback(hall.end_rigs)
        wait_for(lambda: len(hall.arrivals.tables()) == tables, "every table's first entry")
        wait_for(hall.is_caught_up, "the entries from before all tables were running")
        with hall.arrivals.lock:
            hall.arrivals.feed_s.clear()
        parts = {
            "desk": [os.getpid()],
            "broker": [hall.broker.pid],
            "PostgreSQL": postgres_pids(hall.postgres),
            "rigs": [process.pid for process in hall.running],
        }
        before = {part: processor_s(pids) for part, pids in parts.items()}
        began_s, began_ns = time.monotonic(), time.time_ns()
        time.sleep(seconds)
        took_s = time.monotonic() - began_s
        spent = {part: processor_s(pids) - before[part] for part, pids in parts.items()}
        with hall.arrivals.lock:
            arrived_ns, feed = dict(hall.arrivals.entries_ns), list(hall.arrivals.feed_s)
        entries = [
            (arrived_ns[table.name, seq] - at_ns) / 1e9
            for table in map(Path, hall.names)
            for seq, at_ns in committed_ns(table).items()
            if at_ns >= began_ns and (table.name, seq) in arrived_ns
        ]
        print(f"{tables} tables, {took_s:.0f} s, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        print(f"  entries {len(entries)} ({len(entries) / took_s:.0f}/s), commit to desk: {spread(entries)}")
        print(f"  feed {len(feed)}, made to desk: {spread(feed)}")
        per = 1e3 / max(len(entries), 1)
        print("  processor time per entry: " + ", ".join(f"{part} {per * cpu:.1f} ms" for part, cpu in spent.items()))
        print("  share of one processor: " + ", ".join(f"{part} {cpu / took_s:.0%}" for part, cpu in spent.items()))
        randomness = random.Random(seed)
        for number, fault in zip(range(cuts), hall.faults(randomness), strict=False):
            time.sleep(randomness.uniform(0.0, 2.0))
            fault()
            if (number + 1) % 20 == 0:
                print(f"  {number + 1} faults, {len(hall.arrivals.entries_ns)} entries stored", flush=True)
        return complete(hall, cuts)


def complete(hall: Hall, cuts: int) -> bool:
    """End the rigs once all is sent, compare every journal with the database's, and print what came of it."""
    began_s = time.monotonic()
    for process in hall.running:
        assert process.stdin is not None
        process.stdin.close()
    behind = 0
    for process in hall.running:
        assert process.stdout is not None
        behind += json.loads(process.stdout.readline())["behind"]
    caught_up_s = time.monotonic() - began_s
    wrong = total = 0
    for name in hall.names:
        key = RigKey.load_or_create(Path(name) / "rig.key")
        game = game_of(key, table=Path(name).name)
        with open_for_reading(f"{name}/games.db") as here, open_for_reading(hall.postgres.address) as there:
            sent, arrived = list(here.store.entries(game.id)), list(there.store.entries(game.id))
        total += len(sent)
        wrong += sent != arrived or bool(verify_journal(game.id, arrived).problem)
    print(
        f"  after {cuts} faults: {total} entries, {behind} not sent, {wrong} journals that differ;"
        f" caught up in {caught_up_s:.1f} s"
    )
    return wrong == behind == 0


def spread(values: Sequence[float]) -> str:
    """Return percentiles, for people."""
    return ", ".join(f"p{share * 100:g} {1e3 * percentile(values, share):.0f} ms" for share in (0.5, 0.95, 0.99))


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    until_s = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > until_s:
            raise SystemExit(f"{what} never came")
        time.sleep(0.1)


def main() -> None:
    """Measure one hall after another."""
    logging.disable()  # every cut is logged by every part
    if sys.argv[1:2] == ["--run"]:
        run_tables(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, nargs="+", default=[10])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cuts", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    results = [measure(tables, given.seconds, given.cuts, given.seed) for tables in given.tables]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
