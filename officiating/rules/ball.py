"""Who touches the ball first: a pass in the air, an onside kick, a fumble.

The time a base reached the ball comes from the scene where vision has measured it, else from the gap between base and
ball. Touches less than a frame apart are simultaneous; the rulebook says whose ball it is then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from downfield.core.scene import Figure, Scene
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import CallNumbers, Finding
from downfield.officiating.conditions import Condition, joint_probability, worth_telling
from downfield.officiating.params import Param, Params, read_params, with_defaults
from downfield.officiating.rules.lines import Spot, carried_ball, spot_at
from downfield.officiating.state.facts import (
    Facts,
    capped_if_unsure,
    exceedance_probability,
    find_figure,
    interpolate_crossing_ns,
)
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import ImmediateRule, RuleContext
from downfield.officiating.state.over_fronts import identity_conditions, unknown_instant
from downfield.officiating.state.play_state import too_close_key

TOUCH_PARAMS: Final = read_params("downfield.officiating.rules", "touch")


@dataclass(frozen=True, slots=True)
class TouchLimits:
    """Limits of touches of a free ball."""

    # a touch that is doubtful at first waits this long: a base that goes on is surely over the ball by then
    doubtful_touch_ns: int = 100_000_000
    between_frames: float = 0.05  # error of an instant between two frames, in frames: a base shakes as it closes
    unseen_in_frame: float = 12**-0.5  # the same where the motion before the frames was not seen: anywhere between them
    motion_ns: int = 100_000_000  # a gap's speed is measured over this: some frames, so that errors average out


_LIMITS: Final = TouchLimits()


@dataclass(frozen=True, slots=True)
class BallTouch:
    """A figure that touches the ball."""

    figure: Figure  # as seen in this frame
    t_ns: int  # when its base reached the ball
    sigma_s: float = 0.0  # standard deviation of that time: the error of the gap over the speed at which it closed
    probability: float = 1.0  # that the base touches the ball
    # reach_mm, sigma_mm: how far the base reaches over the ball's edge, and the error of that; None where vision has
    # timed the touch
    reach_mm: float | None = None
    sigma_mm: float | None = None
    unseen_s: float = 0.0  # the part of `sigma_s` that frames leave which did not come

    @property
    def condition(self) -> Condition:
        """The touch as something that a call rests on."""
        return Condition("ball", self.probability, self.reach_mm, self.sigma_mm, "mm")


@dataclass(frozen=True, slots=True)
class FirstTouch:
    """The first figure to touch the ball has it: a pass in the air (TAP-102, TAP-103) or an onside kick (TAP-065).

    Who was first is decided once a rival that touches it with him would have been seen. Two of one pass that touch it
    together share it by the rulebook; where that says nothing, a person decides.
    """

    catch: tuple[str, ...]  # clauses of a reception or interception
    tie: tuple[str, ...]  # clauses for both sides touching at once, the offense's ball; none where no rule says so
    void: tuple[str, ...]  # clauses for an engaged or fallen figure, whose touch does not count; none if unreported
    id: str = "first_touch"
    phases: frozenset[Phase] = frozenset({Phase.IN_AIR})
    params: tuple[Param, ...] = TOUCH_PARAMS

    @property
    def clauses(self) -> tuple[str, ...]:
        """All clauses of the rule."""
        return (*self.catch, *self.tie, *self.void)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for each void touch, and one for the catch."""
        able, void = self._touches(facts, state, params)
        bars = [(touch, self._bar(touch.figure, facts, state, params)) for touch in void if self.void]
        found = [self._void_touch(touch, bar, state) for touch, bar in bars]
        key = _catch_key(state)
        waiting = next((known for known in state.play.pending if known.key == key), None)
        if waiting is not None:
            found += [_surer(waiting, touch) for touch in (*able, *void) if touch.figure.id == waiting.players[0]]
        # What was too close to call stays so: no later frame shows who was first.
        elif able and too_close_key(f"{self.id}:{key}") not in state.play.settled:
            found.append(self._catch(able, facts, state, params))
        return tuple(found)

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:
        """Return the catch with all who have touched the ball by now, each since the first frame that shows it."""
        facts = context.facts
        if finding.key != _catch_key(state) or facts is None:
            return finding
        first: dict[str, BallTouch] = {}
        scenes = (*facts.recent, facts.scene)
        for place, scene in enumerate(scenes):
            if scene.t_ns < (state.play.board_on_ns or 0):
                continue
            then = Facts(scene, scenes[:place], state, facts.field)
            for touch in self._touches(then, state, context.params)[0]:
                known = first.get(touch.figure.id)
                surer = touch if known is None or touch.probability > known.probability else known
                first[touch.figure.id] = (
                    surer if known is None else replace(surer, t_ns=known.t_ns, sigma_s=known.sigma_s)
                )
        return self._catch(list(first.values()), facts, state, context.params) if first else finding

    def _touches(self, facts: Facts, state: GameState, params: Params) -> tuple[list[BallTouch], list[BallTouch]]:
        """Return the touches of the ball that count, and those that do not and leave it free."""
        position = ball_position(facts.scene, state)
        able: list[BallTouch] = []
        void: list[BallTouch] = []
        for touch in [] if position is None else _ball_touches(facts, state, position, params):
            if touch.figure.posture != "lifted" and touch.figure.id not in state.play.handled:
                (void if self._bar(touch.figure, facts, state, params) else able).append(touch)
        return able, void

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
        text = f"{touch.figure.id} touches the ball but may not catch it: {reason}"
        key = f"void:{touch.figure.id}@{state.play.board_on_ns}"
        found = Finding(self.id, "info", touch.t_ns, text, self.void, key, (touch.figure.id,), reported=True)
        return replace(found, probability=capped_if_unsure(touch.probability, touch.figure), detail="void_touch")

    def _catch(self, able: list[BallTouch], facts: Facts, state: GameState, params: Params) -> Finding:
        order = sorted(able, key=lambda touch: (touch.t_ns, facts.side_of(touch.figure) != state.offense))
        catch = order[0]
        rival = next((one for one in order if facts.side_of(one.figure) != facts.side_of(catch.figure)), None)
        shares = bool(self.tie) and state.play.kind != "onside"
        together_s, margin_s, sigma_s = params.real("pass.simultaneous_s"), None, None
        if rival is not None:
            margin_s, sigma_s = (rival.t_ns - catch.t_ns) / 1e9, math.hypot(rival.sigma_s, catch.sigma_s)
            if not shares:  # nobody can tell who was first of two that touch it together
                sigma_s = math.hypot(sigma_s, together_s)
            elif facts.side_of(catch.figure) == state.offense:  # which may be later by as much as counts as together
                margin_s += together_s
            elif margin_s <= together_s:
                catch, rival, margin_s = rival, catch, together_s - margin_s
            else:
                margin_s -= together_s
        tie = shares and rival is not None and abs(rival.t_ns - catch.t_ns) <= params.ns("pass.simultaneous_s")
        side = facts.side_of(catch.figure)
        kind, text, spot = self._awarded(catch, facts, state)
        if tie:
            text += ", both touch it at once"
        against, against_kind = "the ball is still free", "info"
        if rival is not None:
            against, against_kind = f"{rival.figure.id} touches it first", self._awarded(rival, facts, state)[0]
        conditions = _conditions(catch, margin_s, sigma_s)
        return Finding(
            rule=self.id,
            kind=kind,
            t_ns=catch.t_ns,
            text=text,
            clauses=(*self.catch, *(self.tie if tie else ())),
            key=_catch_key(state),
            players=(catch.figure.id,),
            spot_yd=spot.yd,
            spot_sigma_yd=spot.sigma_yd,
            t_sigma_s=catch.sigma_s,
            margin=margin_s,
            sigma=sigma_s,
            unit="" if rival is None else "s",
            probability=joint_probability(conditions),
            conditions=worth_telling(conditions),
            measure="" if rival is None else "first",
            against=against,
            against_kind=against_kind,  # type: ignore[arg-type]
            settle_ns=facts.t_ns + _LIMITS.doubtful_touch_ns,
            settle_from_ns=order[0].t_ns + params.ns("pass.simultaneous_s"),
            side=side,
            detail="recovered" if kind == "kick" else "",
            numbers=CallNumbers(caught_yd=spot.yd),
        )

    def _awarded(self, touch: BallTouch, facts: Facts, state: GameState) -> tuple[CallKind, str, Spot]:
        """Return the kind and the text of the call that gives the ball to a figure, and where it has it."""
        side = facts.side_of(touch.figure)
        if state.play.kind == "onside":
            text = f"onside kick recovered by {touch.figure.id}, {state.team(side).name} ball"
            return "kick", text, _ball_spot(facts, state)
        # The ball is at the foremost part of its new holder's base, the way that he goes.
        his = replace(facts, state=replace(state, play=replace(state.play, ball_side=side)))
        spot = spot_at(his, touch.figure, "base", touch.t_ns, touch.sigma_s)
        if side == state.offense:
            return "reception", f"caught by {touch.figure.id}", spot
        return "interception", f"intercepted by {touch.figure.id}", spot


