from __future__ import annotations

import math

import numpy as np
import pytest

from downfield.calibration.camera import Bow, Camera, Lens
from downfield.calibration.camera_fit import CameraFit, Observations, fit_camera, with_scaled_focal
from downfield.calibration.field.free_solver import open_proportions
from downfield.calibration.field.open_focal import average_focal
from downfield.calibration.lens.prior import MeasuredLens

SIZE = (1280, 720)
TRUE = Camera(
    Lens(SIZE, (1150.0, 1150.0), (639.5, 359.5)), (math.pi, 0.01, 0.0), (-400.0, 220.0, 1000.0), Bow((0, 800), (0, 440))
)


def seen(seed: int) -> Observations:
    """Observe a grid from nearly straight above, a quarter of a pixel off."""
    x, y = np.meshgrid(np.linspace(0, 800, 17), np.linspace(0, 440, 9))
    points = np.column_stack([x.ravel(), y.ravel()])
    px = TRUE.to_pixels(points) + np.random.default_rng(seed).normal(0, 0.25, (len(points), 2))
    return Observations.of_points(points, px, 0.25)


def likeliest(observations: Observations) -> CameraFit:
    start = with_scaled_focal(TRUE, 0.8)
    return fit_camera(start, observations, prior=open_proportions(SIZE), fine=True)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_spread_of_the_focal_lengths_covers_the_true_one(seed: int) -> None:
    observations = seen(seed)
    fit = average_focal(likeliest(observations), observations, open_proportions(SIZE))
    focal = float(np.mean(fit.camera.lens.focal_px))
    sigma = math.sqrt(fit.covariance[0, 0])
    assert sigma / focal > 0.05  # straight down it can't be told well
    assert abs(focal - 1150.0) < 2 * sigma
    # What goes with the focal length goes with it in the covariance, too.
    focal_and_height = fit.covariance[np.ix_([0, 14], [0, 14])]
    assert focal_and_height[0, 1] ** 2 > 0.9 * focal_and_height[0, 0] * focal_and_height[1, 1]


def test_paint_is_explained_as_well_as_by_the_likeliest() -> None:
    observations = seen(4)
    before = likeliest(observations)
    after = average_focal(before, observations, open_proportions(SIZE))
    assert np.square(after.residual_px).mean() < 1.02 * np.square(before.residual_px).mean()


def test_a_measured_lens_stays() -> None:
    observations = seen(5)
    prior = MeasuredLens.of(TRUE.lens, np.diag([1.0, 1.0, 1.0, 1.0, 1e-4, 1e-4, 1e-6, 1e-6, 1e-4]))
    fit = fit_camera(TRUE, observations, prior=prior, fine=True)
    assert average_focal(fit, observations, prior) is fit
