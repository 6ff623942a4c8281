"""The evidence of a call: the pictures around its instant, with what was seen on each, as the journal keeps it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from downfield.api.problems import ProblemError
from downfield.api.services import AppContext
from downfield.core.errors import NotRecordedError
from downfield.core.scene import Player, Scene
from downfield.game.entries import unpacked_scenes
from downfield.game.footage import Marks, Still
from downfield.game.history import History
from downfield.game.published.game_topics import CallNow, GameNow
from downfield.game.store import GameRow

MOST_S: Final = 3.0
"""Either side of a call: what led to it and what came of it, at 60 frames a second 361 pictures."""

MOST_WAITING: Final = 4
"""Who may wait for a picture at once. They are unpacked one after another, so that the referee keeps a core."""

_REMEMBERED: Final = 4
_FRESH_S: Final = 10.0
"""How long what was found about a call serves for its pictures: somebody who steps through them asks many times."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is about a call.

    Attributes:
        call: the call.
        stills: the pictures, in order.
        scenes: what was seen on them, by capture time; not of every picture, as a resting board is not kept.
        players: who was on the board.
        los_yd: line of scrimmage of the play; None when it is not known.

    """

    call: CallNow
    stills: tuple[Still, ...]
    scenes: Mapping[int, Scene]
    players: tuple[Player, ...]
    los_yd: float | None

    @property
    def decisive(self) -> Still:
        """The picture captured nearest to the instant the call is about."""
        return min(self.stills, key=lambda still: abs(still.t_ns - self.call.t_ns))

    def marks(self, still: Still) -> Marks:
        """What there is to draw on a picture."""
        return Marks(self.call, self.scenes.get(still.t_ns), self.players, self.los_yd)


class EvidenceRoom:
    """Finds evidence. Callable from any thread; it works for one at a time and lets few wait.

    Args:
        parts: of the service.

    """

    def __init__(self, parts: AppContext) -> None:
        self._parts = parts
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)
        self._working = threading.Lock()
        self._found: dict[tuple[str, str], tuple[float, Evidence]] = {}

    def about(self, row: GameRow, call: str) -> Evidence:
        """What there is about a call now.

        Raises:
            ProblemError: there is no such call, or too many ask.
            NotRecordedError: no picture of it is kept.

        """
        with self._turn():
            return self._find(row, call)

    def jpeg(self, row: GameRow, call: str, frame: int, *, plain: bool) -> bytes:
        """One picture.

        Args:
            row: the game.
            call: the call's id.
            frame: the picture's index.
            plain: whether nothing is drawn on it.

        Raises:
            ProblemError: there is no such call, or too many ask.
            NotRecordedError: that picture is not kept, or is not one around the call.

        """
        with self._turn():
            evidence = self._known(row, call) or self._find(row, call)
            still = next((one for one in evidence.stills if one.frame == frame), None)
            if still is None or self._parts.footage is None:
                raise NotRecordedError(f"frame {frame} is not among those kept within {MOST_S:g} s of this call")
            return self._parts.footage.jpeg(still, None if plain else evidence.marks(still))

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._waiting.acquire(blocking=False):
            text = f"{MOST_WAITING} pictures are being waited for already"
            raise ProblemError(503, text, headers={"Retry-After": "1"})
        try:
            with self._working:
                yield
        finally:
            self._waiting.release()

    def _known(self, row: GameRow, call: str) -> Evidence | None:
        at_s, evidence = self._found.get((row.id, call), (0.0, None))
        return evidence if time.monotonic() - at_s < _FRESH_S else None

    def _find(self, row: GameRow, call: str) -> Evidence:
        """Look it up anew; scenes on their way to the disk at this very moment are there the next time."""
        unwritten = self._parts.desk.unwritten() if self._is_current(row) else ()
        history = History(self._parts.store, row)
        made = self._call(history, call)
        if self._parts.footage is None:
            raise NotRecordedError("this source leaves no pictures behind: play a camera, a stream or a video file")
        from_ns, to_ns = (made.t_ns + round(sign * MOST_S * 1e9) for sign in (-1, 1))
        stills = self._parts.footage.between(from_ns, to_ns, row.began_ns)
        scenes = {one.t_ns: one for one in self._written(history, from_ns, to_ns)}
        scenes |= {one.t_ns: one for one in unwritten if from_ns <= one.t_ns <= to_ns}
        found = Evidence(made, stills, scenes, history.players(made.t_ns), history.los_yd(made.t_ns))
        self._found.pop((row.id, call), None)
        self._found[row.id, call] = (time.monotonic(), found)
        while len(self._found) > _REMEMBERED:
            del self._found[next(iter(self._found))]
        return found

    def _call(self, history: History, call: str) -> CallNow:
        """A call of the game; of the one in play as the desk knows it, which a slow disk does not hold up."""
        calls = self._parts.desk.calls() if self._is_current(history.row) else history.calls()
        made = next((one for one in calls if one.id == call), None)
        if made is None:
            raise ProblemError(404, "no call of this game has that id", "unknown")
        return made

    def _written(self, history: History, from_ns: int, to_ns: int) -> Iterator[Scene]:
        for batch in history.batches:
            if batch.last_ns < from_ns or batch.first_ns > to_ns:
                continue
            attachment = self._parts.store.attachment(history.row.id, batch.seq)
            where = f"game {history.row.id}, entry {batch.seq}"
            for scene in unpacked_scenes(attachment or b"", where=where):
                if from_ns <= scene.t_ns <= to_ns:
                    yield scene

    def _is_current(self, row: GameRow) -> bool:
        now: GameNow | None = self._parts.hub.value("game")
        return now is not None and now.game == row.id
