"""A game's plays with the yards they gained and how they ended: what the reports count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from downfield.game.published.game_topics import CallView
from downfield.game.records.entries import Snap
from downfield.officiating.declarations import Side
from downfield.store.history import History

DEAD_BALL: Final = frozenset(
    {"tackle", "sack", "down_by_fall", "out_of_bounds", "stopped", "stoppage", "touchdown", "safety"}
)
"""Kinds of calls that end a run where the ball then is."""

RUNS: Final = frozenset({"scrimmage", "two_point"})
"""Kinds of plays whose yards count."""


@dataclass(frozen=True, slots=True)
class ReportedPlay:
    """One play.

    Attributes:
        number: in the game, from 1.
        snap: how it began.
        calls: from its snap to the next, in the order they were made.
        yards: gained by the offense, with the sign of football; None for a kick, and where nobody knows.

    """

    number: int
    snap: Snap
    calls: tuple[CallView, ...]
    yards: float | None

    @property
    def counted(self) -> tuple[CallView, ...]:
        """The calls that are in force."""
        return tuple(call for call in self.calls if in_force(call))

    @property
    def result(self) -> str:
        """How it ended, in words."""
        decided = [call for call in self.counted if call.kind in DEAD_BALL or call.kind in _ENDS]
        if not decided:
            return "open" if any(call.standing == "open" for call in self.calls) else ""
        return decided[-1].kind.replace("_", " ")

    def has(self, *kinds: str) -> bool:
        """Return whether a call of one of some kinds is in force."""
        return any(call.kind in kinds for call in self.counted)


_ENDS: Final = frozenset({"incomplete", "interception", "field_goal", "extra_point", "two_point", "touchback", "kick"})


def in_force(call: CallView) -> bool:
    """Return whether a call counts: made by the rulebook, or by a person."""
    if call.standing in {"confirmed", "manual"}:
        return True
    return call.verdict == "called" and call.standing == "stands"


def reported_plays(history: History) -> list[ReportedPlay]:
    """Return every play of a game, in order."""
    calls, snaps = history.calls(), history.snaps()
    length_yd = 100.0 if history.started is None else history.started.field.length_yd
    ends: list[int | None] = [*(snap.t_ns for snap in snaps[1:]), None]
    found = []
    for number, (snap, end_ns) in enumerate(zip(snaps, ends, strict=False), start=1):
        own = tuple(call for call in calls if snap.t_ns <= call.t_ns and (end_ns is None or call.t_ns < end_ns))
        found.append(ReportedPlay(number, snap, own, _yards(snap, own, length_yd)))
    return found


def side_names(history: History) -> dict[Side, str]:
    """Return the teams' names."""
    return {"home": history.row.home, "away": history.row.away}


def _yards(snap: Snap, calls: Sequence[CallView], length_yd: float) -> float | None:
    if snap.kind not in RUNS:
        return None
    counted = [call for call in calls if in_force(call)]
    if any(call.kind == "incomplete" for call in counted):
        return 0.0
    for call in reversed(counted):
        if call.kind == "touchdown" and call.side == snap.offense:
            goal_yd = length_yd if snap.direction > 0 else 0.0
            return abs(goal_yd - snap.spot_yd)
        if call.kind in DEAD_BALL and call.spot_yd is not None:
            return (call.spot_yd[0] - snap.spot_yd) * snap.direction
    return None
