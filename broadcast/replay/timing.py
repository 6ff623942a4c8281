"""When each picture of a replay is shown: slower toward the decisive instant, in slow motion at it, then held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ReplayPace:
    """Times and speeds of a replay."""

    before_s: float = 1.3
    """It begins so long before the decisive picture."""
    slow_s: float = 0.25
    """Slow motion begins so long before it."""
    approach: float = 0.6
    """Speed before the slow motion: every picture of a camera with 60 frames/s is seen."""
    slow: float = 0.12
    """Speed of the slow motion: two seconds for a quarter of one."""
    hold_s: float = 2.4
    """How long the decisive picture stays with the verdict on it: time to read a line."""
    still_s: float = 0.35
    """Of these, before the verdict is stamped: the eye is still at the contact."""
    stamp_s: float = 0.3
    """How long the stamp takes to come down."""
    stamp_step_s: float = 1 / 30
    """Time between two pictures of the stamp."""


PACE: Final = ReplayPace()


@dataclass(frozen=True, slots=True)
class ReplayShot:
    """One picture of a replay.

    Attributes:
        place: of its frame among those that the replay is made of.
        shown_ns: when it is shown, from the beginning.
        approach: how far the view has closed in on what is decided, 0..1.
        speed: of the motion, 1 for real time; 0 while it is held.
        stamp: how far the verdict's stamp is down, 0..1; 0 before it falls.
    """

    place: int
    shown_ns: int
    approach: float
    speed: float
    stamp: float = 0.0


def shots(times_ns: Sequence[int], pace: ReplayPace = PACE) -> list[ReplayShot]:
    """Return the pictures of a replay in order.

    Args:
        times_ns: capture times of its frames, rising; the last is the decisive one.
        pace: times and speeds.
    """
    end_ns = times_ns[-1]
    slow_from_ns = end_ns - round(pace.slow_s * 1e9)
    approach_ns = max(1, slow_from_ns - times_ns[0])
    shown_ns, before_ns = 0.0, times_ns[0]
    made = []
    for place, t_ns in enumerate(times_ns):
        fast_ns = max(0, min(t_ns, slow_from_ns) - min(before_ns, slow_from_ns))
        shown_ns += fast_ns / pace.approach + (t_ns - before_ns - fast_ns) / pace.slow
        before_ns = t_ns
        approach = min(1.0, (t_ns - times_ns[0]) / approach_ns)
        speed = 0.0 if t_ns == end_ns else pace.approach if t_ns < slow_from_ns else pace.slow
        made.append(ReplayShot(place, round(shown_ns), _eased(approach), speed))
    last = len(times_ns) - 1
    steps = round(pace.stamp_s / pace.stamp_step_s)
    for step in range(1, steps + 1):
        after_ns = shown_ns + (pace.still_s + step * pace.stamp_step_s) * 1e9
        made.append(ReplayShot(last, round(after_ns), 1.0, 0.0, step / steps))
    made.append(ReplayShot(last, round(shown_ns + pace.hold_s * 1e9), 1.0, 0.0, 1.0))
    return made


def _eased(share: float) -> float:
    """Return a share of a movement that starts and stops gently."""
    return share * share * (3 - 2 * share)
