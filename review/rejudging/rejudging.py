"""A game judged again from its journal, in one pass and in little memory, in one way or several at once.

A way is which rulings count, which events were undone, and under which rulebook. The engine is given all rulings
beforehand, so that each takes effect where its call is made; what follows is as if it had been ruled so at the table.
What was before a call is the same whatever is ruled on it, so one more ruling is judged from a checkpoint before it;
where the game then comes to a later checkpoint as it did without the ruling, the rest of it is the same, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from downfield.core.errors import RefusedError
from downfield.core.scene import Scene
from downfield.game.records.entries import (
    EventRecorded,
    GameStarted,
    ScenesRecorded,
    Snap,
    rulebook_of,
    unpack_entry,
    unpack_scenes,
)
from downfield.game.records.keeping import EntryRow
from downfield.officiating.calls import Call, RefusedEvent
from downfield.officiating.engine.engine_state import EngineState, begun_play, standing_calls
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Ruling, undone_events
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import GameState, Team
from downfield.review.rejudging.worker import Pause


class JournalSource(Protocol):
    """Where journals of games are read from: a store, or a bundle."""

    def entries(self, game: str, *, after: int = 0) -> Iterator[EntryRow]:
        """Yield the entries of a game in order, after one of them."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to judge a game."""

    rulings: Mapping[str, Ruling]  # people's decisions by call id
    undone: frozenset[str] = frozenset()  # ids of events that do not count
    more: tuple[Event, ...] = ()  # events after those of the journal
    rulebook: Rulebook | None = None  # in force; None for the game's own
    ruled_ns: Mapping[str, int] = field(default_factory=dict)  # when they were made

    @classmethod
    def of(cls, events: Sequence[Event], rulebook: Rulebook | None = None, more: tuple[Event, ...] = ()) -> Way:
        """Return the way that the events of a game, and more after them, lead to."""
        every = (*events, *more)
        undone = undone_events(every)
        standing = [(event.body, event.t_ns) for event in every if event.id not in undone]
        made = [(body, t_ns) for body, t_ns in standing if isinstance(body, Ruling) and body.decision != "manual"]
        rulings = {body.call: body for body, _ in made}
        return cls(rulings, undone, more, rulebook, {body.call: t_ns for body, t_ns in made})


@dataclass(frozen=True, slots=True)
class RejudgingLimits:
    """Where judging may begin again."""

    apart_ns: int = 40_000_000_000  # Time between two checkpoints; each holds the scenes of half a second, some 300 kB
    # A ruling is judged from a checkpoint this long before its call: longer than any rule looks back
    before_ns: int = 3_000_000_000


REJUDGING_LIMITS: Final = RejudgingLimits()


@dataclass(frozen=True, slots=True)
class JudgingCheckpoint:
    """How far a game had been judged at an entry of its journal."""

    seq: int
    started: GameStarted  # what the game was started with, or last went on with
    state: EngineState
    calls: int
    plays: int
    refused: int


