"""Call files, ``*.calls.jsonl``: a header line, then one line per call, in the order they were made."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from downfield.core.json_lines import JsonLinesFile, write_json_lines
from downfield.core.records import record
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
    lines = JsonLinesFile(path, CallsHeader, Call)
    return lines.header, tuple(lines)


def write_calls(path: Path, header: CallsHeader, calls: Iterable[Call]) -> None:
    """Write a call file, whole or not at all.

    Raises:
        OutputError: the place can't be written.

    """
    write_json_lines(path, (CallsHeader, header), Call, calls)
