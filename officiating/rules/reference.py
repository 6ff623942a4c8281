"""The point of the carrier that a rulebook spots by: his base, his carrying hand, or the ball he carries."""

from __future__ import annotations

import math
from bisect import bisect
from typing import Final

from downfield.core.scene import Ball, Figure, Scene
from downfield.officiating.engine.facts import Facts, find
from downfield.officiating.engine.geometry import Reach, reach_x
from downfield.officiating.rulebooks.params import Param

REFERENCES: Final = ("base", "hand", "ball")
BASELINE_NS: Final = 100_000_000
"""Over which a figure's motion is measured: a few frames, so that their error averages out."""


def reference_param(name: str, default: str, reason: str) -> Param:
    """A parameter that names a reference point."""
    return Param(name, default, "", reason, choices=REFERENCES)


def reference(facts: Facts, figure: Figure, word: str, scene: Scene | None = None) -> Reach:
    """Where a figure's reference point is.

    A hand that was never measured, and a ball that is not seen, fall back on the next best: ball, hand, and the front
    of the base at its middle.

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
    ahead = reach_x(figure, facts.state.ball_direction)
    return ahead if word == "base" else Reach(ahead.x_mm, figure.y_mm, ahead.sigma_mm)


def carried(ball: Ball | None, figure: Figure) -> Ball | None:
    """The ball, if this figure carries it."""
    return ball if ball is not None and ball.state == "carried" and ball.carrier == figure.id else None


def spot_at(facts: Facts, figure: Figure, word: str, t_ns: int) -> tuple[float, float]:
    """Where the ball is spotted for a figure at an instant up to this frame, as far back as facts go, field yards.

    Across the field that is the hand or the ball, but the middle of a base. The figure is taken to have gone on from
    the frames before as it went, since what happens at the instant (a contact) may stop or turn it, but no further than
    it got.
    """
    at = bisect(facts.recent, t_ns, key=lambda scene: scene.t_ns)  # the first frame after the instant
    scenes, after = facts.recent[:at], (*facts.recent, facts.scene)[at]
    then = find(scenes[-1], figure.id) if scenes else None
    now = _place(facts, find(after, figure.id) or figure, word, after)
    if then is None or t_ns >= after.t_ns:
        return facts.spot_yd(*now)
    last = scenes[-1]
    place = _place(facts, then, word, last)
    earlier = next((scene for scene in scenes if last.t_ns - scene.t_ns <= BASELINE_NS), last)
    start = find(earlier, figure.id)
    if start is None or earlier.t_ns >= last.t_ns:
        share = (t_ns - last.t_ns) / (after.t_ns - last.t_ns)
        return facts.spot_yd(place[0] + share * (now[0] - place[0]), place[1] + share * (now[1] - place[1]))
    share = (t_ns - last.t_ns) / (last.t_ns - earlier.t_ns)
    begun = _place(facts, start, word, earlier)
    x_mm, y_mm = (_between(at + share * (at - was), at, end) for was, at, end in zip(begun, place, now, strict=True))
    return facts.spot_yd(x_mm, y_mm)


def _place(facts: Facts, figure: Figure, word: str, scene: Scene) -> tuple[float, float]:
    reach = reference(facts, figure, word, scene)
    return reach.x_mm, figure.y_mm if word == "base" else reach.y_mm


def _between(value: float, one: float, two: float) -> float:
    """A value kept between two others: nothing is spotted where the figure has not been."""
    return min(max(value, min(one, two)), max(one, two))
