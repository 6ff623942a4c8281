"""The checks of one rulebook: which run at the snap, at a restart and after a kick, and what they report.

A clause that is broken, or too close to tell, is reported with its margin; a clause that is kept or could not be
checked is not. Clauses that only a coach may claim are never reported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeVar

from downfield.core.scene import Jersey, Player, Scene
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import CallNumbers, Finding
from downfield.officiating.checks.check import Check, ClauseResult
from downfield.officiating.checks.formation import Formation, build_formation
from downfield.officiating.checks.movement import PreSnapChanges, find_pose_changes
from downfield.officiating.checks.pivots import StoppageChanges, StoppageKind, base_swaps
from downfield.officiating.checks.timing import Timeline
from downfield.officiating.conditions import Condition, joint_probability
from downfield.officiating.declarations import BaseSwap
from downfield.officiating.events import Event
from downfield.officiating.params import Param, Params
from downfield.officiating.state.facts import FACT_LIMITS, Facts
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import Handler, Outcome, RuleContext
from downfield.officiating.state.play_state import PlayKind, Stoppage, poses_of

Answer = TypeVar("Answer")

KICKS: Final[frozenset[PlayKind]] = frozenset({"kickoff", "onside", "free_kick"})
STOPPAGE_KINDS: Final[Mapping[str, StoppageKind]] = {
    "coach": "coach",
    "line": "line",
    "catch": "first_touch",
    "interception": "interception",
    "fumble": "fumble",
    "kick": "kickoff",
}
"""The checks' kind of a stoppage, by its reason; stoppages for other reasons are not checked."""


@dataclass(frozen=True, slots=True)
class RulebookChecks:
    """The checks of one rulebook, as hooks for its system."""

    book: str  # prefix of its catalog ids
    # checks of the formation, by what is lined up for
    formations: Mapping[PlayKind, Sequence[Check[Formation]]] = field(default_factory=dict)
    motion: Sequence[Check[PreSnapChanges]] = ()  # checks of motions and pivots between "set" and the snap
    # whether the defense lines up after "set", so that only what it changes once it has declared that it is done
    # counts; otherwise every change after "set" does
    defense_after_set: bool = True
    returns: Sequence[Check[Formation]] = ()  # checks of the formation as a kick's return begins
    stops: Sequence[Check[StoppageChanges]] = ()  # checks of a stoppage
    times: Sequence[Check[Timeline]] = ()  # checks of a stoppage's clocks
    kick_run: Sequence[Check[Timeline]] = ()  # checks of how long a kickoff ran

    @property
    def params(self) -> tuple[Param, ...]:
        """Every parameter of these checks, once."""
        checks: list[Check[Any]] = [*self.motion, *self.returns, *self.stops, *self.times, *self.kick_run]
        for formation_checks in self.formations.values():
            checks += formation_checks
        return tuple({param.name: param for check in checks for param in check.params}.values())

    def check_formation(
        self, formation: Formation, kind: PlayKind = "scrimmage", params: Params | None = None
    ) -> tuple[ClauseResult, ...]:
        """Return the results for a formation, kept clauses included; needs no game, no tracks and no values set."""
        checks = self.formations.get(kind, ())
        return tuple(result for check in checks for result in check(formation, params, book=self.book))

    def check_stoppage(self, stoppage: StoppageChanges, params: Params | None = None) -> tuple[ClauseResult, ...]:
        """Return the results for a stoppage, kept clauses included; needs no game and no tracks."""
        return tuple(result for check in self.stops for result in check(stoppage, params, book=self.book))

    def at_snap(self, game: GameState, context: RuleContext) -> tuple[Finding, ...]:
        """Report on the formation and the motions, as the board comes on for a play."""
        checks = self.formations.get(game.play.kind, ())
        formation = current_formation(game, context)
        if formation is None:
            return ()
        found = self._report(checks, formation, "formation", context)
        if game.play.kind == "onside":
            return found + self._report(self.stops, _onside_changes(game, context), "pivot", context)
        before_snap = _pre_snap_changes(game, formation, context, defense_after_set=self.defense_after_set)
        return found + self._report(self.motion, before_snap, "formation", context)

    def at_restart(self, game: GameState, context: RuleContext) -> tuple[Finding, ...]:
        """Report on the pivots and the clocks, as the board comes on after a stoppage."""
        stoppage, found = game.play.stoppage, tuple[Finding, ...]()
        if stoppage is None:
            return found
        formation = current_formation(game, context) if stoppage.reason == "kick" and self.returns else None
        if formation is not None:
            found += self._report(self.returns, formation, "formation", context)
        changes = _stoppage_changes(game, stoppage, context)
        if changes is not None:
            found += self._report(self.stops, changes, "pivot", context)
        times = _stoppage_timeline(stoppage, context.t_ns)
        return found if times is None else found + self._report(self.times, times, "timing", context)

    def at_kick_over(self, game: GameState, t_ns: int, context: RuleContext) -> tuple[Finding, ...]:
        """Report on how long a kickoff ran, as the board goes off."""
        times = Timeline(kick_on_ns=game.play.snap_ns, kick_off_ns=t_ns)
        return self._report(self.kick_run, times, "timing", context) if game.play.kind == "kickoff" else ()

    def reporting_base_swap(self, handle: Handler) -> Handler:
        """Wrap the handler of a change of bases to check it at once, too; in a stoppage it is one of its pivots."""

        def handle_and_report(game: GameState, event: Event, context: RuleContext) -> Outcome:
            outcome = handle(game, event, context)
            if game.play.stoppage is not None or context.facts is None or not isinstance(event.body, BaseSwap):
                return outcome
            player, scene = event.body.player, context.facts.scene
            changes = find_pose_changes(poses_of(scene), scene, game.players, offense="dark", swapped=(player,))
            found = self._report((base_swaps,), StoppageChanges(context.field, "coach", changes), "formation", context)
            return replace(outcome, findings=(*outcome.findings, *found))

        return handle_and_report

    def reporting_formation(
        self, handle: Callable[[GameState, Answer, RuleContext], Outcome]
    ) -> Callable[[GameState, Answer, RuleContext], Outcome]:
        """Wrap the handler of a kick decided without running the board to report the kick's formation too."""

        def handle_and_report(game: GameState, answer: Answer, context: RuleContext) -> Outcome:
            outcome = handle(game, answer, context)
            return replace(outcome, findings=(*self.at_snap(game, context), *outcome.findings))

        return handle_and_report

    def _report(
        self, checks: Sequence[Check[Any]], subject: object, kind: CallKind, context: RuleContext
    ) -> tuple[Finding, ...]:
        # Clauses are about roles and numbers: where it is not sure which figure it is, nothing is sure of it.
        unsure = {figure.id for figure in context.facts.scene.figures if not figure.sure} if context.facts else set()
        found = [
            _finding(_with_unsure_identity(result) if unsure & set(result.players) else result, kind, context.t_ns)
            for check in checks
            if not check.on_claim
            for result in check(subject, context.params, book=self.book)
            if result.outcome in ("broken", "too_close")
        ]
        return _with_distinct_details(found)


