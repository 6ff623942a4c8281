"""A print longer across than its description is measured as such, and the covariance contains the error of that."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from calibration_scenes import TUDOR

from downfield.calibration.camera import Camera, Lens, flat_bow
from downfield.calibration.camera_fit import CameraFit, Observations, fit_camera, with_scaled_focal
from downfield.calibration.jacobians import STRETCH, locate
from downfield.calibration.stretch import DescribedProportions, OpenStretch, stretched_field
from downfield.core.arrays import Array

SIZE = (1920, 1080)
LONGER = 0.02
ROUGH = OpenStretch(0.0, 0.025)


def leaning(degrees: float, toward: float = 0.7) -> Camera:
    """A camera that leans toward a corner of the field; its pixels are square and its lens is a webcam's."""
    half = math.radians(degrees) / 2
    turn = (math.pi * math.cos(half), math.pi * math.sin(half) * math.cos(toward), math.pi * math.sin(half) * 0.3)
    lens = Lens(SIZE, (1900.0, 1900.0), (959.5, 539.5), (-0.05, 0.0, 0.0, 0.0, 0.0))
    return Camera(lens, turn, (-350.0, 240.0, 1500.0), flat_bow(TUDOR))


def described(camera: Camera, seed: int, sigma_px: float = 0.1) -> Observations:
    """Observe a print that is 2 % longer across than the board points by which it is described."""
    x, y = np.meshgrid(np.linspace(0, TUDOR.length_mm, 21), np.linspace(0, TUDOR.width_mm, 11))
    points = np.column_stack([x.ravel(), y.ravel()])
    px = camera.to_pixels(points * (1.0, math.exp(LONGER)))
    return Observations.of_points(points, px + np.random.default_rng(seed).normal(0, sigma_px, px.shape), sigma_px)


def tops(camera: Camera) -> tuple[Array, Array]:
    """Where base tops all over the print are, in millimeters of its description, and where they are seen."""
    x, y = np.meshgrid(np.linspace(0, TUDOR.length_mm, 7), np.linspace(0, TUDOR.width_mm, 5))
    places = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 6.0)])
    return places[:, :2], camera.to_pixels(places * (1.0, math.exp(LONGER), 1.0))


def errors_mm(fit: CameraFit, camera: Camera) -> Array:
    places, px = tops(camera)
    found: Array = fit.camera.to_board(px, 6.0)[:, :2] / (1.0, math.exp(fit.stretch)) - places
    return found


@pytest.mark.parametrize("degrees", [22.0, 28.0])
def test_a_leaning_camera_tells_the_print_from_the_lens(degrees: float) -> None:
    camera = leaning(degrees)
    seen = described(camera, 1, 0.02)
    fit = fit_camera(with_scaled_focal(camera, 0.8), seen, stretch=ROUGH, fine=True)
    assert fit.stretch == pytest.approx(LONGER, abs=0.01)
    assert np.mean(fit.camera.lens.focal_px) == pytest.approx(1900.0, rel=0.12)
    exact = fit_camera(with_scaled_focal(camera, 0.8), seen, fine=True)
    assert np.abs(errors_mm(fit, camera)).max() < np.abs(errors_mm(exact, camera)).max() / 3
    assert exact.stretch == 0.0


@pytest.mark.parametrize("degrees", [1.0, 6.0, 15.6])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_covariance_contains_the_error_of_the_proportions(degrees: float, seed: int) -> None:
    camera = leaning(degrees)
    fit = fit_camera(with_scaled_focal(camera, 0.95), described(camera, seed), stretch=ROUGH, fine=True)
    assert fit.covariance.shape == (STRETCH + 1,) * 2
    _, px = tops(camera)
    by_fitted = locate(fit.camera, px, 6.0)[3][:, :, : STRETCH + 1]
    sigma = np.sqrt(np.einsum("nij,jk,nik->ni", by_fitted, fit.covariance, by_fitted))
    assert (np.abs(errors_mm(fit, camera)) < 3.5 * sigma).all()


def test_a_measured_field_is_stretched_back_to_its_description() -> None:
    longer = stretched_field(TUDOR, 0.03)
    assert longer.mm_per_yd_y == pytest.approx(TUDOR.mm_per_yd_y * math.exp(0.03))
    assert (longer.mm_per_yd_x, stretched_field(TUDOR, 0.0)) == (TUDOR.mm_per_yd_x, TUDOR)
    assert DescribedProportions.of(TUDOR, 0.025).stretch(longer).likeliest == pytest.approx(-0.03)


def test_the_fit_s_jacobian_holds_the_stretch() -> None:
    """From any begin the fit comes to the same print."""
    camera = leaning(12.0)
    seen = described(camera, 5)
    fits = [fit_camera(camera, seen, stretch=dataclasses.replace(ROUGH, begin=begin)) for begin in (-0.03, 0.0, 0.05)]
    assert [fit.stretch for fit in fits] == pytest.approx([fits[0].stretch] * 3, abs=1e-4)
