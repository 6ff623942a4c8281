"""Kept heads: a signed record, in a second place, of where a store's journals, games and devices stood.

Journals seal what is in them, but whoever can write the store can cut their ends, seal them again, delete a game, put
an older copy back, or add a device. Each line of a heads file says where one game stood, and which devices were paired;
it names the line before by its SHA-256 and is signed with the rig's key. `downfield verify --heads` compares.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from downfield.core.errors import DownfieldError, FormatError, InputError
from downfield.core.files.input_files import open_input, read_lines, special_kind
from downfield.core.files.private_files import OWNER_ONLY, make_private_folder
from downfield.core.records import from_json, record, to_json
from downfield.core.texts import counted
from downfield.core.threads import delayed_thread
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import rig_id
from downfield.store.database.reader import DeviceRow, StoreReader
from downfield.store.sealing.hash_chain import canonical_json, row_digest
from downfield.store.sealing.signing import RigKey, is_signed_text

EVERY_S: Final = 2.0  # Time between two lines; a game of three hours takes 2 MB

_FIRST: Final = "0" * 64
_SIGNED_AS: Final = b"downfield.heads\n"
_TAIL_BYTES: Final = 64 << 10
"""Read at a start: some 100 lines, the last games and their ends. `downfield verify` reads all of a file."""

_log = logging.getLogger(__name__)


@record
class KeptHead:
    """One line of a heads file."""

    previous: str  # SHA-256 of the line before, hexadecimal; zeros for the first
    game: str  # a game's id; empty while none was played
    seq: int  # number of the last entry of its journal
    digest: str  # of that entry
    row: str  # SHA-256 of the game's row in the list of games
    devices: str  # SHA-256 of all paired devices
    closed: bool  # whether the store was closed then, so that nothing may follow without another line
    at_ns: int  # wall clock, ns since 1970; a label
    key: str  # the rig's public key
    signature: str = ""  # of the line without it, Ed25519, base64


class HeadsFile:
    """Adds lines to a file for its owner only. Callable from any thread; a failing disk is logged, and ends no game."""

    def __init__(self, path: Path, key: RigKey, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._path, self._key, self._monotonic_s = path, key, monotonic_s
        self._lock = threading.Lock()
        self._previous: str | None = None
        self._waiting: dict[str, tuple[GameRow, EntryRow]] = {}
        self._last: tuple[GameRow, EntryRow] | None = None
        self._devices = ""
        self._written_s = -EVERY_S
        self._failed = self._is_due = self._is_closed = False

    def note_entry(self, game: GameRow, entry: EntryRow) -> None:
        """Note the last entry of a game's journal that is on disk now."""
        with self._lock:
            self._waiting[game.id] = self._last = (game, entry)
            wait_s = self._written_s + EVERY_S - self._monotonic_s()
            if wait_s <= 0:
                self._write_waiting()
            elif not self._is_due:  # no other entry may follow for minutes
                self._is_due = True
                delayed_thread(wait_s, self._write_due, "heads").start()

    def note_devices(self, devices: Iterable[DeviceRow]) -> None:
        """Note the paired devices."""
        with self._lock:
            self._devices = _digest_of_devices(devices)
            self._write_waiting()
            self._write(self._last, closed=False)

    def close(self) -> None:
        """Write what waits, and that the store was closed."""
        with self._lock:
            self._is_closed = True
            self._write_waiting()
            if self._last is not None or self._previous is not None:
                self._write(self._last, closed=True)

    def _write_due(self) -> None:
        with self._lock:
            self._is_due = False
            if not self._is_closed:
                self._write_waiting()

    def _write_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for standing in waiting.values():
            self._write(standing, closed=False)

    def _write(self, standing: tuple[GameRow, EntryRow] | None, *, closed: bool) -> None:
        self._written_s = self._monotonic_s()
        try:
            if self._previous is None:
                self._previous = self._open()
            game, seq, digest, row = "", 0, "", ""
            if standing is not None:
                game, seq, digest = standing[0].id, standing[1].seq, standing[1].digest
                row = row_digest(standing[0])
            at_ns, key = time.time_ns(), self._key.public_text
            line = KeptHead(self._previous, game, seq, digest, row, self._devices, closed, at_ns, key)
            signature = self._key.sign_text(_signed(line))
            text = to_json(KeptHead, replace(line, signature=signature))
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{text}\n")
            self._previous = hashlib.sha256(text.encode()).hexdigest()
            self._failed = False
        except OSError as error:
            if not self._failed:
                _log.warning("%s: the heads of the journals can't be kept there: %s", self._path, error.strerror)
            self._failed = True

    def _open(self) -> str:
        """Return the digest of the last line; a line that a crash cut off is ended, and counts as it is."""
        make_private_folder(self._path.parent)
        kind = special_kind(self._path) if self._path.exists() else None
        if kind is not None:  # a pipe would be waited for without end
            raise OSError(errno.EINVAL, f"it is {kind}, not a file", str(self._path))
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
        with os.fdopen(descriptor, "r+b") as file:
            content = file.read()
            if content and not content.endswith(b"\n"):
                file.write(b"\n")
        lines = content.splitlines()
        return hashlib.sha256(lines[-1]).hexdigest() if lines else _FIRST


