"""Photographs of boards, for `unknown_prints.py`: webcams, phones and action cameras of their own, with exact truth.

A picture is made backward: every part of a pixel looks through the lens at the bowed board and takes the print's color
there. Lenses have a radial and tangential polynomial or, for action cameras, a fisheye's angle; both in this module's
own words. Fields of view are those that makers state: webcams 55 to 82 degrees across, phones 36 (twice enlarged), 62
to 72 and 95 to 106 (widest), action cameras 72 to 92 straightened and 95 to 120 as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np
from unknown_boards import Board, draw_board
from unknown_makers import Split

from downfield.core.arrays import Array, Image, Plane

LensKind = Literal["webcam", "phone", "action", "fisheye"]
KINDS: Final[tuple[LensKind, ...]] = ("webcam", "phone", "action", "fisheye")

_SIZES: Final = {
    "webcam": ((1280, 720), (1920, 1080), (1920, 1080), (1600, 1200)),
    "phone": ((1920, 1080), (1600, 1200), (2560, 1440), (3840, 2160)),
    "action": ((1920, 1080), (2560, 1440), (3840, 2160)),
    "fisheye": ((1920, 1080), (1920, 1440), (3840, 2160)),
}
_VIEWS_DEG: Final = {
    "webcam": ((55.0, 82.0),),
    "phone": ((62.0, 72.0), (62.0, 72.0), (95.0, 106.0), (36.0, 42.0)),
    "action": ((72.0, 92.0),),
    "fisheye": ((95.0, 120.0),),
}
_NODE_PX: Final = 8  # rays are traced at every eighth pixel, and between them taken by cubic interpolation


@dataclass(frozen=True, slots=True)
class Optics:
    """A lens: from directions to pixels and back.

    Attributes:
        bent: k1, k2, p1, p2 over normalized coordinates; of a fisheye k1 and k2 over its angle.
    """

    kind: LensKind
    size_px: tuple[int, int]
    focal_px: tuple[float, float]
    center_px: tuple[float, float]
    bent: tuple[float, float, float, float]

    def _bend(self, flat: Array) -> Array:
        k1, k2, p1, p2 = self.bent
        x, y = flat[:, 0], flat[:, 1]
        square = x * x + y * y
        if self.kind == "fisheye":
            radius = np.sqrt(square)
            angle = np.arctan(radius)
            grown = angle * (1 + k1 * angle**2 + k2 * angle**4) / np.maximum(radius, 1e-12)
            return np.asarray(flat * np.where(radius < 1e-9, 1.0, grown)[:, None])
        grown = 1 + k1 * square + k2 * square * square
        aside = [2 * p1 * x * y + p2 * (square + 2 * x * x), p1 * (square + 2 * y * y) + 2 * p2 * x * y]
        return np.asarray(flat * grown[:, None] + np.column_stack(aside))

    def pixels(self, seen: Array) -> Array:
        """Return where points in front of the camera, shape (n, 3), are in the picture, shape (n, 2)."""
        return np.asarray(self._bend(seen[:, :2] / seen[:, 2:]) * self.focal_px + self.center_px)

    def straight(self, px: Array) -> Array:
        """Return what pixels, shape (n, 2), are without the bend, normalized; by secants along the radius."""
        target = (px - self.center_px) / self.focal_px
        reach = np.hypot(target[:, 0], target[:, 1])
        if self.kind == "fisheye":
            angle = reach.copy()
            for _ in range(30):
                angle = reach / (1 + self.bent[0] * angle**2 + self.bent[1] * angle**4)
            scale = np.tan(np.minimum(angle, 1.45)) / np.maximum(reach, 1e-12)
            return np.asarray(target * np.where(reach < 1e-9, 1.0, scale)[:, None])
        flat = target.copy()
        for _ in range(40):
            flat = flat + 0.8 * (target - self._bend(flat))
        return flat

    def is_regular(self) -> bool:
        """Return whether pixels are told back exactly over the whole picture, and grow outward."""
        width, height = self.size_px
        rim = np.array([(x, y) for x in np.linspace(0, width, 15) for y in np.linspace(0, height, 9)])
        with np.errstate(all="ignore"):
            flat = self.straight(rim)
            back = self._bend(flat) * self.focal_px + self.center_px
            ahead = self._bend(flat * 1.02) - self._bend(flat)
        return bool(np.nanmax(np.abs(back - rim)) < 1e-6 and ((ahead * flat).sum(axis=1) >= 0).all())


@dataclass(frozen=True, slots=True)
class View:
    """A lens over a board that sags and is twisted."""

    optics: Optics
    turn: Array  # board to camera, shape (3, 3)
    eye_mm: Array
    middle_mm: Array
    half_mm: Array
    sag_mm: float
    twist_mm: float

    @property
    def tilt_deg(self) -> float:
        """Return how far the camera leans off the vertical."""
        return float(np.degrees(np.arccos(np.clip(-self.turn[2, 2], -1, 1))))

    def lift_mm(self, points_mm: Array) -> Array:
        """Return the height of the surface over its plane at points, shape (n, 2)."""
        x, y = np.clip((points_mm - self.middle_mm) / self.half_mm, -1.1, 1.1).T
        return np.asarray(-self.sag_mm * np.cos(x * math.pi / 2) * np.cos(y * math.pi / 2) + self.twist_mm * x * y)

    def pixels(self, points_mm: Array, height_mm: float = 0.0) -> Array:
        """Return where points, shape (n, 2), at a height over the surface are in the picture."""
        solid = np.column_stack([points_mm, self.lift_mm(points_mm) + height_mm])
        return self.optics.pixels((solid - self.eye_mm) @ self.turn.T)

    def board(self, px: Array) -> Array:
        """Return where pixels, shape (n, 2), see the surface."""
        rays = np.column_stack([self.optics.straight(px), np.ones(len(px))]) @ self.turn
        down = np.minimum(rays[:, 2:], -1e-3)
        points = self.eye_mm[:2] - self.eye_mm[2] * rays[:, :2] / down
        for _ in range(3):
            points = self.eye_mm[:2] + (self.lift_mm(points)[:, None] - self.eye_mm[2]) * rays[:, :2] / down
        return np.asarray(points)


@dataclass(frozen=True, slots=True)
class Photograph:
    """A picture of a board, and its truth."""

    image: Image
    board: Board
    view: View
    top_mm: float

    def places_yd(self) -> Array:
        """Return the corners of base tops all over the field, field yards, shape (231, 2)."""
        x, y = np.meshgrid(np.linspace(0, self.board.length_yd, 21), np.linspace(0, self.board.width_yd, 11))
        return np.column_stack([x.ravel(), y.ravel()])

    def places_px(self, height_mm: float) -> Array:
        """Return where they are in a picture of the same camera at rest."""
        return self.view.pixels(self.places_yd() * self.board.yard_mm, height_mm)


def photograph(split: Split, number: int) -> Photograph:
    """Draw board and camera of a number in a split and photograph the one with the other."""
    rng = np.random.default_rng([number, {"development": 61, "held": 167}[split]])
    kind = KINDS[number % len(KINDS)]
    size = _SIZES[kind][int(rng.integers(len(_SIZES[kind])))]
    finer = 1 if size[0] > 2000 else 2
    board = draw_board(rng, split, size[0] * finer * 0.95)
    view = _place(rng, board, _optics(rng, kind, size))
    top_mm = float(rng.uniform(3.0, 6.0))
    return Photograph(_expose(rng, board, view, finer, top_mm), board, view, top_mm)


def _optics(rng: np.random.Generator, kind: LensKind, size: tuple[int, int]) -> Optics:
    while True:
        ranges = _VIEWS_DEG[kind]
        half = math.radians(rng.uniform(*ranges[int(rng.integers(len(ranges)))])) / 2
        focal = size[0] / 2 / (half if kind == "fisheye" else math.tan(half))
        corner = (math.hypot(*size) / 2 / focal) ** 2
        if kind == "webcam":  # radial shift at the corner, and its bend back
            first, second = rng.normal(-0.02, 0.05), rng.normal(0.0, 0.02)
        elif kind == "phone":
            first, second = rng.normal(0.0, 0.012), rng.normal(0.0, 0.008)
        elif kind == "action":
            first, second = rng.normal(-0.03, 0.03), rng.normal(0.0, 0.01)
        else:
            first, second = rng.normal(0.0, 0.03), rng.normal(0.0, 0.01)
        tangential = (0.0, 0.0) if kind == "fisheye" else rng.normal(0, 4e-4, 2)
        bent = (first / corner, second / corner**2, float(tangential[0]), float(tangential[1]))
        center = (np.array(size) - 1) / 2 + rng.normal(0, 0.006 * size[0], 2)
        optics = Optics(kind, size, (focal, focal * (1 + rng.normal(0, 4e-4))), (center[0], center[1]), bent)
        if optics.is_regular():
            return optics


def _place(rng: np.random.Generator, board: Board, optics: Optics) -> View:
    """Return a view in which the board fills most of the picture."""
    tilt, toward, roll = np.radians([rng.uniform(0, 25), rng.uniform(0, 360), rng.normal(0, 2.5)])
    axis = np.array([math.cos(toward), math.sin(toward), 0.0]) * tilt
    turn = cv2.Rodrigues(np.array([0.0, 0.0, roll]))[0] @ cv2.Rodrigues(axis)[0] @ np.diag([1.0, -1.0, -1.0])
    half = np.array(board.size_mm) / 2
    middle = board.low_mm + half
    bowed = rng.random() < 0.5
    sag, twist = (rng.uniform(-1, 2.5), rng.normal(0, 0.4)) if bowed else (0.0, 0.0)
    sides = np.linspace(-1, 1, 15)
    rim = middle + half * np.array([(s, t) for s in sides for t in (-1, 1)] + [(s, t) for s in (-1, 1) for t in sides])
    width, height = optics.size_px
    low, high = 100.0, 8000.0
    gap = 0.01 * width
    aside = np.zeros(2)  # where the board's middle is beside the optical axis, as a share of its distance

    def at(away: float) -> View:
        eye = np.append(middle, 0.0) - turn.T @ np.append(aside * away, away)
        return View(optics, turn, eye, middle, half, float(sag), float(twist))

    for step in range(60):
        away = (low + high) / 2
        view = at(away)
        seen = (np.column_stack([rim, np.zeros(len(rim))]) - view.eye_mm) @ turn.T
        px = view.pixels(rim)
        fits = (seen[:, 2] > 0.2 * away).all() and (px > gap).all() and (px < np.array([width, height]) - gap).all()
        low, high = (low, away) if fits else (away, high)
        if step in {14, 29, 44}:
            px = at(high).pixels(rim)
            aside += ((width, height) - px.min(axis=0) - px.max(axis=0)) / 2 / optics.focal_px
            low, high = 0.6 * high, 1.6 * high
    aside += rng.normal(0, 0.01, 2)
    return at(high * rng.uniform(1.03, 1.18))


def _expose(rng: np.random.Generator, board: Board, view: View, finer: int, top_mm: float) -> Image:
    width, height = view.optics.size_px
    places = _places(rng, view, finer)
    low, high = np.array(board.low_mm), np.array(board.low_mm) + board.size_mm
    cells_x = ((places[0] - low[0]) * board.per_mm - 0.5).astype(np.float32)
    cells_y = ((high[1] - places[1]) * board.per_mm - 0.5).astype(np.float32)
    cloth = rng.integers(30, 170, 3) + rng.normal(0, 9, (height * finer // 4, width * finer // 4, 3))
    canvas: Image = np.asarray(cv2.resize(np.clip(cloth, 0, 255), cells_x.shape[::-1]), dtype=np.uint8)
    if board.look.rounded:
        radius = 0.06 * board.size_mm[0]
        inward = np.minimum(
            np.minimum(places[0] - low[0], high[0] - places[0]), np.minimum(places[1] - low[1], high[1] - places[1])
        )
        corner_x = np.maximum(np.maximum(low[0] + radius - places[0], places[0] - high[0] + radius), 0)
        corner_y = np.maximum(np.maximum(low[1] + radius - places[1], places[1] - high[1] + radius), 0)
        cells_x[(np.hypot(corner_x, corner_y) > radius) | (inward < 0)] = -1e4
    cv2.remap(board.raster, cells_x, cells_y, cv2.INTER_LINEAR, dst=canvas, borderMode=cv2.BORDER_TRANSPARENT)
    _figures(rng, canvas, board, view, finer, top_mm)
    small = cv2.resize(canvas, (width, height), interpolation=cv2.INTER_AREA)
    image: Plane = np.asarray(small[:, :, ::-1], dtype=np.float32) / np.float32(255)
    sharp = width / 1920
    image = np.asarray(
        cv2.GaussianBlur(image, (0, 0), float(rng.uniform(0.4, 1.0) * max(1.0, sharp))), dtype=np.float32
    )
    if rng.random() < 0.4:  # the halo of a camera that sharpens
        image += rng.uniform(0.2, 0.6) * (image - cv2.GaussianBlur(image, (0, 0), 1.6 * max(1.0, sharp)))
    np.clip(image, 0, 1, out=image)
    image *= cv2.resize(_light(rng, width, height), (width, height))[:, :, None]
    image += cv2.resize(_glare(rng, width, height), (width, height))[:, :, None]
    image *= np.array([rng.uniform(0.85, 1.1), 1.0, rng.uniform(0.85, 1.1)], dtype=np.float32)
    level = float(np.percentile(image[::8, ::8], 99))
    image *= rng.uniform(0.75, 1.05) / max(level, 0.1)
    grain = cv2.resize(rng.standard_normal((height // 2, width // 2), dtype=np.float32), (width, height))
    image += (rng.uniform(0.003, 0.014) * grain)[:, :, None]
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(72, 96))]
    packed = cv2.imencode(".jpg", np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8), quality)[1]
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)


def _places(rng: np.random.Generator, view: View, finer: int) -> tuple[Plane, Plane]:
    """Return what every part of a pixel sees of the board, mm along and across; rows shifted by a rolling shutter."""
    width, height = view.optics.size_px
    nodes_x, nodes_y = np.arange(-2, width // _NODE_PX + 4), np.arange(-2, height // _NODE_PX + 4)
    shaken = rng.uniform(0, 0.4, 2) * (rng.random() < 0.4)
    waves = rng.uniform(0.5, 4) * 2 * math.pi / height
    rows = nodes_y * _NODE_PX
    shift = shaken[:, None] * np.sin(waves * rows + rng.uniform(0, 2 * math.pi, 2)[:, None])
    u, v = np.meshgrid(nodes_x * float(_NODE_PX), rows.astype(float))
    px = np.column_stack([(u - shift[0][:, None]).ravel(), (v - shift[1][:, None]).ravel()])
    seen = view.board(px).reshape(len(nodes_y), len(nodes_x), 2).astype(np.float32)
    at_x = ((np.arange(width * finer) + 0.5) / finer - 0.5) / _NODE_PX + 2
    at_y = ((np.arange(height * finer) + 0.5) / finer - 0.5) / _NODE_PX + 2
    across = _between(seen, at_y)
    along = _between(np.ascontiguousarray(across.transpose(1, 0, 2)), at_x).transpose(1, 0, 2)
    return along[:, :, 0], along[:, :, 1]


def _between(values: Plane, at: Array) -> Plane:
    """Return rows of values at fractions between them, by Catmull and Rom's cubic."""
    first, t = np.floor(at).astype(int), (at % 1)[:, None, None].astype(np.float32)
    weights = (
        0.5 * (-t + 2 * t**2 - t**3),
        0.5 * (2 - 5 * t**2 + 3 * t**3),
        0.5 * (t + 4 * t**2 - 3 * t**3),
        0.5 * (t**3 - t**2),
    )
    rows = np.clip(first[:, None] + np.arange(-1, 3), 0, len(values) - 1)
    return np.asarray(sum(weight * values[rows[:, i]] for i, weight in enumerate(weights)), dtype=np.float32)