@dataclass(frozen=True, slots=True)
class JudgedAgain:
    """What a game comes to in one way."""

    made: tuple[Call, ...]  # every call that was made, in order
    plays: tuple[Snap, ...]  # how every play began, in order
    refused: tuple[RefusedEvent, ...]  # events that the state did not allow
    end: EngineState  # the engine after all of it
    # from which it can be judged on, in order; empty where they were not kept
    checkpoints: tuple[JudgingCheckpoint, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call that stands, in order."""
        return standing_calls(self.made, self.end)

    @property
    def state(self) -> GameState:
        """The game at the end."""
        return self.end.game


def judge_again(
    store: JournalSource, game: str, ways: Sequence[Way], pause: Pause, *, keep: bool = False
) -> tuple[JudgedAgain, ...]:
    """Judge a game from its journal; return what it comes to, in the order of the ways.

    Args:
        pause: called after every scene.
        keep: whether to keep checkpoints.

    Raises:
        FormatError: the journal can't be read.
        RulebookError: it is under a rulebook this program does not know.
    """
    judgings = [_Judging(way) for way in ways]
    _judge(store.entries(game), judgings, pause, keep=keep)
    return tuple(judging.end() for judging in judgings)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two ways to judge a game can first differ."""

    since_ns: int  # the instant: of the call that is ruled on, or of the event that no longer counts
    call: str | None = None  # the call that is ruled on; None where that is not the difference


def judge_on(
    store: JournalSource, game: str, way: Way, pause: Pause, before: JudgedAgain, difference: Difference
) -> JudgedAgain:
    """Judge a game from its journal in a way that is the same as another until some instant; checkpoints are kept.

    Args:
        way: to judge it, with one event more than the other.
        pause: called after every scene.
        before: what it comes to in the other way, with its checkpoints.
        difference: where the ways can first differ.

    Raises:
        FormatError, RulebookError: as of `judge_again`.
    """
    first_ns = difference.since_ns - REJUDGING_LIMITS.before_ns
    points = [one for one in before.checkpoints if one.state.game.now_ns < first_ns]
    start = max(points, key=lambda one: one.seq, default=None)
    judging = _Judging(way)
    if start is not None:
        judging.go_on_from(start, before)
    met = {one.seq: one for one in before.checkpoints}

    def is_met(judging: _Judging, seq: int) -> bool:
        """Return whether a judging stands as the other did after an entry, and nothing that differs lies ahead."""
        point = met.get(seq)
        if point is None or judging.state != point.state or judging.started != point.started:
            return False
        if difference.call is None:
            is_behind = point.state.game.now_ns > difference.since_ns + REJUDGING_LIMITS.before_ns
        else:
            is_behind = any(one.id == difference.call for one in before.made[: point.calls])
        if is_behind:
            judging.end_as(before, point)  # from there on both come to the same
        return is_behind

    entries = store.entries(game, after=0 if start is None else start.seq)
    _judge(entries, [judging], pause, keep=True, until=is_met)
    return judging.end()


def _judge(
    entries: Iterable[EntryRow],
    judgings: Sequence[_Judging],
    pause: Pause,
    *,
    keep: bool,
    until: Callable[[_Judging, int], bool] = lambda _judging, _seq: False,
) -> None:
    for entry in entries:
        for judged in _entries_of(entry):
            for judging in judgings:
                judging.take(judged)
            pause()
        if any(until(judging, entry.seq) for judging in judgings):
            return
        for judging in judgings if keep else ():
            judging.keep(entry.seq)


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
    started: GameStarted | None = None
    checkpoints: list[JudgingCheckpoint] = field(default_factory=list)

    def go_on_from(self, start: JudgingCheckpoint, before: JudgedAgain) -> None:
        """Be where another judging was at a checkpoint."""
        self._start(start.started)
        self.checkpoints = [one for one in before.checkpoints if one.seq <= start.seq]
        self.state = start.state
        self.calls = list(before.made[: start.calls])
        self.plays = list(before.plays[: start.plays])
        self.refused = list(before.refused[: start.refused])

    def end_as(self, before: JudgedAgain, point: JudgingCheckpoint) -> None:
        """Come to the end that another judging came to from a checkpoint at which both stand alike."""
        calls, plays, refused = len(self.calls), len(self.plays), len(self.refused)
        self.calls += before.made[point.calls :]
        self.plays += before.plays[point.plays :]
        self.refused += before.refused[point.refused :]
        for one in before.checkpoints:
            if one.seq >= point.seq:
                counts = calls + one.calls - point.calls, plays + one.plays - point.plays
                more = refused + one.refused - point.refused
                self.checkpoints.append(JudgingCheckpoint(one.seq, one.started, one.state, *counts, more))
        self.state = before.end

    def keep(self, seq: int) -> None:
        """Keep a checkpoint after an entry, unless there is one from shortly before."""
        if self.started is None or self.state is None:
            return
        last = self.checkpoints[-1] if self.checkpoints else None
        if last is not None and self.state.game.now_ns - last.state.game.now_ns < REJUDGING_LIMITS.apart_ns:
            return
        counts = len(self.calls), len(self.plays), len(self.refused)
        self.checkpoints.append(JudgingCheckpoint(seq, self.started, self.state, *counts))

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
        if self.state is None:
            raise RefusedError("This game has no entries.")
        made = tuple(self.calls), tuple(self.plays), tuple(self.refused)
        return JudgedAgain(*made, self.state, tuple(self.checkpoints))

    def _start(self, started: GameStarted) -> None:
        self.started = started
        rulebook = self.way.rulebook or rulebook_of(started.rulebook)
        self.engine = RulesEngine(
            rulebook,
            started.field,
            self.way.rulings,
            started.certified_yd,
            ruled_ns=self.way.ruled_ns,
            lengths_known=started.lengths_known,
        )
        teams = (Team(started.home.name, started.home.short), Team(started.away.name, started.away.short))
        self.state = self.engine.begin(teams)

    def _step(self, entry: Event | Scene) -> None:
        if self.engine is None or self.state is None:
            return
        before = self.state
        self.state, calls = self.engine.step(before, entry)
        self.calls += calls
        snap = begun_play(before, self.state, entry, calls)
        if snap is not None and snap.t_ns not in {known.t_ns for known in self.plays[-1:]}:
            self.plays.append(snap)
