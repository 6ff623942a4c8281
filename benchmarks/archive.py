"""Judge an archive on one and on two Ray workers, and with a worker killed: same bytes, speed-up, what a kill costs.

``PYTHONPATH=tests python benchmarks/archive.py --games 100 --folder build/archive``. Bundles of small games are made
once in the folder. Each way starts a cluster of its own and judges all of them. Times count from the first task handed
to the cluster to the last result; that of starting the cluster with its workers is told beside it. The processor time
of a game is that of its worker, which does not depend on what else the computer does.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from archived_games import archive_of, items_of
from bundled_games import PlayedGame, bundle_of
from played_table import PLAY, RUNNER, Table
from scripted_plays import opening

from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.cluster import RayCluster, TaskFailure, connect_cluster
from downfield.desk.archive.job import ArchiveJob, ArchiveTask, JobSettings, do_task
from downfield.desk.archive.results import TABLES, GameResult
from downfield.game.records.commands import NewGame
from downfield.store.sealing.hash_chain import GENESIS, digest_of
from downfield.store.writing.store import Store


def make_bundles(folder: Path, count: int, plays: int) -> list[Path]:
    """Write bundles of games of several plays: one is played, the others are copies of it under ids of their own."""
    folder.mkdir(parents=True)
    played = _play(folder / "rig.db", plays)
    made = []
    for number in range(count):
        copied = _copy(played, folder / f"{number}" / "games.db", f"20270105-18{number:04d}-bench")
        path = folder / f"game-{number}.downfield.zip"
        path.write_bytes(bundle_of(copied))
        made.append(path)
    return made


def _play(path: Path, plays: int) -> PlayedGame:
    """Play the tackle of the tests again and again, and end the game."""
    table = Table(path)
    game = table.begin()
    apart_ns = PLAY.scenes[-1].t_ns + 10_000_000_000
    for number in range(plays):
        waiting = list(opening(PLAY, RUNNER))
        for scene in PLAY.scenes:
            later = replace(scene, t_ns=scene.t_ns + number * apart_ns, frame=scene.frame + number * len(PLAY.scenes))
            table.now_ns = later.t_ns
            while waiting and waiting[0][0] * 1e9 <= scene.t_ns:
                table.declare(waiting.pop(0)[1])
            table.game_service.take(later)
    table.game_service.start_game(NewGame(title="the next one"))
    row = table.store.game(game)
    table.close()
    assert row is not None
    return PlayedGame(path, row)


def _copy(played: PlayedGame, path: Path, game: str) -> PlayedGame:
    """Copy a game into a store of its own under another id."""
    path.parent.mkdir()
    source, target = Store.at(played.store), Store.at(path)
    row = replace(played.row, id=game)
    previous, entries = GENESIS, []
    for entry in source.entries(played.row.id):
        sealed = (entry.seq, entry.kind, entry.at_ns, entry.key, entry.content, entry.attachment)
        previous = digest_of(previous, game, *sealed)
        entries.append(replace(entry, game=game, digest=previous))
    target.append(entries, row)
    source.close()
    target.close()
    return PlayedGame(path, row)


@dataclass(frozen=True)
class TimedGame:
    """A game's result with the processor time it took.

    Attributes:
        row: the result.
        worker: process id of the worker.
        cpu_s: processor time of the worker for it.
    """

    row: GameResult
    worker: int
    cpu_s: float


def timed(task: ArchiveTask) -> TimedGame:
    """Do a task of a job, and measure it."""
    began_s = time.process_time()
    row = do_task(task)
    return TimedGame(row, os.getpid(), time.process_time() - began_s)


@dataclass
class TimedCluster:
    """A cluster that notes what its tasks took, and kills one worker.

    Attributes:
        cluster: that does them.
        kill_after: games after which the worker of the latest one is killed; None for no kill.
        cpu_s: processor time of each game.
        workers: process ids.
        wall_s: from the first task to the last result.
        killed: process id of the worker that was killed.
    """

    cluster: RayCluster
    kill_after: int | None = None
    cpu_s: list[float] = field(default_factory=list)
    workers: set[int] = field(default_factory=set)
    wall_s: float = 0.0
    killed: int | None = None

    def run(
        self, _function: Callable[[Any], Any], tasks: Iterable[Any], *, cpus: float = 1
    ) -> Generator[tuple[Any, GameResult | TaskFailure], None, None]:
        """Run tasks as a cluster does."""
        began_s = time.monotonic()
        for number, (task, outcome) in enumerate(self.cluster.run(timed, tasks, cpus=cpus), start=1):
            self.wall_s = time.monotonic() - began_s
            if isinstance(outcome, TaskFailure):
                yield task, outcome
                continue
            self.cpu_s.append(outcome.cpu_s)
            self.workers.add(outcome.worker)
            if number == self.kill_after:
                self.killed = outcome.worker
                os.kill(outcome.worker, signal.SIGKILL)
            yield task, outcome.row


def import_all(number: int) -> int:
    """Import what judging needs, and stay until every other worker does so as well."""
    JobSettings.of(None)
    time.sleep(2.0)
    return number


def warm_up(cluster: RayCluster, workers: int) -> None:
    """Have every worker import what it needs: with a season it does so once, and is not what is measured."""
    list(cluster.run(import_all, range(workers)))


def judge(files: ArchiveFiles, folder: Path, name: str, workers: int, kill_after: int | None = None) -> dict[str, str]:
    """Judge all games, print what it took, and return the SHA-256 of each table."""
    kept, out = folder / f"kept-{name}", folder / f"out-{name}"
    for place in (kept, out):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    settings = JobSettings.of(None)
    job = ArchiveJob(settings, files, ArchiveFiles.at(str(kept)), items_of(files))
    began_s = time.monotonic()
    with connect_cluster(None, workers) as cluster:
        warm_up(cluster, workers)
        started_s = time.monotonic() - began_s
        measured = TimedCluster(cluster, kill_after)
        report = job.run(lambda: measured, lambda _done, _total: None, out)  # type: ignore[arg-type, return-value]
    total_s = sum(measured.cpu_s)
    print(
        f"{name:8} {len(report.games)} games, {len(report.failed)} failed; {measured.wall_s:6.1f} s"
        f" (started in {started_s:.1f} s); processor {total_s:.1f} s in {len(measured.workers)} workers,"
        f" {1000 * total_s / max(1, len(measured.cpu_s)):.0f} ms a game"
        + (f"; worker {measured.killed} killed" if measured.killed else ""),
        flush=True,
    )
    return {table: hashlib.sha256((out / f"{table}.parquet").read_bytes()).hexdigest() for table in TABLES} | {
        "wall": f"{measured.wall_s}"
    }


def main() -> None:
    """Make the archive where it is missing, judge it in all ways, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--plays", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    bundles = sorted((arguments.folder / "bundles").glob("*.zip"))
    if len(bundles) != arguments.games:
        shutil.rmtree(arguments.folder / "bundles", ignore_errors=True)
        bundles = make_bundles(arguments.folder / "bundles", arguments.games, arguments.plays)
    files = archive_of(str(arguments.folder / "archive"), bundles)
    os.environ.update(RAY_worker_niceness="0")  # Ray's 15 would measure what else the computer does
    print(f"{len(bundles)} bundles in the archive; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    for _ in range(arguments.rounds):
        one = judge(files, arguments.folder, "one", 1)
        two = judge(files, arguments.folder, "two", 2)
        killed = judge(files, arguments.folder, "killed", 2, kill_after=arguments.games // 3)
        speed_up = float(one.pop("wall")) / float(two.pop("wall"))
        killed.pop("wall")
        print(f"speed-up {speed_up:.2f}; same bytes on one and two: {one == two}, after a kill: {one == killed}")


if __name__ == "__main__":
    main()
