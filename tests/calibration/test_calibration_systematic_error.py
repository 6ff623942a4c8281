"""What displaces many sightings together must not move the camera, and must widen what is said of its error."""

from __future__ import annotations

import dataclasses

import numpy as np
from calibration_scenes import TUDOR, camera_over

from downfield.calibration.camera import Camera, flat_bow
from downfield.calibration.camera_fit import CameraFit, Observations, fit_camera
from downfield.calibration.field.paint.paint_samples import sample_long_lines
from downfield.calibration.jacobians import PARAMETERS
from downfield.calibration.systematic_error import SystematicError
from downfield.core.arrays import Array

CAMERA = camera_over(TUDOR, tilt_deg=7.0)
NOISE_PX = 0.01  # so little that what is found of a wave is the wave's, not the noise's


def sightings(moved: Array | None = None, aside_px: float = 0.0) -> Observations:
    """Every long line seen, with noise; rows moved by some px along x, the upper sideline seen aside."""
    marks = sample_long_lines(TUDOR, every_yd=2.0)
    points = np.column_stack([marks.points_mm, np.zeros(len(marks.line))])
    px = CAMERA.to_pixels(points)
    out = CAMERA.to_pixels(marks.points_mm + 0.5 * marks.across_mm) - px
    normals = out / np.linalg.norm(out, axis=1, keepdims=True)
    seen = px + np.random.default_rng(1).normal(0, NOISE_PX, px.shape)
    if moved is not None:
        rows = 2 * px[:, 1] / 1079 - 1
        seen[:, 0] += np.polynomial.legendre.legval(rows, moved)
    seen += np.where(marks.line == 1, aside_px, 0.0)[:, None] * normals
    bound = np.where(marks.is_free, -1, marks.line)
    n = len(px)
    return Observations(points, seen, normals, np.full(n, NOISE_PX), np.arange(n) // 8, bound, np.full(n, -1))


def fitted(seen: Observations, *, fine: bool = True) -> CameraFit:
    start = dataclasses.replace(CAMERA, bow=flat_bow(TUDOR)) if fine else CAMERA
    return fit_camera(start, seen, fine=fine)


def focal_ratio(camera: Camera) -> float:
    return camera.lens.focal_px[0] / CAMERA.lens.focal_px[0]


def test_a_rolling_shutter_is_distinguished_from_a_tilt() -> None:
    wave = np.array([0.0, 0.35, 0.2, -0.25, 0.1, 0.15])
    fit = fitted(sightings(wave))
    assert 0.2 < fit.rows_px < 0.7  # of 0.55; a part of the slant looks like a tilt
    assert abs(focal_ratio(fit.camera) - 1) < 2 * fit.covariance[0, 0] ** 0.5 / CAMERA.lens.focal_px[0]
    assert fitted(sightings()).rows_px < 0.1


def test_a_wobbling_picture_has_a_larger_error_than_a_still_one() -> None:
    still, wobbly = fitted(sightings()), fitted(sightings(np.array([0.0, 0.0, 0.3, -0.2, 0.2])))
    # A slant of the rows, which can't be seen itself, looks like a twist of the board.
    twist = PARAMETERS.index("bow_twist_mm")
    assert wobbly.covariance[twist, twist] > 1.5 * still.covariance[twist, twist]


def test_a_sideline_seen_aside_does_not_pull_the_lens() -> None:
    fit = fitted(sightings(aside_px=-0.6))
    sigma = fit.covariance[0, 0] ** 0.5 / CAMERA.lens.focal_px[0]
    assert abs(focal_ratio(fit.camera) - 1) < 2 * sigma
    assert sigma < 0.2


def learned(known: SystematicError, sizes_px: Array, sigma_px: float) -> Array:
    """Return the spreads learned where every size was measured with a sigma."""
    exact = np.eye(known.count) / sigma_px**2
    # A fit shrinks what it measures toward zero by its spreads.
    fitted_px = np.asarray(np.linalg.solve(exact + np.diag(known.spread_px**-2.0), exact @ sizes_px), dtype=np.float64)
    return known.with_learned_spread(fitted_px, exact).spread_px


def test_spreads_are_learned_from_the_observed_sizes() -> None:
    seen = sightings()
    known = SystematicError.of(seen.px, seen.normals, seen.boundary, (1920, 1080))
    assert known.shapes.shape == (len(seen.px), known.count)
    slants, bent, lines = [0, 12], [*range(1, 12), *range(13, 24)], slice(25, None)
    none = learned(known, np.zeros(known.count), 0.005)
    assert (none <= known.spread_px).all()
    assert none[bent].max() < 0.01
    assert none[lines].max() < 0.02
    assert none[slants].max() < 0.05
    rough = learned(known, np.full(known.count, 0.3), 0.005)
    assert rough[bent].min() > 0.12
    assert rough[lines].min() > 0.2
    np.testing.assert_allclose(rough[slants], known.spread_px[slants])
    # Where the lines alone are aside, the wave is still small.
    aside = learned(known, np.where(np.arange(known.count) < 25, 0.0, 0.3), 0.005)
    assert aside[bent].max() < 0.01 < 0.2 < aside[lines].min()


def test_what_was_hardly_measured_keeps_its_spread() -> None:
    seen = sightings()
    known = SystematicError.of(seen.px, seen.normals, seen.boundary, (1920, 1080))
    blind = learned(known, np.zeros(known.count), 5.0)
    assert blind[1] > 0.4 * known.spread_px[1]
    assert blind[-1] > 0.4 * known.spread_px[-1]


def test_spreads_of_a_fit_serve_another_size_of_the_picture_and_fewer_lines() -> None:
    seen = sightings()
    whole = SystematicError.of(seen.px, seen.normals, seen.boundary, (1920, 1080))
    other = dataclasses.replace(whole, spread_px=np.linspace(0.1, 0.2, whole.count))
    part = SystematicError.of(2 * seen.px, seen.normals, np.where(seen.boundary == 1, 1, -1), (3840, 2160))
    taken = part.with_spread_of(other)
    np.testing.assert_allclose(taken.spread_px, [*(2 * other.spread_px[:25]), 0.4])


def test_points_have_no_lines_that_bound_the_field() -> None:
    points = Observations.of_points(np.zeros((4, 2)), np.ones((4, 2)), 0.3)
    assert SystematicError.of(points.px, points.normals, points.boundary, (1920, 1080)).count == 25
