"""The evidence of a call or of a whole play: its pictures, what was measured on each, and which pictures are gone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from downfield.capture.footage import CallMarks, FootageCalibration, FootageFrame, when_text
from downfield.core.arrays import Image
from downfield.core.scene import Player, Scene
from downfield.game.published.game_topics import CallView
from downfield.game.records.entries import Snap


@dataclass(frozen=True, slots=True)
class Evidence:
    """A call with its pictures and measurements.

    Attributes:
        stills: the pictures around it, in order.
        scenes: what was measured on them, by capture time; some are missing, as scenes of a resting board are not kept.
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


@dataclass(frozen=True, slots=True)
class PlayLimits:
    """What is shown of a play."""

    lead_ns: int = 1_000_000_000
    """Shown before the snap."""

    trail_ns: int = 1_500_000_000
    """Shown after the board was switched off or the last call was made."""

    near_ns: int = 1_000_000_000
    """A picture is about a call at most this far away."""

    longest_ns: int = 120_000_000_000
    """Scenes that are searched for the end of a play; on a table one lasts some ten seconds."""


PLAY_LIMITS: Final = PlayLimits()


@dataclass(frozen=True, slots=True)
class PlayEvidence:
    """A play with its pictures and measurements.

    Attributes:
        play: its number in the game, from 1.
        snap: how it began.
        scenes: what was measured on them, by capture time; some are missing, as scenes of a resting board are not kept.
        players: the roster on the board.
    """

    play: int
    snap: Snap
    calls: tuple[CallView, ...]
    stills: tuple[FootageFrame, ...]
    scenes: Mapping[int, Scene]
    players: tuple[Player, ...]

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
        if still.t_ns < self.snap.t_ns or (near is not None and abs(near.t_ns - still.t_ns) > PLAY_LIMITS.near_ns):
            near = None
        return CallMarks(near, self.scenes.get(still.t_ns), self.players, self.snap)


def play_span(
    snap: Snap, next_snap_ns: int | None, calls: Iterable[CallView], scenes: Sequence[Scene]
) -> tuple[int, int]:
    """Return the first and the last instant that are shown of a play, on the capture clock.

    It is over when the board is switched off, or at the last call that was not made by hand, whichever is later: people
    may add a call long after. Without either it is over with its last scene.

    Args:
        snap: how it began.
        next_snap_ns: when the next play began; None for the last.
        scenes: from the snap on.
    """
    inside = [scene for scene in scenes if next_snap_ns is None or scene.t_ns < next_snap_ns]
    ends = [scene.t_ns for scene in inside if scene.board == "on"]
    ends += [call.t_ns for call in calls if call.standing != "manual"]
    ends = ends or [scene.t_ns for scene in inside[-1:]] or [snap.t_ns]
    end_ns = max(ends) + PLAY_LIMITS.trail_ns
    return snap.t_ns - PLAY_LIMITS.lead_ns, end_ns if next_snap_ns is None else min(end_ns, next_snap_ns)


_SHORTEST_NS: Final = 250_000_000
"""A shorter pause between two pictures is a few dropped frames, as their numbers show."""


@dataclass(frozen=True, slots=True)
class MissingPictures:
    """Frames one after another that were measured, and of which no picture is kept.

    Attributes:
        after_ns: capture time of the last picture before them.
        from_ns, to_ns: of the first and the last of them.
        until_ns: of the first picture after them.
        count: how many they are.
    """

    after_ns: int
    from_ns: int
    to_ns: int
    until_ns: int
    count: int

    @property
    def text(self) -> str:
        """What is to be read in place of the pictures."""
        frames = "this frame" if self.count == 1 else f"these {self.count} frames"
        return f"No picture of {frames} is kept: this part of the recording is missing."


def missing_pictures(stills: Sequence[FootageFrame], measured_ns: Iterable[int]) -> Iterator[MissingPictures]:
    """Yield what is missing between pictures.

    Args:
        stills: the pictures that are kept, in order.
        measured_ns: capture times of the frames that were measured.
    """
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
