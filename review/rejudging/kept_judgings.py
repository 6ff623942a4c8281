"""What finished games come to, kept on disk: a ruling long after the game need not judge all of it again first.

Each game has a file, as `downfield.store.signed_state` signs them. It is used only for the journal that it was made of:
the entry it stands at must have the same digest there, and no event may have been added since. The scenes, the rulebook
in force and all rulings are in the journal, so that whatever decides a game is covered. Checkpoints are packed one by
one, as packing stops every other thread of the program.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from downfield.core.errors import FormatError
from downfield.core.files.newest import by_date, date_last
from downfield.review.rejudging.rejudging import JudgedAgain, JudgingCheckpoint
from downfield.review.rejudging.worker import Pause
from downfield.store.history import History
from downfield.store.journal import JournalPosition
from downfield.store.reader import StoreReader
from downfield.store.signed_state import JUDGING_CODE, StateSeal, code_digest, unpack_state
from downfield.store.signing import RigKey

_SIGNED_AS: Final = b"downfield.judging\n"
_SUFFIX: Final = ".judging"
_CODE: Final = (*JUDGING_CODE, "review")
_LENGTH: Final = struct.Struct(">Q")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptLimits:
    """Limits of the kept files."""

    games: int = 30
    """Games whose judging is kept, those judged latest."""

    max_bytes: int = 512 << 20
    """No larger file is read."""

    level: int = 1
    """Of compression: higher ones gain little on measurements."""


KEPT_LIMITS: Final = KeptLimits()


@dataclass(frozen=True, slots=True)
class JudgedTo:
    """What a game comes to, with the events that led there; the checkpoints lie beside it.

    Attributes:
        events: ids of all events of the game.
        judged: what it comes to, without checkpoints.

    """

    events: tuple[str, ...]
    judged: JudgedAgain


class KeptJudgings:
    """Keeps what games come to. Callable from any thread; a disk that fails is no fault of the game.

    Args:
        folder: for the files; need not exist.
        key: the rig's, which signs them.

    """

    def __init__(self, folder: Path, key: RigKey) -> None:
        self._folder, self._key = folder, key

    def read(self, store: StoreReader, history: History, pause: Pause) -> JudgedAgain | None:
        """Return what a game comes to as it stands; None where that is not kept.

        Args:
            store: of the game.
            history: of the game.
            pause: called after every checkpoint.

        """
        path = self._path(history.row.id)
        try:
            found = self._seal().read(path)
            if found.game != history.row.id or not _is_of(store, found.game, found.position):
                raise FormatError(str(path), "it is of another journal")
            parts = _parts(found.content)
            head = unpack_state(zlib.decompress(next(parts, b"")), JudgedTo, _CODE)
            if head.events != tuple(event.id for event in history.events):
                return None  # ruled on since, by another program
            points = []
            for part in parts:
                points.append(unpack_state(zlib.decompress(part), JudgingCheckpoint, _CODE))
                pause()
            return replace(head.judged, checkpoints=tuple(points))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, zlib.error) as error:  # a FormatError is a ValueError
            why = error.problem if isinstance(error, FormatError) else str(error)
            _log.warning("%s: not used, the game is judged again: %s", path, why)
            return None

    def write(
        self, game: str, events: tuple[str, ...], position: JournalPosition, judged: JudgedAgain, pause: Pause
    ) -> None:
        """Keep what a game comes to.

        Args:
            game: the game's id.
            events: ids of all its events.
            position: an entry of its journal after all of them.
            judged: what it comes to, with checkpoints.
            pause: called after every checkpoint.

        """
        try:
            parts = [_packed(JudgedTo(events, replace(judged, checkpoints=())))]
            for point in judged.checkpoints:
                parts.append(_packed(point))
                pause()
            content = b"".join(_LENGTH.pack(len(part)) + part for part in parts)
            self._seal().write(self._path(game), game, position, content)
            self._prune(self._path(game))
        except OSError as error:
            _log.warning("%s: what game %s comes to can't be kept: %s", self._folder, game, error.strerror)
        except (pickle.PicklingError, TypeError, AttributeError):  # a state that can't be kept is judged again
            _log.exception("What game %s comes to can't be kept", game)

    def _seal(self) -> StateSeal:
        return StateSeal(self._key, _SIGNED_AS, code_digest(_CODE), KEPT_LIMITS.max_bytes)

    def _path(self, game: str) -> Path:
        return self._folder / f"{hashlib.sha256(game.encode()).hexdigest()[:32]}{_SUFFIX}"

    def _prune(self, written: Path) -> None:
        kept = list(self._folder.glob(f"*{_SUFFIX}"))
        date_last(written, kept)
        for path in by_date(kept)[: max(0, len(kept) - KEPT_LIMITS.games)]:
            with suppress(OSError):
                path.unlink()


def _is_of(store: StoreReader, game: str, position: JournalPosition) -> bool:
    """Return whether a journal has an entry with this digest at this place: then all before it is the same, too."""
    entry = next(iter(store.entries(game, after=position.seq - 1)), None)
    return entry is not None and (entry.seq, entry.digest) == (position.seq, position.digest)


def _packed(state: object) -> bytes:
    return zlib.compress(pickle.dumps(state, protocol=5), KEPT_LIMITS.level)


def _parts(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        if at + _LENGTH.size > len(content):
            raise FormatError("judging", "it is cut off")
        (length,) = _LENGTH.unpack_from(content, at)
        at += _LENGTH.size
        yield content[at : at + length]
        at += length
