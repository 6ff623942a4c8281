"""The evidence of a call or of a whole play: its pictures, what was measured on each, and which pictures are gone.

Whether a recording is the one that its rig sealed is told as well: another in its place would show another play.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Final, Literal

from downfield.capture.footage import CallMarks, FootageCalibration, FootageFrame, when_text
from downfield.capture.recording.recording_library import segment_name
from downfield.capture.recording.segment import is_encoded_from
from downfield.core.arrays import Image
from downfield.core.errors import FormatError
from downfield.core.files.facts import file_digest
from downfield.core.scene import Player, Scene
from downfield.game.published.game_topics import CallView
from downfield.game.records.entries import SEAL_KIND, SegmentSealed, Snap, unpack_entry
from downfield.game.records.keeping import GameRow
from downfield.review.pictures.painting import call_caption, play_caption
from downfield.store.database.reader import StoreReader


@dataclass(frozen=True, slots=True)
class Evidence:
    """A call with its pictures and measurements."""

    call: CallView
    stills: tuple[FootageFrame, ...]  # the pictures around it, in order
    # what was measured on them, by capture time; some are missing, as scenes of a resting board are not kept
    scenes: Mapping[int, Scene]
    players: tuple[Player, ...]
    snap: Snap | None  # the play the call is about; None when it is not known
    play: int = 0  # its number in the game, from 1; 0 when it is not known

    @property
    def decisive(self) -> FootageFrame:
        """The first picture captured at the instant the call is about or after it, which shows what happened.

        Where none was captured within moments, the nearest.
        """
        begin_ns = self.call.t_ns
        return min(self.stills, key=lambda still: after if (after := still.t_ns - begin_ns) >= 0 else SOON_NS - after)

    @property
    def last_before(self) -> FootageFrame | None:
        """The picture before the decisive one, where that shows what happened and this does not yet."""
        place = self.stills.index(self.decisive)
        before = self.stills[place - 1] if place else None
        return before if before is not None and before.t_ns < self.call.t_ns <= self.decisive.t_ns else None

    def around(self, seconds: float) -> tuple[FootageFrame, ...]:
        """Return the pictures at most so long before and after the call, and the decisive one in any case."""
        decisive = self.decisive
        near_ns = seconds * 1e9
        return tuple(still for still in self.stills if abs(still.t_ns - self.call.t_ns) <= near_ns or still is decisive)

    def marks(self, still: FootageFrame) -> CallMarks:
        """Return what can be drawn on a picture."""
        return CallMarks(self.call, self.scenes.get(still.t_ns), self.players, self.snap)

    def caption(self, marks: CallMarks, still: FootageFrame) -> tuple[str, ...]:
        """Return the words below a picture."""
        return call_caption(self.call, marks, still)

    def file_name(self, row: GameRow) -> str:
        """Return a file's name, without its ending, that says game, play and call, for any file system."""
        play = f"play{self.play}" if self.play else "before-first-play"
        return _file_name(row, play, f"{self.call.kind}-{'-'.join(self.call.players[:2])}")


def _file_name(row: GameRow, play: str, told: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9-]+", "-", told).strip("-").lower()
    return f"downfield_{row.id}_{play}_{plain}"[:_NAME_LENGTH]


_NAME_LENGTH: Final = 90  # of a file, without the ending: longer ones break on some phones

SOON_NS: Final = 100_000_000  # So soon after an instant the first picture after it was captured, by any camera in use


@dataclass(frozen=True, slots=True)
class EvidencePicture:
    """One picture of a call."""

    evidence: Evidence
    still: FootageFrame
    image: Image  # the picture, uint8 BGR, shape (height, width, 3), not to be written to
    calibrated: FootageCalibration  # the calibration it was captured under

    @property
    def marks(self) -> CallMarks:
        """What can be drawn on it."""
        return self.evidence.marks(self.still)


PLAY_LEAD_NS: Final = 1_000_000_000  # Shown before the snap
PLAY_LONGEST_NS: Final = 120_000_000_000
"""Scenes of so long are searched for the end of a play; on a table one lasts some ten seconds."""
_TRAIL_NS: Final = 1_500_000_000  # Shown after the board was switched off or the last call was made
_NEAR_NS: Final = 1_000_000_000  # A picture is about a call at most this far away


