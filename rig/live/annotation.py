"""The camera's picture with what Downfield knows drawn on it: footprints, contacts, the line and the line to gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.field import FieldModel
from downfield.core.scene import Figure, Player, Scene

Points = NDArray[np.float64]
Color = tuple[int, int, int]

_LINE: Color = (230, 120, 40)  # blue green red, as broadcasts color them
_TO_GAIN: Color = (40, 215, 250)
_DARK: Color = (255, 150, 60)
_LIGHT: Color = (240, 240, 240)
_CARRIER: Color = (60, 220, 255)
_FALLEN: Color = (60, 60, 230)
_CONTACT: Color = (40, 40, 250)
SHIFT = 4  # bits of a pixel's parts
_LINE_POINTS = 24  # a lens bends straight lines


@dataclass(frozen=True, slots=True)
class Overlay:
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
        self.field = field
        self._height_mm: Mapping[str, float] = {player.id: player.base.height_mm for player in players}

    def draw(self, image: Image, scene: Scene, also: Overlay) -> Image:
        """A copy of the picture, drawn on."""
        out = image.copy()
        thick = max(1, round(image.shape[0] / 540))
        for x_yd, color in ((also.los_yd, _LINE), (also.to_gain_yd, _TO_GAIN)):
            if x_yd is not None:
                self.yard_line(out, x_yd, color, 2 * thick)
        places = {}
        for figure, corners in zip(scene.figures, self.corners_px(scene.figures), strict=True):
            places[figure.id] = corners.mean(axis=0)
            color = _color(figure, also.carrier)
            outline(out, corners, color, thick)
            middle_front = corners[:2].mean(axis=0)
            path(out, np.array([places[figure.id], middle_front]), color, thick)
        for contact in scene.contacts:
            if contact.since_ns is not None and contact.a in places and contact.b in places:
                between = (places[contact.a] + places[contact.b]) / 2
                cv2.circle(out, fixed(between), 5 * thick << SHIFT, _CONTACT, thick, cv2.LINE_AA, SHIFT)
        return out

    def corners_px(self, figures: Sequence[Figure]) -> Points:
        """The corners of bases' tops in the picture: front-left, front-right, rear-right, rear-left; (n, 4, 2)."""
        corners_mm = np.array([figure.footprint.corners_mm() for figure in figures]).reshape(-1, 4, 2)
        return self.points_px(corners_mm, np.array([self.height_mm(figure) for figure in figures])[:, None])

    def height_mm(self, figure: Figure) -> float:
        """How high what is seen of a figure's base is over the board."""
        return self._height_mm.get(figure.id, 0.0) if figure.posture == "upright" else 0.0

    def points_px(self, points_mm: Points, height_mm: Points | float) -> Points:
        """Points at heights over the board in the picture, shape (..., 2) both; NaN where the camera can't see."""
        heights_mm = np.broadcast_to(height_mm, points_mm.shape[:-1])
        return self._camera.to_pixels(np.concatenate([points_mm, heights_mm[..., None]], axis=-1))

    def yard_line(self, out: Image, x_yd: float, color: Color, thick: int) -> None:
        """A line across the field."""
        x_mm = x_yd * self.field.mm_per_yd_x
        self.board_line(out, (x_mm, 0.0), (x_mm, self.field.width_mm), color, thick)

    def board_line(
        self, out: Image, start_mm: tuple[float, float], end_mm: tuple[float, float], color: Color, thick: int
    ) -> None:
        """A line on the board."""
        path(out, self.points_px(np.linspace(start_mm, end_mm, _LINE_POINTS), 0.0), color, thick)


def _color(figure: Figure, carrier: str | None) -> Color:
    if figure.posture == "fallen":
        return _FALLEN
    if figure.id == carrier:
        return _CARRIER
    return _DARK if figure.jersey == "dark" else _LIGHT


def outline(out: Image, points_px: Points, color: Color, thick: int) -> None:
    """A closed path, drawn on a picture."""
    path(out, np.concatenate([points_px, points_px[:1]]), color, thick)


def path(out: Image, points_px: Points, color: Color, thick: int) -> None:
    """A path, drawn on a picture; nothing when the camera can't see all of it."""
    if np.isfinite(points_px).all():
        at = np.round(points_px * (1 << SHIFT)).astype(np.int32)
        cv2.polylines(out, [at.reshape(-1, 1, 2)], False, color, thick, cv2.LINE_AA, SHIFT)


def fixed(point: Points) -> tuple[int, int]:
    """A place in the picture as OpenCV draws at, in parts of a pixel."""
    x, y = np.round(point * (1 << SHIFT)).astype(int)
    return int(x), int(y)
