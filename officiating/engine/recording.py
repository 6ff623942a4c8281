"""Judging recordings: scenes and events merged by time, and two rulebooks compared over one recording."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.field.model import FieldModel
from downfield.core.scene import Player, Scene
from downfield.officiating.calls import Call, RefusedEvent
from downfield.officiating.declarations import LineUpDeclared
from downfield.officiating.engine.engine_state import standing_calls
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Ruling, Tick, undone_events
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import HOME_AND_AWAY, GameState, Team


@dataclass(frozen=True, slots=True)
class ReplayLimits:
    """Limits of judging and comparing recordings."""

    # after the last entry comes a tick this much later than that: longer than any rule waits for evidence
    last_tick_ns: int = 6_000_000_000
    # two rulebooks may time one event by different points of the figure; calls this near in time may be the same
    same_call_ns: int = 250_000_000
    same_spot_yd: float = 0.05  # spots nearer than this are the same


REPLAY_LIMITS: Final = ReplayLimits()


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a rulebook makes of a recording.

    Attributes:
        rulebook: name of the rulebook.
        calls: in the order they were made.
        state: the game at the end.
        refused: events that the state did not allow, with the reasons.
    """

    rulebook: str
    calls: tuple[Call, ...]
    state: GameState
    refused: tuple[RefusedEvent, ...]


@dataclass(frozen=True, slots=True)
class CallDifference:
    """One difference between two rulebooks."""

    t_ns: int  # instant of the first call, or of the second where the first rulebook makes none
    first: Call | None  # the call under the first rulebook, None when it makes none
    second: Call | None  # the call under the second rulebook, None when it makes none

    @property
    def text(self) -> str:
        """The difference on one line."""
        return f"{self.t_ns / 1e9:.2f} s: {_describe(self.first)} | {_describe(self.second)}"


def judge_recording(
    scenes: Iterable[Scene],
    events: Sequence[Event],
    rulebook: Rulebook,
    field: FieldModel,
    *,
    players: tuple[Player, ...] = (),
    teams: tuple[Team, Team] = HOME_AND_AWAY,
    certified_yd: tuple[float, float] | None = None,
    lengths_known: bool = True,
) -> Judgment:
    """Judge a recording under a rulebook.

    An event that the state does not allow is listed with the reason; judging goes on without it.

    Args:
        scenes: in order of time.
        events: in any order. Rulings are applied where the calls they are about are made, unless they were undone.
        rulebook: the rulebook in force.
        players: the roster, when no event declares one before the first play.
        teams: home, away.
        certified_yd: the error the table is certified to, along and across; calls finer than it are too close.
        lengths_known: whether lengths in mm are known; while not, what needs them is left to people.
    """
    undone = undone_events(events)
    events = [event for event in events if event.id not in undone]
    in_order = sorted(events, key=lambda event: event.t_ns)
    ruled = [(event.body, event.t_ns) for event in in_order if isinstance(event.body, Ruling)]
    rulings = {body.call: body for body, _ in ruled if body.decision != "manual"}
    ruled_ns = {body.call: t_ns for body, t_ns in ruled if body.decision != "manual"}
    engine = RulesEngine(rulebook, field, rulings, certified_yd, ruled_ns=ruled_ns, lengths_known=lengths_known)
    state = engine.begin(teams)
    calls: list[Call] = []
    refused: list[RefusedEvent] = []
    for entry in _merge_by_time(scenes, events, players):
        try:
            state, made = engine.step(state, entry)
        except RefusedError as error:
            if isinstance(entry, Scene):
                raise
            refused.append(RefusedEvent(entry.id, str(error)))
            continue
        calls += made
    return Judgment(rulebook.name, standing_calls(calls, state), state.game, tuple(refused))


def compare_calls(first: Sequence[Call], second: Sequence[Call]) -> tuple[CallDifference, ...]:
    """Return where two rulebooks' calls over one recording differ, in order of time.

    Calls of one kind about the same figure within a quarter of a second are the same call. They differ when verdict,
    outcome, side or spot does.
    """
    unmatched = list(second)
    found: list[CallDifference] = []
    for call in first:
        match = next((candidate for candidate in unmatched if _is_same_call(call, candidate)), None)
        if match is None:
            found.append(CallDifference(call.t_ns, call, None))
            continue
        unmatched.remove(match)
        if not _agree(call, match):
            found.append(CallDifference(call.t_ns, call, match))
    found += [CallDifference(call.t_ns, None, call) for call in unmatched]
    return tuple(sorted(_pair_by_time(found), key=lambda difference: difference.t_ns))


def _merge_by_time(
    scenes: Iterable[Scene], events: Sequence[Event], players: tuple[Player, ...]
) -> Iterator[Scene | Event]:
    """Yield everything in order of time, events before the scene of the same instant, and a last tick."""
    ordered = sorted(events, key=lambda event: event.t_ns)
    last_ns = 0
    if players and not any(isinstance(event.body, LineUpDeclared) for event in ordered):
        first_ns = min(0, ordered[0].t_ns) if ordered else 0
        yield Event("roster", first_ns, "vision", LineUpDeclared(players))
    streams: tuple[Iterable[Scene | Event], ...] = (ordered, scenes)
    for entry in heapq.merge(*streams, key=lambda entry: entry.t_ns):
        last_ns = entry.t_ns
        yield entry
    yield Event("end", last_ns + REPLAY_LIMITS.last_tick_ns, "clock", Tick())


def _pair_by_time(found: list[CallDifference]) -> list[CallDifference]:
    """Return the differences, with calls that only one rulebook makes paired where they are about one moment."""
    only_second = [difference for difference in found if difference.first is None]
    paired = [difference for difference in found if difference.first is not None and difference.second is not None]
    # A tackle under one rulebook and a slipped one under the other are one difference, not two.
    for difference in (difference for difference in found if difference.second is None):
        near = (other for other in only_second if abs(other.t_ns - difference.t_ns) <= REPLAY_LIMITS.same_call_ns)
        partner = next(near, None)
        if partner is None:
            paired.append(difference)
            continue
        only_second.remove(partner)
        paired.append(CallDifference(difference.t_ns, difference.first, partner.second))
    return paired + only_second


def _is_same_call(a: Call, b: Call) -> bool:
    return a.kind == b.kind and a.players[:1] == b.players[:1] and abs(a.t_ns - b.t_ns) <= REPLAY_LIMITS.same_call_ns


def _agree(a: Call, b: Call) -> bool:
    if (a.verdict, a.detail, a.side) != (b.verdict, b.detail, b.side):
        return False
    if a.spot_yd is None or b.spot_yd is None:
        return a.spot_yd == b.spot_yd
    return abs(a.spot_yd[0] - b.spot_yd[0]) <= REPLAY_LIMITS.same_spot_yd


def _describe(call: Call | None) -> str:
    if call is None:
        return "no call"
    spot = "" if call.spot_yd is None else f" at {call.spot_yd[0]:.1f} yd"
    clauses = f" ({', '.join(call.clauses)})" if call.clauses else ""
    return f"{call.text}{spot}{clauses}"