@dataclass(frozen=True, slots=True)
class BallLost(ImmediateRule):
    """The ball is no longer on its carrier (Lion's Den): a fumble for whatever reason; without that, no fall is one."""

    clauses: tuple[str, ...]  # ids of the clauses that its calls cite
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
        spot = _ball_spot(facts, state)
        found = Finding(
            self.id, "fumble", facts.t_ns, f"{carrier.id} loses the ball", self.clauses, f"{carrier.id}@{facts.t_ns}"
        )
        return (
            replace(
                found,
                players=(carrier.id,),
                spot_yd=spot.yd,
                spot_sigma_yd=spot.sigma_yd,
                probability=capped_if_unsure(1.0, carrier),
                against=f"{carrier.id} keeps the ball",
                side=state.play.ball_side,
            ),
        )


@dataclass(frozen=True, slots=True)
class Recovery(FirstTouch):
    """The first figure of either team to touch a loose ball has it (Lion's Den)."""

    tie: tuple[str, ...] = ()
    void: tuple[str, ...] = ()
    id: str = "recovery"
    params: tuple[Param, ...] = with_defaults(
        TOUCH_PARAMS, {"pass.engaged_may_catch": (True, "the first player, engaged or not")}
    )

    def _awarded(self, touch: BallTouch, facts: Facts, state: GameState) -> tuple[CallKind, str, Spot]:
        side = state.team(facts.side_of(touch.figure)).name
        return "fumble_recovery", f"recovered by {touch.figure.id}, {side} ball", _ball_spot(facts, state)


