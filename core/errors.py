"""The exceptions that Downfield raises on purpose.

DownfieldError                 the user can fix it; its text says what was wrong, where, and what to do
+-- InputError                 the input can't be used: a bad option, an unknown name, an impossible value
|   +-- FormatError            a file's content breaks its format; carries the path, the line and the field
|   +-- FieldError             the description of a printed field is impossible
|   +-- ScriptError            a scripted play is impossible: an unknown figure, bases that overlap
|   +-- RulebookError          a rulebook or house rule names or sets something that does not exist
+-- OutputError                the output can't be written
|   +-- ForeignEntriesError    another process writes a game (store/writing/store.py)
+-- RefusedError               the state of the game does not allow an event; the state is unchanged
|   +-- QuestionError          a change of an event does more than it seems to (desk/event/changes.py)
|   +-- ChangedMeanwhileError  somebody else has changed the same since it was shown (desk/event/changes.py)
+-- CalibrationError           no trustworthy calibration can be made from a picture
|   +-- AimError               the camera has to be moved or set otherwise: the field is cut, or mirrored
|   +-- AmbiguousField         the picture can be read in several ways; carries them (calibration/field/solution.py)
+-- SourceError                a camera or a stream can't be opened, or has stopped
|   +-- PictureFaultError      what it sends can't be gone on with: frozen, resized (capture/source.py)
+-- NotFoundError              nothing has the requested id
+-- BusyError                  too many requests at once; try again soon
+-- NotRecordedError           no picture of an instant was kept
+-- MissingExtraError          an optional part is not installed; names the extra to install
"""

from __future__ import annotations

import re
from typing import Final, Literal

Remedy = Literal["measure", "place_corners", "choose_reading", "another_picture"]
"""The one thing to do about a refused picture: measure the board, place corners by hand, choose among ways to read it,
or take another picture."""


_LONG_WORD: Final = re.compile(r"(\S{200})\S{200,}(\S{40})")
_LONGEST: Final = 20_000


class DownfieldError(Exception):
    """Root of the exceptions raised on purpose. The command prints one as a single line and exits with status 2.

    What it quotes of a file or a request may be of any length: of a long word the middle is left out.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(_LONG_WORD.sub(r"\1...\2", text)[:_LONGEST])


class InputError(DownfieldError, ValueError):
    """The input can't be used. Also a ValueError, so that pydantic adds the file, line and field to it."""


class FormatError(InputError):
    """The content of a file breaks its format.

    Args:
        line: 1-based line number, where the format has lines.
        field: dotted path of the offending field, such as ``figures.3.heading_deg``.
    """

    def __init__(self, path: str, problem: str, *, line: int | None = None, field: str | None = None) -> None:
        place = path if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {field}: {problem}" if field else f"{place}: {problem}")
        self.path = path
        self.problem = problem
        self.line = line
        self.field = field


class FieldError(InputError):
    """The description of a printed field is impossible."""


class ScriptError(InputError):
    """A scripted play is impossible."""


class RulebookError(InputError):
    """A rulebook or a house rule names or sets something that does not exist."""


class OutputError(DownfieldError):
    """The output can't be written."""


class RefusedError(DownfieldError):
    """The state of the game does not allow an event. The state is unchanged."""

    code = "not_now"  # why, for programs


class CalibrationError(DownfieldError):
    """No trustworthy calibration can be made from a picture: the problem is for people, the remedy for programs."""

    def __init__(self, problem: str, remedy: Remedy = "another_picture") -> None:
        super().__init__(problem)
        self.remedy: Remedy = remedy


class AimError(CalibrationError):
    """The field is found, but the camera has to be moved or set otherwise: the field is cut, or mirrored."""


class SourceError(DownfieldError):
    """A camera or a stream can't be opened, or has stopped. Retrying may help."""


class NotFoundError(DownfieldError):
    """Nothing has the requested id."""


class BusyError(DownfieldError):
    """Too many requests at once; try again soon."""


class NotRecordedError(DownfieldError):
    """No picture of an instant was kept: nothing was recorded then, or the recording was deleted."""


class MissingExtraError(DownfieldError):
    """An optional part of Downfield is needed but not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        from downfield.core.installation import this_installation  # costs every start 50 ms otherwise

        # What needs which extra, without the command that only this computer's owner can use
        self.lacking = f"{purpose[0].upper()}{purpose[1:]} needs the extra '{extra}'"
        super().__init__(f"{self.lacking}. Install it with: {this_installation().command_adding(extra)}")
