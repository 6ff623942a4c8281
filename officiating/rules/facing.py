"""Rules about where the carrier faces: one that goes the wrong way, turned or pushed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from downfield.core.scene import Figure, Scene
from downfield.officiating.belief import Measure
from downfield.officiating.calls import Finding
from downfield.officiating.conditions import Condition, worth_telling
from downfield.officiating.params import Param, Params, read_params
from downfield.officiating.rules.lines import reference_param, reference_point, spot_at
from downfield.officiating.state.facts import Facts, capped_if_unsure, exceedance_probability, find_figure
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import ImmediateRule
from downfield.officiating.state.over_fronts import identity_conditions, over_fronts


@dataclass(frozen=True, slots=True)
class FacingLimits:
    """Angles between a carrier's heading and the goal it attacks."""

    sideways_deg: float = 90.0  # a carrier that faces farther away than this faces its own goal line
    forward_deg: float = 80.0  # within this the carrier has certainly turned forward again; headings jitter


_LIMITS: Final = FacingLimits()

FORWARD_AGAIN: Final = "forward_again"  # detail of a carrier that faces forward again

BACKWARD_PARAMS: Final = read_params("downfield.officiating.rules", "backward")


@dataclass(frozen=True, slots=True)
class Backward(ImmediateRule):
    """The carrier moves toward its own goal line. TAP leaves the consequence to the coach, so it is only reported."""

    turned: tuple[str, ...]  # clauses when the carrier faces that way too
    pushed: tuple[str, ...]  # clauses when the carrier faces forward and is pushed
    id: str = "backward"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = BACKWARD_PARAMS

    @property
    def clauses(self) -> tuple[str, ...]:
        """All clauses of the rule."""
        return (*self.turned, *self.pushed)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding, at most one of either kind each time the board comes on."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        detail = backward_motion(facts, state, params)
        if detail is None:
            return ()
        key = f"{detail}:{carrier.id}@{state.play.board_on_ns}"
        if f"{self.id}:{key}" in state.play.settled:
            return ()
        off_deg = facts.heading_error_deg(carrier)
        if detail == "turned":
            text = f"{carrier.id} has turned toward his own goal line; his coach may let him run or stop him"
            clauses, margin = self.turned, off_deg - _LIMITS.sideways_deg
        else:
            text = f"{carrier.id} is pushed back; his coach may play on, without forward progress"
            clauses, margin = self.pushed, _LIMITS.sideways_deg - off_deg
        # Turned or pushed is a matter of which end leads: without a sure front both clauses are named.
        if carrier.front < params.real("calls.confidence"):
            text = f"{carrier.id} goes back, turned or pushed: not sure which end is his front"
            clauses = self.clauses
        ends, spot = (
            over_fronts(carrier, lambda figure: _facing_back(facts, figure)),
            spot_at(facts, carrier, "base", facts.t_ns),
        )
        front = carrier.front if ends.front < 1.0 else 1.0  # of the end as seen, by which he is turned or pushed
        probability = ends.probability if detail == "turned" else 1.0 - ends.probability
        measure: Measure = "excess" if detail == "turned" else ""
        given = exceedance_probability(margin, carrier.sigma_deg)
        conditions = (
            Condition(measure, given, margin, carrier.sigma_deg, "deg"),
            Condition("front", front),
            *identity_conditions(carrier),
        )
        return (
            Finding(
                rule=self.id,
                kind="turned_back",
                t_ns=facts.t_ns,
                text=text,
                clauses=clauses,
                key=key,
                players=(carrier.id,),
                spot_yd=spot.yd,
                spot_sigma_yd=spot.sigma_yd,
                margin=margin,
                sigma=carrier.sigma_deg,
                unit="deg",
                probability=capped_if_unsure(probability, carrier),
                front=front,
                reported=True,
                detail=detail,
                measure=measure,
                conditions=worth_telling(conditions),
            ),
        )


def backward_motion(facts: Facts, state: GameState, params: Params) -> Literal["turned", "pushed"] | None:
    """Return how the carrier moves toward its own goal line: ``"turned"``, ``"pushed"``, or None if it does not."""
    carrier = facts.carrier
    window_ns = params.ns("backward.window_s")
    if carrier is None or facts.t_ns - (state.play.board_on_ns or 0) < window_ns:
        return None
    velocity = facts.velocity_mm_s(carrier.id, window_ns)
    if velocity is None or -velocity[0] * state.ball_direction < params.real("backward.speed_mm_s"):
        return None
    return "turned" if facts.heading_error_deg(carrier) > _LIMITS.sideways_deg else "pushed"


