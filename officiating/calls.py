"""Calls: what a rulebook makes of facts, with margin, error and the clause that decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

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
Unit = Literal["", "mm", "yd", "deg", "s", "count"]


@record
class Reading:
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
    readings: tuple[Reading, ...] = ()
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


def moved_back(before: Iterable[str], now: Sequence[str]) -> tuple[str, ...]:
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
