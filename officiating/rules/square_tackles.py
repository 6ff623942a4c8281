"""Tackles where only square hits count, and the slipped ones that are not (Gunderson EFL)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from downfield.core.scene import Figure
from downfield.officiating.engine.facts import Facts, Touch, doubted, find
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.seams import Immediate
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.reference import spot_at
from downfield.officiating.rules.square_hits import PARAMS, Hit, hit

SQUARE_TACKLE_PARAMS: Final = (
    *PARAMS,
    Param(
        "tackle.turn_window_s",
        0.3,
        "s",
        "bases that meet at an angle turn each other; wait for what becomes of it",
        0,
        2,
    ),
    Param("tackle.fallen_tackles", False, "", "not stated; Tudor's rules take a fallen figure out of the play"),
)
TOUCHING: Final = 0.5


@dataclass(frozen=True, slots=True)
class SquareTackle(Immediate):
    """A defender's base meets the carrier's squarely, by one of the pairs of faces that count.

    A contact that begins at a corner and turns square is a tackle from the first frame in which it is. One that may be
    either waits a moment for the bases to turn; if they do not, it is too close to call.
    """

    id: str = "tackle"
    clauses: tuple[str, ...] = ("EFL-077", "EFL-078", "EFL-079", "EFL-080", "EFL-081", "EFL-G1", "EFL-G2")
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = SQUARE_TACKLE_PARAMS

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """The carrier's contacts, as far as they may be tackles, and those that have just ended without one."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        out = [
            finding
            for touch in facts.carrier_touches
            if (finding := self._contact(facts, carrier, touch, state, params)) is not None
        ]
        return (*out, *self._slipped(facts, carrier, state, params))

    def _contact(self, facts: Facts, carrier: Figure, touch: Touch, state: GameState, params: Params) -> Finding | None:
        if facts.dead(touch.other) and not params.flag("tackle.fallen_tackles"):
            return None
        other = facts.figures[touch.other]
        judged = judge(touch, carrier, other, params)
        square = judged.probability
        doubt = judged.review and square < TOUCHING
        probability = min(0.5, touch.probability) if doubt else touch.probability * square
        if probability <= 1.0 - params.real("calls.confidence"):
            return None
        ran_ns = state.play.ran_ns or 0
        t_ns = max(self._since(facts, touch, carrier, params), ran_ns)
        by_gap = touch.probability < square
        return Finding(
            rule=self.id,
            kind="tackle",
            t_ns=t_ns,
            text=f"{carrier.id} tackled by {touch.other}, {judged.pair.replace('-', ' to ')}",
            clauses=(*CLAUSES.get(judged.pair, ("EFL-080",)), "EFL-G1"),
            key=f"{touch.other}@{ran_ns}",
            players=(carrier.id, touch.other),
            spot_yd=spot_at(facts, carrier, "base", t_ns),
            margin=0.0 - touch.gap_mm if by_gap else judged.margin_deg,
            sigma=touch.sigma_mm if by_gap else judged.sigma_deg,
            unit="mm" if by_gap else "deg",
            probability=doubted(probability, carrier),
            against=f"{carrier.id} slips {touch.other}'s tackle: {touch.angle_deg:.0f} degrees off square",
            against_kind="slipped_tackle",
            ripe_ns=t_ns + params.ns("tackle.turn_window_s"),
        )

    def _since(self, facts: Facts, touch: Touch, carrier: Figure, params: Params) -> int:
        """When the contact became what it is: as it began, or as it turned square."""
        began = facts.t_ns if touch.since_ns is None else touch.since_ns
        before, then = facts.before, facts.carrier_before
        if before is None or then is None or began > before.t_ns:
            return began
        for old in contacts_of(facts, len(facts.recent) - 1, carrier.id):
            other = find(before, old.other)
            if old.other == touch.other and other is not None:
                return began if judge(old, then, other, params).probability >= TOUCHING else facts.t_ns
        return began

    def _slipped(self, facts: Facts, carrier: Figure, state: GameState, params: Params) -> tuple[Finding, ...]:
        before, then = facts.before, facts.carrier_before
        if before is None or then is None or before.t_ns < (state.play.ran_ns or 0):
            return ()
        now = {touch.other: touch.probability for touch in facts.carrier_touches}
        out = []
        for touch in contacts_of(facts, len(facts.recent) - 1, carrier.id):
            other = find(before, touch.other)
            if other is None or touch.probability < TOUCHING or now.get(touch.other, 0.0) >= TOUCHING:
                continue
            judged = judge(touch, then, other, params)
            if judged.probability < TOUCHING and not facts.dead(touch.other):
                out.append(self._slip(facts, carrier, touch, judged))
        return tuple(out)

    def _slip(self, facts: Facts, carrier: Figure, touch: Touch, judged: Hit) -> Finding:
        why = f"{touch.angle_deg:.0f} degrees off square" if judged.square < TOUCHING else f"{judged.pair}"
        return Finding(
            rule=self.id,
            kind="slipped_tackle",
            t_ns=facts.t_ns,
            text=f"{carrier.id} slips the tackle of {touch.other}: {why}",
            clauses=("EFL-081",) if judged.pair.startswith("rear") else ("EFL-077",),
            key=f"slip:{touch.other}@{facts.t_ns}",
            players=(carrier.id, touch.other),
            margin=-judged.margin_deg,
            sigma=judged.sigma_deg,
            unit="deg",
            reported=True,
        )


CLAUSES: Final = {
    "front-front": ("EFL-078", "EFL-079"),
    "front-side": ("EFL-078",),
    "front-rear": ("EFL-080",),
    "side-front": ("EFL-079",),
}


def judge(touch: Touch, carrier: Figure, other: Figure, params: Params) -> Hit:
    """What a contact is, the carrier's faces being the contact's own."""
    sigma_deg = math.hypot(carrier.sigma_deg, other.sigma_deg)
    return hit(touch, min(carrier.width_mm, other.width_mm), sigma_deg, params)


def contacts_of(facts: Facts, place: int, player: str) -> tuple[Touch, ...]:
    """A figure's contacts with opponents in one of the recent scenes."""
    if place < 0:
        return ()
    return Facts(facts.recent[place], (), facts.state, facts.field).touches(player)
