"""The evidence of a call: the pictures around its instant and what was measured on each, as the journal keeps them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from downfield.core.arrays import Image
from downfield.core.errors import BusyError, NotFoundError, NotRecordedError
from downfield.core.scene import Player, Scene
from downfield.game.entries import Snap, unpack_scenes
from downfield.game.footage import CallMarks, Footage, FootageCalibration, FootageFrame
from downfield.game.history import History
from downfield.game.published.game_topics import CallView
from downfield.game.store_reader import GameRow, StoreReader


@dataclass(frozen=True, slots=True)
class EvidenceLimits:
    """Limits of the search for evidence."""

    either_side_s: float = 3.0
    """Pictures are shown this long before and after a call: 361 pictures at 60 frames/s."""

    waiting: int = 4
    """Requests that may wait. Pictures are decoded one after another, so that the referee keeps a core."""

    cached_calls: int = 4
    """Calls whose evidence is cached."""

    remembered_games: int = 3
    """Games whose journals stay read, some 10 MB each: a call of theirs then costs its own scenes and what is new."""

    cached_s: float = 10.0
    """Lifetime of cached evidence: stepping through a call's pictures makes many requests for the same call."""


LIMITS: Final = EvidenceLimits()

NO_FOOTAGE: Final = "This source keeps no pictures. Play a camera, a stream or a video file."


