"""Reference points and lines."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass
from typing import Final, Literal

from downfield.core.scene import Ball, Figure, Scene
from downfield.officiating.calls import Finding
from downfield.officiating.engine.facts import (
    Facts,
    MeasuredPoint,
    capped_if_unsure,
    exceedance_probability,
    find_figure,
    outermost_x,
    outermost_y,
)
from downfield.officiating.engine.interfaces import ImmediateRule
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params

REFERENCES: Final = ("base", "hand", "ball")
BASELINE_NS: Final = 100_000_000
"""Over which a figure's motion is measured: a few frames, so that their error averages out."""


def reference_param(name: str, default: str, reason: str) -> Param:
    """A parameter that names a reference point."""
    return Param(name, default, "", reason, choices=REFERENCES)


def reference_point(facts: Facts, figure: Figure, word: str, scene: Scene | None = None) -> MeasuredPoint:
    """Where a figure's reference point is.

    A hand that was never measured, and a ball that is not seen, fall back on the next best: ball, hand, and the front
    of the base at its middle.

    Args:
        facts: of the frame.
        figure: whose; may stand in an earlier frame.
        word: ``"base"``, ``"hand"`` or ``"ball"``.
        scene: the frame the figure stands in, when not that of the facts.

    """
    if word == "ball":
        ball = carried_ball((scene or facts.scene).ball, figure)
        if ball is not None:
            return MeasuredPoint(ball.x_mm, ball.y_mm, ball.sigma_mm)
    if word in {"ball", "hand"}:
        hand = facts.hand_point(figure)
        if hand is not None:
            lever = math.hypot(hand[0] - figure.x_mm, hand[1] - figure.y_mm)
            return MeasuredPoint(*hand, math.hypot(figure.sigma_mm[0], lever * math.radians(figure.sigma_deg)))
    ahead = outermost_x(figure, facts.state.ball_direction)
    return ahead if word == "base" else MeasuredPoint(ahead.x_mm, figure.y_mm, ahead.sigma_mm)


def carried_ball(ball: Ball | None, figure: Figure) -> Ball | None:
    """The ball, if this figure carries it."""
    return ball if ball is not None and ball.state == "carried" and ball.carrier == figure.id else None


def spot_at(facts: Facts, figure: Figure, word: str, t_ns: int) -> tuple[float, float]:
    """Where the ball is spotted for a figure at an instant up to this frame, as far back as facts go, field yards.

    Across the field that is the hand or the ball, but the middle of a base. The figure is taken to have gone on from
    the frames before as it went, since what happens at the instant (a contact) may stop or turn it, but no further than
    it got.
    """
    at = bisect(facts.recent, t_ns, key=lambda scene: scene.t_ns)  # the first frame after the instant
    scenes, after = facts.recent[:at], (*facts.recent, facts.scene)[at]
    then = find_figure(scenes[-1], figure.id) if scenes else None
    now = _place(facts, find_figure(after, figure.id) or figure, word, after)
    if then is None or t_ns >= after.t_ns:
        return facts.spot_yd(*now)
    last = scenes[-1]
    place = _place(facts, then, word, last)
    earlier = next((scene for scene in scenes if last.t_ns - scene.t_ns <= BASELINE_NS), last)
    start = find_figure(earlier, figure.id)
    if start is None or earlier.t_ns >= last.t_ns:
        share = (t_ns - last.t_ns) / (after.t_ns - last.t_ns)
        return facts.spot_yd(place[0] + share * (now[0] - place[0]), place[1] + share * (now[1] - place[1]))
    share = (t_ns - last.t_ns) / (last.t_ns - earlier.t_ns)
    begun = _place(facts, start, word, earlier)
    x_mm, y_mm = (_between(at + share * (at - was), at, end) for was, at, end in zip(begun, place, now, strict=True))
    return facts.spot_yd(x_mm, y_mm)


