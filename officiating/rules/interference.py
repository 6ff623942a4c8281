"""Interference proposed: an opponent's touch after which a man turns away from where he was going.

Touching alone is nothing. Whether the touch made him turn is a judgment, so it is only ever proposed, with the
headings before and after. On passes the turn is away from the ball, on punts a gunner's away from his own course.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from downfield.core.angles import difference_deg
from downfield.core.scene import Contact, Figure, Scene
from downfield.officiating.checks.roles import LINEMEN, canonical_role
from downfield.officiating.engine.facts import UNDOUBTED, Facts, find
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.geometry import chance
from downfield.officiating.engine.seams import Immediate
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.touches import ball_place

INTERFERENCE_PARAMS: Final = (
    Param("interference.turn_deg", 20.0, "deg", "not stated; more than a nudge, less than being spun", low=5, high=90),
    Param("interference.window_s", 0.3, "s", "not stated; a later turn has other causes", low=0.05, high=0.5),
)
INSIDE: Final = frozenset({*LINEMEN, "C", "G", "T", "DL", "NT", "DT", "DE"})


@dataclass(frozen=True, slots=True)
class Interference(Immediate):
    """A touch followed by a turn, on a pass in the air or against a declared gunner.

    Attributes:
        on_pass: clauses of pass interference.
        on_gunner: clauses of gunner interference.

    """

    on_pass: tuple[str, ...]
    on_gunner: tuple[str, ...]
    id: str = "interference"
    phases: frozenset[Phase] = frozenset({Phase.IN_AIR, Phase.LIVE})
    params: tuple[Param, ...] = INTERFERENCE_PARAMS

    @property
    def clauses(self) -> tuple[str, ...]:
        """All it stands for."""
        return (*self.on_pass, *self.on_gunner)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Touches that are just old enough for the turn to show."""
        play = state.play
        in_air = state.phase is Phase.IN_AIR and play.kind != "onside"
        if not in_air and not play.gunners:
            return ()
        window_ns = params.ns("interference.window_s")
        out = []
        for contact in facts.scene.contacts:
            since_ns = contact.since_ns
            if since_ns is None or since_ns < (play.ran_ns or 0) or contact.probability <= UNDOUBTED:
                continue
            if not since_ns < facts.t_ns <= since_ns + window_ns:
                continue
            out += self._between(contact, since_ns, facts, state, params, in_air=in_air)
        return tuple(out)

    def _between(
        self, contact: Contact, since_ns: int, facts: Facts, state: GameState, params: Params, *, in_air: bool
    ) -> list[Finding]:
        a, b = facts.figures.get(contact.a), facts.figures.get(contact.b)
        if a is None or b is None or a.jersey == b.jersey:
            return []
        then = _scene_at(facts, since_ns)
        found = []
        for victim, offender in ((a, b), (b, a)):
            if not self._may_suffer(victim, state, facts, in_air=in_air):
                continue
            before = find(then, victim.id) if then else None
            if before is None:
                continue
            turn = self._turn(before, victim, facts, state, in_air=in_air)
            if turn >= params.real("interference.turn_deg"):
                found.append(self._finding(before, victim, offender, turn, since_ns, facts, state, params, in_air))
        return found

    def _may_suffer(self, victim: Figure, state: GameState, facts: Facts, *, in_air: bool) -> bool:
        if not in_air:
            return victim.id in state.play.gunners
        entry = state.player(victim.id)
        return (entry is None or canonical_role(entry.role) not in INSIDE) and not facts.dead(victim.id)

    def _turn(self, before: Figure, victim: Figure, facts: Facts, state: GameState, *, in_air: bool) -> float:
        """By how many degrees the victim has turned away."""
        place = ball_place(facts.scene, state)
        if in_air and place is not None:
            return facts.bearing_error(victim, *place) - facts.bearing_error(before, *place)
        return difference_deg(victim.heading_deg, before.heading_deg)

    def _finding(
        self,
        before: Figure,
        victim: Figure,
        offender: Figure,
        turn: float,
        since_ns: int,
        facts: Facts,
        state: GameState,
        params: Params,
        in_air: bool,
    ) -> Finding:
        against_offense = facts.side_of(offender) == state.offense
        detail = "gunner_interference"
        if in_air:
            detail = "offensive_pass_interference" if against_offense else "defensive_pass_interference"
        margin = turn - params.real("interference.turn_deg")
        sigma = (before.sigma_deg**2 + victim.sigma_deg**2) ** 0.5
        reach = facts.forward(victim)
        return Finding(
            rule=self.id,
            kind="penalty",
            t_ns=since_ns,
            text=f"{detail.replace('_', ' ')} by {offender.id}: {victim.id} turns away from "
            f"{before.heading_deg:.0f} to {victim.heading_deg:.0f} degrees",
            clauses=self.on_pass if in_air else self.on_gunner,
            key=f"{offender.id}:{victim.id}@{since_ns}",
            players=(offender.id, victim.id),
            spot_yd=facts.spot_yd(reach.x_mm, victim.y_mm),
            margin=margin,
            sigma=sigma,
            unit="deg",
            probability=chance(margin, sigma),
            against=f"{victim.id} was not turned by the touch",
            ripe_ns=since_ns + params.ns("interference.window_s"),
            early=False,
            proposed=True,
            side=state.side_of(victim.jersey),
            detail=detail,
        )


def _scene_at(facts: Facts, t_ns: int) -> Scene | None:
    """The last scene not after an instant."""
    return next((scene for scene in reversed(facts.recent) if scene.t_ns <= t_ns), None)
