"""Calls as topics show them, with the text of their clauses, their rulings and their standing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from downfield.game.published.game_topics import (
    CallsUpdate,
    CallView,
    ClauseView,
    ConditionView,
    ReadingView,
    RulingView,
    Standing,
)
from downfield.game.records.entries import GameStarted
from downfield.officiating.calls import Call
from downfield.officiating.conditions import conditions_summary, joint_words
from downfield.officiating.engine.judged_game import calls_to_append
from downfield.officiating.rulebooks.installed import load_systems

_STANDING: Final[dict[str, Standing]] = {
    "confirm": "confirmed",
    "overturn": "overturned",
    "manual": "manual",
    "strike": "struck",
}
"""A call's standing after a person's ruling on it."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call is shown with.

    Attributes:
        started: how its game was started.
        spot: returns a place along the field in words.
        open: ids of calls that wait for a person.
        rulings: by call id.
        frames: the frame a call was made at, by call id.

    """

    started: GameStarted
    spot: Callable[[float], str]
    open: frozenset[str] = frozenset()
    rulings: Mapping[str, RulingView] = field(default_factory=dict)
    frames: Mapping[str, int] = field(default_factory=dict)


def call_view(call: Call, context: CallContext) -> CallView:
    """Return a call as topics show it."""
    belief = call.belief
    return CallView(
        id=call.id,
        kind=call.kind,
        verdict=call.verdict,
        standing=_standing(call, context),
        text=call.text,
        t_ns=call.t_ns,
        clauses=tuple(_clause_view(clause, context) for clause in call.clauses),
        players=call.players,
        side=call.side,
        spot_yd=call.spot_yd,
        spot_text="" if call.spot_yd is None else context.spot(call.spot_yd[0]),
        margin=_finite(belief.margin),
        sigma=_finite(belief.sigma),
        unit=call.unit,
        measure=call.measured_quantity,
        measured=belief.measured,
        basis=belief.basis,
        frame_measured=belief.frame_measured,
        words=call.words,
        probability=call.probability,
        conditions=_conditions(call),
        together=call.together,
        joint_words=joint_words(call.told_apart, call.together, call.probability),
        summary=conditions_summary(call.told_apart, call.together, call.probability),
        readings=tuple(
            ReadingView(kind=reading.kind, probability=reading.probability, text=reading.text)
            for reading in call.readings
        ),
        detail=call.detail,
        because=call.because,
        numbers=call.numbers,
        ruling=context.rulings.get(call.id),
        frame=context.frames.get(call.id),
    )


def _conditions(call: Call) -> tuple[ConditionView, ...]:
    """Return the things measured that a call rests on, each in words of its own; the first says when."""
    when = call.when_words
    views = []
    for condition in call.told_apart:
        belief = condition.belief
        views.append(
            ConditionView(
                measure=condition.measure,
                name=condition.name,
                words=condition.words(when, too_close=call.verdict == "too_close"),
                probability=condition.probability,
                margin=_finite(belief.margin),
                sigma=_finite(belief.sigma),
                unit=condition.unit,
                limit=condition.limit,
                measured=belief.measured,
                basis=belief.basis,
                frame_measured=belief.frame_measured,
            )
        )
        when = ""
    return tuple(views)


def _standing(call: Call, context: CallContext) -> Standing:
    ruling = context.rulings.get(call.id)
    if ruling is not None:
        return _STANDING.get(ruling.decision, "stands")
    if call.verdict == "reported":
        return "noted"
    return "open" if call.id in context.open else "stands"


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _clause_view(clause: str, context: CallContext) -> ClauseView:
    """Return a clause with its text in short: a house rule's, or that of any rulebook, as a game may change its own."""
    house = context.started.rulebook.house_clauses.get(clause)
    return ClauseView(id=clause, text=_clause_texts().get(clause, "") if house is None else house.text)


@cache
def _clause_texts() -> dict[str, str]:
    return {name: clause.text for system in load_systems()[0] for name, clause in system.catalog.items()}


def changed_calls(now: Sequence[CallView], before: Sequence[CallView]) -> CallsUpdate:
    """Return the calls that are new, changed, withdrawn or moved."""
    known = {call.id: call for call in before}
    stand = dict.fromkeys(call.id for call in now)
    return CallsUpdate(
        calls=tuple(call for call in now if known.get(call.id) != call),
        withdrawn=tuple(call_id for call_id in known if call_id not in stand),
        moved=calls_to_append(known, tuple(stand)),
    )
