"""The folder of a trainer: where everything lies in it, who holds it, and how it stays within its bound.

    lock                             held by the keeper that works on it
    crops/  patches/                 traced samples, one file for each table and network, the oldest deleted
    validation/traced/  drawn/       pictures of tables of another split, never trained on
    detector.pt  refiner.pt          what training continues from
    best/                            slim checkpoints of the best row of the table so far; at first those begun from
    history.jsonl                    one line for each validation
    spent/                           processor seconds of each worker, and what it did last

Every file is replaced whole, so a kill at any moment costs what was done since the last save and nothing else.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from downfield.core.errors import InputError, OutputError
from downfield.core.files.private_files import replace_private_file
from downfield.core.platform.file_locks import FILE_LOCKS
from downfield.training.data.sample_files import PART, sample_files
from downfield.training.keep.rows import SETS

_NEWEST: Final = 4  # tables that are kept whatever the bound: training needs some

_STALE_S: Final = 900.0  # age of an unfinished file from which whoever wrote it is gone


class TrainerFolder:
    """One trainer's folder.

    Args:
        path: the folder; made by `hold`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.crops, self.patches = path / "crops", path / "patches"
        self.validation, self.best = {each: path / "validation" / each for each in SETS}, path / "best"
        self.history, self.spent = path / "history.jsonl", path / "spent"
        self._lock = path / "lock"

    def hold(self) -> int:
        """Take the folder; return the descriptor of its lock, which lasts until it is closed or the process ends.

        Raises:
            InputError: another trainer works on it.
            OutputError: it can't be written.
        """
        try:
            for each in (self.crops, self.patches, self.best, self.spent):
                each.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise OutputError(f"{self.path}: can't be written: {error.strerror}") from None
        if not FILE_LOCKS.lock(descriptor):
            os.close(descriptor)
            raise InputError(f"{self.path}: a trainer works on this folder already. Stop it, or give another folder.")
        return descriptor

    @property
    def is_held(self) -> bool:
        """Whether a trainer works on it now."""
        try:
            descriptor = os.open(self._lock, os.O_RDWR)
        except OSError:
            return False
        try:
            return not FILE_LOCKS.lock(descriptor)
        finally:
            os.close(descriptor)

    @property
    def validation_pictures(self) -> int:
        """Number of finished pictures of each kind to measure on."""
        return min(sum(1 for _ in (path / "truth" / "val").glob("*.jsonl")) for path in self.validation.values())

    def next_table(self) -> int:
        """Return the number of the first table that is still to be traced."""
        return max((int(Path(name).stem) + 1 for name in self._tables()), default=0)

    def _tables(self) -> list[str]:
        """Return the names of the traced tables' files, the oldest first."""
        return sorted({file.name for where in (self.crops, self.patches) for file in sample_files(where)})

    def shrink(self, most_bytes: float) -> None:
        """Delete the oldest traced files until the whole folder takes no more than `most_bytes`."""
        kept, now = 0, time.time()
        for each in self.path.rglob("*"):
            with suppress(OSError):  # replaced or deleted meanwhile
                info = each.stat()
                if each.suffix == PART and now - info.st_mtime > _STALE_S:
                    each.unlink()
                    continue
                kept += info.st_size
        for name in self._tables()[:-_NEWEST]:
            if kept <= most_bytes:
                return
            for each in (self.crops / name, self.patches / name):
                with suppress(OSError):
                    kept -= each.stat().st_size
                    each.unlink()

    def add_row(self, row: Mapping[str, Any]) -> None:
        """Add a row to the history."""
        with self.history.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def rows(self) -> list[dict[str, Any]]:
        """Return the history; a line that a kill has cut off is left out."""
        out = []
        with suppress(FileNotFoundError):
            for line in self.history.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    out.append(dict(json.loads(line)))
        return out

    def account(self, worker: str) -> Account:
        """Return the account of a worker."""
        return Account(self.spent / f"{worker}.json")

    def core_hours(self) -> float:
        """Return the processor time of all workers so far."""
        return sum(Account(path).seconds for path in self.spent.glob("*.json")) / 3600


class Account:
    """Processor seconds of one worker over all its runs, and what it last did; written by that worker alone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.contents: dict[str, Any] = {}
        with suppress(OSError, ValueError):
            self.contents = dict(json.loads(path.read_text(encoding="utf-8")))
        self._before = float(self.contents.get("seconds", 0.0))

    @property
    def seconds(self) -> float:
        """Processor seconds as last saved."""
        return float(self.contents.get("seconds", 0.0))

    def save(self, **contents: Any) -> None:
        """Write the processor time of this process, added to that of earlier ones, and further numbers."""
        self.contents |= {"seconds": round(self._before + time.process_time(), 1), "at": time.time(), **contents}
        replace_private_file(self._path, json.dumps(self.contents).encode())
