"""Reference points and the lines a carrier crosses: sideline and end line, goal line, line of scrimmage.

A rulebook spots the ball by the carrier's base, his carrying hand, or the ball itself.

A crossing is certain only once the carrier is past the line by more than the error, so its finding waits for that,
while its time is interpolated back to where the measured margin was 0. What was past a line when a contact began is
asked of the facts as of the contact: the engine lets no frame after it count for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from downfield.core.scene import Ball, Figure, Scene
from downfield.officiating.belief import Measure
from downfield.officiating.calls import Finding
from downfield.officiating.params import Param, Params
from downfield.officiating.state.facts import Facts, MeasuredPoint, capped_if_unsure, outermost_x, outermost_y
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import ImmediateRule, Rule
from downfield.officiating.state.over_fronts import facts_as_of, over_fronts

LINGER_NS: Final = 250_000_000  # a carrier within the error of a line for so long is too close to call there

_END_LINE: Final = "end line"

REFERENCES: Final = ("base", "hand", "ball")

BALL_RADIUS_MM: Final = 3.0
BALL_RADIUS: Final = "half a ball's length; measure your own"


def reference_param(name: str, default: str, reason: str) -> Param:
    """Return a parameter that names a reference point."""
    return Param(name, default, "", reason, choices=REFERENCES)


def reference_point(facts: Facts, figure: Figure, reference: str, scene: Scene | None = None) -> MeasuredPoint:
    """Return where a figure's reference point is.

    An unseen ball falls back on the hand, and a hand that was never measured on the middle of the base's front.

    Args:
        reference: ``"base"``, ``"hand"`` or ``"ball"``.
        scene: the frame the figure is from, when not that of the facts.
    """
    if reference == "ball":
        ball = carried_ball((scene or facts.scene).ball, figure)
        if ball is not None:
            return MeasuredPoint(ball.x_mm, ball.y_mm, ball.sigma_mm)
    if reference in {"ball", "hand"}:
        hand = facts.hand_point(figure)
        if hand is not None:
            lever = math.hypot(hand[0] - figure.x_mm, hand[1] - figure.y_mm)
            return MeasuredPoint(*hand, math.hypot(figure.sigma_mm[0], lever * math.radians(figure.sigma_deg)))
    foremost = outermost_x(figure, facts.state.ball_direction)
    return foremost if reference == "base" else MeasuredPoint(foremost.x_mm, figure.y_mm, foremost.sigma_mm)


def carried_ball(ball: Ball | None, figure: Figure) -> Ball | None:
    """Return the ball if this figure carries it, else None."""
    return ball if ball is not None and ball.state == "carried" and ball.carrier == figure.id else None


@dataclass(frozen=True, slots=True)
class Spot:
    """Where the ball is spotted."""

    yd: tuple[float, float]  # field yards along x of the board and across
    sigma_yd: tuple[float, float]  # standard deviation of that, of the figure's place and of the instant


def spot_at(facts: Facts, figure: Figure, reference: str, t_ns: int, sigma_s: float = 0.0) -> Spot:
    """Return where the ball is spotted for a figure at an instant up to this frame.

    Across the field that is the hand or the ball, or the middle of a base, by the reference, as in `reference_point`.
    """
    then = facts_as_of(facts, t_ns, figure.id, sigma_s)
    seen = then.figures.get(figure.id, figure)
    point = reference_point(then, seen, reference)
    field = facts.field
    sigma_yd = (point.sigma_mm / field.mm_per_yd_x, seen.sigma_mm[1] / field.mm_per_yd_y)
    return Spot(facts.spot_yd(point.x_mm, seen.y_mm if reference == "base" else point.y_mm), sigma_yd)


def crossing(
    rule: Rule,
    facts: Facts,
    state: GameState,
    params: Params,
    reference: str,
    past: tuple[float, float],
    margin: Callable[[Figure, Scene], tuple[float, float]],
    of: Measure = "line",
    **told: Any,
) -> tuple[Finding, ...]:
    """Return the finding that the carrier has crossed a line, with instant, spot and error; none if he surely has not.

    Args:
        reference: by what he is spotted, as in `spot_at`.
        past: how far he is past the line in this frame, and the standard deviation of that, mm.
        margin: returns the same for a figure in any frame.
        of: what is measured by it.
        told: the finding's other fields.
    """
    carrier = facts.carrier
    assert carrier is not None
    ends = over_fronts(carrier, lambda figure: margin(figure, facts.scene))
    # What may have happened is found too, not only what is sure: the frames to come decide, or a person.
    if ends.probability <= 1.0 - params.real("calls.confidence"):
        return ()
    past_mm, sigma_mm = past
    t_ns, error_s = facts.crossing(past_mm, lambda then, scene: margin(then, scene)[0])
    spot = spot_at(facts, carrier, reference, t_ns, error_s)
    return (
        Finding(
            rule=rule.id,
            t_ns=t_ns,
            clauses=rule.clauses,
            key=f"{carrier.id}@{state.play.board_on_ns}",
            players=(carrier.id,),
            spot_yd=spot.yd,
            spot_sigma_yd=spot.sigma_yd,
            t_sigma_s=error_s,
            margin=past_mm,
            sigma=sigma_mm,
            unit="mm",
            probability=capped_if_unsure(ends.probability, carrier),
            settle_ns=facts.t_ns + LINGER_NS,
            front=ends.front,
            conditions=ends.conditions(of, "mm", carrier),
            **told,
        ),
    )


def out_of_bounds_params(spot: str, reason: str, *, ball: bool, at_mark: bool = False) -> tuple[Param, ...]:
    """Return the parameters of `OutOfBounds` with a rulebook's defaults."""
    return (
        reference_param("out_of_bounds.spot", spot, reason),
        Param("out_of_bounds.at_mark", at_mark, "", "whether the ball comes back to the nearest in-bounds mark"),
        Param("out_of_bounds.ball", ball, "", "whether the ball over the sideline is out when the base is not"),
        Param("out_of_bounds.ball_radius_mm", BALL_RADIUS_MM, "mm", BALL_RADIUS, low=0, high=20),
    )


