"""What a rulebook is made of: rules detect, consequences follow, handlers take declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from downfield.core.field import FieldModel
from downfield.officiating.calls import Call, CallKind, Finding
from downfield.officiating.engine.facts import Facts
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.params import Param, Params


class Rule(Protocol):
    """One rule: what it is called, what it rests on, when it looks, and what it sees."""

    @property
    def id(self) -> str:
        """Short name, such as ``"tackle"``; findings carry it."""
        ...

    @property
    def clauses(self) -> tuple[str, ...]:
        """Catalog ids of the clauses it stands for."""
        ...

    @property
    def phases(self) -> frozenset[Phase]:
        """The phases it is active in."""
        ...

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters it reads."""
        ...

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """What it sees in this frame."""
        ...

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:
        """What becomes of one of its findings once the evidence is in; None for nothing."""
        ...


class ImmediateRule:
    """For rules that need no further evidence: their findings settle as they are."""

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:  # noqa: ARG002
        """The finding itself."""
        return finding


@dataclass(frozen=True, slots=True)
class RuleContext:
    """What handlers, consequences and settling see beside the state.

    Attributes:
        params: in force.
        field: the printed field.
        t_ns: now; for a consequence, the instant of its call.
        system: the code of the rulebook.
        facts: of the latest scene; None before any.

    """

    params: Params
    field: FieldModel
    t_ns: int
    system: RuleSystem
    facts: Facts | None = None

    def clauses(self, name: str) -> tuple[str, ...]:
        """The clauses the rulebook cites for something that is shared between rulebooks."""
        return self.system.clauses.get(name, ())


@dataclass(frozen=True, slots=True)
class Outcome:
    """A new state, and what follows from it.

    Attributes:
        state: the state.
        findings: what follows at once (a first down after a tackle), made calls of in turn.

    """

    state: GameState
    findings: tuple[Finding, ...] = ()


Consequence = Callable[[GameState, Call, RuleContext], Outcome]
"""What a call of one kind does to the state. Pure; the call may be a person's."""

Handler = Callable[[GameState, Event, RuleContext], Outcome]
"""What one type of declaration does to the state; raises `RefusedError` when the state does not allow it."""


def _as_it_is(state: GameState, _params: Params) -> GameState:
    return state


def _nothing(_state: GameState, _context: RuleContext) -> tuple[Finding, ...]:
    return ()


def _goes_on(state: GameState, _t_ns: int, _context: RuleContext) -> Outcome:
    return Outcome(state)


@dataclass(frozen=True, slots=True)
class RuleSystem:
    """The code of one rulebook; the rulebook's file adds values and policies.

    Attributes:
        name: what rulebooks name as their base: ``tap``, ``efl``, ``lions-den``, ``nfl-strategy``.
        title: in full.
        rules: in order of precedence at one and the same instant.
        handlers: by declaration class; anything else is refused as unknown to this rulebook.
        consequences: by call kind; kinds left out have none.
        clauses: catalog ids cited for what is shared between rulebooks, by its name, such as ``"first_down"``.
        params: those that no rule declares (of handlers and consequences).
        begin: what a game's first state is under it, beyond the defaults.
        at_snap: what is checked as the board comes on for a play: the formation. Only reported.
        at_restart: what is checked as the board comes on after a stoppage, its `Stoppage` still in the state: pivots.
        kick_over: what follows when the board goes off after a kick has run.

    """

    name: str
    title: str
    rules: tuple[Rule, ...]
    handlers: Mapping[type[Any], Handler]
    consequences: Mapping[CallKind, Consequence]
    clauses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    params: tuple[Param, ...] = ()
    begin: Callable[[GameState, Params], GameState] = _as_it_is
    at_snap: Callable[[GameState, RuleContext], tuple[Finding, ...]] = _nothing
    at_restart: Callable[[GameState, RuleContext], tuple[Finding, ...]] = _nothing
    kick_over: Callable[[GameState, int, RuleContext], Outcome] = _goes_on
