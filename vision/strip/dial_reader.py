"""Reads the dials' windows: each face with its confidence, or why it can't be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image, Plane
from downfield.core.strip import Count, DialWindow, StripSet
from downfield.vision.strip.glyphs import OTHER, Glyphs, bundled_digits, find_glyphs, glyphs_of
from downfield.vision.strip.rectify import BoardBox, Rectifier

WINDOW_ROWS: Final = 72  # Rows of a rectified window
_INSET: Final = 0.03  # Share of a window's height left out at each edge, where its rim may be


UNDER_REFLECTION: Final = "a reflection hides it"
"""Why a number can't be read where a lamp's mirror image leaves too little of it."""


@dataclass(frozen=True, slots=True)
class ReflectionLimits:
    """Thresholds of clearing a window; lengths are shares of its height."""

    full: float = 249.0  # Gray level from which a channel is full: compression leaves full pixels a little below 255
    # Share of a window's pixels with every channel full from which a reflection lies in it
    reflected_share: float = 0.03
    blur: float = 0.014  # Standard deviation of the smoothing against noise
    max_stroke: float = 0.3  # Wider than any stroke: the ground beside it is nearer than this
    near: float = 0.16  # The contrast that is left is that of the ink within half of this around
    # Contrast, gray levels over all channels, from which ink is distinguished from ground at full brightness
    min_contrast: float = 14.0
    min_share: float = 0.35  # Least contrast elsewhere, as a share of the best contrast: the grain of a print is no ink
    fading_contrast: float = 50.0  # Ink of less contrast fades: where the ground is full it may go on unseen
    rim: float = 0.1  # Where a window's rim may be, and no number
    max_speck: float = 0.01  # Ink of a smaller share of the window is grain
    min_ink: float = 0.3  # Share of the contrast that is left from which a pixel counts as ink


REFLECTION_LIMITS: Final = ReflectionLimits()


@dataclass(frozen=True, slots=True)
class ClearedWindow:
    """A window without its reflection."""

    ink: Plane  # 0 ground to 1 ink, shape (rows, columns)
    contrast: float  # between ink and ground where it is best, gray levels over all channels
    fading: float  # share of the ink that fades into the light, 0..1; 1 without ink


def reflected_share(window: Plane) -> float:
    """Return the share of a window's pixels, shape (rows, columns, 3), that are full in every channel."""
    return float((window.min(axis=2) >= REFLECTION_LIMITS.full).mean())


def clear_reflection(window: Plane) -> ClearedWindow:
    """Return the ink of a window, shape (rows, columns, 3), 0..255, as if no light lay over it."""
    rows = window.shape[0]
    dark = _is_ink_dark(window)
    smooth = cv2.GaussianBlur(window, (0, 0), REFLECTION_LIMITS.blur * rows)
    light: Plane = np.asarray(smooth if dark else 255.0 - smooth, dtype=np.float32)
    reach, near = (2 * round(share * rows / 2) + 1 for share in (REFLECTION_LIMITS.max_stroke, REFLECTION_LIMITS.near))
    ground = _without_strokes(light, reach)
    depth = np.clip(cv2.GaussianBlur(ground, (0, 0), reach / 6) - light, 0, None)
    left = cv2.GaussianBlur(cv2.dilate(depth, _disc(near)), (0, 0), near / 3)
    power = (left * left).sum(axis=2)
    best = float(np.sqrt(np.quantile(power, 0.98)))
    full = ((ground if dark else 255.0 - ground).min(axis=2) >= REFLECTION_LIMITS.full).astype(np.float32)
    beside_full = cv2.GaussianBlur(full, (0, 0), 2)
    floor = REFLECTION_LIMITS.min_contrast + (1 - beside_full) * max(
        REFLECTION_LIMITS.min_share * best - REFLECTION_LIMITS.min_contrast, 0
    )
    ink = np.clip((left * depth).sum(axis=2) / np.maximum(power, floor**2), 0, 1).astype(np.float32)
    inked = _strokes(ink > REFLECTION_LIMITS.min_ink)
    fades = (beside_full > 0.3) & (np.sqrt(power) < REFLECTION_LIMITS.fading_contrast)
    return ClearedWindow(ink, best, float(fades[inked].mean()) if inked.any() else 1.0)


