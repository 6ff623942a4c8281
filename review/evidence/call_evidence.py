"""The evidence of a call: the pictures around its instant and what was measured on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from downfield.capture.footage import CallMarks, FootageCalibration, FootageFrame
from downfield.core.arrays import Image
from downfield.core.scene import Player, Scene
from downfield.game.entries import Snap
from downfield.game.published.game_topics import CallView


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
