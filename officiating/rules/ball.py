"""Who touches the ball first."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from downfield.core.scene import Figure, Scene
from downfield.officiating.calls import CallKind, Finding
from downfield.officiating.engine.facts import Facts, capped_if_unsure, interpolate_crossing_ns
from downfield.officiating.engine.interfaces import ImmediateRule
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.lines import carried_ball, spot_at

TOUCH_PARAMS: Final = (
    Param("pass.ball_radius_mm", 5.0, "mm", "a small magnet, where vision has not timed the touch", low=0, high=30),
    Param("pass.simultaneous_s", 0.017, "s", "one frame at 60 per second: nobody can tell more", low=0, high=0.2),
    Param("pass.engaged_may_catch", False, "", "whether a receiver that touches an opponent may catch"),
)


@dataclass(frozen=True, slots=True)
class Toucher:
    """A figure at the ball.

    Attributes:
        figure: who.
        t_ns: when its base reached the ball.
        gap_mm: to the ball now.
        timed: whether a camera timed it.

    """

    figure: Figure
    t_ns: int
    gap_mm: float
    timed: bool


@dataclass(frozen=True, slots=True)
class FirstTouch(ImmediateRule):
    """The first figure to touch the ball has it: a pass in the air (TAP-102, TAP-103) or an onside kick (TAP-065).

    Attributes:
        catch: clauses of a reception or interception.
        tie: clauses when both sides touch it at once.
        void: clauses why an engaged or fallen figure does not count.

    """

    catch: tuple[str, ...]
    tie: tuple[str, ...]
    void: tuple[str, ...]
    id: str = "first_touch"
    phases: frozenset[Phase] = frozenset({Phase.IN_AIR})
    params: tuple[Param, ...] = TOUCH_PARAMS

    @property
    def clauses(self) -> tuple[str, ...]:
        """All it stands for."""
        return (*self.catch, *self.tie, *self.void)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """The figures whose bases are on the ball, and what that makes of it."""
        place = ball_position(facts.scene, state)
        if place is None:
            return ()
        touchers = [one for one in _touchers(facts, state, place, params) if one.figure.posture != "lifted"]
        if not touchers:
            return ()
        able: list[Toucher] = []
        void: list[Toucher] = []
        for one in touchers:
            (able if self._may(one.figure, facts, state, params) else void).append(one)
        found = [self._void(one, state) for one in void]
        if able:
            found.append(self._caught(able, facts, state, place, params))
        return tuple(found)

    def _may(self, figure: Figure, facts: Facts, state: GameState, params: Params) -> bool:
        if facts.has_fallen(figure.id) or figure.posture == "fallen":
            return False
        if state.play.kind == "onside" or facts.side_of(figure) != state.offense:
            return True
        if figure.id in state.play.gunners:
            return False
        return params.flag("pass.engaged_may_catch") or not facts.engaged(figure.id)

    def _void(self, one: Toucher, state: GameState) -> Finding:
        return Finding(
            rule=self.id,
            kind="info",
            t_ns=one.t_ns,
            text=f"{one.figure.id} touches the ball but may not catch it",
            clauses=self.void,
            key=f"void:{one.figure.id}@{state.play.board_on_ns}",
            players=(one.figure.id,),
            reported=True,
            detail="void_touch",
        )

    def _caught(
        self, able: list[Toucher], facts: Facts, state: GameState, place: tuple[float, float], params: Params
    ) -> Finding:
        first_ns = min(one.t_ns for one in able)
        together = [one for one in able if one.t_ns - first_ns <= params.ns("pass.simultaneous_s")]
        offense = [one for one in together if facts.side_of(one.figure) == state.offense]
        winner = min(offense or together, key=lambda one: one.t_ns)
        tie = bool(offense) and len(offense) < len(together)
        side = facts.side_of(winner.figure)
        kind: CallKind = "reception" if side == state.offense else "interception"
        text = f"caught by {winner.figure.id}" if kind == "reception" else f"intercepted by {winner.figure.id}"
        spot = spot_at(facts, winner.figure, "base", winner.t_ns)
        if state.play.kind == "onside":
            kind, text = "kick", f"onside kick recovered by {winner.figure.id}, {state.team(side).name} ball"
            spot = facts.spot_yd(*place)
        rival = min((one.t_ns for one in together if facts.side_of(one.figure) != side), default=None)
        if tie:
            text += ", both touch it at once"
        return Finding(
            rule=self.id,
            kind=kind,
            t_ns=winner.t_ns,
            text=text,
            clauses=(*self.catch, *(self.tie if tie else ())),
            key=f"caught@{state.play.board_on_ns}",
            players=(winner.figure.id,),
            spot_yd=spot,
            margin=None if rival is None else (rival - winner.t_ns) / 1e9,
            sigma=None if rival is None else params.real("pass.simultaneous_s"),
            unit="" if rival is None else "s",
            probability=capped_if_unsure(1.0, winner.figure),
            side=side,
            detail="recovered" if kind == "kick" else "",
        )


def ball_position(scene: Scene, state: GameState) -> tuple[float, float] | None:
    """Where the free ball is on the board, mm: as seen, else as declared (TAP-099)."""
    if scene.ball is not None and scene.ball.state != "carried":
        return scene.ball.x_mm, scene.ball.y_mm
    return state.play.ball_mm


def _touchers(facts: Facts, state: GameState, place: tuple[float, float], params: Params) -> list[Toucher]:
    ball = facts.scene.ball
    radius = params.real("pass.ball_radius_mm")
    out = []
    before = {figure.id: figure for figure in facts.before.figures} if facts.before else {}
    for figure in facts.scene.figures:
        timed = ball is not None and ball.touched_by == figure.id and ball.touched_ns is not None
        gap = distance_to_base(figure, *place) - radius
        if gap > 0 and not timed:
            continue
        t_ns = facts.t_ns
        if ball is not None and timed and ball.touched_ns is not None:
            t_ns = max(ball.touched_ns, state.play.board_on_ns or 0)
        elif facts.before is not None and figure.id in before:
            then = distance_to_base(before[figure.id], *place) - radius
            t_ns = interpolate_crossing_ns(-then, facts.before.t_ns, -gap, facts.t_ns) or facts.t_ns
        out.append(Toucher(figure, t_ns, gap, timed))
    return out


def distance_to_base(figure: Figure, x_mm: float, y_mm: float) -> float:
    """Distance from a base's outline to a point; negative inside."""
    turn = math.radians(figure.heading_deg)
    dx, dy = x_mm - figure.x_mm, y_mm - figure.y_mm
    ahead = abs(dx * math.cos(turn) + dy * math.sin(turn)) - (figure.length_mm / 2 - figure.corner_mm)
    aside = abs(-dx * math.sin(turn) + dy * math.cos(turn)) - (figure.width_mm / 2 - figure.corner_mm)
    outside = math.hypot(max(ahead, 0.0), max(aside, 0.0))
    return outside + min(max(ahead, aside), 0.0) - figure.corner_mm


