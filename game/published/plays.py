"""A game's plays: how each began, its calls, what it gained and what came of it. Made once here, and read by everyone.

A gain is one number wherever it is shown or added up: the tenths of a yard by which the distance to go got less.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from downfield.core.records import made_of
from downfield.game.published.game_topics import CallView
from downfield.game.published.views import clock_text
from downfield.game.records.entries import Snap
from downfield.game.records.models import TopicModel
from downfield.officiating.call_kinds import (
    DEAD_BALL,
    KICKED,
    MEANINGS,
    NO_GAIN,
    SCORES,
    SPOTTED,
    TAKEN,
    TURNOVERS,
    CallKind,
)
from downfield.officiating.declarations import Side
from downfield.officiating.state.game_state import opponent
from downfield.officiating.state.play_state import PlayKind

SCRIMMAGE: Final = frozenset({"scrimmage", "punt", "field_goal"})  # kinds of plays that have a down and a distance

_WIPED_OUT: Final = frozenset(
    {
        "offensive_pass_interference",
        "defensive_pass_interference",
        "gunner_interference",
        "replay",
        "loss_of_down",
        "first_down",
        "kick_again",
    }
)
"""Details of penalties after which a play does not count; others are before a snap, or walked off from its end."""
_GOOD: Final = frozenset({"", "good"})
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
    told: bool = Field(default=False, description="Whether nobody saw it begin: told by its end, rolled, or of cards.")
    is_pass: bool | None = Field(default=None, description="Whether it was a pass; null where nobody knows.")
    counts: bool = Field(default=True, description="Whether it counts: false once a penalty has wiped it out.")
    gain_yd: float | None = Field(
        default=None,
        description="Yards gained by the offense, in tenths, with the sign of football: up to where the ball was lost,"
        " if it was; null for a kick, a return, and where nobody knows.",
    )
    losses: tuple[Side, ...] = Field(default=(), description="Who lost the ball in it, in order; on downs as well.")
    points: tuple[tuple[Side, int], ...] = Field(default=(), description="The points that were scored in it.")
    result: str = Field(default="", description="What came of it in plain words.")

    @property
    def is_run(self) -> bool:
        """Whether it is a run or a pass from scrimmage that counts; a punt that was never kicked is one as well."""
        return self.counts and (self.kind == "scrimmage" or (self.kind == "punt" and not self.has(*KICKED)))

    @property
    def in_force(self) -> tuple[CallView, ...]:
        """The calls that count: none from before a penalty that has wiped the play out."""
        standing = [call for call in self.calls if is_in_force(call)]
        return tuple(standing[_wiped_out_at(standing) or 0 :])

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
        """Whether the offense lost the ball, and did not win it back."""
        lost = sum(1 if side == self.offense else -1 for side in self.losses)
        return lost > 0


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What the plays of a game are made of."""

    snaps: Sequence[Snap]  # how its plays began, in order
    calls: Sequence[CallView]  # that stand, in order
    struck: Sequence[CallView] = ()  # that a ruling took away
    length_yd: float = 100.0  # of the field, goal line to goal line
    is_over: bool = False  # whether the last play is over, too


def is_in_force(call: CallView) -> bool:
    """Return whether a call counts: undisputed, or by a person, such as one put in place of one overturned."""
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
        wiped_out = _wiped_out_at(in_force)
        counting = in_force if wiped_out is None else in_force[wiped_out:]
        ending = _ending(counting)
        losses, holders = _losses(snap, counting)
        gain_yd = None if wiped_out is not None else _gain_yd(snap, in_force, losses, game.length_yd)
        is_over = game.is_over or number < last
        plays.append(
            made_of(
                Play,
                snap,
                number=number,
                clock=clock_text(snap.clock_s),
                calls=own,
                struck=gone,
                state="over" if is_over else "under way",
                ending=None if ending is None else ending.kind,
                is_pass=_is_pass(snap, in_force),
                counts=wiped_out is None,
                gain_yd=gain_yd,
                losses=losses,
                points=() if snap.for_yards else tuple(_points(snap, counting, holders)),
                result=_result(own, counting, ending, gain_yd) or ("No call" if is_over else "Under way"),
            )
        )
    return plays


def gain_text(yards: float) -> str:
    """Return yards gained as a report prints them: ``"+4.5"``, ``"0"``, ``"-3"``."""
    return f"{yards:+.4g}" if yards else "0"


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
    for kinds in (SCORES, TURNOVERS, DEAD_BALL):
        found = next((call for call in reversed(in_force) if call.kind in kinds), None)
        if found is not None:
            return found
    return None


def _wiped_out_at(in_force: Sequence[CallView]) -> int | None:
    """Return where the penalty stands after which nothing before it counts; None where there is none."""
    places = [place for place, call in enumerate(in_force) if call.kind == "penalty" and call.detail in _WIPED_OUT]
    return places[-1] if places else None


