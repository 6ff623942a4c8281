"""Checkpoints: what a game had become at one entry of its journal, so that not everything is judged again to resume it.

A checkpoint is a cache, never the truth: one that can't be read, or is of another journal, is not used, and the whole
journal is judged instead.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.core.errors import FormatError
from downfield.game.records.keeping import JournalPosition, PendingEntry, SessionMemento
from downfield.store.sealing.signed_state import StateSeal, code_digest, unpack_state
from downfield.store.sealing.signing import RigKey

_SIGNED_AS: Final = b"downfield.checkpoint\n"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CheckpointLimits:
    """Limits of checkpoints."""

    every_s: float = 15.0
    """Time between two, which are taken when something was declared: resuming judges little more than the last play."""

    max_bytes: int = 64 << 20
    """No larger file is read; that of a game of an hour has less than one."""


_LIMITS: Final = CheckpointLimits()


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint whose signature was checked.

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
        return unpack_state(self.content, SessionMemento)


class CheckpointFile:
    """Keeps the last checkpoint of a rig's game. Callable from any thread; a disk that fails is no fault of the game.

    Args:
        key: the rig's.
        monotonic_s: measures the time between checkpoints.
    """

    def __init__(self, path: Path, key: RigKey, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._path, self._key, self._monotonic_s = path, key, monotonic_s
        self._lock = threading.Lock()
        self._taken_s = monotonic_s()

    def offer(self, game: str, pending: PendingEntry, capture: Callable[[], SessionMemento | None]) -> None:
        """Take a checkpoint of a game right after an entry, if it is time; it is written once the entry is.

        Args:
            game: the game's id.
            capture: returns what the game has become; called under the game's lock, which the caller holds.
        """
        now_s = self._monotonic_s()
        if now_s - self._taken_s < _LIMITS.every_s:
            return
        memento = capture()
        if memento is None:
            return
        self._taken_s = now_s

        def write(written: Future[JournalPosition]) -> None:
            if written.exception() is None:
                self._write(game, written.result(), memento)

        pending.written.add_done_callback(write)

    def read(self, game: str) -> SignedCheckpoint | None:
        """Return the checkpoint of a game; None where there is none, or it is not this rig's and this program's."""
        try:
            return self._read(game)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:  # a FormatError is a ValueError
            why = error.problem if isinstance(error, FormatError) else str(error)
            _log.warning("%s: the checkpoint is not used, the whole journal is judged: %s", self._path, why)
            return None

    def _read(self, game: str) -> SignedCheckpoint | None:
        found = self._seal().read(self._path)
        return SignedCheckpoint(found.position, found.content) if found.game == game else None

    def _write(self, game: str, position: JournalPosition, memento: SessionMemento) -> None:
        try:
            content = pickle.dumps(memento, protocol=5)
            with self._lock:
                self._seal().write(self._path, game, position, content)
        except OSError as error:
            _log.warning("%s: the checkpoint can't be written: %s", self._path, error.strerror)
        except (pickle.PicklingError, TypeError, AttributeError):  # a state that can't be kept is judged again
            _log.exception("The checkpoint of game %s can't be made", game)

    def _seal(self) -> StateSeal:
        return StateSeal(self._key, _SIGNED_AS, code_digest(), _LIMITS.max_bytes)
