"""A game judged entry by entry: an append-only log, the state it leads to, and rulings that rewrite nothing.

A ruling about a call is an entry like any other, and so is an undo. What it changes is worked out by going back to a
checkpoint from before that call or event and judging everything since then again. Declarations that no longer make
sense then (the coin for a fumble that never was) are listed as refused.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.field.model import FieldModel
from downfield.core.scene import Scene
from downfield.officiating.calls import Call, RefusedEvent
from downfield.officiating.declarations import Declaration
from downfield.officiating.engine.engine_state import (
    ENGINE_LIMITS,
    Checkpoint,
    EngineState,
    GameMemento,
    Snap,
    begun_play,
    calls_to_append,
    standing_calls,
)
from downfield.officiating.engine.legal import LegalDeclarations, legal
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Ruling, Tick, Undo, undone_events
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import HOME_AND_AWAY, GameState, Team


@dataclass(frozen=True, slots=True)
class JudgedGameLimits:
    """What a judged game keeps of its log."""

    # a checkpoint every ten seconds of 60 Hz scenes: a ruling repeats at most that much more than it must
    checkpoint_entries: int = 600
    rest_ns: int = 1_000_000_000  # no rule waits on a board that has been off this long, so no scenes are kept
    keep_s: float = 300.0  # scenes are kept this long for rulings to go back to


_LIMITS: Final = JudgedGameLimits()


@dataclass(frozen=True, slots=True)
class GameUpdate:
    """What one entry changed."""

    calls: tuple[Call, ...] = ()  # the calls made, in order
    withdrawn: tuple[str, ...] = ()  # ids of calls that no longer stand after a ruling
    # ids of calls that now come after all others, in order; a ruling can bring back a call from before them
    moved: tuple[str, ...] = ()
    # what was added to the log, in order: the entry itself, after scenes of a resting board that it makes relevant;
    # nothing while a board rests. Applying just these entries again leads to the same game.
    logged: tuple[Scene | Event, ...] = ()
    snap: Snap | None = None  # how a play began with it
    plays: tuple[Snap, ...] | None = None  # how every play began, in order, where a ruling or undo changed more


class JudgedGame:
    """A game under one rulebook. For one thread: whoever shares it holds a lock around every call.

    Args:
        keep_s: how long scenes are kept for rulings to go back to, seconds; None keeps all.
        certified_yd, lengths_known: as of `RulesEngine`.
    """

    def __init__(
        self,
        rulebook: Rulebook,
        field: FieldModel,
        teams: tuple[Team, Team] = HOME_AND_AWAY,
        keep_s: float | None = _LIMITS.keep_s,
        certified_yd: tuple[float, float] | None = None,
        *,
        lengths_known: bool = True,
    ) -> None:
        self._engine = RulesEngine(rulebook, field, certified_yd=certified_yd, lengths_known=lengths_known)
        self._keep_ns = None if keep_s is None else round(keep_s * 1e9)
        self._state = self._engine.begin(teams)
        self._log: list[Scene | Event] = []
        self._checkpoints: list[Checkpoint] = [Checkpoint(0, self._state, 0, 0)]
        self._calls: list[Call] = []
        self._plays: list[Snap] = []
        self._log_index: dict[str, int] = {}  # of the entry that made a call, by the call's id
        self._event_ids: set[str] = set()
        self._undone: set[str] = set()
        self._refused: list[RefusedEvent] = []
        self._resting: deque[Scene] = deque()
        self._load_scenes: Callable[[], Mapping[int, Scene]] | None = None
        self._off_since_ns: int | None = None

    @property
    def rulebook(self) -> Rulebook:
        """The rulebook in force."""
        return self._engine.rulebook

    @property
    def state(self) -> GameState:
        """The game now."""
        return self._state.game

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call that stands, in the order the calls were made."""
        return standing_calls(self._calls, self._state)

    @property
    def plays(self) -> tuple[Snap, ...]:
        """How every play began, in order."""
        return tuple(self._plays)

    @property
    def refused(self) -> tuple[RefusedEvent, ...]:
        """Events that the state no longer allowed once a ruling or an undo was taken into account."""
        return tuple(self._refused)

    @property
    def undone(self) -> frozenset[str]:
        """Ids of the events that were undone."""
        return frozenset(self._undone)

    def capture(self) -> GameMemento | None:
        """Return all that the game has become; None while it has scenes of a resting board that are in no log."""
        if self._resting:
            return None
        return GameMemento(
            bytes(isinstance(entry, Event) for entry in self._log),
            self._state,
            tuple(self._checkpoints),
            tuple(self._calls),
            tuple(self._plays),
            dict(self._log_index),
            frozenset(self._undone),
            tuple(self._refused),
            dict(self._engine.rulings),
            dict(self._engine.ruled_ns),
            self._off_since_ns,
        )

    def restore(self, memento: GameMemento, events: Sequence[Event], scenes: Callable[[], Mapping[int, Scene]]) -> None:
        """Become what a game under the same rulebook was, instead of applying its entries again.

        `scenes` returns those of its log from `GameMemento.kept_from` on, by place, or raises a RefusedError.
        """
        following = iter(events)
        self._log = [next(following) if is_event else DROPPED_SCENE for is_event in memento.places]
        self._load_scenes = scenes
        self._event_ids = {event.id for event in events}
        self._state, self._checkpoints, self._calls = memento.state, list(memento.checkpoints), list(memento.calls)
        self._plays = list(memento.plays)
        self._log_index, self._undone = dict(memento.log_index), set(memento.undone)
        self._refused = list(memento.refused)
        self._engine.rulings, self._engine.ruled_ns = dict(memento.rulings), dict(memento.ruled_ns)
        self._off_since_ns = memento.off_since_ns

    def legal(self) -> LegalDeclarations:
        """Return what may be declared now, by whom and with which limits."""
        return legal(self._engine, self._state)

    def preview(self, bodies: Sequence[Declaration]) -> GameState:
        """Return the state after declarations made now; nothing changes. Raises RefusedError: one is refused."""
        state = self._state
        for body in bodies:
            t_ns = max(state.game.now_ns, state.event_ns or 0)
            state, _ = self._engine.step(state, Event("preview", t_ns, "operator", body))
        return state.game

    def tried(self, event: Event) -> tuple[GameUpdate, JudgedGame]:
        """Return what an event would change, and the game it would lead to. Raises RefusedError: as of `apply`."""
        other = copy.copy(self)
        other._engine = self._engine.with_own_rulings()
        other._log, other._calls, other._plays = list(self._log), list(self._calls), list(self._plays)
        other._checkpoints, other._refused = list(self._checkpoints), list(self._refused)
        other._log_index, other._resting = dict(self._log_index), deque(self._resting)
        other._event_ids, other._undone = set(self._event_ids), set(self._undone)
        return other.apply(event), other

    def apply(self, entry: Scene | Event) -> GameUpdate:
        """Apply one entry; return what it changed. Raises RefusedError: a duplicate, or not allowed now."""
        if isinstance(entry, Event):
            if entry.id in self._event_ids:
                raise RefusedError(f"event {entry.id} has been entered already")
            if isinstance(entry.body, Ruling) and entry.body.decision != "manual":
                return self._apply_ruling(entry, entry.body)
            if isinstance(entry.body, Undo):
                return self._apply_undo(entry, entry.body)
        before = self._state
        state, calls = self._engine.step(before, entry)
        logged = self._append(entry)
        self._state = state
        self._add_calls(calls, len(self._log) - 1)
        snap = self._add_play(before, entry, calls)
        self._add_checkpoint()
        made = {call.id for call in calls}
        gone = tuple(name for name in state.superseded[len(before.superseded) :] if name not in made)
        return GameUpdate(standing_calls(calls, state), gone, logged=logged, snap=snap)

    def _append(self, entry: Scene | Event) -> tuple[Scene | Event, ...]:
        """Add an entry to the log, unless it is a scene of a resting board; return what was added."""
        if isinstance(entry, Scene):
            if self._is_at_rest(entry):
                self._resting.append(entry)
                while self._resting[0].t_ns < entry.t_ns - ENGINE_LIMITS.recent_ns:
                    self._resting.popleft()
                return ()
        else:
            self._event_ids.add(entry.id)
        # The scenes just before the board comes on are what the first rules of a play look back at.
        logged = (*self._resting, entry)
        self._resting.clear()
        self._log += logged
        return logged

    def _is_at_rest(self, scene: Scene) -> bool:
        if scene.board != "off":
            self._off_since_ns = None
            return False
        if self._off_since_ns is None:
            self._off_since_ns = scene.t_ns
        return scene.t_ns - self._off_since_ns > _LIMITS.rest_ns

    def _add_calls(self, calls: Sequence[Call], log_index: int) -> None:
        self._calls += calls
        self._log_index |= dict.fromkeys((call.id for call in calls), log_index)

    def _add_play(self, before: EngineState, entry: Scene | Event, calls: Sequence[Call]) -> Snap | None:
        snap = begun_play(before, self._state, entry, calls)
        # A ruling may bring back a play that was over: it was noted when it began.
        if snap is None or snap.t_ns in {known.t_ns for known in self._plays[-1:]}:
            return None
        self._plays.append(snap)
        return snap

    def _add_checkpoint(self) -> None:
        last = self._checkpoints[-1].entries
        if len(self._log) - last < _LIMITS.checkpoint_entries or self._resting:
            return
        self._checkpoints.append(Checkpoint(len(self._log), self._state, len(self._calls), len(self._plays)))
        if self._keep_ns is not None:
            self._drop_scenes(self._state.game.now_ns - self._keep_ns)

    def _drop_scenes(self, before_ns: int) -> None:
        """Drop the scenes before the last checkpoint that is older than `before_ns`; events are kept for ever."""
        old = [place for place, point in enumerate(self._checkpoints) if point.state.game.now_ns < before_ns]
        if len(old) < 2:
            return
        first_kept = self._checkpoints[old[-1]].entries
        # Places in the log are never renumbered, since calls point to them: a scene goes, its place stays.
        for place in range(self._checkpoints[old[0]].entries, first_kept):
            if isinstance(self._log[place], Scene):
                self._log[place] = DROPPED_SCENE
        del self._checkpoints[: old[-1]]

    def _apply_ruling(self, event: Event, ruling: Ruling) -> GameUpdate:
        index = self._log_index.get(ruling.call)
        if index is None:
            raise RefusedError(f"ruling: there is no call {ruling.call!r} in this game")
        if ruling.decision == "overturn" and ruling.replacement is not None and not ruling.replacement.text:
            raise RefusedError("ruling: the replacement call has no text; say what is called instead")
        # All that may refuse comes before the first change: a refused ruling leaves the game as it was.
        start = self._checkpoint_before(index, f"ruling: the scenes of {ruling.call}")
        self._engine.check_time(self._state, event)
        self._engine.rulings[ruling.call], self._engine.ruled_ns[ruling.call] = ruling, event.t_ns
        return self._judge_again(event, start)

    def _apply_undo(self, event: Event, undo: Undo) -> GameUpdate:
        index, undone = next(((place, entry) for place, entry in self._events() if entry.id == undo.event), (0, None))
        if undone is None:
            raise RefusedError(f"undo: there is no event {undo.event!r} in this game")
        if undo.event in self._undone:
            raise RefusedError(f"undo: {undo.event} has been undone already")
        if isinstance(undone.body, Tick):
            raise RefusedError(f"undo: {undo.event} can't be undone; it is the time that passed")
        # What an undo has taken back comes into force again where it was.
        back = undone
        while isinstance(back.body, Undo):
            index, back = next((p, e) for p, e in self._events() if e.id == back.body.event)
        ruled = back.body.call if isinstance(back.body, Ruling) and back.body.decision != "manual" else None
        start_index = index if ruled is None else min(index, self._log_index.get(ruled, index))
        start = self._checkpoint_before(start_index, f"undo: the scenes since {undo.event}")
        self._engine.check_time(self._state, event)
        entries = [entry for _, entry in self._events()]
        self._undone = set(undone_events([*entries, event]))
        if ruled is not None:
            self._restore_ruling(ruled)
        return self._judge_again(event, start)

    def _events(self) -> Iterator[tuple[int, Event]]:
        return ((place, entry) for place, entry in enumerate(self._log) if isinstance(entry, Event))

    def _restore_ruling(self, call: str) -> None:
        self._engine.rulings.pop(call, None)
        for _, entry in self._events():
            body, stands = entry.body, entry.id not in self._undone
            if stands and isinstance(body, Ruling) and body.decision != "manual" and body.call == call:
                self._engine.rulings[call], self._engine.ruled_ns[call] = body, entry.t_ns

    def _checkpoint_before(self, index: int, what: str) -> Checkpoint:
        points = (point for point in self._checkpoints if point.entries <= index)
        start = max(points, key=lambda point: point.entries, default=None)
        if start is None:
            raise RefusedError(f"{what} are no longer kept; judge the recording again with it")
        if self._load_scenes is not None:
            for place, scene in self._load_scenes().items():
                self._log[place] = scene
            self._load_scenes = None
        return start

    def _judge_again(self, event: Event, start: Checkpoint) -> GameUpdate:
        before, plays = self.calls, self.plays
        self._event_ids.add(event.id)
        self._replay(start)
        # The ruling has already been applied in its place above; here it only takes its place in the log.
        self._log.append(event)
        self._state, calls = self._engine.step(self._state, event)
        self._add_calls(calls, len(self._log) - 1)
        old = {call.id: call for call in before}
        now = {call.id: call for call in self.calls}
        changed = tuple(call for call in now.values() if old.get(call.id) != call)
        withdrawn = tuple(name for name in old if name not in now)
        moved = calls_to_append(old, tuple(now))
        return GameUpdate(changed, withdrawn, moved, (event,), plays=None if plays == self.plays else self.plays)

    def _replay(self, start: Checkpoint) -> None:
        self._state = start.state
        self._checkpoints = [point for point in self._checkpoints if point.entries <= start.entries]
        self._calls, self._plays = self._calls[: start.calls], self._plays[: start.plays]
        entries = self._log[start.entries :]
        replayed = {entry.id for entry in entries if isinstance(entry, Event)}
        self._refused = [refused for refused in self._refused if refused.event not in replayed]
        for place, entry in enumerate(entries, start=start.entries):
            if isinstance(entry, Event) and entry.id in self._undone:
                continue
            before = self._state
            try:
                self._state, calls = self._engine.step(before, entry)
            except RefusedError as error:
                if isinstance(entry, Event):
                    self._refused.append(RefusedEvent(entry.id, str(error)))
                continue
            self._add_calls(calls, place)
            self._add_play(before, entry, calls)
            if place + 1 - self._checkpoints[-1].entries >= _LIMITS.checkpoint_entries:
                self._checkpoints.append(Checkpoint(place + 1, self._state, len(self._calls), len(self._plays)))


DROPPED_SCENE: Final = Scene(frame=-1, t_ns=-1, board="unknown", figures=())
"""Stands in the log for a scene that was dropped; nothing is ever replayed from before it."""
