"""What is around a board, drawn at random: cameras (lens, pose, sensor, processing), lamps, room, table, hands."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.twin.randomization import colors
from downfield.twin.randomization.deck import Deck
from downfield.twin.table.appearance import (
    TABLE_TOPS,
    BoardAppearance,
    Color,
    Lamp,
    Processing,
    Sensor,
    SkyLobe,
    Surroundings,
)

MAX_TILT_DEG = 15.0

MAX_BARREL = 0.20
"""Largest displacement toward the middle that a lens shows at the picture's corners, as a share of the radius."""
_EDGE_POINTS = 9  # a barrel lens bulges an edge, so points between its ends are needed
_HALVINGS = 24  # of the interval of distances: to less than a millimeter
_AIMINGS = 4  # corrections until the outline is where it is wanted

SIZES_PX: Final = ((1280, 720), (1920, 1080), (1280, 720), (2560, 1440), (1920, 1080))
"""Sizes of the pictures of webcams in use."""

LEAST_PX_PER_MM: Final = 0.8  # resolution of the board below which a base is too small to be read
_TILT_DEG: Final = 26.0
_USUAL_CHANCE: Final = 0.7


def draw_camera(deck: Deck, field: FieldModel, board: BoardAppearance, size: tuple[int, int]) -> Camera:
    """Return a camera over the board, which nearly fills the picture."""
    lens = draw_lens(deck, size)
    away = math.radians(deck.free(0, 360))
    tilt = math.radians(deck.uniform(0, MAX_TILT_DEG) if deck.chance(0.8) else deck.uniform(0, 2))
    roll = math.radians(deck.uniform(-4, 4) + (180 if deck.chance(0.3) else 0))
    return framed(
        lens,
        attitude(tilt, away, roll),
        board_outline_mm(field, board),
        fill=deck.uniform(0.86, 0.985),
        off=(deck.free(-1, 1), deck.free(-1, 1)),
    )


def draw_view(deck: Deck, field: FieldModel, board: BoardAppearance, size: tuple[int, int]) -> Camera:
    """Return a camera over the board: usual ones, and tilted or distant ones down to `LEAST_PX_PER_MM`."""
    lens, outline = draw_lens(deck, size), board_outline_mm(field, board)
    tilt = math.radians(deck.uniform(0, 15) if deck.chance(_USUAL_CHANCE) else deck.uniform(0, _TILT_DEG))
    roll = math.radians(deck.uniform(-5, 5) + (180 if deck.chance(0.3) else 0))
    fill = deck.uniform(0.86, 0.985)
    if not deck.chance(_USUAL_CHANCE):
        least = max(LEAST_PX_PER_MM * float(np.ptp(outline[:, 0])) / size[0], 0.3)
        fill = deck.uniform(min(least, 0.9), 0.93)
    turned = attitude(tilt, math.radians(deck.free(0, 360)), roll)
    return framed(lens, turned, outline, fill=fill, off=(deck.free(-1, 1), deck.free(-1, 1)))


def draw_lens(deck: Deck, size: tuple[int, int]) -> Lens:
    """Return a lens with invertible distortion over the whole picture; the rare lens without it is drawn again."""
    while not is_invertible(lens := _any_lens(deck, size)):
        pass
    return lens


def _any_lens(deck: Deck, size: tuple[int, int]) -> Lens:
    width, height = size
    focal = width / 2 / math.tan(math.radians(deck.uniform(48, 88)) / 2)
    stretch = 1 + deck.uniform(-0.002, 0.002)
    center = ((width - 1) / 2 + deck.uniform(-0.02, 0.02) * width, (height - 1) / 2 + deck.uniform(-0.02, 0.02) * width)
    pinch = deck.uniform(-0.03, MAX_BARREL) if deck.chance(0.8) else deck.uniform(-0.01, 0.02)
    bend = deck.uniform(0.0, 0.35)
    corner = math.hypot(width, height) / 2 / focal / (1 - pinch)  # undistorted radius of the corner
    k1, k2 = -pinch * (1 + bend) / corner**2, pinch * bend / corner**4
    slant = 0.002 * (1 - abs(pinch))
    distortion = (k1, k2, deck.uniform(-slant, slant), deck.uniform(-slant, slant), 0.0)
    return Lens(size, (focal, focal * stretch), center, distortion)