def read_heads(path: Path, keys: Collection[str] = ()) -> list[KeptHead]:
    """Read a heads file.

    Args:
        keys: public keys of which every line must be signed with one; none to accept any.

    Raises:
        InputError: it can't be read.
        FormatError: a line is missing, altered, malformed, or signed by another; names it.
    """
    heads: list[KeptHead] = []
    previous = _FIRST
    for number, text in read_lines(path):
        line = text.rstrip("\n")
        try:
            head = from_json(KeptHead, line, path=str(path), line=number)
        except FormatError:  # cut off by a crash; the next line names it, so nothing can be put in its place
            previous = hashlib.sha256(line.encode()).hexdigest()
            continue
        if head.previous != previous:
            raise FormatError(str(path), "a line before it is missing or was altered", line=number)
        if keys and head.key not in keys:
            raise FormatError(str(path), f"signed with another key, {head.key}", line=number)
        if not is_signed_text(head.key, _signed(replace(head, signature="")), head.signature):
            raise FormatError(str(path), "its signature is not that of its rig", line=number)
        heads.append(head)
        previous = hashlib.sha256(line.encode()).hexdigest()
    if not heads:
        raise InputError(f"{path}: has no heads. The rig writes them while games are played.")
    return heads


def compare_with_heads(store: StoreReader, heads: list[KeptHead]) -> Iterator[str]:
    """Yield how a store differs from what its rig signed, one sentence for each difference.

    Of the last two seconds of a rig that plays or was killed there are no heads: `entries_after_heads` says so.

    Args:
        heads: of a heads file, in order.
    """
    games = {row.id: row for row in store.games(limit=1_000_000)}
    kept_of: dict[str, list[KeptHead]] = {}
    for head in heads:
        if head.game:
            kept_of.setdefault(head.game, []).append(head)
    for game, kept in kept_of.items():
        row = games.get(game)
        if row is None:
            yield f"{game}: the game is missing. It was deleted, or an older copy of the store was put back."
            continue
        if row_digest(row) != kept[-1].row:
            yield f"{game}: its title, teams, rulebook, date, table or owner was altered."
        if row.owner and row.owner != rig_id(kept[-1].key):
            yield f"{game}: its heads are signed by another rig than the one that played it."
        yield from _journal_differs(store, kept, closed=heads[-1].closed)
    rigs = {rig_id(head.key) for head in heads}
    latest = {rig: store.latest_game(rig) for rig in rigs if not heads[-1].closed}
    for game, row in games.items():
        if row.owner in rigs and game not in kept_of and row != latest.get(row.owner):
            yield f"{game}: the rig kept no head of this game. It was added by somebody else."
    devices = next((head.devices for head in reversed(heads) if head.devices), "")
    is_shared = any(row.owner not in {*rigs, ""} for row in games.values())  # others pair devices as well
    if devices and not is_shared and devices != _digest_of_devices(store.devices()):
        yield "The list of paired devices was altered: one was added, removed or changed."


