"""A ruler and an angle of the user's own: between points of a picture, with the calibration's error.

The error is the calibration's alone, with what its points have in common: a wrong focal length moves both ends of
a ruler, and changes their distance much less. How well a person points is not in it; one pixel's size says that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.jacobians import locate
from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.records import record

PointUnit = Literal["px", "mm"]
Point = tuple[float, float]


@record
class RulerPoint:
    """One point of a ruler or an angle.

    Attributes:
        px: in the camera's picture.
        mm: on the board, at the height it is measured at.
        yd: the same in field yards.
    """

    px: Point
    mm: Point
    yd: Point


@record
class RulerReading:
    """What a ruler or an angle shows. Errors are standard deviations by the calibration alone; 0 when it is exact.

    Attributes:
        points: the points, in order.
        length_mm, length_sigma_mm: from the first point to the second.
        yards: the same in field yards: along the field, across it, and the distance of both.
        yards_sigma: error of along and across.
        direction_deg, direction_sigma_deg: of the way from the first to the second, counter-clockwise from +x.
        angle_deg, angle_sigma_deg: at the second point between the first and the third; None without a third.
        pixel_mm: what one pixel of the camera's picture covers there.
        text: the result in words, one line each.
    """

    points: tuple[RulerPoint, ...]
    length_mm: float
    length_sigma_mm: float
    yards: tuple[float, float, float]
    yards_sigma: tuple[float, float]
    direction_deg: float
    direction_sigma_deg: float
    angle_deg: float | None
    angle_sigma_deg: float | None
    pixel_mm: float
    text: tuple[str, ...]


def measure(calibration: Calibration, points: Sequence[Point], unit: PointUnit, height_mm: float) -> RulerReading:
    """Measure between two points, or the angle at the middle one of three.

    Args:
        points: two or three, in pixels of the camera's picture or in millimeters on the board.
        unit: which of both.
        height_mm: height over the printed surface at which they lie.

    Raises:
        InputError: a point lies off the board's plane or out of the camera's view, or two are the same.
    """
    given = np.array(points, dtype=np.float64)
    pixels = given
    if unit == "mm":
        pixels = calibration.camera.to_pixels(np.column_stack([given, np.full(len(given), height_mm)]))
    board, by_pixel, _, by_parameters = locate(calibration.camera, pixels, height_mm)
    if not np.isfinite(board).all():
        raise InputError("A point is where the camera sees no board. Choose points on the board.")
    lengths = np.linalg.norm(np.diff(board, axis=0), axis=1)
    if (lengths < 1e-6).any():
        raise InputError("Two points are the same. Move one of them.")
    covariance = _covariance(calibration, by_pixel, by_parameters)
    values, gradients = _quantities(board, calibration.field.mm_per_yd)
    sigmas = np.sqrt(np.maximum(0.0, np.einsum("ki,ij,kj->k", gradients, covariance, gradients)))
    numbers = [(float(value), float(sigma)) for value, sigma in zip(values, sigmas, strict=True)]
    (length, direction, along, across), angle = numbers[:4], numbers[4] if len(numbers) > 4 else None
    yards = (along[0], across[0], float(np.hypot(along[0], across[0])))
    yd = calibration.field.to_yards(board)
    return RulerReading(
        tuple(
            RulerPoint((px[0], px[1]), (mm[0], mm[1]), (at[0], at[1]))
            for px, mm, at in zip(pixels.tolist(), board.tolist(), yd.tolist(), strict=True)
        ),
        *length,
        yards,
        (along[1], across[1]),
        *direction,
        None if angle is None else angle[0],
        None if angle is None else angle[1],
        float(np.sqrt(np.abs(np.linalg.det(by_pixel[0])))),
        _text(length, yards, direction, angle),
    )


def _covariance(calibration: Calibration, by_pixel: Array, by_parameters: Array) -> Array:
    """Return the joint covariance of n points by the calibration's error, mm^2, shape (2 n, 2 n)."""
    count = len(by_pixel)
    covariance = np.zeros((2 * count, 2 * count))
    for row in range(count):
        here = slice(2 * row, 2 * row + 2)
        covariance[here, here] = calibration.unmodeled_px**2 * by_pixel[row] @ by_pixel[row].T
    if calibration.covariance:
        shared = by_parameters[:, :, : len(calibration.covariance)].reshape(2 * count, -1)
        covariance += shared @ np.array(calibration.covariance) @ shared.T
    return covariance


def _quantities(board: Array, mm_per_yd: Array) -> tuple[list[float], Array]:
    """Return length, direction, yards along and across, angle (of three points), and gradients by all coordinates."""
    count = len(board)
    way = board[1] - board[0]
    length = float(np.linalg.norm(way))
    unit, left = way / length, np.array([-way[1], way[0]]) / length
    values = [length, float(np.degrees(np.arctan2(way[1], way[0]))), *np.abs(way / mm_per_yd).tolist()]
    gradients = np.zeros((5 if count > 2 else 4, count, 2))
    per_end = [unit, np.degrees(left / length), np.array([1 / mm_per_yd[0], 0.0]), np.array([0.0, 1 / mm_per_yd[1]])]
    for row, gradient in enumerate(per_end):
        gradients[row, 0], gradients[row, 1] = -gradient, gradient
    if count > 2:
        turned, by_point = _angle(board)
        values.append(turned)
        gradients[4] = by_point
    return values, gradients.reshape(len(gradients), -1)


def _angle(board: Array) -> tuple[float, Array]:
    """Return the angle at the second of three points, degrees, 0..180, and its gradient, shape (3, 2)."""
    arms = board[[0, 2]] - board[1]
    first, second = np.arctan2(arms[:, 1], arms[:, 0])
    turn = (second - first + np.pi) % (2 * np.pi) - np.pi
    # A direction turns by its normal over the square of its length.
    by_arm = np.degrees(np.stack([-arms[:, 1], arms[:, 0]], axis=1) / (arms**2).sum(axis=1)[:, None])
    sign = 1.0 if turn >= 0 else -1.0
    gradient = np.stack([-by_arm[0], by_arm[0] - by_arm[1], by_arm[1]]) * sign
    return abs(float(np.degrees(turn))), gradient


def _text(
    length: tuple[float, float],
    yards: tuple[float, float, float],
    direction: tuple[float, float],
    angle: tuple[float, float] | None,
) -> tuple[str, ...]:
    if angle is not None:
        return (f"{_with_error(*angle, 1)}°",)
    return (
        f"{_with_error(*length, 2)} mm",
        f"{yards[2]:.2f} yd ({yards[0]:.2f} along, {yards[1]:.2f} across)",
        f"direction {_with_error(*direction, 1)}°",
    )


def _with_error(value: float, sigma: float, digits: int) -> str:
    error = "" if sigma == 0 else f" ± {max(sigma, 10.0**-digits):.{digits}f}"
    return f"{value:.{digits}f}{error}"
