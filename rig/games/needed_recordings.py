"""Which recorded files a dispute may need: those of the calls of games that are in play, signed or challenged."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Final

from downfield.capture.recording.recording_library import RecordedSpan, recorded_span
from downfield.core.errors import DownfieldError
from downfield.game.records.keeping import GameRow
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

_BEFORE_NS: Final = 15_000_000_000  # Kept before a call whose play is not known; a play lasts some ten seconds

_LONGEST_NS: Final = 120_000_000_000  # Kept of a play before its call, at most

_MARGIN_NS: Final = 5_000_000_000  # Kept before the snap and after the call

_BINDING: Final = ("score_signed", "challenge_raised")
"""Kinds of entries of games that people may come back to, however long after."""

_READ_AGAIN_S: Final = 30.0  # After so long the games are read again, where room is still short

_IN_PLAY: Final = 2  # Games started last of which all calls are kept: the one before may not be signed yet


class NeededRecordings:
    """Tells which recorded files a dispute about the games of a store may need. Used by one thread at a time."""

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._of_games: dict[str, tuple[tuple[str, bool], list[tuple[int, int]]]] = {}
        self._files: dict[Path, RecordedSpan] = {}
        self._spans: list[tuple[int, int]] = []
        self._read_s = -math.inf

    def __call__(self, video: Path) -> bool:
        """Return whether a file shows a call of such a game, or may: none is given up while the games can't be read."""
        shown = self._files.get(video) or recorded_span(video)
        if shown is None:
            return False
        self._files[video] = shown
        try:
            if time.monotonic() - self._read_s > _READ_AGAIN_S:
                games = enumerate(self._store.games(1_000_000))
                self._spans = [span for place, row in games for span in self._of(row, is_new=place < _IN_PLAY)]
                self._read_s = time.monotonic()
        except DownfieldError:
            return True
        return any(begin <= shown.last_ns and shown.first_ns <= end for begin, end in self._spans)

    def _of(self, row: GameRow, *, is_new: bool) -> list[tuple[int, int]]:
        """Return the spans of a game's calls, read again only where its journal has changed."""
        state = next((entry.digest for entry in self._store.latest(row.id)), ""), is_new
        known = self._of_games.get(row.id)
        if known is None or known[0] != state:
            is_binding = is_new or bool(self._store.latest(row.id, _BINDING))
            known = (state, _call_spans(History(self._store, row)) if is_binding else [])
            self._of_games[row.id] = known
        return known[1]


def _call_spans(game: History) -> list[tuple[int, int]]:
    """Return what is kept of each play with a call, on the capture clock."""
    spans = []
    for call in (*game.calls(), *game.struck(), *game.replaced()):
        snap = game.snap(call.t_ns)
        begin_ns = call.t_ns - _BEFORE_NS if snap is None else max(snap.t_ns, call.t_ns - _LONGEST_NS)
        spans.append((begin_ns - _MARGIN_NS, call.t_ns + _MARGIN_NS))
    return spans
