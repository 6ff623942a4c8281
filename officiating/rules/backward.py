"""A carrier going the wrong way: turned back on his own, or pushed back while facing right.

TAP leaves it to his coach to let him run or to stop, so it is told, not called. `turned_back` is shared with
rulebooks that call it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from downfield.officiating.engine.facts import Facts
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.seams import Immediate
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.reference import spot_at

SIDEWAYS_DEG: Final = 90.0

BACKWARD_PARAMS = (
    Param("backward.window_s", 0.2, "s", "longer than a vibration; a carrier jitters", low=0.05, high=0.5),
    Param("backward.speed_mm_s", 10.0, "mm/s", "slower is a figure jiggling on the spot", low=0, high=500),
)


@dataclass(frozen=True, slots=True)
class Backward(Immediate):
    """The carrier moves toward his own goal line.

    Attributes:
        turned: clauses when he faces it too.
        pushed: clauses when he faces the right way and is pushed.

    """

    turned: tuple[str, ...]
    pushed: tuple[str, ...]
    id: str = "backward"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = BACKWARD_PARAMS

    @property
    def clauses(self) -> tuple[str, ...]:
        """All it stands for."""
        return (*self.turned, *self.pushed)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Which way the carrier moves and faces, told once each for every time the board comes on."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        detail = going_back(facts, state, params)
        if detail is None:
            return ()
        turned = detail == "turned"
        key = f"{detail}:{carrier.id}@{state.play.ran_ns}"
        if f"{self.id}:{key}" in state.play.judged:
            return ()
        text = (
            f"{carrier.id} has turned toward his own goal line; his coach may let him run or stop"
            if turned
            else f"{carrier.id} is pushed back; his coach may play on, without forward progress"
        )
        return (
            Finding(
                rule=self.id,
                kind="turned_back",
                t_ns=facts.t_ns,
                text=text,
                clauses=self.turned if turned else self.pushed,
                key=key,
                players=(carrier.id,),
                spot_yd=spot_at(facts, carrier, "base", facts.t_ns),
                margin=facts.facing(carrier) - SIDEWAYS_DEG if turned else SIDEWAYS_DEG - facts.facing(carrier),
                sigma=carrier.sigma_deg,
                unit="deg",
                reported=True,
                detail=detail,
            ),
        )


def going_back(facts: Facts, state: GameState, params: Params) -> str | None:
    """``"turned"`` or ``"pushed"`` while the carrier moves toward his own goal line, else None."""
    carrier = facts.carrier
    window_ns = params.ns("backward.window_s")
    if carrier is None or facts.t_ns - (state.play.ran_ns or 0) < window_ns:
        return None
    speed = facts.speed(carrier.id, window_ns)
    if speed is None or -speed[0] * state.ball_direction < params.real("backward.speed_mm_s"):
        return None
    return "turned" if facts.facing(carrier) > SIDEWAYS_DEG else "pushed"
