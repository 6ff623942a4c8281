"""A ball that leaves its carrier, and who touches it first, where a real ball is carried (Lion's Den)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from downfield.officiating.engine.facts import Facts, doubted
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.seams import Immediate
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.reference import carried
from downfield.officiating.rules.touches import TOUCH_PARAMS, FirstTouch


@dataclass(frozen=True, slots=True)
class BallLost(Immediate):
    """The ball is no longer on its carrier: a fumble for whatever reason; without that, no fall is one.

    Attributes:
        clauses: cited.

    """

    clauses: tuple[str, ...]
    id: str = "ball_lost"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """The ball carried in the frame before and loose in this one."""
        carrier, before, ball = facts.carrier, facts.carrier_before, facts.scene.ball
        if carrier is None or before is None or facts.before is None or ball is None or ball.state != "loose":
            return ()
        if carried(facts.before.ball, before) is None:
            return ()
        return (
            Finding(
                rule=self.id,
                kind="fumble",
                t_ns=facts.t_ns,
                text=f"{carrier.id} loses the ball",
                clauses=self.clauses,
                key=f"{carrier.id}@{facts.t_ns}",
                players=(carrier.id,),
                spot_yd=facts.spot_yd(ball.x_mm, ball.y_mm),
                probability=doubted(1.0, carrier),
                against=f"{carrier.id} keeps the ball",
                side=state.play.ball_side,
            ),
        )


@dataclass(frozen=True, slots=True)
class Recovery(Immediate):
    """The first figure of either team to touch a loose ball has it.

    Attributes:
        clauses: cited.

    """

    clauses: tuple[str, ...]
    id: str = "recovery"
    phases: frozenset[Phase] = frozenset({Phase.IN_AIR})
    params: tuple[Param, ...] = tuple(
        replace(param, default=True, reason="the first player, engaged or not")
        if param.name == "pass.engaged_may_catch"
        else param
        for param in TOUCH_PARAMS
    )

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """The first touch, as a recovery where the ball lies."""
        ball = facts.scene.ball
        first = FirstTouch(catch=self.clauses, tie=self.clauses, void=self.clauses)
        out = []
        for found in first.observe(facts, state, params):
            if found.reported or not found.players:
                continue
            side = facts.side_of(facts.figures[found.players[0]])
            text = f"recovered by {found.players[0]}, {state.team(side).name} ball"
            spot = facts.spot_yd(ball.x_mm, ball.y_mm) if ball is not None else found.spot_yd
            out.append(replace(found, rule=self.id, kind="fumble_recovery", text=text, side=side, spot_yd=spot))
        return tuple(out)
