"""The point of the carrier that a rulebook spots by: his base, his carrying hand, or the ball he carries."""

from __future__ import annotations

import math
from typing import Final

from downfield.officiating.facts import Facts, find
from downfield.officiating.geometry import Reach, reach_x
from downfield.officiating.params import Param
from downfield.vision.scene import Ball, Figure, Scene

REFERENCES: Final = ("base", "hand", "ball")
BASELINE_NS: Final = 100_000_000
"""Over which a figure's motion is measured: a few frames, so that their error averages out."""


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

    Along the field it is the reference point's, across it the middle of the base. The figure is taken to have gone on
    from the frames before as it went, since what happens at the instant (a contact) may stop or turn it, but no
    further than it got.
    """
    scenes = facts.recent
    then = find(scenes[-1], figure.id) if scenes else None
    if then is None or t_ns >= facts.t_ns:
        return facts.spot_yd(reference(facts, figure, word).x_mm, figure.y_mm)
    last = scenes[-1]
    x_mm, y_mm = reference(facts, then, word, last).x_mm, then.y_mm
    earlier = next((scene for scene in scenes if last.t_ns - scene.t_ns <= BASELINE_NS), last)
    start = find(earlier, figure.id)
    if start is None or earlier.t_ns >= last.t_ns:
        x_now, y_now = reference(facts, figure, word).x_mm, figure.y_mm
        share = (t_ns - last.t_ns) / (facts.t_ns - last.t_ns)
        return facts.spot_yd(x_mm + share * (x_now - x_mm), y_mm + share * (y_now - y_mm))
    share = (t_ns - last.t_ns) / (last.t_ns - earlier.t_ns)
    x_on = x_mm + share * (x_mm - reference(facts, start, word, earlier).x_mm)
    y_on = y_mm + share * (y_mm - start.y_mm)
    x_now, y_now = reference(facts, figure, word).x_mm, figure.y_mm
    return facts.spot_yd(_between(x_on, x_mm, x_now), _between(y_on, y_mm, y_now))


def _between(value: float, one: float, two: float) -> float:
    """A value kept between two others: nothing is spotted where the figure has not been."""
    return min(max(value, min(one, two)), max(one, two))
