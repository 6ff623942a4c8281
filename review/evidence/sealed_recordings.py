"""Whether the recording of a call is the one that its rig sealed: another in its place would show another play."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Final, Literal

from downfield.core.errors import FormatError
from downfield.core.files.facts import file_digest
from downfield.game.records.entries import SEAL_KIND, unpack_entry
from downfield.game.records.keeping import GameRow
from downfield.game.records.table_records import SegmentSealed
from downfield.store.database.reader import StoreReader

SealState = Literal["sealed", "altered", "unsealed", "none"]
"""As the rig sealed it; another one; without a seal; of a game that has no seals at all, such as one from a video."""

_TEXTS: Final[dict[SealState, str]] = {
    "sealed": "The recording is as the rig sealed it.",
    "unsealed": "No seal tells whether part of this recording is as it was: the rig has not finished that file, was"
    " ended while it recorded it, or somebody added it.",
    "none": "",
}


@dataclass(frozen=True, slots=True)
class SealLimits:
    """Limits of the search for seals."""

    later_games: int = 5
    """A file of the recording is sealed when it is finished, which may be in a later game, a minute on."""

    seals: int = 20_000
    """Of one game: two weeks of files of a minute."""

    remembered: int = 2_000
    """Files whose digests are kept for as long as they stay as they are."""


_LIMITS: Final = SealLimits()


@dataclass(frozen=True, slots=True)
class RecordingCheck:
    """What was found about the recording of a call.

    Attributes:
        state: whether it is the one that was sealed.
        text: the same in a sentence; empty where there is nothing to tell.
    """

    state: SealState
    text: str


class SealedRecordings:
    """Compares recorded files with their seals in the journals. Callable from any thread; one check at a time.

    Args:
        store: of the games' journals.
    """

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._known: dict[Path, tuple[tuple[int, ...], str]] = {}
        self._working = threading.Lock()

    def check(self, row: GameRow, videos: Iterable[Path]) -> RecordingCheck:
        """Return whether files of the recording of a game are those that were sealed."""
        wanted = list(dict.fromkeys(videos))
        with self._working:
            games = self._games(row)
            states = {video: self._state(video, list(self._seals(games, video))) for video in wanted}
            if not states or not (set(states.values()) - {"unsealed"} or self._has_seals(row)):
                return RecordingCheck("none", "")
        altered = ", ".join(
            f"{video.parent.name}/{video.name}" for video, state in states.items() if state == "altered"
        )
        if altered:
            text = f"{altered} was altered, or another file is in its place"
            return RecordingCheck("altered", f"This is not what the rig recorded: {text}. Do not rely on its pictures.")
        state: SealState = "unsealed" if "unsealed" in states.values() else "sealed"
        return RecordingCheck(state, _TEXTS[state])

    def _has_seals(self, row: GameRow) -> bool:
        return bool(self._store.latest(row.id, {SEAL_KIND}))

    def _state(self, video: Path, seals: list[SegmentSealed]) -> SealState:
        """Return how a file and what lies beside it fare; each seal counts, as a later one voids none."""
        if not seals:
            return "unsealed"
        for seal in seals:
            for name, digest in seal.files.items():
                path = video.with_name(Path(name).name)
                with suppress(FileNotFoundError):  # what is missing shows no picture and no drawing
                    if self._digest(path) != digest:
                        return "altered"
        return "sealed"

    def _games(self, row: GameRow) -> list[GameRow]:
        """Return a game and those that were played next, whose journals may have the seals of its files."""
        later = [*takewhile(lambda one: one.id != row.id, self._store.games(1_000_000))][::-1]
        return [row, *later[: _LIMITS.later_games]]

    def _seals(self, games: Iterable[GameRow], video: Path) -> Iterator[SegmentSealed]:
        """Yield the seals of a file, of the first of the games that has any."""
        segment = f"{video.parent.name}/{video.name}"
        for game in games:
            found = False
            for entry in self._store.latest(game.id, {SEAL_KIND}, _LIMITS.seals):
                with suppress(FormatError):  # of a journal that can't be read its own check tells
                    content = unpack_entry(entry.kind, entry.content, where=game.id)
                    if isinstance(content, SegmentSealed) and content.segment == segment:
                        found = True
                        yield content
            if found:
                return

    def _digest(self, path: Path) -> str:
        """Return the digest of a file, read again only where it has changed; empty where it can't be read."""
        now = path.stat()
        state = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
        known = self._known.get(path)
        if known is not None and known[0] == state:
            return known[1]
        try:
            digest = file_digest(path)
        except FileNotFoundError:
            raise
        except OSError:
            return ""
        while len(self._known) >= _LIMITS.remembered:
            self._known.pop(next(iter(self._known)))
        self._known[path] = (state, digest)
        return digest
