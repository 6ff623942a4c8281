"""A game being judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from downfield.core.errors import RefusedError
from downfield.core.field import FieldModel
from downfield.core.scene import Scene
from downfield.officiating.calls import Call, RefusedEvent, calls_to_append
from downfield.officiating.engine.engine import RECENT_NS, EngineState, RulesEngine
from downfield.officiating.engine.state import HOME_AND_AWAY, GameState, Team
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook

CHECKPOINT_ENTRIES = 600
SETTLED_NS = 1_000_000_000
"""A board that has been off this long holds nothing a rule waits for, so such scenes need not be kept."""


@dataclass(frozen=True, slots=True)
class GameUpdate:
    """What taking one entry changed.

    Attributes:
        calls: calls made, in order.
        withdrawn: ids of calls that no longer stand after a ruling.
        moved: ids of calls that stand behind all others now, in order: a ruling can bring back a call from before them.
        logged: what the log grew by, in order: the entry itself, after scenes of a resting board that it makes
            matter; nothing while a board rests. Taking just these once more leads to the same game.

    """

    calls: tuple[Call, ...] = ()
    withdrawn: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    logged: tuple[Scene | Event, ...] = ()


class JudgedGame:
    """A game under one rulebook, entry by entry.

    Args:
        rulebook: in force.
        field: the printed field.
        teams: home, away.
        keep_s: for how long scenes are kept for rulings to go back to; None for ever.
        certified_yd: the error the table is certified to, along and across; calls finer than it are too close.

    """

    def __init__(
        self,
        rulebook: Rulebook,
        field: FieldModel,
        teams: tuple[Team, Team] = HOME_AND_AWAY,
        keep_s: float | None = 300.0,
        certified_yd: tuple[float, float] | None = None,
    ) -> None:
        self._engine = RulesEngine(rulebook, field, certified_yd=certified_yd)
        self._keep_ns = None if keep_s is None else round(keep_s * 1e9)
        self._state = self._engine.begin(teams)
        self._log: list[Scene | Event] = []
        self._checkpoints: list[tuple[int, EngineState, int]] = [(0, self._state, 0)]
        self._calls: list[Call] = []
        self._made_at: dict[str, int] = {}
        self._ids: set[str] = set()
        self._undone: set[str] = set()
        self._refused: list[RefusedEvent] = []
        self._resting: deque[Scene] = deque()
        self._off_ns: int | None = None

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
        """Every call that stands, in the order they were made."""
        return tuple(self._calls)

    @property
    def refused(self) -> tuple[RefusedEvent, ...]:
        """Events that no longer made sense once a ruling was taken into account."""
        return tuple(self._refused)

    @property
    def undone(self) -> frozenset[str]:
        """Ids of the events that were taken back."""
        return frozenset(self._undone)

    def apply(self, entry: Scene | Event) -> GameUpdate:
        """Take one entry.

        Raises:
            RefusedError: a duplicate, or an event that the state does not allow; nothing has changed.

        """
        if isinstance(entry, Event):
            if entry.id in self._ids:
                raise RefusedError(f"event {entry.id} has been taken already")
            if isinstance(entry.body, Ruling) and entry.body.decision != "manual":
                return self._rule(entry, entry.body)
            if isinstance(entry.body, Undo):
                return self._undo(entry, entry.body)
        state, calls = self._engine.step(self._state, entry)
        logged = self._append(entry)
        self._state = state
        self._note(calls, len(self._log) - 1)
        self._checkpoint()
        return GameUpdate(calls, logged=logged)

    def _append(self, entry: Scene | Event) -> tuple[Scene | Event, ...]:
        if isinstance(entry, Scene):
            if self._rests(entry):
                self._resting.append(entry)
                while self._resting[0].t_ns < entry.t_ns - RECENT_NS:
                    self._resting.popleft()
                return ()
        else:
            self._ids.add(entry.id)
        logged = (*self._resting, entry)
        self._resting.clear()
        self._log += logged
        return logged

    def _rests(self, scene: Scene) -> bool:
        if scene.board != "off":
            self._off_ns = None
            return False
        if self._off_ns is None:
            self._off_ns = scene.t_ns
        return scene.t_ns - self._off_ns > SETTLED_NS

    def _note(self, calls: Iterable[Call], at: int) -> None:
        for call in calls:
            self._calls.append(call)
            self._made_at[call.id] = at

    def _checkpoint(self) -> None:
        last = self._checkpoints[-1][0]
        if len(self._log) - last < CHECKPOINT_ENTRIES or self._resting:
            return
        self._checkpoints.append((len(self._log), self._state, len(self._calls)))
        if self._keep_ns is not None:
            self._forget(self._state.game.now_ns - self._keep_ns)

    def _forget(self, before_ns: int) -> None:
        """Drop the scenes before the last checkpoint that is older than what must be kept; events stay for ever."""
        old = [place for place, (_, state, _) in enumerate(self._checkpoints) if state.game.now_ns < before_ns]
        if len(old) < 2:
            return
        first = self._checkpoints[old[-1]][0]
        for place in range(self._checkpoints[old[0]][0], first):
            entry = self._log[place]
            if isinstance(entry, Scene):
                self._log[place] = _FORGOTTEN
        del self._checkpoints[: old[-1]]

    def _rule(self, event: Event, ruling: Ruling) -> GameUpdate:
        at = self._made_at.get(ruling.call)
        if at is None:
            raise RefusedError(f"ruling: no call is called {ruling.call!r}")
        if ruling.decision == "overturn" and ruling.replacement is not None and not ruling.replacement.text:
            raise RefusedError("ruling: the call that stands instead needs its text")
        start = self._before(at, f"ruling: the scenes of {ruling.call}")
        self._engine.admit(self._state, event)
        self._engine.rulings[ruling.call] = ruling
        return self._judge_anew(event, start)

    def _undo(self, event: Event, undo: Undo) -> GameUpdate:
        """Take back an event that was taken, and judge everything since without it."""
        found = ((place, entry) for place, entry in enumerate(self._log) if isinstance(entry, Event))
        at, struck = next(((place, entry) for place, entry in found if entry.id == undo.event), (0, None))
        if struck is None:
            raise RefusedError(f"undo: no event is called {undo.event!r}")
        if undo.event in self._undone:
            raise RefusedError(f"undo: {undo.event} has been taken back already")
        if isinstance(struck.body, Undo | Tick):
            raise RefusedError(f"undo: {undo.event} can't be taken back; say again what it took back")
        about = struck.body.call if isinstance(struck.body, Ruling) and struck.body.decision != "manual" else None
        start = self._before(at if about is None else self._made_at[about], f"undo: the scenes since {undo.event}")
        self._engine.admit(self._state, event)
        self._undone.add(undo.event)
        if about is not None:
            self._rule_as_before(about)
        return self._judge_anew(event, start)

    def _rule_as_before(self, call: str) -> None:
        """Put in force the latest ruling about a call that was not taken back."""
        self._engine.rulings.pop(call, None)
        standing = (entry.body for entry in self._log if isinstance(entry, Event) and entry.id not in self._undone)
        for body in standing:
            if isinstance(body, Ruling) and body.call == call and body.decision != "manual":
                self._engine.rulings[call] = body

    def _before(self, at: int, what: str) -> tuple[int, EngineState, int]:
        """The latest state kept from before a place in the log."""
        start = max((point for point in self._checkpoints if point[0] <= at), key=lambda point: point[0], default=None)
        if start is None:
            raise RefusedError(f"{what} are no longer held; judge the recording again with this")
        return start

    def _judge_anew(self, event: Event, start: tuple[int, EngineState, int]) -> GameUpdate:
        """Take everything since a checkpoint once more, and then the event that made that necessary."""
        before = self._calls
        self._ids.add(event.id)
        self._replay(start)
        self._log.append(event)
        self._state, calls = self._engine.step(self._state, event)
        self._note(calls, len(self._log) - 1)
        stood = {call.id: call for call in before}
        stand = {call.id: call for call in self._calls}
        new = tuple(call for call in self._calls if stood.get(call.id) != call)
        gone = tuple(name for name in stood if name not in stand)
        return GameUpdate(new, gone, calls_to_append(stood, tuple(stand)), (event,))

    def _replay(self, start: tuple[int, EngineState, int]) -> None:
        """Take everything since a checkpoint once more."""
        first, self._state, calls = start
        self._checkpoints = [point for point in self._checkpoints if point[0] <= first]
        self._calls = self._calls[:calls]
        again = self._log[first:]
        aside = {item.event for item in self._refused}
        replayed = {entry.id for entry in again if isinstance(entry, Event)}
        self._refused = [item for item in self._refused if item.event not in aside & replayed]
        for place, entry in enumerate(again, start=first):
            if isinstance(entry, Event) and entry.id in self._undone:
                continue
            try:
                self._state, made = self._engine.step(self._state, entry)
            except RefusedError as error:
                if isinstance(entry, Event):
                    self._refused.append(RefusedEvent(entry.id, str(error)))
                continue
            self._note(made, place)
            if place + 1 - self._checkpoints[-1][0] >= CHECKPOINT_ENTRIES:
                self._checkpoints.append((place + 1, self._state, len(self._calls)))


_FORGOTTEN = Scene(frame=-1, t_ns=-1, board="unknown", figures=())
"""Stands in the log where a scene has been dropped; nothing is ever replayed from before it."""
