"""A game judged again from its journal, in one pass and in little memory, in one way or several at once.

A way is which rulings count, which events were undone, and under which rulebook. The engine is given all rulings
beforehand, so that each takes effect where its call is made; what follows is as if it had been ruled so at the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from downfield.core.errors import RefusedError
from downfield.core.scene import Scene
from downfield.game.entries import (
    EventRecorded,
    GameStarted,
    ScenesRecorded,
    Snap,
    rulebook_of,
    snap_of,
    unpack_entry,
    unpack_scenes,
)
from downfield.game.store_reader import EntryRow, StoreReader
from downfield.officiating.calls import Call, RefusedEvent
from downfield.officiating.engine.rules_engine import EngineState, RulesEngine
from downfield.officiating.engine.state import GameState, Team
from downfield.officiating.events import Event, Ruling, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.review.worker import Pause


@dataclass(frozen=True, slots=True)
class Way:
    """A way to judge a game.

    Attributes:
        rulings: people's decisions by call id.
        undone: ids of events that do not count.
        more: events after those of the journal.
        rulebook: in force; None for the game's own.

    """

    rulings: Mapping[str, Ruling]
    undone: frozenset[str] = frozenset()
    more: tuple[Event, ...] = ()
    rulebook: Rulebook | None = None

    @classmethod
    def of(cls, events: Sequence[Event], rulebook: Rulebook | None = None, more: tuple[Event, ...] = ()) -> Way:
        """Return the way that the events of a game, and more after them, lead to."""
        every = (*events, *more)
        undone = frozenset(event.body.event for event in every if isinstance(event.body, Undo))
        standing = (event.body for event in every if event.id not in undone)
        rulings = {body.call: body for body in standing if isinstance(body, Ruling) and body.decision != "manual"}
        return cls(rulings, undone, more, rulebook)


@dataclass(frozen=True, slots=True)
class JudgedAgain:
    """What a game comes to in one way.

    Attributes:
        calls: every call that stands, in order.
        plays: how every play began, in order.
        refused: events that the state did not allow.
        state: the game at the end.

    """

    calls: tuple[Call, ...]
    plays: tuple[Snap, ...]
    refused: tuple[RefusedEvent, ...]
    state: GameState


def judge_again(store: StoreReader, game: str, ways: Sequence[Way], pause: Pause) -> tuple[JudgedAgain, ...]:
    """Judge a game from its journal.

    Args:
        store: where it is.
        game: its id.
        ways: to judge it.
        pause: called after every scene.

    Returns:
        What it comes to, in the order of the ways.

    Raises:
        FormatError: the journal can't be read.
        RulebookError: it is under a rulebook this program does not know.

    """
    judgings = [_Judging(way) for way in ways]
    for entry in store.entries(game):
        for judged in _entries_of(entry):
            for judging in judgings:
                judging.take(judged)
            pause()
    return tuple(judging.end() for judging in judgings)


def _entries_of(entry: EntryRow) -> list[GameStarted | Event | Scene]:
    where = f"game {entry.game}, entry {entry.seq}"
    content = unpack_entry(entry.kind, entry.content, where=where)
    if isinstance(content, GameStarted):
        return [content]
    if isinstance(content, EventRecorded):
        return [content.event]
    if isinstance(content, ScenesRecorded) and entry.attachment is not None:
        return list(unpack_scenes(entry.attachment, where=where))
    return []


@dataclass(slots=True)
class _Judging:
    """Judges the entries of one game in one way."""

    way: Way
    engine: RulesEngine | None = None
    state: EngineState | None = None
    calls: list[Call] = field(default_factory=list)
    plays: list[Snap] = field(default_factory=list)
    refused: list[RefusedEvent] = field(default_factory=list)

    def take(self, entry: GameStarted | Event | Scene) -> None:
        if isinstance(entry, GameStarted):
            self._start(entry)
        elif isinstance(entry, Scene):
            with suppress(RefusedError):  # another version of the program allowed it; continue without it
                self._step(entry)
        elif entry.id not in self.way.undone:
            try:
                self._step(entry)
            except RefusedError as error:
                self.refused.append(RefusedEvent(entry.id, str(error)))

    def end(self) -> JudgedAgain:
        for event in self.way.more:
            self._step(event)
        state = RefusedError("This game has no entries.") if self.state is None else self.state.game
        if isinstance(state, RefusedError):
            raise state
        return JudgedAgain(tuple(self.calls), tuple(self.plays), tuple(self.refused), state)

    def _start(self, started: GameStarted) -> None:
        rulebook = self.way.rulebook or rulebook_of(started.rulebook)
        self.engine = RulesEngine(rulebook, started.field, self.way.rulings, started.certified_yd)
        teams = (Team(started.home.name, started.home.short), Team(started.away.name, started.away.short))
        self.state = self.engine.begin(teams)

    def _step(self, entry: Event | Scene) -> None:
        if self.engine is None or self.state is None:
            return
        before = self.state.game
        self.state, calls = self.engine.step(self.state, entry)
        self.calls += calls
        after = self.state.game
        snap_ns = after.play.snap_ns
        if snap_ns is not None and snap_ns != before.play.snap_ns and snap_ns not in {s.t_ns for s in self.plays[-1:]}:
            self.plays.append(snap_of(before, after))