def overrun_mm(figure: Figure, x_mm: float, y_mm: float) -> float:
    """How far the whole of a base is past a point along its heading: from the point to its rear edge."""
    turn = math.radians(figure.heading_deg)
    past = (figure.x_mm - x_mm) * math.cos(turn) + (figure.y_mm - y_mm) * math.sin(turn)
    return past - figure.length_mm / 2


@dataclass(frozen=True, slots=True)
class BallLost(ImmediateRule):
    """The ball is no longer on its carrier: a fumble for whatever reason; without that, no fall is one.

    Attributes:
        clauses: cited.

    """

    clauses: tuple[str, ...]
    id: str = "ball_lost"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """The ball carried in the frame before and loose in this one."""
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
    """The first figure of either team to touch a loose ball has it.

    Attributes:
        clauses: cited.

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
        """The first touch, as a recovery where the ball lies."""
        ball = facts.scene.ball
        first = FirstTouch(catch=self.clauses, tie=self.clauses, void=self.clauses)
        out = []
        for found in first.observe(facts, state, params):
            if found.reported or not found.players:
                continue
            side = facts.side_of(facts.figures[found.players[0]])
            text = f"recovered by {found.players[0]}, {state.team(side).name} ball"
            spot = facts.spot_yd(ball.x_mm, ball.y_mm) if ball is not None else found.spot_yd
            out.append(replace(found, rule=self.id, kind="fumble_recovery", text=text, side=side, spot_yd=spot))
        return tuple(out)