def _finding(result: ClauseResult, kind: CallKind, t_ns: int) -> Finding:
    """Turn a result into a finding without consequence (TAP-G5); its margin is positive for a violation."""
    close = result.outcome == "too_close"
    return Finding(
        rule=result.check,
        kind=kind,
        t_ns=t_ns,
        text=f"too close to call: {result.text}" if close else result.text,
        clauses=result.clauses,
        players=result.players,
        margin=None if result.margin is None else -result.margin,
        sigma=result.sigma,
        unit=result.unit,
        probability=result.probability,
        reported=True,
        detail=result.check,
        numbers=None if result.measured is None else CallNumbers(measured=result.measured, allowed=result.allowed),
        conditions=result.conditions,
    )


def _with_unsure_identity(result: ClauseResult) -> ClauseResult:
    text = f"{result.text} (not sure which figure this is)"
    margin = None if result.margin is None or result.unit == "count" else -result.margin
    measured = Condition("excess", result.probability, margin, result.sigma, result.unit)
    conditions = (*(result.conditions or (measured,)), Condition("identity", 0.5))
    probability = joint_probability(conditions)
    return replace(result, outcome="too_close", text=text, probability=probability, conditions=conditions)


def _with_distinct_details(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Number the details of one check's findings about one player, so that every call has an id of its own."""
    seen: Counter[tuple[str, str]] = Counter()
    out = []
    for finding in findings:
        key = (finding.detail, finding.players[0] if finding.players else "")
        seen[key] += 1
        out.append(finding if seen[key] == 1 else replace(finding, detail=f"{finding.detail}_{seen[key]}"))
    return tuple(out)


def current_formation(game: GameState, context: RuleContext) -> Formation | None:
    """Return the formation in the latest scene; None while there is no scene.

    The engine's offense receives a kickoff; a kick's formation is that of the kickers. Figures that are in no line-up
    count as on the field, too.
    """
    if context.facts is None:
        return None
    scene, kick = _as_they_stood(context.facts), game.play.kind in KICKS
    declared = {player.id for player in game.players}
    # Too many men is a fault too, so figures in no line-up are counted.
    undeclared = tuple(Player(figure.id, figure.jersey) for figure in scene.figures if figure.id not in declared)
    direction: Literal[-1, 1] = game.direction
    if kick:
        direction = -1 if direction == 1 else 1
    line_yd = game.los_yd
    if game.play.kind == "onside" and "kickoff.from_yd" in context.params.definitions:
        # The ball lies ahead of the line that it is kicked from.
        line_yd = game.board_x_yd(game.length_yd - context.params.real("kickoff.from_yd"))
    return build_formation(
        scene,
        (*game.players, *undeclared),
        context.field,
        offense=_offense_jersey(game, kicking=kick),
        direction=direction,
        line_yd=line_yd,
        carrier=game.play.carrier,
        gunners=game.play.gunners,
        returner=game.play.returner,
    )


def _as_they_stood(facts: Facts, since_ns: int = 0) -> Scene:
    """Return the last scene, not before a time, that surely shows the board before it was turned on.

    A camera sees late that it runs: by the motion of figures, and so by frames where these are few.
    """
    stood = [one for one in facts.recent[:-2] if since_ns <= one.t_ns <= facts.t_ns - FACT_LIMITS.switched_late_ns]
    measured = any(figure.sigma_mm[0] for figure in facts.scene.figures)
    return stood[-1] if stood and measured else facts.scene


def _pre_snap_changes(
    game: GameState, formation: Formation, context: RuleContext, *, defense_after_set: bool
) -> PreSnapChanges:
    """Return the changes between "set" and the snap, as far as the figures were in view."""
    if context.facts is None or game.play.kind in KICKS:
        return PreSnapChanges(())
    offense = _offense_jersey(game, kicking=False)
    since_set, since_ready = (
        find_pose_changes(poses, _as_they_stood(context.facts), game.players, offense=offense)
        for poses in (game.set_poses, game.ready_poses if defense_after_set else game.set_poses)
    )
    by_offense = [change for change in since_set if change.offense]
    by_defense = [change for change in since_ready if not change.offense]
    roles = tuple((player.id, player.role) for player in formation.players)
    return PreSnapChanges((*by_offense, *by_defense), roles)


def _onside_changes(game: GameState, context: RuleContext) -> StoppageChanges:
    """Return the figures that both teams turned toward an onside kick's ball between "set" and the switch."""
    if context.facts is None:
        return StoppageChanges(context.field, "onside", ())
    offense = _offense_jersey(game, kicking=True)
    changes = find_pose_changes(game.set_poses, _as_they_stood(context.facts), game.players, offense=offense)
    return StoppageChanges(context.field, "onside", changes, _target_mm(game, "onside", context))


def _stoppage_changes(game: GameState, stoppage: Stoppage, context: RuleContext) -> StoppageChanges | None:
    """Return the changes in the stoppage that is about to end; None where nothing is checked or no scene was seen."""
    kind = _stoppage_kind(stoppage)
    if context.facts is None or not stoppage.poses or kind is None:
        return None
    play = game.play
    changes = find_pose_changes(
        stoppage.poses,
        _as_they_stood(context.facts, stoppage.since_ns + FACT_LIMITS.rest_ns),
        game.players,
        offense=_offense_jersey(game, kicking=play.kind in KICKS),
        fallen=[fall.player for fall in play.falls],
        swapped=stoppage.swaps,
    )
    exempt = [play.carrier, play.tackler] if kind in ("first_touch", "interception", "fumble") else []
    exempt_ids = tuple(player for player in exempt if player)
    return StoppageChanges(context.field, kind, changes, _target_mm(game, kind, context), exempt_ids)


def _stoppage_timeline(stoppage: Stoppage, restart_ns: int) -> Timeline | None:
    """Return a stoppage's clocks, if checked; on a pass the offense is done once the stick is removed."""
    kind = _stoppage_kind(stoppage)
    if kind is None:
        return None
    return Timeline(
        stop=kind,
        stopped_ns=stoppage.since_ns,
        offense_done_ns=stoppage.offense_done_ns,
        defense_done_ns=stoppage.defense_done_ns or restart_ns,
        pass_ns=stoppage.pass_ns,
        stick_gone_ns=stoppage.offense_done_ns if stoppage.pass_ns is not None else None,
    )


def _stoppage_kind(stoppage: Stoppage) -> StoppageKind | None:
    return "pass" if stoppage.pass_ns is not None else STOPPAGE_KINDS.get(stoppage.reason)


def _target_mm(game: GameState, kind: StoppageKind, context: RuleContext) -> tuple[float, float] | None:
    """Return the target of pivots: the ball where it lies on the field, else the figure that it goes or went to."""
    if context.facts is None or kind not in ("pass", "fumble", "interception", "onside"):
        return None
    ball = context.facts.scene.ball
    if kind != "interception" and ball is not None and ball.state != "carried":
        return (ball.x_mm, ball.y_mm)
    if kind != "interception" and game.play.ball_mm is not None:
        return game.play.ball_mm
    player = game.play.receiver if kind == "pass" else game.play.carrier
    figure = context.facts.figures.get(player or "")
    return None if figure is None or kind in ("fumble", "onside") else (figure.x_mm, figure.y_mm)


def _offense_jersey(game: GameState, *, kicking: bool) -> Jersey:
    dark = game.dark == (game.defense if kicking else game.offense)
    return "dark" if dark else "light"
