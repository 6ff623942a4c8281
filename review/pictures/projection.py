"""Where places on the board are in the camera's picture, and that picture as seen from straight above.

A view from above is the frame warped to a plane parallel to the board, to scale: the plane of the base tops, or the
painted surface. What stands at another height lies where the camera sees it through that plane, as parallax has it;
drawings are projected like that as well, so that they lie on what they belong to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Bools, Image
from downfield.core.field.model import FieldModel
from downfield.core.records import record
from downfield.core.scene import Figure, Player
from downfield.game.published.board_topics import PictureView

Point = tuple[float, float]
Outline = tuple[Point, ...]

_DIGITS: Final = 2  # of places, mm and pixels


@record
class Place:
    """A point of a drawing.

    Attributes:
        mm: on the board.
        px: in the camera's picture; None without a calibration, or out of its view.
        above: on the plane of the view from above, where the camera sees it through that plane, mm; None without one.
    """

    mm: Point
    px: Point | None
    above: Point | None = None


class Projection:
    """Puts places on the board into the camera's picture.

    Args:
        calibration: of the picture; None for none.
        players: the roster, for base heights.
        plane_mm: height over the board of the plane of a view from above; None for no such view.
        field: the printed field, where no calibration has it; None where it is not known.
    """

    def __init__(
        self,
        calibration: Calibration | None,
        players: Sequence[Player],
        plane_mm: float | None = None,
        field: FieldModel | None = None,
    ) -> None:
        self._plane_mm = plane_mm
        self.field = field if calibration is None else calibration.field
        self._camera = None if calibration is None else calibration.camera
        self._heights_mm = {player.id: player.base.height_mm for player in players}

    def height_mm(self, figure: Figure) -> float:
        """Return the height over the board at which a figure's base is seen."""
        return self._heights_mm.get(figure.id, 0.0) if figure.posture == "upright" else 0.0

    def places(self, points_mm: Array, heights_mm: Array) -> list[Place]:
        """Return places on the board, shape (n, 2), at heights over it, shape (n,)."""
        on_board = map(tuple, np.round(points_mm, _DIGITS).tolist())
        pixels, above = self._projected(points_mm, heights_mm)
        return [Place(*place) for place in zip(on_board, _points(pixels), _points(above), strict=True)]

    def outlines(self, corners_mm: Array, heights_mm: Array) -> Iterator[tuple[Outline, Outline, Outline]]:
        """Yield for each base its corners on the board, in the picture and on the plane of the view from above.

        Args:
            corners_mm: of all bases, shape (n, 4, 2).
            heights_mm: over the board, shape (n,).
        """
        projected = self._projected(corners_mm.reshape(-1, 2), np.repeat(heights_mm, 4))
        pixels, above = (points.reshape(-1, 4, 2) for points in projected)
        return zip(_outlines(corners_mm), _outlines(pixels), _outlines(above), strict=True)

    def _projected(self, points_mm: Array, heights_mm: Array) -> tuple[Array, Array]:
        """Return points in the picture and on the plane of the view from above, shape (n, 2); NaN where unseen."""
        pixels = above = np.full(points_mm.shape, np.nan)
        if self._camera is not None and len(points_mm):
            pixels = self._camera.to_pixels(np.column_stack([points_mm, heights_mm]))
            if self._plane_mm is not None:
                above = self._camera.to_board(pixels, self._plane_mm)
        return pixels, above


def _points(points: Array) -> list[Point | None]:
    """Return points, shape (n, 2); None for one out of view."""
    seen: Bools = np.asarray(np.isfinite(points).all(axis=1))
    rounded = np.round(points, _DIGITS).tolist()
    return [(x, y) if is_seen else None for (x, y), is_seen in zip(rounded, seen.tolist(), strict=True)]


def _outlines(corners: Array) -> list[Outline]:
    """Return corners of bases, shape (n, 4, 2); none of a base of which one is out of view."""
    seen: Bools = np.asarray(np.isfinite(corners).all(axis=(1, 2)))
    rounded = np.round(corners, _DIGITS).tolist()
    return [tuple(map(tuple, four)) if is_seen else () for four, is_seen in zip(rounded, seen.tolist(), strict=True)]


_CELL_PX: Final = 16
"""The camera is evaluated exactly at every 16th pixel and linearly between: 0.01 px off at most, 100 times faster."""

