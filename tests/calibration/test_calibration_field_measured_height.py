"""What stands on the board, or a tape, tells the camera's height where the paint does not; advice says when."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from calibration_scenes import TUDOR
from setup_readings import picture, solution

from downfield.calibration.advice import advise, base_top_error_yd, best_measurement
from downfield.calibration.camera import Camera, Lens, flat_bow
from downfield.calibration.camera_fit import Observations, fit_camera, with_scaled_focal
from downfield.calibration.field.free_solver import ROUGH
from downfield.calibration.field.measured_height import StandingObject, with_standing_object
from downfield.calibration.field.open_focal import average_focal
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.lens.prior import lens_at_height
from downfield.calibration.stretch import DescribedProportions
from downfield.core.errors import InputError

SIZE = (1280, 720)
TRUE = Camera(
    Lens(SIZE, (1290.0, 1290.0), (639.5, 359.5)), (math.pi, 0.01, 0.0), (-450.0, 240.0, 1150.0), flat_bow(TUDOR)
)


@pytest.fixture(scope="module")
def from_above() -> FieldSolution:
    """A solution from straight above by paint alone, whose height is open."""
    x, y = np.meshgrid(np.linspace(0, TUDOR.length_mm, 17), np.linspace(0, TUDOR.width_mm, 9))
    points = np.column_stack([x.ravel(), y.ravel()])
    px = TRUE.to_pixels(points) + np.random.default_rng(1).normal(0, 0.15, (len(points), 2))
    seen = Observations.of_points(points, px, 0.15)
    described = dataclasses.replace(solution(), proportions=DescribedProportions.of(TUDOR, ROUGH.spread))
    fit = fit_camera(with_scaled_focal(TRUE, 0.8), seen, stretch=described.stretch, fine=True)
    return described.with_fit(average_focal(fit, seen, None, described.stretch), seen)


def standing(height_mm: float, at_yd: tuple[float, float]) -> StandingObject:
    x, y = TUDOR.to_mm(np.array(at_yd)).tolist()
    foot, top = TRUE.to_pixels(np.array([(x, y, 0.0), (x, y, height_mm)])).tolist()
    return StandingObject(height_mm, (foot[0], foot[1]), (top[0], top[1]))


def height_mm(found: FieldSolution) -> float:
    return float(found.fit.camera.position_mm[2])


def test_a_card_on_edge_tells_the_height(from_above: FieldSolution) -> None:
    true_mm = float(TRUE.position_mm[2])
    assert abs(height_mm(from_above) / true_mm - 1) > 0.06  # else there is nothing to tell
    found = with_standing_object(from_above, [picture()], standing(88.0, (4.0, 4.0)))
    assert height_mm(found) == pytest.approx(true_mm, rel=0.04)
    assert base_top_error_yd(found.calibration()) < base_top_error_yd(from_above.calibration()) / 2.5


def test_a_top_marked_inward_of_its_foot_contradicts_the_print(from_above: FieldSolution) -> None:
    card = standing(88.0, (4.0, 4.0))
    with pytest.raises(InputError, match="contradicts the print"):
        with_standing_object(from_above, [picture()], StandingObject(88.0, card.top_px, card.foot_px))


def test_what_is_seen_too_short_is_refused(from_above: FieldSolution) -> None:
    below = (TRUE.position_mm[:2] / TUDOR.mm_per_yd).tolist()
    with pytest.raises(InputError, match="Stand it nearer to the field's edge"):
        with_standing_object(from_above, [picture()], standing(88.0, (below[0] + 0.5, below[1])))


@pytest.mark.parametrize("height_mm", [2.0, 900.0, math.nan])
def test_no_card_is_so_high(height_mm: float) -> None:
    with pytest.raises(InputError, match="must be 15 to 500 mm"):
        StandingObject(height_mm, (0.0, 0.0), (50.0, 50.0))


def test_advice_foretells_what_a_tape_brings(from_above: FieldSolution) -> None:
    before = from_above.calibration()
    advice = best_measurement(before)
    assert advice is not None
    assert advice.measure == "camera_height"
    assert "With the height of the lens over the board, base tops are known to" in advice.text
    foretold_yd = advice.then_yd
    prior, seen = lens_at_height(before.camera, float(TRUE.position_mm[2])), from_above.observations
    fit = fit_camera(before.camera, seen, prior=prior, stretch=from_above.stretch, fine=True)
    after = from_above.with_fit(fit, seen).calibration()
    assert base_top_error_yd(after) == pytest.approx(foretold_yd, abs=0.02)
    assert advise(after) == ""


def test_a_table_certified_coarser_than_its_error_needs_no_advice(from_above: FieldSolution) -> None:
    calibration = from_above.calibration()
    error_yd = base_top_error_yd(calibration)
    assert advise(calibration, error_yd * 1.01) == ""
    assert advise(calibration, error_yd * 0.99) != ""
    assert advise(dataclasses.replace(calibration, covariance=())) == ""
