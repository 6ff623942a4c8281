"""The point of the carrier that a rulebook spots by: his base, his carrying hand, or the ball he carries."""

from __future__ import annotations

import math
from typing import Final

from downfield.officiating.facts import Facts
from downfield.officiating.geometry import Reach, reach_x
from downfield.officiating.params import Param
from downfield.vision.scene import Ball, Figure, Scene

REFERENCES: Final = ("base", "hand", "ball")


def reference_param(name: str, default: str, reason: str) -> Param:
    """A parameter that names a reference point."""
    return Param(name, default, "", reason, choices=REFERENCES)


def reference(facts: Facts, figure: Figure, word: str, scene: Scene | None = None) -> Reach:
    """Where a figure's reference point is.

    A hand that was never measured, and a ball that is not seen, fall back on the next best: ball, hand, base.

    Args:
        facts: of the frame.
        figure: whose; may stand in an earlier frame.
        word: ``"base"``, ``"hand"`` or ``"ball"``.
        scene: the frame the figure stands in, when not that of the facts.

    """
    if word == "ball":
        ball = carried((scene or facts.scene).ball, figure)
        if ball is not None:
            return Reach(ball.x_mm, ball.y_mm, ball.sigma_mm)
    if word in {"ball", "hand"}:
        hand = facts.hand(figure)
        if hand is not None:
            lever = math.hypot(hand[0] - figure.x_mm, hand[1] - figure.y_mm)
            return Reach(*hand, math.hypot(figure.sigma_mm[0], lever * math.radians(figure.sigma_deg)))
    return reach_x(figure, facts.state.ball_direction)


def carried(ball: Ball | None, figure: Figure) -> Ball | None:
    """The ball, if this figure carries it."""
    return ball if ball is not None and ball.state == "carried" and ball.carrier == figure.id else None


def spot_at(facts: Facts, figure: Figure, word: str, t_ns: int) -> tuple[float, float]:
    """Where the ball is spotted for a figure at an instant between the last frame and this one, field yards.

    Along the field it is the reference point's, across it the middle of the base.
    """
    now = reference(facts, figure, word)
    before = facts.before
    then = next((one for one in before.figures if one.id == figure.id), None) if before else None
    if before is None or then is None or t_ns >= facts.t_ns:
        return facts.spot_yd(now.x_mm, figure.y_mm)
    share = max(0.0, (t_ns - before.t_ns) / (facts.t_ns - before.t_ns))
    x_mm = reference(facts, then, word, before).x_mm
    return facts.spot_yd(x_mm + share * (now.x_mm - x_mm), then.y_mm + share * (figure.y_mm - then.y_mm))