def _place(facts: Facts, figure: Figure, word: str, scene: Scene) -> tuple[float, float]:
    reach = reference_point(facts, figure, word, scene)
    return reach.x_mm, figure.y_mm if word == "base" else reach.y_mm


def _between(value: float, one: float, two: float) -> float:
    """A value kept between two others: nothing is spotted where the figure has not been."""
    return min(max(value, min(one, two)), max(one, two))


LINGER_NS: Final = 250_000_000
"""A carrier that stays this long within the error of a line is too close to call there."""

DOWNING: Final = frozenset({"tackle", "down_by_fall", "sack"})
"""Ids of the rules whose findings end a play at an instant of their own."""

LIVE: Final = frozenset({Phase.LIVE})


@dataclass(frozen=True, slots=True)
class OutOfBounds(ImmediateRule):
    """The carrier touches the sideline or an end line; their paint is out.

    Attributes:
        clauses: cited.
        params: see `out_of_bounds_params`.

    """

    clauses: tuple[str, ...]
    params: tuple[Param, ...]
    id: str = "out_of_bounds"
    phases: frozenset[Phase] = LIVE

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """The carrier's outermost point against the nearest boundary."""
        carrier = facts.carrier
        if carrier is None or _decided_before(state, self.id, facts.t_ns):
            return ()
        margin, sigma, edge = self._margin(facts, carrier, facts.scene, params)
        probability = exceedance_probability(margin, sigma)
        if probability <= 1.0 - params.real("calls.confidence"):
            return ()
        t_ns = facts.crossing_time_ns(margin, lambda then, before: self._margin(facts, then, before, params)[0])
        return (
            Finding(
                rule=self.id,
                kind="out_of_bounds",
                t_ns=t_ns,
                text=f"{carrier.id} out of bounds over the {edge}",
                clauses=self.clauses,
                key=f"{carrier.id}@{state.play.board_on_ns}",
                players=(carrier.id,),
                spot_yd=self._spot(facts, carrier, t_ns, params),
                margin=margin,
                sigma=sigma,
                unit="mm",
                probability=capped_if_unsure(probability, carrier),
                against=f"{carrier.id} stays in bounds",
                settle_ns=facts.t_ns + LINGER_NS,
            ),
        )

    def _spot(self, facts: Facts, carrier: Figure, t_ns: int, params: Params) -> tuple[float, float]:
        x_yd, y_yd = spot_at(facts, carrier, params.choice("out_of_bounds.spot"), t_ns)
        marks = facts.field.hash_rows_y_yd
        if params.flag("out_of_bounds.at_mark") and marks:
            y_yd = min(marks, key=lambda mark: abs(mark - y_yd))
        return x_yd, y_yd

    def _margin(self, facts: Facts, carrier: Figure, scene: Scene, params: Params) -> tuple[float, float, str]:
        """By how much the carrier is over the boundary it is nearest to (or furthest over), its error, its name."""
        field = facts.field
        low, high = outermost_y(carrier, -1), outermost_y(carrier, 1)
        edges = [
            (-low.y_mm, low.sigma_mm, "lower sideline"),
            (high.y_mm - field.width_mm, high.sigma_mm, "upper sideline"),
        ]
        if field.end_zone_yd:
            ahead = facts.foremost_point(carrier)
            over = abs(ahead.x_mm - field.length_mm / 2) - field.length_mm / 2 - field.end_zone_mm
            edges.append((over, ahead.sigma_mm, "end line"))
        if params.flag("out_of_bounds.ball"):
            ball = reference_point(facts, carrier, "ball", scene)
            edges.append((max(-ball.y_mm, ball.y_mm - field.width_mm), ball.sigma_mm, "sideline with the ball"))
        return max(edges)


def out_of_bounds_params(spot: str, reason: str, *, ball: bool, at_mark: bool = False) -> tuple[Param, ...]:
    """The parameters of `OutOfBounds`, with a rulebook's defaults."""
    return (
        reference_param("out_of_bounds.spot", spot, reason),
        Param("out_of_bounds.at_mark", at_mark, "", "whether the ball comes back to the nearest in-bounds mark"),
        Param("out_of_bounds.ball", ball, "", "whether the ball over the sideline is out when the base is not"),
    )


