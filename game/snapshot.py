"""Snapshots: what a game had become at one entry of its journal, so that not everything is judged again to resume it.

A snapshot is a cache, never the truth. It is one file, signed with the rig's key, that names the game, the entry of its
journal that it stands at with that entry's digest, and the code that made it. One that is damaged, another rig's, of
another journal or of other code is not read, and the whole journal is judged instead. Its content is a pickle, as only
pickle keeps every rulebook's own state; it is unpacked after its signature was checked, and makes nothing but data.
"""

from __future__ import annotations

import base64
import builtins
import hashlib
import importlib
import io
import json
import logging
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from downfield.core.errors import FormatError
from downfield.core.private_files import make_private_folder, replace_private_file
from downfield.core.records import from_json, record, to_json
from downfield.game.journal import JournalPosition, PendingEntry
from downfield.game.session import GameSession, SessionMemento
from downfield.game.signing import RigKey, verify_signature

_SIGNED_AS: Final = b"downfield.snapshot\n"
_CODE: Final = ("core", "game", "officiating")
"""Packages whose code decides what a game becomes."""

_PLAIN: Final = frozenset({"bytes", "dict", "frozenset", "list", "set", "tuple"})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """Limits of snapshots."""

    every_s: float = 15.0
    """Time between two, which are taken when something was declared: resuming judges little more than the last play."""

    max_bytes: int = 64 << 20
    """No larger file is read; that of a game of an hour has less than one."""


LIMITS: Final = SnapshotLimits()


@record
class SnapshotHeader:
    """First line of a snapshot.

    Attributes:
        game: the game's id.
        seq: number of the entry it stands at.
        digest: of that entry.
        code: SHA-256 of the code that made it.
        content: SHA-256 of what follows.
        key: the rig's public key.
        signature: of the line without it, Ed25519, base64.

    """

    game: str
    seq: int
    digest: str
    code: str
    content: str
    key: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class SignedSnapshot:
    """A snapshot whose signature was checked.

    Attributes:
        position: the entry that it stands at.
        content: how the game stood, packed.

    """

    position: JournalPosition
    content: bytes

    def unpack(self) -> SessionMemento:
        """Return how the game stood.

        Raises:
            FormatError: it can't be unpacked.

        """
        try:
            memento = _Unpacker(io.BytesIO(self.content)).load()
        except Exception as error:  # whatever an unpickler comes to with data that it does not expect
            raise FormatError("snapshot", f"it can't be unpacked: {type(error).__name__}: {error}") from None
        if not isinstance(memento, SessionMemento):
            raise FormatError("snapshot", "it holds no game")
        return memento


class SnapshotFile:
    """Keeps the last snapshot of a rig's game. Callable from any thread; a disk that fails is no fault of the game.

    Args:
        path: the file.
        key: the rig's.
        monotonic_s: measures the time between snapshots.

    """

    def __init__(self, path: Path, key: RigKey, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._path, self._key, self._monotonic_s = path, key, monotonic_s
        self._lock = threading.Lock()
        self._taken_s = monotonic_s()

    def offer(self, session: GameSession, pending: PendingEntry) -> None:
        """Take a snapshot of a game right after an entry, if it is time; it is written once the entry is.

        The caller holds the game's lock.
        """
        now_s = self._monotonic_s()
        if now_s - self._taken_s < LIMITS.every_s:
            return
        memento = session.capture()
        if memento is None:
            return
        self._taken_s = now_s
        game = session.game_id

        def write(written: Future[JournalPosition]) -> None:
            if written.exception() is None:
                self._write(game, written.result(), memento)

        pending.written.add_done_callback(write)

    def read(self, game: str) -> SignedSnapshot | None:
        """Return the snapshot of a game; None where there is none, or it is not this rig's and this program's."""
        try:
            return self._read(game)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:  # a FormatError is a ValueError
            why = error.problem if isinstance(error, FormatError) else str(error)
            _log.warning("%s: the snapshot is not used, the whole journal is judged: %s", self._path, why)
            return None

    def _read(self, game: str) -> SignedSnapshot | None:
        path = str(self._path)
        if self._path.stat().st_size > LIMITS.max_bytes:
            raise FormatError(path, "it is too large")
        line, _, content = self._path.read_bytes().partition(b"\n")
        header = from_json(SnapshotHeader, line, path=path)
        signature = base64.b64decode(header.signature, validate=True)
        if header.key != self._key.public_text:
            raise FormatError(path, "another rig made it")
        if not verify_signature(header.key, _signed(header), signature):
            raise FormatError(path, "its signature is not that of this rig")
        if hashlib.sha256(content).hexdigest() != header.content:
            raise FormatError(path, "it is damaged")
        if header.code != code_digest():
            raise FormatError(path, "another version of Downfield made it")
        if header.game != game:
            return None
        return SignedSnapshot(JournalPosition(header.seq, header.digest), content)

    def _write(self, game: str, position: JournalPosition, memento: SessionMemento) -> None:
        try:
            content = pickle.dumps(memento, protocol=5)
            digest = hashlib.sha256(content).hexdigest()
            header = SnapshotHeader(game, position.seq, position.digest, code_digest(), digest, self._key.public_text)
            signature = base64.b64encode(self._key.sign(_signed(header))).decode()
            line = to_json(SnapshotHeader, replace(header, signature=signature)).encode()
            with self._lock:
                make_private_folder(self._path.parent)
                replace_private_file(self._path, line + b"\n" + content)
        except OSError as error:
            _log.warning("%s: the snapshot can't be written: %s", self._path, error.strerror)
        except (pickle.PicklingError, TypeError, AttributeError):  # a state that can't be kept is judged again
            _log.exception("The snapshot of game %s can't be made", game)


@cache
def code_digest(packages: tuple[str, ...] = _CODE) -> str:
    """Return the SHA-256 of code: of that which decides what a game becomes, or of other packages.

    Args:
        packages: their names below `downfield`, with all that is in them.

    """
    digest = hashlib.sha256()
    for package in packages:
        files = [resources.files(f"downfield.{package}")]
        while files:
            found = files.pop()
            if found.is_dir():
                files += sorted(found.iterdir(), key=lambda file: file.name)
            elif found.name.endswith((".py", ".toml")):
                digest.update(json.dumps([package, found.name]).encode() + found.read_bytes())
    return digest.hexdigest()


class _Unpacker(pickle.Unpickler):
    """Unpacks a game into the records it is made of, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of the program's own records, or a plain collection."""
        if module == "builtins" and name in _PLAIN:
            return getattr(builtins, name)
        if module.split(".")[:2] in [["downfield", package] for package in _CODE]:
            found = getattr(importlib.import_module(module), name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a game")


def _signed(header: SnapshotHeader) -> bytes:
    return _SIGNED_AS + to_json(SnapshotHeader, replace(header, signature="")).encode()
