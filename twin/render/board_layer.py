"""The lowest layer of a picture: the printed board and the table it stands on, drawn straight through the lens.

The print is sampled once per pixel through the exact camera, which is sharper than a texture on a mesh.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.twin.appearance import Appearance
from downfield.twin.randomization.board_print import paint
from downfield.twin.render.lens_grid import lens_grid
from downfield.twin.render.surface import surface_mm

_FINER = 1.3  # texels per pixel: more would alias, fewer would blur
_FURTHEST_MM = 700.0  # width of the table painted beyond the board
_BOW_STEPS = 2


class BoardLayer:
    """The ground of one appearance, unlit."""

    def __init__(self, appearance: Appearance) -> None:
        self._appearance = appearance
        camera = appearance.camera
        self._px_per_mm = _FINER * max(camera.lens.focal_px) / max(float(camera.position_mm[2]), 1.0)
        self._image, self._origin_mm = self._paint_ground()
        self._drawn: tuple[Camera, Image] | None = None

    def draw(self, camera: Camera) -> Image:
        """Return the ground in a camera's picture, uint8 blue green red, shape (height, width, 3); read-only."""
        if self._drawn is None or self._drawn[0] != camera:
            self._drawn = (camera, self._sample(camera))
        return self._drawn[1]

    def _sample(self, camera: Camera) -> Image:
        grid = lens_grid(camera.lens)
        points = self._on_surface(grid.board_mm(camera), camera)
        x = (points[..., 0] - self._origin_mm[0]) * self._px_per_mm - 0.5
        y = (self._origin_mm[1] - points[..., 1]) * self._px_per_mm - 0.5
        maps = grid.pixel_map(np.nan_to_num(x, nan=-1e4), np.nan_to_num(y, nan=-1e4))
        edge = cv2.BORDER_REPLICATE
        return np.asarray(cv2.remap(self._image, *maps, cv2.INTER_LINEAR, borderMode=edge), dtype=np.uint8)

    def _on_surface(self, points: Array, camera: Camera) -> Array:
        """Return points where rays meet the board's plane, moved along the rays to its bowed surface."""
        bow_mm = self._appearance.board.bow_mm
        if not bow_mm:
            return points
        eye = camera.position_mm
        moved = points
        for _ in range(_BOW_STEPS):
            height = surface_mm(self._appearance.field, bow_mm, moved)
            moved = points + (eye[:2] - points) * (height / eye[2])[..., None]
        return moved

    def _paint_ground(self) -> tuple[Image, tuple[float, float]]:
        """Return board and table as one picture, and the board point of its upper left corner."""
        appearance, scale = self._appearance, self._px_per_mm
        board = paint(appearance.field, appearance.board, scale)
        high, wide = board.image.shape[:2]
        margins = [round(margin * scale) for margin in self._margins_mm()]
        left, below, right, above = margins
        table = self._table((high + above + below, wide + left + right))
        _darken_around(table, (left, above, wide, high), scale)
        table[above : above + high, left : left + wide] = board.image
        return table, (board.origin_mm[0] - left / scale, board.origin_mm[1] + above / scale)

    def _margins_mm(self) -> tuple[float, float, float, float]:
        """Return the picture's margins beyond the board, mm: toward low x, low y, high x, high y."""
        seen = lens_grid(self._appearance.camera.lens).board_mm(self._appearance.camera).reshape(-1, 2)
        low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
        x_low, y_low, x_high, y_high = self._appearance.field.board_mm
        sway = 20.0
        beyond = np.array([x_low - low[0], y_low - low[1], high[0] - x_high, high[1] - y_high]) + sway
        left, below, right, above = np.clip(beyond, 0, _FURTHEST_MM)
        return (float(left), float(below), float(right), float(above))

    def _table(self, shape: tuple[int, int]) -> Image:
        rng = np.random.default_rng([self._appearance.board.seed, 0x7AB1E])
        small = rng.standard_normal((shape[0] // 40 + 2, shape[1] // 8 + 2)).astype(np.float32)
        grain = cv2.resize(small, shape[::-1], interpolation=cv2.INTER_CUBIC)
        color = np.array(self._appearance.table[::-1]) * 255
        lit = color * (1 + 0.04 * np.asarray(grain)[:, :, None])
        return np.asarray(np.clip(lit, 0, 255), dtype=np.uint8)


def _darken_around(image: Image, box: tuple[int, int, int, int], scale: float) -> None:
    """Add the soft shade at the foot of the board, in place."""
    left, top, wide, high = box
    mask: NDArray[np.uint8] = np.zeros(image.shape[:2], dtype=np.uint8)
    mask[top : top + high, left : left + wide] = 150
    shade = cv2.GaussianBlur(mask, (0, 0), 10 * scale)
    cv2.multiply(image, cv2.cvtColor(255 - np.asarray(shade, dtype=np.uint8), cv2.COLOR_GRAY2BGR), image, 1 / 255)
