"""Photos of play cards with known results: windows in a row on a card, taken at an angle and in uneven light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Array, Image, Plane
from downfield.twin.randomization import colors
from downfield.twin.table.lettering import FONTS, text_mask

_PX_PER_MM: Final = 12.0
_CARD_MM: Final = (88.0, 125.0)
_INKS: Final = {"black": (28, 26, 25), "red": (38, 32, 190), "blue": (170, 70, 25)}
_TABLES: Final = ((70, 90, 120), (50, 55, 60), (150, 160, 165), (60, 80, 45))


@dataclass(frozen=True, slots=True)
class PrintedResult:
    """One result on a card.

    Attributes:
        color: of its ink.
        shown: its text.
        dot: color of the dot to its left; None without one.
    """

    color: str
    shown: str
    dot: str | None = None


@dataclass(frozen=True, slots=True)
class CardLook:
    """How a card and its photo look.

    Attributes:
        seed: of colors, font, places, light, angle and noise.
        turn_deg: by which the photo is turned.
        size_px: width and height of the photo.
        blur_px: standard deviation of its blur.
    """

    seed: int
    turn_deg: float = 0.0
    size_px: tuple[int, int] = (1200, 1600)
    blur_px: float = 1.0


def photograph(windows: Sequence[Sequence[PrintedResult]], look: CardLook) -> Image:
    """Return a photo of a card with these windows, from the one for the lowest rolls on; uint8 blue green red."""
    rng = np.random.default_rng([look.seed, 0xCA2D])
    card = _card(windows, rng)
    return _photo(card, look, rng)


def _card(windows: Sequence[Sequence[PrintedResult]], rng: np.random.Generator) -> Image:
    wide, high = (round(side * _PX_PER_MM) for side in _CARD_MM)
    dark = rng.random() < 0.7
    bodies = (*colors.STRONG, *colors.DARKS) if dark else colors.PAINTS[:2]
    body = np.array(bodies[int(rng.integers(len(bodies)))])[::-1] * (150 if dark else 120)
    image = np.full((high, wide, 3), body, dtype=np.float32)
    font = int(rng.integers(FONTS))
    width, height, step = rng.uniform(46, 60), rng.uniform(8.5, 10.5), rng.uniform(17, 21)
    left, first = rng.uniform(14, 26), rng.uniform(20, 26)
    paper = np.array([rng.uniform(215, 240), rng.uniform(225, 245), rng.uniform(230, 250)])
    _write(image, "DIVE TACKLE", (8, 4, 60, 8), np.array((235, 235, 235)) if dark else np.zeros(3), font)
    for number, results in enumerate(windows):
        top = first + number * step
        rows, columns = _span(top, top + height), _span(left, left + width)
        image[rows, columns] = paper
        share = width / len(results)
        for place, result in enumerate(results):
            _result(image, result, (left + place * share, top, share, height), font)
    return np.asarray(np.clip(image, 0, 255), dtype=np.uint8)


def _result(image: Plane, result: PrintedResult, box: tuple[float, float, float, float], font: int) -> None:
    x, y, wide, high = box
    if result.dot is not None:
        side = 0.17 * high
        rows, columns = _span(y + 0.42 * high, y + 0.42 * high + side), _span(x + 1.2, x + 1.2 + side)
        image[rows, columns] = _INKS[result.dot]
    text = (x + 1.2 + 0.3 * high, y + 0.2 * high, wide - 2.4 - 0.3 * high, 0.6 * high)
    _write(image, result.shown, text, np.array(_INKS[result.color]), font)


def _write(image: Plane, text: str, box: tuple[float, float, float, float], ink: Array, font: int) -> None:
    """Write a text into a box, x, y, width and height in mm, at the box's left and of its height."""
    x, y, wide, high = (side * _PX_PER_MM for side in box)
    mask = text_mask(text.replace("0", "O"), (wide, high), font)
    rows, columns = mask.shape
    top, left = round(y + (high - rows) / 2), round(x)
    part = image[top : top + rows, left : left + columns]
    part += mask[: part.shape[0], : part.shape[1], None] * (ink - part)


def _span(low_mm: float, high_mm: float) -> slice:
    return slice(round(low_mm * _PX_PER_MM), round(high_mm * _PX_PER_MM))


def _photo(card: Image, look: CardLook, rng: np.random.Generator) -> Image:
    """Return a card on a table as a hand-held camera takes it."""
    wide, high = look.size_px
    rows, columns = card.shape[:2]
    scale = 0.86 * min(wide / columns, high / rows)
    half = np.array([(-columns, -rows), (columns, -rows), (columns, rows), (-columns, rows)]) * scale / 2
    angle = np.radians(look.turn_deg + rng.uniform(-6, 6))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = half @ turn.T + np.array([wide / 2, high / 2]) + rng.uniform(-0.02, 0.02, (4, 2)) * min(wide, high)
    flat = np.array([(0, 0), (columns, 0), (columns, rows), (0, rows)], dtype=np.float32)
    place = cv2.getPerspectiveTransform(flat, corners.astype(np.float32))
    table = np.array(_TABLES[int(rng.integers(len(_TABLES)))], dtype=np.float32)
    soft = cv2.GaussianBlur(card, (0, 0), max(0.5 / scale, 0.3))
    image = cv2.warpPerspective(soft, place, (wide, high), flags=cv2.INTER_AREA).astype(np.float32)
    covered = cv2.warpPerspective(np.ones(card.shape[:2], np.float32), place, (wide, high))[:, :, None]
    image = np.asarray(covered * image + (1 - covered) * table, dtype=np.float32)
    x, y = np.meshgrid(np.linspace(-1, 1, wide), np.linspace(-1, 1, high))
    light = rng.uniform(0.75, 1.0) * (1 + rng.uniform(-0.2, 0.2) * x + rng.uniform(-0.2, 0.2) * y)
    warm = 1 + rng.uniform(-0.08, 0.08) * np.array([1.0, 0.0, -1.0])
    lit: Plane = np.asarray(image * light[:, :, None] * warm, dtype=np.float32)
    noisy = cv2.GaussianBlur(lit, (0, 0), look.blur_px) + rng.normal(0, rng.uniform(1.0, 4.0), lit.shape)
    coded = cv2.imencode(".jpg", np.clip(noisy, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 88])[1]
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), dtype=np.uint8)


WINDOWS = tuple(
    tuple(PrintedResult(color, *result) for color, result in zip(("black", "red", "blue"), window, strict=True))
    for window in (
        (("-2", "black"), ("3", "red"), ("inc", None)),
        (("7", "blue"), ("13i", None), ("10F", "red")),
        (("24", "red"), ("-5", "black"), ("6", "blue")),
        (("inc", None), ("9", "black"), ("38", "red")),
        (("15", "blue"), ("20F", "red"), ("41", "black")),
    )
)
LINES = (
    "-2 black, 3 red, inc",
    "7 blue, 13i, 10F red",
    "24 red, -5 black, 6 blue",
    "inc, 9 black, 38 red",
    "15 blue, 20F red, 41 black",
)
