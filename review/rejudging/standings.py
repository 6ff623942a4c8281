"""What finished games come to, judged once and kept on disk: a ruling long after a game need not judge it all again.

A game is judged when it ends, aside from all rulings, or else when it is reopened or first ruled on. Of a long game
that takes a minute; what is kept on disk is read in a second or two.

Each game has a file, as `downfield.store.sealing.signed_state` signs them. It is used only for the journal that it was
made of: the entry it stands at must have the same digest there, and no event may have been added since. The scenes, the
rulebook in force and all rulings are in the journal, so that whatever decides a game is covered. Checkpoints are packed
one by one, as packing stops every other thread of the program.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import struct
import zlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from downfield.core.errors import BusyError, DownfieldError, FormatError
from downfield.core.files.facts import by_date, date_last
from downfield.game.records.keeping import JournalPosition
from downfield.officiating.events import Event, Ruling, Undo
from downfield.review.rejudging.rejudging import Difference, JudgedAgain, JudgingCheckpoint, Way, judge_again
from downfield.review.rejudging.worker import JudgingWorker, Pause
from downfield.store.database.reader import StoreReader
from downfield.store.history import History
from downfield.store.sealing.signed_state import JUDGING_CODE, StateSeal, code_digest, unpack_state
from downfield.store.sealing.signing import RigKey

_SIGNED_AS: Final = b"downfield.judging\n"
_SUFFIX: Final = ".judging"
_CODE: Final = (*JUDGING_CODE, "review")
_LENGTH: Final = struct.Struct(">Q")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptLimits:
    """Limits of the kept files."""

    games: int = 30  # Games whose judging is kept, those judged latest
    max_bytes: int = 512 << 20  # No larger file is read
    level: int = 1  # Of compression: higher ones gain little on measurements


KEPT_LIMITS: Final = KeptLimits()


@dataclass(frozen=True, slots=True)
class JudgedTo:
    """What a game comes to, with the events that led there; the checkpoints lie beside it."""

    events: tuple[str, ...]  # ids of all events of the game
    judged: JudgedAgain  # what it comes to, without checkpoints


class KeptJudgings:
    """Keeps what games come to in a folder, signed by the rig; a failing disk is no fault. Callable from any thread."""

    def __init__(self, folder: Path, key: RigKey) -> None:
        self._folder, self._key = folder, key

    def read(self, store: StoreReader, history: History, pause: Pause) -> JudgedAgain | None:
        """Return what a game comes to as it stands, None where that is not kept; pauses after every checkpoint."""
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
        """Keep what a game comes to by all its events, at an entry after them; pauses after every checkpoint."""
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


class GameStandings:
    """Judges games as they stand. Callable from any thread.

    Its methods raise BusyError where it takes long, or too many games are being judged again.

    Args:
        worker: judges them while somebody waits.
        kept: keeps what they come to; None to keep nothing.
        aside: judges games that have ended while nobody waits; None not to.
    """

    def __init__(
        self,
        store: StoreReader,
        worker: JudgingWorker,
        kept: KeptJudgings | None = None,
        aside: JudgingWorker | None = None,
    ) -> None:
        self._store, self._worker, self._kept, self._aside = store, worker, kept, aside
        self._latest: tuple[str, tuple[str, ...], JudgedAgain] | None = None  # one game is in dispute at a time

    def prepare(self, game: str) -> None:
        """Begin to judge a game that has just ended, so that the first ruling on it need not wait."""
        kept, aside = self._kept, self._aside
        if kept is None or aside is None:
            return

        def judge_and_keep(pause: Pause) -> None:
            row = self._store.game(game)
            if row is not None:
                with suppress(DownfieldError):  # whoever rules on it is told
                    self._judge(History(self._store, row), pause)

        with suppress(BusyError):  # many games end at once in a demonstration; they are judged when somebody rules
            aside.begin(("prepare", game), judge_and_keep)

    def begin(self, history: History) -> None:
        """Begin to judge a game that somebody means to rule on."""
        if not self._is_prepared_now(history):
            self._worker.begin(*self._job(history))

    def of(self, history: History) -> JudgedAgain:
        """Return what a game comes to, with checkpoints; it is judged only where its events have changed since."""
        game, ids = history.row.id, event_ids(history)
        if self._latest is not None and self._latest[:2] == (game, ids):
            return self._latest[2]
        if self._aside is not None and self._is_prepared_now(history):
            self._aside.share(("prepare", game), lambda _pause: None)
        judged = self._worker.share(*self._job(history))
        self._latest = (game, ids, judged)
        return judged

    def set(self, history: History, event: Event, position: JournalPosition, judged: JudgedAgain) -> None:
        """Note what a game comes to with one more event, which stands in its journal now; it is kept meanwhile."""
        game, ids = history.row.id, (*event_ids(history), event.id)
        self._latest = (game, ids, judged)
        kept = self._kept
        if kept is not None:
            with suppress(BusyError):  # it is judged again then
                self._worker.begin(("keep", game, ids), lambda pause: kept.write(game, ids, position, judged, pause))

    def _is_prepared_now(self, history: History) -> bool:
        return self._aside is not None and self._aside.is_going_on(("prepare", history.row.id))

    def _job(self, history: History) -> tuple[Hashable, Callable[[Pause], JudgedAgain]]:
        return ("standing", history.row.id, event_ids(history)), lambda pause: self._judge(history, pause)

    def _judge(self, history: History, pause: Pause) -> JudgedAgain:
        game, kept = history.row.id, self._kept
        found = None if kept is None else kept.read(self._store, history, pause)
        if found is not None:
            return found
        (judged,) = judge_again(self._store, game, (Way.of(history.events),), pause, keep=True)
        if kept is not None:
            kept.write(game, event_ids(history), JournalPosition(history.entries, history.head), judged, pause)
        return judged


def event_ids(history: History) -> tuple[str, ...]:
    """Return what tells whether a game has to be judged again: nothing but events is added once it is over."""
    return tuple(event.id for event in history.events)


def first_difference(history: History, event: Event, before: JudgedAgain) -> Difference:
    """Return where an event can first change a game."""
    body = event.body
    if isinstance(body, Undo):
        events = {one.id: one for one in history.events}
        undone = events.get(body.event, event)
        while isinstance(undone.body, Undo):  # what it took back comes into force again
            undone = events[undone.body.event]
        if not isinstance(undone.body, Ruling):
            return Difference(undone.t_ns)
        body, event = undone.body, undone
    if not isinstance(body, Ruling) or body.decision == "manual":
        return Difference(event.t_ns)
    made = [(call.id, call.t_ns) for call in before.calls]
    made += [(view.id, view.t_ns) for view in (*history.calls(), *history.struck())]
    return Difference(min((t_ns for call, t_ns in made if call == body.call), default=0), body.call)
