"""Falls: of the carrier without a tackler, and of anybody else, who is then out of the play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from downfield.officiating.engine.facts import UNDOUBTED, Facts, doubted
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.pending import left_open
from downfield.officiating.engine.seams import Immediate, View
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.reference import spot_at
from downfield.officiating.rules.tackles import EARLY_FALL_NS

ON_FEET: Final = frozenset({Phase.LIVE, Phase.IN_AIR})

LIES_NS: Final = 200_000_000
"""For so long somebody must lie to have fallen: a network takes some for fallen for a moment."""


@dataclass(frozen=True, slots=True)
class DownByFall:
    """The carrier falls with no standing defender in the tackle: down there, the ball at the base's foremost part.

    Attributes:
        clauses: cited.

    """

    clauses: tuple[str, ...]
    id: str = "down_by_fall"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """The carrier has fallen since the board came on."""
        carrier, before = facts.carrier, facts.carrier_before
        if carrier is None or carrier.posture != "fallen" or before is None or before.posture == "fallen":
            return ()
        standing = before if before.posture == "upright" else carrier
        t_ns = max(facts.fell_ns(carrier), state.play.ran_ns or 0)
        return (
            Finding(
                rule=self.id,
                kind="down_by_fall",
                t_ns=t_ns,
                text=f"{carrier.id} falls by himself and is down",
                clauses=self.clauses,
                key=f"{carrier.id}@{facts.t_ns}",
                players=(carrier.id,),
                spot_yd=spot_at(facts, standing, "base", t_ns),
                probability=doubted(1.0, carrier),
                against=f"it is not {carrier.id} who fell",
                ripe_ns=facts.t_ns + LIES_NS,
                early=False,
            ),
        )

    def settle(self, finding: Finding, state: GameState, view: View) -> Finding | None:  # noqa: ARG002
        """Nothing, when he stands again or a contact came so soon that the fall belongs to it.

        Doubtful, when a contact may have come before.
        """
        tackled = any(
            rival.rule == "tackle" and rival.t_ns <= finding.t_ns + EARLY_FALL_NS for rival in state.play.pending
        )
        if tackled or state.play.fallen_ns(finding.players[0]) is None:
            return None
        if left_open(state.play, "tackle", state.play.ran_ns or 0):
            against = f"{finding.players[0]} was tackled"
            return replace(finding, probability=min(finding.probability, UNDOUBTED), against=against)
        return finding


@dataclass(frozen=True, slots=True)
class FigureDead(Immediate):
    """A figure without the ball falls: it is out of the play, and in everyone's way.

    Attributes:
        clauses: cited.

    """

    clauses: tuple[str, ...]
    id: str = "figure_dead"
    phases: frozenset[Phase] = ON_FEET
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """Who has fallen in this frame."""
        falls = state.play.falls
        if not falls or falls[-1].seen_ns != facts.t_ns:
            return ()
        return tuple(
            Finding(
                rule=self.id,
                kind="figure_dead",
                t_ns=fall.t_ns,
                text=f"{fall.player} has fallen and is out of the play",
                clauses=self.clauses,
                key=fall.player,
                players=(fall.player,),
                reported=True,
            )
            for fall in falls
            if fall.seen_ns == facts.t_ns and fall.player != state.play.carrier
        )
