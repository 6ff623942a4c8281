"""Finds the evidence of calls and plays: their pictures and what was measured on each, as the journal keeps them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from downfield.capture.footage import Footage, FootageFrame
from downfield.core.arrays import Image
from downfield.core.errors import BusyError, NotFoundError, NotRecordedError
from downfield.core.scene import Scene
from downfield.game.current_game import CurrentGame
from downfield.game.published.game_topics import CallView
from downfield.game.records.keeping import GameRow
from downfield.review.evidence.evidence import (
    PLAY_LEAD_NS,
    PLAY_LONGEST_NS,
    Evidence,
    EvidencePicture,
    PlayEvidence,
    play_span,
)
from downfield.review.tracks import batched_scenes
from downfield.store.database.reader import StoreReader
from downfield.store.history import History


@dataclass(frozen=True, slots=True)
class EvidenceLimits:
    """Limits of the search for evidence."""

    either_side_s: float = 3.0  # Pictures are shown this long before and after a call: 361 pictures at 60 frames/s
    # Requests that may wait. Pictures are decoded one after another, so that the referee keeps a core.
    waiting: int = 4
    cached_calls: int = 4  # Calls whose evidence is cached
    # Games whose journals stay read, some 10 MB each: a call of theirs then costs its own scenes and what is new
    remembered_games: int = 3
    # Lifetime of cached evidence: stepping through a call's pictures makes many requests for the same call
    cached_s: float = 10.0


EVIDENCE_LIMITS: Final = EvidenceLimits()

NO_FOOTAGE: Final = "This source keeps no pictures. Play a camera, a stream or a video file."


class EvidenceFinder:
    """Finds the evidence of calls. Callable from any thread; it serves one request at a time.

    Its methods raise NotFoundError for what the game does not have, NotRecordedError where no picture of it is kept,
    BusyError where too many requests wait already.

    Args:
        in_play: the game in play, whose latest scenes and calls may not be on disk yet; None for none.
        footage: the pictures; None where none are kept.
    """

    def __init__(self, store: StoreReader, in_play: CurrentGame | None, footage: Footage | None) -> None:
        self._store, self._in_play, self._kept = store, in_play or CurrentGame(), footage
        self._waiting = threading.BoundedSemaphore(EVIDENCE_LIMITS.waiting)
        self._working = threading.Lock()
        self._cache: dict[tuple[str, str], tuple[float, Evidence]] = {}
        self._histories: dict[str, History] = {}

    def find(self, row: GameRow, call: str) -> Evidence:
        """Return the current evidence of a call."""
        with self._turn():
            return self._find(row, call)

    def is_recorded(self, row: GameRow, t_ns: int) -> bool:
        """Return whether pictures up to an instant, on the calls' clock, are kept: the last may not be on disk yet."""
        try:
            to_ns = t_ns + round(EVIDENCE_LIMITS.either_side_s * 1e9)
            return bool(self.footage.between(t_ns, to_ns, row.began_ns))
        except NotRecordedError:
            return False

    def find_play(self, row: GameRow, number: int) -> PlayEvidence:
        """Return the current evidence of a play, by its number from 1."""
        with self._turn():
            return self._find_play(row, number)

    @contextmanager
    def picture(self, row: GameRow, call: str, frame: int | None) -> Iterator[EvidencePicture]:
        """Return one picture by its index, None for the decisive one; no other request is served in the block."""
        with self._turn():
            evidence, still = self._still(row, call, frame)
            image = self.footage.picture(still)
            size_px = (image.shape[1], image.shape[0])
            yield EvidencePicture(evidence, still, image, self.footage.calibration(still).fitting(size_px))

    def still(self, row: GameRow, call: str, frame: int) -> tuple[Evidence, FootageFrame]:
        """Return which picture an index is, with the evidence of its call."""
        cached = self._cached(row, call)
        if cached is not None:  # need not wait while pictures are decoded
            return cached, _picture_of(cached, frame)
        with self._turn():
            return self._still(row, call, frame)

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        """Yield pictures of a call in order, None for one that can't be read; other requests are served meanwhile."""
        return self.footage.pictures(stills)

    @property
    def footage(self) -> Footage:
        """What keeps the pictures."""
        if self._kept is None:
            raise NotRecordedError(NO_FOOTAGE)
        return self._kept

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._waiting.acquire(blocking=False):
            raise BusyError(
                f"{EVIDENCE_LIMITS.waiting} requests for pictures are waiting already. Try again in a second."
            )
        try:
            with self._working:
                yield
        finally:
            self._waiting.release()

    def _still(self, row: GameRow, call: str, frame: int | None) -> tuple[Evidence, FootageFrame]:
        evidence = self._cached(row, call) or self._find(row, call)
        return evidence, _picture_of(evidence, frame)

    def _cached(self, row: GameRow, call: str) -> Evidence | None:
        at_s, evidence = self._cache.get((row.id, call), (0.0, None))
        return evidence if time.monotonic() - at_s < EVIDENCE_LIMITS.cached_s else None

    def _find(self, row: GameRow, call_id: str) -> Evidence:
        """Search without the cache; scenes being written right now may be missing until the next search."""
        unwritten = self._unwritten(row)
        history = self._history(row)
        # A call that was struck is still in dispute.
        call = next((call for call in (*self._calls(history), *history.struck()) if call.id == call_id), None)
        if call is None:
            raise NotFoundError("No call of this game has that id.")
        from_ns, to_ns = (call.t_ns + round(sign * EVIDENCE_LIMITS.either_side_s * 1e9) for sign in (-1, 1))
        stills = self.footage.between(from_ns, to_ns, row.began_ns)
        scenes = self._scenes(history, unwritten, from_ns, to_ns)
        play = sum(snap.t_ns <= call.t_ns for snap in history.snaps())
        found = Evidence(call, stills, scenes, history.players(call.t_ns), history.snap(call.t_ns), play)
        self._cache.pop((row.id, call_id), None)
        self._cache[row.id, call_id] = (time.monotonic(), found)
        while len(self._cache) > EVIDENCE_LIMITS.cached_calls:
            del self._cache[next(iter(self._cache))]
        return found

    def _find_play(self, row: GameRow, number: int) -> PlayEvidence:
        unwritten = self._unwritten(row)
        history = self._history(row)
        snaps = history.snaps()
        if not 1 <= number <= len(snaps):
            raise NotFoundError(f"This game has no play {number}: it has {len(snaps) or 'none yet'}.")
        snap = snaps[number - 1]
        next_ns = snaps[number].t_ns if number < len(snaps) else None
        end_ns = math.inf if next_ns is None else next_ns
        calls = tuple(call for call in self._calls(history) if snap.t_ns <= call.t_ns < end_ns)
        last_ns = min(end_ns, snap.t_ns + PLAY_LONGEST_NS)
        scenes = self._scenes(history, unwritten, snap.t_ns - PLAY_LEAD_NS, last_ns)
        from_ns, to_ns = play_span(snap, next_ns, calls, [scenes[t_ns] for t_ns in sorted(scenes)])
        stills = self.footage.between(from_ns, to_ns, row.began_ns)
        return PlayEvidence(number, snap, calls, stills, scenes, history.players(snap.t_ns))

    def _unwritten(self, row: GameRow) -> Sequence[Scene]:
        """Return scenes of a game that its journal may not hold yet; to be asked for before the journal is read."""
        return self._in_play.unwritten_scenes() if self._in_play.game_id == row.id else ()

    def _calls(self, history: History) -> Sequence[CallView]:
        """Return a game's calls. A slow disk holds up the journal, not the calls in memory."""
        return self._in_play.calls() if self._in_play.game_id == history.row.id else history.calls()

    def _scenes(self, history: History, unwritten: Sequence[Scene], from_ns: int, to_ns: float) -> dict[int, Scene]:
        scenes = {scene.t_ns: scene for scene in batched_scenes(self._store, history, from_ns, to_ns)}
        scenes |= {scene.t_ns: scene for scene in unwritten}
        return {t_ns: scene for t_ns, scene in scenes.items() if from_ns <= t_ns <= to_ns}

    def _history(self, row: GameRow) -> History:
        """Return a game's history: of a game that was asked about lately only what is new is read."""
        history = self._histories.pop(row.id, None)
        if history is None:
            history = History(self._store, row)
        else:
            history.read_on(self._store)
        self._histories[row.id] = history
        while len(self._histories) > EVIDENCE_LIMITS.remembered_games:
            del self._histories[next(iter(self._histories))]
        return history


def _picture_of(evidence: Evidence, frame: int | None) -> FootageFrame:
    """Return which picture of a call an index is; None is the decisive one's."""
    wanted = evidence.decisive.frame if frame is None else frame
    still = next((still for still in evidence.stills if still.frame == wanted), None)
    if still is None:
        raise NotRecordedError(
            f"No picture of frame {wanted} is kept within {EVIDENCE_LIMITS.either_side_s:g} s of this call."
        )
    return still
