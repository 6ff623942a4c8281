"""A job over a selection of games: what is finished is kept game by game, so an interrupted one goes on where it was.

The results of a game stand in the archive under a key that follows from all that decides them: the item's content, the
rulebook, the network, the code. Another job with the same key finds them there and does only the rest.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

from downfield.core.errors import DownfieldError, OutputError
from downfield.core.records import record, to_json
from downfield.desk.archive import results
from downfield.desk.archive.archive_files import ArchiveFiles, StorageError
from downfield.desk.archive.cluster import RayCluster, TaskFailure
from downfield.desk.archive.game_source import open_source
from downfield.desk.archive.items import ArchivedItem
from downfield.desk.archive.judging import judge_item
from downfield.desk.archive.results import CALLS, CHANGES, GAMES, TABLES, GameResult, JudgedItem
from downfield.desk.archive.tracking import JobNetwork, open_shared_network, track_and_judge
from downfield.game.records.entries import RulebookRecord, rulebook_of
from downfield.store.sealing.signed_state import code_digest

_JUDGING: Final = ("core", "game", "officiating", "review", "desk.archive")
_TRACKING: Final = (*_JUDGING, "calibration", "models", "vision", "capture.sources", "capture.recording")
"""Packages whose code decides the results."""

_LIBRARIES: Final = ("av", "numpy", "opencv-python", "openvino")
"""Libraries that decide the last digits of what is tracked."""

_OTHER_VERSION: Final = "the worker has another version of Downfield, or of a library, than the command"
_TRACKS: Final = ".tracks.jsonl.gz"

_READ_AT_ONCE: Final = 200  # Files of results read together


@record
class JobSettings:
    """What decides the results of a job, beside the items."""

    task: Literal["judge", "track"]
    code: str  # SHA-256 of the code that does it
    rulebook: RulebookRecord | None = None  # games are judged under; None for each its own
    network: JobNetwork | None = None  # games are tracked by; None where they are only judged
    libraries: tuple[str, ...] = ()  # what they are tracked with, with versions

    @classmethod
    def of(cls, rulebook: RulebookRecord | None, network: JobNetwork | None = None) -> JobSettings:
        """Return the settings of judging by this version, or of tracking and judging where a network is given."""
        if network is None:
            return cls("judge", code_digest(_JUDGING), rulebook)
        libraries = tuple(f"{name} {version(name)}" for name in _LIBRARIES)
        return cls("track", code_digest(_TRACKING), rulebook, network, libraries)

    @property
    def folder(self) -> str:
        """Where the results are kept: under the SHA-256 of all of it, hexadecimal."""
        return f"results/{hashlib.sha256(to_json(JobSettings, self).encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class ArchiveTask:
    """One item to be done by a worker."""

    settings: JobSettings
    archive: ArchiveFiles  # where the item is
    kept: ArchiveFiles  # where its results go
    item: ArchivedItem


@dataclass(frozen=True, slots=True)
class JobReport:
    """What became of a job."""

    games: tuple[GameResult, ...]  # a row for each, in the order of the items
    before: int  # how many of them were finished when it began

    @property
    def failed(self) -> tuple[GameResult, ...]:
        """Those that could not be done."""
        return tuple(game for game in self.games if game.state == "failed")


@dataclass(frozen=True, slots=True)
class ArchiveJob:
    """A job."""

    settings: JobSettings
    archive: ArchiveFiles  # where the items are
    kept: ArchiveFiles  # where the results of each are kept
    items: tuple[ArchivedItem, ...]  # what it is done to, in order

    def finished(self) -> frozenset[str]:
        """Return the ids of the items whose results are there. Raises StorageError: they can't be read."""
        there = set(self.kept.names_in(self.settings.folder))
        return frozenset(item.id for item in self.items if f"{item.id}.{GAMES}.parquet" in there)

    def run(self, cluster: Callable[[], RayCluster], advance: Callable[[int, int], object], out: Path) -> JobReport:
        """Do what is not finished yet, and write the tables of all.

        Args:
            cluster: returns the cluster to do it on; only called where something is left to do.
            advance: called with how many games are finished, of how many.
            out: an existing folder for the tables.

        Raises:
            StorageError: the archive can't be used.
            OutputError: the tables can't be written.
        """
        before = self.finished()
        left = [item for item in self.items if item.id not in before]
        advance(len(before), len(self.items))
        failed: dict[str, GameResult] = {}
        if left:
            tasks = (ArchiveTask(self.settings, self.archive, self.kept, item) for item in left)
            with closing(cluster().run(do_task, tasks)) as outcomes:
                for done, (task, outcome) in enumerate(outcomes, start=len(before) + 1):
                    row = results.failed(task.item, outcome.reason) if isinstance(outcome, TaskFailure) else outcome
                    if row.state == "failed":
                        failed[task.item.id] = row
                    advance(done, len(self.items))
        return JobReport(self._write_tables(out, failed), len(before))

    def _write_tables(self, out: Path, failed: dict[str, GameResult]) -> tuple[GameResult, ...]:
        """Join the results of all games in their order, and return the rows of the games."""
        done = [item.id for item in self.items if item.id not in failed]
        games = {row.item: row for content in self._parts(GAMES, done) for row in results.game_rows(content)}
        rows = tuple(failed.get(item.id) or games[item.id] for item in self.items)
        try:
            if self.settings.network is not None:
                self._copy_tracks(out, [item for item in self.items if item.id not in failed])
            for table in (CALLS, CHANGES):
                part = out / f"{table}.parquet.part"
                results.join_tables(table, self._parts(table, done), part)
                part.replace(out / f"{table}.parquet")
            content = results.parquet_bytes(GAMES, [results.as_row(row) for row in rows])
            part = out / f"{GAMES}.parquet.part"
            part.write_bytes(content)
            part.replace(out / f"{GAMES}.parquet")
        except OSError as error:
            raise OutputError(f"{out}: the tables can't be written: {error.strerror}") from None
        return rows

    def _copy_tracks(self, out: Path, items: Sequence[ArchivedItem]) -> None:
        folder = out / "tracks"
        folder.mkdir(exist_ok=True)
        for item in items:
            with tempfile.TemporaryDirectory(dir=folder) as temporary:
                path = self.kept.fetch(f"{self.settings.folder}/{item.id}{_TRACKS}", Path(temporary))
                part = Path(temporary) / "part"
                shutil.copyfile(path, part)
                part.replace(folder / f"{item.short}{_TRACKS}")

    def _parts(self, table: str, ids: Sequence[str]) -> Iterator[bytes]:
        names = [f"{self.settings.folder}/{one}.{table}.parquet" for one in ids]
        for first in range(0, len(names), _READ_AT_ONCE):
            yield from self.kept.read_all(names[first : first + _READ_AT_ONCE]).values()


