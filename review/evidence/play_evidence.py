"""The evidence of a whole play: its pictures from before the snap until it is over, its calls and its scenes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.capture.footage import CallMarks, FootageFrame
from downfield.core.scene import Player, Scene
from downfield.game.entries import Snap
from downfield.game.published.game_topics import CallView


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
        calls: its calls, in order.
        stills: its pictures, in order.
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
        calls: of the play.
        scenes: from the snap on.

    """
    inside = [scene for scene in scenes if next_snap_ns is None or scene.t_ns < next_snap_ns]
    ends = [scene.t_ns for scene in inside if scene.board == "on"]
    ends += [call.t_ns for call in calls if call.standing != "manual"]
    ends = ends or [scene.t_ns for scene in inside[-1:]] or [snap.t_ns]
    end_ns = max(ends) + PLAY_LIMITS.trail_ns
    return snap.t_ns - PLAY_LIMITS.lead_ns, end_ns if next_snap_ns is None else min(end_ns, next_snap_ns)