def is_invertible(lens: Lens) -> bool:
    """Return whether every pixel, and a rim of 2% around the picture, has exactly one ray."""
    width, height = lens.size_px
    x, y = np.meshgrid(np.linspace(-0.02, 1.02, 27) * width, np.linspace(-0.02, 1.02, 17) * height)
    rays = lens.undistort(np.stack([x.ravel(), y.ravel()], axis=1))
    if np.isnan(rays).any():
        return False
    # The radius must grow monotonically from the axis to each ray, or a second ray reaches the same pixel.
    along = np.linspace(0, 1, 20)[:, None, None] * rays
    _, jacobian = lens.distort_with_jacobians(along.reshape(-1, 2))
    return bool(np.all(np.linalg.det(jacobian) > 0.05))


def board_outline_mm(field: FieldModel, board: BoardAppearance) -> Array:
    """Return points around the board and its rail's top, mm, shape (n, 3)."""
    wide = board.rail_mm[1] if board.rail_mm[0] > 0 else 0.0
    left, low, right, high = field.board_mm
    x = np.linspace(left - wide, right + wide, _EDGE_POINTS)
    y = np.linspace(low - wide, high + wide, _EDGE_POINTS)
    rim = [*((a, y[0]) for a in x), *((a, y[-1]) for a in x), *((x[0], b) for b in y), *((x[-1], b) for b in y)]
    heights = (0.0, max(board.rail_mm[0], 0.0))
    points: Array = np.array([(a, b, z) for z in heights for a, b in rim])
    return points


def attitude(tilt: float, away: float, roll: float) -> Array:
    """Return a board-to-camera rotation: straight down with +x to the right, tilted toward a direction, then rolled."""
    down = np.diag([1.0, -1.0, -1.0])
    lean = cv2.Rodrigues(np.array([math.cos(away), math.sin(away), 0.0]) * tilt)[0]
    turn = cv2.Rodrigues(np.array([0.0, 0.0, roll]))[0]
    return np.asarray(turn @ lean @ down, dtype=np.float64)


def framed(lens: Lens, rotation: Array, outline_mm: Array, *, fill: float, off: tuple[float, float]) -> Camera:
    """Return the nearest camera with the outline within a share of the picture, as far off the middle as allowed."""
    near, far = 0.2 * np.ptp(outline_mm[:, 0]), 8.0 * np.ptp(outline_mm[:, 0])
    camera = _aimed(lens, rotation, outline_mm, far, off)
    for _ in range(_HALVINGS):
        distance = (near + far) / 2
        nearer = _aimed(lens, rotation, outline_mm, distance, off)
        if _fits(nearer, outline_mm, fill):
            camera, far = nearer, distance
        else:
            near = distance
    return camera


def _aimed(lens: Lens, rotation: Array, outline_mm: Array, distance_mm: float, off: tuple[float, float]) -> Camera:
    """Return a camera at a distance, moved sideways until the outline is at the wanted place."""
    size = np.array(lens.size_px, dtype=np.float64)
    x, y, z = (float(v) for v in cv2.Rodrigues(rotation)[0].ravel())
    middle = rotation @ outline_mm.mean(axis=0)
    eye = np.array([0.0, 0.0, distance_mm]) - middle
    for _ in range(_AIMINGS):
        camera = Camera(lens, (x, y, z), (float(eye[0]), float(eye[1]), float(eye[2])))
        seen = camera.to_pixels(outline_mm)
        low, high = seen.min(axis=0), seen.max(axis=0)
        wanted = (size - 1) / 2 + np.maximum(size - (high - low), 0) / 2 * 0.6 * np.array(off)
        eye[:2] -= ((low + high) / 2 - wanted) * distance_mm / np.array(lens.focal_px)
    return camera


def _fits(camera: Camera, outline_mm: Array, fill: float) -> bool:
    lens = camera.lens
    rim = lens.undistort(np.array([(0, 0), (1, 0), (0, 1), (1, 1)]) * np.array(lens.size_px))
    points = outline_mm @ camera.board_to_camera.T + camera.translation_mm
    if np.any(points[:, 2] <= 0):
        return False
    if np.linalg.norm(points[:, :2] / points[:, 2:], axis=1).max() > np.linalg.norm(rim, axis=1).max():
        return False  # beyond the field of view, where a barrel lens folds back into the picture
    seen = camera.to_pixels(outline_mm)
    size = np.array(lens.size_px)
    inside = np.all(seen >= 1) and np.all(seen <= size - 2)
    return bool(inside and np.all(np.ptp(seen, axis=0) <= fill * size))


