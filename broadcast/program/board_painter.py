"""Paints shapes on the board in a picture as if they were printed: under the figures, in the board's own light."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.broadcast.program.board_shapes import BoardShape
from downfield.broadcast.program.empty_board import SEEN, EmptyBoard
from downfield.broadcast.program.figure_volume import Box, FigureVolume, figure_volumes
from downfield.broadcast.program.occlusion import covered
from downfield.broadcast.program.picture_motion import PictureMotion, moved_part
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel
from downfield.core.scene import Player, Scene

Plane = NDArray[np.uint8]
"""One value a pixel, shape (height, width)."""

_SHIFT: Final = 4  # fractional bits of the coordinates that OpenCV draws at
_WHOLE: Final = 239  # the board's light as a gray level: what is brighter than white stays paint
_DARKEST: Final = 56  # shadows stay readable


@dataclass(frozen=True, slots=True)
class PaintedPicture:
    """A picture with paint on its board.

    Attributes:
        image: uint8 BGR, shape (height, width, 3).
        volumes: what the figures in it cover, by roster id.
        move: of the calibration's pixels; None where the camera stands still.
        camera: where it is.
    """

    image: Image
    volumes: Mapping[str, FigureVolume]
    move: Array | None
    camera: Camera


class BoardPainter:
    """Paints on the pictures of one camera.

    Args:
        camera: as calibrated.
    """

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        self._reference = camera
        self._motion = PictureMotion(camera, field)
        self._board = EmptyBoard(camera, field)
        self._players: Sequence[Player] = ()
        self._base_mm: dict[str, float] = {}

    def use_roster(self, players: Sequence[Player]) -> None:
        """Take the heights of the bases from a roster."""
        if players is not self._players:
            self._players = players
            self._base_mm = {player.id: player.base.height_mm for player in players}

    def paint(
        self, image: Image, scene: Scene, shapes: Sequence[BoardShape], camera: Camera | None = None
    ) -> PaintedPicture:
        """Return a copy of a picture with shapes painted on its board.

        Args:
            image: the picture, uint8 BGR, of the calibration's size.
            scene: what was seen in it.
            shapes: what is painted, in order.
            camera: where it is in this picture; None for as calibrated.
        """
        camera = camera or self._reference
        move = self._motion.to(camera)
        volumes = figure_volumes(scene.figures, self._base_mm, camera)
        if self._board.is_due(scene.t_ns) and not scene.hands and not any(one.lost for one in scene.figures):
            self._board.learn(image, scene.t_ns, move, list(volumes.values()))
        masks = [(shape, *made) for shape in shapes if (made := _mask(shape, camera)) is not None]
        boxes = [box for _, box, _ in masks]
        near = [one for one in volumes.values() if any(_meet(one.box, box) for box in boxes)]
        hidden = covered(image, self._board, move, near)
        for hand in scene.hands:
            outline = camera.to_pixels(np.array([(*point, 0.0) for point in hand.outline_mm]))
            if np.isfinite(outline).all():
                cv2.fillPoly(hidden, [np.round(outline).astype(np.int32)], 255)
        out = image.copy()
        for shape, box, mask in masks:
            free = cv2.multiply(mask, cv2.bitwise_not(_part(hidden, box)), scale=1 / 255)
            self._blend(out, image, shape, box, np.asarray(free, dtype=np.uint8), move)
        return PaintedPicture(out, volumes, move, camera)

    def _blend(self, out: Image, image: Image, shape: BoardShape, box: Box, mask: Plane, move: Array | None) -> None:
        part = _part(out, box)
        # What the board darkens by since it was learned is a shadow, and falls on the paint as well.
        green = cv2.extractChannel(_part(image, box), 1)
        before = cv2.extractChannel(moved_part(self._board.image, move, box), 1)
        known = moved_part(self._board.known, move, box)
        seen, empty = (cv2.add(one, np.full_like(one, 8)) for one in (green, before))
        shade = cv2.max(cv2.divide(seen, empty, scale=_WHOLE), np.full_like(green, _DARKEST))
        shade = np.where(known == SEEN, shade, np.uint8(_WHOLE))
        lit = cv2.multiply(cv2.blur(shade, (3, 3)), self._board.light(box), scale=1 / 255)
        paint = cv2.merge([cv2.convertScaleAbs(lit, alpha=value / _WHOLE) for value in shape.color])
        share = mask.astype(np.float32) * np.float32(shape.opacity / 255)
        cv2.blendLinear(paint, part, share, 1 - share, dst=part)


def _mask(shape: BoardShape, camera: Camera) -> tuple[Box, Plane] | None:
    """Return the box that a shape covers in the picture and its coverage there; None where it is out of view."""
    width, height = camera.lens.size_px
    outlines = [camera.to_pixels(np.column_stack([one, np.zeros(len(one))])) for one in shape.outlines_mm]
    points = np.concatenate(outlines)
    if not np.isfinite(points).all():
        return None
    left, top = np.floor(points.min(axis=0)).astype(int).tolist()
    right, bottom = (np.ceil(points.max(axis=0)).astype(int) + 2).tolist()
    box = (max(0, left - 1), max(0, top - 1), min(width, right), min(height, bottom))
    if box[0] >= box[2] or box[1] >= box[3]:
        return None
    mask = np.zeros((box[3] - box[1], box[2] - box[0]), np.uint8)
    fixed = [np.round((one - box[:2]) * (1 << _SHIFT)).astype(np.int32) for one in outlines]
    cv2.fillPoly(mask, fixed, 255, cv2.LINE_AA, _SHIFT)
    return box, mask


def _part(image: NDArray[np.uint8], box: Box) -> NDArray[np.uint8]:
    return image[box[1] : box[3], box[0] : box[2]]


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
