"""Ruler and angle agree with the truth, and their error is what the calibration's error makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.calibration.jacobians import PARAMETERS, camera_parameters, with_parameters
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.errors import InputError
from downfield.review.pictures.measuring import measure

EXACT = read_calibration(bundled_demo().with_suffix(".calibration.json"))
places = st.tuples(st.floats(0, 990), st.floats(0, 580))
heights = st.sampled_from([0.0, 5.5, 40.0])


@given(places, places, places, heights)
def test_lengths_yards_and_angles_are_those_on_the_board(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], height_mm: float
) -> None:
    points = np.array([a, b, c])
    assume(np.linalg.norm(points[0] - points[1]) > 1)
    assume(np.linalg.norm(points[2] - points[1]) > 1)
    pixels = EXACT.camera.to_pixels(np.column_stack([points, np.full(3, height_mm)]))
    found = measure(EXACT, [tuple(px) for px in pixels.tolist()], "px", height_mm)
    assert np.allclose([point.mm for point in found.points], points, atol=1e-4)
    assert found.length_mm == pytest.approx(np.linalg.norm(points[1] - points[0]), abs=1e-3)
    along, across = np.abs(points[1] - points[0]) / EXACT.field.mm_per_yd
    assert found.yards == pytest.approx((along, across, np.hypot(along, across)), abs=1e-4)
    arms = points[[0, 2]] - points[1]
    cosine = np.clip(arms[0] @ arms[1] / np.prod(np.linalg.norm(arms, axis=1)), -1, 1)
    assert found.angle_deg is not None
    assert np.cos(np.radians(found.angle_deg)) == pytest.approx(cosine, abs=1e-4)
    assert (found.length_sigma_mm, found.angle_sigma_deg) == (0.0, 0.0)
    by_mm = measure(EXACT, [a, b, c], "mm", height_mm)
    assert by_mm.length_mm == pytest.approx(found.length_mm, abs=1e-3)


@pytest.mark.parametrize("parameter", ["focal_x_px", "center_y_px", "k1", "rotation_y", "translation_z_mm"])
def test_errors_are_those_of_measuring_with_a_camera_that_is_a_little_off(parameter: str) -> None:
    size = {"focal_x_px": 2.0, "center_y_px": 1.0, "k1": 1e-3, "rotation_y": 1e-3, "translation_z_mm": 1.0}[parameter]
    row = PARAMETERS.index(parameter)
    covariance = np.zeros((len(PARAMETERS),) * 2)
    covariance[row, row] = size**2
    unsure = replace(EXACT, covariance=tuple(map(tuple, covariance.tolist())))
    points = [(700.0, 400.0), (980.0, 310.0), (1200.0, 620.0)]
    found = measure(unsure, points, "px", 5.5)

    def moved(by: float) -> Calibration:
        values = camera_parameters(EXACT.camera)
        values[row] += by
        return replace(EXACT, camera=with_parameters(EXACT.camera, values))

    low, high = measure(moved(-size), points, "px", 5.5), measure(moved(size), points, "px", 5.5)
    assert found.length_sigma_mm == pytest.approx(abs(high.length_mm - low.length_mm) / 2, rel=0.02, abs=1e-6)
    assert found.direction_sigma_deg == pytest.approx(
        abs(high.direction_deg - low.direction_deg) / 2, rel=0.02, abs=1e-6
    )
    assert None not in {found.angle_sigma_deg, low.angle_deg, high.angle_deg}
    assert found.angle_sigma_deg == pytest.approx(abs(high.angle_deg - low.angle_deg) / 2, rel=0.02, abs=1e-6)  # type: ignore[operator]
    for axis in (0, 1):
        spread = abs(high.yards[axis] - low.yards[axis]) / 2
        assert found.yards_sigma[axis] == pytest.approx(spread, rel=0.02, abs=1e-6)


def test_what_the_lens_model_leaves_unexplained_is_of_each_point_alone() -> None:
    unsure = replace(EXACT, unmodeled_px=0.5)
    near, far = (measure(unsure, [(900.0, 500.0), (x, 500.0)], "px", 0.0) for x in (910.0, 1300.0))
    assert near.length_sigma_mm == pytest.approx(0.5 * near.pixel_mm * 2**0.5, rel=0.02)
    assert far.length_sigma_mm == pytest.approx(near.length_sigma_mm, rel=0.1)


def test_results_in_words_have_an_error_only_where_there_is_one() -> None:
    points = [(900.0, 500.0), (1000.0, 500.0)]
    assert measure(EXACT, points, "px", 0.0).text[0].endswith(" mm")
    assert "±" not in measure(EXACT, points, "px", 0.0).text[0]
    assert " ± 0." in measure(replace(EXACT, unmodeled_px=0.5), points, "px", 0.0).text[0]
    assert measure(EXACT, [*points, (1000.0, 600.0)], "px", 0.0).text[0].endswith("°")


def test_points_that_are_the_same_or_off_the_board_are_refused() -> None:
    with pytest.raises(InputError, match="the same"):
        measure(EXACT, [(900.0, 500.0), (900.0, 500.0)], "px", 0.0)
    with pytest.raises(InputError, match="sees no board"):
        measure(EXACT, [(900.0, 500.0), (1e7, 1e7)], "px", 0.0)
