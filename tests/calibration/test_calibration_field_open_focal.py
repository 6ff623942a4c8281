from __future__ import annotations

import math

import numpy as np
import pytest

from downfield.calibration.camera import Bow, Camera, Lens
from downfield.calibration.camera_fit import CameraFit, Observations, fit_camera, with_scaled_focal
from downfield.calibration.field.open_focal import average_focal
from downfield.calibration.lens.prior import MeasuredLens
from downfield.calibration.quality import to_calibration
from downfield.calibration.robust_least_squares import ErrorGroups, cluster_robust_covariance, overstated_precision
from downfield.calibration.stretch import OpenStretch
from downfield.core.field.model import preset, preset_names

SIZE = (1280, 720)
ROUGH = OpenStretch(0.0, 0.025)
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
    return fit_camera(start, observations, stretch=ROUGH, fine=True)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_spread_of_the_focal_lengths_covers_the_true_one(seed: int) -> None:
    observations = seen(seed)
    fit = average_focal(likeliest(observations), observations, None, ROUGH)
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
    after = average_focal(before, observations, None, ROUGH)
    assert np.square(after.residual_px).mean() < 1.02 * np.square(before.residual_px).mean()


def test_a_measured_lens_stays() -> None:
    observations = seen(5)
    prior = MeasuredLens.of(TRUE.lens, np.diag([1.0, 1.0, 1.0, 1.0, 1e-4, 1e-4, 1e-6, 1e-6, 1e-4]))
    fit = fit_camera(TRUE, observations, prior=prior, fine=True)
    assert average_focal(fit, observations, prior) is fit


def tilted(bow_mm: float, lean: float, seed: int) -> tuple[Camera, Observations]:
    """Observe a grid on a board whose middle is lower, from a camera that leans along the field."""
    bow = Bow((0, 800), (0, 440), along_mm=-bow_mm, across_mm=-0.4 * bow_mm)
    camera = Camera(
        TRUE.lens, (math.pi * math.cos(lean / 2), 0.0, math.pi * math.sin(lean / 2)), (-400.0, 220.0, 1000.0), bow
    )
    x, y = np.meshgrid(np.linspace(0, 800, 17), np.linspace(0, 440, 9))
    points = np.column_stack([x.ravel(), y.ravel()])
    px = camera.to_pixels(points) + np.random.default_rng(seed).normal(0, 0.08, (len(points), 2))
    return camera, Observations.of_points(points, px, 0.08)


def averaged(camera: Camera, observations: Observations) -> CameraFit:
    start = with_scaled_focal(camera, 0.7)
    fit = fit_camera(start, observations, stretch=ROUGH, fine=True)
    return average_focal(fit, observations, None, ROUGH)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_flat_board_is_not_bent_to_suit_a_wrong_focal_length(seed: int) -> None:
    fit = averaged(*tilted(0.0, 0.1, seed))
    assert fit.camera.bow is not None
    assert np.abs(fit.camera.bow.sizes_mm).max() < 0.5


@pytest.mark.parametrize("seed", [1, 2])
def test_a_bow_that_the_paint_shows_is_kept(seed: int) -> None:
    fit = averaged(*tilted(3.0, 0.5, seed))
    assert fit.camera.bow is not None
    along_mm, sigma_mm = fit.camera.bow.sizes_mm[0], math.sqrt(fit.covariance[15, 15])
    assert along_mm < -2.0
    assert abs(along_mm + 3.0) < 3 * sigma_mm


@pytest.mark.parametrize("lean", [0.03, 0.12, 0.25])
@pytest.mark.parametrize("bow_mm", [0.0, 2.0])
def test_base_tops_are_within_three_sigma_however_the_camera_leans(lean: float, bow_mm: float) -> None:
    camera, observations = tilted(bow_mm, lean, seed=6)
    fit = averaged(camera, observations)
    top = np.array([(x, y, 7.0) for x in (40.0, 400.0, 760.0) for y in (40.0, 400.0)])
    found = to_calibration(preset(preset_names()[0]), fit, observations, method="field", made_from=["a picture"])
    board, covariance = found.to_board_with_cov(camera.to_pixels(top), 7.0)
    sigma = np.sqrt(np.einsum("nii->ni", covariance))
    unstretched = board[:, :2] / (1.0, math.exp(fit.stretch))
    assert (np.abs(unstretched - top[:, :2]) < 3 * sigma).all()


def test_errors_that_come_in_clusters_are_worth_less() -> None:
    rng = np.random.default_rng(8)
    groups = ErrorGroups(np.repeat(np.arange(200), 5), np.repeat(np.arange(20), 50), np.ones(1000))
    effect = np.ones(1000)
    assert overstated_precision(effect, rng.normal(0, 1, 1000), groups, 0.0) == pytest.approx(1.0, abs=0.25)
    together = np.repeat(rng.normal(0, 1, 200), 5)
    assert overstated_precision(effect, together, groups, 0.0) == pytest.approx(5.0, rel=0.25)
    # Lines of fifty whose places scatter as much as each of their observations does.
    assert overstated_precision(effect, rng.normal(0, 1, 1000), groups, 1.0) == pytest.approx(51.0, rel=0.1)


@pytest.mark.parametrize("off", [0.0, 0.5])
def test_lines_that_lie_off_as_a_whole_widen_the_error_of_what_they_are_fitted_by(off: float) -> None:
    rng = np.random.default_rng(9)
    groups = ErrorGroups(np.arange(4000) // 20, np.arange(4000) // 100, np.ones(4000))
    residual = rng.normal(0, 1, 4000) + off * np.repeat(rng.normal(0, 1, 40), 100)
    residual -= residual.mean()
    covariance, lines_px = cluster_robust_covariance(np.ones((4000, 1)), residual, np.ones(4000), groups)
    assert lines_px == pytest.approx(off, abs=0.12)
    assert covariance[0, 0] == pytest.approx(1 / 4000 + off**2 / 40, rel=0.5)
