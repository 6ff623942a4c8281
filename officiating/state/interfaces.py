"""The interfaces of a rulebook: rules detect, consequences follow, handlers apply declarations.

A `Rule` looks at the facts of a frame and makes findings; it never changes the state. The engine makes a `Call` of a
finding by confidence and policy. Only then does the `Consequence` of the call's kind change the state, so that a call
made or amended by a person has the same consequence as one that was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from downfield.core.field.model import FieldModel
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, Finding
from downfield.officiating.clauses import Clause
from downfield.officiating.events import Event
from downfield.officiating.params import Param, Params
from downfield.officiating.state.dice import DiceRule
from downfield.officiating.state.facts import Facts
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.unseen_declarations import DuePlay


class Rule(Protocol):
    """One rule: its clauses, the phases it is active in, and what it detects."""

    @property
    def id(self) -> str:
        """Short name, such as ``"tackle"``; findings carry it."""

    @property
    def clauses(self) -> tuple[str, ...]:
        """Catalog ids of the clauses it applies."""

    @property
    def phases(self) -> frozenset[Phase]:
        """The phases it is active in."""

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters it reads."""

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return what the rule finds in this frame.

        It is asked in every frame of its phases, and may find the same again under the same `Finding.key`.
        """

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:
        """Return what becomes of a finding once the evidence is in, None when nothing does.

        It is asked once, and only while the game is in one of the rule's phases: an earlier call may end them.
        """


class ImmediateRule:
    """Base class of rules that need no further evidence: their findings are settled as they are."""

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:  # noqa: ARG002
        """Return the finding unchanged."""
        return finding


@dataclass(frozen=True, slots=True)
class RuleContext:
    """What handlers, consequences and `Rule.settle` get beside the state."""

    params: Params  # in force: defaults, then the league's values
    field: FieldModel  # as printed, with its yards in millimeters
    t_ns: int  # now; for a consequence, the instant of its call
    system: RuleSystem  # the code of the rulebook
    # the facts of the latest scene; None before the first, and where the latest is too old to say anything
    facts: Facts | None = None
    ended: GameState | None = None  # the game as its last play ended; None while one is on, and before
    lengths_known: bool = True  # whether lengths in mm are known, not yards and what follows from bases alone

    def clauses(self, name: str) -> tuple[str, ...]:
        """Return the clauses that the rulebook cites for something all rulebooks share, such as ``"first_down"``."""
        return self.system.shared_clauses.get(name, ())


@dataclass(frozen=True, slots=True)
class Outcome:
    """A new state and what follows from it."""

    state: GameState
    # what follows at once (a first down after a tackle). Each becomes a call in turn, with its own consequence on the
    # state that the one before has left; none waits for evidence.
    findings: tuple[Finding, ...] = ()
    # what follows in place of the first finding, where that is of a measured place and a person finds that it does not
    # hold. Below the rulebook's confidence the game waits for him. None where nothing was measured.
    otherwise: tuple[Finding, ...] | None = None


Consequence = Callable[[GameState, Call, RuleContext], Outcome]
"""Returns what a call of one kind leads to. Pure; the call may be a person's."""

Handler = Callable[[GameState, Event, RuleContext], Outcome]
"""Returns what one type of declaration leads to; raises `RefusedError` when the state does not allow it."""

BeginTry = Callable[[GameState, DuePlay, RuleContext], Outcome]
"""Returns the game before a try of a kind; raises `RefusedError` when the rulebook has no such try."""

OvertimeKind = Literal["none", "plays", "possessions", "period"]
"""A rulebook's overtime: none, one play of each side, possessions on a clock, or simply another period."""


@dataclass(frozen=True, slots=True)
class RuleSystem:
    """The code of one installed rulebook; a league's file changes values and policies."""

    name: str  # short name of the rulebook, the same as its entry point's in the group `downfield.rulebooks`
    title: str
    rules: tuple[Rule, ...]  # in order of precedence at one and the same instant
    # by declaration class; any other declaration is refused. These are also what a rulebook is played with: one with a
    # handler of `CardPlayed` is a game of cards, for panels and for a strip.
    handlers: Mapping[type[Any], Handler]
    consequences: Mapping[CallKind, Consequence]  # by call kind; kinds left out have none
    catalog: Mapping[str, Clause] = field(default_factory=dict)  # every clause by id, in the order of its text
    # ids of the clauses cited for what all rulebooks share, by names such as `"first_down"`
    shared_clauses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    params: tuple[Param, ...] = ()  # parameters of handlers and consequences; rules declare their own
    begin: Callable[[GameState, Params], GameState] = lambda game, _params: (
        game
    )  # makes a game's first state of the default one
    # checks made as the board comes on for a play: the formation. Only reported.
    at_snap: Callable[[GameState, RuleContext], tuple[Finding, ...]] = lambda _game, _context: ()
    # checks made as the board comes on after a stoppage, its `Stoppage` still in the state: pivots
    at_restart: Callable[[GameState, RuleContext], tuple[Finding, ...]] = lambda _game, _context: ()
    # where a kickoff or free kick is kicked from, in the kickers' own yards, by what is due
    kick_from_yd: Callable[[GameState, Params], float] | None = None
    # what follows when the board goes off after a kick has run
    kick_over: Callable[[GameState, int, RuleContext], Outcome] = lambda game, _t_ns, _context: Outcome(game)
    # what follows while the ball is dead: the end of a period whose time is up
    ball_dead: Callable[[GameState, RuleContext], Outcome] = lambda game, _context: Outcome(game)
    # the try after a touchdown: the coach's choice, the one the rulebook prescribes, or a named one
    begin_try: BeginTry | None = None
    overtime: OvertimeKind = "none"  # the kind of its overtime
    dice: Mapping[str, DiceRule] = field(default_factory=dict)  # the dice that are rolled, by purpose
    dice_anytime: tuple[str, ...] = ()  # purposes whose dice may be rolled without being asked for, each for a side
    # how the names of those notes of the game begin that are about the plays before: a set-up, which begins anew,
    # forgets them
    series_notes: tuple[str, ...] = ()
