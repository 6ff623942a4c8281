"""Varies training pictures: other light and cameras, balls drawn into them, and hard shadows of their figures.

A rendered picture shows a single ball of few makes, mostly hidden: so more are drawn near figures, over them or
anywhere on the table, as a football from above or a disc with a football or a cross on it, in any likely color, now and
then partly covered. A bare bulb in a dark room casts shadows as dark and sharp as figures, with arms and a head, but
without a base: the networks must see many to reject them.
"""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image
from downfield.training.data.objects import BALL_KIND, BALL_POINT, Objects

_GAIN = 0.14  # per channel: white balance
_BRIGHT = (0.6, 1.35)
_GAMMA = (0.75, 1.35)
_HUE_DEG = 9.0
_SATURATION = (0.6, 1.4)
_BLUR_PX = (0.3, 1.1)
_NOISE = (1.0, 9.0)
_JPEG = (35, 92)
_LIT_CHANCE = 0.35
_FALL_OFF = 0.18  # of the light's logarithm over a picture
_SHADOW_CHANCE, _SHADOW, _SHADOW_SOFT_PX = 0.4, (0.2, 0.6), (1.0, 40.0)
_GLARE_CHANCE, _GLARE, _GLARE_SHARE = 0.3, (30.0, 140.0), (0.05, 0.3)


def recolor(image: Image, rng: np.random.Generator) -> Image:
    """Change the light and the sensor of a picture; the geometry stays.

    Args:
        image: uint8 blue green red, shape (height, width, 3).
    """
    if rng.random() < 0.5:
        image = _shift_hue(image, rng)
    shades = np.arange(256) / 255.0
    curves = [
        rng.uniform(*_BRIGHT) ** 0.5 * rng.normal(1, _GAIN / 2) * shades ** rng.uniform(*_GAMMA) for _ in range(3)
    ]
    shared = rng.uniform(*_BRIGHT) ** 0.5
    lut = np.clip(255 * np.clip(np.stack(curves, axis=1), 0, 1) * shared, 0, 255).astype(np.uint8)[None]
    image = np.asarray(cv2.LUT(image, lut), dtype=np.uint8)
    if rng.random() < _LIT_CHANCE:
        image = _lit(image, rng)
    if rng.random() < 0.25:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), rng.uniform(*_BLUR_PX)), dtype=np.uint8)
    if rng.random() < 0.3:
        noise = rng.standard_normal(image.shape, dtype=np.float32) * np.float32(rng.uniform(*_NOISE))
        image = np.clip(image + noise, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(*_JPEG))])
        image = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
    return image


def _lit(image: Image, rng: np.random.Generator) -> Image:
    """The picture with the light falling off, a shadow's edge across it, or a lamp mirrored in it."""
    height, width = image.shape[:2]
    grid = np.exp(rng.normal(0, _FALL_OFF, (3, 3))).astype(np.float32)
    light = cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    at = rng.uniform(0, 1, 2) * (width, height)
    if rng.random() < _SHADOW_CHANCE:
        way, soft = rng.uniform(0, 2 * np.pi), rng.uniform(*_SHADOW_SOFT_PX)
        behind = ((x - at[0]) * np.cos(way) + (y - at[1]) * np.sin(way)) / soft
        light = light * (1 - rng.uniform(*_SHADOW) * np.clip(behind + 0.5, 0, 1).astype(np.float32))
    lit = image * np.clip(light, 0.2, 2.0)[..., None]
    if rng.random() < _GLARE_CHANCE:
        reach = rng.uniform(*_GLARE_SHARE) * max(width, height)
        glare = np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / (2 * reach**2))
        lit = lit + rng.uniform(*_GLARE) * glare[..., None]
    return np.asarray(np.clip(lit, 0, 255), dtype=np.uint8)


def _shift_hue(image: Image, rng: np.random.Generator) -> Image:
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    hue = (np.arange(256) + rng.normal(0, _HUE_DEG / 2)) % 180  # OpenCV counts hue in steps of 2 degrees
    saturation = np.clip(np.arange(256) * rng.uniform(*_SATURATION), 0, 255)
    lut = np.stack([hue, saturation, np.arange(256)], axis=1).astype(np.uint8)[None]
    return np.asarray(cv2.cvtColor(cv2.LUT(hsv, lut), cv2.COLOR_HSV2BGR), dtype=np.uint8)


