"""Prints that nobody described: with a yard line every ten yards only, and through a fisheye."""

from __future__ import annotations

import dataclasses
import math

import pytest
from calibration_scenes import camera_over, photograph, worst_error_yd

from downfield.calibration.camera import Camera, Lens
from downfield.calibration.field.proposal import propose_field
from downfield.calibration.field.solver import solve_field
from downfield.core.arrays import Image
from downfield.core.field.model import FieldModel, preset

TENS = dataclasses.replace(preset("ultimate"), yard_line_every_yd=10.0)
BARE = dataclasses.replace(TENS, hash_rows_y_yd=(), sideline_marks=False, number_every_yd=0.0)


def picture(field: FieldModel) -> Image:
    return photograph(field, camera_over(field, (1280, 720)), figures=0).image


def test_a_line_every_ten_yards_is_told_by_the_marks_between() -> None:
    field = propose_field([picture(TENS)]).field
    assert (field.length_yd, field.yard_line_every_yd) == (100.0, 10.0)
    assert field.mm_per_yd_y / field.mm_per_yd_x == pytest.approx(TENS.mm_per_yd_y / TENS.mm_per_yd_x, rel=0.01)


def test_without_marks_and_numbers_end_zones_tell_and_a_mirror_stays_as_unlikely_as_it_was() -> None:
    found = propose_field([picture(BARE)]).solution
    assert (found.field.length_yd, found.field.yard_line_every_yd) == (100.0, 10.0)
    (mirror,) = (rival for rival in found.rivals if rival.mirrored)
    assert mirror.probability == pytest.approx(0.03, abs=0.01)
    assert found.probability > 0.8


def fisheye_over(field: FieldModel, view_deg: float) -> Camera:
    """Return a fisheye so many degrees across, whose picture a board nearly fills."""
    width, height = size = (1280, 720)
    focal_px = width / 2 / math.radians(view_deg / 2)
    over = camera_over(field, size, focal=1 / (2 * math.tan(0.8 * math.radians(view_deg / 2))), tilt_deg=10.0)
    lens = Lens(size, (focal_px, focal_px), ((width - 1) / 2, (height - 1) / 2), projection="equidistant")
    return dataclasses.replace(over, lens=lens)


@pytest.mark.parametrize("view_deg", [100.0, 118.0])
def test_a_fisheye_is_solved_as_one(view_deg: float) -> None:
    field = preset("ultimate")
    scene = photograph(field, fisheye_over(field, view_deg), figures=6)
    solution = solve_field([scene.image], [field])
    assert solution.fit.camera.lens.projection == "equidistant"
    assert worst_error_yd(solution.fit.camera, scene, 5.5) < 0.1
