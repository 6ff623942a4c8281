"""Opens text files that people name or that are untrusted; a file that can't be right gives one line of error.

Only regular files are opened: a pipe would be waited for without end, and a device may do something when it is opened.
A byte order mark, which editors on Windows write, is no part of the text.
"""

from __future__ import annotations

import io
import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from downfield.core.errors import FormatError, InputError

MAX_TEXT_BYTES: Final = 64 << 20
"""Largest file that is read as a whole, and longest line: a hundred times what Downfield writes."""

_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


def open_input(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises InputError: it is missing, no regular file, or not readable."""
    try:
        kind = special_kind(path)
        if kind is None:
            # It may have been replaced since by a pipe, which must not be waited for.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            return os.fdopen(os.open(path, flags), "rb")
    except FileNotFoundError:
        missing = "is a link that leads to no file" if path.is_symlink() else "no such file"
        raise InputError(f"{path}: {missing}") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{path}: no file has such a name") from None
    raise InputError(f"{path}: is {kind}, not a file")


def special_kind(path: Path) -> str | None:
    """Return what a path leads to, such as "a pipe"; None for a file. Raises OSError, ValueError: to nothing."""
    mode = path.stat().st_mode
    return next((name for is_kind, name in _KINDS if is_kind(mode)), None)


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, without its mark. Raises InputError: unreadable, no text, or too large."""
    try:
        with open_input(path) as file:
            data = file.read(MAX_TEXT_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from None
    if len(data) > MAX_TEXT_BYTES:
        raise InputError(f"{path}: larger than {MAX_TEXT_BYTES >> 20} MB, which no such file is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: {_not_text(data)}") from None


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield a file's non-empty lines, numbered from 1. Raises InputError: unreadable, no text, or a line too long."""
    try:
        with open_input(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as lines:
            number = 0
            while line := lines.readline(MAX_TEXT_BYTES):
                number += 1
                if len(line) == MAX_TEXT_BYTES:
                    raise InputError(f"{path}, line {number}: longer than {MAX_TEXT_BYTES >> 20} MB")
                if line.strip():
                    yield number, line
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {_not_text(error.object[:2])}") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file's content. Raises InputError: it can't be read; FormatError: it is no TOML; says where."""
    return parse_toml(read_text(path), str(path))


def parse_toml(text: str, path: str) -> dict[str, Any]:
    """Return the content of a TOML document. Raises FormatError: it is no TOML; says where."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FormatError(path, "nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(path, f"broken TOML: {error}") from None
    except ValueError:
        raise FormatError(path, "a number has thousands of digits") from None


def _not_text(data: bytes) -> str:
    if data.startswith(_UTF_16):
        return "the text is UTF-16. Save it as UTF-8"
    return "not a text file (UTF-8 expected)"