@dataclass(frozen=True, slots=True)
class CarrierTurnedBack(ImmediateRule):
    """The carrier faces and moves toward its own goal line (Lion's Den): turned around once, down the second time.

    Both are needed: a carrier that only faces back may be spinning, one that only moves back is being pushed.
    """

    first: tuple[str, ...]  # first, second: clauses of the first and the second turn
    second: tuple[str, ...]
    id: str = "turned_back"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = (
        *BACKWARD_PARAMS,
        reference_param("turned_back.spot", "hand", "LD-011, LD-014: where he turned, as the ball is always downed"),
    )

    @property
    def clauses(self) -> tuple[str, ...]:
        """All clauses of the rule."""
        return (*self.first, *self.second)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for a turn, or for the carrier facing forward again after the first."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        hold = state.play.hold
        turns, carry = (0, 0) if hold is None else (hold.turns, hold.t_ns)
        if hold is not None and turns == 1 and not hold.faces_forward:
            return self._forward_again(facts, carrier, params)
        motion = backward_motion(facts, state, params)
        if turns > 1 or motion is None:
            return ()
        if motion == "pushed":
            if 1.0 - carrier.front <= 1.0 - params.real("calls.confidence"):
                return ()
            carrier = carrier.turned_around()  # he may have turned, should his front be the other end
        margin = facts.heading_error_deg(carrier) - _LIMITS.sideways_deg
        ends = over_fronts(carrier, lambda figure: _facing_back(facts, figure))
        turned, scene = _turning_point(facts, carrier)
        point = reference_point(facts, turned, params.choice("turned_back.spot"), scene)
        again = turns == 1
        return (
            Finding(
                rule=self.id,
                kind="turned_back",
                t_ns=scene.t_ns,
                text=f"{carrier.id} turns back again: down where he turned"
                if again
                else f"{carrier.id} turns back; his coach may turn him around once",
                clauses=self.second if again else self.first,
                key=f"{carrier.id}@{carry}:{turns}",
                players=(carrier.id,),
                spot_yd=facts.spot_yd(point.x_mm, turned.y_mm),
                spot_sigma_yd=(point.sigma_mm / facts.field.mm_per_yd_x, turned.sigma_mm[1] / facts.field.mm_per_yd_y),
                margin=margin,
                sigma=carrier.sigma_deg,
                unit="deg",
                probability=ends.probability,
                front=ends.front,
                against=f"{carrier.id} still faces forward",
                detail="second" if again else "first",
                measure="excess",
                conditions=ends.conditions("excess", "deg", replace(carrier, sure=True, posture="upright")),
            ),
        )

    def _forward_again(self, facts: Facts, carrier: Figure, params: Params) -> tuple[Finding, ...]:
        forward = over_fronts(
            carrier, lambda figure: (_LIMITS.forward_deg - facts.heading_error_deg(figure), figure.sigma_deg)
        )
        if forward.probability < params.real("calls.confidence"):
            return ()
        text, key = f"{carrier.id} faces forward again", f"{carrier.id}@{facts.state.play.held_since_ns}:forward"
        found = Finding(self.id, "info", facts.t_ns, text, self.first, key, (carrier.id,), detail=FORWARD_AGAIN)
        return (replace(found, probability=forward.probability, front=forward.front),)


def _facing_back(facts: Facts, figure: Figure) -> tuple[float, float]:
    """Return by how much a figure with a known front faces its own goal line, and the error of that, degrees."""
    return facts.heading_error_deg(figure) - _LIMITS.sideways_deg, figure.sigma_deg


def _turning_point(facts: Facts, carrier: Figure) -> tuple[Figure, Scene]:
    """Return the carrier as it first faced back in this turn, and that scene, as far back as the facts go."""
    turned, at = carrier, facts.scene
    for scene in reversed(facts.recent):
        figure = find_figure(scene, carrier.id)
        if figure is None or facts.heading_error_deg(figure) <= _LIMITS.sideways_deg:
            break
        turned, at = figure, scene
    return turned, at
