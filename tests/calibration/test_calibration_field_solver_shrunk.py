"""A large picture is solved at a smaller size; what is found is stated in its own pixels."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, camera_over
from setup_readings import solution

from downfield.calibration.field.selection import reading_label
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.field.solver import ShrunkPictures
from downfield.calibration.lens.prior import MeasuredLens, TypicalLens, lens_at_height
from downfield.core.arrays import Array, Image

CAMERA = camera_over(TUDOR, (1920, 1080))
LARGE: Image = np.zeros((2160, 3840, 3), dtype=np.uint8)
CORNERS = np.array([(0.0, 0.0), (TUDOR.length_mm, 0.0), (TUDOR.length_mm, TUDOR.width_mm), (0.0, TUDOR.width_mm)])


def small_solution() -> FieldSolution:
    return solution(CAMERA)


@pytest.fixture
def shrunk() -> ShrunkPictures:
    made = ShrunkPictures.of([LARGE, LARGE])
    assert made is not None
    return made


def enlarged(px: Array, factor: float) -> Array:
    """Where pixels are in a picture with so many times the pixels; pixel centers are at whole numbers."""
    return (px + 0.5) * factor - 0.5


@pytest.mark.parametrize("width", [1280, 1920, 2304])
def test_pictures_of_usual_size_stay(width: int) -> None:
    assert ShrunkPictures.of([np.zeros((width * 9 // 16, width, 3), dtype=np.uint8)]) is None


def test_copies_are_as_wide_as_a_usual_picture(shrunk: ShrunkPictures) -> None:
    assert [image.shape for image in shrunk.images] == [(1080, 1920, 3)] * 2
    odd = ShrunkPictures.of([np.zeros((3024, 4032), dtype=np.uint8)])
    assert odd is not None
    assert odd.images[0].shape == (1440, 1920)


def test_the_camera_sees_the_same_in_pixels_of_the_large_picture(shrunk: ShrunkPictures) -> None:
    found = shrunk.solved(small_solution, reading_label)
    small = small_solution()
    assert found.fit.camera.lens.size_px == (3840, 2160)
    where = found.fit.camera.to_pixels(CORNERS)
    assert np.abs(where - enlarged(small.fit.camera.to_pixels(CORNERS), 2)).max() < 1e-6
    assert np.abs(found.observations.px - enlarged(small.observations.px, 2)).max() < 1e-9
    assert found.fit.residual_px == pytest.approx(2 * small.fit.residual_px)


def test_the_same_places_are_as_certain(shrunk: ShrunkPictures) -> None:
    small, large = small_solution().calibration(), shrunk.solved(small_solution, reading_label).calibration()
    px = small.camera.to_pixels(CORNERS)
    before, sigma_before = small.to_board_with_cov(px, 6.0)
    after, sigma_after = large.to_board_with_cov(enlarged(px, 2), 6.0)
    assert after == pytest.approx(before, abs=1e-6)
    assert sigma_after == pytest.approx(sigma_before, rel=1e-3)


def test_readings_are_told_apart_in_pixels_of_the_large_picture(shrunk: ShrunkPictures) -> None:
    found = small_solution()

    def ambiguous() -> FieldSolution:
        raise AmbiguousField(
            [FieldReading(reading_label(found), found), FieldReading("mirrored", found, mirrored=True)]
        )

    with pytest.raises(AmbiguousField, match="in 2 ways") as raised:
        shrunk.solved(ambiguous, reading_label)
    first, second = raised.value.readings
    assert first.label == reading_label(first.solution) != reading_label(found)
    assert first.label in str(raised.value)
    assert (second.label, second.mirrored) == ("mirrored", True)


def test_a_measured_lens_is_the_same_lens_for_the_copies(shrunk: ShrunkPictures) -> None:
    large = shrunk.camera(CAMERA).lens
    variance = [9.0, 9.0, 4.0, 4.0, 1e-4, 1e-4, 1e-6, 1e-6, 1e-4]
    prior = shrunk.prior(MeasuredLens.of(large, np.diag(variance)))
    assert prior is not None
    lens = CAMERA.lens
    small = np.array([*lens.focal_px, *lens.center_px, *lens.distortion])
    assert np.abs(prior.residual(small)).max() < 1e-6
    off = np.zeros(9)
    off[0] = 1.5  # as much as one standard deviation of 3 px of the large picture
    assert np.linalg.norm(prior.residual(small + off)) == pytest.approx(1.0, abs=0.02)


def test_a_camera_s_height_is_estimated_from_the_large_picture(shrunk: ShrunkPictures) -> None:
    estimate = shrunk.distance(lambda camera: lens_at_height(camera, 1.1 * float(camera.position_mm[2])))
    assert estimate is not None
    found = estimate(CAMERA)
    assert isinstance(found, TypicalLens)
    assert found.size_px == (1920, 1080)
    assert found.focal > lens_at_height(CAMERA, float(CAMERA.position_mm[2])).focal
    assert (shrunk.distance(None), shrunk.prior(None)) == (None, None)


def test_shrinking_keeps_pixel_centers() -> None:
    """A dot in the large picture is where the factor says in the copy."""
    image = np.zeros((2160, 3840), dtype=np.uint8)
    cv2.circle(image, (1501, 801), 9, 255, -1)
    made = ShrunkPictures.of([image])
    assert made is not None
    weight = made.images[0].astype(np.float64)
    rows, columns = np.indices(weight.shape)
    middle = np.array([(columns * weight).sum(), (rows * weight).sum()]) / weight.sum()
    assert math.dist((middle + 0.5) * made.factor - 0.5, (1501, 801)) < 0.05
