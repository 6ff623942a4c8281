"""Findings and the calls made of them, with margin, error and the clause that decided; call files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from downfield.core.json_lines import JsonLinesFile, write_json_lines
from downfield.core.records import record
from downfield.officiating.declarations import Side

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
Verdict = Literal["called", "too_close", "proposed", "reported"]
Policy = Literal["auto", "propose", "log"]
"""What may be done with a call of some kind without a person."""
Unit = Literal["", "mm", "yd", "deg", "s", "count"]


@record
class CallReading:
    """One way a close call can be read.

    Attributes:
        kind: what the call would be; ``"info"`` for none at all.
        probability: of this reading, 0..1.
        text: it, in words.

    """

    kind: CallKind
    probability: float
    text: str


@record
class Call:
    """One call.

    Attributes:
        id: unique in its game, stable under replay.
        kind: what is called.
        t_ns: the instant the call is about (a contact's, a crossing's), not when it was published.
        rulebook: the rulebook's name.
        clauses: catalog ids of the clauses that decided.
        verdict: ``"called"``; ``"too_close"`` when below the rulebook's confidence, with both readings; ``"proposed"``
            when sure but the policy leaves it to a person; ``"reported"`` for what is checked and told without
            consequence.
        text: the call as a person would say it.
        players: roster ids concerned, the carrier or offender first.
        spot_yd: where the ball is spotted, field yards along x of the board, and across.
        margin: by how much, in `unit`; positive is on the side of the call.
        sigma: its standard deviation, same unit.
        unit: ``"mm"``, ``"yd"``, ``"deg"``, ``"s"``, ``"count"`` or empty where nothing was measured.
        probability: that the call is right, 0..1; 1 for what follows from declarations, rolls or clocks.
        readings: both readings of a close call.
        because: ids of the events and calls it rests on.
        side: whom it favors: who gets the ball, the points, the yards.
        detail: the outcome within the kind, one word for the machine, such as ``"good"`` or ``"delay_of_game"``.

    """

    id: str
    kind: CallKind
    t_ns: int
    rulebook: str
    clauses: tuple[str, ...]
    verdict: Verdict
    text: str
    players: tuple[str, ...] = ()
    spot_yd: tuple[float, float] | None = None
    margin: float | None = None
    sigma: float | None = None
    unit: Unit = ""
    probability: float = 1.0
    readings: tuple[CallReading, ...] = ()
    because: tuple[str, ...] = ()
    side: Side | None = None
    detail: str = ""

    @property
    def measured(self) -> str:
        """By how much and with what error, for people; empty where nothing was measured."""
        if self.margin is None:
            return ""
        if self.unit == "count":
            return f"{self.margin:+g} {self.unit}"
        error = f" ± {self.sigma:.2f}" if self.sigma else ""
        return f"{self.margin:+.2f}{error} {self.unit}"


def calls_to_append(before: Iterable[str], now: Sequence[str]) -> tuple[str, ...]:
    """Calls that stand behind where a reader has them who drops what is gone and appends what is new.

    A ruling can bring back a call from before others that stood all the while.

    Args:
        before: ids of the calls that stood, in order.
        now: ids of those that stand, in order.

    Returns:
        Ids to put at the end one by one, which leads to the order of `now`; none where that is what appending does.

    """
    stand, stood = set(now), dict.fromkeys(before)
    told = [*(one for one in stood if one in stand), *(one for one in now if one not in stood)]
    first = next((place for place, (had, has) in enumerate(zip(told, now, strict=True)) if had != has), len(now))
    return tuple(now[first:])


POWER = "power"
"""Rule id of the board's switch in the queue; it is no rule's finding and makes no call of its own."""


@record
class Finding:
    """What one rule detected.

    Attributes:
        rule: id of the rule.
        kind: what the call would be.
        t_ns: the instant it is about.
        text: the call as a person would say it.
        clauses: catalog ids of the clauses that decide.
        key: what makes it the same finding in the next frame, such as ``"light-7@123"``; a key is called once a play.
        players: roster ids concerned, the carrier or offender first.
        spot_yd: where the ball is spotted: along x of the board, across.
        margin, sigma, unit: by how much, with error.
        probability: that it is right, 0..1.
        against: the other reading, in words; empty for "no call".
        against_kind: the other reading's kind.
        ripe_ns: when enough evidence will be in; None for at once.
        early: whether it may be published before that, once it is sure.
        reported: whether it only tells, without consequence.
        proposed: whether it is left to a person whatever the policy, since causation must be judged.
        side: whom it favors: who gets the ball, the points, the yards.
        detail: the outcome within the kind, one word for the machine: ``"good"``, ``"delay_of_game"``.
        because: ids of the events it rests on.

    """

    rule: str
    kind: CallKind
    t_ns: int
    text: str
    clauses: tuple[str, ...]
    key: str = ""
    players: tuple[str, ...] = ()
    spot_yd: tuple[float, float] | None = None
    margin: float | None = None
    sigma: float | None = None
    unit: Unit = ""
    probability: float = 1.0
    against: str = ""
    against_kind: CallKind = "info"
    settle_ns: int | None = None
    settle_early: bool = True
    reported: bool = False
    proposed: bool = False
    side: Side | None = None
    detail: str = ""
    because: tuple[str, ...] = ()


@record
class RefusedEvent:
    """An event that the state of the game did not allow.

    Attributes:
        event: its id.
        reason: why.

    """

    event: str
    reason: str


@record
class CallsHeader:
    """First line of a call file.

    Attributes:
        rulebook: its name.
        source: the tracks judged.
        final: the game at the end, on one line.
        score: home, away at the end.
        refused: events that were refused.

    """

    rulebook: str
    source: str = ""
    final: str = ""
    score: tuple[int, int] = (0, 0)
    refused: tuple[RefusedEvent, ...] = ()
    format: Literal["downfield.calls"] = "downfield.calls"
    version: Literal[1] = 1


def read_calls(path: Path) -> tuple[CallsHeader, tuple[Call, ...]]:
    """Read a call file.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the line and the field.

    """
    lines = JsonLinesFile(path, CallsHeader, Call)
    return lines.header, tuple(lines)


def write_calls(path: Path, header: CallsHeader, calls: Iterable[Call]) -> None:
    """Write a call file, whole or not at all.

    Raises:
        OutputError: the place can't be written.

    """
    write_json_lines(path, (CallsHeader, header), Call, calls)
