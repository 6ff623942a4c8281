"""What is checked as the board comes on: the formation at the snap, the pivots and clocks at a restart. Only reported.

A clause that is broken, or too close to tell, is reported with its margin; one that is kept or could not be looked at
is not. What a rulebook leaves to a coach to claim is never reported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from downfield.officiating.calls import CallKind, Finding
from downfield.officiating.checks.check import Check, Checked
from downfield.officiating.checks.formation import Formation
from downfield.officiating.checks.motion import Adjustment
from downfield.officiating.checks.movement import changes
from downfield.officiating.checks.pivots import Stop, base_swaps
from downfield.officiating.checks.subjects import adjustment_of, formation_of, onside_pivots, stop_of, times_of
from downfield.officiating.checks.timing import Times
from downfield.officiating.consequences.declaration_handlers import base_swap, body_of
from downfield.officiating.declarations import BaseSwap
from downfield.officiating.engine.interfaces import Outcome, RuleContext
from downfield.officiating.engine.play_state import PlayKind, poses_of
from downfield.officiating.engine.state import GameState
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.params import Param, Params

Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True)
class LineUpChecks:
    """What one rulebook checks, as hooks for its system.

    Attributes:
        book: prefix of its catalog ids.
        formations: checks of the formation, by what is lined up for.
        motion: checks of what was changed between "set" and the snap.
        defense_after_set: whether the defense lines up after "set", so that only what it changes once it has said that
            it is done counts; else whatever it changes after "set" does.
        returns: checks of the formation as a kick's return begins.
        stops: checks of a stoppage.
        times: checks of a stoppage's clocks.
        kick_run: checks of how long a kickoff ran.

    """

    book: str
    formations: Mapping[PlayKind, Sequence[Check[Formation]]] = field(default_factory=dict)
    motion: Sequence[Check[Adjustment]] = ()
    defense_after_set: bool = True
    returns: Sequence[Check[Formation]] = ()
    stops: Sequence[Check[Stop]] = ()
    times: Sequence[Check[Times]] = ()
    kick_run: Sequence[Check[Times]] = ()

    @property
    def params(self) -> tuple[Param, ...]:
        """Every parameter of these checks, once."""
        checks: list[Check[Any]] = [*self.motion, *self.returns, *self.stops, *self.times, *self.kick_run]
        for line_up in self.formations.values():
            checks += line_up
        return tuple({param.name: param for check in checks for param in check.params}.values())

    def judge_formation(
        self, there: Formation, kind: PlayKind = "scrimmage", params: Params | None = None
    ) -> tuple[Checked, ...]:
        """What this rulebook's checks make of a formation, kept clauses too; no game and no tracks are needed.

        Args:
            there: the formation.
            kind: what is lined up for.
            params: in force; the defaults when None.

        """
        return tuple(one for check in self.formations.get(kind, ()) for one in check(there, params, book=self.book))

    def judge_stop(self, stop: Stop, params: Params | None = None) -> tuple[Checked, ...]:
        """What this rulebook's checks make of a stoppage, kept clauses too; no game and no tracks are needed."""
        return tuple(one for check in self.stops for one in check(stop, params, book=self.book))

    def at_snap(self, game: GameState, context: RuleContext) -> tuple[Finding, ...]:
        """The formation, as the board comes on for a play."""
        checks = self.formations.get(game.play.kind, ())
        lined_up = formation_of(game, context)
        if lined_up is None:
            return ()
        found = self._reported(checks, lined_up, "formation", context)
        if game.play.kind == "onside":
            return found + self._reported(self.stops, onside_pivots(game, context), "pivot", context)
        adjusted = adjustment_of(game, lined_up, context, defense_after_set=self.defense_after_set)
        return found + self._reported(self.motion, adjusted, "formation", context)

    def at_base_swap(self, game: GameState, event: Event, context: RuleContext) -> Outcome:
        """A change of bases; in a stoppage it is one of its pivots, before a play it is checked at once."""
        outcome = base_swap(game, event, context)
        if game.play.stoppage is not None or context.facts is None:
            return outcome
        player, scene = body_of(event, BaseSwap).player, context.facts.scene
        changed = changes(poses_of(scene), scene, game.players, offense="dark", swapped=(player,))
        found = self._reported((base_swaps,), Stop(context.field, "coach", changed), "formation", context)
        return replace(outcome, findings=(*outcome.findings, *found))

    def with_formation(
        self, take: Callable[[GameState, Taken, RuleContext], Outcome]
    ) -> Callable[[GameState, Taken, RuleContext], Outcome]:
        """What takes a kick decided without the board's running, made to report the formation it is kicked from."""

        def apply(game: GameState, taken: Taken, context: RuleContext) -> Outcome:
            outcome = take(game, taken, context)
            return replace(outcome, findings=(*self.at_snap(game, context), *outcome.findings))

        return apply

    def at_restart(self, game: GameState, context: RuleContext) -> tuple[Finding, ...]:
        """The pivots and the clocks, as the board comes on after a stoppage."""
        stoppage, found = game.play.stoppage, tuple[Finding, ...]()
        if stoppage is None:
            return found
        lined_up = formation_of(game, context) if stoppage.reason == "kick" and self.returns else None
        if lined_up is not None:
            found += self._reported(self.returns, lined_up, "formation", context)
        stop = stop_of(game, stoppage, context)
        if stop is not None:
            found += self._reported(self.stops, stop, "pivot", context)
        times = times_of(stoppage, context.t_ns)
        return found if times is None else found + self._reported(self.times, times, "timing", context)

    def at_kick_over(self, game: GameState, t_ns: int, context: RuleContext) -> tuple[Finding, ...]:
        """How long a kickoff ran, as the board goes off."""
        times = Times(kick_on_ns=game.play.snap_ns, kick_off_ns=t_ns)
        return self._reported(self.kick_run, times, "timing", context) if game.play.kind == "kickoff" else ()

    def _reported(
        self, checks: Sequence[Check[Any]], subject: object, kind: CallKind, context: RuleContext
    ) -> tuple[Finding, ...]:
        mistakable = (
            {one.id for one in context.facts.scene.figures if not one.sure} if context.facts is not None else set()
        )
        found = [
            reported(in_doubt(checked) if mistakable & set(checked.players) else checked, kind, context.t_ns)
            for check in checks
            if not check.on_claim
            for checked in check(subject, context.params, book=self.book)
            if checked.outcome in ("broken", "too_close")
        ]
        return distinct(found)


