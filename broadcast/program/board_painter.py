"""Paints shapes on the board in a picture as if they were printed: under the figures, in the board's own light.

Which pixels are figures: their bases by their poses, their players by what differs from the board. A shadow darkens
all colors alike and is no figure; what is painted is darkened with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.broadcast.program.board_shapes import BoardShape
from downfield.broadcast.program.empty_board import (
    CONTINUED,
    DOUBTFUL,
    SEEN,
    UNSURE,
    EmptyBoard,
    PictureMotion,
    Plane,
    moved_part,
)
from downfield.broadcast.program.figure_volume import Box, FigureVolume, figure_volumes
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel
from downfield.core.scene import Player, Scene

_SHIFT: Final = 4  # fractional bits of the coordinates that OpenCV draws at
_WHOLE: Final = 239  # the board's light as a gray level: what is brighter than white stays paint
_DARKEST: Final = 56  # shadows stay readable


@dataclass(frozen=True, slots=True)
class MatteThresholds:
    """What tells a figure from the board and from a shadow."""

    differs: float = 20.0  # Gray levels by which a figure differs from the board in one color at least
    tint: float = 0.17  # A shadow leaves about the same share of every color: within this,
    tint_levels: float = 10.0  # or within so many gray levels: compressed colors bleed
    darkest: float = 0.33  # It leaves at least this share of the light,
    brightest: float = 1.06  # and adds none
    edge: float = 0.5  # At its edge it differs at least by this share of what it does a pixel farther inside
    close: float = 0.004  # Gaps in a figure this narrow, of the picture's height, are part of it


THRESHOLDS: Final = MatteThresholds()

_FEW: Final = 16  # So few pixels of a board that was not seen are not looked at twice

_APIECE_PX: Final = 4000  # Comparing one more box takes as long as so many more pixels

_INNER: Final = np.ones((5, 5), np.uint8)
_NEXT: Final = np.ones((3, 3), np.uint8)

_INSIDE: Final = 180.0  # A share of the light as a gray level; brighter than 1.4 times the board is as bright

_TINTS: Final = np.clip(_INSIDE * (THRESHOLDS.tint + THRESHOLDS.tint_levels / (np.arange(256) + 12)), 0, 255).astype(
    np.uint8
)
"""Greatest difference of a shadow's shares by the darkest color of the board: of dark colors they are noisy."""


def covered(image: Image, board: EmptyBoard, move: Array | None, volumes: Sequence[FigureVolume]) -> Plane:
    """Return how much of each pixel a figure covers, 0..255, shape (height, width).

    Args:
        image: uint8 BGR.
        move: of the board's pixels; None where the camera stands still.
    """
    out = np.zeros(image.shape[:2], np.uint8)
    for box, group in _groups(volumes):
        left, top, right, bottom = box
        part = out[top:bottom, left:right]
        cv2.max(part, _matte(image, board, move, group, box), dst=part)
    return out


def _groups(volumes: Sequence[FigureVolume]) -> list[tuple[Box, list[FigureVolume]]]:
    """Return figures that are compared at once, with the box around them: those whose boxes share much."""
    out: list[tuple[Box, list[FigureVolume]]] = []
    for volume in volumes:
        box, group = volume.box, [volume]
        place = 0
        while place < len(out):
            other, others = out[place]
            whole = (min(box[0], other[0]), min(box[1], other[1]), max(box[2], other[2]), max(box[3], other[3]))
            if _area(whole) <= _area(box) + _area(other) + _APIECE_PX:
                del out[place]
                box, group, place = whole, group + others, 0
            else:
                place += 1
        out.append((box, group))
    return out


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _matte(image: Image, board: EmptyBoard, move: Array | None, volumes: Sequence[FigureVolume], box: Box) -> Plane:
    left, top, right, bottom = box
    shape = (bottom - top, right - left)
    now = image[top:bottom, left:right]
    reach = _filled(shape, [one.reach_px for one in volumes], box)
    body = _filled(shape, [one.body_px for one in volumes], box)
    base = _filled(shape, [one.base_px for one in volumes], box)
    known = moved_part(board.known, move, box)
    inner = _above(cv2.erode(body, _INNER), 254)
    different = _differs(now, moved_part(board.image, move, box), inner)
    unseen = cv2.min(cv2.min(different, reach), cv2.inRange(known, (0,), (SEEN - 8,)))
    if guessed := cv2.countNonZero(unseen) > _FEW:
        unseen = cv2.min(unseen, cv2.bitwise_not(base))
        for other, most in zip(board.others, (CONTINUED - 8, UNSURE - 8), strict=True):
            unsure = cv2.min(cv2.min(unseen, different), cv2.inRange(known, (1,), (most,)))
            if cv2.countNonZero(unsure) > _FEW:
                x, y, wide, high = cv2.boundingRect(unsure)
                inside = (slice(y, y + high), slice(x, x + wide))
                printed = moved_part(other, move, (left + x, top + y, left + x + wide, top + y + high))
                cv2.copyTo(_differs(now[inside], printed, inner[inside]), unsure[inside], different[inside])
    solid = cv2.morphologyEx(cv2.medianBlur(different, 3), cv2.MORPH_CLOSE, _disk(THRESHOLDS.close * image.shape[0]))
    if guessed:
        # What differs from a board that was never seen is a figure only if it hangs together with one.
        apart = cv2.min(cv2.bitwise_not(_touching(solid, cv2.max(base, body))), cv2.inRange(known, (0,), (SEEN - 1,)))
        solid = cv2.subtract(solid, apart)
    # Where nothing is known of the board, a figure is as large as its body.
    found = cv2.copyTo(body, cv2.inRange(known, (0,), (DOUBTFUL - 1,)), solid)
    soft = cv2.GaussianBlur(cv2.min(found, reach), (3, 3), 0)
    return np.asarray(cv2.max(soft, base), dtype=np.uint8)


