"""Who touches the ball first: a pass in the air, an onside kick, a fumble.

The time a base reached the ball comes from the scene where vision has measured it, else from the gap between base and
ball. Touches less than a frame apart are simultaneous; the rulebook says whose ball it is then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from downfield.core.scene import Figure, Scene
from downfield.officiating.call_numbers import CallNumbers
from downfield.officiating.calls import CallKind, Finding
from downfield.officiating.conditions import Condition, joint_probability, worth_telling
from downfield.officiating.params import Param, Params
from downfield.officiating.rules.lines import carried_ball, spot_at
from downfield.officiating.state.facts import Facts, capped_if_unsure, exceedance_probability, interpolate_crossing_ns
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import ImmediateRule
from downfield.officiating.state.over_fronts import identity_conditions

TOUCH_PARAMS: Final = (
    Param("pass.ball_radius_mm", 5.0, "mm", "a small magnet, where vision has not timed the touch", low=0, high=30),
    Param("pass.simultaneous_s", 0.017, "s", "one frame at 60 per second: nobody can tell more", low=0, high=0.2),
    Param("pass.engaged_may_catch", False, "", "whether a receiver that touches an opponent may catch"),
)


@dataclass(frozen=True, slots=True)
class TouchLimits:
    """Limits of touches of a free ball."""

    doubtful_touch_ns: int = 100_000_000
    """A touch that is doubtful at first waits this long: a base that goes on is surely over the ball by then."""


_LIMITS: Final = TouchLimits()


@dataclass(frozen=True, slots=True)
class BallTouch:
    """A figure that touches the ball.

    Attributes:
        figure: as seen in this frame.
        t_ns: when its base reached the ball.
        sigma_s: standard deviation of that time: the error of the gap over the speed at which it closed.
        probability: that the base touches the ball.
        reach_mm, sigma_mm: how far the base reaches over the ball's edge, and the error of that; None where vision has
            timed the touch.
    """

    figure: Figure
    t_ns: int
    sigma_s: float = 0.0
    probability: float = 1.0
    reach_mm: float | None = None
    sigma_mm: float | None = None

    @property
    def condition(self) -> Condition:
        """The touch as something that a call rests on."""
        return Condition("ball", self.probability, self.reach_mm, self.sigma_mm, "mm")


@dataclass(frozen=True, slots=True)
class FirstTouch(ImmediateRule):
    """The first figure to touch the ball has it: a pass in the air (TAP-102, TAP-103) or an onside kick (TAP-065).

    Attributes:
        catch: clauses of a reception or interception.
        tie: clauses for both sides touching it at once.
        void: clauses for an engaged or fallen figure, whose touch does not count.
    """

    catch: tuple[str, ...]
    tie: tuple[str, ...]
    void: tuple[str, ...]
    id: str = "first_touch"
    phases: frozenset[Phase] = frozenset({Phase.IN_AIR})
    params: tuple[Param, ...] = TOUCH_PARAMS

    @property
    def clauses(self) -> tuple[str, ...]:
        """All clauses of the rule."""
        return (*self.catch, *self.tie, *self.void)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for each void touch, and one for the catch."""
        position = ball_position(facts.scene, state)
        if position is None:
            return ()
        touches = [touch for touch in _ball_touches(facts, state, position, params) if touch.figure.posture != "lifted"]
        # A touch that does not count leaves the ball free, so the next one may still catch it.
        able: list[BallTouch] = []
        void: list[BallTouch] = []
        for touch in touches:
            (void if self._bar(touch.figure, facts, state, params) else able).append(touch)
        found = [self._void_touch(touch, self._bar(touch.figure, facts, state, params), state) for touch in void]
        waiting = next((known for known in state.play.pending if known.key == _catch_key(state)), None)
        if waiting is not None:
            found += [_surer(waiting, touch) for touch in touches if touch.figure.id == waiting.players[0]]
        elif able:
            found.append(self._catch(able, facts, state, position, params))
        return tuple(found)

    def _bar(self, figure: Figure, facts: Facts, state: GameState, params: Params) -> str:
        """Return why a figure may not catch the ball; empty when it may."""
        if facts.has_fallen(figure.id) or figure.posture == "fallen":
            return "it has fallen"
        if state.play.kind == "onside" or facts.side_of(figure) != state.offense:
            return ""
        if figure.id in state.play.gunners:
            return "it is a gunner"
        if facts.engaged(figure.id) and not params.flag("pass.engaged_may_catch"):
            return "it touches an opponent"
        return ""

    def _void_touch(self, touch: BallTouch, reason: str, state: GameState) -> Finding:
        return Finding(
            rule=self.id,
            kind="info",
            t_ns=touch.t_ns,
            text=f"{touch.figure.id} touches the ball but may not catch it: {reason}",
            clauses=self.void,
            key=f"void:{touch.figure.id}@{state.play.board_on_ns}",
            players=(touch.figure.id,),
            probability=capped_if_unsure(touch.probability, touch.figure),
            reported=True,
            detail="void_touch",
        )

    def _catch(
        self, able: list[BallTouch], facts: Facts, state: GameState, position: tuple[float, float], params: Params
    ) -> Finding:
        first_ns = min(touch.t_ns for touch in able)
        together = [touch for touch in able if touch.t_ns - first_ns <= params.ns("pass.simultaneous_s")]
        by_offense = [touch for touch in together if facts.side_of(touch.figure) == state.offense]
        catch = min(by_offense or together, key=lambda touch: touch.t_ns)
        tie = bool(by_offense) and len(by_offense) < len(together)
        side = facts.side_of(catch.figure)
        kind: CallKind = "reception" if side == state.offense else "interception"
        text = f"caught by {catch.figure.id}" if kind == "reception" else f"intercepted by {catch.figure.id}"
        spot = spot_at(facts, catch.figure, "base", catch.t_ns)
        if state.play.kind == "onside":
            kind, text = "kick", f"onside kick recovered by {catch.figure.id}, {state.team(side).name} ball"
            spot = facts.spot_yd(*position)
        rivals = [touch for touch in together if facts.side_of(touch.figure) != side]
        rival = min(rivals, key=lambda touch: touch.t_ns, default=None)
        # The side that has a tie may be later by as much as counts as one.
        margin_s = None if rival is None else (rival.t_ns - catch.t_ns) / 1e9 + params.real("pass.simultaneous_s")
        sigma_s = None if rival is None else math.hypot(rival.sigma_s, catch.sigma_s)
        conditions = _conditions(catch, margin_s, sigma_s)
        if tie:
            text += ", both touch it at once"
        return Finding(
            rule=self.id,
            kind=kind,
            t_ns=catch.t_ns,
            text=text,
            clauses=(*self.catch, *(self.tie if tie else ())),
            key=_catch_key(state),
            players=(catch.figure.id,),
            spot_yd=spot,
            margin=margin_s,
            sigma=sigma_s,
            unit="" if rival is None else "s",
            probability=joint_probability(conditions),
            conditions=worth_telling(conditions),
            measure="" if rival is None else "first",
            against="the ball is still free" if rival is None else f"{rival.figure.id} touches it first",
            settle_ns=facts.t_ns + _LIMITS.doubtful_touch_ns,
            side=side,
            detail="recovered" if kind == "kick" else "",
            numbers=CallNumbers(caught_yd=spot),
        )


