"""What the commands print: as text that no terminal interprets, and never at the cost of what they do.

Everything that a command prints goes through here. Names that people and files chose are printed as they are: square
brackets are no markup, and control characters are written out (`core/texts.py`). Characters that the
terminal's encoding lacks are written out as well. When the output is lost, because a pipe or a terminal was closed or a
disk is full, a command that only prints ends, and a rig plays on without it.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final, TextIO, cast

from pydantic_core import to_json
from rich.console import Console
from rich.text import Text

from downfield.core.errors import OutputError
from downfield.core.texts import plain_text

PIPE_CLOSED: Final = 141
"""Exit status of a command whose reader has gone, as shells report one that SIGPIPE ended (128 + 13)."""


_AT_ONCE: Final = 512
"""Letters, at most 4 bytes each, that a pipe takes at once when it can be written (PIPE_BUF, pipe(7))."""

_PATIENCE_S: Final = 1.0


@dataclass
class SharedOptions:
    """What every command can be told; `cli/main.py` sets it."""

    quiet: bool = False  # whether notes and progress are left out; errors and results are printed all the same
    verbose: bool = False  # whether it is also told what the program does, and where an error came from
    overwrite: bool = True  # whether files that exist may be replaced by results of their kind


SHARED: Final = SharedOptions()


def check_writable(path: Path) -> None:
    """Refuse an output, a file or a folder, that its folder, or the one that would have to be made, does not allow."""
    folder = path if path.is_dir() else path.absolute().parent
    while not folder.exists() and folder != folder.parent:
        if folder.is_symlink():
            raise OutputError(f"{path}: can't be written: {folder} is a link that leads nowhere. Choose another name.")
        folder = folder.parent
    if not folder.is_dir():
        raise OutputError(f"{path}: can't be written: {folder} is a file, not a folder. Choose another name.")
    try:
        tempfile.TemporaryFile(dir=folder).close()  # permissions alone don't tell, least of all to root
    except OSError:
        raise OutputError(f"{path}: can't be written: you may not write in {folder}. Choose another folder.") from None


def print_stdout(*lines: str) -> None:
    """Print lines on standard output. Raises OutputError: it can't be written; SystemExit: its reader has gone."""
    stream = GuardedStream(sys.stdout, required=True)
    stream.write("".join(f"{plain_text(line)}\n" for line in lines))
    stream.flush()


def print_result(as_json: bool, lines: Iterable[str], **facts: object) -> None:
    """Print a result on standard output: its lines for people, or its facts as one JSON object with the lines in it."""
    text = list(lines)
    print_stdout(*([json_text({**facts, "text": text})] if as_json else text))


def json_text(value: object) -> str:
    """Return a value of records, lists and plain values as JSON."""
    return to_json(value).decode()


def print_stderr(*lines: str) -> None:
    """Print notes on standard error, unless they are to be left out."""
    if not SHARED.quiet:
        print_error(*lines)


def print_error(*lines: str) -> None:
    """Print lines on standard error. Without it they are lost, and nothing else."""
    stream = GuardedStream(sys.stderr, required=False)
    stream.write("".join(f"{plain_text(line)}\n" for line in lines))
    stream.flush()


def styled(text: str, style: str = "") -> Text:
    """Return a text in a style, such as ``"bold red"``, for a console: the only way to style what people wrote."""
    return Text(plain_text(text), style=style)


def open_console(*, stderr: bool = False, required: bool = True, wrap: bool = False) -> Console:
    """Open a console whose strings are plain: no markup, no emoji codes, no highlighting, one line each.

    Args:
        required: whether a command can't go on without it, as for `GuardedStream`.
        wrap: whether lines are broken at the terminal's width; tables need it.
    """
    stream = GuardedStream(sys.stderr if stderr else sys.stdout, required=required and not stderr)
    return PlainConsole(file=cast("IO[str]", stream), soft_wrap=not wrap)


class PlainConsole(Console):
    """A console that prints every string as it is, also in tables. Styles are given by `styled` texts alone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a string as plain text; every string that is printed passes here."""
        kept = {name: options[name] for name in ("justify", "overflow") if options.get(name)}
        return Text(plain_text(text), style=options.get("style", ""), **kept)


class GuardedStream:
    """A text stream that writes out what its encoding lacks, and that may be lost.

    Args:
        stream: the stream; None for none, such as that of a service without standard output.
        required: whether losing it ends the command: quietly if its reader has gone, else by an error. Otherwise what
            is written from then on is dropped, and so is what a stream does not take within a second, which a terminal
            that is frozen (Ctrl-S) would hold up for ever.
    """

    def __init__(self, stream: TextIO | None, *, required: bool) -> None:
        self._stream, self._required, self._is_stuck = stream, required, False

    @property
    def encoding(self) -> str:
        """The stream's encoding."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        with suppress(OSError, ValueError):
            return self._stream is not None and self._stream.isatty()
        return False

    def fileno(self) -> int:
        """Return the file descriptor."""
        if self._stream is None:
            raise io.UnsupportedOperation("no stream")
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Write a text, where there is a stream. Raises OutputError: it can't; SystemExit: the reader has gone."""
        shown = text.encode(self.encoding, "backslashreplace").decode(self.encoding)
        at_once = len(shown) if self._required else _AT_ONCE
        for start in range(0, len(shown), at_once or 1):
            if self._stream is None or not (self._required or self._takes_more()):
                break
            try:
                self._stream.write(shown[start : start + at_once])
                if not self._required:
                    self._stream.flush()
            except (OSError, ValueError) as error:  # ValueError: closed
                self._lose(error)
        return len(text)

    def _takes_more(self) -> bool:
        """Return whether the stream can be written now: a frozen terminal, or a reader that does not read, is left."""
        try:
            ready = select.select((), (self.fileno(),), (), 0 if self._is_stuck else _PATIENCE_S)[1]
        except (OSError, ValueError):  # no descriptor, or one that can't be waited for
            return True
        self._is_stuck = not ready
        return not self._is_stuck

    def flush(self) -> None:
        """Write what is buffered. Raises OutputError: as for `write`; SystemExit: as for `write`."""
        if self._stream is not None and not self._is_stuck:
            try:
                self._stream.flush()
            except (OSError, ValueError) as error:
                self._lose(error)

    def _lose(self, error: OSError | ValueError) -> None:
        """Have all that is still written go nowhere; end the command if the stream is required."""
        lost, self._stream = self._stream, None
        if lost is not None:
            _discard(lost)
        if self._required:
            if getattr(error, "errno", None) == errno.EPIPE:
                raise SystemExit(PIPE_CLOSED) from None
            reason = getattr(error, "strerror", None) or "it is closed"
            raise OutputError(f"The output can't be written ({reason}).") from None


def end_output() -> None:
    """Write what libraries left in the buffers of standard output, such as help; raises as `print_stdout` does."""
    GuardedStream(sys.stdout, required=True).flush()


def _discard(stream: TextIO) -> None:
    """Connect a lost stream with nothing, so that what is in its buffer does not fail at the end of the process."""
    with suppress(OSError, ValueError):  # a stream without a descriptor has no such end
        descriptor = stream.fileno()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, descriptor)
        os.close(nothing)


def version_text() -> str:
    """Return the program's name and version, such as ``downfield 1.2.3``."""
    return f"downfield {version('downfield')}"