def _figures(rng: np.random.Generator, canvas: Image, board: Board, view: View, finer: int, top_mm: float) -> None:
    """Stand figures on the board: bases of an ordinary size, and bodies over them."""
    long, wide = rng.uniform(28, 31.5), rng.uniform(16.5, 19.0)
    teams = rng.integers(20, 240, (2, 3))
    clear = rng.uniform(0.6, 1.0)

    def fill(points_mm: Array, height_mm: float, color: Array) -> None:
        px = (view.pixels(points_mm, height_mm) + 0.5) * finer - 0.5
        cv2.fillConvexPoly(canvas, np.rint(px * 16).astype(np.int32), [float(c) for c in color], cv2.LINE_AA, 4)

    outline = np.array([(0.5, 0.3), (0.35, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.35, -0.5), (0.5, -0.3)]) * (long, wide)
    for i in range(int(rng.integers(0, 23))):
        at = rng.uniform(0.02, 0.98, 2) * (board.length_yd * board.yard_mm[0], board.width_yd * board.yard_mm[1])
        turn = rng.uniform(0, 2 * math.pi)
        ahead = np.array([(math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))])
        base = outline @ ahead + at
        shade = teams[i % 2] * clear
        for height in np.linspace(0, top_mm, 5):
            fill(base, float(height), shade * (0.6 if height < top_mm else 1.0))
        for height, size in ((8, 0.12), (14, 0.2), (22, 0.3), (27, 0.34), (32, 0.2), (36, 0.16)):
            body = outline * (size, 1.5 * size) @ ahead + at
            fill(body, height, (teams[i % 2] if height < 30 else teams[1 - i % 2]) * (0.7 + height / 120))