@dataclass(frozen=True, slots=True)
class BallLost(ImmediateRule):
    """The ball is no longer on its carrier (Lion's Den): a fumble for whatever reason; without that, no fall is one.

    Attributes:
        clauses: ids of the clauses that its calls cite.
    """

    clauses: tuple[str, ...]
    id: str = "ball_lost"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """Return a finding when the ball was carried in the frame before and is loose in this one."""
        carrier, before, ball = facts.carrier, facts.carrier_before, facts.scene.ball
        if carrier is None or before is None or facts.before is None or ball is None or ball.state != "loose":
            return ()
        if carried_ball(facts.before.ball, before) is None:
            return ()
        return (
            Finding(
                rule=self.id,
                kind="fumble",
                t_ns=facts.t_ns,
                text=f"{carrier.id} loses the ball",
                clauses=self.clauses,
                key=f"{carrier.id}@{facts.t_ns}",
                players=(carrier.id,),
                spot_yd=facts.spot_yd(ball.x_mm, ball.y_mm),
                probability=capped_if_unsure(1.0, carrier),
                against=f"{carrier.id} keeps the ball",
                side=state.play.ball_side,
            ),
        )


@dataclass(frozen=True, slots=True)
class Recovery(ImmediateRule):
    """The first figure of either team to touch a loose ball has it (Lion's Den).

    Attributes:
        clauses: ids of the clauses that its calls cite.
    """

    clauses: tuple[str, ...]
    id: str = "recovery"
    phases: frozenset[Phase] = frozenset({Phase.IN_AIR})
    params: tuple[Param, ...] = tuple(
        replace(param, default=True, reason="the first player, engaged or not")
        if param.name == "pass.engaged_may_catch"
        else param
        for param in TOUCH_PARAMS
    )

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return the first touch as a recovery where the ball lies."""
        ball = facts.scene.ball
        first_touch = FirstTouch(catch=self.clauses, tie=self.clauses, void=self.clauses)
        found = []
        for touch in first_touch.observe(facts, state, params):
            if touch.reported or not touch.players:
                continue
            side = facts.side_of(facts.figures[touch.players[0]])
            text = f"recovered by {touch.players[0]}, {state.team(side).name} ball"
            spot = facts.spot_yd(ball.x_mm, ball.y_mm) if ball is not None else touch.spot_yd
            found.append(replace(touch, rule=self.id, kind="fumble_recovery", text=text, side=side, spot_yd=spot))
        return tuple(found)


def _catch_key(state: GameState) -> str:
    return f"caught@{state.play.board_on_ns}"


def _surer(waiting: Finding, touch: BallTouch) -> Finding:
    """Return a doubtful catch as sure as its touch is by now: who was first and able to catch is decided already."""
    conditions = _conditions(touch, waiting.margin, waiting.sigma)
    return replace(waiting, probability=joint_probability(conditions), conditions=worth_telling(conditions))


def _conditions(catch: BallTouch, margin_s: float | None, sigma_s: float | None) -> tuple[Condition, ...]:
    """Return what a catch rests on: the touch of the ball, being there before a rival, and who the figure is."""
    before: tuple[Condition, ...] = ()
    if margin_s is not None:
        earlier = exceedance_probability(margin_s, sigma_s or 0.0)
        before = (Condition("first", earlier, margin_s, sigma_s, "s"),)
    return (catch.condition, *before, *identity_conditions(catch.figure))


def ball_position(scene: Scene, state: GameState) -> tuple[float, float] | None:
    """Return where the free ball is on the board, mm: as seen, else as declared (TAP-099); None when unknown."""
    if scene.ball is not None and scene.ball.state != "carried":
        return scene.ball.x_mm, scene.ball.y_mm
    return state.play.ball_mm


def distance_to_base(figure: Figure, x_mm: float, y_mm: float) -> float:
    """Return the distance from a base's outline to a point, mm; negative inside the base."""
    turn = math.radians(figure.heading_deg)
    dx, dy = x_mm - figure.x_mm, y_mm - figure.y_mm
    ahead = abs(dx * math.cos(turn) + dy * math.sin(turn)) - (figure.length_mm / 2 - figure.corner_mm)
    aside = abs(-dx * math.sin(turn) + dy * math.cos(turn)) - (figure.width_mm / 2 - figure.corner_mm)
    outside = math.hypot(max(ahead, 0.0), max(aside, 0.0))
    return outside + min(max(ahead, aside), 0.0) - figure.corner_mm


