"""Findings of the rules, the calls made of them, and call files (``*.calls.jsonl``)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

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


POWER: Final = "power"
"""Rule id of the board's switch among pending findings; it belongs to no rule and makes no call of its own."""


@record
class Finding:
    """What one rule detected, before confidence and policy make a call of it.

    Attributes:
        rule: id of the rule.
        kind: what the call would be.
        t_ns: the instant it is about.
        text: what an announcer would say.
        clauses: catalog ids of the clauses that decide.
        key: identifies the finding from frame to frame, such as ``"light-7@123"``; each key is called once per play.
        players: roster ids of the figures concerned, the carrier or offender first.
        spot_yd: where the ball is spotted, field yards along x of the board and across.
        margin, sigma, unit: by how much the rule is met, and the standard deviation of that.
        probability: that the finding is right, 0..1.
        against: the other reading, in words; empty for "no call".
        against_kind: the call kind of the other reading.
        settle_ns: when all the evidence is in and the finding is settled; None for at once.
        settle_early: whether it may be settled before that, once it is sure enough to call.
        reported: whether it is only reported and changes nothing.
        proposed: whether a person always decides, whatever the policy, because the rule asks for a judgment.
        side: the side it favors: who gets the ball, the points or the yards.
        detail: the outcome within the kind, one word for programs, such as ``"good"`` or ``"delay_of_game"``.
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
class CallReading:
    """One of the two readings of a call that is too close.

    Attributes:
        kind: what the call would be; ``"info"`` for none at all.
        probability: that this reading is right, 0..1.
        text: the reading in words.

    """

    kind: CallKind
    probability: float
    text: str


@record
class Call:
    """What the rulebook makes of a finding.

    Attributes:
        id: unique in its game and the same in every replay.
        kind: what is called.
        t_ns: the instant the call is about (of a contact, of a crossing), not when it was published.
        rulebook: the rulebook's name.
        clauses: catalog ids of the clauses that decided.
        verdict: ``"called"``; ``"too_close"`` below the rulebook's confidence, with both readings; ``"proposed"`` when
            sure but left to a person by the policy; ``"reported"`` when it changes nothing in the game.
        text: what an announcer would say.
        players: roster ids of the figures concerned, the carrier or offender first.
        spot_yd: where the ball is spotted, field yards along x of the board and across.
        margin: by how much the rule is met, in `unit`; positive is on the side of the call.
        sigma: standard deviation of the margin, same unit.
        unit: ``"mm"``, ``"yd"``, ``"deg"``, ``"s"``, ``"count"`` or empty where nothing was measured.
        probability: that the call is right, 0..1; 1 for what follows from declarations, rolls or clocks.
        readings: both readings of a call that is too close.
        because: ids of the events and calls it rests on.
        side: the side it favors: who gets the ball, the points or the yards.
        detail: the outcome within the kind, one word for programs, such as ``"good"`` or ``"delay_of_game"``.

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
        """Margin, error and unit as text, such as ``"+0.42 ± 0.11 mm"``; empty where nothing was measured."""
        if self.margin is None:
            return ""
        if self.unit == "count":
            return f"{self.margin:+g} {self.unit}"
        error = f" ± {self.sigma:.2f}" if self.sigma else ""
        return f"{self.margin:+.2f}{error} {self.unit}"


@record
class RefusedEvent:
    """An event that the state of the game did not allow.

    Attributes:
        event: id of the event.
        reason: why it was refused.

    """

    event: str
    reason: str


@record
class CallsHeader:
    """First line of a call file.

    Attributes:
        rulebook: name of the rulebook.
        source: file name of the tracks that were judged.
        final: the game at the end, on one line.
        score: points of home and away at the end.
        refused: events that the state of the game did not allow.

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
        InputError: the file can't be read.
        FormatError: its content breaks the format; the message names the line and the field.

    """
    lines = JsonLinesFile(path, CallsHeader, Call)
    return lines.header, tuple(lines)


def write_calls(path: Path, header: CallsHeader, calls: Iterable[Call]) -> None:
    """Write a call file, whole or not at all.

    Raises:
        OutputError: the file can't be written.

    """
    write_json_lines(path, (CallsHeader, header), Call, calls)
