"""Figures of the strangers' set: bodies molded as chains of balls in six families of stances, and helmets.

Everything is in millimeters in the figure's frame: origin at the center of the base's underside, x ahead, y to its
left, z up. Nothing here is shared with the pictures that networks learn from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator
Color = tuple[float, float, float]
Balls = list[tuple[float, float, float, float]]
"""x, y, z and radius of each."""


@dataclass
class Body:
    """One molded player over its base.

    Attributes:
        shirt, pants, skin: balls of each color.
        helmet: center and radius.
        hold: where a ball is carried, None where the hands hold none.
    """

    shirt: Balls = field(default_factory=list)
    pants: Balls = field(default_factory=list)
    skin: Balls = field(default_factory=list)
    helmet: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 4.0)
    hold: tuple[float, float, float] | None = None


def limb(out: Balls, points: list[Array], radii: tuple[float, float]) -> None:
    """Add balls along a polyline, their radius running from one to another."""
    lengths = [float(np.linalg.norm(b - a)) for a, b in pairwise(points)]
    total, done = sum(lengths) or 1.0, 0.0
    for a, b, length in zip(points, points[1:], lengths, strict=False):
        for share in np.linspace(0, 1, max(2, round(length / 1.2))):
            at = a + share * (b - a)
            radius = radii[0] + (radii[1] - radii[0]) * (done + share * length) / total
            out.append((float(at[0]), float(at[1]), float(at[2]), radius))
        done += length


def at(x: float, y: float, z: float) -> Array:
    """A point."""
    return np.array([x, y, z], dtype=np.float64)


def _frame(body: Body, hips: Array, shoulders: Array, feet: tuple[Array, Array], bulk: float) -> tuple[Array, Array]:
    """Torso, legs and helmet; returns the shoulders, left and right."""
    up = shoulders - hips
    limb(body.shirt, [hips + 0.25 * up, shoulders], (3.6 * bulk, 4.6 * bulk))
    limb(body.pants, [hips, hips + 0.3 * up], (3.7 * bulk, 3.6 * bulk))
    left, right = shoulders + at(0, 5.2 * bulk, -0.4), shoulders + at(0, -5.2 * bulk, -0.4)
    limb(body.shirt, [left, right], (2.9 * bulk, 2.9 * bulk))
    for foot, side in zip(feet, (1.0, -1.0), strict=True):
        knee = (hips + foot) / 2 + at(2.2, 0.8 * side, 0.6)
        limb(body.pants, [hips + at(0, 2.4 * side, 0), knee, foot + at(0, 0, 1.2)], (2.8 * bulk, 1.9 * bulk))
        limb(body.skin, [foot + at(-1, 0, 1.0), foot + at(2.4, 0, 1.0)], (1.5, 1.4))
    neck = up / max(float(np.linalg.norm(up)), 1e-6)
    head = shoulders + 5.4 * bulk * neck + at(1.3, 0, 1.0)
    body.helmet = (float(head[0]), float(head[1]), float(head[2]), 3.7)
    return left, right


def _arm(body: Body, shoulder: Array, elbow: Array, hand: Array, *, sleeves: bool) -> None:
    limb(body.shirt, [shoulder, elbow], (2.2, 1.8))
    limb(body.shirt if sleeves else body.skin, [elbow, hand], (1.7, 1.4))
    limb(body.skin, [hand, hand + 0.2 * (hand - elbow)], (1.7, 1.5))


def _standing(rng: Rng, z0: float, tall: float, lean: float) -> tuple[Array, Array, tuple[Array, Array]]:
    wide = rng.uniform(2.2, 4.5)
    step = rng.uniform(-3, 3)
    feet = at(step, wide, z0), at(-step, -wide, z0)
    hips = at(rng.uniform(-2, 0.5), 0, z0 + 0.47 * tall)
    shoulders = hips + at(lean * 0.36 * tall, 0, 0.36 * tall * float(np.sqrt(max(1 - lean * lean, 0.05))))
    return hips, shoulders, feet


def upright(rng: Rng, z0: float) -> Body:
    """Standing, arms down, out, or with hands on the hips."""
    body, bulk = Body(), rng.uniform(0.8, 1.15)
    hips, shoulders, feet = _standing(rng, z0, rng.uniform(30, 39), rng.uniform(-0.1, 0.3))
    left, right = _frame(body, hips, shoulders, feet, bulk)
    kind = rng.integers(3)
    for shoulder, side in ((left, 1.0), (right, -1.0)):
        if kind == 0:
            elbow, hand = shoulder + at(-1, 2.0 * side, -6), shoulder + at(1.5, 2.5 * side, -11)
        elif kind == 1:
            elbow, hand = (
                shoulder + at(0.5, 6.0 * side, rng.uniform(-2, 1)),
                shoulder + at(3, 11.5 * side, rng.uniform(-2, 3)),
            )
        else:
            elbow, hand = shoulder + at(-3, 5.0 * side, -5.5), hips + at(1.0, 4.0 * side, 1.0)
        _arm(body, shoulder, elbow, hand, sleeves=bool(rng.random() < 0.4))
    return body


def crouched(rng: Rng, z0: float) -> Body:
    """A lineman's three- or four-point stance: head ahead of the base's middle, hands down."""
    body, bulk = Body(), rng.uniform(0.95, 1.3)
    feet = at(-6, 3.8, z0), at(-4.5, -3.8, z0)
    hips = at(-5.5, 0, z0 + rng.uniform(11, 15))
    shoulders = at(rng.uniform(4, 7), 0, z0 + rng.uniform(11, 15))
    left, right = _frame(body, hips, shoulders, feet, bulk)
    down = at(rng.uniform(7, 11), 2.2, z0 + 0.8)
    both = rng.random() < 0.4
    _arm(body, left, (left + down) / 2 + at(0.5, 0.8, 0), down, sleeves=False)
    other = down * (1, -1, 1) if both else at(1.0, -4.5, z0 + 8)
    _arm(body, right, (right + other) / 2 + at(0.5, -0.8, 0), other, sleeves=False)
    return body


def two_point(rng: Rng, z0: float) -> Body:
    """A linebacker or receiver bent forward, hands on the knees or hanging."""
    body, bulk = Body(), rng.uniform(0.85, 1.15)
    hips, shoulders, feet = _standing(rng, z0, rng.uniform(27, 33), rng.uniform(0.5, 0.85))
    left, right = _frame(body, hips, shoulders, feet, bulk)
    for shoulder, side in ((left, 1.0), (right, -1.0)):
        hand = at(4.5, 4.0 * side, z0 + 9) if rng.random() < 0.6 else shoulder + at(4, 1.5 * side, -7)
        _arm(body, shoulder, (shoulder + hand) / 2 + at(-1, 2.0 * side, 0), hand, sleeves=bool(rng.random() < 0.5))
    return body


def runner(rng: Rng, z0: float) -> Body:
    """Running with a ball tucked under an arm, one leg ahead."""
    body, bulk = Body(), rng.uniform(0.85, 1.1)
    side = 1.0 if rng.random() < 0.5 else -1.0
    hips, shoulders, _ = _standing(rng, z0, rng.uniform(29, 36), rng.uniform(0.25, 0.6))
    feet = at(6 * side, 2.5, z0 + (3 if side > 0 else 0)), at(-6 * side, -2.5, z0 + (3 if side < 0 else 0))
    left, right = _frame(body, hips, shoulders, feet, bulk)
    tuck = shoulders + at(3.2, 4.6 * side, -6.5)
    carry, free = (left, right) if side > 0 else (right, left)
    _arm(body, carry, carry + at(-2.5, 1.8 * side, -5), tuck + at(1.2, -0.5 * side, -0.8), sleeves=False)
    swing = free + at(rng.choice([-5.0, 6.0]), -3.0 * side, rng.uniform(-7, 0))
    _arm(body, free, (free + swing) / 2 + at(0, -1.5 * side, -1), swing, sleeves=False)
    body.hold = tuple(float(v) for v in tuck)  # type: ignore[assignment]
    return body


def passer(rng: Rng, z0: float) -> Body:
    """A quarterback with an arm back, the ball beside or behind his helmet, the other arm pointing."""
    body, bulk = Body(), rng.uniform(0.85, 1.1)
    side = -1.0 if rng.random() < 0.8 else 1.0
    hips, shoulders, feet = _standing(rng, z0, rng.uniform(32, 39), rng.uniform(-0.15, 0.1))
    left, right = _frame(body, hips, shoulders, feet, bulk)
    throwing, other = (right, left) if side < 0 else (left, right)
    ball = throwing + at(rng.uniform(-6, -2), 3.5 * side, rng.uniform(3, 7))
    _arm(body, throwing, throwing + at(-3, 5.0 * side, 1.0), ball, sleeves=False)
    _arm(body, other, other + at(3.5, -2.0 * side, -1), other + at(9, -2.0 * side, 1.0), sleeves=False)
    body.hold = tuple(float(v) for v in ball + at(0, 0.8 * side, 1.5))  # type: ignore[assignment]
    return body


def kicker(rng: Rng, z0: float) -> Body:
    """A kicker, one leg swung ahead, arms out for balance."""
    body, bulk = Body(), rng.uniform(0.8, 1.05)
    hips, shoulders, _ = _standing(rng, z0, rng.uniform(31, 38), rng.uniform(-0.35, -0.1))
    feet = at(-1, 2.0, z0), at(rng.uniform(8, 12), -2.0, z0 + rng.uniform(5, 12))
    left, right = _frame(body, hips, shoulders, feet, bulk)
    for shoulder, side in ((left, 1.0), (right, -1.0)):
        _arm(
            body,
            shoulder,
            shoulder + at(0, 5 * side, -1),
            shoulder + at(rng.uniform(-3, 4), 10 * side, 1),
            sleeves=False,
        )
    return body


STANCES: tuple[tuple[float, Callable[[Rng, float], Body]], ...] = (
    (0.24, upright), (0.26, crouched), (0.2, two_point), (0.14, runner), (0.1, passer), (0.06, kicker),
)  # fmt: skip


def draw_body(rng: Rng, z0: float) -> Body:
    """A player in a stance drawn at random, molded askew by some degrees and millimeters."""
    shares = np.array([share for share, _ in STANCES])
    body = STANCES[int(rng.choice(len(STANCES), p=shares / shares.sum()))][1](rng, z0)
    size, turn, shift = rng.uniform(0.85, 1.2), np.radians(rng.normal(0, 7)), rng.normal(0, 1.2, 2)

    def placed(x: float, y: float, z: float) -> tuple[float, float, float]:
        c, s = float(np.cos(turn)), float(np.sin(turn))
        return size * (c * x - s * y) + shift[0], size * (s * x + c * y) + shift[1], z0 + size * (z - z0)

    for name in ("shirt", "pants", "skin"):
        setattr(body, name, [(*placed(x, y, z), size * r) for x, y, z, r in getattr(body, name)])
    x, y, z, r = body.helmet
    body.helmet = (*placed(x, y, z), size * r)
    body.hold = None if body.hold is None else placed(*body.hold)
    return body
