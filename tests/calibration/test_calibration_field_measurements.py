"""The size of a print in the error of what stands over it, and what one measured length makes of that."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from calibration_scenes import TUDOR, camera_over
from setup_readings import solution

from downfield.calibration.advice import base_top_error_yd, best_measurement
from downfield.calibration.field.measured_height import (
    StandingObject,
    with_bases,
    with_camera_height,
    with_lengths,
    with_standing_object,
)
from downfield.calibration.field.measurements import FieldMeasurements
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.stretch import ScaleError
from downfield.core.errors import CalibrationError, InputError
from downfield.core.footprint import BASE_TOP_MM


def unsized() -> FieldSolution:
    """The board of the other tests, taken to be a fifth smaller than it is, and known to 30 %."""
    return dataclasses.replace(solution().scaled(0.8), scale=ScaleError(0.3))


def tops_off_yd(found: FieldSolution) -> tuple[float, float]:
    """Return the largest error of base tops over the field, and how many standard deviations it is."""
    x, y = np.meshgrid(np.linspace(0, TUDOR.length_mm, 7), np.linspace(0, TUDOR.width_mm, 5))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    px = camera_over(TUDOR, (1280, 720)).to_pixels(np.column_stack([points, np.full(len(points), BASE_TOP_MM)]))
    calibration = found.calibration()
    places, covariance = calibration.to_board_with_cov(px, BASE_TOP_MM)
    off = places / found.field.mm_per_yd - points / TUDOR.mm_per_yd
    sigma = np.sqrt(np.einsum("nii->ni", covariance)) / found.field.mm_per_yd
    return float(np.abs(off).max()), float(np.abs(off / sigma).max())


def test_yards_on_the_paint_are_right_without_any_size_and_base_tops_say_how_far_they_may_be_off() -> None:
    off_yd, sigmas = tops_off_yd(unsized())
    assert off_yd > 0.05
    assert sigmas < 2
    calibration = unsized().calibration()
    assert not calibration.lengths_known
    assert calibration.scale_spread == pytest.approx(0.3)
    paint = calibration.camera.to_pixels(np.array([(0.0, 0.0, 0.0)]))
    _, covariance = calibration.to_board_with_cov(paint)
    assert covariance == pytest.approx(solution().scaled(0.8).calibration().to_board_with_cov(paint)[1])


def test_one_length_makes_base_tops_exact_and_is_what_is_advised() -> None:
    before = unsized().calibration()
    advice = best_measurement(before)
    assert advice is not None
    assert advice.measure == "goal_to_goal"
    assert advice.text.startswith("With the length from goal line to goal line, base tops are known to")
    found = with_lengths(unsized(), [], FieldMeasurements(TUDOR.length_mm))
    assert found.calibration().lengths_known
    assert base_top_error_yd(found.calibration()) == pytest.approx(
        advice.then_yd, rel=0.25
    )  # the board was taken too small
    assert tops_off_yd(found)[0] < 0.012


def test_a_length_across_sets_the_size_as_well() -> None:
    found = with_lengths(unsized(), [], FieldMeasurements(None, TUDOR.width_mm))
    assert found.field.mm_per_yd_y == pytest.approx(TUDOR.mm_per_yd_y)
    assert found.calibration().lengths_known


def test_the_height_of_the_lens_gives_the_size_of_a_print_that_has_none() -> None:
    height_mm = float(camera_over(TUDOR, (1280, 720)).position_mm[2])
    found = with_camera_height(unsized(), [], height_mm)
    assert found.field.length_mm == pytest.approx(TUDOR.length_mm, rel=0.05)
    off_yd, sigmas = tops_off_yd(found)
    assert off_yd < 0.05
    assert sigmas < 3
    with pytest.raises(InputError, match="which no board's is"):
        with_camera_height(unsized(), [], 20 * height_mm)
    with pytest.raises(InputError, match="Enter a length"):
        with_standing_object(unsized(), [], StandingObject(88.0, (400.0, 300.0), (380.0, 290.0)))


@pytest.mark.parametrize("lengths", [(20.0, None), (None, 9000.0)])
def test_no_board_is_so_long(lengths: tuple[float | None, float | None]) -> None:
    with pytest.raises(InputError, match="must be 100 to 5000 mm"):
        FieldMeasurements(*lengths)


def test_lengths_that_contradict_the_picture_are_refused() -> None:
    with pytest.raises(InputError, match="Measure again"):
        with_lengths(unsized(), [], FieldMeasurements(TUDOR.length_mm, 1.4 * TUDOR.width_mm))
    with pytest.raises(InputError, match="no length"):
        with_lengths(unsized(), [], FieldMeasurements())


def test_a_refusal_says_what_to_do() -> None:
    assert CalibrationError("the picture is blurred").remedy == "another_picture"
    assert CalibrationError("no size", "measure").remedy == "measure"


@pytest.mark.parametrize("count", [3, 9])
def test_bases_on_a_print_of_unknown_size_are_a_ruler(count: int) -> None:
    places = np.array([(x, y) for x in (100.0, 350.0, 600.0) for y in (80.0, 250.0, 400.0)])[:count]
    corners = places[:, None] + np.array([(15.0, 9.0), (15.0, -9.0), (-15.0, -9.0), (-15.0, 9.0)])
    tops = np.concatenate([corners, np.full((count, 4, 1), BASE_TOP_MM)], axis=2)
    found = with_bases(unsized(), camera_over(TUDOR, (1280, 720)).to_pixels(tops))
    if count < 4:
        assert found.field == unsized().field
        return
    assert found.field.length_mm == pytest.approx(TUDOR.length_mm, rel=0.02)
    assert found.scale.spread == pytest.approx(0.055, abs=0.002)
    assert base_top_error_yd(found.calibration()) < 0.5 * base_top_error_yd(unsized().calibration())