def reported(checked: Checked, kind: CallKind, t_ns: int) -> Finding:
    """A check's result as a finding that only tells; its margin is positive on the side of the violation.

    No book gives these violations a penalty, and none is made up (TAP-G5).
    """
    close = checked.outcome == "too_close"
    return Finding(
        rule=checked.check,
        kind=kind,
        t_ns=t_ns,
        text=f"too close to call: {checked.text}" if close else checked.text,
        clauses=checked.clauses,
        players=checked.players,
        margin=None if checked.margin is None else -checked.margin,
        sigma=checked.sigma,
        unit=checked.unit,
        probability=checked.probability,
        reported=True,
        detail=checked.check,
    )


def in_doubt(checked: Checked) -> Checked:
    """A result about somebody who may be somebody else: as likely wrong as right."""
    return replace(checked, outcome="too_close", text=f"{checked.text} (identity in doubt)", probability=0.5)


def distinct(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings with details that tell apart those of one check about the same man, so that every call has an id."""
    seen: Counter[tuple[str, str]] = Counter()
    out = []
    for finding in findings:
        key = (finding.detail, finding.players[0] if finding.players else "")
        seen[key] += 1
        out.append(finding if seen[key] == 1 else replace(finding, detail=f"{finding.detail}_{seen[key]}"))
    return tuple(out)
