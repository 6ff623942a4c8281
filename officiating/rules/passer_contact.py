"""Contact with the passing quarterback: any touch ends his right to pass, one on his handle from behind is a sack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from downfield.core.footprint import BaseSize, Footprint
from downfield.core.gap import signed_gap
from downfield.core.scene import Figure
from downfield.officiating.checks.roles import canonical_role
from downfield.officiating.engine.facts import Facts
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.geometry import chance
from downfield.officiating.engine.seams import Immediate
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.reference import spot_at

HANDLE_PARAMS: Final = (
    Param("sack.handle_mm", 12.0, "mm", "the handle behind the base; measure it on the figure", low=0, high=60),
    Param("sack.handle_width_mm", 6.0, "mm", "the handle's width; measure it on the figure", low=1, high=30),
)


def may_still_pass(state: GameState) -> bool:
    """Whether the carrier is the passing quarterback with the right to pass: he holds it and is short of the line."""
    play = state.play
    entry = state.player(play.carrier)
    passer = entry is not None and canonical_role(entry.role) == "QB"
    return passer and play.ball_side == state.offense and play.line_ns is None and not play.passed


@dataclass(frozen=True, slots=True)
class PasserTouched(Immediate):
    """A defender's base touches the passer's, in whatever way: he may not pass any more (EFL-029)."""

    id: str = "passer_touched"
    clauses: tuple[str, ...] = ("EFL-029",)
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """The surest touch of a standing defender."""
        carrier = facts.carrier
        if carrier is None or not may_still_pass(state) or state.play.note("pass_over") is not None:
            return ()
        touches = [touch for touch in facts.carrier_touches if not facts.dead(touch.other)]
        best = max(touches, key=lambda touch: touch.probability, default=None)
        if best is None or best.probability <= 1.0 - params.real("calls.confidence"):
            return ()
        return (
            Finding(
                rule=self.id,
                kind="info",
                t_ns=max(facts.t_ns if best.since_ns is None else best.since_ns, state.play.ran_ns or 0),
                text=f"{carrier.id} is touched by {best.other} and may not pass any more",
                clauses=self.clauses,
                key=f"{best.other}@{state.play.ran_ns}",
                players=(carrier.id, best.other),
                margin=0.0 - best.gap_mm,
                sigma=best.sigma_mm,
                unit="mm",
                probability=best.probability,
                against=f"{best.other} does not touch {carrier.id}: he may pass",
                detail="pass_over",
            ),
        )


@dataclass(frozen=True, slots=True)
class HandleSack(Immediate):
    """A defender coming from behind touches the passer's handle behind the line: a sack, left to a person (EFL-043).

    The handle stands above the board and no camera tells its touch for certain, so it is only proposed.
    """

    id: str = "handle_sack"
    clauses: tuple[str, ...] = ("EFL-043",)
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = HANDLE_PARAMS

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Defenders behind the passer whose bases reach the handle."""
        carrier = facts.carrier
        if carrier is None or not may_still_pass(state):
            return ()
        handle = _handle(carrier, params)
        out = []
        for figure in facts.scene.figures:
            if figure.jersey == carrier.jersey or facts.dead(figure.id) or not _is_behind(figure, carrier):
                continue
            if (
                math.hypot(figure.x_mm - handle.x_mm, figure.y_mm - handle.y_mm)
                > figure.length_mm + handle.size.length_mm
            ):
                continue
            gap = signed_gap(handle, figure.footprint)
            sigma = math.hypot(*carrier.sigma_mm, *figure.sigma_mm)
            if chance(0.0 - gap.gap_mm, sigma) > 1.0 - params.real("calls.confidence"):
                out.append(self._sack(facts, carrier, figure, state, gap.gap_mm, sigma))
        return tuple(out)

    def _sack(
        self, facts: Facts, carrier: Figure, tackler: Figure, state: GameState, gap_mm: float, sigma_mm: float
    ) -> Finding:
        return Finding(
            rule=self.id,
            kind="sack",
            t_ns=facts.t_ns,
            text=f"{carrier.id} sacked: {tackler.id} reaches his handle from behind",
            clauses=self.clauses,
            key=f"{tackler.id}@{state.play.ran_ns}",
            players=(carrier.id, tackler.id),
            spot_yd=spot_at(facts, carrier, "base", facts.t_ns),
            margin=0.0 - gap_mm,
            sigma=sigma_mm,
            unit="mm",
            probability=chance(0.0 - gap_mm, sigma_mm),
            against=f"{tackler.id} does not touch the handle",
            proposed=True,
        )


def _handle(carrier: Figure, params: Params) -> Footprint:
    length, width = params.real("sack.handle_mm"), params.real("sack.handle_width_mm")
    back = (carrier.length_mm + length) / 2
    turn = math.radians(carrier.heading_deg)
    return Footprint(
        carrier.x_mm - back * math.cos(turn),
        carrier.y_mm - back * math.sin(turn),
        carrier.heading_deg,
        BaseSize(max(length, 0.1), width, 0.0, 0.0),
    )


def _is_behind(figure: Figure, carrier: Figure) -> bool:
    turn = math.radians(carrier.heading_deg)
    ahead = (figure.x_mm - carrier.x_mm) * math.cos(turn) + (figure.y_mm - carrier.y_mm) * math.sin(turn)
    return ahead < -carrier.length_mm / 2
