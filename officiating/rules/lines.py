"""Lines the carrier crosses: sideline and end line, goal line, line of scrimmage.

A crossing is known for certain only once the carrier is past the line by more than the error, so its finding waits for
that, while its instant is interpolated back to where the measured margin was 0. What is past a line when a contact
comes counts as it was at the contact: evidence from after it is not taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from downfield.core.scene import Figure, Scene
from downfield.officiating.engine.facts import Facts, doubted
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.geometry import Reach, chance, reach_y
from downfield.officiating.engine.seams import Immediate
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.reference import carried, reference, reference_param, spot_at

LINGER_NS: Final = 250_000_000
"""A carrier that stays this long within the error of a line is too close to call there."""

DOWNING: Final = frozenset({"tackle", "down_by_fall", "sack"})
"""Ids of the rules whose findings end a play at an instant of their own."""

LIVE: Final = frozenset({Phase.LIVE})


@dataclass(frozen=True, slots=True)
class OutOfBounds(Immediate):
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
        probability = chance(margin, sigma)
        if probability <= 1.0 - params.real("calls.confidence"):
            return ()
        t_ns = facts.crossed_ns(margin, lambda then, before: self._margin(facts, then, before, params)[0])
        return (
            Finding(
                rule=self.id,
                kind="out_of_bounds",
                t_ns=t_ns,
                text=f"{carrier.id} out of bounds over the {edge}",
                clauses=self.clauses,
                key=f"{carrier.id}@{state.play.ran_ns}",
                players=(carrier.id,),
                spot_yd=self._spot(facts, carrier, t_ns, params),
                margin=margin,
                sigma=sigma,
                unit="mm",
                probability=doubted(probability, carrier),
                against=f"{carrier.id} stays in bounds",
                ripe_ns=facts.t_ns + LINGER_NS,
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
        low, high = reach_y(carrier, -1), reach_y(carrier, 1)
        edges = [
            (-low.y_mm, low.sigma_mm, "lower sideline"),
            (high.y_mm - field.width_mm, high.sigma_mm, "upper sideline"),
        ]
        if field.end_zone_yd:
            ahead = facts.forward(carrier)
            over = abs(ahead.x_mm - field.length_mm / 2) - field.length_mm / 2 - field.end_zone_mm
            edges.append((over, ahead.sigma_mm, "end line"))
        if params.flag("out_of_bounds.ball"):
            ball = reference(facts, carrier, "ball", scene)
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
class LineCrossed(Immediate):
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
        reach = reference(facts, carrier, word)
        ahead_mm = self._ball_mm(facts.scene, carrier, word, params)
        margin = self._margin(reach, state, facts) + ahead_mm
        probability = chance(margin, reach.sigma_mm)
        if probability <= 1.0 - params.real("calls.confidence"):
            return ()
        t_ns = facts.crossed_ns(
            margin, lambda then, before: self._margin(reference(facts, then, word, before), state, facts) + ahead_mm
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
                key=f"{carrier.id}@{state.play.ran_ns}",
                players=(carrier.id,),
                spot_yd=spot_at(facts, carrier, word, t_ns),
                margin=margin,
                sigma=reach.sigma_mm,
                unit="mm",
                probability=doubted(probability, carrier),
                against=f"{carrier.id} is short of the line",
                ripe_ns=facts.t_ns + LINGER_NS,
                side=side if goal else None,
            ),
        )

    def _ball_mm(self, scene: Scene, carrier: Figure, word: str, params: Params) -> float:
        """How far the ball's foremost part is ahead of its center, where a ball is what is looked at."""
        name = f"{self.id}.ball_radius_mm"
        looked_at = word == "ball" and carried(scene.ball, carrier) is not None and name in params.definitions
        return params.real(name) if looked_at else 0.0

    def _margin(self, reach: Reach, state: GameState, facts: Facts) -> float:
        """Millimeters past the line."""
        direction = state.ball_direction
        if self.id == "line_of_scrimmage":
            return direction * (reach.x_mm - state.los_yd * facts.field.mm_per_yd_x)
        return reach.x_mm - facts.field.length_mm if direction > 0 else -reach.x_mm


def _line_matters(state: GameState) -> bool:
    """Whether the line of scrimmage still means something: before it is reached, on a play from scrimmage."""
    play = state.play
    return play.line_ns is None and play.ball_side == state.offense and play.kind in {"scrimmage", "punt", "two_point"}


def _decided_before(state: GameState, rule: str, now_ns: int) -> bool:
    """Whether a contact came after a crossing that is still open: what is seen now can't speak about it any more."""
    crossed = next((one.t_ns for one in state.play.pending if one.rule == rule), None)
    if crossed is None:
        return False
    return any(crossed <= one.t_ns < now_ns for one in state.play.pending if one.rule in DOWNING)
