"""Games of an archive judged on Ray: the same bytes however many workers, whatever dies or is cut off on the way."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from archived_games import (
    DIES,
    OtherTasks,
    archive_of,
    die_always,
    die_once,
    items_of,
    make_bundles,
    two_workers,
    wait_for,
)
from waiting import WAIT_S, wait_until

from downfield.core.errors import InputError
from downfield.desk.archive import cluster as cluster_module
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.cluster import RayCluster, TaskFailure, connect_cluster
from downfield.desk.archive.job import ArchiveJob, ArchiveTask, JobReport, JobSettings, do_task
from downfield.desk.archive.results import TABLES, GameResult
from downfield.game.records.entries import record_of
from downfield.officiating.rulebooks.rulebook import parse_rulebook

if importlib.util.find_spec("ray") is None:
    pytest.skip("the extra `archive` is not installed", allow_module_level=True)

SHY = 'name = "Shy"\nbase = "tap"\n[policy]\ntackle = "propose"\n'


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return make_bundles(tmp_path_factory.mktemp("bundles"), 3)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with two_workers() as connected:
        yield connected


@pytest.fixture
def archive(bundles: list[Path], tmp_path: Path) -> ArchiveFiles:
    return archive_of(str(tmp_path / "archive"), bundles)


def job_of(archive: ArchiveFiles, kept: Path, settings: JobSettings | None = None) -> ArchiveJob:
    kept.mkdir(exist_ok=True)
    chosen = settings or JobSettings.of(None)
    return ArchiveJob(chosen, archive, ArchiveFiles.at(str(kept)), items_of(archive))


def run(job: ArchiveJob, cluster: object, out: Path) -> JobReport:
    out.mkdir()
    return job.run(lambda: cluster, lambda _done, _total: None, out)  # type: ignore[arg-type, return-value]


def rows_of(out: Path, table: str) -> list[dict[str, Any]]:
    import pyarrow.parquet

    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(out / f"{table}.parquet").to_pylist()
    return rows


def tables(out: Path) -> dict[str, bytes]:
    return {table: (out / f"{table}.parquet").read_bytes() for table in TABLES}


def test_results_are_the_same_to_the_last_bit_on_one_worker_on_two_and_without_ray(
    archive: ArchiveFiles, cluster: RayCluster, tmp_path: Path
) -> None:
    ways = {"here": OtherTasks(), "one": OtherTasks(cluster, cpus=2), "two": cluster}
    for name, way in ways.items():
        report = run(job_of(archive, tmp_path / f"kept-{name}"), way, tmp_path / name)
        assert [game.state for game in report.games] == ["done"] * 3, report.failed
    assert tables(tmp_path / "one") == tables(tmp_path / "here")
    assert tables(tmp_path / "two") == tables(tmp_path / "here")
    games = rows_of(tmp_path / "two", "games")
    assert [game["item"] for game in games] == [item.id for item in items_of(archive)]
    calls = rows_of(tmp_path / "two", "calls")
    assert "tackle" in {call["kind"] for call in calls}
    assert all(game["changes"] == 0 for game in games), "the same version judges as it did at the table"


def test_a_worker_that_is_killed_in_the_middle_costs_only_its_game_some_time(
    archive: ArchiveFiles, cluster: RayCluster, tmp_path: Path
) -> None:
    run(job_of(archive, tmp_path / "kept"), OtherTasks(), tmp_path / "undisturbed")
    job = job_of(archive, tmp_path / "kept-killed")
    marker = tmp_path / "kept-killed" / DIES
    marker.write_text(job.items[1].id)
    report = run(job, OtherTasks(cluster, die_once), tmp_path / "killed")
    assert report.failed == ()
    assert marker.read_text() == "died"
    assert tables(tmp_path / "killed") == tables(tmp_path / "undisturbed")


def test_a_task_that_kills_every_worker_fails_with_a_reason_and_the_others_are_done(
    cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "CLUSTER_LIMITS", replace(cluster_module.CLUSTER_LIMITS, retries=1))
    found = dict(cluster.run(die_always, range(4)))
    assert {number: found[number] for number in (0, 2, 3)} == {0: 0, 2: 2, 3: 3}
    assert isinstance(found[1], TaskFailure)
    assert found[1].reason.startswith("its worker process ended each of 2 times")


def test_a_bounded_number_of_tasks_is_taken_however_many_there_are(cluster: RayCluster) -> None:
    taken = 0

    def tasks() -> Iterator[int]:
        nonlocal taken
        for number in range(1, 1000):
            taken += 1
            yield number + 1

    outcomes = cluster.run(die_always, tasks())
    next(outcomes)
    outcomes.close()
    assert taken <= 2 * cluster_module.CLUSTER_LIMITS.in_flight_per_cpu * cluster.cpus


def test_a_resumed_job_does_only_the_rest(archive: ArchiveFiles, tmp_path: Path) -> None:
    whole = job_of(archive, tmp_path / "kept")
    run(replace(whole, items=whole.items[:2]), OtherTasks(), tmp_path / "first")
    done: list[str] = []

    def counted(task: ArchiveTask) -> GameResult:
        done.append(task.item.id)
        return do_task(task)

    report = run(whole, OtherTasks(function=counted), tmp_path / "rest")
    assert (done, report.before) == ([whole.items[2].id], 2)
    again = run(whole, None, tmp_path / "again")
    assert again.before == 3, "with nothing left to do no cluster is needed"
    assert tables(tmp_path / "again") == tables(tmp_path / "rest")


def test_another_rulebook_is_another_job_and_says_what_changed(archive: ArchiveFiles, tmp_path: Path) -> None:
    own = job_of(archive, tmp_path / "kept")
    book = record_of(parse_rulebook(SHY, "shy.toml"))
    shy = job_of(archive, tmp_path / "kept", JobSettings.of(book))
    run(own, OtherTasks(), tmp_path / "own")
    report = run(shy, OtherTasks(), tmp_path / "shy")
    assert report.before == 0
    changes = rows_of(tmp_path / "shy", "changes")
    tackles = [one for one in changes if one["kind_before"] == "tackle"]
    assert [(one["verdict_before"], one["verdict"], one["change"]) for one in tackles] == [
        ("called", "proposed", "changed")
    ] * 3
    assert {game.rulebook for game in report.games} == {"Shy"}


def test_a_broken_bundle_is_one_failed_row_with_its_reason_and_is_tried_again(
    archive: ArchiveFiles, tmp_path: Path
) -> None:
    job = job_of(archive, tmp_path / "kept")
    path = Path(archive.url.removeprefix("file://")) / "files" / job.items[0].id / "game.downfield.zip"
    sound = path.read_bytes()
    path.write_bytes(sound[:-100])
    report = run(job, OtherTasks(), tmp_path / "broken")
    assert [game.state for game in report.games] == ["failed", "done", "done"]
    assert report.games[0].reason == "game.downfield.zip was changed in the archive since it was added"
    rows = rows_of(tmp_path / "broken", "games")
    assert rows[0]["reason"] == report.games[0].reason
    path.write_bytes(sound)
    report = run(job, OtherTasks(), tmp_path / "mended")
    assert (report.failed, report.before) == ((), 2)


def test_a_worker_with_other_code_judges_nothing(archive: ArchiveFiles, tmp_path: Path) -> None:
    report = run(job_of(archive, tmp_path / "kept", JobSettings("judge", "0" * 64)), OtherTasks(), tmp_path / "out")
    assert {game.reason for game in report.failed} == {
        "the worker has another version of Downfield, or of a library, than the command"
    }


def test_ctrl_c_ends_the_command_in_order_with_what_is_done(
    archive: ArchiveFiles, cluster: RayCluster, tmp_path: Path
) -> None:
    import ray

    whole = job_of(archive, Path(archive.url.removeprefix("file://")))
    run(replace(whole, items=whole.items[:1]), OtherTasks(), tmp_path / "first")
    free = tmp_path / "free"
    busy = ray.remote(num_cpus=cluster.cpus)(wait_for).remote(str(free))
    address = ray.get_runtime_context().gcs_address
    command = [sys.executable, "-m", "downfield", "archive", "judge", archive.url, "all", "--ray", address]
    command += ["--out", str(tmp_path / "out")]
    log = tmp_path / "log"
    with log.open("w") as errors:
        running = subprocess.Popen(command, stderr=errors, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: running.poll() is not None or "connected" in log.read_text(), log.read_text)
        assert running.poll() is None, log.read_text()
        running.send_signal(signal.SIGINT)
        assert running.wait(WAIT_S) == 130, log.read_text()
    finally:
        running.kill()
        free.touch()
    assert "stopped: 1 of 3 games are done. The same command does the rest." in log.read_text()
    ray.get(busy)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:9", "no Ray cluster answers there"),
        ("head", "is no address of a Ray cluster"),
        ("127.0.0.1:99999", "answers"),
    ],
)
def test_a_cluster_that_is_not_there_is_told_at_once(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message), connect_cluster(address):
        pass


def test_a_local_cluster_listens_on_the_loopback_alone(cluster: RayCluster) -> None:
    import ray

    assert cluster.cpus == 2
    assert ray.get_runtime_context().gcs_address.startswith("127.0.0.1:")
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
