"""A progress bar for long work on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Tell = Callable[[int, int], None]
"""Called with the amount done, and the total."""


@contextmanager
def progress_bar(description: str) -> Iterator[Tell]:
    """Show a bar on standard error from the first report on; nothing when that is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars = Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    bar = bars.add_task(description, total=None)

    def tell(done: int, of: int) -> None:
        # The bar starts a thread, which must not exist yet when worker processes are forked.
        bars.start()
        bars.update(bar, completed=done, total=of)

    try:
        yield tell
    finally:
        bars.stop()