@dataclass(frozen=True, slots=True)
class PlayEvidence:
    """A play with its pictures and measurements."""

    play: int  # its number in the game, from 1
    snap: Snap
    calls: tuple[CallView, ...]
    stills: tuple[FootageFrame, ...]
    # what was measured on them, by capture time; some are missing, as scenes of a resting board are not kept
    scenes: Mapping[int, Scene]
    players: tuple[Player, ...]  # the roster on the board

    @property
    def last(self) -> FootageFrame:
        """The picture nearest to its last call that was not made by hand; the last one of all where there is none."""
        told = [call.t_ns for call in self.calls if call.standing not in {"noted", "manual"}]
        end_ns = max(told, default=self.stills[-1].t_ns)
        return min(self.stills, key=lambda still: abs(still.t_ns - end_ns))

    def marks(self, still: FootageFrame) -> CallMarks:
        """Return what can be drawn on a picture: of the call nearest to it, or of the play where none is near.

        Before the snap no call is told yet, and calls that only note something, such as the formation, never are.
        """
        told = (call for call in self.calls if call.standing != "noted")
        near = min(told, key=lambda call: (abs(call.t_ns - still.t_ns), -len(call.players)), default=None)
        if still.t_ns < self.snap.t_ns or (near is not None and abs(near.t_ns - still.t_ns) > _NEAR_NS):
            near = None
        return CallMarks(near, self.scenes.get(still.t_ns), self.players, self.snap)

    def caption(self, marks: CallMarks, still: FootageFrame) -> tuple[str, ...]:
        """Return the words below a picture."""
        return play_caption(self.play, marks, still)

    def file_name(self, row: GameRow) -> str:
        """Return a file's name, without its ending, that says game and play, for any file system."""
        return _file_name(row, f"play{self.play}", self.snap.kind)


def play_span(
    snap: Snap, next_snap_ns: int | None, calls: Iterable[CallView], scenes: Sequence[Scene]
) -> tuple[int, int]:
    """Return the first and the last instant that are shown of a play, on the capture clock.

    It is over when the board is switched off, or at the last call that was not made by hand, whichever is later: people
    may add a call long after. Without either it is over with its last scene.

    Args:
        next_snap_ns: when the next play began; None for the last.
    """
    inside = [scene for scene in scenes if next_snap_ns is None or scene.t_ns < next_snap_ns]
    ends = [scene.t_ns for scene in inside if scene.board == "on"]
    ends += [call.t_ns for call in calls if call.standing != "manual"]
    ends = ends or [scene.t_ns for scene in inside[-1:]] or [snap.t_ns]
    end_ns = max(ends) + _TRAIL_NS
    return snap.t_ns - PLAY_LEAD_NS, end_ns if next_snap_ns is None else min(end_ns, next_snap_ns)


_SHORTEST_NS: Final = 250_000_000  # A shorter pause between two pictures is a few dropped frames, as their numbers show


@dataclass(frozen=True, slots=True)
class MissingPictures:
    """Frames one after another that were measured, and of which no picture is kept."""

    after_ns: int  # capture time of the last picture before them
    # from_ns, to_ns: of the first and the last of them
    from_ns: int
    to_ns: int
    until_ns: int  # of the first picture after them
    count: int  # how many they are

    @property
    def text(self) -> str:
        """What is to be read in place of the pictures."""
        frames = "this frame" if self.count == 1 else f"these {self.count} frames"
        return f"No picture of {frames} is kept: this part of the recording is missing."


def missing_pictures(stills: Sequence[FootageFrame], measured_ns: Iterable[int]) -> Iterator[MissingPictures]:
    """Yield what is missing between pictures in order, by the capture times of all frames that were measured."""
    times_ns = sorted(measured_ns)
    for before, after in pairwise(stills):
        first, end = bisect_right(times_ns, before.t_ns), bisect_left(times_ns, after.t_ns)
        if end > first and after.t_ns - before.t_ns >= _SHORTEST_NS:
            yield MissingPictures(before.t_ns, times_ns[first], times_ns[end - 1], after.t_ns, end - first)