def entries_after_heads(store: StoreReader, heads: list[KeptHead]) -> Iterator[str]:
    """Yield how far journals are ahead of their last heads: by two seconds of a rig that plays or was killed."""
    latest = {row.id: 0 for rig in {rig_id(head.key) for head in heads} if (row := store.latest_game(rig)) is not None}
    for game, seq in (latest | {head.game: head.seq for head in heads if head.game}).items():
        last = store.last_entry(game)
        if last is not None and last.seq > seq:
            yield (
                f"{game}: of its last {counted(last.seq - seq, 'entry')} the heads say nothing. Its rig plays still,"
                " was killed, could not write them, or somebody cut off their end."
            )


NOT_AS_LEFT: Final = (
    "The store is not as this rig left it: {difference}. An older copy was put back, it was altered, or another store"
    " is configured. Games go on from what is there; downfield verify says more."
)
"""What is said where a store differs from its last heads, and how."""


def differs_from_last_heads(store: StoreReader, path: Path) -> str:
    """Return how a store differs from its rig's last heads, one sentence; empty where either can't be read."""
    last = {head.game: head for head in _tail(path) if head.game}
    try:
        for game, head in last.items():
            if store.game(game) is None:
                return f"the game {game} is missing"
            entry = next(store.entries(game, after=head.seq - 1, attachments=False, page_entries=1), None)
            if entry is None:
                return f"entry {head.seq} of game {game} is missing"
            if entry.digest != head.digest:
                return f"entry {head.seq} of game {game} is another one"
    except DownfieldError:
        return ""
    return ""


def _journal_differs(store: StoreReader, kept: list[KeptHead], *, closed: bool) -> Iterator[str]:
    """Yield how a game's journal differs from its heads; the first difference makes all later ones."""
    game, missing, last = kept[0].game, {head.seq: head.digest for head in kept}, 0
    if any(missing[head.seq] != head.digest for head in kept) or [head.seq for head in kept] != sorted(
        head.seq for head in kept
    ):
        yield f"{game}: the rig went on from an older copy of the store; what was kept before is lost."
        return
    for entry in store.entries(game, attachments=False):
        last = entry.seq
        if missing.pop(entry.seq, entry.digest) != entry.digest:
            yield f"{game}: entry {entry.seq} is not the one that was kept. The journal was sealed again."
            return
    if missing:
        yield f"{game}: entry {max(missing)} is missing. The end was cut off, or an older copy was put back."
    elif closed and last > kept[-1].seq:
        yield f"{game}: {counted(last - kept[-1].seq, 'entry', 'were')} added after the rig had closed the store."


def _signed(head: KeptHead) -> bytes:
    return _SIGNED_AS + to_json(KeptHead, head).encode()


def _digest_of_devices(devices: Iterable[DeviceRow]) -> str:
    rows = [asdict(device) for device in sorted(devices, key=lambda device: device.id)]
    return hashlib.sha256(canonical_json(rows).encode()).hexdigest()


def _tail(path: Path) -> list[KeptHead]:
    """Return the last lines that can be read; their signatures are left to `downfield verify`."""
    try:
        with open_input(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read(_TAIL_BYTES).splitlines()
    except (OSError, InputError):
        return []
    heads = []
    for line in lines:
        try:
            heads.append(from_json(KeptHead, line, path=str(path)))
        except FormatError:  # the first is a part of one, the last may have been cut off by a crash
            continue
    return heads
