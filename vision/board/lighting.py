"""Faults of lamps, exposure and frame rate, found in the luminance of pictures and in their times.

The functions are pure: they receive what was measured over the last seconds and return what it shows. A lamp that is
switched, a hand that comes in, its shadow and a board of another brightness are none of these faults, and look alike
at first; what tells them apart stands with each function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from downfield.core.arrays import Array, Image


@dataclass(frozen=True, slots=True)
class LightingLimits:
    """Thresholds of finding faults of lamps and exposure."""

    columns: int = 6
    rows: int = 4  # The picture is measured in so many cells: fewer see no hand, more see single figures
    # Flicker is measured in a strip of so much of the height: sensors read row by row, and a whole picture holds two
    # periods of it, which cancel each other
    strip_share: float = 0.08
    # Mains flicker.
    flicker_window_s: float = 4.0  # Length of the series that is judged: 50 and 60 Hz alias a few hertz apart
    min_samples: int = 60  # Least number of frames in the series
    # How far the mains and the clock of the camera may be off, at twice the mains frequency
    mains_tolerance_hz: float = 0.5
    min_alias_hz: float = 1.0  # A slower beat can't be told from a lamp that is switched or a person who passes
    # Amplitude relative to the mean from which flicker matters: colors and edges are measured to that
    min_amplitude: float = 0.006
    # Share of the variance that the beat must explain, after a slow trend: all else is no flicker
    explained_share: float = 0.6
    # Automatic exposure.
    exposure_window_s: float = 3.0  # Time within which automatic exposure answers to a change in the picture
    min_cause: float = 0.25  # Relative change of a cell that covers part of the board, such as a hand's
    min_answer: float = 0.06  # Relative change of the cells that nothing covers, from which exposure has moved
    # Share of the answer by which uncovered cells may differ: exposure changes all by one factor, a shadow not
    max_answer_spread: float = 0.4
    # Least number of frames over which exposure moves: it is regulated, while a switched lamp is there at once
    min_frames: int = 3
    # Frame rate.
    rate_window_s: float = 2.0  # Time over which the rate is measured
    halved_from: float = 1.6  # The rate is lowered when frames are this many times as far apart as they should be
    even_share: float = 0.8  # Share of the steps that must be so long: dropped frames leave others as they were
    # A camera that comes back.
    other_luminance: float = 0.25  # Relative change of the luminance that a hand or a figure does not make
    other_color: float = 0.12  # Relative change of blue or red against green: 500 kelvin of white balance
    min_sharpness: float = 0.5  # Share of the former sharpness below which the focus has changed


LIGHTING_LIMITS: Final = LightingLimits()
Mains = Literal[50, 60]


@dataclass(frozen=True, slots=True)
class Flicker:
    """A beat of lamps in the pictures."""

    # the mains that the lamps hang on; both where their beats can't be told apart at this frame rate
    mains_hz: tuple[Mains, ...]
    amplitude: float  # relative to the mean luminance


def cell_levels(image: Image) -> Array:
    """Return the mean luminance of the cells of a picture, and after them that of the middle strip.

    Args:
        image: BGR or green alone, any size.
    """
    green = image[..., 1] if image.ndim == 3 else image
    step = max(1, green.shape[0] // 128)
    sampled = np.ascontiguousarray(green[::step, ::step]).astype(np.float32)
    height, width = sampled.shape
    rows, columns = min(LIGHTING_LIMITS.rows, height), min(LIGHTING_LIMITS.columns, width)
    top, left = height % rows, width % columns
    cells = sampled[top:, left:].reshape(rows, height // rows, columns, width // columns).mean(axis=(1, 3))
    half = max(1, round(LIGHTING_LIMITS.strip_share * green.shape[0] / 2))
    middle = green.shape[0] // 2
    strip = green[max(middle - half, 0) : middle + half, :: max(1, green.shape[1] // 240)]
    return np.append(cells.ravel(), float(strip.mean())).astype(np.float64)


@dataclass(frozen=True, slots=True)
class PictureLook:
    """How pictures look, apart from what they show."""

    luminance: float  # mean of green
    # blue, red: relative to green
    blue: float
    red: float
    sharpness: float  # the steepest slopes relative to the luminance


def look_of(image: Image) -> PictureLook:
    """Return how a BGR picture looks."""
    step = max(1, image.shape[0] // 128)
    blue, green, red = (float(level) + 1.0 for level in image[::step, ::step].reshape(-1, 3).mean(axis=0))
    height, width = image.shape[:2]
    patch = image[height // 3 : 2 * height // 3 : 2, width // 3 : 2 * width // 3, 1].astype(np.float32)
    slopes = np.abs(np.diff(patch, axis=1)) if patch.shape[1] > 1 else np.zeros(1)
    return PictureLook(green, blue / green, red / green, float(np.percentile(slopes, 99)) / green)


def median_look(looks: Sequence[PictureLook]) -> PictureLook:
    """Return the usual look of some pictures, at least one."""
    rows = [(look.luminance, look.blue, look.red, look.sharpness) for look in looks]
    return PictureLook(*(float(value) for value in np.median(np.array(rows), axis=0)))


def look_changes(before: PictureLook, after: PictureLook) -> tuple[str, ...]:
    """Return how a camera's pictures look different from before it was lost, as phrases; empty if they do not."""
    changes = []
    ratio = after.luminance / before.luminance
    if abs(np.log(ratio)) > LIGHTING_LIMITS.other_luminance:
        changes.append(f"{abs(ratio - 1):.0%} {'brighter' if ratio > 1 else 'darker'}")
    if max(abs(np.log(after.blue / before.blue)), abs(np.log(after.red / before.red))) > LIGHTING_LIMITS.other_color:
        changes.append("of other colors")
    if after.sharpness < LIGHTING_LIMITS.min_sharpness * before.sharpness:
        changes.append("less sharp")
    return tuple(changes)


