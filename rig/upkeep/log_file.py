"""The log of a rig: a private file that is rotated by size and can never hold up or end a game; and who writes it.

`RotatingFileHandler` rotates. Ours are the thread, so that a disk that hangs does not hang the loop, and reading the
last lines back across the rotated files.
"""

from __future__ import annotations

import logging
import logging.handlers
import os
import queue
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Final, Literal

from downfield.capture.source import LoopObserver, NoticeLevel
from downfield.core.errors import InputError
from downfield.core.files.private_files import OWNER_ONLY, make_private_folder
from downfield.core.scene import Scene
from downfield.core.texts import plain_text
from downfield.officiating.calls import Call
from downfield.officiating.events import Event

LogLevel = Literal["debug", "info", "warning", "error"]

LOG_FILE_NAME: Final = "downfield.log"

_LOGGERS: Final = ("downfield", "uvicorn.error")

_FILES: Final = 5  # The log is kept in this many files; the oldest is dropped when the newest is full
_WAITING: Final = 2000  # Lines that may wait for a slow disk; further ones are dropped, as the game goes first


class _LineFormatter(logging.Formatter):
    """One line per record, whatever its text holds: ``2026-09-05T14:03:07.120+02:00 INFO rig: text``."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
        text = record.getMessage()
        if record.exc_info:
            text = f"{text} | {self.formatException(record.exc_info)}"
        name = record.name.removeprefix("downfield.")
        return f"{at} {record.levelname} {name}: {plain_text(text)}"


class _PrivateRotatingFile(logging.handlers.RotatingFileHandler):
    """A rotated file for its owner only. A full or failing disk loses lines, nothing else."""

    def _open(self) -> TextIOWrapper:
        # A pipe with nobody at its other end would hold up the start for ever.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(self.baseFilename, flags, OWNER_ONLY)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is logging's)
        """Drop the line; there is nowhere to say so but the screen, which the game uses."""


class _DroppingQueueHandler(logging.handlers.QueueHandler):
    """Passes lines on to the writing thread, and drops them while it is far behind."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is logging's)
        """Drop the line."""


@contextmanager
def log_file(folder: Path, level: LogLevel, keep_mb: float) -> Iterator[None]:
    """Log to a file while the block runs, by a thread of its own; all files together take `keep_mb`.

    A folder that can't be made or written loses the log, not the game: one line on standard error says so.
    """
    file = _opened(folder, keep_mb)
    if file is None:
        yield
        return
    file.setFormatter(_LineFormatter())
    lines: queue.Queue[logging.LogRecord] = queue.Queue(_WAITING)
    handler = _DroppingQueueHandler(lines)
    listener = logging.handlers.QueueListener(lines, file)
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level.upper())
        logger.propagate = False
    listener.start()
    try:
        yield
    finally:
        for logger, (old_level, old_propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(old_level)
            logger.propagate = old_propagate
        listener.stop()
        with suppress(OSError):  # a full disk is noticed again when the last line is flushed
            file.close()


def _opened(folder: Path, keep_mb: float) -> _PrivateRotatingFile | None:
    """Open the log; None, with a line on standard error, where it can't be."""
    try:
        make_private_folder(folder)
        size = max(1, round(keep_mb * 1e6 / _FILES))
        return _PrivateRotatingFile(
            folder / LOG_FILE_NAME, maxBytes=size, backupCount=_FILES - 1, encoding="utf-8", delay=False
        )
    except OSError as error:
        with suppress(OSError, ValueError):  # the terminal may be gone as well
            sys.stderr.write(f"downfield: {folder}: no log is written ({error.strerror}). The game goes on.\n")
        return None


def last_lines(folder: Path, count: int, least: LogLevel = "debug") -> list[str]:
    """Return the last lines of a log, the oldest first, over all its files. Raises InputError: it can't be read."""
    names = [f"{LOG_FILE_NAME}.{number}" for number in range(_FILES - 1, 0, -1)] + [LOG_FILE_NAME]
    files = [folder / name for name in names if (folder / name).is_file()]
    if not files:
        raise InputError(f"{folder}: no log there yet. `downfield run` writes one when it referees a table.")
    lines: deque[str] = deque(maxlen=count)
    for path in files:
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                lines.extend(line.rstrip("\n") for line in file if reaches(line, least))
        except OSError as error:
            raise InputError(f"{path}: can't be read ({error.strerror})") from None
    return list(lines)


def reaches(line: str, least: LogLevel) -> bool:
    """Return whether a line of the log is of a level or a higher one."""
    words = line.split(" ", 2)
    levels = logging.getLevelNamesMapping()
    return len(words) < 3 or levels.get(words[1], logging.CRITICAL) >= levels[least.upper()]


_log = logging.getLogger(__name__)

_LEVELS: Final[dict[NoticeLevel, int]] = {"info": logging.INFO, "warning": logging.WARNING, "alarm": logging.ERROR}


class LogObserver(LoopObserver):
    """Logs calls, refused declarations and notices."""

    def entry_judged(self, _: Scene | Event, calls: tuple[Call, ...], /) -> None:
        """Log every call that was made or changed."""
        for call in calls:
            _log.info("%s: %s; %s [%s]", call.verdict, call.text, call.words, ", ".join(call.clauses))

    def event_refused(self, _: Event, reason: str, /) -> None:
        """Log a recorded declaration that the game refused."""
        _log.warning("refused: %s", reason)

    def notice_given(self, level: NoticeLevel, text: str, /) -> None:
        """Log a notice."""
        _log.log(_LEVELS[level], "%s", text)
