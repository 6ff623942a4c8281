"""Call files, ``*.calls.jsonl``: a header line, then one line per call, in the order they were made."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from downfield.calibration.errors import FormatError
from downfield.calibration.records import from_json, read_lines, record, to_json, write_text
from downfield.officiating.calls import Call


@record
class SetAside:
    """An event that the state of the game did not allow.

    Attributes:
        event: its id.
        reason: why.

    """

    event: str
    reason: str


@record
class CallsHeader:
    """First line of a call file.

    Attributes:
        rulebook: its name.
        source: the tracks judged.
        final: the game at the end, on one line.
        score: home, away at the end.
        refused: events that were refused.

    """

    rulebook: str
    source: str = ""
    final: str = ""
    score: tuple[int, int] = (0, 0)
    refused: tuple[SetAside, ...] = ()
    format: Literal["downfield.calls"] = "downfield.calls"
    version: Literal[1] = 1


def read_calls(path: Path) -> tuple[CallsHeader, tuple[Call, ...]]:
    """Read a call file.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the line and the field.

    """
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        raise FormatError(str(path), "empty: a call file begins with a header line")
    header = from_json(CallsHeader, first[1], path=str(path), line=first[0])
    return header, tuple(from_json(Call, text, path=str(path), line=number) for number, text in lines)


def write_calls(path: Path, header: CallsHeader, calls: Iterable[Call]) -> None:
    """Write a call file, whole or not at all.

    Raises:
        OutputError: the place can't be written.

    """
    first = to_json(CallsHeader, header)
    write_text(path, (line + "\n" for line in itertools.chain([first], (to_json(Call, call) for call in calls))))