def missing_text(call_ns: int, stills: Sequence[FootageFrame], measured_ns: Iterable[int]) -> str:
    """Return which pictures around a call are missing, in sentences; empty where none is."""
    sentences = []
    for gone in missing_pictures(stills, measured_ns):
        begin, end = when_text(gone.from_ns - call_ns), when_text(gone.to_ns - call_ns)
        sentences.append(
            f"Part of the recording is missing: no picture is kept of {gone.count}"
            f" frame{'' if gone.count == 1 else 's'}, from {begin} the call to {end} it."
        )
        if gone.after_ns < call_ns < gone.until_ns:
            sentences.append("The moment of the call is in this part; the decisive frame is the nearest one kept.")
    return " ".join(sentences)


SealState = Literal["sealed", "altered", "unsealed", "none"]
"""As the rig sealed it; another one; without a seal; of a game that has no seals at all, such as one from a video."""

_TEXTS: Final[dict[SealState, str]] = {
    "sealed": "The recording is as the rig sealed it.",
    "unsealed": "No seal tells whether part of this recording is as it was: the rig has not finished that file, was"
    " ended while it recorded it, or somebody added it.",
    "none": "",
}


_LATER_GAMES: Final = 5  # A recorded file is sealed when it is finished, which may be in a later game, a minute on
_SEALS: Final = 20_000  # Of one game: two weeks of files of a minute
_REMEMBERED: Final = 2_000  # Files whose digests are kept for as long as they stay as they are


@dataclass(frozen=True, slots=True)
class RecordingCheck:
    """What was found about the recording of a call."""

    state: SealState  # whether it is the one that was sealed
    text: str  # the same in a sentence; empty where there is nothing to tell


class SealedRecordings:
    """Compares recorded files with their seals in the journals. Callable from any thread; one check at a time."""

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._known: dict[Path, tuple[tuple[int, ...], str]] = {}
        self._working = threading.Lock()

    def check(self, row: GameRow, videos: Iterable[Path]) -> RecordingCheck:
        """Return whether files of the recording of a game are those that were sealed."""
        wanted = list(dict.fromkeys(videos))
        with self._working:
            games = self._games(row)
            states = {video: self._state(video, list(self._seals(games, video)), row.owner) for video in wanted}
            if not states or not (set(states.values()) - {"unsealed"} or self._store.latest(row.id, {SEAL_KIND})):
                return RecordingCheck("none", "")
        altered = ", ".join(segment_name(video) for video, state in states.items() if state == "altered")
        if altered:
            text = f"{altered} was altered, or another file is in its place"
            return RecordingCheck("altered", f"This is not what the rig recorded: {text}. Do not rely on its pictures.")
        state: SealState = "unsealed" if "unsealed" in states.values() else "sealed"
        return RecordingCheck(state, _TEXTS[state])

    def _state(self, video: Path, seals: list[SegmentSealed], rig: str) -> SealState:
        """Return how a file and what lies beside it fare; each seal counts, as a later one voids none."""
        if not seals:
            return "unsealed"
        for seal in seals:
            for name, digest in seal.files.items():
                path = video.with_name(Path(name).name)
                with suppress(FileNotFoundError):  # what is missing shows no picture and no drawing
                    found = self._digest(path)
                    if found != digest and not is_encoded_from(video, name, digest, found, rig):
                        return "altered"
        return "sealed"

    def _games(self, row: GameRow) -> list[GameRow]:
        """Return a game and those that were played next, whose journals may have the seals of its files."""
        later = [*takewhile(lambda one: one.id != row.id, self._store.games(1_000_000))][::-1]
        return [row, *later[:_LATER_GAMES]]

    def _seals(self, games: Iterable[GameRow], video: Path) -> Iterator[SegmentSealed]:
        """Yield the seals of a file, of the first of the games that has any."""
        segment = segment_name(video)
        for game in games:
            found = False
            for entry in self._store.latest(game.id, {SEAL_KIND}, _SEALS):
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
        while len(self._known) >= _REMEMBERED:
            self._known.pop(next(iter(self._known)))
        self._known[path] = (state, digest)
        return digest
