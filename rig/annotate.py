"""The camera's picture with what Downfield knows drawn on it: footprints, contacts, the line and the line to gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.field import FieldModel
from downfield.vision.scene import Figure, Player, Scene

Image = NDArray[np.uint8]
Colour = tuple[int, int, int]

_LINE: Colour = (230, 120, 40)  # blue green red, as broadcasts colour them
_TO_GAIN: Colour = (40, 215, 250)
_DARK: Colour = (255, 150, 60)
_LIGHT: Colour = (240, 240, 240)
_CARRIER: Colour = (60, 220, 255)
_FALLEN: Colour = (60, 60, 230)
_CONTACT: Colour = (40, 40, 250)
_SHIFT = 4
_LINE_POINTS = 24  # a lens bends straight lines


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn besides the figures.

    Attributes:
        los_yd, to_gain_yd: lines across the field; None for none.
        carrier: roster id of who has the ball.

    """

    los_yd: float | None = None
    to_gain_yd: float | None = None
    carrier: str | None = None


class Annotator:
    """Draws on pictures of one camera.

    Args:
        camera: lens and pose.
        field: the printed field.
        players: the roster, for base heights.

    """

    def __init__(self, camera: Camera, field: FieldModel, players: tuple[Player, ...]) -> None:
        self._camera = camera
        self._field = field
        self._height_mm: Mapping[str, float] = {player.id: player.base.height_mm for player in players}

    def draw(self, image: Image, scene: Scene, also: Drawn) -> Image:
        """A copy of the picture, drawn on."""
        out = image.copy()
        thick = max(1, round(image.shape[0] / 540))
        for x_yd, colour in ((also.los_yd, _LINE), (also.to_gain_yd, _TO_GAIN)):
            if x_yd is not None:
                self._yard_line(out, x_yd, colour, 2 * thick)
        places = {}
        for figure in scene.figures:
            corners = self._corners_px(figure)
            places[figure.id] = corners.mean(axis=0)
            colour = _colour(figure, also.carrier)
            _polygon(out, corners, colour, thick)
            middle_front = corners[:2].mean(axis=0)
            _path(out, np.array([places[figure.id], middle_front]), colour, thick)
        for contact in scene.contacts:
            if contact.since_ns is not None and contact.a in places and contact.b in places:
                between = (places[contact.a] + places[contact.b]) / 2
                cv2.circle(out, _fixed(between), 5 * thick << _SHIFT, _CONTACT, thick, cv2.LINE_AA, _SHIFT)
        return out

    def _corners_px(self, figure: Figure) -> NDArray[np.float64]:
        height = np.full((4, 1), self._height_mm.get(figure.id, 0.0) if figure.posture == "upright" else 0.0)
        return self._camera.to_pixels(np.concatenate([figure.footprint.corners_mm(), height], axis=1))

    def _yard_line(self, out: Image, x_yd: float, colour: Colour, thick: int) -> None:
        across = np.linspace(0, self._field.width_yd, _LINE_POINTS)
        points = self._field.to_mm(np.stack([np.full(_LINE_POINTS, x_yd), across], axis=1))
        _path(out, self._camera.to_pixels(points), colour, thick)


def _colour(figure: Figure, carrier: str | None) -> Colour:
    if figure.posture == "fallen":
        return _FALLEN
    if figure.id == carrier:
        return _CARRIER
    return _DARK if figure.jersey == "dark" else _LIGHT


def _polygon(out: Image, points_px: NDArray[np.float64], colour: Colour, thick: int) -> None:
    _path(out, np.concatenate([points_px, points_px[:1]]), colour, thick)


def _path(out: Image, points_px: NDArray[np.float64], colour: Colour, thick: int) -> None:
    if np.isfinite(points_px).all():
        fixed = np.round(points_px * (1 << _SHIFT)).astype(np.int32)
        cv2.polylines(out, [fixed.reshape(-1, 1, 2)], False, colour, thick, cv2.LINE_AA, _SHIFT)


def _fixed(point: NDArray[np.float64]) -> tuple[int, int]:
    x, y = np.round(point * (1 << _SHIFT)).astype(int)
    return int(x), int(y)
