"""Rules about where a figure faces: a carrier that goes the wrong way, and a figure turned by an opponent's touch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from downfield.core.angles import difference_deg
from downfield.core.scene import Contact, Figure, Scene
from downfield.officiating.calls import Finding
from downfield.officiating.engine.facts import (
    EVEN_ODDS,
    Facts,
    capped_if_unsure,
    exceedance_probability,
    find_figure,
    over_fronts,
)
from downfield.officiating.engine.interfaces import ImmediateRule, RuleContext
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.role_names import LINEMEN, canonical_role
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.ball import ball_position
from downfield.officiating.rules.lines import reference_param, reference_point, spot_at


@dataclass(frozen=True, slots=True)
class FacingLimits:
    """Angles between a carrier's heading and the goal it attacks, and how long a turn is watched."""

    sideways_deg: float = 90.0
    """A carrier that faces farther away than this faces its own goal line."""

    forward_deg: float = 80.0
    """Within this the carrier has certainly turned forward again; a heading jitters by a few degrees."""

    turning_ns: int = 100_000_000
    """A figure seen to turn is watched this much longer: it may turn on, and a doubtful turn becomes a sure one."""


LIMITS: Final = FacingLimits()

FORWARD_AGAIN: Final = "forward_again"
"""Detail and note of a carrier that faces forward again."""

BACKWARD_PARAMS: Final = (
    Param("backward.window_s", 0.2, "s", "longer than a vibration; a carrier jitters", low=0.05, high=0.5),
    Param("backward.speed_mm_s", 10.0, "mm/s", "slower is a figure jiggling on the spot", low=0, high=500),
)
INTERFERENCE_PARAMS: Final = (
    Param("interference.turn_deg", 20.0, "deg", "not stated; more than a nudge, less than being spun", low=5, high=90),
    Param("interference.window_s", 0.3, "s", "not stated; a later turn has other causes", low=0.05, high=0.5),
)

INSIDE_ROLES: Final = frozenset({*LINEMEN, "C", "G", "T", "DL", "NT", "DT", "DE"})
"""Roles inside the line, against which pass interference is not looked for."""


@dataclass(frozen=True, slots=True)
class Backward(ImmediateRule):
    """The carrier moves toward its own goal line. TAP leaves the consequence to the coach, so it is only reported.

    Attributes:
        turned: clauses when the carrier faces that way too.
        pushed: clauses when the carrier faces forward and is pushed.

    """

    turned: tuple[str, ...]
    pushed: tuple[str, ...]
    id: str = "backward"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = BACKWARD_PARAMS

    @property
    def clauses(self) -> tuple[str, ...]:
        """All clauses of the rule."""
        return (*self.turned, *self.pushed)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding, at most one of either kind each time the board comes on."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        detail = backward_motion(facts, state, params)
        if detail is None:
            return ()
        key = f"{detail}:{carrier.id}@{state.play.board_on_ns}"
        if f"{self.id}:{key}" in state.play.settled:
            return ()
        off_deg = facts.heading_error_deg(carrier)
        if detail == "turned":
            text = f"{carrier.id} has turned toward his own goal line; his coach may let him run or stop him"
            clauses, margin = self.turned, off_deg - LIMITS.sideways_deg
        else:
            text = f"{carrier.id} is pushed back; his coach may play on, without forward progress"
            clauses, margin = self.pushed, LIMITS.sideways_deg - off_deg
        if carrier.front < params.real("calls.confidence"):
            text = f"{carrier.id} goes back, turned or pushed: not sure which end is his front"
            clauses = self.clauses
        faces_back, front = over_fronts(carrier, lambda figure: _faces_back(facts, figure))
        if front < 1.0:
            front = carrier.front  # that of the end as seen, by which he is turned or pushed
        return (
            Finding(
                rule=self.id,
                kind="turned_back",
                t_ns=facts.t_ns,
                text=text,
                clauses=clauses,
                key=key,
                players=(carrier.id,),
                spot_yd=spot_at(facts, carrier, "base", facts.t_ns),
                margin=margin,
                sigma=carrier.sigma_deg,
                unit="deg",
                probability=capped_if_unsure(faces_back if detail == "turned" else 1.0 - faces_back, carrier),
                front=front,
                reported=True,
                detail=detail,
                measure="excess" if detail == "turned" else "",
            ),
        )


