"""What the camera's movement means for the referee: steady, bumped, being solved again, or lost.

Shake comes back to where it was; a bump does not. A displacement over the limit that lasts is a bump: calls are
suspended, and once the picture is still again it is solved afresh. A creep under the limit is followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from downfield.calibration.online.shake import Shake
from downfield.core.arrays import Array

DriftState = Literal["steady", "bumped", "resolving", "lost"]

BUMP_PX = 2.0
"""Displacement of the field in the picture beyond which the calibration no longer holds."""

_BUMPED_AFTER_NS = 200_000_000  # shake is over sooner
_LOST_AFTER_NS = 400_000_000
_LOST_SHARE = 0.25  # of the print's corners
_STILL_PX = 0.4  # between frames: somebody's hand is off the camera
_STILL_FOR_NS = 300_000_000
_CREEP_NS = 5_000_000_000  # time constant of the slow drift that is followed


@dataclass(frozen=True, slots=True)
class Drift:
    """The state of the calibration at one frame.

    Attributes:
        state: ``steady``: positions hold, once taken back by the shake; ``bumped``: the camera was moved, calls are
            suspended; ``resolving``: it is still again and must be solved afresh; ``lost``: the field is not seen.
        since_ns: when that state began.
        creep_px: the slow drift so far, at the field's middle.

    """

    state: DriftState
    since_ns: int
    creep_px: float

    @property
    def trusted(self) -> bool:
        """Whether calls may be made."""
        return self.state == "steady"


class DriftWatch:
    """Judges a sequence of shakes. Begin a new one with each new reference picture."""

    def __init__(self) -> None:
        self._drift: Drift | None = None
        self._moved_since_ns: int | None = None
        self._unseen_since_ns: int | None = None
        self._still_since_ns: int | None = None
        self._last: tuple[int, Array] | None = None
        self._creep: Array | None = None

    def update(self, shake: Shake, t_ns: int) -> Drift:
        """Judge one frame.

        Args:
            shake: the frame's displacement from the reference picture.
            t_ns: its capture time, rising.

        """
        seen = shake.share >= _LOST_SHARE
        self._unseen_since_ns = None if seen else _first(self._unseen_since_ns, t_ns)
        beyond = seen and shake.largest_px > BUMP_PX
        self._moved_since_ns = _first(self._moved_since_ns, t_ns) if beyond else None
        still = seen and self._last is not None and _length(shake.middle_px - self._last[1]) < _STILL_PX
        self._still_since_ns = _first(self._still_since_ns, t_ns) if still else None
        self._follow(shake, t_ns)
        state = self._state(t_ns)
        if self._drift is None or self._drift.state != state:
            self._drift = Drift(state, t_ns, self._creep_px())
        else:
            self._drift = Drift(state, self._drift.since_ns, self._creep_px())
        return self._drift

    def _state(self, t_ns: int) -> DriftState:
        before: DriftState = self._drift.state if self._drift else "steady"
        if _lasted(self._unseen_since_ns, t_ns, _LOST_AFTER_NS):
            return "lost"
        if before == "steady":
            return "bumped" if _lasted(self._moved_since_ns, t_ns, _BUMPED_AFTER_NS) else "steady"
        if _lasted(self._still_since_ns, t_ns, _STILL_FOR_NS):
            # Back within the limit it need not be solved again: whoever leaned on the table has let go.
            return "resolving" if self._moved_since_ns is not None else "steady"
        return "bumped" if self._unseen_since_ns is None or before != "lost" else "lost"

    def _follow(self, shake: Shake, t_ns: int) -> None:
        if shake.share >= _LOST_SHARE:
            if self._creep is None or self._last is None:
                self._creep = shake.middle_px.copy()
            else:
                share = min((t_ns - self._last[0]) / _CREEP_NS, 1.0)
                self._creep += share * (shake.middle_px - self._creep)
            self._last = (t_ns, shake.middle_px)

    def _creep_px(self) -> float:
        return 0.0 if self._creep is None else _length(self._creep)


def _length(vector: Array) -> float:
    return float(np.linalg.norm(vector))


def _first(since_ns: int | None, t_ns: int) -> int:
    return t_ns if since_ns is None else since_ns


def _lasted(since_ns: int | None, t_ns: int, long_ns: int) -> bool:
    return since_ns is not None and t_ns - since_ns >= long_ns