class GameInPlay(Protocol):
    """The game in play, as far as the search needs it: its latest scenes and calls may not be on disk yet."""

    @property
    def game_id(self) -> str:
        """The game's id; empty without one."""
        ...

    def calls(self) -> Sequence[CallView]:
        """Every call of the game, in the order they were made."""
        ...

    def unwritten_scenes(self) -> Sequence[Scene]:
        """Scenes of the game that its journal does not hold yet, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """A call with its pictures and measurements.

    Attributes:
        call: the call.
        stills: the pictures around it, in order.
        scenes: what was measured on them, by capture time; some are missing, as scenes of a resting board are not kept.
        players: the roster on the board.
        snap: the play the call is about; None when it is not known.
        play: its number in the game, from 1; 0 when it is not known.

    """

    call: CallView
    stills: tuple[FootageFrame, ...]
    scenes: Mapping[int, Scene]
    players: tuple[Player, ...]
    snap: Snap | None
    play: int = 0

    @property
    def decisive(self) -> FootageFrame:
        """The picture captured nearest to the instant the call is about."""
        return min(self.stills, key=lambda still: abs(still.t_ns - self.call.t_ns))

    def around(self, seconds: float) -> tuple[FootageFrame, ...]:
        """Return the pictures at most so long before and after the call, and the decisive one in any case."""
        decisive = self.decisive
        near_ns = seconds * 1e9
        return tuple(still for still in self.stills if abs(still.t_ns - self.call.t_ns) <= near_ns or still is decisive)

    def marks(self, still: FootageFrame) -> CallMarks:
        """Return what can be drawn on a picture."""
        return CallMarks(self.call, self.scenes.get(still.t_ns), self.players, self.snap)


@dataclass(frozen=True, slots=True)
class EvidencePicture:
    """One picture of a call.

    Attributes:
        evidence: the call's.
        still: which picture it is.
        image: the picture, uint8 BGR, shape (height, width, 3), not to be written to.
        calibrated: the calibration it was captured under.

    """

    evidence: Evidence
    still: FootageFrame
    image: Image
    calibrated: FootageCalibration

    @property
    def marks(self) -> CallMarks:
        """What can be drawn on it."""
        return self.evidence.marks(self.still)


class EvidenceFinder:
    """Finds the evidence of calls. Callable from any thread; it serves one request at a time.

    Args:
        store: of the games' journals.
        in_play: the game in play.
        footage: the pictures; None where none are kept.

    """

    def __init__(self, store: StoreReader, in_play: GameInPlay, footage: Footage | None) -> None:
        self._store, self._in_play, self._footage = store, in_play, footage
        self._waiting = threading.BoundedSemaphore(LIMITS.waiting)
        self._working = threading.Lock()
        self._cache: dict[tuple[str, str], tuple[float, Evidence]] = {}
        self._histories: dict[str, History] = {}

    def find(self, row: GameRow, call: str) -> Evidence:
        """Return the current evidence of a call.

        Raises:
            NotFoundError: the game has no such call.
            NotRecordedError: no picture of it is kept.
            BusyError: too many requests wait already.

        """
        with self._turn():
            return self._find(row, call)

    @contextmanager
    def picture(self, row: GameRow, call: str, frame: int | None) -> Iterator[EvidencePicture]:
        """Return one picture; no other request is served within the ``with`` block.

        Args:
            row: the game.
            call: the call's id.
            frame: the picture's index; None for the decisive one.

        Raises:
            NotFoundError: the game has no such call.
            NotRecordedError: that picture is not kept, or is not one around the call.
            BusyError: too many requests wait already.

        """
        with self._turn():
            evidence, still = self._still(row, call, frame)
            if self._footage is None:
                raise NotRecordedError(NO_FOOTAGE)
            image = self._footage.picture(still)
            size_px = (image.shape[1], image.shape[0])
            yield EvidencePicture(evidence, still, image, self._footage.calibration(still).fitting(size_px))

    def still(self, row: GameRow, call: str, frame: int) -> tuple[Evidence, FootageFrame]:
        """Return which picture an index is, with the evidence of its call.

        Raises:
            NotFoundError, NotRecordedError, BusyError: as of `picture`.

        """
        with self._turn():
            return self._still(row, call, frame)

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        """Yield pictures of a call in order, None for one that can't be read; other requests are served meanwhile."""
        if self._footage is None:
            raise NotRecordedError(NO_FOOTAGE)
        return self._footage.pictures(stills)

    def calibration(self, still: FootageFrame) -> FootageCalibration:
        """Return what is kept of the calibration in use when a picture of a call was captured."""
        if self._footage is None:
            raise NotRecordedError(NO_FOOTAGE)
        return self._footage.calibration(still)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._waiting.acquire(blocking=False):
            raise BusyError(f"{LIMITS.waiting} requests for pictures are waiting already. Try again in a second.")
        try:
            with self._working:
                yield
        finally:
            self._waiting.release()

    def _still(self, row: GameRow, call: str, frame: int | None) -> tuple[Evidence, FootageFrame]:
        evidence = self._cached(row, call) or self._find(row, call)
        wanted = evidence.decisive.frame if frame is None else frame
        still = next((still for still in evidence.stills if still.frame == wanted), None)
        if still is None:
            raise NotRecordedError(
                f"No picture of frame {wanted} is kept within {LIMITS.either_side_s:g} s of this call."
            )
        return evidence, still

    def _cached(self, row: GameRow, call: str) -> Evidence | None:
        at_s, evidence = self._cache.get((row.id, call), (0.0, None))
        return evidence if time.monotonic() - at_s < LIMITS.cached_s else None

    def _find(self, row: GameRow, call_id: str) -> Evidence:
        """Search without the cache; scenes being written right now may be missing until the next search."""
        is_in_play = self._in_play.game_id == row.id
        unwritten = self._in_play.unwritten_scenes() if is_in_play else ()
        history = self._history(row)
        # A slow disk holds up the journal, not the calls in memory.
        calls = self._in_play.calls() if is_in_play else history.calls()
        # A call that was struck is still in dispute.
        call = next((call for call in (*calls, *history.struck()) if call.id == call_id), None)
        if call is None:
            raise NotFoundError("No call of this game has that id.")
        if self._footage is None:
            raise NotRecordedError(NO_FOOTAGE)
        from_ns, to_ns = (call.t_ns + round(sign * LIMITS.either_side_s * 1e9) for sign in (-1, 1))
        stills = self._footage.between(from_ns, to_ns, row.began_ns)
        scenes = {scene.t_ns: scene for scene in self._written(history, from_ns, to_ns)}
        scenes |= {scene.t_ns: scene for scene in unwritten if from_ns <= scene.t_ns <= to_ns}
        play = sum(snap.t_ns <= call.t_ns for snap in history.snaps())
        found = Evidence(call, stills, scenes, history.players(call.t_ns), history.snap(call.t_ns), play)
        self._cache.pop((row.id, call_id), None)
        self._cache[row.id, call_id] = (time.monotonic(), found)
        while len(self._cache) > LIMITS.cached_calls:
            del self._cache[next(iter(self._cache))]
        return found

    def _history(self, row: GameRow) -> History:
        """Return a game's history: of a game that was asked about lately only what is new is read."""
        history = self._histories.pop(row.id, None)
        if history is None:
            history = History(self._store, row)
        else:
            history.read_on(self._store)
        self._histories[row.id] = history
        while len(self._histories) > LIMITS.remembered_games:
            del self._histories[next(iter(self._histories))]
        return history

    def _written(self, history: History, from_ns: int, to_ns: int) -> Iterator[Scene]:
        for batch in history.batches:
            if batch.last_ns < from_ns or batch.first_ns > to_ns:
                continue
            attachment = self._store.attachment(history.row.id, batch.seq)
            where = f"game {history.row.id}, entry {batch.seq}"
            for scene in unpack_scenes(attachment or b"", where=where):
                if from_ns <= scene.t_ns <= to_ns:
                    yield scene
