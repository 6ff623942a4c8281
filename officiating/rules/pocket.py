"""The depth of the passer: too far behind the line he is sacked (Lion's Den)."""

from __future__ import annotations

from dataclasses import dataclass

from downfield.officiating.engine.facts import Facts, doubted
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.geometry import Reach, chance
from downfield.officiating.engine.seams import Immediate
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.lines import LINGER_NS
from downfield.officiating.rules.passer_contact import may_still_pass
from downfield.officiating.rules.reference import reference, reference_param, spot_at


@dataclass(frozen=True, slots=True)
class TooDeep(Immediate):
    """The passer is farther behind the line of scrimmage than he may be.

    Attributes:
        clauses: cited.

    """

    clauses: tuple[str, ...]
    id: str = "too_deep"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = (
        Param("pocket.depth_yd", 10.0, "yd", "LD-042, LD-043", low=1, high=50),
        reference_param("pocket.reference", "hand", "not stated; where the ball is downed"),
    )

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """The passer's depth against the limit."""
        carrier = facts.carrier
        if carrier is None or not may_still_pass(state) or state.play.kind not in {"scrimmage", "two_point"}:
            return ()
        word = params.choice("pocket.reference")
        reach = reference(facts, carrier, word)
        margin = self._margin(reach, facts, state, params)
        probability = chance(margin, reach.sigma_mm)
        if probability <= 1.0 - params.real("calls.confidence"):
            return ()
        t_ns = facts.crossed_ns(
            margin, lambda then, before: self._margin(reference(facts, then, word, before), facts, state, params)
        )
        return (
            Finding(
                rule=self.id,
                kind="sack",
                t_ns=t_ns,
                text=f"{carrier.id} drops more than {params.real('pocket.depth_yd'):g} yards behind the line: sacked",
                clauses=self.clauses,
                key=f"{carrier.id}@{state.play.ran_ns}",
                players=(carrier.id,),
                spot_yd=spot_at(facts, carrier, word, t_ns),
                margin=margin,
                sigma=reach.sigma_mm,
                unit="mm",
                probability=doubted(probability, carrier),
                against=f"{carrier.id} is not yet too deep",
                ripe_ns=facts.t_ns + LINGER_NS,
                detail="depth",
            ),
        )

    def _margin(self, reach: Reach, facts: Facts, state: GameState, params: Params) -> float:
        """Millimeters deeper than allowed."""
        behind = (state.los_yd * facts.field.mm_per_yd_x - reach.x_mm) * state.ball_direction
        return behind - params.real("pocket.depth_yd") * facts.field.mm_per_yd_x