def _ball_spot(facts: Facts, state: GameState) -> Spot:
    """Return where the free ball lies; where nobody sees it, a place told is exact."""
    ball, position = facts.scene.ball, ball_position(facts.scene, state) or (0.0, 0.0)
    sigma_mm = 0.0 if ball is None else ball.sigma_mm
    field = facts.field
    return Spot(facts.spot_yd(*position), (sigma_mm / field.mm_per_yd_x, sigma_mm / field.mm_per_yd_y))


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
    return (catch.condition, *before, *unknown_instant(catch.unseen_s), *identity_conditions(catch.figure))


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
    for figure in facts.scene.figures:
        timed = ball is not None and ball.touched_by == figure.id and ball.touched_ns is not None
        gap = distance_to_base(figure, *position) - radius
        if gap > 0 and not timed:
            continue
        sigma_mm = math.hypot(max(figure.sigma_mm), 0.0 if ball is None else ball.sigma_mm)
        probability = 1.0 if timed else exceedance_probability(-gap, sigma_mm)
        if ball is not None and timed and ball.touched_ns is not None:
            frame_ns = 0 if facts.before is None else facts.t_ns - facts.before.t_ns
            t_ns, sigma_s = max(ball.touched_ns, state.play.board_on_ns or 0), _LIMITS.between_frames * frame_ns / 1e9
        else:
            gaps = _gaps_before(facts, figure.id, position, radius)
            t_ns, sigma_s = _touch_instant(gaps, gap, facts.t_ns, sigma_mm)
        unseen_s = facts.unseen_error_s(t_ns, figure.id)
        touch = BallTouch(figure, t_ns, math.hypot(sigma_s, unseen_s), probability, unseen_s=unseen_s)
        # Vision has timed the touch between two frames, so this frame's overlap says less than is known.
        touches.append(touch if timed else replace(touch, reach_mm=-gap, sigma_mm=sigma_mm))
    return touches


def _gaps_before(facts: Facts, player: str, position: tuple[float, float], radius_mm: float) -> list[tuple[int, float]]:
    """Return the gaps of a figure to the ball in the last frames, with their times, latest first."""
    gaps = []
    for scene in reversed(facts.recent):
        figure = find_figure(scene, player)
        if figure is None or facts.t_ns - scene.t_ns > _LIMITS.motion_ns:
            break
        gaps.append((scene.t_ns, distance_to_base(figure, *position) - radius_mm))
    return gaps


def _touch_instant(gaps: list[tuple[int, float]], gap_mm: float, now_ns: int, sigma_mm: float) -> tuple[int, float]:
    """Return when a gap closed, and the error of that, seconds.

    It is told from how fast the gap closed before, since a base that has met the ball may stop; where that was not
    seen, it was at some time between the two frames.
    """
    if not gaps or gaps[0][1] <= 0:
        return now_ns, 0.0
    (before_ns, before_mm), (first_ns, first_mm) = gaps[0], gaps[-1]
    frame_s = (now_ns - before_ns) / 1e9
    if first_ns < before_ns and first_mm > before_mm:
        speed_mm_s = (first_mm - before_mm) / (before_ns - first_ns) * 1e9
        after_s = min(before_mm / speed_mm_s, frame_s)
        return before_ns + round(after_s * 1e9), math.hypot(sigma_mm / speed_mm_s, _LIMITS.between_frames * frame_s)
    crossed_ns = interpolate_crossing_ns(-before_mm, before_ns, -gap_mm, now_ns) or now_ns
    speed_mm_s = (before_mm - gap_mm) / frame_s
    return crossed_ns, math.hypot(sigma_mm / speed_mm_s, _LIMITS.unseen_in_frame * frame_s)