def find_flicker(times_s: Array, levels: Array) -> Flicker | None:
    """Return the flicker of mains lamps in a series; None if there is none, or the rate hides it.

    Lamps flicker at twice the mains frequency. The series is fitted with that frequency itself, by the true times of
    the pictures, so no frame rate needs to be known: 100 Hz beats at 10 Hz in 30 frames/s, at 20 Hz in 60. Whatever
    else changes the light is slower or has no such frequency, and leaves most of the variance unexplained.

    Args:
        times_s: capture times, rising, shape (n,).
        levels: mean luminance at these, shape (n,).
    """
    if len(times_s) < LIGHTING_LIMITS.min_samples or not np.all(np.isfinite(levels)) or float(levels.mean()) <= 1.0:
        return None
    t = times_s - times_s.mean()
    step_s = float(np.median(np.diff(t)))
    if step_s <= 0:
        return None
    relative = levels / levels.mean() - 1
    detrended = relative - _slow_part(relative, step_s)
    total = float(detrended @ detrended)
    if total <= 0:
        return None
    found: dict[Mains, tuple[float, float]] = {}
    for mains in (50, 60):
        if abs(2 * mains - round(2 * mains * step_s) / step_s) < LIGHTING_LIMITS.min_alias_hz:
            continue
        share, amplitude = max(_fit(t, detrended, 2 * mains + off) for off in _offsets_hz(t))
        if share >= LIGHTING_LIMITS.explained_share and amplitude >= LIGHTING_LIMITS.min_amplitude:
            found[mains] = (share, amplitude)
    if not found:
        return None
    best = max(share for share, _ in found.values())
    likely = tuple(mains for mains, (share, _) in found.items() if share > 0.95 * best)
    return Flicker(likely, max(found[mains][1] for mains in likely))


def has_moved_exposure(times_s: Array, cells: Array) -> bool:
    """Return whether a camera regulated its exposure in a series of pictures.

    It has when a part of the picture changed much, as where a hand covers it, and all other cells changed by one
    factor the other way, over several frames. A lamp changes all cells the same way; a shadow changes some; a hand
    before a camera that holds its exposure leaves the others as they are; a switched lamp is there within two frames.

    Args:
        times_s: capture times, rising, shape (n,).
        cells: luminance of the cells, shape (n, cells).
    """
    if len(times_s) < 2 * LIGHTING_LIMITS.min_frames or float(cells.min(initial=0.0)) < 0:
        return False
    logs = np.log(cells + 1.0)
    edge = max(1, LIGHTING_LIMITS.min_frames // 2)
    before, after = np.median(logs[:edge], axis=0), np.median(logs[-edge:], axis=0)
    change = after - before
    covered = np.abs(change - np.median(change)) > LIGHTING_LIMITS.min_cause
    if not covered.any() or covered.mean() > 0.5:
        return False
    answer = float(np.median(change[~covered]))
    cause = float(np.mean(change[covered]))
    if abs(answer) < LIGHTING_LIMITS.min_answer or answer * cause > 0:
        return False
    spread = float(np.percentile(np.abs(change[~covered] - answer), 90))
    if spread > LIGHTING_LIMITS.max_answer_spread * abs(answer):
        return False
    moved = np.median(logs[:, ~covered], axis=1) - float(np.median(before[~covered]))
    under_way = (np.abs(moved) > 0.15 * abs(answer)) & (np.abs(moved) < 0.85 * abs(answer))
    return int(under_way.sum()) >= LIGHTING_LIMITS.min_frames


def lowered_rate(times_s: Array, usual_fps: float) -> float | None:
    """Return the rate at which a camera sends when that is lowered evenly; None if it is not.

    A camera in dim light exposes for longer than a frame, and sends every second one or fewer. Frames that were lost
    on the way leave the others as far apart as they should be.

    Args:
        times_s: capture times of consecutive frames, rising, shape (n,).
        usual_fps: what it sent before, or what was agreed with it.
    """
    steps_s = np.diff(times_s)
    if len(steps_s) < 5 or usual_fps <= 0:
        return None
    long = steps_s > LIGHTING_LIMITS.halved_from / usual_fps
    if float(long.mean()) < LIGHTING_LIMITS.even_share:
        return None
    return float(1 / np.median(steps_s))


def _slow_part(relative: Array, step_s: float) -> Array:
    """Return the moving average over a period of the slowest beat that counts."""
    width = min(len(relative), max(3, round(1 / (LIGHTING_LIMITS.min_alias_hz * step_s)) | 1))
    padded = np.pad(relative, width // 2, mode="edge")
    return np.convolve(padded, np.ones(width) / width, mode="valid")[: len(relative)]


def _offsets_hz(t: Array) -> Array:
    """Return offsets of the frequency, half a resolution of the series apart."""
    count = max(1, int(np.ceil(2 * LIGHTING_LIMITS.mains_tolerance_hz * 2 * float(t[-1] - t[0]))))
    return np.linspace(-LIGHTING_LIMITS.mains_tolerance_hz, LIGHTING_LIMITS.mains_tolerance_hz, count + 1)


def _fit(t: Array, series: Array, hertz: float) -> tuple[float, float]:
    """Return how much of a series' variance an oscillation explains, and its amplitude."""
    basis = np.column_stack([np.cos(2 * np.pi * hertz * t), np.sin(2 * np.pi * hertz * t)])
    parts, *_ = np.linalg.lstsq(basis, series, rcond=None)
    rest = series - basis @ parts
    return 1 - float(rest @ rest) / float(series @ series), float(np.hypot(*parts))
