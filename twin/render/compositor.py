"""The fast renderer: the lit board, and every solid on it as a shaded sub-pixel polygon.

Base tops and sides are placed as exactly as by the path tracer; round bodies are only suggested. It draws a part of a
picture at any scale with the camera of that part. Along a camera's ray nearer objects are higher, so solids are painted
in order of height.

Convex polygons are filled to a fraction of a pixel. cv2's anti-aliased fill reaches beyond a polygon by `GROWTH_PX` on
every side, at every angle and to 0.02 px (measured), so polygons are made smaller by that much first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.footprint import BaseSize
from downfield.core.scene import Player
from downfield.twin.render.board import BoardLayer, BoardLight
from downfield.twin.render.renderer import TableRenderer
from downfield.twin.table.appearance import Appearance, Color, Solid
from downfield.twin.table.snapshot import Snapshot, Vector
from downfield.twin.table.solids import PlacedSolids, figure_turns

_FACES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
"""Corners of a box's faces, as `solids` orders its corners: low x, high x, low y, high y, low z, high z."""

_ARC_POINTS = 4  # on each rounded corner of a base
_LARGE_PX = 9.0  # bodies thicker than this are shaded in more steps with smoothed outlines
_STEPS = {False: 3, True: 8}  # shades of a round body, by whether it is large
_DARKEST = 0.35  # share of the direct light that reaches the rim of a round body


GROWTH_PX = 0.66

Fixed = NDArray[np.int32]

_FINE = 4  # samples per pixel along each side, where coverage is counted
_FINE_GROWTH = 0.48  # growth of the fill without anti-aliasing, in samples (measured)
_SHIFT = 4  # fractional bits of a corner
_FAR_PX = 20_000.0  # cv2's fixed-point corners overflow only far beyond this


def to_fixed(points_px: Array) -> Fixed:
    """Return pixels as cv2's fixed-point corners, same shape."""
    return np.rint(np.clip(points_px, -_FAR_PX, _FAR_PX) * (1 << _SHIFT)).astype(np.int32)


def fill_hull(
    image: NDArray[np.uint8], points: Fixed, color: Sequence[float], *, rounds: int = 0, smooth: bool = True
) -> None:
    """Fill the convex hull of fixed-point points, shape (n, 2), as it is.

    Args:
        points: as `to_fixed` gives them.
        rounds: number of times that corners are cut, to round them.
        smooth: whether edges blend with the image.
    """
    hull = cv2.convexHull(points)
    for _ in range(rounds):
        after = np.roll(hull, -1, axis=0)
        hull = np.concatenate([3 * hull + after, hull + 3 * after], axis=1).reshape(-1, 1, 2) // 4
    cv2.fillConvexPoly(image, hull, color, cv2.LINE_AA if smooth else cv2.LINE_8, _SHIFT)


def lay_convex(image: NDArray[np.uint8], corners_px: Array, color: Sequence[float]) -> None:
    """Fill a convex polygon by area coverage: slower than cv2's own fill, and exact to a few hundredths of a pixel.

    cv2's anti-aliased fill may miss a corner by a third of a pixel.
    """
    height, width = image.shape[:2]
    low = np.maximum(np.floor(corners_px.min(axis=0) - 1), 0).astype(int)
    high = np.minimum(np.ceil(corners_px.max(axis=0) + 2), (width, height)).astype(int)
    columns, rows = high - low
    if columns <= 0 or rows <= 0:
        return
    fine = (_sides_in(corners_px, _FINE_GROWTH / _FINE) - low + 0.5) * _FINE - 0.5
    mask = np.zeros((rows * _FINE, columns * _FINE), dtype=np.uint8)
    cv2.fillConvexPoly(mask, to_fixed(fine), (255,), cv2.LINE_8, _SHIFT)
    share = cv2.resize(mask, (int(columns), int(rows)), interpolation=cv2.INTER_AREA)
    window = image[low[1] : high[1], low[0] : high[0]]
    part = window.astype(np.float32)
    part += (np.array(color, dtype=np.float32) - part) * (share.astype(np.float32) / np.float32(255))[:, :, None]
    window[:] = np.rint(part).astype(np.uint8)


