"""What takes long to make is made once in a run: by the process of tests that needs it first; the others read it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from waiting import let_run

from downfield.core.platform.file_locks import FILE_LOCKS

VARIABLE: Final = "MADE_ONCE_A_RUN"
"""Environment variable: the folder that the processes of one run share; `conftest` makes and removes it."""

KEPT: Final[list[Callable[[], None]]] = []
"""Clear caches of what is on disk as well; called after each file of tests."""

Made = TypeVar("Made")


def once_a_run(name: str, make: Callable[[], Made]) -> Made:
    """Return what ``make`` returns, as pickle keeps it; another process that makes it meanwhile is waited for.

    Args:
        name: of what is made, alike in all processes; the name of a file.
        make: always makes the same.
    """
    folder = os.environ.get(VARIABLE)
    if folder is None:  # a benchmark, not a test
        return make()
    path = Path(folder) / name
    with path.with_name(f"{name}.lock").open("wb") as lock:
        while not FILE_LOCKS.lock(lock.fileno()):  # however long it takes: the lock ends with the process
            let_run(0.02)
        if path.exists():
            made: Made = pickle.loads(path.read_bytes())
            return made
        made = make()
        part = path.with_name(f"{name}.part")
        part.write_bytes(pickle.dumps(made))
        part.replace(path)  # whole, or not there for the next one
        return made
