"""Progress of long commands on standard error: a bar with the time left on a terminal, else a line for each step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from downfield.calibration.field.progress import ProgressListener
from downfield.cli.console.output import SHARED, open_console
from downfield.core.texts import plain_text

T = TypeVar("T")


_LINE_EVERY_S: Final = 30.0  # A longer step says so again after this time: often enough to know that it is alive


class Advance(Protocol):
    """Reports how far a step is."""

    def __call__(self, done: int, total: int | None = None, text: str = "") -> None:
        """Report progress; the total None while it is not known, the text empty for no change."""


@contextmanager
def progress_bar(
    description: str, *, console: Console | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Advance]:
    """Show the progress of a step on standard error, with what it does, such as ``"Tracking game.mp4"``."""
    description = plain_text(description)
    out = console or open_console(stderr=True)
    if SHARED.quiet:
        yield lambda *_, **__: None
    elif out.is_terminal:
        with _bar(out, description) as advance:
            yield advance
    else:
        yield _PlainLines(out, description, clock)


@contextmanager
def _bar(console: Console, description: str) -> Iterator[Advance]:
    amount = MofNCompleteColumn()
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    bars = Progress(*columns, amount, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True)
    bar = bars.add_task(description, total=None)

    def advance(done: int, total: int | None = None, text: str = "") -> None:
        # The bar starts a thread, which must not exist yet when worker processes are forked.
        bars.start()
        bars.update(
            bar, completed=done, total=total, description=f"{description}: {plain_text(text)}" if text else None
        )

    try:
        yield advance
    finally:
        bars.stop()


class _PlainLines:
    """Prints a line when the step begins, for every new text, and now and then how far a long step is."""

    def __init__(self, console: Console, description: str, clock: Callable[[], float]) -> None:
        self._console, self._description, self._clock = console, description, clock
        self._began_s = self._printed_s = clock()
        self._text = ""
        self._print(f"{description}...")

    def __call__(self, done: int, total: int | None = None, text: str = "") -> None:
        now_s = self._clock()
        if text and text != self._text:
            self._text = text
            self._print(f"{self._description}: {text}")
        elif now_s - self._printed_s >= _LINE_EVERY_S:
            self._print(f"{self._description}: {self._amount(done, total, now_s)}")

    def _amount(self, done: int, total: int | None, now_s: float) -> str:
        spent_s = now_s - self._began_s
        if not total or not done:
            return f"{done} done, {duration_text(spent_s)} so far"
        left_s = spent_s * max(total - done, 0) / done
        return f"{done} of {total}, about {duration_text(left_s)} left"

    def _print(self, line: str) -> None:
        self._printed_s = self._clock()
        self._console.print(line)


def show_solving(advance: Advance) -> ProgressListener:
    """Return a listener that shows, as percent, how far solving a field has come."""
    return lambda report: advance(round(100 * report.fraction), 100, report.stage)


def duration_text(seconds: float) -> str:
    """Return a duration for people, such as ``"1 min 20 s"``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def with_progress(
    items: Iterable[T], description: str, total: int | None = None, text: Callable[[], str] = str
) -> Iterator[T]:
    """Yield items, showing how many of them were taken.

    Args:
        total: number of items; None if it is not known.
        text: returns what there is to say now; empty for no change.
    """
    with progress_bar(description) as advance:
        for done, item in enumerate(items):
            advance(done, total, text())
            yield item