_BALLS_CHANCE = 0.35  # of a picture
_MOST_BALLS = 3  # balls drawn into one
_SEEN_FLAG = 2.0
_BALL_LENGTH = (0.18, 0.45)  # of a base's length
_SLENDER = (0.5, 0.8)  # width by length
_DISC_CHANCE = 0.3
_BALL_REACH, _FAR, _FAR_CHANCE = 0.75, 8.0, 0.35  # of a base's length, from its middle
_LEAST_BALL_PX = 4.0
_COVER_CHANCE, _COVERED = 0.4, (-0.35, 0.9)  # where what covers it begins, by half its length: at least a third is seen
_FINE = 8  # drawn so much larger, for soft edges
_SOFT_PX = (0.3, 1.2)
_BALL_COLORS = np.array(
    [(35, 60, 110), (25, 40, 75), (60, 95, 150), (225, 225, 230), (170, 200, 215), (70, 190, 215), (40, 110, 190)]
)  # blue green red: browns, whites, yellow and orange
_TINT = 22.0  # deviation about them
_SHADE = (0.25, 0.6)


def lay_balls(image: Image, objects: Objects, rng: np.random.Generator) -> tuple[Image, Objects]:
    """Draw balls into some pictures; return the picture and its objects.

    Args:
        image: blue green red, uint8 (height, width, 3).

    Returns:
        The picture, the same one where nothing is drawn, and the objects with the balls.
    """
    known = (objects.points[:, :4, 2] > 0).all(axis=1)
    corners = objects.points[known, :4, :2]
    if not len(corners) or rng.random() >= _BALLS_CHANCE:
        return image, objects
    image = image.copy()
    length_px = float(np.median(np.linalg.norm(corners[:, 0] - corners[:, 3], axis=1)))
    boxes, middles = [], []
    for _ in range(1 + int(rng.integers(_MOST_BALLS))):
        about = corners[int(rng.integers(len(corners)))].mean(axis=0)
        reach = _FAR if rng.random() < _FAR_CHANCE else _BALL_REACH
        x, y = about + rng.uniform(-reach, reach, 2) * length_px
        half = max(rng.uniform(*_BALL_LENGTH) * length_px, _LEAST_BALL_PX) / 2
        if _draw_ball(image, np.array((x, y)), half, rng):
            boxes.append((x - half, y - half, x + half, y + half))
            middles.append((x, y))
    if not boxes:
        return image, objects
    points = np.zeros((len(boxes), objects.points.shape[1], 3))
    points[:, BALL_POINT] = [(*middle, _SEEN_FLAG) for middle in middles]
    return image, dataclasses.replace(
        objects,
        kinds=np.concatenate([objects.kinds, np.full(len(boxes), BALL_KIND)]),
        boxes=np.concatenate([objects.boxes, boxes]),
        points=np.concatenate([objects.points, points]),
    )


def _draw_ball(image: Image, middle: Array, half_px: float, rng: np.random.Generator) -> bool:
    """Draw one ball in place; return whether there was room for it."""
    margin = int(np.ceil(half_px)) + 3
    left, top = (int(value) - margin for value in np.floor(middle))
    side = 2 * margin + 1
    if left < 0 or top < 0 or left + side > image.shape[1] or top + side > image.shape[0]:
        return False
    area = image[top : top + side, left : left + side]
    drawn, mask = _ball_picture(side, middle - (left, top), half_px, rng)
    light = np.clip(np.median(area.max(axis=2)) / 170.0, 0.25, 1.15)
    soft = rng.uniform(*_SOFT_PX)
    share = cv2.GaussianBlur(mask, (0, 0), soft)[..., None] / 255.0
    paint = cv2.GaussianBlur(drawn, (0, 0), soft).astype(np.float64) * light
    shadow = np.roll(share, rng.integers(-2, 3, 2), axis=(0, 1)) * rng.uniform(0, 0.5)
    area[:] = np.clip(area * (1 - shadow) * (1 - share) + paint * share, 0, 255).astype(np.uint8)
    return True


