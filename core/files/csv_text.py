"""Comma-separated values that spreadsheets open as they are meant: RFC 4180, UTF-8, and no text taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_LINES_AT_ONCE: Final = 2000
# How texts begin that spreadsheets calculate, wide signs as well (OWASP, CSV Injection)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_chunks(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """Yield a table as CSV, some lines at a time.

    A text that a spreadsheet would calculate is written with an apostrophe before it. None is empty, and truth is
    ``true`` or ``false``.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_cell(name) for name in head])  # a team's name may be one
    for number, row in enumerate(rows, start=1):
        writer.writerow([_cell(value) for value in row])
        if number % _LINES_AT_ONCE == 0:
            yield _taken(out)
    yield _taken(out)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a small table as CSV for people, with the mark without which Excel breaks umlauts; see `csv_chunks`."""
    return "\ufeff" + b"".join(csv_chunks(head, rows)).decode()


def as_typed(cell: str) -> str:
    """Return a text without the apostrophe that keeps a spreadsheet from calculating it."""
    return cell[1:] if cell.startswith("'") and _is_marked(cell) else cell


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and _is_marked(value) else value


def _is_marked(text: str) -> bool:
    """Return whether a text gets one more apostrophe: it would be calculated, or its own would be taken for ours."""
    return text.lstrip("'").startswith(_FORMULA)


def _taken(out: io.StringIO) -> bytes:
    content = out.getvalue().encode()
    out.seek(0)
    out.truncate()
    return content