def _sides_in(corners_px: Array, by_px: float) -> Array:
    after = np.concatenate([corners_px[1:], corners_px[:1]])
    sides = after - corners_px
    along = sides / np.maximum(np.hypot(sides[:, 0], sides[:, 1]), 1e-9)[:, None]
    turn = np.sign((corners_px[:, 0] * after[:, 1] - corners_px[:, 1] * after[:, 0]).sum())
    inward = np.column_stack([-along[:, 1], along[:, 0]]) * turn
    before = np.concatenate([inward[-1:], inward[:-1]])
    reach = by_px / np.maximum(1 + (inward * before).sum(axis=1), 0.1)
    moved: Array = corners_px + (inward + before) * reach[:, None]
    return moved


class Compositor(TableRenderer):
    """Draws pictures of one appearance by layers. `players`: the roster, for the bases' sizes."""

    def __init__(self, appearance: Appearance, players: Sequence[Player]) -> None:
        super().__init__(appearance, players)
        self._board, self._light = BoardLayer(appearance), BoardLight(appearance)

    def _draw(self, snapshot: Snapshot, placed: PlacedSolids, camera: Camera, t_ns: int) -> Image:
        del t_ns
        image = self._light.shine(self._board.draw(camera), placed, camera)
        SolidPainter(self.appearance, camera, image).paint(placed, self._players, snapshot)
        return image


