"""Cameras over a varied table: nearer and farther, more tilted; and webcams with all their faults."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.field.model import FieldModel
from downfield.twin.appearance import BoardAppearance, Processing, Sensor
from downfield.twin.randomization.camera_draw import attitude, board_outline_mm, draw_lens, framed
from downfield.twin.randomization.deck import Deck

SIZES_PX: Final = ((1280, 720), (1920, 1080), (1280, 720), (2560, 1440), (1920, 1080))
"""Pictures of webcams in use."""

LEAST_PX_PER_MM: Final = 0.8
"""Resolution of the board below which a base is too small to be read."""

_TILT_DEG: Final = 26.0
_USUAL_CHANCE: Final = 0.7


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
        processing=_draw_processing(deck, scale),
    )


def _draw_processing(deck: Deck, scale: float) -> Processing:
    rng = deck.rng
    return Processing(
        sharpen=max(deck.uniform(-0.6, 1.6), 0.0),
        sharpen_px=deck.uniform(0.7, 2.0) * (0.5 + 0.5 * scale),
        contrast=deck.uniform(-0.1, 0.7),
        gamma=float(np.exp(rng.normal(0, 0.12))),
        black=float(np.clip(rng.normal(0, 0.02), -0.02, 0.06)),
        saturation=float(np.clip(rng.normal(1.0, 0.28), 0.0, 1.9)),
        hue_deg=float(rng.normal(0, 3.5)),
        aberration_px=max(deck.uniform(-1.0, 1.6), 0.0) * scale,
        denoise=max(deck.uniform(-0.6, 1.0), 0.0),
    )


def _spread(deck: Deck, low: float, high: float) -> float:
    """Return a factor, evenly spread over its logarithm."""
    return float(np.exp(deck.uniform(math.log(low), math.log(high))))
