"""Every error Downfield raises on purpose.

DownfieldError                 something a user can mend; its text says what was wrong, where, and what to do
+-- InputError                 what was given can't be used: a bad option, an unknown name, an impossible value
|   +-- FormatError            a file's content breaks its format; carries the path, the line and the field
|   +-- FieldError             a printed field is described impossibly
|   +-- ScriptError            a scripted play asks the impossible: an unknown figure, bases that overlap
|   +-- RulebookError          a rulebook or house rule names or sets something that does not exist
+-- OutputError                what was asked for can't be written
+-- RefusedError               an event the state of the game does not allow; the state is untouched
+-- CalibrationError           a picture can't be turned into a trustworthy calibration
+-- SourceError                a camera or a stream can't be opened, or has stopped
+-- NotFoundError              nothing has the id that was asked for
+-- BusyError                  too many ask at once; trying again soon helps
+-- NotRecordedError           no picture of an instant is kept, or no longer
+-- MissingExtraError          an optional part is not installed; names the extra
"""

from __future__ import annotations


class DownfieldError(Exception):
    """Root of everything Downfield raises on purpose. The command prints it as one line and exits with status 2."""


class InputError(DownfieldError, ValueError):
    """What was given can't be used. A ValueError too, so that a reader can add the file, line and field to it."""


class FormatError(InputError):
    """A file's content breaks its format.

    Args:
        path: the file, as the user named it.
        problem: what is wrong, in words.
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
    """A printed field is described impossibly."""


class ScriptError(InputError):
    """A scripted play asks for the impossible."""


class RulebookError(InputError):
    """A rulebook or a house rule names or sets something that does not exist."""


class OutputError(DownfieldError):
    """What was asked for can't be written."""


class RefusedError(DownfieldError):
    """An event that the state of the game does not allow. The state is as it was."""


class CalibrationError(DownfieldError):
    """A picture can't be turned into a calibration that may be trusted."""


class SourceError(DownfieldError):
    """A camera or a stream can't be opened, or has stopped. Trying again later may help."""


class NotFoundError(DownfieldError):
    """Nothing has the id that was asked for."""


class BusyError(DownfieldError):
    """Too many requests at once; try again soon."""


class NotRecordedError(DownfieldError):
    """No picture of an instant is kept: nothing was recorded then, or the recording is gone."""


class MissingExtraError(DownfieldError):
    """An optional part of Downfield is needed and not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the extra '{extra}': pip install 'downfield[{extra}]'")
        self.extra = extra
