"""Pictures of the twin's table whose print was altered, each with the title and what refuses it.

For `refusals_page.py`: what speaks against a solution needs another print, not another camera.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.field.proposal import propose_field
from downfield.calibration.field.solver import solve_field
from downfield.core.arrays import Image
from downfield.core.field.model import FieldModel

Box = tuple[float, float, float, float]
"""Least x and y, largest x and y, field yards."""
RefusedPicture = tuple[str, Image, Callable[[Image], object]]
"""Title, picture, and what refuses it."""

_STEP_YD = 0.5


@dataclass(frozen=True, slots=True)
class AlteredPrint:
    """A picture of a table, to paint on its board and to rub paint out.

    Attributes:
        image: blue green red.
        calibration: of its camera.
    """

    image: Image
    calibration: Calibration

    def painted(self, boxes: Iterable[Box], color: tuple[int, int, int] | None = None) -> AlteredPrint:
        """Return it with boxes of a color on the board; of the yard lines' color when None."""
        image = self.image.copy()
        for box in boxes:
            cv2.fillPoly(image, [self._outline(box)], color or self._paint(), cv2.LINE_AA, 4)
        return dataclasses.replace(self, image=image)

    def _outline(self, box: Box) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
        """Return the outline of a box in the picture, sixteenths of a pixel, shape (n, 2)."""
        x0, y0, x1, y1 = box
        corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        places = np.concatenate(
            [
                np.linspace(a, b, max(2, round(max(abs(b[0] - a[0]), abs(b[1] - a[1])) / _STEP_YD)))
                for a, b in zip(corners, corners[1:] + corners[:1], strict=True)
            ]
        )
        px = self.calibration.camera.to_pixels(self.calibration.field.to_mm(places))
        return np.rint(16 * px).astype(np.int32)

    def _paint(self) -> tuple[int, int, int]:
        """Return the color of the yard lines where they cross the middle of the field."""
        field = self.calibration.field
        places = np.array([(x, field.width_yd / 2) for x in field.yard_lines_yd()])
        x, y = np.rint(self.calibration.camera.to_pixels(field.to_mm(places))).astype(int).T
        blue, green, red = np.median(self.image[y, x], axis=0).astype(int).tolist()
        return blue, green, red


def refused_prints(image: Image, calibration: Calibration) -> dict[str, RefusedPicture]:
    """Return what is refused for its print, by name.

    Args:
        image: a table of a bundled print.
        calibration: of its camera.
    """
    board, field = AlteredPrint(image, calibration), calibration.field
    rough = dataclasses.replace(field, name="my board", measured=False)
    marks = _marks(field)
    half_way = [(x0 + 0.5, y0, x1 + 0.5, y1) for x0, y0, x1, y1 in marks]

    def solve_roughly(picture: Image) -> object:
        return solve_field([picture], [rough])

    def read(picture: Image) -> object:
        return propose_field([picture])

    return {
        "halfway": ("Marks between the yards", board.painted(half_way).image, solve_roughly),
        "ends": ("Both sidelines are out of the picture", _without_sidelines(image), read),
    }


def _marks(field: FieldModel) -> list[Box]:
    """Return the one-yard marks of a field, the ticks along its sidelines too."""
    along, across = field.mm_per_yd
    return [
        (line.x_mm[0] / along, line.y_mm[0] / across, line.x_mm[1] / along, line.y_mm[1] / across)
        for line in field.lines()
        if line.kind == "hash"
    ]


def _without_sidelines(image: Image) -> Image:
    """Return the middle of the picture, a third of its height, on a bare table."""
    part = np.full_like(image, 110)
    third = image.shape[0] // 3
    part[third : 2 * third] = image[third : 2 * third]
    return part
