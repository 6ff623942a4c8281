"""Watches every table of a hall at once, a thread for each, and says what each is doing now."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from downfield.core.errors import DownfieldError
from downfield.core.supervision import supervised_thread
from downfield.desk.tables.address_book import TableEntry
from downfield.desk.tables.rig_client import RigRefusedError, follow
from downfield.desk.tables.status import TableStatus, status_of

Follow = Callable[[TableEntry], Iterator[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class WatcherLimits:
    """How a lost table is tried again."""

    retry_s: float = 1.0
    """Pause before the first new try."""

    longest_retry_s: float = 10.0
    """Longest pause; it doubles from try to try."""


_LIMITS: Final = WatcherLimits()


@dataclass(slots=True)
class _Watched:
    """A table under watch, and what is known of it."""

    entry: TableEntry
    ended: threading.Event = field(default_factory=threading.Event)
    values: dict[str, Any] = field(default_factory=dict)
    heard_ns: int | None = None
    problem: str = ""
    refused: bool = False


class TableWatcher:
    """Watches tables until it is closed. Callable from any thread.

    Args:
        follow_table: yields what changes at a table.
        now_ns: the monotonic clock.

    """

    def __init__(self, follow_table: Follow = follow, now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._follow, self._now_ns = follow_table, now_ns
        self._lock = threading.Lock()
        self._tables: dict[str, _Watched] = {}

    def watch(self, entry: TableEntry) -> None:
        """Begin to watch a table; one that is watched already is watched anew."""
        self.forget(entry.id)
        watched = _Watched(entry)
        with self._lock:
            self._tables[entry.id] = watched
        supervised_thread(
            lambda: self._run(watched),
            f"table {entry.name}",
            lambda cause: _note_failure(watched, cause),
            restarts=True,
            closed=watched.ended.is_set,
        ).start()

    def forget(self, identity: str) -> None:
        """Stop watching a table."""
        with self._lock:
            watched = self._tables.pop(identity, None)
        if watched is not None:
            watched.ended.set()

    def close(self) -> None:
        """Stop watching all of them."""
        for identity in list(self._tables):
            self.forget(identity)

    def statuses(self) -> list[TableStatus]:
        """Return what each table is doing now, those that need somebody first."""
        now_ns = self._now_ns()
        with self._lock:
            tables = list(self._tables.values())
        found = [
            status_of(
                watched.entry,
                dict(watched.values),
                None if watched.heard_ns is None else (now_ns - watched.heard_ns) / 1e9,
                watched.problem,
                refused=watched.refused,
            )
            for watched in tables
        ]
        return sorted(found, key=lambda status: status.order)

    def _run(self, watched: _Watched) -> None:
        pause_s = _LIMITS.retry_s
        while not watched.ended.is_set():
            try:
                for values in self._follow(watched.entry):
                    if watched.ended.is_set():
                        return
                    watched.values |= values
                    watched.heard_ns = self._now_ns()
                    watched.problem, watched.refused, pause_s = "", False, _LIMITS.retry_s
            except RigRefusedError as error:
                watched.problem, watched.refused = str(error), True
            except DownfieldError as error:
                watched.problem = str(error)
            watched.ended.wait(pause_s)
            pause_s = min(2 * pause_s, _LIMITS.longest_retry_s)


def _note_failure(watched: _Watched, cause: str) -> None:
    watched.problem = f"Downfield made an error ({cause})"
