"""Interference: a figure turned by an opponent's touch, on a pass in the air or against a declared gunner."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from downfield.core.mathematics import difference_deg
from downfield.core.scene import Contact, Figure
from downfield.officiating.calls import Finding
from downfield.officiating.conditions import Condition, joint_probability, worth_telling
from downfield.officiating.params import Param, Params, read_params
from downfield.officiating.rules.ball import ball_position
from downfield.officiating.rules.lines import spot_at
from downfield.officiating.sides import LINEMEN, canonical_role
from downfield.officiating.state.facts import EVEN_ODDS, Facts, exceedance_probability, find_figure
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import RuleContext


@dataclass(frozen=True, slots=True)
class InterferenceLimits:
    """How long a turn is watched, and when its direction depends on the front."""

    sideways_deg: float = 90.0  # a turn by more than this may be an end that was taken for the other
    # a figure seen to turn is watched this much longer: it may turn on, and a doubtful turn becomes a sure one
    turning_ns: int = 100_000_000


_LIMITS: Final = InterferenceLimits()

INTERFERENCE_PARAMS: Final = read_params("downfield.officiating.rules", "interference")

INSIDE_ROLES: Final = frozenset({*LINEMEN, "C", "G", "T", "DL", "NT", "DT", "DE"})
"""Roles inside the line, against which pass interference is not looked for."""


@dataclass(frozen=True, slots=True)
class Interference:
    """An opponent's touch in or after which a figure turns, on a pass in the air or against a declared gunner.

    Touching alone is no foul. Whether the touch made the figure turn is a judgment, so interference is only ever
    proposed, with the headings before and after. On passes the turn is away from the ball, on punts from the gunner's
    own course.
    """

    on_pass: tuple[str, ...]  # clauses of pass interference
    on_gunner: tuple[str, ...]  # clauses of gunner interference
    with_numbers: Callable[[GameState, Finding, RuleContext], Finding]  # adds a penalty's yards and spots to a finding
    id: str = "interference"
    phases: frozenset[Phase] = frozenset({Phase.IN_AIR, Phase.LIVE})
    params: tuple[Param, ...] = INTERFERENCE_PARAMS

    @property
    def clauses(self) -> tuple[str, ...]:
        """All clauses of the rule."""
        return (*self.on_pass, *self.on_gunner)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for each recent touch after which a figure has turned."""
        play = state.play
        in_air = state.phase is Phase.IN_AIR and play.kind != "onside"
        if not in_air and not play.gunners:
            return ()
        window_ns = params.ns("interference.window_s")
        found: list[Finding] = []
        for contact, since_ns in _recent_touches(facts, window_ns):
            if since_ns >= (play.board_on_ns or 0):
                found += self._findings_of(contact, since_ns, facts, state, params, in_air=in_air)
        return tuple(found)

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding:
        """Return the finding with the numbers of its penalty."""
        return self.with_numbers(state, finding, context)

    def _findings_of(
        self, contact: Contact, since_ns: int, facts: Facts, state: GameState, params: Params, *, in_air: bool
    ) -> list[Finding]:
        a, b = facts.figures.get(contact.a), facts.figures.get(contact.b)
        if a is None or b is None or a.jersey == b.jersey:
            return []
        least_deg, window_ns = params.real("interference.turn_deg"), params.ns("interference.window_s")
        foul_ns = max(since_ns, facts.t_ns - window_ns)
        then = next((scene for scene in reversed(facts.recent) if scene.t_ns <= foul_ns), None)
        found = []
        # The contact does not say who did it: whichever of the two was turned is the one it was done to.
        for victim, offender in ((a, b), (b, a)):
            before = find_figure(then, victim.id) if then else None
            if before is None or not self._is_protected(victim, state, facts, in_air=in_air):
                continue
            margin = self._turn_deg(before, victim, facts, state, in_air=in_air) - least_deg
            if margin < 0.0:
                continue
            detail = "gunner_interference"
            if in_air:
                by_offense = facts.side_of(offender) == state.offense
                detail = "offensive_pass_interference" if by_offense else "defensive_pass_interference"
            sigma = math.hypot(before.sigma_deg, victim.sigma_deg)
            # A small turn is the same for both ends, but whether it is away from the ball is not.
            matters = in_air or difference_deg(victim.heading_deg, before.heading_deg) > _LIMITS.sideways_deg
            front = min(before.front, victim.front) if matters else 1.0
            conditions = (
                Condition("touch", contact.probability),
                Condition("turn", exceedance_probability(margin, sigma), margin, sigma, "deg"),
                Condition("front", front),
            )
            spot = spot_at(facts, victim, "base", foul_ns)
            interference = Finding(
                rule=self.id,
                kind="penalty",
                t_ns=foul_ns,
                text=f"{detail.replace('_', ' ')} by {offender.id}: {victim.id} turns from "
                f"{before.heading_deg:.0f} to {victim.heading_deg:.0f} degrees",
                clauses=self.on_pass if in_air else self.on_gunner,
                key=f"{offender.id}:{victim.id}@{since_ns}",
                players=(offender.id, victim.id),
                spot_yd=spot.yd,
                spot_sigma_yd=spot.sigma_yd,
                margin=margin,
                sigma=sigma,
                unit="deg",
                probability=joint_probability(conditions),
                front=front,
                measure="turn",
                conditions=worth_telling(conditions),
                against=f"{victim.id} was not turned by the touch",
                settle_ns=max(foul_ns + window_ns, facts.t_ns + _LIMITS.turning_ns),
                settle_early=False,
                proposed=True,
                side=state.side_of(victim.jersey),
                detail=detail,
            )
            found.append(interference)
        return found

    def _is_protected(self, figure: Figure, state: GameState, facts: Facts, *, in_air: bool) -> bool:
        if not in_air:
            return figure.id in state.play.gunners
        entry = state.player(figure.id)
        inside = entry is not None and canonical_role(entry.role) in INSIDE_ROLES
        return not inside and not facts.has_fallen(figure.id)

    def _turn_deg(self, before: Figure, victim: Figure, facts: Facts, state: GameState, *, in_air: bool) -> float:
        """Return by how many degrees the victim has turned away; walking past the ball turns nobody."""
        position = ball_position(facts.scene, state)
        if in_air and position is not None:
            turned = replace(before, heading_deg=victim.heading_deg)
            return facts.bearing_error_deg(turned, *position) - facts.bearing_error_deg(before, *position)
        return difference_deg(victim.heading_deg, before.heading_deg)


def _recent_touches(facts: Facts, window_ns: int) -> list[tuple[Contact, int]]:
    """Return the touches of the window before this frame, over or lasting, at their surest, and when each began."""
    touches: dict[tuple[str, str, int], Contact] = {}
    for scene in (*facts.recent, facts.scene):
        if scene.t_ns < facts.t_ns - window_ns:
            continue
        for contact in scene.contacts:
            since_ns = contact.since_ns
            if since_ns is not None and since_ns < facts.t_ns and contact.probability > EVEN_ODDS:
                key = (contact.a, contact.b, since_ns)
                touches[key] = max(contact, touches.get(key, contact), key=lambda one: one.probability)
    return [(contact, since_ns) for (_, _, since_ns), contact in touches.items()]
