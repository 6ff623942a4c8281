"""Turns a fitted camera into a calibration, with its residuals by part of the field in pixels, mm and yards."""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration, Method, Quality, QualityCell
from downfield.calibration.camera import Camera
from downfield.calibration.camera_fit import CameraFit, Observations
from downfield.calibration.jacobians import (
    PLACE_PARAMETERS,
    POSE,
    SCALE,
    STRETCH,
    camera_parameters,
    locate,
    with_parameters,
)
from downfield.calibration.stretch import EXACT_SCALE, ScaleError
from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.core.footprint import BASE_TOP_MM

_MIN_UNMODELED: Final = 0.01 / 1920  # least error of paint seen without noise, as a share of the picture's width
_COLUMNS: Final = 8  # number of parts along the field
_ROWS: Final = 4  # number of parts across the field
_SLOPE_STEP: Final = 1e-5  # relative step of a parameter for the numerical derivative of the camera's height
_OUTLIER_WEIGHT: Final = 0.5  # observations that the fit gave less weight are outliers, not among its residuals


def to_calibration(
    field: FieldModel,
    fit: CameraFit,
    observations: Observations,
    *,
    method: Method,
    made_from: Sequence[str],
    made_at: str = "",
    scale: ScaleError = EXACT_SCALE,
) -> Calibration:
    """Return a calibration with its residuals and covariance. `made_at`: ISO 8601 UTC; now when empty."""
    covariance = tuple(tuple(row) for row in with_scale_error(fit.camera, fit.covariance, scale).tolist())
    made_at = made_at or datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    unmodeled_px = math.hypot(_unmodeled_px(fit, observations), _MIN_UNMODELED * fit.camera.lens.size_px[0])
    bare = Calibration(field, fit.camera, method, made_at, tuple(made_from), None, covariance, unmodeled_px)
    return dataclasses.replace(bare, quality=_quality(bare, fit, observations))


def with_scale_error(camera: Camera, covariance: Array, scale: ScaleError) -> Array:
    """Return the covariance of `PLACE_PARAMETERS`, shape (21, 21), by that of a fit; as it is for an exact scale."""
    if scale == EXACT_SCALE:
        return covariance
    size = len(covariance)
    whole = np.zeros((len(PLACE_PARAMETERS),) * 2)
    whole[:size, :size] = covariance
    by_others = scale.by_height * height_slope(camera, len(PLACE_PARAMETERS)) / float(camera.position_mm[2])
    by_others[STRETCH] += scale.by_stretch
    carried = whole @ by_others
    whole[SCALE], whole[:, SCALE] = carried, carried
    whole[SCALE, SCALE] = scale.spread**2 + float(by_others @ carried)
    return whole


def height_slope(camera: Camera, size: int) -> Array:
    """Return the derivative of the camera's height over the board, mm, by the first parameters, shape (size,)."""
    values = camera_parameters(camera)
    slope = np.zeros(size)
    for i in range(POSE.start, POSE.stop):
        step = _SLOPE_STEP * max(1.0, abs(float(values[i])))
        moved = values.copy()
        moved[i] += step
        slope[i] = (with_parameters(camera, moved).position_mm[2] - camera.position_mm[2]) / step
    return slope


def _unmodeled_px(fit: CameraFit, observations: Observations) -> float:
    """Return the standard deviation of what displaces whole stretches of the yard lines beyond their noise, px.

    That is what lens model, bow and print leave unexplained: the variance between groups by the method of moments
    (R. DerSimonian, N. Laird, Controlled Clinical Trials 7, 1986), with the noise as it is within the stretches.
    """
    used = (fit.weight >= _OUTLIER_WEIGHT) & (observations.boundary < 0)
    _, group = np.unique(observations.cluster[used], return_inverse=True)
    residual, weight = fit.residual_px[used], observations.sigma_px[used] ** -2.0
    if not len(group):
        return 0.0
    total = np.bincount(group, weight).astype(np.float64)
    mean = np.bincount(group, weight * residual) / total
    free = len(total) - np.linalg.matrix_rank(fit.covariance)
    if free <= 0 or len(residual) == len(total):
        return 0.0
    within = float((weight * (residual - mean[group]) ** 2).sum()) / (len(residual) - len(total))
    total = total / max(within, 1e-12)
    between = float((total * mean**2).sum()) - free
    return math.sqrt(max(between, 0.0) / float(total.sum() - (total**2).sum() / total.sum()))


def _quality(calibration: Calibration, fit: CameraFit, observations: Observations) -> Quality:
    field = calibration.field
    used = fit.weight >= _OUTLIER_WEIGHT
    residual = fit.residual_px[used]
    _, by_pixel, _, _ = locate(fit.camera, observations.px[used])
    off_mm = np.einsum("nij,nj->ni", by_pixel, observations.normals[used] * residual[:, None])
    place_yd = observations.points_mm[used, :2] / field.mm_per_yd
    return Quality(
        int(used.sum()),
        _rms(residual),
        float(np.percentile(np.abs(residual), 95)),
        float(np.abs(residual).max()),
        _rms(np.linalg.norm(off_mm, axis=1)),
        _rms_yd(off_mm, field),
        _cells(calibration, place_yd, residual, off_mm),
    )


def _cells(calibration: Calibration, place_yd: Array, residual: Array, off_mm: Array) -> tuple[QualityCell, ...]:
    field = calibration.field
    zone = field.end_zone_yd
    columns = np.linspace(-zone, field.length_yd + zone, _COLUMNS + 1)
    rows = np.linspace(0, field.width_yd, _ROWS + 1)
    column = np.clip(np.searchsorted(columns, place_yd[:, 0]) - 1, 0, _COLUMNS - 1)
    row = np.clip(np.searchsorted(rows, place_yd[:, 1]) - 1, 0, _ROWS - 1)
    cells = []
    for j in range(_ROWS):
        for i in range(_COLUMNS):
            here = (column == i) & (row == j)
            x_yd, y_yd = float(columns[i : i + 2].mean()), float(rows[j : j + 2].mean())
            sigma = base_top_sigma_mm(calibration, np.array([[x_yd, y_yd]]) * field.mm_per_yd)[0]
            cells.append(
                QualityCell(
                    x_yd,
                    y_yd,
                    int(here.sum()),
                    _rms(residual[here]),
                    _rms(np.linalg.norm(off_mm[here], axis=1)),
                    _rms_yd(off_mm[here], field),
                    (float(sigma[0]), float(sigma[1])),
                )
            )
    return tuple(cells)


def base_top_sigma_mm(calibration: Calibration, points_mm: Array, height_mm: float = BASE_TOP_MM) -> Array:
    """Return the standard deviation of positions at a height by the calibration alone, along and across, (n, 2)."""
    px = calibration.camera.to_pixels(np.column_stack([points_mm, np.full(len(points_mm), height_mm)]))
    _, covariance = calibration.to_board_with_cov(px, height_mm)
    sigma: Array = np.sqrt(np.maximum(np.einsum("nii->ni", covariance), 0))
    return sigma


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0


def _rms_yd(off_mm: Array, field: FieldModel) -> tuple[float, float]:
    off_yd = off_mm / field.mm_per_yd
    return _rms(off_yd[:, 0]), _rms(off_yd[:, 1])