class SolidPainter:
    """Paints solids on a picture, the lowest first. `image`: drawn upon."""

    def __init__(self, appearance: Appearance, camera: Camera, image: Image) -> None:
        self._appearance = appearance
        self._camera = camera
        self._image = image
        self._eye = camera.position_mm

    def paint(self, placed: PlacedSolids, players: Sequence[Player], snapshot: Snapshot) -> None:
        """Paint everything, the lowest first."""
        points_px = self._camera.to_pixels(placed.points_mm)
        low, high = points_px.min(axis=1), points_px.max(axis=1)
        seen = (high > 0).all(axis=1) & (low < self._camera.lens.size_px).all(axis=1)
        middles_mm = placed.points_mm.mean(axis=1)
        colors = np.array([solid.color[::-1] for solid in placed.solids]) * 255
        rounds = _RoundBodies(points_px, colors, self._appearance.ambient, *self._lights(middles_mm))
        turns = figure_turns(snapshot)
        boxes = _Boxes(placed.points_mm[:, :8], self._appearance, self._eye)
        away = np.linalg.norm(middles_mm - self._eye, axis=1)
        # Of equal height, the far ones first.
        for k in np.lexsort((-away, self._heights(placed, middles_mm, turns))):
            solid = placed.solids[k]
            if not seen[k]:
                continue
            if solid.part == "base":
                owner = placed.owners[k]
                self._base(solid, players[owner].base, snapshot.figures[owner].position_mm, turns[owner])
            elif solid.kind == "box":
                self._box(k, boxes, solid, points_px[k])
            else:
                for outline, color in rounds.shades(k):
                    fill_hull(self._image, outline, color, rounds=2 if rounds.large[k] else 0)

    def _heights(self, placed: PlacedSolids, middles_mm: Array, turns: Array) -> Array:
        """Return the heights that order the solids: a figure follows its own base when the base's top is visible."""
        heights = middles_mm[:, 2].round(3)
        owners = np.array(placed.owners)
        bases = [k for k, solid in enumerate(placed.solids) if solid.part == "base"]
        facing = ((self._eye - middles_mm[bases]) * turns[owners[bases], :, 2]).sum(axis=1) > 0
        for k, top_seen in zip(bases, facing, strict=True):
            own = np.flatnonzero(owners == owners[k])
            own = own[own != k]
            bound, limit = (np.maximum, heights[k] + 0.001) if top_seen else (np.minimum, heights[k] - 0.001)
            heights[own] = bound(heights[own], limit)
        return np.asarray(heights)

    def _lights(self, middles_mm: Array) -> tuple[Array, Array]:
        """Return the direct light on every solid, shape (n,), and its direction in the picture, shape (n, 2)."""
        ways = np.zeros_like(middles_mm)
        for lamp in self._appearance.lamps:
            toward = np.array(lamp.position_mm) - middles_mm
            ways += lamp.strength * toward / np.linalg.norm(toward, axis=1, keepdims=True)
        direct = np.linalg.norm(ways, axis=1)
        aside = ways @ self._camera.board_to_camera[:2].T
        return direct, aside / np.maximum(direct[:, None], 1e-9)

    def _box(self, k: int, boxes: _Boxes, solid: Solid, corners_px: Array) -> None:
        window = self._image[_window(corners_px)]
        below = window.copy() if solid.opacity < 1 else None
        # The fill's growth is kept, so that neighboring pieces of the rail overlap without a seam.
        for face, light in boxes.faces(k):
            fill_hull(self._image, to_fixed(corners_px[face]), _bgr(solid.color, self._appearance.ambient + light))
        if below is not None:
            _let_through(window, below, solid.opacity)

    def _face(self, solid: Solid, ring_mm: Array, ring_px: Array, normal: Array) -> None:
        if normal @ (self._eye - ring_mm[0]) > 0:
            color, inner = _bgr(solid.color, self._lit(ring_mm[0], normal)), _sides_in(ring_px, GROWTH_PX)
            cv2.fillConvexPoly(self._image, to_fixed(inner), color, cv2.LINE_AA, _SHIFT)

    def _lit(self, at_mm: Array, normal: Array) -> float:
        light = self._appearance.ambient
        for lamp in self._appearance.lamps:
            toward = np.array(lamp.position_mm) - at_mm
            light += lamp.strength * max(float(toward @ normal) / float(np.sqrt(toward @ toward)), 0.0)
        return light

    def _base(self, solid: Solid, size: BaseSize, place: Vector, turn: Array) -> None:
        """Paint a base, a prism with rounded corners; a clear base lets the ground show through."""
        ring = _outline(size)
        heights = np.repeat([0.0, size.height_mm], len(ring))
        points_mm = np.column_stack([np.tile(ring, (2, 1)), heights]) @ turn.T + place
        points_px = self._camera.to_pixels(points_mm)
        window = self._image[_window(points_px)]
        below = window.copy() if solid.opacity < 1 else None
        self._prism(solid, points_mm, points_px, turn)
        if below is not None:
            _let_through(window, below, solid.opacity)

    def _prism(self, solid: Solid, points_mm: Array, points_px: Array, turn: Array) -> None:
        count = len(points_mm) // 2
        rim = points_px.mean(axis=0) + (points_px - points_px.mean(axis=0)) * 0.97
        fill_hull(self._image, to_fixed(rim), _bgr(solid.color, self._appearance.ambient))
        arc = count // 4
        for quarter, normal in enumerate((turn[:, 1], -turn[:, 0], -turn[:, 1], turn[:, 0])):
            start, end = quarter * arc + arc - 1, (quarter * arc + arc) % count  # the flat side after this corner
            side = np.array([start, end, end + count, start + count])
            self._face(solid, points_mm[side], points_px[side], normal)
        for ring, normal in ((slice(count), -turn[:, 2]), (slice(count, None), turn[:, 2])):
            if normal @ (self._eye - points_mm[ring][0]) > 0:
                shade = _bgr(solid.color, self._lit(points_mm[ring][0], normal))
                lay_convex(self._image, points_px[ring], shade)
                if solid.opacity < 1:  # clear plastic gathers light at its edges
                    edge = (shade[0] * 0.4 + 153, shade[1] * 0.4 + 153, shade[2] * 0.4 + 153)
                    inner = to_fixed(_sides_in(points_px[ring], GROWTH_PX))
                    cv2.polylines(self._image, [inner], True, edge, 1, cv2.LINE_AA, _SHIFT)


class _Boxes:
    """The faces of boxes that a camera sees.

    Args:
        corners_mm: of every solid, shape (n, 8, 3); only those of boxes are used.
        eye: the camera's place, board frame.
    """

    def __init__(self, corners_mm: Array, appearance: Appearance, eye: Array) -> None:
        middles = corners_mm[:, _FACES].mean(axis=2)
        out = middles - corners_mm.mean(axis=1, keepdims=True)
        normals = out / np.maximum(np.linalg.norm(out, axis=2, keepdims=True), 1e-9)
        self._facing = ((eye - middles) * normals).sum(axis=2) > 0
        self._light = np.zeros(self._facing.shape)
        for lamp in appearance.lamps:
            toward = np.array(lamp.position_mm) - middles
            cosine = (toward * normals).sum(axis=2) / np.linalg.norm(toward, axis=2)
            self._light += lamp.strength * np.maximum(cosine, 0)

    def faces(self, k: int) -> list[tuple[NDArray[np.intp], float]]:
        """Return the corner numbers of each visible face of a box, with its direct light."""
        return [(_FACES[face], float(self._light[k, face])) for face in np.flatnonzero(self._facing[k])]


