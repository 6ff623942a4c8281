"""Thresholds of the tracker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class TrackerLimits:
    """Thresholds of the tracker."""

    hand_reach_mm: float = 55.0
    """A hand may move figures nearer to its fingertips than this."""

    grasp_mm: float = 35.0
    """A moving figure nearer to the fingertips than this is held."""

    carried_mm: float = 25.0
    """Largest movement within a frame of a detected figure in a hand."""

    let_go_ns: int = 300_000_000
    """A figure counts as handled for this long after the hand."""

    unseen_ns: int = 250_000_000
    """A figure not detected for less than this was missed, not hidden."""

    missed_once_steps: float = 2.5
    """A figure missed in one detection was detected at most this many steps ago."""

    blind_ns: int = 100_000_000
    """When no figure was detected for this long, the board's power is not known either."""

    surprise_ns: int = 200_000_000
    """Time for which a figure that moved against the prediction may continue to do so."""

    pushed_ns: int = 200_000_000
    """A figure may still slide from a push for this long after it touched another."""

    starting_ns: int = 300_000_000
    """Figures start to walk until this long after the board is known to be on, and leave the place where they stood."""

    coming_to_rest_ns: int = 500_000_000
    """Figures may still fall until this long after the board is known to be off, or after a hand was near them."""

    pivot_mm: float = 4.0
    """Deviation of the place of a figure that a hand hides and leaves in place."""

    pivot_rad: float = 1.0
    """Deviation of the heading of a figure that a hand hides and leaves in place."""

    astray_mm: float = 60.0
    """A figure found further than this from its prediction, without a hand, may be a different figure."""

    replaced_mm: float = 120.0
    """A figure put down further than this from its old place may be a different figure."""


TRACKER_LIMITS: Final = TrackerLimits()
