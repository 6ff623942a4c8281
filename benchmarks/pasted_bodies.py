"""Paints other bodies over the figures of a rendered clip, so that a network errs as on figures it was never taught.

A body is a handful of shaded balls in colors of its own: legs, trunk, shoulders, arms over the base or beside it, a
helmet that stands out wherever it leans. It moves and turns with its base, so what a network takes wrong about it
lasts, as on a stranger's table. Figures that lie, and those in a hand, are left as they were rendered. These pictures
may be tuned on, which strangers' pictures may not.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.frame import Frame
from downfield.core.scene import Figure, Scene

_SHINE: Final = ((1.0, 0.62, 0.0), (0.8, 0.85, 0.18), (0.45, 1.1, 0.36))
"""Discs of a ball, from the outside: share of its radius, brightness, how far they lie toward the light."""
_LIGHT: Final = np.array([-0.6, -0.8])  # where the light comes from, in the picture
_SKINS: Final = ((98, 134, 190), (60, 92, 141), (38, 56, 92), (120, 160, 215))  # blue, green, red


@dataclass(frozen=True)
class _Ball:
    """A part of a body.

    Attributes:
        place_mm: ahead and to the left of the base's center, and over the board.
        radius_mm: of the ball.
        color: blue, green, red.
    """

    place_mm: tuple[float, float, float]
    radius_mm: float
    color: tuple[float, float, float]


class PastedBodies:
    """Bodies for the figures of one clip.

    Args:
        camera: of the clip.
        seed: of all bodies; the same figure has the same body in every frame.
    """

    def __init__(self, camera: Camera, seed: int) -> None:
        self._camera, self._seed = camera, seed
        self._bodies: dict[str, tuple[_Ball, ...]] = {}
        self._shirts = np.random.default_rng([seed, 0]).uniform(0, 255, (2, 2, 3))  # by team: shirt, helmet

    def paint(self, frame: Frame, true: Scene) -> Frame:
        """Return a frame with other bodies on all figures that stand.

        Args:
            frame: of the clip.
            true: where its figures are.
        """
        image = frame.image.copy()
        balls = []
        for figure in true.figures:
            if figure.posture == "upright":
                balls += [(figure, ball) for ball in self._body(figure)]
        balls.sort(key=lambda one: one[1].place_mm[2] + one[1].radius_mm)
        centers = np.array([_on_board(figure, ball.place_mm) for figure, ball in balls]).reshape(-1, 3)
        beside = centers + np.array([[ball.radius_mm, 0.0, 0.0] for _, ball in balls]).reshape(-1, 3)
        places, edges = self._camera.to_pixels(centers), self._camera.to_pixels(beside)
        radii = np.linalg.norm(edges - places, axis=1)
        for (_, ball), place, radius in zip(balls, places, radii.tolist(), strict=True):
            _paint_ball(image, place, radius, ball.color)
        return dataclasses.replace(frame, image=image)

    def _body(self, figure: Figure) -> tuple[_Ball, ...]:
        """The body of a figure, drawn at random the first time."""
        if figure.id not in self._bodies:
            named = [ord(letter) for letter in figure.id]
            rng = np.random.default_rng([self._seed, *named])
            shirt, helmet = self._shirts[int(figure.jersey == "light")]
            self._bodies[figure.id] = _draw_body(rng, tuple(shirt.tolist()), tuple(helmet.tolist()))
        return self._bodies[figure.id]


def _draw_body(
    rng: np.random.Generator, shirt: tuple[float, float, float], helmet: tuple[float, float, float]
) -> tuple[_Ball, ...]:
    """Draw a body: it leans anywhere, a quarter of them far, and arms reach over the front, the sides, or behind."""
    lean = rng.normal(0, (5.0, 3.0)) * rng.choice([1.0, 1.0, 1.0, 2.5])
    skin = _SKINS[rng.integers(len(_SKINS))]
    pants = tuple(rng.uniform(0, 255, 3).tolist())
    out = [_Ball((rng.uniform(-6, 4), side * rng.uniform(2, 5), 7.0), rng.uniform(2.5, 4), pants) for side in (-1, 1)]
    for step in (0.4, 0.7, 1.0):
        at = step * lean
        out.append(_Ball((at[0], at[1], 10 + 14 * step), rng.uniform(4.0, 6.5), shirt))
    for side in (-1, 1):
        shoulder = np.array([lean[0], lean[1] + side * rng.uniform(5, 8), 25.0])
        hand = shoulder + np.array([rng.uniform(-10, 18), side * rng.uniform(-4, 9), rng.uniform(-12, 4)])
        for share in (0.0, 0.35, 0.7, 1.0):
            x, y, z = (shoulder + share * (hand - shoulder)).tolist()
            out.append(_Ball((x, y, z), rng.uniform(2.0, 3.6), shirt if share < 0.5 else skin))
    head = lean * rng.uniform(1.0, 2.2)
    out.append(_Ball((head[0], head[1], rng.uniform(29, 36)), rng.uniform(4.5, 7.0), helmet))
    return tuple(out)


def _on_board(figure: Figure, place_mm: tuple[float, float, float]) -> tuple[float, float, float]:
    """A place of a figure's body, in board millimeters."""
    ahead, left, height = place_mm
    turn = np.radians(figure.heading_deg)
    cos, sin = float(np.cos(turn)), float(np.sin(turn))
    return figure.x_mm + cos * ahead - sin * left, figure.y_mm + sin * ahead + cos * left, height


def _paint_ball(image: Image, place_px: Array, radius_px: float, color: tuple[float, float, float]) -> None:
    """Paint a shaded ball in place; a place behind the camera is left out."""
    if not np.isfinite(place_px).all():
        return
    for share, brightness, toward in _SHINE:
        x, y = (16 * (place_px + toward * radius_px * _LIGHT)).round().astype(int).tolist()
        shade = [min(255.0, brightness * channel) for channel in color]
        cv2.circle(image, (x, y), max(round(16 * share * radius_px), 1), shade, -1, cv2.LINE_AA, shift=4)
