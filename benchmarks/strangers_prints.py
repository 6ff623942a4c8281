"""Printed fields of the strangers' set: other lines, numbers, hashes and borders than the twin's."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Rng = np.random.Generator


@dataclass(frozen=True)
class Print:
    """A printed board.

    Attributes:
        image: uint8 blue green red; the first row at the highest y.
        low_mm, high_mm: board points of its lower left and upper right corners; the goal lines are at x 0 and length.
        yard_mm: along and across.
        length_mm, width_mm: goal line to goal line, sideline to sideline.
    """

    image: Image
    low_mm: tuple[float, float]
    high_mm: tuple[float, float]
    yard_mm: tuple[float, float]
    length_mm: float
    width_mm: float


def draw_print(rng: Rng, px_per_mm: float = 2.6) -> Print:
    """A board with a convention of its own."""
    length, aspect = rng.uniform(640, 1000), rng.uniform(1.62, 2.2)
    width = length / aspect
    yard = (length / 100, width / 53.333)
    zone, margin = 10 * yard[0], rng.uniform(6, 45, 2)
    low = (-zone - margin[0], -margin[1])
    high = (length + zone + margin[0], width + margin[1])
    size = (round((high[0] - low[0]) * px_per_mm), round((high[1] - low[1]) * px_per_mm))
    turf, border, paint, logo = _palette(rng)
    image: Image = np.full((size[1], size[0], 3), border, dtype=np.uint8)

    def box(x0: float, y0: float, x1: float, y1: float, color: tuple[int, int, int]) -> None:
        points = [
            (round((x - low[0]) * px_per_mm * 16), round((high[1] - y) * px_per_mm * 16))
            for x, y in ((x0, y0), (x1, y1))
        ]
        corners = np.array(
            [points[0], (points[1][0], points[0][1]), points[1], (points[0][0], points[1][1])], dtype=np.int32
        )
        cv2.fillConvexPoly(image, corners, color, cv2.LINE_AA, 4)

    edge = rng.uniform(0, 7)
    box(-zone - edge, -edge, length + zone + edge, width + edge, paint if rng.random() < 0.75 else (20, 20, 20))
    box(-zone, 0, length + zone, width, turf)
    if rng.random() < 0.4:
        for k in range(0, 20, 2):
            darker = tuple(int(0.88 * c) for c in turf)
            box(k * 5 * yard[0], 0, (k + 1) * 5 * yard[0], width, darker)  # type: ignore[arg-type]
    for x0 in (-zone, length):
        box(x0, 0, x0 + zone, width, tuple(int(c) for c in rng.integers(20, 220, 3)))  # type: ignore[arg-type]
    thin, goal = rng.uniform(0.5, 2.4), rng.uniform(0.8, 4.5)
    for k in range(5, 100, 5):
        if k % 10 and rng.random() < 0.15:
            continue
        box(k * yard[0] - thin / 2, 0, k * yard[0] + thin / 2, width, paint)
    shift = rng.choice([-0.5, 0.0, 0.5])
    for x in (0.0, length):
        box(x + (shift - 0.5) * goal, 0, x + (shift + 0.5) * goal, width, paint)
    rows = (23.58, 29.75) if rng.random() < 0.5 else (20.0, 33.33)
    for k in range(1, 100):
        for y in (*rows, *((0.6, 52.73) if rng.random() < 0.7 else ())):
            box(k * yard[0] - thin / 3, y * yard[1] - 1.2, k * yard[0] + thin / 3, y * yard[1] + 1.2, paint)
    _numbers(image, rng, low, high, yard, px_per_mm, paint)
    if rng.random() < 0.6:
        center = (round((length / 2 - low[0]) * px_per_mm), round((high[1] - width / 2) * px_per_mm))
        cv2.ellipse(
            image,
            center,
            (round(6 * yard[0] * px_per_mm), round(6 * yard[1] * px_per_mm)),
            0,
            0,
            360,
            logo,
            -1,
            cv2.LINE_AA,
        )
        cv2.putText(
            image,
            str(rng.choice(["KC", "B", "USA", "74", "*"])),
            (center[0] - 60, center[1] + 30),
            cv2.FONT_HERSHEY_TRIPLEX,
            2.4,
            paint,
            6,
            cv2.LINE_AA,
        )
    small = rng.normal(0, 1, (size[1] // 24 + 1, size[0] // 24 + 1, 1)).astype(np.float32)
    stain = cv2.resize(small, size, interpolation=cv2.INTER_CUBIC).reshape(size[1], size[0], 1)
    fine = rng.normal(0, rng.uniform(0.5, 5), image.shape).astype(np.float32)
    worn = image.astype(np.float32) * (1 + rng.uniform(0, 0.05) * stain) + fine
    return Print(np.clip(worn, 0, 255).astype(np.uint8), low, high, yard, length, width)


def _palette(rng: Rng) -> tuple[tuple[int, int, int], ...]:
    turfs = ((60, 120, 40), (40, 90, 30), (80, 150, 70), (45, 100, 70), (90, 95, 85), (120, 90, 40))
    turf = np.array(turfs[int(rng.integers(len(turfs)))]) * rng.uniform(0.7, 1.25)
    border = turf if rng.random() < 0.5 else rng.integers(10, 240, 3)
    paint = (235, 240, 240) if rng.random() < 0.85 else (60, 220, 240)
    out = (np.clip(turf, 0, 255), np.clip(border, 0, 255), paint, rng.integers(0, 255, 3))
    return tuple(tuple(int(c) for c in color) for color in out)  # type: ignore[misc]


def _numbers(
    image: Image, rng: Rng, low: tuple[float, float], high: tuple[float, float], yard: tuple[float, float],
    px_per_mm: float, paint: tuple[int, int, int],
) -> None:  # fmt: skip
    """Yard numbers on both sides, right way up for the nearer sideline."""
    font = int(rng.choice([cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX]))
    from_side = rng.uniform(6, 14)
    for k in range(10, 100, 10):
        text = str(min(k, 100 - k))
        scale = rng.uniform(1.6, 2.4) * yard[1] * px_per_mm / 22
        (wide, tall), _ = cv2.getTextSize(text, font, scale, 5)
        patch: Image = np.zeros((tall + 20, wide + 20), dtype=np.uint8)
        cv2.putText(patch, text, (10, tall + 10), font, scale, 255, max(2, round(scale * 3)), cv2.LINE_AA)
        for y, turned in ((from_side, False), (53.333 - from_side, True)):
            mask = patch[::-1, ::-1] if turned else patch
            x0 = round((k * yard[0] - low[0]) * px_per_mm - mask.shape[1] / 2)
            y0 = round((high[1] - y * yard[1]) * px_per_mm - mask.shape[0] / 2)
            part = image[y0 : y0 + mask.shape[0], x0 : x0 + mask.shape[1]]
            if part.shape[:2] == mask.shape:
                share = mask[:, :, None].astype(np.float32) / 255
                part[:] = (part * (1 - share) + np.array(paint) * share).astype(np.uint8)
