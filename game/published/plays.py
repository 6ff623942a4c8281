"""A game's plays: how each began, its calls, what it gained and what came of it. Made once here, and read by everyone.

Whole yards are for people, as football counts them; `Play.gain_yd` is what was measured, for files and programs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from downfield.game.published.game_topics import CallView
from downfield.game.published.views import clock_text
from downfield.game.records.entries import Snap
from downfield.game.records.models import TopicModel
from downfield.officiating.calls import CallKind
from downfield.officiating.declarations import Side
from downfield.officiating.state.play_state import PlayKind

RUNS: Final = frozenset({"scrimmage", "two_point"})
"""Kinds of plays whose yards count."""

SCORES: Final[tuple[CallKind, ...]] = ("touchdown", "safety", "field_goal", "extra_point", "two_point")
TURNOVERS: Final[tuple[CallKind, ...]] = ("interception", "fumble_recovery", "turnover_on_downs")
_SPOTTED: Final[tuple[CallKind, ...]] = ("out_of_bounds", "sack", "tackle", "down_by_fall", "stopped", "stoppage")
"""Calls that end a run or a catch where the ball then is."""

_DEAD_BALL: Final[tuple[CallKind, ...]] = ("incomplete", *_SPOTTED, "touchback", "kick", "penalty")
_ENDINGS: Final[dict[CallKind, str]] = {
    "turnover_on_downs": "turnover on downs",
    "incomplete": "incomplete pass",
    "out_of_bounds": "out of bounds",
    "down_by_fall": "down by a fall",
    "fumble_recovery": "fumble recovered",
}
_PLAYER: Final = re.compile(r"\b(dark|light)-(\d+)")


class Play(TopicModel):
    """One play."""

    number: int = Field(description="In the game, from 1.")
    kind: PlayKind
    t_ns: int = Field(description="The snap, on the capture clock.")
    period: int
    clock: str = Field(default="", description='Time left at the snap, such as "4:07"; empty without a clock.')
    offense: Side
    direction: int = Field(
        default=1, description="1 when the offense goes toward larger x of the board, -1 toward smaller x."
    )
    situation: str = Field(description='Such as "2nd & 7 at B 34".')
    down: int
    distance_yd: float
    spot_yd: float
    carrier: str | None
    calls: tuple[CallView, ...] = Field(description="From the snap to the next, in the order they were made.")
    struck: tuple[CallView, ...] = Field(default=(), description="Calls that a ruling took away.")
    state: Literal["over", "under way"]
    ending: CallKind | None = Field(
        default=None, description="Kind of the call that says what came of it; null for none."
    )
    gain_yd: float | None = Field(
        default=None,
        description="Yards gained by the offense, exact to 0.01, with the sign of football; null for a kick, where the"
        " ball was lost, and where nobody knows. People are told whole yards.",
    )
    result: str = Field(default="", description="What came of it in plain words.")

    @property
    def yards(self) -> int | None:
        """Whole yards gained, as people are told and statistics add up; None where `gain_yd` is."""
        return None if self.gain_yd is None else round(self.gain_yd)

    @property
    def in_force(self) -> tuple[CallView, ...]:
        """The calls that count."""
        return tuple(call for call in self.calls if is_in_force(call))

    @property
    def ending_words(self) -> str:
        """The kind of call that it ended with, in words; "open" while that waits for a person, empty for none."""
        if self.ending is not None:
            return self.ending.replace("_", " ")
        return "open" if any(call.standing == "open" for call in self.calls) else ""

    def has(self, *kinds: str) -> bool:
        """Return whether a call of one of some kinds is in force."""
        return any(call.kind in kinds for call in self.in_force)

    @property
    def is_lost(self) -> bool:
        """Whether the offense lost the ball."""
        return any(call.kind in TURNOVERS and call.side not in {self.offense, None} for call in self.in_force)


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What the plays of a game are made of.

    Attributes:
        snaps: how its plays began, in order.
        calls: that stand, in order.
        struck: that a ruling took away.
        length_yd: of the field, goal line to goal line.
        is_over: whether the last play is over, too.
    """

    snaps: Sequence[Snap]
    calls: Sequence[CallView]
    struck: Sequence[CallView] = ()
    length_yd: float = 100.0
    is_over: bool = False


def is_in_force(call: CallView) -> bool:
    """Return whether a call counts: made by the rulebook and not disputed, or by a person.

    A call that was overturned and still stands is the one that a person put in its place.
    """
    if call.standing in {"confirmed", "overturned", "manual"}:
        return True
    return call.standing == "stands" and call.verdict == "called"


