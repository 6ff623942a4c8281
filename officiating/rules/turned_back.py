"""A carrier who turns back: re-aimed once by his coach, down where he turns again (Lion's Den)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from downfield.core.scene import Figure, Scene
from downfield.officiating.engine.facts import Facts, find
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.geometry import chance
from downfield.officiating.engine.seams import Immediate
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.backward import BACKWARD_PARAMS, SIDEWAYS_DEG, going_back
from downfield.officiating.rules.reference import reference, reference_param

AGAIN_DEG: Final = 80.0
"""Nearer to the goal than this he has surely come round; a heading jitters by a few degrees."""
FORWARD_AGAIN: Final = "forward_again"


@dataclass(frozen=True, slots=True)
class TurnedBack(Immediate):
    """The carrier faces and moves toward his own goal line, the first time and the second.

    Both are needed: turned alone, he may be spinning; moving alone, he is being pushed.

    Attributes:
        first, second: clauses of either turn.

    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    id: str = "turned_back"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = (
        *BACKWARD_PARAMS,
        reference_param("turned_back.spot", "hand", "LD-011, LD-014: where he turned, as the ball is always downed"),
    )

    @property
    def clauses(self) -> tuple[str, ...]:
        """All it stands for."""
        return (*self.first, *self.second)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """A turn, or the carrier facing forward again after the first."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        turns = state.play.turns
        if turns == 1 and state.play.note(FORWARD_AGAIN) is None:
            return self._forward(facts, carrier, params)
        if turns > 1 or going_back(facts, state, params) != "turned":
            return ()
        margin = facts.facing(carrier) - SIDEWAYS_DEG
        at, scene = _turning_point(facts, carrier)
        point = reference(facts, at, params.choice("turned_back.spot"), scene)
        again = turns == 1
        return (
            Finding(
                rule=self.id,
                kind="turned_back",
                t_ns=scene.t_ns,
                text=f"{carrier.id} turns back again: down where he turned"
                if again
                else f"{carrier.id} turns back; his coach may turn him round once",
                clauses=self.second if again else self.first,
                key=f"{carrier.id}:{turns}",
                players=(carrier.id,),
                spot_yd=facts.spot_yd(point.x_mm, at.y_mm),
                margin=margin,
                sigma=carrier.sigma_deg,
                unit="deg",
                probability=chance(margin, carrier.sigma_deg),
                against=f"{carrier.id} still faces forward",
                detail="second" if again else "first",
            ),
        )

    def _forward(self, facts: Facts, carrier: Figure, params: Params) -> tuple[Finding, ...]:
        margin = AGAIN_DEG - facts.facing(carrier)
        if chance(margin, carrier.sigma_deg) < params.real("calls.confidence"):
            return ()
        return (
            Finding(
                rule=self.id,
                kind="info",
                t_ns=facts.t_ns,
                text=f"{carrier.id} faces forward again",
                clauses=self.first,
                key=f"{carrier.id}:forward",
                players=(carrier.id,),
                detail=FORWARD_AGAIN,
            ),
        )


def _turning_point(facts: Facts, carrier: Figure) -> tuple[Figure, Scene]:
    """The carrier as he first faced back in this turn, as far as the last scenes go."""
    point, at = carrier, facts.scene
    for scene in reversed(facts.recent):
        figure = find(scene, carrier.id)
        if figure is None or facts.facing(figure) <= SIDEWAYS_DEG:
            break
        point, at = figure, scene
    return point, at