def _strokes(inked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return ink without a window's rim and without the specks of a print's grain."""
    rows, columns = inked.shape
    edge = max(round(REFLECTION_LIMITS.rim * rows), 1)
    inner = np.zeros(inked.shape, dtype=np.uint8)
    inner[edge:-edge, edge:-edge] = inked[edge:-edge, edge:-edge]
    _, labels, stats, _ = cv2.connectedComponentsWithStats(inner, connectivity=8)
    large = np.flatnonzero(stats[:, cv2.CC_STAT_AREA] >= REFLECTION_LIMITS.max_speck * rows * columns)
    return np.asarray(np.isin(labels, large[large > 0]))


def _without_strokes(light: Plane, reach: int) -> Plane:
    """Return the ground under strokes narrower than a disc; a window's edges count as going on outside it."""
    around = 2 * reach
    padded = cv2.copyMakeBorder(light, around, around, around, around, cv2.BORDER_REPLICATE)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, _disc(reach))
    return np.asarray(closed[around:-around, around:-around], dtype=np.float32)


def _disc(size: int) -> Array:
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)))


def _is_ink_dark(window: Plane) -> bool:
    """Return whether a window's middle is darker than the ground at its sides, by what differs most."""
    rows, columns = window.shape[:2]
    across = np.linspace(0, 1, columns)[None, :, None]
    edge = max(rows // 24, 2)
    sides = [np.median(part, axis=1)[:, None] for part in (window[:, :edge], window[:, -edge:])]
    off = window - ((1 - across) * sides[0] + across * sides[1])
    low, high = np.quantile(off[rows // 8 : -rows // 8, columns // 8 : -columns // 8], (0.03, 0.97))
    return bool(-low >= high)


@dataclass(frozen=True, slots=True)
class DialLimits:
    """When a number under a reflection is whole."""

    min_contrast: float = 20.0  # Least contrast between ink and ground, gray levels over all channels
    max_full_share: float = 0.3  # A window without a number of which a larger share is full is hidden by the reflection
    # Share of the ink that may fade into the light: where more does, strokes may go on unseen
    max_fading_share: float = 0.02
    # A number further beside its place in the other windows, as a share of their height, may be part of one
    max_offset: float = 0.055
    # So may one higher or lower by this share than those of as many digits in windows without a reflection
    max_height_difference: float = 0.12
    # Factor of the confidence in a whole number: of those drawn with reflections 1 in 400 was another one
    whole_factor: float = 0.95
    part_factor: float = 0.5  # Factor of the confidence in what may be part of a number
    min_rival: float = 0.5  # Another number read without regard to the light counts against it from this confidence
    sure: float = 0.9  # Confidence from which a number counts as read


_LIMITS: Final = DialLimits()


@dataclass(frozen=True, slots=True)
class DialReading:
    """One window."""

    face: str | None  # the number in it; None when it can't be read
    confidence: float = 0.0  # that the face is right, 0..1; 0 without a face
    reason: str = ""  # why it can't be read, or not surely; empty with a sure face


@dataclass(frozen=True, slots=True)
class _Read:
    """A reading with where its number stands, as in `glyphs.Glyphs`, and its confidence in even light."""

    reading: DialReading
    sure: float = 0.0
    height: float = 0.0
    off_middle: float = 0.0

    @property
    def is_sure(self) -> bool:
        return self.reading.confidence >= _LIMITS.sure


@dataclass(frozen=True, slots=True)
class _Window:
    """A window's picture, the share of it that is full, and its reading without regard to that."""

    dial: DialWindow
    plane: Plane
    full_share: float
    plain: _Read

    @property
    def is_reflecting(self) -> bool:
        return self.full_share >= REFLECTION_LIMITS.reflected_share


class DialReader:
    """Reads the dials of one strip with one camera."""

    def __init__(self, strip: StripSet, camera: Camera) -> None:
        self._strip = strip
        self._windows = [Rectifier(camera, _box(dial)) for dial in strip.dials]

    def read(self, image: Image) -> tuple[DialReading, ...]:
        """Return the reading of every window, in the set's order."""
        seen = [
            _Window(dial, plane, reflected_share(plane), self._classify(dial, find_glyphs(plane)))
            for dial, plane in zip(self._strip.dials, (window.sample(image) for window in self._windows), strict=True)
        ]
        heights, shift = _heights(seen), _shift(seen)
        return tuple(
            self._under_reflection(window, heights, shift) if window.is_reflecting else window.plain.reading
            for window in seen
        )

    def _classify(self, dial: DialWindow, found: Glyphs) -> _Read:
        if not found.digits:
            return _Read(DialReading(None, reason=found.reason))
        if len(found.digits) > 2:
            return _Read(DialReading(None, reason="more than two digits"))
        chances = bundled_digits().probabilities(found.digits)
        worth = np.array([_chance(face, chances) for face in dial.faces])
        best = int(worth.argmax())
        total = float(worth.sum())
        if total < 1e-6:
            return _Read(DialReading(None, reason="no number that is on the dial"))
        # What speaks for numbers that are not on the dial speaks against the reading as a whole.
        confidence = float(worth[best] / total) * float(np.clip(total * 1.5, 0, 1))
        reading = DialReading(dial.faces[best], confidence * (0.6 + 0.4 * found.evenness))
        return _Read(reading, confidence * found.evenness, found.height, found.off_middle)

    def _under_reflection(self, window: _Window, heights: dict[int, float], shift: float) -> DialReading:
        """Return what a window shows beside and through the light in it, by where numbers stand in the others."""
        plain, cleared = window.plain, clear_reflection(window.plane)
        read = self._classify(window.dial, glyphs_of(cleared.ink))
        face = read.reading.face
        if face is None or cleared.contrast < _LIMITS.min_contrast:
            is_hidden = window.full_share >= _LIMITS.max_full_share and not plain.is_sure
            return DialReading(None, reason=UNDER_REFLECTION) if is_hidden else plain.reading
        height = heights.get(len(face), read.height)
        is_whole = (
            cleared.fading <= _LIMITS.max_fading_share
            and abs(read.off_middle - shift) <= _LIMITS.max_offset
            and abs(read.height / height - 1) <= _LIMITS.max_height_difference
        )
        confidence = read.reading.confidence * (_LIMITS.whole_factor if is_whole else _LIMITS.part_factor)
        if plain.reading.face not in {None, face} and plain.sure >= _LIMITS.min_rival:
            confidence *= 1 - plain.sure
        return DialReading(face, confidence, "" if is_whole else UNDER_REFLECTION)


def number_of(strip: StripSet, readings: tuple[DialReading, ...], counts: Count) -> tuple[int | None, float]:
    """Return what the windows of one count say together, and the confidence; None when one of them can't be read."""
    total, confidence = 0, 1.0
    for dial, reading in zip(strip.dials, readings, strict=True):
        if dial.counts == counts:
            if reading.face is None:
                return None, 0.0
            total += int(reading.face) * dial.place
            confidence *= reading.confidence
    return total, confidence


def _heights(windows: list[_Window]) -> dict[int, float]:
    """Return the median height of the numbers in windows without a reflection, by their digits."""
    clear = [window.plain for window in windows if window.plain.is_sure and not window.is_reflecting]
    by_digits: dict[int, list[float]] = {}
    for read in clear:
        by_digits.setdefault(len(read.reading.face or ""), []).append(read.height)
    return {digits: float(np.median(heights)) for digits, heights in by_digits.items()}


def _shift(windows: list[_Window]) -> float:
    """Return how far right of their windows' middles numbers stand: a description may be off by that in all of them."""
    seen = [window.plain.off_middle for window in windows if window.plain.reading.face is not None]
    return float(np.median(seen)) if seen else 0.0


def _chance(face: str, chances: Array) -> float:
    if len(face) != len(chances):
        return 0.0
    sure = 1 - chances[:, OTHER]
    return float(np.prod([row[int(digit)] for digit, row in zip(face, chances, strict=True)] * np.sqrt(sure)))


def _box(dial: DialWindow) -> BoardBox:
    (x_low, x_high), (y_low, y_high) = dial.x_mm, dial.y_mm
    inset = _INSET * (y_high - y_low)
    return BoardBox(
        (x_low + inset, x_high - inset), (y_low + inset, y_high - inset), WINDOW_ROWS / (y_high - y_low - 2 * inset)
    )
