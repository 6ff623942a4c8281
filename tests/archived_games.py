"""Bundles of small games, an archive of them, and tasks that workers of the tests carry out or die of."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bundled_games import bundle_of, played_game

from downfield.core.arrays import Image
from downfield.core.frame import Detection
from downfield.desk.archive import tracking
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.cluster import RayCluster, connect_cluster
from downfield.desk.archive.items import ArchivedItem, ItemLabels, add_files, item_ids, read_items
from downfield.desk.archive.job import ArchiveTask, do_task
from downfield.desk.archive.results import GameResult

DIES = "dies"
GRAY_STEP = 7
"""Each picture of a numbered recording is so much brighter than the one before."""


def make_bundles(folder: Path, count: int) -> list[Path]:
    """Write bundles of played games, all the same but for their ids and times."""
    made = []
    for number in range(count):
        place = folder / f"rig-{number}"
        place.mkdir(parents=True)
        bundle = folder / f"game-{number}.downfield.zip"
        bundle.write_bytes(bundle_of(played_game(place)))
        made.append(bundle)
    return made


def archive_of(url: str, paths: list[Path], labels: ItemLabels | None = None) -> ArchiveFiles:
    """Return an archive with the files added to it, none of which may be refused."""
    files = ArchiveFiles.at(url)
    added = list(add_files(files, paths, labels or ItemLabels(), set(item_ids(files))))
    assert [one.text for one in added if one.state == "refused"] == []
    return files


def items_of(files: ArchiveFiles) -> tuple[ArchivedItem, ...]:
    """Return all items of an archive in order."""
    return tuple(sorted(read_items(files, item_ids(files)), key=lambda item: item.order))


@dataclass(frozen=True)
class OtherTasks:
    """A cluster that carries out another function in the place of a job's.

    Attributes:
        cluster: that does it; None for this process, one after another.
        function: what is done with each task; None for the job's own.
        cpus: processors for each.
    """

    cluster: Any = None
    function: Callable[[Any], Any] | None = None
    cpus: float = 1

    def run(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, cpus: float = 1
    ) -> Generator[tuple[Any, Any], None, None]:
        """Run tasks as a cluster does."""
        chosen = self.function or function
        if self.cluster is None:
            yield from ((task, chosen(task)) for task in tasks)
        else:
            yield from self.cluster.run(chosen, tasks, cpus=max(cpus, self.cpus))


def die_once(task: ArchiveTask) -> GameResult:
    """Do a task, but kill the worker in the middle of one of them, the first time."""
    marker = Path(task.kept.url.removeprefix("file://")) / DIES
    if marker.is_file() and marker.read_text() == task.item.id:
        marker.write_text("died")
        os.kill(os.getpid(), signal.SIGKILL)
    return do_task(task)


@dataclass(frozen=True)
class NumberedDetector:
    """Returns what is seen in the picture whose number its brightness tells.

    Attributes:
        seen: in each picture.
        look: called with each number first.
    """

    seen: tuple[tuple[Detection, ...], ...]
    look: Callable[[int], None] = lambda _: None
    name = "simulated"

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Return the detections of a picture."""
        number = round(float(image[:64, :64].mean()) / GRAY_STEP)
        self.look(number)
        return self.seen[number]


def tracking_of(
    seen: tuple[tuple[Detection, ...], ...], dies_at: int | None = None
) -> Callable[[ArchiveTask], GameResult]:
    """Return what tracks with detections that are known in the place of a network, in whatever process.

    Args:
        seen: in each picture.
        dies_at: the picture at which the worker is killed, once, if the marker names the item.
    """

    def track(task: ArchiveTask) -> GameResult:
        marker = Path(task.kept.url.removeprefix("file://")) / DIES

        def look(number: int) -> None:
            if number == dies_at and marker.is_file() and marker.read_text() == task.item.id:
                marker.write_text("died")
                os.kill(os.getpid(), signal.SIGKILL)

        vars(tracking)["open_detector"] = lambda *_, **__: NumberedDetector(seen, look)
        return do_task(task)

    return track


@contextmanager
def two_workers() -> Iterator[RayCluster]:
    """Two workers on this computer that know this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # Ray's 15 would wait for all other tests
        with connect_cluster(None, 2) as connected:
            import ray

            ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers find no modules of tests
            yield connected


def die_always(number: int) -> int:
    """Return the number, but kill the worker for 1."""
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def wait_for(path: str) -> None:
    """Wait until there is a file."""
    while not Path(path).exists():
        threading.Event().wait(0.05)  # where this runs, no modules of tests are found