def _losses(snap: Snap, in_force: Sequence[CallView]) -> tuple[tuple[Side, ...], tuple[Side, ...]]:
    """Return who lost the ball, in order, and who had it once each call was made."""
    holder, losses, holders = snap.offense, list[Side](), list[Side]()
    kicked = snap.kind not in {"scrimmage", "two_point"}
    for call in in_force:
        taken = call.kind in TAKEN
        # A play told by its end says who had the ball then, and no more.
        told = call.kind in {"first_down", "touchdown", "touchback"}
        if call.kind == "turnover_on_downs":
            losses.append(holder)
            holder = opponent(holder)
        elif call.side is not None and call.side != holder and (taken or told):
            if taken or not kicked:
                losses.append(holder)
            holder = call.side
        holders.append(holder)
    return tuple(losses), tuple(holders)


def _points(snap: Snap, in_force: Sequence[CallView], holders: Sequence[Side]) -> Iterator[tuple[Side, int]]:
    for call, holder in zip(in_force, holders, strict=True):
        # The goal line crossed on a try is worth what its own call says.
        on_try = snap.kind in {"extra_point", "two_point"} and call.kind == "touchdown"
        points = 0 if on_try else MEANINGS[call.kind].points
        if points and (call.kind in {"touchdown", "safety"} or call.detail in _GOOD):
            yield call.side or (opponent(holder) if call.kind == "safety" else holder), points


def _is_pass(snap: Snap, in_force: Sequence[CallView]) -> bool | None:
    """Return whether a play was a pass; None where a person told no more than where it ended."""
    if snap.kind not in {"scrimmage", "two_point"}:
        return False
    if any(call.kind in {"reception", "interception", "sack", *NO_GAIN} for call in in_force):
        return True
    return snap.is_pass if snap.told else False


def _gain_yd(snap: Snap, in_force: Sequence[CallView], losses: Sequence[Side], length_yd: float) -> float | None:
    """Return what the offense gained, in tenths; a return by the other side is no gain of anybody's."""
    if snap.kind not in {"scrimmage", "two_point", "punt"}:
        return None
    if snap.kind == "punt" and any(call.kind in KICKED for call in in_force):
        return None
    reached_yd = _reached_yd(snap, in_force, losses, length_yd)
    if reached_yd is None:
        return None
    start_yd = snap.spot_yd if snap.direction > 0 else length_yd - snap.spot_yd
    gained = min(max(reached_yd, 0.0), length_yd) - start_yd
    # As the next down shows it: 10 to go and then 5.5 are a gain of 4.5.
    return round(round(snap.distance_yd, 1) - round(snap.distance_yd - gained, 1), 1) + 0.0


def _reached_yd(snap: Snap, in_force: Sequence[CallView], losses: Sequence[Side], length_yd: float) -> float | None:
    """Return where the offense got to, from its own goal line; None where nobody knows."""

    def progress(x_yd: float) -> float:
        return x_yd if snap.direction > 0 else length_yd - x_yd

    if any(call.kind in NO_GAIN for call in in_force):
        return progress(snap.spot_yd)
    lost = bool(losses) and losses[0] == snap.offense and not any(c.kind == "turnover_on_downs" for c in in_force)
    if lost:
        fumbled = [c for c in in_force if c.kind in {"fumble", "fumble_recovery"} and c.spot_yd is not None]
        intercepted = any(call.kind == "interception" for call in in_force)
        return None if intercepted or not fumbled else progress((fumbled[0].spot_yd or (0.0, 0.0))[0])
    for call in reversed(in_force):
        if call.kind == "touchdown":
            return length_yd
        if call.kind in {*SPOTTED, "fumble_recovery"} and call.spot_yd is not None:
            return progress(call.spot_yd[0])
        if call.kind == "safety":
            return 0.0
        if call.kind == "turned_back" and call.detail == "second" and call.spot_yd is not None:
            return progress(call.spot_yd[0])
    return None


def _result(
    calls: Sequence[CallView], in_force: Sequence[CallView], ending: CallView | None, gain_yd: float | None
) -> str:
    """Return what came of a play in words; empty where no call says so and none waits."""
    waiting = sum(call.standing == "open" for call in calls)
    parts = [] if ending is None else [_call_words(ending)]
    if ending is not None:
        if gain_yd is not None and ending.kind in SPOTTED:
            parts.append(_gain_words(gain_yd))
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
    return MEANINGS[call.kind].words or call.kind.replace("_", " ")


def _gain_words(yards: float) -> str:
    if yards == 0:
        return "no gain"
    counted = f"{abs(yards):.4g} yard{'' if abs(yards) == 1 else 's'}"
    return f"gain of {counted}" if yards > 0 else f"loss of {counted}"