_QUICK_CELL_PX: Final = 40  # for moving pictures: some hundredths of a pixel off

_OUTSIDE: Final = (24, 20, 16)  # where the camera saw nothing


def picture_view(camera: Camera, field: FieldModel) -> PictureView:
    """Return where the board of a field lies in a camera's picture: the homography that fits a grid over the board."""
    left, bottom, right, top = field.board_mm
    grid_mm = np.stack(np.meshgrid(np.linspace(left, right, 9), np.linspace(bottom, top, 9)), axis=-1).reshape(-1, 2)
    px = camera.to_pixels(grid_mm)
    seen = np.isfinite(px).all(axis=1)
    to_picture, _ = cv2.findHomography(grid_mm[seen], px[seen] / camera.lens.size_px)
    return PictureView.model_validate({"to_picture": to_picture.ravel().tolist(), "size": camera.lens.size_px})


@dataclass(frozen=True, slots=True)
class BoardRegion:
    """A part of the board, axis-parallel, to be seen from above; x to the right and y up."""

    # x_mm, y_mm: its lower left corner
    x_mm: float
    y_mm: float
    # width_mm, height_mm: its size
    width_mm: float
    height_mm: float
    px_per_mm: float  # scale of the picture
    plane_mm: float = 0.0  # height of the plane over the printed surface

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the picture; even, as video needs."""
        width, height = (round(length * self.px_per_mm / 2) * 2 for length in (self.width_mm, self.height_mm))
        return max(2, width), max(2, height)

    def board_mm(self, px: Array) -> Array:
        """Return where pixels of the picture from above are on the plane, shape (n, 2) both."""
        x, y = (np.asarray(px, dtype=np.float64) + 0.5).T / self.px_per_mm
        return np.stack([self.x_mm + x, self.y_mm + self.height_mm - y], axis=1)

    def pixels(self, board_mm: Array) -> Array:
        """Return the pixels of the picture from above for places on the plane, shape (n, 2) both."""
        x, y = np.asarray(board_mm, dtype=np.float64).T
        away = np.stack([x - self.x_mm, self.y_mm + self.height_mm - y], axis=1)
        return np.asarray(away * self.px_per_mm - 0.5, dtype=np.float64)


def rectify(image: Image, camera: Camera, region: BoardRegion, *, quick: bool = False) -> Image:
    """Return a region of the board as seen from straight above.

    Args:
        image: the camera's picture, uint8 BGR, shape (height, width, 3).
        quick: whether it is one of many pictures that are seen for a moment: three times as fast, a little softer.
    """
    width, height = region.size_px
    both = board_map(camera, region, _QUICK_CELL_PX if quick else _CELL_PX)[:height, :width]
    # One map of both x and y: with an empty array as the second one, linear interpolation reads beyond it on some
    # processors; OpenCV's types do not allow None.
    out = cv2.remap(  # type: ignore[call-overload]
        image,
        both,
        None,
        cv2.INTER_LINEAR if quick else cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=_OUTSIDE,
    )
    return np.asarray(out, dtype=np.uint8)


def board_map(camera: Camera, region: BoardRegion, cell_px: int = _CELL_PX) -> NDArray[np.float32]:
    """Return x and y in the camera's picture for every pixel from above, shape (height, width, 2) or larger.

    Args:
        cell_px: at every so many pixels the camera is evaluated exactly.
    """
    width, height = region.size_px
    columns, rows = (-(-length // cell_px) for length in (width, height))
    # One cell more on each side: between the outermost pixels and the knots there is nothing to interpolate.
    at_x, at_y = (np.arange(-1, count + 1) * cell_px + (cell_px - 1) / 2 for count in (columns, rows))
    knots = np.stack(np.meshgrid(at_x, at_y), axis=-1).reshape(-1, 2)
    board = region.board_mm(knots)
    pixels = camera.to_pixels(np.column_stack([board, np.full(len(board), region.plane_mm)]))
    coarse = np.nan_to_num(pixels, nan=-1e6).astype(np.float32).reshape(rows + 2, columns + 2, 2)
    size = ((columns + 2) * cell_px, (rows + 2) * cell_px)
    fine = cv2.resize(coarse, size, interpolation=cv2.INTER_LINEAR)
    return np.asarray(fine[cell_px:, cell_px:], dtype=np.float32)  # a view: to copy takes as long as to make it
