"""Tells on which side of their yard lines the numbers repeat a digit: the zeros of 10, 20, 30, in any lettering.

The second digits of a row of numbers are all alike and the first ones are not. That shows without reading any of them,
in every face, size and color, and tells how a row is turned: the zeros are on the right as the row is read, on the left
where it is half-turned or the picture mirrored.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Plane
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import FieldNumber


@dataclass(frozen=True, slots=True)
class RepeatedDigitLimits:
    """How digits are compared, and when the answer is accepted."""

    height_px: int = 24  # height of a number seen straight from above
    reach: float = 0.72  # distance that a digit reaches from the yard line, in heights; beyond it arrows may begin
    half_height: float = 0.62  # part of a digit that is compared, above and below its middle, in heights
    shift_px: tuple[int, int] = (2, 1)  # largest displacement of digits against each other: across, along
    min_difference: float = 0.1  # least median difference between the correlations of the two sides
    min_agreeing_share: float = 0.9  # least share of the pairs whose difference has the median's sign
    # likeness from which what stands on a goal line is a number's digit, as a share of the numbers' to each other
    min_goal_likeness: float = 0.75
    min_pairs: int = 3  # least number of pairs


_LIMITS: Final = RepeatedDigitLimits()


def repeated_digit_sides(plane: Plane, camera: Camera, field: FieldModel) -> tuple[int, ...]:
    """Return for each row of numbers where its repeated digit is: 1 on the right as it is read, -1 left, 0 unclear."""
    return tuple(_side(plane, camera, field, y_yd) for y_yd in field.number_rows_y_yd)


def _side(plane: Plane, camera: Camera, field: FieldModel, y_yd: float) -> int:
    numbers = [number for number in field.numbers() if number.y_yd == y_yd and len(number.text) == 2]
    digits = [_digits(plane, camera, field, number) for number in numbers]
    differences = []
    for one, other in itertools.combinations(range(len(numbers)), 2):
        first, second = numbers[one].text, numbers[other].text
        if first[1] == second[1] and first[0] != second[0]:
            left, right = (_likeness(digits[one][i], digits[other][i]) for i in (0, 1))
            differences.append(right - left)
    if len(differences) < _LIMITS.min_pairs:
        return 0
    typical = float(np.median(differences))
    agreeing = float((np.sign(differences) == np.sign(typical)).mean())
    clear = abs(typical) > _LIMITS.min_difference and agreeing >= _LIMITS.min_agreeing_share
    return int(np.sign(typical)) if clear else 0


def are_others_numbered(plane: Plane, camera: Camera, field: FieldModel) -> bool:
    """Return whether numbers stand on a goal line, or on most lines between those that have them: where none does."""
    for y_yd in field.number_rows_y_yd:
        side = _side(plane, camera, field, y_yd)
        if not side:
            continue
        repeated = 1 if side > 0 else 0
        numbers = [number for number in field.numbers() if number.y_yd == y_yd and len(number.text) == 2]
        seen = [_digits(plane, camera, field, number)[repeated] for number in numbers]
        alike = float(np.median([_likeness(one, other) for one, other in itertools.combinations(seen, 2)]))

        middles = [(one.x_yd + other.x_yd) / 2 for one, other in itertools.pairwise(numbers)]
        places = [0.0, field.length_yd, *(x_yd for x_yd in middles if x_yd in field.yard_lines_yd())]
        others = [_digits(plane, camera, field, dataclasses.replace(numbers[0], x_yd=x))[repeated] for x in places]
        least = _LIMITS.min_goal_likeness * alike
        is_digit = [float(np.median([_likeness(other, one) for one in seen])) > least for other in others]
        if any(is_digit[:2]) or sum(is_digit[2:]) > len(is_digit[2:]) / 2:
            return True
    return False


def _digits(plane: Plane, camera: Camera, field: FieldModel, number: FieldNumber) -> tuple[Plane, Plane]:
    """Return a number's left and right digit seen from above, upright, without the yard line between them."""
    px_per_mm = _LIMITS.height_px / (number.height_yd * field.mm_per_yd_y)
    reach, tall = round(_LIMITS.reach * _LIMITS.height_px), round(_LIMITS.half_height * _LIMITS.height_px)
    x, y = np.meshgrid(np.arange(-reach, reach + 1), np.arange(tall, -tall - 1, -1))
    middle = field.to_mm(np.array([number.x_yd, number.y_yd]))
    offsets = np.stack([x, y], axis=-1) * (number.up / px_per_mm)
    at = np.clip(np.nan_to_num(camera.to_pixels(middle + offsets)), -30000, 30000).astype(np.float32)
    seen = np.asarray(cv2.remap(plane, at[..., 0], at[..., 1], cv2.INTER_LINEAR), dtype=np.float32)
    bar = min(math.ceil(field.line_mm * px_per_mm / 2 + 1), reach // 2)
    # The ground may change shade at the line, so each side is relative to its own median.
    left, right = seen[:, : reach - bar], seen[:, reach + bar + 1 :]
    return left - np.median(left), right - np.median(right)


def _likeness(one: Plane, other: Plane) -> float:
    down, along = _LIMITS.shift_px
    inner = np.ascontiguousarray(other[down:-down, along:-along])
    return float(cv2.matchTemplate(np.ascontiguousarray(one), inner, cv2.TM_CCOEFF_NORMED).max())
