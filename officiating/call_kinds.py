"""The kinds of calls and what each one means: one line a kind, from which all lists of kinds follow.

A new kind takes its name and its line here. Whether viewers see it again is chosen in
`downfield.broadcast.replay.highlights`, and whether a person can make it by hand in the panel's `call_kinds.js`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

CallKind = Literal[
    "tackle",
    "broken_tackle",
    "slipped_tackle",
    "sack",
    "down_by_fall",
    "fumble",
    "fumble_recovery",
    "out_of_bounds",
    "touchdown",
    "safety",
    "touchback",
    "first_down",
    "turnover_on_downs",
    "line_of_scrimmage",
    "stopped",
    "stoppage",
    "reception",
    "interception",
    "incomplete",
    "overrun",
    "field_goal",
    "extra_point",
    "two_point",
    "kick",
    "penalty",
    "formation",
    "pivot",
    "timing",
    "turned_back",
    "figure_dead",
    "period",
    "game_over",
    "info",
]

Subject = Literal["contact", "line", "breach", ""]
"""What a kind of call is about: the gap of two bases; a place against a line; something allowed; none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindMeaning:
    """What follows from a call's kind."""

    about: Subject = ""
    ends_run: bool = False  # whether the carrier's run is over, by what the board shows
    at_contact: bool = False  # whether it may end his run at an instant of its own
    at_line: bool = False  # whether it says where he was against a line
    at_goal: bool = False  # whether it is about a goal line
    in_play: bool = False  # whether only a play makes it: between plays it is a play that nobody saw begin
    # the kind of a play from scrimmage, or of a try, that it shows
    play: Literal["punt", "field_goal", "extra_point", "two_point"] | None = None
    spotted: bool = False  # whether it ends a run or a catch where the ball then is
    dead: bool = False  # whether it says what came of a play, unless a score or a turnover does
    taken: bool = False  # whether the other side may have taken the ball
    points: int = 0  # what it is worth, if it is good
    no_gain: bool = False  # whether its play gained nothing
    kicked: bool = False  # whether a punt that it ends was kicked
    words: str = ""  # what it is called as the end of a play; empty for its name


_Line = KindMeaning

MEANINGS: Final[Mapping[CallKind, KindMeaning]] = {
    "tackle": _Line(about="contact", ends_run=True, at_contact=True, in_play=True, spotted=True, dead=True),
    "broken_tackle": _Line(about="contact", at_contact=True),
    "slipped_tackle": _Line(about="contact"),
    "sack": _Line(about="contact", at_contact=True, in_play=True, spotted=True, dead=True),
    "down_by_fall": _Line(
        ends_run=True, at_contact=True, in_play=True, spotted=True, dead=True, words="down by a fall"
    ),
    "fumble": _Line(about="contact", ends_run=True, at_contact=True, in_play=True),
    "fumble_recovery": _Line(in_play=True, taken=True, words="fumble recovered"),
    "out_of_bounds": _Line(
        about="line", ends_run=True, at_line=True, in_play=True, spotted=True, dead=True, words="out of bounds"
    ),
    "touchdown": _Line(about="line", ends_run=True, at_line=True, at_goal=True, in_play=True, points=6),
    "safety": _Line(about="line", ends_run=True, at_line=True, at_goal=True, in_play=True, points=2),
    "touchback": _Line(about="line", at_goal=True, in_play=True, dead=True, kicked=True),
    "first_down": _Line(about="line"),
    "turnover_on_downs": _Line(words="turnover on downs"),
    "line_of_scrimmage": _Line(about="line", at_line=True),
    "stopped": _Line(in_play=True, spotted=True, dead=True),
    "stoppage": _Line(about="breach", spotted=True, dead=True),
    "reception": _Line(in_play=True),
    "interception": _Line(in_play=True, taken=True),
    "incomplete": _Line(in_play=True, dead=True, no_gain=True, words="incomplete pass"),
    "overrun": _Line(in_play=True, no_gain=True),
    "field_goal": _Line(in_play=True, play="field_goal", points=3),
    "extra_point": _Line(in_play=True, play="extra_point", points=1),
    "two_point": _Line(in_play=True, play="two_point", points=2),
    "kick": _Line(in_play=True, play="punt", dead=True, kicked=True),
    "penalty": _Line(about="breach", dead=True),
    "formation": _Line(about="breach"),
    "pivot": _Line(about="breach"),
    "timing": _Line(about="breach"),
    "turned_back": _Line(),
    "figure_dead": _Line(),
    "period": _Line(),
    "game_over": _Line(),
    "info": _Line(),
}


def _kinds(holds: Callable[[KindMeaning], bool]) -> frozenset[CallKind]:
    return frozenset(kind for kind, meaning in MEANINGS.items() if holds(meaning))


CALL_KINDS: Final = frozenset(MEANINGS)
CONTACTS: Final = _kinds(lambda one: one.at_contact)
"""Kinds that may end a carrier's run at an instant of their own."""

CROSSINGS: Final = _kinds(lambda one: one.at_line)
"""Kinds that say where a carrier was against a line."""

RUN_ENDS: Final = _kinds(lambda one: one.ends_run)
GOAL_LINE: Final = _kinds(lambda one: one.at_goal)
PLAY_CALLS: Final = _kinds(lambda one: one.in_play)
"""Calls that only a play makes: one of them between plays is a play that nobody saw begin."""

SPOTTED: Final = _kinds(lambda one: one.spotted)
"""Calls that end a run or a catch where the ball then is."""

SCORES: Final = _kinds(lambda one: one.points > 0)
TAKEN: Final = _kinds(lambda one: one.taken)
TURNOVERS: Final = TAKEN | {"turnover_on_downs"}
DEAD_BALL: Final = _kinds(lambda one: one.dead)
KICKED: Final = _kinds(lambda one: one.kicked)
NO_GAIN: Final = _kinds(lambda one: one.no_gain)
