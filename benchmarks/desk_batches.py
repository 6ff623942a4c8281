"""Measures the processor time of storing journals at the desk: batches one by one, and in groups of several tables.

Run: PYTHONPATH=tests python benchmarks/desk_batches.py

Each batch is one entry with 11 kB of scenes, as a rig sends while its board runs. Groups of one size after another go
into one database, so the ratios hold on a busy computer too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from postgres_server import PostgresServer, postgres_cluster
from tournament_rig import entries_after, game_of

from downfield.desk.replication.tournament_store import TournamentStore
from downfield.game.records.keeping import EntryRow
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import JournalBatch, make_batch

TABLES = 60
SCENES_BYTES = 11_000


def batches(tables: Sequence[tuple[RigKey, str]], last: dict[str, EntryRow], rounds: int) -> list[JournalBatch]:
    """Return the next batches of all tables, in turn."""
    made = []
    for _ in range(rounds):
        for key, name in tables:
            game = game_of(key, name)
            rows = entries_after(game.id, last.get(game.id), 1, attachment=os.urandom(SCENES_BYTES))
            last[game.id] = rows[-1]
            made.append(make_batch(key, game, rows))
    return made


def server_s(server: PostgresServer) -> float:
    """Return the processor time of a server."""
    main = int((server.data / "postmaster.pid").read_text().split()[0])
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(main)], capture_output=True, text=True, check=False)
    stats = [Path(f"/proc/{pid}/stat").read_text() for pid in (main, *map(int, children.stdout.split()))]
    ticks = sum(sum(map(int, stat.rpartition(")")[2].split()[11:15])) for stat in stats)
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure each size of group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 3, 6, 12])
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    tables = [(RigKey.generate(), "final") for _ in range(TABLES)]
    last: dict[str, EntryRow] = {}
    with postgres_cluster("") as server:
        store = TournamentStore(server.address)
        store.receive_all(batches(tables, last, 1))
        for size in given.sizes:
            made = batches(tables, last, given.rounds)
            desk_s, database_s, began_s = time.process_time(), server_s(server), time.monotonic()
            for start in range(0, len(made), size):
                replies = store.receive_all(made[start : start + size])
                assert {reply.status for reply in replies} == {"stored"}
            each = 1e3 / len(made)
            print(
                f"{size:3} at a time: desk {each * (time.process_time() - desk_s):.2f} ms a batch, PostgreSQL"
                f" {each * (server_s(server) - database_s):.2f}, in {each * (time.monotonic() - began_s):.1f} ms"
            )
        store.close()


if __name__ == "__main__":
    main()
