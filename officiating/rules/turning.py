"""Turning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from downfield.core.angles import difference_deg
from downfield.core.scene import Contact, Figure, Scene
from downfield.officiating.calls import Finding
from downfield.officiating.checks.roles import LINEMEN, canonical_role
from downfield.officiating.engine.facts import EVEN_ODDS, Facts, exceedance_probability, find_figure
from downfield.officiating.engine.interfaces import ImmediateRule
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.ball import ball_position
from downfield.officiating.rules.lines import reference_param, reference_point, spot_at

SIDEWAYS_DEG: Final = 90.0

BACKWARD_PARAMS = (
    Param("backward.window_s", 0.2, "s", "longer than a vibration; a carrier jitters", low=0.05, high=0.5),
    Param("backward.speed_mm_s", 10.0, "mm/s", "slower is a figure jiggling on the spot", low=0, high=500),
)


@dataclass(frozen=True, slots=True)
class Backward(ImmediateRule):
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
        detail = backward_motion(facts, state, params)
        if detail is None:
            return ()
        turned = detail == "turned"
        key = f"{detail}:{carrier.id}@{state.play.board_on_ns}"
        if f"{self.id}:{key}" in state.play.settled:
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
                margin=facts.heading_error_deg(carrier) - SIDEWAYS_DEG
                if turned
                else SIDEWAYS_DEG - facts.heading_error_deg(carrier),
                sigma=carrier.sigma_deg,
                unit="deg",
                reported=True,
                detail=detail,
            ),
        )


def backward_motion(facts: Facts, state: GameState, params: Params) -> str | None:
    """``"turned"`` or ``"pushed"`` while the carrier moves toward his own goal line, else None."""
    carrier = facts.carrier
    window_ns = params.ns("backward.window_s")
    if carrier is None or facts.t_ns - (state.play.board_on_ns or 0) < window_ns:
        return None
    speed = facts.velocity_mm_s(carrier.id, window_ns)
    if speed is None or -speed[0] * state.ball_direction < params.real("backward.speed_mm_s"):
        return None
    return "turned" if facts.heading_error_deg(carrier) > SIDEWAYS_DEG else "pushed"


AGAIN_DEG: Final = 80.0
"""Nearer to the goal than this he has surely come round; a heading jitters by a few degrees."""
FORWARD_AGAIN: Final = "forward_again"


@dataclass(frozen=True, slots=True)
class CarrierTurnedBack(ImmediateRule):
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
        if turns > 1 or backward_motion(facts, state, params) != "turned":
            return ()
        margin = facts.heading_error_deg(carrier) - SIDEWAYS_DEG
        at, scene = _turning_point(facts, carrier)
        point = reference_point(facts, at, params.choice("turned_back.spot"), scene)
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
                probability=exceedance_probability(margin, carrier.sigma_deg),
                against=f"{carrier.id} still faces forward",
                detail="second" if again else "first",
            ),
        )

    def _forward(self, facts: Facts, carrier: Figure, params: Params) -> tuple[Finding, ...]:
        margin = AGAIN_DEG - facts.heading_error_deg(carrier)
        if exceedance_probability(margin, carrier.sigma_deg) < params.real("calls.confidence"):
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
        figure = find_figure(scene, carrier.id)
        if figure is None or facts.heading_error_deg(figure) <= SIDEWAYS_DEG:
            break
        point, at = figure, scene
    return point, at


INTERFERENCE_PARAMS: Final = (
    Param("interference.turn_deg", 20.0, "deg", "not stated; more than a nudge, less than being spun", low=5, high=90),
    Param("interference.window_s", 0.3, "s", "not stated; a later turn has other causes", low=0.05, high=0.5),
)
INSIDE: Final = frozenset({*LINEMEN, "C", "G", "T", "DL", "NT", "DT", "DE"})


@dataclass(frozen=True, slots=True)
class Interference(ImmediateRule):
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
            if since_ns is None or since_ns < (play.board_on_ns or 0) or contact.probability <= EVEN_ODDS:
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
            before = find_figure(then, victim.id) if then else None
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
        return (entry is None or canonical_role(entry.role) not in INSIDE) and not facts.has_fallen(victim.id)

    def _turn(self, before: Figure, victim: Figure, facts: Facts, state: GameState, *, in_air: bool) -> float:
        """By how many degrees the victim has turned away."""
        place = ball_position(facts.scene, state)
        if in_air and place is not None:
            return facts.bearing_error_deg(victim, *place) - facts.bearing_error_deg(before, *place)
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
        reach = facts.foremost_point(victim)
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
            probability=exceedance_probability(margin, sigma),
            against=f"{victim.id} was not turned by the touch",
            settle_ns=since_ns + params.ns("interference.window_s"),
            settle_early=False,
            proposed=True,
            side=state.side_of(victim.jersey),
            detail=detail,
        )


def _scene_at(facts: Facts, t_ns: int) -> Scene | None:
    """The last scene not after an instant."""
    return next((scene for scene in reversed(facts.recent) if scene.t_ns <= t_ns), None)
