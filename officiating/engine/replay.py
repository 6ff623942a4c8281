"""Judging recordings."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.field import FieldModel
from downfield.core.scene import Player, Scene
from downfield.officiating.calls import Call, RefusedEvent
from downfield.officiating.declarations import LineUpDeclared
from downfield.officiating.engine.engine import RulesEngine
from downfield.officiating.engine.state import HOME_AND_AWAY, GameState, Team
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook

AFTER_NS = 6_000_000_000
"""Later than any rule waits for evidence: the tick after the last entry, so that nothing is left pending."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a rulebook makes of a recording.

    Attributes:
        rulebook: its name.
        calls: in the order they were made.
        state: the game at the end.
        refused: events the state did not allow, with the reasons.

    """

    rulebook: str
    calls: tuple[Call, ...]
    state: GameState
    refused: tuple[RefusedEvent, ...]


def judge_recording(
    scenes: Iterable[Scene],
    events: Sequence[Event],
    rulebook: Rulebook,
    field: FieldModel,
    *,
    players: tuple[Player, ...] = (),
    teams: tuple[Team, Team] = HOME_AND_AWAY,
    certified_yd: tuple[float, float] | None = None,
) -> Judgment:
    """Judge a recording under a rulebook.

    An event the state refuses is set aside with its reason; the rest goes on without it.

    Args:
        scenes: in order of time.
        events: in any order of time; rulings among them are applied where the calls they are about are made, and what
            was undone is left out.
        rulebook: in force.
        field: the printed field.
        players: the roster, when no event declares one before the first play.
        teams: home, away.
        certified_yd: the error the table is certified to, along and across; calls finer than it are too close.

    """
    undone = {event.body.event for event in events if isinstance(event.body, Undo)}
    events = [event for event in events if event.id not in undone]
    rulings = {
        event.body.call: event.body
        for event in sorted(events, key=lambda event: event.t_ns)
        if isinstance(event.body, Ruling) and event.body.decision != "manual"
    }
    engine = RulesEngine(rulebook, field, rulings, certified_yd)
    state = engine.begin(teams)
    calls: list[Call] = []
    refused: list[RefusedEvent] = []
    for entry in _entries(scenes, events, players):
        try:
            state, made = engine.step(state, entry)
        except RefusedError as error:
            if isinstance(entry, Scene):
                raise
            refused.append(RefusedEvent(entry.id, str(error)))
            continue
        calls += made
    return Judgment(rulebook.name, tuple(calls), state.game, tuple(refused))


def _entries(scenes: Iterable[Scene], events: Sequence[Event], players: tuple[Player, ...]) -> Iterator[Scene | Event]:
    """Everything in order of time, events before the scene of the same instant, and a last tick."""
    ordered = sorted(events, key=lambda event: event.t_ns)
    last_ns = 0
    if players and not any(isinstance(event.body, LineUpDeclared) for event in ordered):
        first_ns = min(0, ordered[0].t_ns) if ordered else 0
        yield Event("roster", first_ns, "vision", LineUpDeclared(players))
    streams: tuple[Iterable[Scene | Event], ...] = (ordered, scenes)
    for entry in heapq.merge(*streams, key=lambda entry: entry.t_ns):
        last_ns = entry.t_ns
        yield entry
    yield Event("end", last_ns + AFTER_NS, "clock", Tick())


SAME_NS: Final = 250_000_000
"""Two rulebooks may time one and the same event by different points of the figure."""
SAME_YD: Final = 0.05


@dataclass(frozen=True, slots=True)
class CallDifference:
    """One place where two rulebooks part.

    Attributes:
        t_ns: when.
        first: the call under the first rulebook, None when it makes none.
        second: under the second.

    """

    t_ns: int
    first: Call | None
    second: Call | None

    @property
    def text(self) -> str:
        """It on one line."""
        return f"{self.t_ns / 1e9:.2f} s: {_told(self.first)} | {_told(self.second)}"


def differences(first: Sequence[Call], second: Sequence[Call]) -> tuple[CallDifference, ...]:
    """Where two rulebooks' calls over one log differ: calls only one makes, and calls with another spot or outcome.

    Calls of one kind about the same figure within a quarter of a second are the same call.
    """
    left = list(second)
    out: list[CallDifference] = []
    for call in first:
        twin = next((other for other in left if _about_the_same(call, other)), None)
        if twin is None:
            out.append(CallDifference(call.t_ns, call, None))
            continue
        left.remove(twin)
        if not _alike(call, twin):
            out.append(CallDifference(call.t_ns, call, twin))
    out += [CallDifference(call.t_ns, None, call) for call in left]
    return tuple(sorted(_paired(out), key=lambda difference: difference.t_ns))


def _paired(found: list[CallDifference]) -> list[CallDifference]:
    """Differences with a call of either side brought together where they are about one moment."""
    alone_second = [one for one in found if one.first is None]
    out = [one for one in found if one.first is not None and one.second is not None]
    for one in (one for one in found if one.second is None):
        partner = next((other for other in alone_second if abs(other.t_ns - one.t_ns) <= SAME_NS), None)
        if partner is None:
            out.append(one)
            continue
        alone_second.remove(partner)
        out.append(CallDifference(one.t_ns, one.first, partner.second))
    return out + alone_second


def _about_the_same(a: Call, b: Call) -> bool:
    return a.kind == b.kind and a.players[:1] == b.players[:1] and abs(a.t_ns - b.t_ns) <= SAME_NS


def _alike(a: Call, b: Call) -> bool:
    if (a.verdict, a.detail, a.side) != (b.verdict, b.detail, b.side):
        return False
    if a.spot_yd is None or b.spot_yd is None:
        return a.spot_yd == b.spot_yd
    return abs(a.spot_yd[0] - b.spot_yd[0]) <= SAME_YD


def _told(call: Call | None) -> str:
    if call is None:
        return "no call"
    spot = "" if call.spot_yd is None else f" at {call.spot_yd[0]:.1f} yd"
    cited = f" ({', '.join(call.clauses)})" if call.clauses else ""
    return f"{call.text}{spot}{cited}"
