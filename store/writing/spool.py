"""The spool: entries of journals that the store does not have yet, kept in order on the rig's own disk.

Each game has a file, ``GAME.jsonl``: a line that names the game, then a sealed entry a line, on disk when `append`
returns. Where a place does not accept them, such as a full disk, the next one is used, so that a game may have a file
in several. Files are for their owner only. A line that a crash cut off is skipped when they are read; entries are
checked by their digests before they are stored.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from downfield.core.errors import FormatError, InputError, OutputError
from downfield.core.files.private_files import OWNER_ONLY, make_private_folder, replace_private_file
from downfield.core.platform.system import NO_LINK, is_own, others_may_write
from downfield.core.records import adapter, from_json, record, to_json
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.store.database.reader import DeviceRow

_ENDING: Final = ".jsonl"
_ASIDE: Final = ".set-aside"
_DEVICES_FILE: Final = "devices.json"


@record
class SpooledGame:
    """First line of a game's file."""

    number: int  # orders games as they were started
    game: GameRow  # as the store lists it
    format: Literal["downfield.unsaved"] = "downfield.unsaved"
    version: Literal[1] = 1


class Spool:
    """Keeps entries until they are in the store. Callable from any thread.

    Args:
        places: folders to keep them in, the best first; each is made when it is needed.
        comes_first: whether every entry is kept here before it is stored, and a game's until it is over. Otherwise only
            what the store did not accept is kept.
    """

    def __init__(self, places: Sequence[Path], *, comes_first: bool = False) -> None:
        self.comes_first = comes_first
        self._places = tuple(places)
        self._at = 0
        self._lock = threading.Lock()
        self._number: int | None = None

    @property
    def folder(self) -> Path:
        """The folder that is in use."""
        return self._places[self._at]

    def append(self, rows: Sequence[EntryRow], game: GameRow) -> None:
        """Keep entries of a game; they are on disk when this returns. Raises OutputError: no place accepts them."""
        reasons = []
        with self._lock:
            for step in range(len(self._places)):
                at = (self._at + step) % len(self._places)
                try:
                    self._append(self._places[at], rows, game)
                except OSError as error:
                    reasons.append(f"{self._places[at]}: {error.strerror}")
                    continue
                self._at = at
                return
        raise OutputError(f"Unsaved entries can't be kept on any disk: {'; '.join(reasons)}")

    def games(self) -> list[GameRow]:
        """Return the games that have entries here, in the order they were started."""
        with self._lock:
            first = {one.game.id: one for one in sorted(self._headers(), key=lambda one: one.number, reverse=True)}
        return [one.game for one in sorted(first.values(), key=lambda one: (one.number, one.game.began_ns))]

    def entries(self, game: str) -> list[EntryRow]:
        """Return the entries of a game that are here, in order."""
        found: dict[int, EntryRow] = {}
        with self._lock:
            for path in self._files(game):
                for row in _read_entries(path, game):
                    found.setdefault(row.seq, row)
        return [found[seq] for seq in sorted(found)]

    def forget(self, game: str, stored: int) -> None:
        """Delete the files of a game that have no entry beyond the last that is stored."""
        with self._lock:
            for path in self._files(game):
                if all(row.seq <= stored for row in _read_entries(path, game)):
                    with suppress(OSError):
                        path.unlink()

    def set_aside(self, game: str) -> Path | None:
        """Rename the files of a game so that they are not read again; return one of them."""
        kept = None
        with self._lock:
            for path in self._files(game):
                number = 1
                while (aside := path.with_name(f"{path.name}{_ASIDE}-{number}")).exists():
                    number += 1
                with suppress(OSError):
                    path.rename(aside)
                    kept = aside
        return kept

    def keep_devices(self, devices: Sequence[DeviceRow]) -> None:
        """Keep the paired devices for a start while the store can't be read; a disk that refuses is no fault."""
        content = adapter(list[DeviceRow]).dump_json(list(devices))
        for place in self._places:
            with suppress(OSError):
                _enter(place)
                replace_private_file(place / _DEVICES_FILE, content)
                return

    def devices(self) -> list[DeviceRow]:
        """Return the devices that were paired when the store was read last."""
        for place in self._places:
            with suppress(OSError, ValueError):
                return list(adapter(list[DeviceRow]).validate_json((place / _DEVICES_FILE).read_bytes()))
        return []

    def _append(self, place: Path, rows: Sequence[EntryRow], game: GameRow) -> None:
        _enter(place)
        path = place / f"{quote(game.id, safe='')}{_ENDING}"
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_LINK
        with os.fdopen(os.open(path, flags, OWNER_ONLY), "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            lines = [] if size else [to_json(SpooledGame, SpooledGame(self._next_number(), game))]
            lines += [to_json(EntryRow, row) for row in rows]
            text = "".join(f"{line}\n" for line in lines).encode()
            if size:
                file.seek(size - 1)  # writing goes to the end, wherever it was read
                if file.read(1) != b"\n":  # a crash cut the last line off
                    text = b"\n" + text
            try:
                view = memoryview(text)
                while view:
                    view = view[file.write(view) :]
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(size)
                raise

    def _next_number(self) -> int:
        if self._number is None:
            self._number = max((one.number for one in self._headers()), default=0)
        self._number += 1
        return self._number

    def _headers(self) -> Iterator[SpooledGame]:
        for path in self._files():
            with suppress(OSError, InputError, FormatError), path.open("rb") as file:
                yield from_json(SpooledGame, file.readline(), path=str(path))

    def _files(self, game: str | None = None) -> list[Path]:
        name = f"*{_ENDING}" if game is None else f"{quote(game, safe='')}{_ENDING}"
        found = []
        for place in self._places:
            with suppress(OSError):
                if not place.is_dir() or not _is_own(place):
                    continue
                found += sorted(place.glob(name)) if game is None else [place / name]
        return [path for path in found if path.is_file()]


def _enter(place: Path) -> None:
    """Make a folder, unless it is there; one that others could write to, as in a shared folder, is refused."""
    make_private_folder(place)
    if not _is_own(place):
        raise PermissionError(1, "the folder belongs to another user, or others may write there")


def _is_own(place: Path) -> bool:
    found = place.lstat()
    if stat.S_ISLNK(found.st_mode) and is_own(found):
        found = place.stat()
    return stat.S_ISDIR(found.st_mode) and is_own(found) and not others_may_write(found)


def _read_entries(path: Path, game: str) -> Iterator[EntryRow]:
    """Yield the entries of a file; what is no entry of its game, such as a line that a crash cut off, is skipped."""
    with suppress(OSError), path.open("rb") as file:
        file.readline()
        for line in file:
            with suppress(FormatError):
                entry = from_json(EntryRow, line, path=str(path))
                if entry.game == game:
                    yield entry
