"""Comma-separated values that spreadsheets open as they are meant: RFC 4180, UTF-8, and no text taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_LINES_AT_ONCE: Final = 2000
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that spreadsheets calculate (OWASP, CSV Injection)."""


def csv_chunks(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """Yield a table as CSV, some lines at a time.

    A text that a spreadsheet would calculate is written with an apostrophe before it. None is empty, and truth is
    ``true`` or ``false``.

    Args:
        head: the names of the columns.
        rows: the cells.

    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(head)
    for number, row in enumerate(rows, start=1):
        writer.writerow([_cell(value) for value in row])
        if number % _LINES_AT_ONCE == 0:
            yield _taken(out)
    yield _taken(out)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _taken(out: io.StringIO) -> bytes:
    content = out.getvalue().encode()
    out.seek(0)
    out.truncate()
    return content