def draw_sensor(deck: Deck, fps: float, size: tuple[int, int]) -> Sensor:
    """Return the properties of a camera beyond geometry."""
    scale = size[0] / 1920
    return Sensor(
        fps=fps,
        exposure_ms=min(deck.uniform(0.5, 16), 900 / fps),
        gain=deck.uniform(0.75, 1.25),
        white_balance=(deck.uniform(0.88, 1.12), 1.0, deck.uniform(0.88, 1.12)),
        noise=deck.uniform(0.5, 7),
        blur_px=deck.uniform(0.25, 1.4) * scale,
        flicker=deck.uniform(0, 0.12) if deck.chance(0.5) else 0.0,
        mains_hz=50.0 if deck.chance(0.5) else 60.0,
        rolling_ms=deck.uniform(3, 20) if deck.chance(0.8) else 0.0,
        shake_px=deck.uniform(0.02, 0.5) * scale,
        buzz_px=deck.uniform(0.02, 0.6) * scale,
        jpeg=round(deck.uniform(68, 97)),
        vignette=deck.uniform(0, 0.35),
    )


def draw_webcam(deck: Deck, fps: float, size: tuple[int, int]) -> Sensor:
    """Return a sensor, from a good camera's to a cheap webcam's soft, sharpened, noisy and compressed picture."""
    scale = size[0] / 1920
    cheap = deck.rng.random()
    soft = deck.uniform(0.3, 1.5) if deck.chance(0.85) else deck.uniform(1.3, 2.4)
    return Sensor(
        fps=fps,
        exposure_ms=min(_spread(deck, 0.5, 20.0), 900 / fps),
        gain=_spread(deck, 0.6, 1.6),
        white_balance=(_spread(deck, 0.82, 1.2), 1.0, _spread(deck, 0.82, 1.2)),
        noise=_spread(deck, 0.4, 3.5) if cheap < 0.75 else _spread(deck, 2.5, 7.0),
        blur_px=soft * (0.35 + 0.65 * scale),
        flicker=deck.uniform(0, 0.12) if deck.chance(0.35) else 0.0,
        mains_hz=50.0 if deck.chance(0.5) else 60.0,
        rolling_ms=deck.uniform(3, 30) if deck.chance(0.85) else 0.0,
        shake_px=deck.uniform(0.02, 0.5) * scale,
        buzz_px=deck.uniform(0.02, 0.6) * scale,
        jpeg=round(deck.uniform(45, 97) if cheap < 0.85 else deck.uniform(25, 60)),
        vignette=deck.uniform(0, 0.4),
        processing=Processing(
            sharpen=max(deck.uniform(-0.6, 1.6), 0.0),
            sharpen_px=deck.uniform(0.7, 2.0) * (0.5 + 0.5 * scale),
            contrast=deck.uniform(-0.1, 0.7),
            gamma=float(np.exp(deck.rng.normal(0, 0.12))),
            black=float(np.clip(deck.rng.normal(0, 0.02), -0.02, 0.06)),
            saturation=float(np.clip(deck.rng.normal(1.0, 0.28), 0.0, 1.9)),
            hue_deg=float(deck.rng.normal(0, 3.5)),
            aberration_px=max(deck.uniform(-1.0, 1.6), 0.0) * scale,
            denoise=max(deck.uniform(-0.6, 1.0), 0.0),
        ),
    )


def _spread(deck: Deck, low: float, high: float) -> float:
    """Return a factor, evenly spread over its logarithm."""
    return float(np.exp(deck.uniform(math.log(low), math.log(high))))


_LEAST_DIRECT, _MOST_DIRECT = 0.2, 0.92
_TABLE_Z_MM = (-2.0, -8.0, -20.0, -45.0, -70.0)


def draw_lamps(deck: Deck, field: FieldModel) -> tuple[Lamp, ...]:
    """Return one to three lamps over and around the table, and the ambient light, which is the rest up to 1."""
    count = int(deck.rng.integers(1, 4))
    direct = deck.uniform(0.25, 0.75)
    shares = [deck.free(0.5, 1.5) for _ in range(count)]
    warmth = deck.uniform(-0.1, 0.12)
    return tuple(
        Lamp(
            (
                field.length_mm / 2 + deck.uniform(-1.2, 1.2) * field.length_mm,
                field.width_mm / 2 + deck.uniform(-1.5, 1.5) * field.length_mm,
                deck.uniform(900, 2600),
            ),
            direct * share / sum(shares),
            (1 + warmth, 1.0, 1 - warmth),
            deck.uniform(10, 250),
        )
        for share in shares
    )