def _light(rng: np.random.Generator, width: int, height: int) -> Plane:
    """Return how bright lamps and the lens leave each pixel of a picture, four times smaller."""
    width, height = width // 4, height // 4
    x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)[:, None] * 0.6
    light = np.full((height, width), 0.35, dtype=np.float32)
    for _ in range(int(rng.integers(1, 4))):
        lamp = rng.uniform((-1.2, -0.9, 0.8), (1.2, 0.9, 2.5))
        square = (x - lamp[0]) ** 2 + (y - lamp[1]) ** 2 + lamp[2] ** 2
        light += (0.65 * lamp[2] ** 3 / square**1.5).astype(np.float32)
    vignette = rng.uniform(0.0, 0.3)
    return np.asarray(light * (1 - vignette * (x * x + y * y)), dtype=np.float32)


def _glare(rng: np.random.Generator, width: int, height: int) -> Plane:
    """Return what a glossy print reflects, round lamps and long tubes; four times smaller."""
    width, height = width // 4, height // 4
    x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)[:, None] * 0.6
    glare = np.zeros((height, width), dtype=np.float32)
    for _ in range(int(rng.integers(0, 4))):
        at, turn = rng.uniform((-0.9, -0.5), (0.9, 0.5)), rng.uniform(0, math.pi)
        long, wide = rng.uniform(0.03, 0.35), rng.uniform(0.02, 0.07)
        along = (x - at[0]) * math.cos(turn) + (y - at[1]) * math.sin(turn)
        aside = (y - at[1]) * math.cos(turn) - (x - at[0]) * math.sin(turn)
        glare += np.float32(rng.uniform(0.1, 0.7)) * np.exp(-((along / long) ** 4) - (aside / wide) ** 2)
    return glare
