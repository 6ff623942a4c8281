"""Detects mirrored pictures by the printed yard numbers, since the lines of a field look the same either way.

Every number is rectified to a view from straight above and compared with its text in a few styles of lettering, as
printed and mirrored, each upright and half-turned (which row is read from which sideline is a convention). One style,
one polarity and one orientation are taken for the whole board, so that figures and wear over some are outvoted.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.field.marks.repeated_digit import repeated_digit_sides
from downfield.core.arrays import Array, Plane
from downfield.core.errors import AimError
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import FieldNumber

UNMIRROR: Final = (
    "switch off mirroring (flip, selfie view) in the settings of the camera or of the program that passes its picture"
    " on"
)
"""What to do about a mirrored picture."""


@dataclass(frozen=True, slots=True)
class MirroringLimits:
    """Sizes and thresholds of reading the printed numbers."""

    glyph_px: int = 20  # height of a number seen straight from above
    around_px: tuple[int, int] = (24, 17)  # margin about a number to each side: along its reading direction, and across
    shift_px: tuple[int, int] = (5, 4)  # largest displacement of a number: across its reading direction, and along
    # width of two digits and the gap between them, in heights
    layouts: tuple[tuple[float, float], tuple[float, float], tuple[float, float]] = (
        (1.15, 0.15),
        (1.5, 0.3),
        (1.9, 0.5),
    )
    heights: tuple[float, float, float] = (0.85, 1.0, 1.15)  # heights that are tried, relative to the field model
    block_stroke_px: int = 16  # width of the strokes of block digits as drawn
    drawn_px: int = 80  # height of digits as drawn, before they are scaled down
    min_difference: float = 0.04  # mean excess of the mirrored numbers' correlation from which the picture is mirrored
    # share of cameras whose pictures are mirrored: a selfie view, a setting of the program that passes them on
    mirrored_share: float = 0.03
    sides_say: float = 5.0  # log odds by rows whose repeated digits are all on one side
    digits_say: float = 6.0  # largest log odds by digits that are read
    difference_per_nat: float = 0.004  # excess of one correlation that makes it more likely by a factor e
    # least mean correlation of numbers that are read where their place was found in the picture
    min_correlation_in_place: float = 0.42
    min_correlation: float = 0.4  # least mean correlation of the mirrored numbers; below it nothing is read
    min_numbers: int = 4  # least number of numbers to compare


_LIMITS: Final = MirroringLimits()
_FACES: Final[tuple[Literal["thin", "bold", "block"], ...]] = ("thin", "bold", "block")

_BLOCK_STROKES: Final = {
    "0": (((0, 0), (1, 0), (1, 1), (0, 1), (0, 0)),),
    "1": (((0.5, 0), (0.5, 1)),),
    "2": (((0, 0), (1, 0), (1, 0.5), (0, 0.5), (0, 1), (1, 1)),),
    "3": (((0, 0), (1, 0), (1, 1), (0, 1)), ((0.3, 0.5), (1, 0.5))),
    "4": (((0, 0), (0, 0.55), (1, 0.55)), ((1, 0), (1, 1))),
    "5": (((1, 0), (0, 0), (0, 0.5), (1, 0.5), (1, 1), (0, 1)),),
    "6": (((1, 0), (0, 0), (0, 1), (1, 1), (1, 0.5), (0, 0.5)),),
    "7": (((0, 0), (1, 0), (0.5, 1)),),
    "8": (((0, 0), (1, 0), (1, 1), (0, 1), (0, 0)), ((0, 0.5), (1, 0.5))),
    "9": (((1, 0.5), (0, 0.5), (0, 0), (1, 0), (1, 1), (0, 1)),),
}


@dataclass(frozen=True, slots=True)
class NumberMatch:
    """How well the numbers match what should be printed there, mean correlations, -1..1."""

    as_printed: float  # in the picture as it is
    mirrored: float  # in the mirrored picture
    numbers: int  # how many were compared

    @property
    def is_mirrored(self) -> bool:
        """Whether the numbers clearly show that the picture is mirrored."""
        clear = self.mirrored - self.as_printed > _LIMITS.min_difference and self.mirrored > _LIMITS.min_correlation
        return clear and self.numbers >= _LIMITS.min_numbers


def refuse_mirrored(plane: Plane, camera: Camera, field: FieldModel) -> None:
    """Refuse a picture of mirrored numbers, by an AimError; unclear or missing numbers pass."""
    if match_numbers(plane, camera, field).is_mirrored:
        raise AimError(f"the picture is mirrored, since the field's numbers read only in a mirror: {UNMIRROR}")


def mirrored_probability(plane: Plane, camera: Camera, field: FieldModel) -> float:
    """Return the probability that the picture is mirrored; arguments as `refuse_mirrored`.

    Cameras seldom send mirrored pictures, so where no number can be read it is what it was beforehand. The side of the
    digit that they repeat tells how each row is turned, if the picture is as it should be: rows that are both read from
    their own sideline, as on nearly all boards, are turned otherwise in a mirror. And digits that can be read tell.
    """
    odds = math.log(_LIMITS.mirrored_share / (1 - _LIMITS.mirrored_share))
    match = match_numbers(plane, camera, field)
    if match.numbers:
        sides = repeated_digit_sides(plane, camera, field)
        if sides and len(set(sides)) == 1:
            odds -= _LIMITS.sides_say * sides[0]
        if max(match.as_printed, match.mirrored) > _LIMITS.min_correlation_in_place:
            said = (match.mirrored - match.as_printed) / _LIMITS.difference_per_nat
            odds += max(-_LIMITS.digits_say, min(said, _LIMITS.digits_say))
    return 1 / (1 + math.exp(-odds))


def match_numbers(plane: Plane, camera: Camera, field: FieldModel) -> NumberMatch:
    """Compare the printed numbers with their texts, as they are and mirrored; arguments as for `refuse_mirrored`."""
    # A yard line runs between two digits, but through the middle one of one or three.
    rows = [
        [number for number in field.numbers() if number.y_yd == y_yd and len(number.text) == 2]
        for y_yd in field.number_rows_y_yd
    ]
    count = sum(len(row) for row in rows)
    if not count:
        return NumberMatch(0.0, 0.0, 0)
    correlation = np.sum([_row_correlation(plane, camera, field, row) for row in rows], axis=0) / count
    as_printed, mirrored = correlation.reshape(2, -1).max(axis=1).tolist()
    return NumberMatch(as_printed, mirrored, count)


def _row_correlation(plane: Plane, camera: Camera, field: FieldModel, row: list[FieldNumber]) -> Array:
    """Sum the correlations of a row's numbers, the better way up: shape (mirrored, far end first, polarity, style).

    "Far end first" is the whole board half-turned: the numbers of a print that counts through are then each other's.
    """
    total = np.zeros((2, 2, 2, 2, len(_FACES) * len(_LIMITS.layouts) * len(_LIMITS.heights)))
    for number in row:
        patch = _rectified(plane, camera, field, number)
        if patch is None:
            continue
        texts = (number.text, field.number_text(field.length_yd - number.x_yd))
        views = (patch, patch[::-1, ::-1], patch[:, ::-1], patch[::-1])
        for at, view in enumerate(views):
            found = [_correlation(np.ascontiguousarray(view), text) for text in dict.fromkeys(texts)]
            total[at // 2, at % 2] += np.array([found[0], found[-1]])
    return np.asarray(total.max(axis=1))


def _correlation(patch: Plane, text: str) -> Array:
    """Return the best correlation over small shifts with a text, bright and dark, in every style, (2, styles)."""
    found = []
    for template in _templates(text):
        rows, columns = template.shape
        margin = [(have - want) // 2 for have, want in zip(patch.shape, template.shape, strict=True)]
        top, left = (max(room - shift, 0) for room, shift in zip(margin, _LIMITS.shift_px, strict=True))
        part = patch[top : top + rows + 2 * _LIMITS.shift_px[0], left : left + columns + 2 * _LIMITS.shift_px[1]]
        match = cv2.matchTemplate(part, template, cv2.TM_CCOEFF_NORMED)
        found.append((float(match.max()), -float(match.min())))
    return np.array(found).T


def _rectified(plane: Plane, camera: Camera, field: FieldModel, number: FieldNumber) -> Plane | None:
    """Return a number seen from above, upright, without the yard line through it; None when the picture cuts it."""
    px_per_mm = _LIMITS.glyph_px / (number.height_yd * field.mm_per_yd_y)
    along, across = _LIMITS.around_px
    x, y = np.meshgrid(np.arange(-along, along + 1), np.arange(across, -across - 1, -1))
    middle = field.to_mm(np.array([number.x_yd, number.y_yd]))
    at = camera.to_pixels(middle + np.stack([x, y], axis=-1) * number.up / px_per_mm).astype(np.float32)
    if not (np.isfinite(at).all() and (at >= 0).all() and (at < plane.shape[::-1]).all()):
        return None
    patch = np.asarray(cv2.remap(plane, at[..., 0], at[..., 1], cv2.INTER_LINEAR), dtype=np.float32)
    bar = math.ceil(field.line_mm * px_per_mm / 2 + 1)
    left, right = along - bar, along + bar + 1
    # The ground may change shade at the line, so each side is relative to its own median.
    for side in (patch[:, :left], patch[:, right:]):
        side -= np.median(side)
    patch[:, left:right] = 0
    return patch


@lru_cache(maxsize=64)
def _templates(text: str) -> tuple[Plane, ...]:
    styles = itertools.product(_FACES, _LIMITS.layouts, _LIMITS.heights)
    return tuple(_drawn(text, face, layout, height * _LIMITS.glyph_px) for face, layout, height in styles)


def _drawn(text: str, face: str, layout: tuple[float, float], height_px: float) -> Plane:
    width, gap = layout
    digit = round(_LIMITS.drawn_px * (width - gap) / 2)
    spaced = [cv2.resize(_digit(mark, face), (digit, _LIMITS.drawn_px), interpolation=cv2.INTER_AREA) for mark in text]
    between = np.zeros((_LIMITS.drawn_px, round(gap * _LIMITS.drawn_px)), dtype=np.uint8)
    joined = np.hstack([part for mark in spaced for part in (mark, between)][:-1])
    size = (round(joined.shape[1] * height_px / _LIMITS.drawn_px), round(height_px))
    small = cv2.resize(joined, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    return np.pad(cv2.GaussianBlur(small, (0, 0), 0.7), 1)


def _digit(mark: str, face: str) -> NDArray[np.uint8]:
    """Draw one digit, cut to its ink; a narrow one is centered in its place."""
    canvas = np.zeros((200, 200), dtype=np.uint8)
    if face == "block":
        for stroke in _BLOCK_STROKES[mark]:
            corners = np.rint(np.array(stroke) * (50, 80) + 50).astype(np.int32)
            cv2.polylines(canvas, [corners], False, (255,), _LIMITS.block_stroke_px, cv2.LINE_AA)
    else:
        # Some builds of OpenCV draw the zero slashed, which no field does; the letter O is plain.
        cv2.putText(canvas, "O" if mark == "0" else mark, (40, 150), cv2.FONT_HERSHEY_SIMPLEX, 4.0, (255,), 8)
    if face == "bold":
        canvas = np.asarray(cv2.dilate(canvas, np.ones((9, 9), np.uint8)), dtype=np.uint8)
    rows, columns = np.flatnonzero(canvas.any(axis=1)), np.flatnonzero(canvas.any(axis=0))
    ink = canvas[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    beside = max(0, round(0.6 * ink.shape[0]) - ink.shape[1]) // 2
    return np.pad(ink, ((0, 0), (beside, beside)))