@cache
def _disk(size_px: float) -> Any:
    """Return a round kernel, of an odd size of 3 at least."""
    size = max(3, round((size_px - 1) / 2) * 2 + 1)
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))


def _touching(found: Any, core: Any) -> Plane:
    """Return those blobs of a plane that touch a core."""
    _, labels = cv2.connectedComponents(found)
    kept = np.zeros(labels.max() + 1, np.uint8)
    kept[labels[core > 0]] = 255
    kept[0] = 0
    return kept[labels]


def _differs(now: Image, before: Image, body: Plane) -> Plane:
    """Return 255 where a picture shows something else than the board before, lit or in shadow.

    Args:
        body: 255 where bodies stand: only there is a figure what is too dark for a shadow; arms seldom are.
    """
    away = _greatest(cv2.split(cv2.absdiff(now, before)))
    seen, empty = (cv2.add(one, np.full_like(one, 4)) for one in (now, before))
    shares = cv2.split(cv2.divide(seen, empty, scale=_INSIDE))
    low, high = _least(shares), _greatest(shares)
    darkest = _least(cv2.split(before))
    tinted = _above(cv2.subtract(high, cv2.add(low, cv2.LUT(darkest, _TINTS))), 0)
    dark = cv2.bitwise_and(cv2.bitwise_not(_above(low, THRESHOLDS.darkest * _INSIDE)), body)
    no_shadow = cv2.bitwise_or(cv2.bitwise_or(tinted, dark), _above(high, THRESHOLDS.brightest * _INSIDE))
    # Edges are blurred, colors more than light: where it differs less than half as much as beside is no figure yet.
    beside = cv2.convertScaleAbs(cv2.dilate(away, _NEXT), alpha=THRESHOLDS.edge)
    sharp = cv2.compare(away, beside, cv2.CMP_GE)
    return np.asarray(cv2.min(cv2.bitwise_and(_above(away, THRESHOLDS.differs), no_shadow), sharp), dtype=np.uint8)


def _above(plane: Any, level: float) -> Plane:
    """Return 255 where a plane is above a level."""
    return np.asarray(cv2.threshold(plane, level, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)


def _greatest(planes: Sequence[Any]) -> Plane:
    return np.asarray(cv2.max(cv2.max(planes[0], planes[1]), planes[2]), dtype=np.uint8)


def _least(planes: Sequence[Any]) -> Plane:
    return np.asarray(cv2.min(cv2.min(planes[0], planes[1]), planes[2]), dtype=np.uint8)


def _filled(shape: tuple[int, int], outlines_px: Sequence[Array], box: Box) -> Plane:
    """Return 255 inside any of some convex outlines in a part of the picture, soft at the edges."""
    out = np.zeros(shape, np.uint8)
    for outline in outlines_px:
        if len(outline):
            points = np.round((outline - box[:2]) * (1 << _SHIFT)).astype(np.int32)
            cv2.fillConvexPoly(out, points, 255, cv2.LINE_AA, _SHIFT)
    return out


@dataclass(frozen=True, slots=True)
class PaintedPicture:
    """A picture with paint on its board."""

    image: Image  # uint8 BGR, shape (height, width, 3)
    volumes: Mapping[str, FigureVolume]  # what the figures in it cover, by roster id
    move: Array | None  # of the calibration's pixels; None where the camera stands still
    camera: Camera  # where it is


class BoardPainter:
    """Paints on the pictures of one camera."""

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