def _ball_picture(
    side: int, middle: Array, half_px: float, rng: np.random.Generator
) -> tuple[Image, NDArray[np.float32]]:
    """Return a ball's picture and how much of each pixel it covers, 0..255, shape (side, side, 3) and (side, side)."""
    fine = side * _FINE
    x, y = ((middle + 0.5) * _FINE).tolist()
    turn = rng.uniform(0, 360)
    ink, other = (_ball_color(rng) for _ in range(2))
    picture = np.zeros((fine, fine, 3), dtype=np.uint8)
    mask = np.zeros((fine, fine), dtype=np.uint8)
    disc = rng.random() < _DISC_CHANCE
    slender = 1.0 if disc else rng.uniform(*_SLENDER)
    half = half_px * _FINE
    whole = ((x, y), (2 * half, 2 * half * slender), turn)
    picture[:] = ink
    cv2.ellipse(mask, whole, 255, -1)
    way = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
    if disc and rng.random() < 0.5:
        cv2.ellipse(picture, ((x, y), (1.3 * half, 0.8 * half), turn), other, -1)
    elif disc:
        for axis in (way, np.array([-way[1], way[0]])):
            _stroke(picture, np.array((x, y)), axis * half * 0.7, other, 0.25 * half)
    elif rng.random() < 0.6:  # laces or stripes
        _stroke(picture, np.array((x, y)), way * half * rng.uniform(0.2, 0.5), other, 0.15 * half)
        for end in (-0.6, 0.6) if rng.random() < 0.4 else ():
            across = np.array([-way[1], way[0]]) * half * slender
            _stroke(picture, np.array((x, y)) + end * half * way, across, other, 0.15 * half)
    rows, columns = np.mgrid[0:fine, 0:fine]
    lit = rng.uniform(0, 2 * np.pi)
    aside = ((columns - x) * np.cos(lit) + (rows - y) * np.sin(lit)) / half
    shaded = picture * (1 - rng.uniform(*_SHADE) * np.clip(aside * 0.5 + 0.5, 0, 1))[..., None]
    if rng.random() < _COVER_CHANCE:
        cut = rng.uniform(0, 2 * np.pi)
        along = ((columns - x) * np.cos(cut) + (rows - y) * np.sin(cut)) / half
        mask[along > rng.uniform(*_COVERED) + 0.3] = 0
    size = (side, side)
    small = cv2.resize(shaded.astype(np.uint8), size, interpolation=cv2.INTER_AREA)
    covers = cv2.resize(mask, size, interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8), np.asarray(covers, dtype=np.float32)


def _stroke(picture: Image, at: Array, reach: Array, ink: tuple[int, ...], thick: float) -> None:
    (x, y), (u, v) = (np.rint(point).astype(int).tolist() for point in (at - reach, at + reach))
    cv2.line(picture, (x, y), (u, v), ink, max(round(thick), 1), cv2.LINE_AA)


def _ball_color(rng: np.random.Generator) -> tuple[int, ...]:
    color = _BALL_COLORS[int(rng.integers(len(_BALL_COLORS)))] + rng.normal(0, _TINT, 3)
    return tuple(int(value) for value in np.clip(color, 0, 255))


_SHADOWS_CHANCE = 0.3  # of a picture
_CASTS = 0.9  # of a figure in it
_UPRIGHT = 0
_STRETCH = (0.2, 1.8)  # a shadow's length by its figure's height: a lamp from nearly overhead to 30 degrees
_HEIGHT = (0.9, 1.3)  # of a figure, by its base's length; so are all that follow
_DARK = (0.35, 0.95)
_SOFT = (0.01, 0.07)
_LEG, _TORSO, _ARM, _HEAD = 0.1, 0.28, 0.09, 0.11  # thicknesses, and the head's radius
_APART = 0.12  # of legs and shoulders from the middle
_SPREAD = 0.5  # how far aside a hand may be
_BASE_HEIGHT = 0.1
_SUBPIXEL = 4  # bits


