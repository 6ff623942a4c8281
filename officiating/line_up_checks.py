"""What is checked as the board comes on: the formation at the snap, the pivots and clocks at a restart. Only reported.

A clause that is broken, or too close to tell, is reported with its margin; one that is kept or could not be looked at
is not. What a rulebook leaves to a coach to claim is never reported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from downfield.officiating.calls import CallKind
from downfield.officiating.changes import changes
from downfield.officiating.check_motion import Adjustment
from downfield.officiating.check_stops import Stop, StopKind
from downfield.officiating.check_timing import Times
from downfield.officiating.checks import Check, Checked
from downfield.officiating.findings import Finding
from downfield.officiating.formation import Formation, formation
from downfield.officiating.params import Param, Params
from downfield.officiating.rule import Outcome, View
from downfield.officiating.state import GameState, PlayKind, Stoppage
from downfield.vision.scene import Jersey, Player

KICKS: frozenset[PlayKind] = frozenset({"kickoff", "onside", "free_kick"})
STOP_KINDS: Mapping[str, StopKind] = {
    "coach": "coach",
    "line": "line",
    "catch": "first_touch",
    "interception": "interception",
    "fumble": "fumble",
    "kick": "kickoff",
}
"""What a stoppage's reason is to the checks; in any other stop, nobody may do anything that is checked."""


Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True)
class LineUpChecks:
    """What one rulebook checks, as hooks for its system.

    Attributes:
        book: prefix of its catalogue ids.
        formations: checks of the formation, by what is lined up for.
        motion: checks of what was changed between "set" and the snap.
        defence_after_set: whether the defence lines up after "set", so that only what it changes once it has said that
            it is done counts; else whatever it changes after "set" does.
        returns: checks of the formation as a kick's return begins.
        stops: checks of a stoppage.
        times: checks of a stoppage's clocks.
        kick_run: checks of how long a kickoff ran.

    """

    book: str
    formations: Mapping[PlayKind, Sequence[Check[Formation]]] = field(default_factory=dict)
    motion: Sequence[Check[Adjustment]] = ()
    defence_after_set: bool = True
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

    def at_snap(self, game: GameState, view: View) -> tuple[Finding, ...]:
        """The formation, as the board comes on for a play."""
        checks = self.formations.get(game.play.kind, ())
        lined_up = formation_of(game, view)
        if lined_up is None:
            return ()
        found = self._reported(checks, lined_up, "formation", view)
        if game.play.kind == "onside":
            return found + self._reported(self.stops, onside_pivots(game, view), "pivot", view)
        adjusted = adjustment_of(game, lined_up, view, defence_after_set=self.defence_after_set)
        return found + self._reported(self.motion, adjusted, "formation", view)

    def with_formation(
        self, take: Callable[[GameState, Taken, View], Outcome]
    ) -> Callable[[GameState, Taken, View], Outcome]:
        """What takes a kick decided without the board's running, made to report the formation it is kicked from."""

        def apply(game: GameState, taken: Taken, view: View) -> Outcome:
            outcome = take(game, taken, view)
            return replace(outcome, findings=(*self.at_snap(game, view), *outcome.findings))

        return apply

    def at_restart(self, game: GameState, view: View) -> tuple[Finding, ...]:
        """The pivots and the clocks, as the board comes on after a stoppage."""
        stoppage, found = game.play.stoppage, tuple[Finding, ...]()
        if stoppage is None:
            return found
        lined_up = formation_of(game, view) if stoppage.why == "kick" and self.returns else None
        if lined_up is not None:
            found += self._reported(self.returns, lined_up, "formation", view)
        stop = stop_of(game, stoppage, view)
        if stop is not None:
            found += self._reported(self.stops, stop, "pivot", view)
        times = times_of(stoppage, view.t_ns)
        return found if times is None else found + self._reported(self.times, times, "timing", view)

    def at_kick_over(self, game: GameState, t_ns: int, view: View) -> tuple[Finding, ...]:
        """How long a kickoff ran, as the board goes off."""
        times = Times(kick_on_ns=game.play.snap_ns, kick_off_ns=t_ns)
        return self._reported(self.kick_run, times, "timing", view) if game.play.kind == "kickoff" else ()

    def _reported(
        self, checks: Sequence[Check[Any]], subject: object, kind: CallKind, view: View
    ) -> tuple[Finding, ...]:
        mistakable = {one.id for one in view.facts.scene.figures if not one.sure} if view.facts is not None else set()
        found = [
            reported(in_doubt(checked) if mistakable & set(checked.players) else checked, kind, view.t_ns)
            for check in checks
            if not check.on_claim
            for checked in check(subject, view.params, book=self.book)
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


def formation_of(game: GameState, view: View) -> Formation | None:
    """The formation in the latest scene; None while there is none.

    The engine's offence receives a kickoff; a kick's formation is that of the kickers. Figures that no line-up named
    are on the field like any other.
    """
    if view.facts is None:
        return None
    scene, kick = view.facts.scene, game.play.kind in KICKS
    offence: Jersey = _jersey(game, kicking=kick)
    declared = {player.id for player in game.players}
    strangers = tuple(Player(one.id, one.jersey) for one in scene.figures if one.id not in declared)
    turn: Literal[-1, 1] = game.direction
    if kick:
        turn = -1 if turn == 1 else 1
    return formation(
        scene,
        (*game.players, *strangers),
        view.field,
        offence=offence,
        direction=turn,
        line_yd=_line_yd(game, view),
        carrier=game.play.carrier,
        gunners=game.play.gunners,
        returner=game.play.returner,
    )


def adjustment_of(game: GameState, lined_up: Formation, view: View, *, defence_after_set: bool) -> Adjustment:
    """What was changed between "set" and the snap, as far as it was seen."""
    if view.facts is None or game.play.kind in KICKS:
        return Adjustment(())
    offence = _jersey(game, kicking=False)
    since_set, since_ready = (
        changes(poses, view.facts.scene, game.players, offence=offence)
        for poses in (game.set_poses, game.ready_poses if defence_after_set else game.set_poses)
    )
    changed = [one for one in since_set if one.offence] + [one for one in since_ready if not one.offence]
    return Adjustment(tuple(changed), tuple((man.id, man.role) for man in lined_up.men))


def onside_pivots(game: GameState, view: View) -> Stop:
    """What both teams turned toward an onside kick's ball between "set" and the switch."""
    if view.facts is None:
        return Stop(view.field, "onside", ())
    offence = _jersey(game, kicking=True)
    changed = changes(game.set_poses, view.facts.scene, game.players, offence=offence)
    return Stop(view.field, "onside", changed, _target_mm(game, "onside", view))


def stop_of(game: GameState, stoppage: Stoppage, view: View) -> Stop | None:
    """The stoppage that is about to end; None where nothing is checked in it, or nothing was seen."""
    kind = _kind_of(stoppage)
    if view.facts is None or not stoppage.poses or kind is None:
        return None
    play = game.play
    changed = changes(
        stoppage.poses,
        view.facts.scene,
        game.players,
        offence=_jersey(game, kicking=play.kind in KICKS),
        fallen=[fall.player for fall in play.falls],
        swapped=stoppage.swaps,
    )
    exempt = [play.carrier, play.tackler] if kind in ("first_touch", "interception", "fumble") else []
    return Stop(view.field, kind, changed, _target_mm(game, kind, view), tuple(name for name in exempt if name))


def times_of(stoppage: Stoppage, restart_ns: int) -> Times | None:
    """The clocks of a stoppage: on a pass the offence is done when the stick is gone. None where nothing is checked."""
    kind = _kind_of(stoppage)
    if kind is None:
        return None
    return Times(
        stop=kind,
        stopped_ns=stoppage.since_ns,
        offence_done_ns=stoppage.offence_done_ns,
        defence_done_ns=stoppage.defence_done_ns or restart_ns,
        pass_ns=stoppage.pass_ns,
        stick_gone_ns=stoppage.offence_done_ns if stoppage.pass_ns is not None else None,
    )


def _line_yd(game: GameState, view: View) -> float:
    """The line to line up at; an onside kick's ball lies ahead of the line it is kicked from."""
    if game.play.kind != "onside" or "kickoff.from_yd" not in view.params.declared:
        return game.los_yd
    return game.board_x_yd(game.length_yd - view.params.real("kickoff.from_yd"))


def _kind_of(stoppage: Stoppage) -> StopKind | None:
    return "pass" if stoppage.pass_ns is not None else STOP_KINDS.get(stoppage.why)


def _target_mm(game: GameState, kind: StopKind, view: View) -> tuple[float, float] | None:
    """What the pivots of a stop must aim at: the ball that lies on the field, else whom the ball goes or went to."""
    if view.facts is None or kind not in ("pass", "fumble", "interception", "onside"):
        return None
    ball = view.facts.scene.ball
    if kind != "interception" and ball is not None and ball.state != "carried":
        return (ball.x_mm, ball.y_mm)
    if kind != "interception" and game.play.ball_mm is not None:
        return game.play.ball_mm
    name = game.play.receiver if kind == "pass" else game.play.carrier
    figure = view.facts.figures.get(name or "")
    return None if figure is None or kind in ("fumble", "onside") else (figure.x_mm, figure.y_mm)


def _jersey(game: GameState, *, kicking: bool) -> Jersey:
    dark = game.dark == (game.defence if kicking else game.offence)
    return "dark" if dark else "light"
