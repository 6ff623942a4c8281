"""Findings: what a rule has detected, before policy and confidence make a call of it."""

from __future__ import annotations

from downfield.core.records import record
from downfield.officiating.calls import CallKind, Unit
from downfield.officiating.declarations import Side

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
    ripe_ns: int | None = None
    early: bool = True
    reported: bool = False
    proposed: bool = False
    side: Side | None = None
    detail: str = ""
    because: tuple[str, ...] = ()
