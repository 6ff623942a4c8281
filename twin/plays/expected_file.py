"""Expected files, ``*.expected.json``: the calls that each rulebook must and must not make in a play."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from downfield.core.records import read_record, record, to_json, write_text
from downfield.officiating.calls import CallKind
from downfield.twin.plays.recording import ExpectedCall, PlayRecording, RulebookName


@record
class Expected:
    """Expected calls of a clip.

    Attributes:
        play: summary of the clip.
        calls: by rulebook, the calls that must be made; others may be made too unless they are absent.
        absent: by rulebook, the kinds of calls that must not be made.
        refused: by rulebook, the types of declarations that it does not allow here.

    """

    play: str
    calls: Mapping[RulebookName, tuple[ExpectedCall, ...]] = dataclasses.field(default_factory=dict)
    absent: Mapping[RulebookName, tuple[CallKind, ...]] = dataclasses.field(default_factory=dict)
    refused: Mapping[RulebookName, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    format: Literal["downfield.expected"] = "downfield.expected"
    version: Literal[1] = 1


def expected_of(recording: PlayRecording) -> Expected:
    """Return the expected calls of a recording."""
    return Expected(recording.script.name, recording.expected, recording.absent, recording.refused)


def read_expected(path: Path) -> Expected:
    """Read an expected file.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the field.

    """
    return read_record(Expected, path)


def write_expected(path: Path, expected: Expected) -> None:
    """Write an expected file, completely or not at all.

    Raises:
        OutputError: the place can't be written.

    """
    write_text(path, [to_json(Expected, expected), "\n"])