def backward_motion(facts: Facts, state: GameState, params: Params) -> Literal["turned", "pushed"] | None:
    """Return how the carrier moves toward its own goal line: ``"turned"``, ``"pushed"``, or None if it does not."""
    carrier = facts.carrier
    window_ns = params.ns("backward.window_s")
    if carrier is None or facts.t_ns - (state.play.board_on_ns or 0) < window_ns:
        return None
    velocity = facts.velocity_mm_s(carrier.id, window_ns)
    if velocity is None or -velocity[0] * state.ball_direction < params.real("backward.speed_mm_s"):
        return None
    return "turned" if facts.heading_error_deg(carrier) > LIMITS.sideways_deg else "pushed"


@dataclass(frozen=True, slots=True)
class CarrierTurnedBack(ImmediateRule):
    """The carrier faces and moves toward its own goal line (Lion's Den): turned around once, down the second time.

    Both are needed: a carrier that only faces back may be spinning, one that only moves back is being pushed.

    Attributes:
        first, second: clauses of the first and the second turn.

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
        """All clauses of the rule."""
        return (*self.first, *self.second)

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for a turn, or for the carrier facing forward again after the first."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        turns = state.play.turns
        if turns == 1 and state.play.note(FORWARD_AGAIN) is None:
            return self._forward_again(facts, carrier, params)
        motion = backward_motion(facts, state, params)
        if turns > 1 or motion is None:
            return ()
        if motion == "pushed":
            if 1.0 - carrier.front <= 1.0 - params.real("calls.confidence"):
                return ()
            carrier = carrier.turned_around()  # he may have turned, should his front be the other end
        margin = facts.heading_error_deg(carrier) - LIMITS.sideways_deg
        probability, front = over_fronts(carrier, lambda figure: _faces_back(facts, figure))
        turned, scene = _turning_point(facts, carrier)
        point = reference_point(facts, turned, params.choice("turned_back.spot"), scene)
        again = turns == 1
        return (
            Finding(
                rule=self.id,
                kind="turned_back",
                t_ns=scene.t_ns,
                text=f"{carrier.id} turns back again: down where he turned"
                if again
                else f"{carrier.id} turns back; his coach may turn him around once",
                clauses=self.second if again else self.first,
                key=f"{carrier.id}:{turns}",
                players=(carrier.id,),
                spot_yd=facts.spot_yd(point.x_mm, turned.y_mm),
                margin=margin,
                sigma=carrier.sigma_deg,
                unit="deg",
                probability=probability,
                front=front,
                against=f"{carrier.id} still faces forward",
                detail="second" if again else "first",
                measure="excess",
            ),
        )

    def _forward_again(self, facts: Facts, carrier: Figure, params: Params) -> tuple[Finding, ...]:
        forward, front = over_fronts(carrier, lambda figure: _faces_forward(facts, figure))
        if forward < params.real("calls.confidence"):
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
                probability=forward,
                front=front,
            ),
        )


def _faces_back(facts: Facts, figure: Figure) -> float:
    """Return the probability that a figure with a known front faces its own goal line."""
    return exceedance_probability(facts.heading_error_deg(figure) - LIMITS.sideways_deg, figure.sigma_deg)


def _faces_forward(facts: Facts, figure: Figure) -> float:
    """Return the probability that a figure with a known front certainly faces forward."""
    return exceedance_probability(LIMITS.forward_deg - facts.heading_error_deg(figure), figure.sigma_deg)


def _turning_point(facts: Facts, carrier: Figure) -> tuple[Figure, Scene]:
    """Return the carrier as it first faced back in this turn, and that scene, as far back as the facts go."""
    turned, at = carrier, facts.scene
    for scene in reversed(facts.recent):
        figure = find_figure(scene, carrier.id)
        if figure is None or facts.heading_error_deg(figure) <= LIMITS.sideways_deg:
            break
        turned, at = figure, scene
    return turned, at


@dataclass(frozen=True, slots=True)
class Interference:
    """An opponent's touch in or after which a figure turns, on a pass in the air or against a declared gunner.

    Touching alone is no foul. Whether the touch made the figure turn is a judgment, so interference is only ever
    proposed, with the headings before and after. On passes the turn is away from the ball, on punts from the gunner's
    own course.

    Attributes:
        on_pass: clauses of pass interference.
        on_gunner: clauses of gunner interference.
        with_numbers: adds the penalty's yards and spots to a finding.

    """

    on_pass: tuple[str, ...]
    on_gunner: tuple[str, ...]
    with_numbers: Callable[[GameState, Finding, RuleContext], Finding]
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
        foul_ns = max(since_ns, facts.t_ns - params.ns("interference.window_s"))
        then = _scene_at(facts, foul_ns)
        found = []
        for victim, offender in ((a, b), (b, a)):
            if not self._is_protected(victim, state, facts, in_air=in_air):
                continue
            before = find_figure(then, victim.id) if then else None
            if before is None:
                continue
            turn_deg = self._turn_deg(before, victim, facts, state, in_air=in_air)
            if turn_deg >= params.real("interference.turn_deg"):
                key = f"{offender.id}:{victim.id}@{since_ns}"
                found.append(
                    self._finding(before, victim, offender, turn_deg, foul_ns, key, facts, state, params, in_air)
                )
        return found

    def _is_protected(self, figure: Figure, state: GameState, facts: Facts, *, in_air: bool) -> bool:
        if not in_air:
            return figure.id in state.play.gunners
        entry = state.player(figure.id)
        inside = entry is not None and canonical_role(entry.role) in INSIDE_ROLES
        return not inside and not facts.has_fallen(figure.id)

    def _turn_deg(self, before: Figure, victim: Figure, facts: Facts, state: GameState, *, in_air: bool) -> float:
        """Return by how many degrees the victim has turned away."""
        position = ball_position(facts.scene, state)
        if in_air and position is not None:
            return facts.bearing_error_deg(victim, *position) - facts.bearing_error_deg(before, *position)
        return difference_deg(victim.heading_deg, before.heading_deg)

    def _finding(
        self,
        before: Figure,
        victim: Figure,
        offender: Figure,
        turn_deg: float,
        foul_ns: int,
        key: str,
        facts: Facts,
        state: GameState,
        params: Params,
        in_air: bool,
    ) -> Finding:
        by_offense = facts.side_of(offender) == state.offense
        detail = "gunner_interference"
        if in_air:
            detail = "offensive_pass_interference" if by_offense else "defensive_pass_interference"
        margin = turn_deg - params.real("interference.turn_deg")
        sigma = (before.sigma_deg**2 + victim.sigma_deg**2) ** 0.5
        # A small turn is the same for both ends, but whether it is away from the ball is not.
        matters = in_air or difference_deg(victim.heading_deg, before.heading_deg) > LIMITS.sideways_deg
        front = min(before.front, victim.front) if matters else 1.0
        return Finding(
            rule=self.id,
            kind="penalty",
            t_ns=foul_ns,
            text=f"{detail.replace('_', ' ')} by {offender.id}: {victim.id} turns from "
            f"{before.heading_deg:.0f} to {victim.heading_deg:.0f} degrees",
            clauses=self.on_pass if in_air else self.on_gunner,
            key=key,
            players=(offender.id, victim.id),
            spot_yd=spot_at(facts, victim, "base", foul_ns),
            margin=margin,
            sigma=sigma,
            unit="deg",
            probability=exceedance_probability(margin, sigma) * front,
            front=front,
            against=f"{victim.id} was not turned by the touch",
            settle_ns=max(foul_ns + params.ns("interference.window_s"), facts.t_ns + LIMITS.turning_ns),
            settle_early=False,
            proposed=True,
            side=state.side_of(victim.jersey),
            detail=detail,
        )


def _recent_touches(facts: Facts, window_ns: int) -> list[tuple[Contact, int]]:
    """Return the touches of the window before this frame, over or lasting, and when each began."""
    touches: dict[tuple[str, str, int], Contact] = {}
    for scene in (*facts.recent, facts.scene):
        if scene.t_ns < facts.t_ns - window_ns:
            continue
        for contact in scene.contacts:
            since_ns = contact.since_ns
            if since_ns is not None and since_ns < facts.t_ns and contact.probability > EVEN_ODDS:
                touches[contact.a, contact.b, since_ns] = contact
    return [(contact, since_ns) for (_, _, since_ns), contact in touches.items()]


def _scene_at(facts: Facts, t_ns: int) -> Scene | None:
    """Return the last recent scene not after an instant."""
    return next((scene for scene in reversed(facts.recent) if scene.t_ns <= t_ns), None)
