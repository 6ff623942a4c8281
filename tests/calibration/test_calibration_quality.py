"""What lens and print leave unexplained is measured by how far whole stretches of the lines lie off."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from calibration_scenes import TUDOR, camera_over

from downfield.calibration.camera import flat_bow
from downfield.calibration.camera_fit import Observations, fit_camera
from downfield.calibration.field.paint.paint_samples import sample_long_lines
from downfield.calibration.quality import to_calibration
from downfield.calibration.robust_least_squares import marginal_precision

CAMERA = dataclasses.replace(camera_over(TUDOR), bow=flat_bow(TUDOR))
NOISE_PX = 0.05


def unmodeled_px(off_px: float, *, of_width: float = 1.0) -> float:
    """Return what a calibration says of lines whose stretches of ten places lie off by so much, with noise."""
    rng = np.random.default_rng(5)
    marks = sample_long_lines(TUDOR)
    points = np.column_stack([marks.points_mm, np.zeros(len(marks.line))])
    px, out = CAMERA.to_pixels(points), CAMERA.to_pixels(marks.points_mm + 0.5 * marks.across_mm)
    normals = (out - px) / np.linalg.norm(out - px, axis=1, keepdims=True)
    n = len(px)
    cluster = np.arange(n) // 10
    off = rng.normal(0, off_px, n)[cluster] + rng.normal(0, NOISE_PX, n)
    seen = Observations(
        points, px + off[:, None] * normals, normals, np.full(n, NOISE_PX * of_width), cluster,
        np.where(marks.is_free, -1, marks.line), np.where(marks.is_free, marks.line, -1),
    )  # fmt: skip
    return to_calibration(TUDOR, fit_camera(CAMERA, seen), seen, method="field", made_from=()).unmodeled_px


def test_noise_alone_leaves_nearly_nothing_unexplained() -> None:
    assert unmodeled_px(0.0) < 0.02
    assert unmodeled_px(0.0, of_width=0.5) < 0.02  # however large the noise was taken to be


def test_stretches_of_lines_that_lie_off_are_an_error_that_is_left() -> None:
    assert unmodeled_px(0.06) == pytest.approx(0.06, rel=0.3)


def test_points_without_lines_leave_the_least_error() -> None:
    x, y = np.meshgrid(np.linspace(0, TUDOR.length_mm, 9), np.linspace(0, TUDOR.width_mm, 6))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    seen = Observations.of_points(points, CAMERA.to_pixels(points), 0.1)
    assert to_calibration(TUDOR, fit_camera(CAMERA, seen), seen, method="fiducials", made_from=()).unmodeled_px > 0


def test_marginal_precision_is_the_inverse_of_the_covariance() -> None:
    jacobian = np.random.default_rng(2).normal(size=(30, 6)) * [1e3, 1.0, 1e-2, 5.0, 1.0, 1.0]
    weight = np.linspace(0.2, 1.0, 30)
    covariance = np.linalg.inv(jacobian.T @ (weight[:, None] * jacobian))
    np.testing.assert_allclose(marginal_precision(jacobian, weight, 2), np.linalg.inv(covariance[-2:, -2:]), rtol=1e-6)