def cast_hard_shadows(image: Image, objects: Objects, rng: np.random.Generator) -> tuple[Image, Array]:
    """Draw a hard lamp's shadows into some pictures; return the picture and where the shadows are.

    Args:
        image: blue green red, uint8 (height, width, 3).

    Returns:
        The picture, the same one where it has none, and the middles of what was cast, pixels, shape (k, 2).
    """
    upright = objects.points[(objects.kinds == _UPRIGHT) & (objects.points[:, :4, 2] > 0).all(axis=1), :4, :2]
    if not len(upright) or rng.random() >= _SHADOWS_CHANCE:
        return image, np.zeros((0, 2))
    turn, stretch = rng.uniform(0, 2 * np.pi), float(np.exp(rng.uniform(*np.log(_STRETCH))))
    away = np.array([np.cos(turn), np.sin(turn)])
    lengths = np.linalg.norm(upright[:, :2].mean(axis=1) - upright[:, 2:].mean(axis=1), axis=1)
    shade = np.zeros(image.shape[:2], dtype=np.uint8)
    for corners, length in zip(upright, lengths, strict=True):
        edge = np.concatenate([corners, corners + _BASE_HEIGHT * stretch * length * away])
        cv2.fillConvexPoly(shade, cv2.convexHull(_fixed(edge)), 255, cv2.LINE_AA, _SUBPIXEL)
    for corners in upright:  # bases are too low to shade one another's tops
        cv2.fillConvexPoly(shade, _fixed(corners), 0, cv2.LINE_AA, _SUBPIXEL)
    casting = rng.random(len(upright)) < _CASTS
    for corners, length in zip(upright[casting], lengths[casting], strict=True):
        _cast(shade, corners.mean(axis=0), away * stretch * length, float(length), rng)
    spots = upright[casting].mean(axis=1) + 0.6 * stretch * lengths[casting][:, None] * away
    soft = rng.uniform(*_SOFT) * float(np.median(lengths))
    shade = np.asarray(cv2.GaussianBlur(shade, (0, 0), max(soft, 0.3)), dtype=np.uint8)
    light = cv2.cvtColor(cv2.convertScaleAbs(shade, alpha=-rng.uniform(*_DARK), beta=255), cv2.COLOR_GRAY2BGR)
    lit = np.asarray(cv2.multiply(image, light, scale=1 / 255), dtype=np.uint8)
    return lit, spots


def _cast(shade: Image, foot: Array, ahead: Array, length: float, rng: np.random.Generator) -> None:
    """Draw the shadow of one figure, whose height `ahead` stands for, without its base."""
    aside = np.array([-ahead[1], ahead[0]]) / max(float(np.linalg.norm(ahead)), 1e-9) * length
    height = rng.uniform(*_HEIGHT)

    def at(up: float, sideways: float) -> Array:
        spot: Array = foot + up * height * ahead + sideways * aside
        return spot

    for side in (-_APART, _APART):
        _line(shade, at(0, side * rng.uniform(0.5, 2)), at(0.45, side), _LEG * length)
        hand = at(rng.uniform(0.3, 1.0), np.sign(side) * rng.uniform(_APART, _SPREAD))
        _line(shade, at(0.72, side), hand, _ARM * length)
    _line(shade, at(0.42, 0), at(0.75, 0), _TORSO * length)
    x, y = _fixed(at(0.92, rng.uniform(-_APART, _APART))).tolist()
    cv2.circle(shade, (x, y), round(_HEAD * length * 2**_SUBPIXEL), 255, -1, cv2.LINE_AA, _SUBPIXEL)


def _line(shade: Image, start: Array, end: Array, thickness: float) -> None:
    x, y, u, v = _fixed(np.concatenate([start, end])).tolist()
    cv2.line(shade, (x, y), (u, v), 255, max(round(thickness), 1), cv2.LINE_AA, _SUBPIXEL)


def _fixed(points: Array) -> NDArray[np.int32]:
    fixed: NDArray[np.int32] = np.rint(points * 2**_SUBPIXEL).astype(np.int32)
    return fixed