class _RoundBodies:
    """Outlines of ellipsoids, capsules and cylinders in a picture, one within the other, each lighter.

    Args:
        points_px: of every solid, shape (n, points, 2).
        colors: of every solid, blue green red, 0..255, shape (n, 3).
        direct: light on every solid, shape (n,).
        aside: the light's direction in the picture, shape (n, 2).
    """

    def __init__(self, points_px: Array, colors: Array, ambient: float, direct: Array, aside: Array) -> None:
        self._middle = points_px.mean(axis=1, keepdims=True)
        self._around = points_px - self._middle
        self._radius = np.sqrt((self._around**2).sum(axis=2, keepdims=True))
        spread = np.einsum("kpi,kpj->kij", self._around, self._around) / points_px.shape[1]
        half, off = (spread[:, 0, 0] + spread[:, 1, 1]) / 2, spread[:, 0, 0] - spread[:, 1, 1]
        small = half - np.sqrt(off**2 / 4 + spread[:, 0, 1] ** 2)
        # Across the short side, so that a long limb's highlight does not leave it.
        self._reach = 1.4 * np.sqrt(np.maximum(small, 0))
        self._aside = aside
        self.large = self._reach > _LARGE_PX
        self._outlines_few = self._outlines(_STEPS[False])
        self._outlines_many = self._outlines(_STEPS[True], self.large)
        self._at = np.cumsum(self.large) - 1  # index of each large body among them
        self._colors = {
            large: np.minimum(colors * (ambient + direct[:, None] * share), 255).tolist()
            for large, count in _STEPS.items()
            for share in (np.linspace(_DARKEST, 1, count)[:, None, None],)
        }

    def shades(self, k: int) -> list[tuple[Fixed, list[float]]]:
        """Return outlines of one solid from the rim inward, each with its color."""
        large = bool(self.large[k])
        outlines = self._outlines_many[:, self._at[k]] if large else self._outlines_few[:, k]
        return [(outline, colors[k]) for outline, colors in zip(outlines, self._colors[large], strict=True)]

    def _outlines(self, count: int, which: NDArray[np.bool_] | None = None) -> Fixed:
        """Return the outlines in a number of steps, shape (steps, solids, points, 2)."""
        chosen = slice(None) if which is None else which
        step = np.linspace(0, 1, count)[:, None, None, None]
        reach = self._reach[chosen, None, None]
        inset = GROWTH_PX + 0.55 * step * reach
        shift = 0.4 * step * reach * self._aside[chosen, None]
        share = np.maximum(1 - inset / np.maximum(self._radius[chosen], 1e-9), 0.05)
        return to_fixed(np.nan_to_num(self._middle[chosen] + shift + self._around[chosen] * share, nan=-1e5))


def _window(points_px: Array) -> tuple[slice, slice]:
    """Return the part of a picture that points span, with a margin."""
    left, top = np.maximum(points_px.min(axis=0).astype(int) - 2, 0)
    right, bottom = np.maximum(points_px.max(axis=0).astype(int) + 3, 0)
    return slice(top, bottom), slice(left, right)


def _let_through(window: Image, below: Image, opacity: float) -> None:
    """Let what was below a clear solid show through it, in place."""
    window[:] = np.rint(below + opacity * (window.astype(np.float32) - below)).astype(np.uint8)


def _bgr(color: Color, light: float) -> tuple[float, float, float]:
    red, green, blue = (255 * min(channel * light, 1.0) for channel in color)
    return (blue, green, red)


@lru_cache(maxsize=64)
def _outline(size: BaseSize) -> Array:
    """Return a base's rounded outline in the figure's frame, counter-clockwise, shape (n, 2)."""
    half = np.array([size.length_mm, size.width_mm]) / 2 - size.corner_mm
    turns = np.linspace(0, 1, _ARC_POINTS) if size.corner_mm > 0 else np.array([0.5])
    ring = [
        half * signs + size.corner_mm * np.column_stack([np.cos(angles), np.sin(angles)])
        for quarter, signs in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)))
        for angles in (np.pi / 2 * (quarter + turns),)
    ]
    return np.concatenate(ring)
