"""Judging recorded tracks: scenes and events merged by time, rulings taken into account from the start."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from downfield.core.errors import RefusedError
from downfield.core.field import FieldModel
from downfield.core.scene import Player, Scene
from downfield.officiating.calls import Call
from downfield.officiating.calls_file import SetAside
from downfield.officiating.declarations import LineUp
from downfield.officiating.engine.engine import Engine
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
    refused: tuple[SetAside, ...]


def judge(
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
    engine = Engine(rulebook, field, rulings, certified_yd)
    state = engine.begin(teams)
    calls: list[Call] = []
    refused: list[SetAside] = []
    for entry in _entries(scenes, events, players):
        try:
            state, made = engine.step(state, entry)
        except RefusedError as error:
            if isinstance(entry, Scene):
                raise
            refused.append(SetAside(entry.id, str(error)))
            continue
        calls += made
    return Judgment(rulebook.name, tuple(calls), state.game, tuple(refused))


def _entries(scenes: Iterable[Scene], events: Sequence[Event], players: tuple[Player, ...]) -> Iterator[Scene | Event]:
    """Everything in order of time, events before the scene of the same instant, and a last tick."""
    ordered = sorted(events, key=lambda event: event.t_ns)
    last_ns = 0
    if players and not any(isinstance(event.body, LineUp) for event in ordered):
        first_ns = min(0, ordered[0].t_ns) if ordered else 0
        yield Event("roster", first_ns, "vision", LineUp(players))
    streams: tuple[Iterable[Scene | Event], ...] = (ordered, scenes)
    for entry in heapq.merge(*streams, key=lambda entry: entry.t_ns):
        last_ns = entry.t_ns
        yield entry
    yield Event("end", last_ns + AFTER_NS, "clock", Tick())