def vary_lamps(deck: Deck, lamps: tuple[Lamp, ...], field: FieldModel) -> tuple[Lamp, ...]:
    """Return lamps for a table: the drawn ones, one bulb, a window, or panels; ambient light is the rest up to 1."""
    kind = deck.rng.random()
    if kind < 0.2:
        lamps = (_bulb(deck, field),)
    elif kind < 0.4:
        lamps = (_window(deck, field), *lamps[: int(deck.rng.integers(0, 2))])
    elif kind < 0.5:
        lamps = tuple(_panel(deck, field) for _ in range(int(deck.rng.integers(1, 4))))
    tinted = deck.chance(0.25)
    total = sum(lamp.strength for lamp in lamps)
    direct = min(max(total, _LEAST_DIRECT), _MOST_DIRECT)
    lamps = tuple(replace(lamp, strength=lamp.strength * direct / total) for lamp in lamps)
    return tuple(replace(lamp, color=_tinted(deck, lamp.color, 0.18)) for lamp in lamps) if tinted else lamps


def _bulb(deck: Deck, field: FieldModel) -> Lamp:
    at = (*_about(deck, field, 1.1), deck.uniform(600, 2200))
    return Lamp(at, deck.uniform(0.5, 0.92), _tinted(deck, (1.0, 1.0, 1.0), 0.05), deck.uniform(3, 25))


def _window(deck: Deck, field: FieldModel) -> Lamp:
    way, away = deck.free(0, 2 * math.pi), deck.uniform(0.9, 2.5) * field.length_mm
    x, y = field.length_mm / 2 + away * math.cos(way), field.width_mm / 2 + away * math.sin(way)
    half = (deck.uniform(300, 900), deck.uniform(300, 700))
    color = _tinted(deck, (1.0, 1.0, 1.0), 0.08)
    return Lamp((x, y, deck.uniform(500, 1600)), deck.uniform(0.3, 0.8), color, max(half), half)


def _panel(deck: Deck, field: FieldModel) -> Lamp:
    half = (deck.uniform(80, 650), deck.uniform(40, 300))
    at = (*_about(deck, field, 0.9), deck.uniform(1200, 2600))
    return Lamp(at, deck.uniform(0.2, 0.6), _tinted(deck, (1.0, 1.0, 1.0), 0.04), max(half), half)


def _about(deck: Deck, field: FieldModel, reach: float) -> tuple[float, float]:
    x, y = (deck.uniform(-reach, reach) * field.length_mm for _ in range(2))
    return field.length_mm / 2 + x, field.width_mm / 2 + y


def _tinted(deck: Deck, color: Color, spread: float) -> Color:
    red, green, blue = (np.array(color) * np.exp(deck.rng.normal(0, spread, 3))).tolist()
    return (red, green, blue)


def draw_surroundings(deck: Deck, gloss: float) -> Surroundings:
    """Return table and room of a board with a gloss of 0..1."""
    return Surroundings(
        table_z_mm=deck.choice(_TABLE_Z_MM),
        table_top=TABLE_TOPS[int(deck.rng.integers(len(TABLE_TOPS)))],
        grain=deck.uniform(0.05, 0.6),
        table_roughness=deck.uniform(0.15, 0.9),
        board_roughness=0.8 - 0.68 * gloss * deck.uniform(0.5, 1),
        board_reflectance=deck.uniform(0.02, 0.07),
        sky=_tinted(deck, (1.0, 1.0, 1.0), 0.06),
        sky_rise=deck.uniform(-0.3, 0.8),
        lobes=(_lobe(deck), _lobe(deck)),
    )


def _lobe(deck: Deck) -> SkyLobe:
    toward = deck.rng.normal(0, 1, 3)
    toward[2] = abs(toward[2])
    x, y, z = (toward / np.linalg.norm(toward)).tolist()
    bright = 1.5 * deck.uniform(0, 1) ** 2
    return SkyLobe((x, y, z), math.exp(deck.uniform(0, 2.2)), _tinted(deck, (bright, bright, bright), 0.12))


def skin_and_sleeve(deck: Deck) -> tuple[Color, Color]:
    """Return the colors of a coach's skin and sleeve (the same when the arm is bare)."""
    skin = deck.choice(colors.SKINS)
    return skin, skin if deck.chance(0.35) else deck.choice(colors.STRONG)