def do_task(task: ArchiveTask) -> GameResult:
    """Do one item in a worker, and keep its results; the last of its tables says that they are all there.

    Returns:
        Its row. One that can't be done has the reason in it, and is kept nowhere, so that it is tried again.

    Raises:
        StorageError: the archive can't be used; worth trying again.
    """
    with tempfile.TemporaryDirectory(prefix="downfield-archive-") as temporary:
        folder = Path(temporary)
        try:
            if task.settings != JobSettings.of(task.settings.rulebook, task.settings.network):
                return results.failed(task.item, _OTHER_VERSION)
            if task.settings.network is None:
                judged = judge_item(task.archive, task.item, task.settings.rulebook, folder)
            else:
                judged = _track(task, task.settings.network, folder)
        except StorageError:
            raise
        except DownfieldError as error:
            return results.failed(task.item, _without_places(str(error), task.item, folder))
        except Exception as error:
            reason = f"a fault in Downfield: {type(error).__name__}: {error}"
            return results.failed(task.item, _without_places(reason, task.item, folder))
    rows = {CALLS: judged.call_rows, CHANGES: judged.change_rows, GAMES: [results.as_row(judged.game_row)]}
    for table in TABLES:
        name = f"{task.settings.folder}/{task.item.id}.{table}.parquet"
        task.kept.write(name, results.parquet_bytes(table, rows[table]))
    return judged.game_row


def _track(task: ArchiveTask, network: JobNetwork, folder: Path) -> JudgedItem:
    """Track an item again, keep its tracks, and return what it comes to."""
    source = open_source(task.archive, task.item, folder)
    detector = open_shared_network(network, task.kept)
    book = None if task.settings.rulebook is None else rulebook_of(task.settings.rulebook)
    tracks, packed = folder / "new.tracks.jsonl", folder / "new.tracks.jsonl.gz"
    judged = track_and_judge(task.item, source, detector, book, tracks)
    with tracks.open("rb") as plain, packed.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as out:
        shutil.copyfileobj(plain, out)
    task.kept.upload(f"{task.settings.folder}/{task.item.id}{_TRACKS}", packed)
    return judged


def _without_places(reason: str, item: ArchivedItem, folder: Path) -> str:
    """Return a reason without where this worker keeps its files, so that it is the same on every machine."""
    without = reason.replace(f"{folder}/", "")
    return re.sub(rf"\S*files/{item.id}/", "", without)
