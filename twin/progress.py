"""A progress bar for long work, where somebody is there to see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Tell = Callable[[int, int], None]
"""To be told how much is done, of how much."""


@contextmanager
def progress_bar(description: str) -> Iterator[Tell]:
    """A bar on standard error while the work goes on; nothing at all when that is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    seen = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not seen) as bars:
        bar = bars.add_task(description, total=None)
        yield lambda done, of: bars.update(bar, completed=done, total=of)
