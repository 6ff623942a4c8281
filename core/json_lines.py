"""JSON Lines files of records: a header line, then one record a line."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from downfield.core.errors import FormatError
from downfield.core.files.input_files import read_lines
from downfield.core.records import check_format, from_json, to_json, write_text

H = TypeVar("H")
L = TypeVar("L")
R = TypeVar("R")


class JsonLinesFile(Generic[H, L]):
    """A file being read: its header at once, its lines when iterated over, any number of times.

    Args:
        check: called with ``(header, previous line or None, line)``; raises a `ValueError` when a line is invalid
            after those, with a text that begins with the offending field and a colon.

    Attributes:
        torn_line: number of the last line, if its end was never written; it is left out. Known once it was met.

    Raises:
        InputError: the file can't be read.
        FormatError: its content breaks the format; names the line and the field.
    """

    def __init__(
        self, path: Path | str, header: type[H], line: type[L], check: Callable[[H, L | None, L], None] | None = None
    ) -> None:
        path = self._path = Path(path)
        self._line, self._check = line, check
        self.torn_line: int | None = None
        first = next(read_lines(path), None)
        if first is None:
            raise FormatError(str(path), "the file is empty; it must begin with a header line")
        check_format(header, first[1], path=str(path), line=first[0])
        self.header: H = self._read(header, *first)

    def __iter__(self) -> Iterator[L]:
        """Yield the lines after the header, in order."""
        before: L | None = None
        for number, text in itertools.islice(read_lines(self._path), 1, None):
            if not text.endswith("\n") and _is_torn(text):
                self.torn_line = number
                return
            line = self._read(self._line, number, text)
            if self._check is not None:
                try:
                    self._check(self.header, before, line)
                except ValueError as error:
                    field, _, problem = str(error).partition(": ")
                    raise FormatError(str(self._path), problem, line=number, field=field) from None
            before = line
            yield line

    def _read(self, kind: type[R], number: int, text: str) -> R:
        return from_json(kind, text, path=str(self._path), line=number)


def write_json_lines(
    path: Path, header: tuple[type[H], H], line: type[L], lines: Iterable[L], *, defaults: bool = True
) -> None:
    """Write a file, whole or not at all.

    Args:
        header: type and value of the first line.
        defaults: whether to write fields that have their default value.

    Raises:
        OutputError: the file can't be written.
    """
    texts = itertools.chain([to_json(*header)], (to_json(line, value, defaults=defaults) for value in lines))
    write_text(path, (text + "\n" for text in texts))


def _is_torn(text: str) -> bool:
    """Return whether a last line was cut off by a crash or a full disk; one that only lacks its line break is whole."""
    try:
        json.loads(text)
    except RecursionError:
        return False
    except ValueError:
        return True
    return False


class HasTime(Protocol):
    """A line with a time."""

    @property
    def t_ns(self) -> int:
        """Capture time."""


def check_time_rises(before: HasTime | None, now: HasTime) -> None:
    """Check that time rises from one line to the next. Raises ValueError: it does not."""
    if before is not None and now.t_ns <= before.t_ns:
        raise ValueError(f"t_ns: time does not rise: {now.t_ns} ns after {before.t_ns} ns")