@dataclass(frozen=True, slots=True)
class LineCrossed(ImmediateRule):
    """The carrier's reference point reaches a line across the field: the goal line, or the line of scrimmage.

    Attributes:
        id: ``"touchdown"`` or ``"line_of_scrimmage"``.
        clauses: cited.
        params: one that names the reference point, ``touchdown.reference`` or ``line_of_scrimmage.reference``, and
            where that may be a ball whose every part counts, its ``ball_radius_mm`` in the same group.

    """

    id: Literal["touchdown", "line_of_scrimmage"]
    clauses: tuple[str, ...]
    params: tuple[Param, ...]
    phases: frozenset[Phase] = LIVE

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """The carrier's reference point against the line."""
        carrier = facts.carrier
        if carrier is None or (self.id == "line_of_scrimmage" and not _line_matters(state)):
            return ()
        if _decided_before(state, self.id, facts.t_ns):
            return ()
        word = params.choice(f"{self.id}.reference")
        reach = reference_point(facts, carrier, word)
        ahead_mm = self._ball_mm(facts.scene, carrier, word, params)
        margin = self._margin(reach, state, facts) + ahead_mm
        probability = exceedance_probability(margin, reach.sigma_mm)
        if probability <= 1.0 - params.real("calls.confidence"):
            return ()
        t_ns = facts.crossing_time_ns(
            margin,
            lambda then, before: self._margin(reference_point(facts, then, word, before), state, facts) + ahead_mm,
        )
        goal = self.id == "touchdown"
        side = state.play.ball_side
        text = f"touchdown, {state.team(side).name}" if goal else f"{carrier.id} reaches the line of scrimmage"
        return (
            Finding(
                rule=self.id,
                kind=self.id,
                t_ns=t_ns,
                text=text,
                clauses=self.clauses,
                key=f"{carrier.id}@{state.play.board_on_ns}",
                players=(carrier.id,),
                spot_yd=spot_at(facts, carrier, word, t_ns),
                margin=margin,
                sigma=reach.sigma_mm,
                unit="mm",
                probability=capped_if_unsure(probability, carrier),
                against=f"{carrier.id} is short of the line",
                settle_ns=facts.t_ns + LINGER_NS,
                side=side if goal else None,
            ),
        )

    def _ball_mm(self, scene: Scene, carrier: Figure, word: str, params: Params) -> float:
        """How far the ball's foremost part is ahead of its center, where a ball is what is looked at."""
        name = f"{self.id}.ball_radius_mm"
        looked_at = word == "ball" and carried_ball(scene.ball, carrier) is not None and name in params.definitions
        return params.real(name) if looked_at else 0.0

    def _margin(self, reach: MeasuredPoint, state: GameState, facts: Facts) -> float:
        """Millimeters past the line."""
        direction = state.ball_direction
        if self.id == "line_of_scrimmage":
            return direction * (reach.x_mm - state.los_yd * facts.field.mm_per_yd_x)
        return reach.x_mm - facts.field.length_mm if direction > 0 else -reach.x_mm


def _line_matters(state: GameState) -> bool:
    """Whether the line of scrimmage still means something: before it is reached, on a play from scrimmage."""
    play = state.play
    return (
        play.line_reached_ns is None
        and play.ball_side == state.offense
        and play.kind in {"scrimmage", "punt", "two_point"}
    )


def _decided_before(state: GameState, rule: str, now_ns: int) -> bool:
    """Whether a contact came after a crossing that is still open: what is seen now can't speak about it any more."""
    crossed = next((one.t_ns for one in state.play.pending if one.rule == rule), None)
    if crossed is None:
        return False
    return any(crossed <= one.t_ns < now_ns for one in state.play.pending if one.rule in DOWNING)
