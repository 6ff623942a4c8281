"""The board in a picture: its print and the table under it, drawn straight through the lens, and the light on them.

The print is sampled once per pixel through the exact camera, which is sharper than a texture on a mesh. A lens bends
rays so gently that a map interpolated between points 8 px apart is exact to about 0.01 px even for the strongest barrel
the twin draws, so exact distortion is cheap for every frame (`LensGrid`).

Shadows are computed without a shadow map: every solid's outline is cast from every lamp onto the board and drawn at
half size, then blurred by the lamp's size. That is exact in place, soft, and many times faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array, Image, Indices, Plane
from downfield.twin.table.appearance import Appearance, Lamp
from downfield.twin.table.board_print import BoardPrint, paint
from downfield.twin.table.solids import PlacedSolids, surface_mm

_STEP_PX = 8

_FINER = 1.3  # texels per pixel: more would alias, fewer would blur
_FURTHEST_MM = 700.0  # width of the table painted beyond the board
_BOW_STEPS = 2  # of the iteration from the board's plane to its bowed surface: exact to 0.01 mm

_HALF = 2  # light is computed at half the picture's size
_SHIFT = 4  # fractional bits of cv2's polygon corners
_BRIGHTEST = 1.6  # the light factor that 255 stands for
_LOW_MM = 15.0  # height from which a typical shadow on the board is cast
_HIGH_MM = 50.0  # and the shadow of a hand or a post

_FOOT_MM = 2.5  # softness of the shade around a base
_FOOT = 0.45  # share of the ambient light that it removes
_SAME_VIEW_PX = 20.0  # the light is reused while the camera sways less than this

Mask = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class LensGrid:
    """The rays of a lens on a coarse grid that reaches a little beyond its picture."""

    size_px: tuple[int, int]
    rays: Array  # normalized image coordinates without distortion, shape (rows, columns, 2)

    def full(self, values: Array) -> Plane:
        """Interpolate values on the grid, shape (rows, columns), to every pixel, shape (height, width)."""
        rows, columns = values.shape
        size = (columns * _STEP_PX, rows * _STEP_PX)
        whole = cv2.resize(values.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)
        width, height = self.size_px
        return np.asarray(whole[_STEP_PX : _STEP_PX + height, _STEP_PX : _STEP_PX + width], dtype=np.float32)

    def board_mm(self, camera: Camera) -> Array:
        """Return where the rays meet the plane of the board, mm, shape (rows, columns, 2); NaN where they do not."""
        rays = np.concatenate([self.rays, np.ones_like(self.rays[..., :1])], axis=-1) @ camera.board_to_camera
        eye = camera.position_mm
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = -eye[2] / rays[..., 2]
        reach[~(reach > 0)] = np.nan
        crossed: Array = eye[:2] + reach[..., None] * rays[..., :2]
        return crossed


@lru_cache(maxsize=8)
def lens_grid(lens: Lens) -> LensGrid:
    """Return the grid of a lens."""
    width, height = lens.size_px
    x, y = (((np.arange(-(-side // _STEP_PX) + 2) - 0.5) * _STEP_PX - 0.5) for side in (width, height))
    pixels = np.stack(np.meshgrid(x, y), axis=-1)
    return LensGrid((width, height), lens.undistort(pixels.reshape(-1, 2)).reshape(pixels.shape))


class BoardLayer:
    """The ground of one appearance, unlit."""

    def __init__(self, appearance: Appearance) -> None:
        self._appearance = appearance
        camera = appearance.camera
        self._px_per_mm = _FINER * max(camera.lens.focal_px) / max(float(camera.position_mm[2]), 1.0)
        self._ground = self._paint_ground()
        self._drawn: tuple[Camera, Image] | None = None

    def draw(self, camera: Camera) -> Image:
        """Return the ground in a camera's picture, uint8 blue green red, shape (height, width, 3); read-only."""
        if self._drawn is None or self._drawn[0] != camera:
            self._drawn = (camera, self._sample(camera))
        return self._drawn[1]

    def _sample(self, camera: Camera) -> Image:
        grid = lens_grid(camera.lens)
        places = self._ground.to_print_px(self._on_surface(grid.board_mm(camera), camera))
        columns, rows = (grid.full(np.nan_to_num(places[..., axis], nan=-1e4)) for axis in range(2))
        maps = cv2.convertMaps(columns, rows, cv2.CV_16SC2)  # whole pixels and fractions: cv2's fast form
        edge = cv2.BORDER_REPLICATE
        return np.asarray(cv2.remap(self._ground.image, *maps, cv2.INTER_LINEAR, borderMode=edge), dtype=np.uint8)

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

    def _paint_ground(self) -> BoardPrint:
        appearance, scale = self._appearance, self._px_per_mm
        board = paint(appearance.field, appearance.board, scale)
        high, wide = board.image.shape[:2]
        left, below, right, above = (round(margin * scale) for margin in self._margins_mm())
        table = np.empty((high + above + below, wide + left + right, 3), dtype=np.uint8)
        grain, shade = self._grain(table.shape[:2]), _shade_around(table.shape[:2], (left, above, wide, high), scale)
        color, beside = np.array(appearance.table[::-1]) * 255, slice(above, above + high)
        for part in (np.s_[:above], np.s_[above + high :], np.s_[beside, :left], np.s_[beside, left + wide :]):
            if shade[part].size:
                lit = np.clip(color * (1 + 0.04 * grain[part][..., None]), 0, 255).astype(np.uint8)
                table[part] = cv2.multiply(lit, cv2.cvtColor(255 - shade[part], cv2.COLOR_GRAY2BGR), None, 1 / 255)
        table[beside, left : left + wide] = board.image
        return BoardPrint(table, (board.origin_mm[0] - left / scale, board.origin_mm[1] + above / scale), scale)

    def _margins_mm(self) -> tuple[float, float, float, float]:
        """Return the picture's margins beyond the board, mm: toward low x, low y, high x, high y."""
        seen = lens_grid(self._appearance.camera.lens).board_mm(self._appearance.camera).reshape(-1, 2)
        low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
        x_low, y_low, x_high, y_high = self._appearance.field.board_mm
        sway = 20.0
        beyond = np.array([x_low - low[0], y_low - low[1], high[0] - x_high, high[1] - y_high]) + sway
        left, below, right, above = np.clip(beyond, 0, _FURTHEST_MM)
        return (float(left), float(below), float(right), float(above))

    def _grain(self, shape: tuple[int, int]) -> Plane:
        rng = np.random.default_rng([self._appearance.board.seed, 0x7AB1E])
        small = rng.standard_normal((shape[0] // 40 + 2, shape[1] // 8 + 2)).astype(np.float32)
        return np.asarray(cv2.resize(small, shape[::-1], interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def _shade_around(shape: tuple[int, int], box: tuple[int, int, int, int], scale: float) -> Mask:
    """Return the soft shade at the foot of the board, 0..150; only what is near the board's edges is blurred."""
    reach = round(31 * scale) + 2  # more than the blur's
    (rows, at_y), (columns, at_x) = (_near_edges(shape[axis], box[1 - axis], box[3 - axis], reach) for axis in range(2))
    mask: Mask = np.outer(at_y, at_x).astype(np.uint8) * np.uint8(150)
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), 10 * scale)[rows].take(columns, axis=1), dtype=np.uint8)


def _near_edges(size: int, begin: int, length: int, reach: int) -> tuple[Indices, NDArray[np.bool_]]:
    """Return where each place of a side is in its part near a board's edges, and which places of that are on it."""
    before, after, cut = max(begin - reach, 0), max(size - begin - length - reach, 0), max(length - 2 * reach, 0)
    near = np.arange(size - before - after - cut)
    place = np.clip(np.arange(size), before, size - after - 1) - before
    begin -= before
    return place - np.clip(place - begin - reach, 0, cut), (near >= begin) & (near < begin + length - cut)


class BoardLight:
    """The light of one appearance."""

    def __init__(self, appearance: Appearance) -> None:
        self._appearance = appearance
        self._view: Camera | None = None
        self._lamp_light: list[NDArray[np.float32]] = []
        self._glare: Image | None = None

    def shine(self, ground: Image, placed: PlacedSolids, camera: Camera) -> Image:
        """Return the lit ground: uint8 blue green red, shape (height, width, 3)."""
        self._face(camera)
        size = (ground.shape[1] // _HALF, ground.shape[0] // _HALF)
        scale = max(camera.lens.focal_px) / float(camera.position_mm[2]) / _HALF
        light = np.empty((size[1], size[0], 3), dtype=np.float32)
        is_base = np.array([solid.part == "base" for solid in placed.solids], dtype=np.bool_)
        feet = _shade(placed, placed.points_mm * [1.0, 1.0, 0.0], camera, size, is_base)
        soft_feet = cv2.GaussianBlur(feet, (0, 0), max(_FOOT_MM * scale, 0.5))
        light[:] = (self._appearance.ambient * (1 - _FOOT / 255 * np.asarray(soft_feet, dtype=np.float32)))[:, :, None]
        for lamp, lamp_light in zip(self._appearance.lamps, self._lamp_light, strict=True):
            light += lamp_light * self._reaching(lamp, placed, camera, size, scale)[:, :, None]
        small = np.clip(light * (255 / _BRIGHTEST), 0, 255).astype(np.uint8)
        factor = cv2.resize(small, (ground.shape[1], ground.shape[0]), interpolation=cv2.INTER_LINEAR)
        lit = cv2.multiply(ground, factor, scale=_BRIGHTEST / 255)
        if self._glare is not None:
            cv2.add(lit, self._glare, lit)
        return np.asarray(lit, dtype=np.uint8)

    def _reaching(
        self, lamp: Lamp, placed: PlacedSolids, camera: Camera, size: tuple[int, int], scale: float
    ) -> NDArray[np.float32]:
        """Return the share of a lamp's light that reaches the board, 0..1, at half size."""
        cast = _cast(placed.points_mm, lamp)
        high = placed.points_mm[:, :, 2].max(axis=1) > _HIGH_MM
        reaching = np.ones((size[1], size[0]), dtype=np.float32)
        for part, typical_mm in ((~high, _LOW_MM), (high, _HIGH_MM)):
            if part.any():
                shade = _shade(placed, cast, camera, size, part)
                soft = cv2.GaussianBlur(shade, (0, 0), max(_softness_mm(lamp, typical_mm) * scale, 0.4))
                reaching *= 1 - np.asarray(soft, dtype=np.float32) / 255
        return reaching

    def _face(self, camera: Camera) -> None:
        """Compute the values that stay the same while the camera barely moves."""
        if self._view is not None and _apart_px(self._view, camera, self._appearance) < _SAME_VIEW_PX:
            return
        self._view = camera
        grid = lens_grid(camera.lens)
        board = np.nan_to_num(grid.board_mm(camera), nan=1e4)
        points = np.concatenate([board, np.zeros_like(board[..., :1])], axis=-1)
        center = np.array([self._appearance.field.length_mm / 2, self._appearance.field.width_mm / 2, 0.0])
        size = (camera.lens.size_px[0] // _HALF, camera.lens.size_px[1] // _HALF)
        self._lamp_light = []
        glare = np.zeros((*points.shape[:2], 3))
        for lamp in self._appearance.lamps:
            falloff = _irradiance(points, lamp) / _irradiance(center, lamp)
            small = cv2.resize(grid.full(falloff), size, interpolation=cv2.INTER_AREA)
            color = np.array(lamp.color[::-1], dtype=np.float32) * np.float32(lamp.strength)
            self._lamp_light.append(np.asarray(small, dtype=np.float32)[:, :, None] * color)
            off, size_rad = mirror_angles(points, lamp, camera)
            blurred = np.exp(-0.5 * (off / (0.06 + size_rad)) ** 2)
            glare += blurred[:, :, None] * np.array(lamp.color[::-1]) * lamp.strength
        self._glare = None
        if self._appearance.board.gloss > 0:
            planes = [grid.full(glare[..., channel]) * 255 * self._appearance.board.gloss for channel in range(3)]
            self._glare = np.clip(np.stack(planes, axis=-1), 0, 255).astype(np.uint8)


def _apart_px(a: Camera, b: Camera, appearance: Appearance) -> float:
    if a.lens != b.lens:
        return np.inf
    x_low, y_low, x_high, y_high = appearance.field.board_mm
    corners = np.array([[x_low, y_low], [x_high, y_low], [x_high, y_high], [x_low, y_high]])
    return float(np.abs(a.to_pixels(corners) - b.to_pixels(corners)).max())


def _irradiance(points: Array, lamp: Lamp) -> Array:
    """Return the light on a level surface, up to a factor: inverse square and cosine. Shape (..., 3) to (...)."""
    toward = np.array(lamp.position_mm) - points
    distance = np.linalg.norm(toward, axis=-1)
    light: Array = np.maximum(toward[..., 2], 1.0) / distance**3
    return light


def mirror_angles(points: Array, lamp: Lamp, camera: Camera) -> tuple[Array, float]:
    """Return how far level points are from mirroring a lamp into the camera, and half the lamp's own size, radians.

    Args:
        points: on the board, mm, shape (..., 3); the first result has shape (...).
    """
    to_lamp = np.array(lamp.position_mm) - points
    to_eye = camera.position_mm - points
    half = to_lamp / np.linalg.norm(to_lamp, axis=-1, keepdims=True)
    half = half + to_eye / np.linalg.norm(to_eye, axis=-1, keepdims=True)
    off: Array = np.arccos(np.clip(half[..., 2] / np.linalg.norm(half, axis=-1), -1, 1))
    return off, 0.5 * lamp.radius_mm / max(lamp.position_mm[2], 1.0)


def _softness_mm(lamp: Lamp, height_mm: float) -> float:
    """Return the standard deviation of the edge of a shadow that is cast from a height, mm."""
    return lamp.radius_mm / 2 * height_mm / max(lamp.position_mm[2] - height_mm, 1.0)


def _cast(points_mm: Array, lamp: Lamp) -> Array:
    """Return points projected from a lamp onto the board's plane, same shape."""
    at = np.array(lamp.position_mm)
    reach = at[2] / np.maximum(at[2] - points_mm[..., 2:], 1.0)
    cast: Array = at + (points_mm - at) * reach
    cast[..., 2] = 0.0
    return cast


def _shade(
    placed: PlacedSolids, cast_mm: Array, camera: Camera, size: tuple[int, int], chosen: NDArray[np.bool_]
) -> Mask:
    """Return a mask at half size: 255 inside the outlines of the chosen solids at their projected points."""
    which = np.flatnonzero(chosen)
    mask = np.zeros((size[1], size[0]), dtype=np.uint8)
    if not len(which):
        return mask
    pixels = (camera.to_pixels(cast_mm[which]) + 0.5) / _HALF - 0.5
    low, high = pixels.min(axis=1), pixels.max(axis=1)
    shown = (low < size).all(axis=1) & (high > 0).all(axis=1)
    opacity = np.array([placed.solids[k].opacity for k in which[shown]])
    fixed = np.round(pixels[shown] * (1 << _SHIFT)).astype(np.int32)
    # Clear bases first, so that an opaque solid's shadow over one is whole.
    for place in np.argsort(opacity, kind="stable"):
        level = round(255 * float(opacity[place]))
        cv2.fillConvexPoly(mask, cv2.convexHull(fixed[place]), (level,), cv2.LINE_AA, _SHIFT)
    return mask