def overrun_mm(figure: Figure, x_mm: float, y_mm: float) -> float:
    """Return how far a whole base is past a point along its heading, mm: from the point to its rear edge."""
    turn = math.radians(figure.heading_deg)
    past = (figure.x_mm - x_mm) * math.cos(turn) + (figure.y_mm - y_mm) * math.sin(turn)
    return past - figure.length_mm / 2


def _ball_touches(facts: Facts, state: GameState, position: tuple[float, float], params: Params) -> list[BallTouch]:
    ball = facts.scene.ball
    radius = params.real("pass.ball_radius_mm")
    touches = []
    before = {figure.id: figure for figure in facts.before.figures} if facts.before else {}
    for figure in facts.scene.figures:
        timed = ball is not None and ball.touched_by == figure.id and ball.touched_ns is not None
        gap = distance_to_base(figure, *position) - radius
        if gap > 0 and not timed:
            continue
        sigma_mm = math.hypot(max(figure.sigma_mm), 0.0 if ball is None else ball.sigma_mm)
        probability = 1.0 if timed else exceedance_probability(-gap, sigma_mm)
        t_ns, sigma_s = facts.t_ns, 0.0
        if ball is not None and timed and ball.touched_ns is not None:
            t_ns = max(ball.touched_ns, state.play.board_on_ns or 0)
        elif facts.before is not None and figure.id in before:
            gap_before = distance_to_base(before[figure.id], *position) - radius
            t_ns = interpolate_crossing_ns(-gap_before, facts.before.t_ns, -gap, facts.t_ns) or facts.t_ns
            if gap_before > gap:
                sigma_s = sigma_mm * (facts.t_ns - facts.before.t_ns) / 1e9 / (gap_before - gap)
        # Vision has timed the touch between two frames, so this frame's overlap says less than is known.
        measured = (None, None) if timed else (-gap, sigma_mm)
        touches.append(BallTouch(figure, t_ns, sigma_s, probability, *measured))
    return touches