def plays_of(game: PlayedGame) -> list[Play]:
    """Return every play of a game, in order; calls from before the first snap are with the first play."""
    snaps_ns = [snap.t_ns for snap in game.snaps]
    calls, struck = _by_play(game.calls, snaps_ns), _by_play(game.struck, snaps_ns)
    last = len(snaps_ns)
    plays = []
    for number, (snap, own, gone) in enumerate(zip(game.snaps, calls, struck, strict=True), start=1):
        in_force = [call for call in own if is_in_force(call)]
        ending = _ending(in_force)
        gain_yd = _gain_yd(snap, in_force, game.length_yd)
        is_over = game.is_over or number < last
        plays.append(
            Play(
                number=number,
                kind=snap.kind,
                t_ns=snap.t_ns,
                period=snap.period,
                clock=clock_text(snap.clock_s),
                offense=snap.offense,
                direction=snap.direction,
                situation=snap.situation,
                down=snap.down,
                distance_yd=snap.distance_yd,
                spot_yd=snap.spot_yd,
                carrier=snap.carrier,
                calls=own,
                struck=gone,
                state="over" if is_over else "under way",
                ending=None if ending is None else ending.kind,
                gain_yd=None if gain_yd is None else round(gain_yd, 2),
                result=_result(own, in_force, ending, gain_yd) or ("No call" if is_over else "Under way"),
            )
        )
    return plays


def plain_players(text: str) -> str:
    """Return a text with the names of figures as people say them: "dark 28"."""
    return _PLAYER.sub(r"\1 \2", text)


def _by_play(calls: Iterable[CallView], snaps_ns: Sequence[int]) -> list[tuple[CallView, ...]]:
    """Return the calls of each play, from its snap to the next."""
    found: list[list[CallView]] = [[] for _ in snaps_ns]
    for call in calls if snaps_ns else ():
        found[max(0, bisect_right(snaps_ns, call.t_ns) - 1)].append(call)
    return [tuple(own) for own in found]


def _ending(in_force: Sequence[CallView]) -> CallView | None:
    """Return the call that says what came of a play: a score before a change of possession before a dead ball."""
    for kinds in (SCORES, TURNOVERS, _DEAD_BALL):
        found = next((call for call in reversed(in_force) if call.kind in kinds), None)
        if found is not None:
            return found
    return None


def _gain_yd(snap: Snap, in_force: Sequence[CallView], length_yd: float) -> float | None:
    """Return what the offense gained; a return by the other side is no gain of anybody's."""
    if snap.kind not in RUNS:
        return None
    if any(call.kind == "incomplete" for call in in_force):
        return 0.0
    if any(call.kind in TURNOVERS[:2] and call.side not in {snap.offense, None} for call in in_force):
        return None
    for call in reversed(in_force):
        if call.kind == "touchdown" and call.side == snap.offense:
            goal_yd = length_yd if snap.direction > 0 else 0.0
            return abs(goal_yd - snap.spot_yd)
        if call.kind in {*_SPOTTED, "safety"} and call.spot_yd is not None:
            return (call.spot_yd[0] - snap.spot_yd) * snap.direction
    return None


def _result(
    calls: Sequence[CallView], in_force: Sequence[CallView], ending: CallView | None, gain_yd: float | None
) -> str:
    """Return what came of a play in words; empty where no call says so and none waits."""
    waiting = sum(call.standing == "open" for call in calls)
    parts = [] if ending is None else [_call_words(ending)]
    if ending is not None:
        if gain_yd is not None and ending.kind in _SPOTTED:
            parts.append(_gain_words(round(gain_yd)))
        if any(call.kind == "first_down" for call in in_force):
            parts.append("first down")
        if ending.kind != "penalty" and any(call.kind == "penalty" for call in in_force):
            parts.append("penalty")
    if waiting:
        parts.append(f"{waiting} call{'s' if waiting > 1 else ''} to be ruled on")
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def _call_words(call: CallView) -> str:
    if call.kind == "tackle":
        by = [plain_players(name) for name in call.players[1:2]]
        return f"tackled by {by[0]}" if by else "tackled"
    if call.kind in {"field_goal", "extra_point", "two_point"}:
        name = "two-point try" if call.kind == "two_point" else call.kind.replace("_", " ")
        return f"{name} {call.detail.replace('_', ' ')}".rstrip()
    if call.kind in {"kick", "penalty"}:
        return plain_players(call.text)
    return _ENDINGS.get(call.kind, call.kind.replace("_", " "))


def _gain_words(yards: int) -> str:
    if yards == 0:
        return "no gain"
    counted = f"{abs(yards)} yard{'' if abs(yards) == 1 else 's'}"
    return f"gain of {counted}" if yards > 0 else f"loss of {counted}"
