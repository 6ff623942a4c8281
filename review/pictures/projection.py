"""Places on the board, in the camera's picture and in a view from straight above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Array, Bools
from downfield.core.records import record
from downfield.core.scene import Figure, Player

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

    """

    def __init__(
        self, calibration: Calibration | None, players: Sequence[Player], plane_mm: float | None = None
    ) -> None:
        self._plane_mm = plane_mm
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


def pixels_of(places: Sequence[Place]) -> Outline:
    """Return places in the picture; none if one of them is out of its view."""
    found = tuple(place.px for place in places if place.px is not None)
    return found if len(found) == len(places) else ()


def above_of(places: Sequence[Place]) -> Outline:
    """Return places on the plane of the view from above; none if one of them is not on it."""
    found = tuple(place.above for place in places if place.above is not None)
    return found if len(found) == len(places) else ()