@dataclass(frozen=True, slots=True)
class OutOfBounds(ImmediateRule):
    """The carrier touches the sideline or an end line; their paint is out."""

    clauses: tuple[str, ...]  # ids of the clauses that its calls cite
    params: tuple[Param, ...]  # see `out_of_bounds_params`
    id: str = "out_of_bounds"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding when the carrier may be over the nearest boundary."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        over_mm, sigma_mm, edge = self._margin(facts, carrier, facts.scene, params)
        measure: Measure = "end_line" if edge == _END_LINE else "sideline"
        found = crossing(
            self,
            facts,
            state,
            params,
            params.choice("out_of_bounds.spot"),
            (over_mm, sigma_mm),
            lambda figure, scene: self._margin(facts, figure, scene, params)[:2],
            measure,
            kind="out_of_bounds",
            text=f"{carrier.id} out of bounds over the {edge}",
            against=f"{carrier.id} stays in bounds",
            measure=measure,
        )
        marks = facts.field.hash_rows_y_yd
        if not (params.flag("out_of_bounds.at_mark") and marks):
            return found
        spots = [one.spot_yd for one in found if one.spot_yd is not None]
        return tuple(
            replace(one, spot_yd=(x_yd, min(marks, key=lambda mark: abs(mark - y_yd))))
            for one, (x_yd, y_yd) in zip(found, spots, strict=True)
        )

    def _margin(self, facts: Facts, carrier: Figure, scene: Scene, params: Params) -> tuple[float, float, str]:
        """Return by how much the carrier is over the boundary it is farthest over, mm, the error, and its name."""
        field = facts.field
        low, high = outermost_y(carrier, -1), outermost_y(carrier, 1)
        edges = [
            (-low.y_mm, low.sigma_mm, "lower sideline"),
            (high.y_mm - field.width_mm, high.sigma_mm, "upper sideline"),
        ]
        # Without end zones the goal lines are where the print ends, and whoever crosses one scores.
        if field.end_zone_yd:
            left, right = outermost_x(carrier, -1), outermost_x(carrier, 1)
            edges.append((-left.x_mm - field.end_zone_mm, left.sigma_mm, _END_LINE))
            over = right.x_mm - field.length_mm - field.end_zone_mm
            edges.append((over, right.sigma_mm, _END_LINE))
        if params.flag("out_of_bounds.ball"):
            ball = reference_point(facts, carrier, "ball", scene)
            seen = carried_ball(scene.ball, carrier) is not None
            radius_mm = params.real("out_of_bounds.ball_radius_mm") if seen else 0.0
            over = max(-ball.y_mm, ball.y_mm - field.width_mm) + radius_mm
            edges.append((over, ball.sigma_mm, "sideline with the ball"))
        # At a corner of the field two lines are crossed; he is out over the one he is farther over.
        return max(edges)


@dataclass(frozen=True, slots=True)
class LineCrossed(ImmediateRule):
    """The carrier's reference point reaches a line across the field: the goal line, or the line of scrimmage."""

    id: Literal["touchdown", "line_of_scrimmage"]  # `"touchdown"` or `"line_of_scrimmage"`
    clauses: tuple[str, ...]  # ids of the clauses that its calls cite
    # the one that names the reference point, `touchdown.reference` or `line_of_scrimmage.reference`; where that may be
    # a ball of which every part counts, also its `ball_radius_mm` in the same group
    params: tuple[Param, ...]
    phases: frozenset[Phase] = frozenset({Phase.LIVE})

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding when the carrier's reference point may have reached the line."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        play, from_line = state.play, state.play.kind in {"scrimmage", "punt", "two_point"}
        is_open = play.line_reached_ns is None and play.ball_side == state.offense and from_line
        if self.id == "line_of_scrimmage" and not is_open:
            return ()
        reference, side = params.choice(f"{self.id}.reference"), play.ball_side
        ahead_mm = self._ball_radius_mm(facts.scene, carrier, reference, params)
        scores = self.id == "touchdown"

        def margin(figure: Figure, scene: Scene) -> tuple[float, float]:
            point = reference_point(facts, figure, reference, scene)
            return self._margin(point, state, facts) + ahead_mm, point.sigma_mm

        return crossing(
            self,
            facts,
            state,
            params,
            reference,
            margin(carrier, facts.scene),
            margin,
            kind=self.id,
            text=f"touchdown, {state.team(side).name}" if scores else f"{carrier.id} reaches the line of scrimmage",
            against=f"{carrier.id} is short of the line",
            side=side if scores else None,
        )

    def _ball_radius_mm(self, scene: Scene, carrier: Figure, reference: str, params: Params) -> float:
        """Return how far the ball's foremost part is ahead of the reference point; 0 unless that is a ball."""
        name = f"{self.id}.ball_radius_mm"
        by_ball = reference == "ball" and carried_ball(scene.ball, carrier) is not None and name in params.definitions
        return params.real(name) if by_ball else 0.0

    def _margin(self, point: MeasuredPoint, state: GameState, facts: Facts) -> float:
        direction = state.ball_direction
        if self.id == "line_of_scrimmage":
            return direction * (point.x_mm - state.los_yd * facts.field.mm_per_yd_x)
        return point.x_mm - facts.field.length_mm if direction > 0 else -point.x_mm
